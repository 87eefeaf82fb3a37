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
/// Where streams meet, a train is served at once that single packets would have spread: a step is late by a train at most for every
/// buffer on the way of its messages where they meet others. Five of these are 2 % of a step of 256 trains.
constexpr std::uint32_t k_trains_of_a_step = 256;
/// Where a train is spread over paths, its parts are late by their own length, and a message waits for its latest part alone. Calibrated:
/// the table of docs/adr/0003.
constexpr std::uint32_t k_trains_of_a_spread_step = 128;
/// Calibrated, as above: 4 of a chunk were 4 % off on boards of UB; 20 of one that a tree of chips forwards, 4 % on 4x3 chips.
constexpr std::uint64_t k_trains_of_a_chunk = 8, k_trains_of_a_forwarded_chunk = 32;
/// A step of fewer packets costs the host little, and the order of single packets shows in its time.
constexpr std::uint64_t k_short_step_packets = 1024;
/// The same of `hierarchical` where trains are spread. Calibrated: on a rack, steps below it have one chunk, so that no chunk evens out what
/// another one lost, and trains of 32 packets and more were 2 to 8 % off.
constexpr std::uint64_t k_short_spread_step_packets = 3072;

/// Steps of one pass of a collective over its data, each of which waits for the one before.
std::uint64_t steps_of(const train_choice& choice, const collective_case& c)
{
    std::uint64_t ranks = 1, sides = 0, longest = 1;
    for (const std::uint32_t side : choice.sides) {
        ranks *= side;
        sides += side - 1;
        longest = std::max<std::uint64_t>(longest, side);
    }
    if (c.ranks_per_group != 0)
        return std::max<std::uint64_t>(1, c.ranks_per_group - 1);
    switch (c.algo) {
    case abi::algorithm::ring_1d: return std::max<std::uint64_t>(1, ranks - 1);
    case abi::algorithm::two_d:
    case abi::algorithm::hierarchical:
    case abi::algorithm::mesh_tree: return std::max<std::uint64_t>(1, sides);
    case abi::algorithm::row_pair:
    case abi::algorithm::row_pair_forward: return std::max<std::uint64_t>(1, sides + longest);
    case abi::algorithm::halving_doubling: return 2;
    default: return 1; // in single packets, see meets_at_every_router()
    }
}
/// Where many send to one at once, or messages of several dimensions meet at every router, nothing evens out who goes first: direct exchanges
/// and parameter servers were up to 10 % off in trains, two_d with wrap links, which has two times, up to 5 %.
bool meets_at_every_router(const train_choice& choice, const collective_case& c)
{
    if (c.algo == abi::algorithm::direct || c.algo == abi::algorithm::parameter_server)
        return true;
    const auto dimensions = std::count_if(choice.sides.begin(), choice.sides.end(), [](std::uint32_t side) { return side > 1; });
    const bool both_ways = c.algo == abi::algorithm::two_d && !choice.own_links; // halves go by rows and by columns at once
    return dimensions > 1 && both_ways;
}
/// Packets of a train, or of its part on one path, that the buffer is deep enough for, and no more than `most`.
std::uint32_t longest_in(const train_hop& hop, std::uint32_t most)
{
    const std::uint64_t fits = hop.depth_packets / hop.trains;
    auto n = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fits, 1, most));
    while (n > 1 && hop.round_trip_ps != 0 && !train_streams(hop, n))
        --n;
    return n;
}
} // namespace

bool train_streams(const train_hop& hop, std::uint32_t packets)
{
    const std::uint64_t difference_ps =
        hop.drained_ps > hop.filled_ps ? hop.drained_ps - hop.filled_ps : hop.filled_ps - hop.drained_ps;
    return hop.depth_packets / packets * packets * hop.filled_ps >= hop.round_trip_ps + packets * difference_ps;
}

train_hop longest_on_a_wire(std::uint64_t packet_ps, std::uint64_t wire_bytes)
{
    const std::uint64_t packets = 0xffff'ffff / std::max<std::uint64_t>({packet_ps, wire_bytes, 1});
    return {"4.29 ms or 4 GiB of a train on a wire", packets, packet_ps, packet_ps, 1, 1, 0};
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
    if (c.packets == 1)
        return "single packets" + (c.chosen ? fmt::format(" (auto: {})", c.reason) : "");
    if (!c.chosen)
        return fmt::format("trains of up to {} packets", c.packets);
    return fmt::format("trains of up to {} packets in long messages, else single packets (auto: {})", c.packets, c.reason);
}

