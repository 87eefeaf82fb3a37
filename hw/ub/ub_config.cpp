// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ub/ub_config.h"

#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::uint64_t k_fastest_lane_bps = 118'000'000'000; ///< UB mode 1
constexpr std::uint64_t k_longest_ps = 1'000'000'000;         ///< of one delay: the fabric holds delays in 32 bits
constexpr std::uint32_t k_link_header_bytes = 4;
} // namespace

std::vector<key_rule<ub_config>> ub_config::key_rules()
{
    std::vector<key_rule<ub_config>> rules;
    for (const char* key :
         {"rtp_window", "rtp_send_buffer", "rtp_timeout", "rtp_tries", "rtp_packets_per_ack", "rtp_ack_delay"})
        rules.push_back(
            {key, "with transport: rtp", [](const ub_config& c) { return c.transport == ub_transport::rtp; }});
    return rules;
}

packet_format ub_config::format() const
{
    packet_format f;
    f.max_payload_bytes = static_cast<std::uint32_t>(max_payload.value());
    f.header_bytes = static_cast<std::uint32_t>(header.value() + route_header.value()) + k_link_header_bytes;
    f.flit_bytes = static_cast<std::uint32_t>(flit.value());
    f.block_flits = block_flits;
    f.cell_flits = cell_flits;
    return f;
}

double ub_config::payload_efficiency() const
{
    const double wire = static_cast<double>(format().wire_bytes_of_one(max_payload.value()));
    const double net = static_cast<double>(link_rate(1).value()) / static_cast<double>(lane_rate.value());
    return static_cast<double>(max_payload.value()) / wire * net;
}

std::vector<config_problem> ub_config::validate() const
{
    std::vector<config_problem> p;
    const auto need = [&](bool ok, const char* key, std::string text) {
        if (!ok)
            p.push_back({severity::error, key, std::move(text)});
        return ok;
    };
    const auto delay = [&](duration d, const char* key, std::uint64_t least) {
        need(d.value() >= least && d.value() <= k_longest_ps, key,
             fmt::format("is {}, must be {} to 1 ms.", to_string(d), least == 0 ? "0 ps" : "1 ps"));
    };
    const auto count = [&](std::uint32_t value, const char* key, std::uint32_t least, std::uint32_t most,
                           const char* what) {
        need(value >= least && value <= most, key,
             fmt::format("is {}, must be {} to {} {}.", value, least, most, what));
    };
    need(lane_rate.value() >= 1'000'000'000 && lane_rate.value() <= k_fastest_lane_bps, "lane_rate",
         fmt::format("is {}, must be 1 Gbps to 118 Gbps, the fastest that UB allows; write for example \"112 Gbps\".",
                     to_string(lane_rate)));
    need(
        local_port_rate.value() >= 1'000'000'000 && local_port_rate.value() <= 1'000'000'000'000'000, "local_port_rate",
        fmt::format("is {}, must be 1 Gbps to 1000 Tbps; write for example \"504 GB/s\".", to_string(local_port_rate)));
    const bool framing =
        need(flit.value() >= 4 && flit.value() <= 256, "flit",
             fmt::format("is {}, must be 4 B to 256 B.", to_string(flit))) &
        need(block_flits >= 2 && block_flits <= 512, "block_flits",
             fmt::format("is {}, must be 2 to 512 flits.", block_flits)) &
        need(cell_flits >= 1 && cell_flits <= 128, "cell_flits",
             fmt::format("is {}, must be 1 to 128 flits, as UB says.", cell_flits)) &
        need(header.value() >= 8 && header.value() <= 4096, "header",
             fmt::format("is {}, must be 8 B to 4 KiB.", to_string(header))) &
        need(route_header.value() <= 64, "route_header",
             fmt::format("is {}, must be at most 64 B.", to_string(route_header))) &
        need(max_payload.value() >= 4 && max_payload.value() <= 1 << 20 && max_payload.value() % 4 == 0, "max_payload",
             fmt::format(
                 "is {}, must be 4 B to 1 MiB and a multiple of 4 B, so that no element is split between packets.",
                 to_string(max_payload)));
    if (framing) {
        const std::uint64_t one = format().cells_of_one(max_payload.value()) * cell_bytes();
        need(buffer_per_vl.value() >= one, "buffer_per_vl",
             fmt::format("is {}, but one packet fills {}, so none could ever move.", to_string(buffer_per_vl),
                         to_string(data_size(one))));
    }
    need(buffer_per_vl.value() <= 1ull << 30, "buffer_per_vl",
         fmt::format("is {}, must be at most 1 GiB.", to_string(buffer_per_vl)));
    need(bit_error_rate >= 0 && bit_error_rate <= 1e-3, "bit_error_rate",
         fmt::format("is {}, must be 0 to 0.001: with more, hardly any block arrives whole.", bit_error_rate));
    delay(mac_latency, "mac_latency", 0);
    delay(npu_latency, "npu_latency", 1);
    delay(lrs_latency, "lrs_latency", 1);
    delay(hrs_latency, "hrs_latency", 1);
    delay(die_crossing, "die_crossing", 0);
    delay(reinitialisation_time, "reinitialisation_time", 0);
    delay(rtp_ack_delay, "rtp_ack_delay", 0);
    delay(rtp_timeout, "rtp_timeout", 1);
    need(detection.value() <= 1'000'000'000'000, "detection",
         fmt::format("is {}, must be at most 1 s.", to_string(detection)));
    count(retries, "retries", 0, 255, "retries");
    count(reinitialisations, "reinitialisations", 0, 255, "initialisations");
    count(transmit_queue, "transmit_queue", 2, 65536, "packets");
    need(rtp_window >= 2 && rtp_window <= 65536 && (rtp_window & (rtp_window - 1)) == 0, "rtp_window",
         fmt::format("is {}, must be a power of two from 2 to 65536.", rtp_window));
    count(rtp_send_buffer, "rtp_send_buffer", 2, 1 << 20, "packets");
    count(rtp_tries, "rtp_tries", 1, 32, "tries");
    count(rtp_packets_per_ack, "rtp_packets_per_ack", 1, 64, "packets");
    return p;
}

} // namespace weft
