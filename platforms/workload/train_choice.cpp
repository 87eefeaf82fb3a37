// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/train_choice.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace weft {

namespace {
/// Beyond this a longer train saves no time of the host: its costs per transaction are a per cent of those of its bytes.
constexpr std::uint32_t k_longest = 512;
std::uint32_t per_message() { const char* v = std::getenv("WEFT_PM"); return v ? std::atoi(v) : 64; }
} // namespace

bool train_streams(const train_hop& hop, std::uint32_t packets)
{
    const std::uint64_t difference_ps =
        hop.drained_ps > hop.filled_ps ? hop.drained_ps - hop.filled_ps : hop.filled_ps - hop.drained_ps;
    return hop.depth_packets / packets * packets * hop.filled_ps >= hop.round_trip_ps + packets * difference_ps;
}

std::string memory_sets_the_pace(bandwidth memory, bandwidth links, const std::string& key)
{
    constexpr std::uint64_t k_accesses = 3; // one read out, read and write of what is added to
    if (memory.value() / 3 * 4 >= k_accesses * links.value())
        return "";
    return fmt::format("{} = {} can set the pace of links of {} together", key, to_string(memory), to_string(links));
}

train_choice choose_trains(packet_count burst, const std::vector<train_hop>& hops, const dma_config& dma,
                           const packet_format& format, const std::string& dma_key, const std::string& single)
{
    train_choice c;
    if (!single.empty()) {
        c.reason = single;
        if (burst.value() > 1)
            c.told = fmt::format("is {}, but {}: single packets are simulated.", to_string(burst), single);
        return c;
    }
    const std::uint64_t cells = format.cells_of_one(format.max_payload_bytes);
    std::uint32_t fit = k_longest;
    c.reason = "longer trains save no time";
    const auto lower = [&](std::uint64_t to, const std::string& why) {
        if (to < fit) {
            fit = static_cast<std::uint32_t>(std::max<std::uint64_t>(to, 1));
            c.reason = why;
        }
    };
    if (burst.value() == 0) {
        lower((dma.read_ahead & -dma.read_ahead) / 4, fmt::format("{}.read_ahead = {}", dma_key, dma.read_ahead));
        lower(dma.receive_buffer.value() / format.cell_bytes() / cells / 4,
              fmt::format("{}.receive_buffer = {}", dma_key, to_string(dma.receive_buffer)));
        for (const train_hop& h : hops) {
            std::uint32_t n = fit;
            while (n > 1 && (n > h.depth_packets / 8 || (h.round_trip_ps != 0 && !train_streams(h, n))))
                --n;
            lower(n, h.buffer);
        }
        c.limits.packets = fit;
        c.limits.per_message = per_message();
        return c;
    }
    fit = static_cast<std::uint32_t>(burst.value());
    lower(dma.read_ahead, fmt::format("{}.read_ahead = {}", dma_key, dma.read_ahead));
    lower(dma.receive_buffer.value() / format.cell_bytes() / cells,
          fmt::format("{}.receive_buffer = {}", dma_key, to_string(dma.receive_buffer)));
    for (const train_hop& h : hops)
        lower(h.depth_packets, h.buffer);
    c.limits.packets = fit;
    if (fit < burst.value())
        c.told = fmt::format("is {}, of which {} holds {}: trains of {} are simulated.", to_string(burst), c.reason, fit, fit);
    return c;
}

} // namespace weft