train_choice choose_trains(packet_count burst, const std::vector<train_hop>& hops, const dma_config& dma,
                           const packet_format& format, const std::string& dma_key, const std::string& single,
                           const std::string& no_bound)
{
    train_choice c;
    c.chosen = burst.value() == 0;
    c.packet_payload = static_cast<std::uint32_t>(format.max_payload_bytes);
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
    std::string smallest; // of buffers
    const auto lower = [](std::uint32_t& fit, std::string& reason, std::uint64_t to, const std::string& why) {
        if (to >= fit)
            return;
        fit = static_cast<std::uint32_t>(std::max<std::uint64_t>(to, 1));
        reason = why;
    };
    for (const train_hop& h : hops)
        c.paths = std::max(c.paths, h.paths);
    lower(sound, smallest, dma.read_ahead / (c.paths > 1 ? 4 : 2), reads);
    lower(sound, smallest, receives / 4, receive_buffer);
    for (const train_hop& h : hops) {
        lower(sound, smallest, std::uint64_t{longest_in(h, (sound + h.paths - 1) / h.paths)} * h.paths, h.buffer);
        if (h.paths > 1 && longest_in(h, 2) < 2)
            lower(sound, smallest, 1, h.buffer);
    }
    const std::uint32_t trains_a_step = c.paths > 1 ? k_trains_of_a_spread_step : k_trains_of_a_step;
    if (c.paths > 1 && sound < 2 * c.paths)
        sound = 1; // parts of a packet are no trains
    if (!smallest.empty())
        c.reason = smallest + (sound == 1 ? " is too small for trains" : " sets the length");
    if (!no_bound.empty())
        lower(sound, c.reason, 1, no_bound);
    if (burst.value() <= 1) {
        c.packets = burst.value() == 1 ? 1 : sound;
        c.trains_a_step = trains_a_step;
        return c;
    }

    // What the user wants, as far as buffers hold it.
    auto fit = static_cast<std::uint32_t>(burst.value());
    std::string holds;
    lower(fit, holds, dma.read_ahead, reads);
    lower(fit, holds, receives, receive_buffer);
    for (const train_hop& h : hops)
        lower(fit, holds, h.depth_packets, h.buffer);
    c.packets = fit;
    if (!holds.empty())
        c.told = fmt::format("is {}, and {} holds no more than {}, which are simulated. ", to_string(burst), holds, fit);
    else
        c.told = fmt::format("is {}. ", to_string(burst));
    if (sound == 1) {
        c.told += fmt::format("burst: auto would take single packets ({}): no train is known to keep times within {:g} % here.",
                              c.reason, 100 * k_stated_error);
        return c;
    }
    c.told += fmt::format("burst: auto would take trains of up to {} in long messages ({}) and single packets in short ones, to keep times "
                          "within {:g} % of those of single packets; how far this value is off, nobody knows.",
                          sound, c.reason, 100 * k_stated_error);
    return c;
}

std::uint32_t train_of(const train_choice& choice, const collective_case& c)
{
    if (abi::by_switch(c.algo))
        return 1;
    if (choice.trains_a_step == 0)
        return choice.packets;
    const std::uint64_t step = c.size_bytes / choice.packet_payload / steps_of(choice, c);
    const bool spread_rings = choice.paths > 1 && c.algo == abi::algorithm::hierarchical;
    if (step < (spread_rings ? k_short_spread_step_packets : k_short_step_packets) || meets_at_every_router(choice, c))
        return 1;
    auto length = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(step * choice.paths / choice.trains_a_step, 1, choice.packets));
    // A chunk goes on when its last packet is there: a train must be little of it, and less where chunks go from chip to chip.
    const std::uint64_t chunk = c.chunk_bytes / choice.packet_payload;
    if (chunk > 0)
        length = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
            chunk / (c.algo == abi::algorithm::mesh_tree ? k_trains_of_a_forwarded_chunk : k_trains_of_a_chunk), 1, length));
    while (!choice.own_links && (length & (length - 1)) != 0)
        length &= length - 1; // the largest power of two in it
    return choice.paths > 1 && length < 2 * choice.paths ? 1 : length; // parts of a packet are no trains
}

} // namespace weft
