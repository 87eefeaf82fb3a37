// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/train_choice.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {
/// Beyond this a longer train saves no time of the host: its costs per transaction are a per cent of those of its bytes.
constexpr std::uint32_t k_longest = 512;
constexpr double k_stated_error = 0.02;
/// Where streams meet, a train is served at once that single packets would have spread: a message is late by a train at most for every
/// buffer on its way where it meets others. Five of these are 2 % of a message of 256 trains.
constexpr std::uint32_t k_trains_of_a_message = 256;
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

std::string text_of(const train_choice& c)
{
    const std::string chosen = c.chosen ? fmt::format(" (auto: {})", c.reason) : "";
    if (c.limits.packets == 1)
        return "single packets" + chosen;
    const std::string part =
        c.limits.per_message == 1 ? "" : fmt::format(", each at most 1/{} of its message", c.limits.per_message);
    return fmt::format("trains of up to {} packets{}{}", c.limits.packets, part, chosen);
}

train_choice choose_trains(packet_count burst, const std::vector<train_hop>& hops, const dma_config& dma,
                           const packet_format& format, const std::string& dma_key, const std::string& single)
{
    train_choice c;
    c.chosen = burst.value() == 0;
    if (!single.empty()) {
        c.reason = single;
        if (burst.value() > 1)
            c.told = fmt::format("is {}, but {}: single packets are simulated.", to_string(burst), single);
        return c;
    }
    const std::uint64_t cells = format.cells_of_one(format.max_payload_bytes);
    const std::uint64_t receives = dma.receive_buffer.value() / format.cell_bytes() / cells;
    const std::string reads = fmt::format("{}.read_ahead = {}", dma_key, dma.read_ahead);
    const std::string receive_buffer = fmt::format("{}.receive_buffer = {}", dma_key, to_string(dma.receive_buffer));

    // What is exact to the stated error.
    std::uint32_t sound = k_longest;
    c.reason = "longer ones save no time";
    const auto lower = [](std::uint32_t& fit, std::string& reason, std::uint64_t to, const std::string& why) {
        if (to >= fit)
            return;
        fit = static_cast<std::uint32_t>(std::max<std::uint64_t>(to, 1));
        reason = why;
    };
    lower(sound, c.reason, (dma.read_ahead & -dma.read_ahead) / 4, reads);
    lower(sound, c.reason, receives / 4, receive_buffer);
    for (const train_hop& h : hops) {
        std::uint32_t n = sound;
        while (n > 1 && (n > h.depth_packets / 8 || (h.round_trip_ps != 0 && !train_streams(h, n))))
            --n;
        lower(sound, c.reason, n, h.buffer);
    }
    if (burst.value() <= 1) {
        c.limits.packets = burst.value() == 1 ? 1 : sound;
        c.limits.per_message = k_trains_of_a_message;
        return c;
    }

    // What the user wants, as far as buffers hold it.
    auto fit = static_cast<std::uint32_t>(burst.value());
    std::string holds;
    lower(fit, holds, dma.read_ahead, reads);
    lower(fit, holds, receives, receive_buffer);
    for (const train_hop& h : hops)
        lower(fit, holds, h.depth_packets, h.buffer);
    c.limits.packets = fit;
    if (!holds.empty())
        c.told = fmt::format("is {}, and {} holds no more than {}, which are simulated. ", to_string(burst), holds, fit);
    else
        c.told = fmt::format("is {}. ", to_string(burst));
    c.told += fmt::format("Times are those of single packets to {:g} % with trains of up to {} ({}) in messages of {} times as many "
                          "packets; burst: auto keeps to that.",
                          100 * k_stated_error, sound, c.reason, k_trains_of_a_message);
    return c;
}

} // namespace weft
