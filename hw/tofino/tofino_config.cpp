// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/tofino/tofino_config.h"

#include "hw/tofino/aggregation_unit.h"

#include <fmt/format.h>

namespace weft {

std::vector<config_problem> tofino_config::validate() const
{
    std::vector<config_problem> p;
    const auto need = [&](bool ok, const char* key, std::string text) {
        if (!ok)
            p.push_back({severity::error, key, std::move(text)});
        return ok;
    };
    constexpr std::uint64_t k_slowest_bps = 1'000'000, k_fastest_bps = 100'000'000'000'000;
    constexpr std::uint64_t k_longest_ps = 1'000'000'000;
    need(ports_per_pipe >= 1 && ports_per_pipe <= 64, "ports_per_pipe",
         fmt::format("is {}, must be 1 to 64: 16 ports of 100 Gb/s a pipe, or 64 of a quarter of that.",
                     ports_per_pipe)) &&
        need(ports >= 1 && ports <= k_tofino_pipes * ports_per_pipe, "ports",
             fmt::format("is {}, must be 1 to {}: {} pipes have {} ports each.", ports, k_tofino_pipes * ports_per_pipe,
                         k_tofino_pipes, ports_per_pipe));
    for (const auto& [key, rate] :
         {std::pair{"port_rate", port_rate}, std::pair{"recirculation_rate", recirculation_rate}})
        need(rate.value() >= k_slowest_bps && rate.value() <= k_fastest_bps, key,
             fmt::format("is {}, must be 1 Mbps to 100 Tbps; write for example \"100 Gbps\".", to_string(rate)));
    if (recirculation_rate < port_rate)
        p.push_back({severity::warning, "recirculation_rate",
                     fmt::format("is {}, below port_rate ({}): 256-word packets will queue between the pipes.",
                                 to_string(recirculation_rate), to_string(port_rate))});
    for (const auto& [key, queue] :
         {std::pair{"egress_queue", egress_queue}, std::pair{"recirculation_queue", recirculation_queue}})
        need(queue.value() >= 2048 && queue.value() <= 1ull << 30, key,
             fmt::format("is {}, must be 2 KiB (room for one frame) to 1 GiB.", to_string(queue)));
    const bool latencies = need(first_pass_latency.value() <= k_longest_ps, "first_pass_latency",
                                fmt::format("is {}, must be at most 1 ms.", to_string(first_pass_latency))) &
                           need(pass_latency.value() <= k_longest_ps, "pass_latency",
                                fmt::format("is {}, must be at most 1 ms.", to_string(pass_latency)));
    if (latencies)
        need(ingress_latency.value() >= 1 && ingress_latency <= first_pass_latency && ingress_latency <= pass_latency,
             "ingress_latency",
             fmt::format(
                 "is {}, must be at least 1 ps and at most first_pass_latency ({}) and pass_latency ({}), of which "
                 "it is a part.",
                 to_string(ingress_latency), to_string(first_pass_latency), to_string(pass_latency)));
    need(register_depth >= 2 && register_depth <= 2 * k_default_register_depth &&
             (register_depth & (register_depth - 1)) == 0,
         "register_depth",
         fmt::format(
             "is {}, must be a power of two from 2 to 32768: a slot number has 14 bits and takes two entries, one "
             "for each set.",
             register_depth));
    for (const auto& [key, share] : {std::pair{"ingress_drop", ingress_drop}, std::pair{"egress_drop", egress_drop}})
        need(share >= 0 && share <= 1, key, fmt::format("is {}, must be 0 to 1: a share of the packets.", share));
    return p;
}

} // namespace weft
