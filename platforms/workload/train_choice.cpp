// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/train_choice.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft {

namespace {
/// Beyond this a longer train saves no time of the host: its costs per transaction are a per cent of those of its
/// bytes.
constexpr std::uint32_t k_longest = 1024;
constexpr double k_stated_error = 0.02;
/// Where streams meet, a train is served at once that single packets would have spread: a step is late by a train at
/// most for every buffer on the way of its messages where they meet others. Five of these are 2 % of a step of 256
/// trains.
constexpr std::uint32_t k_trains_of_a_step = 256;
/// Streams with ports and links of their own meet nobody: what a step is late by is its last train, at each of the
/// ranks that it waits for.
constexpr std::uint32_t k_trains_of_an_own_step = 96;
/// Where a train is spread over paths, its parts are late by their own length, and a message waits for its latest part
/// alone. Calibrated: the table of docs/adr/0003.
constexpr std::uint32_t k_trains_of_a_spread_step = 128;
/// Calibrated, as above: 4 of a chunk were 4 % off on boards of UB; 20 of one that a tree of chips forwards, 4 % on 4x3
/// chips.
constexpr std::uint64_t k_trains_of_a_chunk = 8, k_trains_of_a_forwarded_chunk = 32;
/// A step of fewer packets costs the host little, and the order of single packets shows in its time. Calibrated: on
/// racks and boards whose trains are spread, such steps have one chunk, so that no chunk evens out what another one
/// lost, and trains of 16 packets and more were 2 to 8 % off; two_d on 3x5 chips, with steps of 1,365 packets, 2.1 %;
/// hierarchical on two NPUs, of 2,048, 3.7 %.
constexpr std::uint64_t k_short_step_packets = 3072;
/// Rings of row_pair and ring_1d that own their links meet nobody. Of two or three rows, single packets fall into step:
/// row_pair on 2x7 chips, with steps of 1,100, took 72.3 us or, in trains of 3 packets already, 70.4.
constexpr std::uint64_t k_short_step_of_own_rings = 1024;
/// Of row_pair with detours in one pair. Calibrated: of 35 random meshes with such steps and chunks the worst was
/// 1.4 % off, see docs/adr/0003.
constexpr std::uint64_t k_short_step_of_detours = 8192, k_short_chunk_of_detours = 2048;
/// Accesses to memory for what is sent on: it is read, and was read and written where it was added. Calibrated where
/// streams meet: a ring of SwitchML workers was 14.5 % off with memory of 2.26 times the rate of its links, 3.7 % at
/// 2.7, 0.01 % at 3. Streams with links of their own wait for memory in the same order always: 0.4 % at 2.25.
constexpr std::uint64_t k_memory_quarters = 12, k_memory_quarters_of_own_links = 9;

double ranks_of(const train_limits& limits)
{
    double ranks = 1;
    for (const std::uint32_t side : limits.sides)
        ranks *= side;
    return ranks;
}

/// Steps of all dimensions, but of those that carry less than a fiftieth of the bytes: behind two of eight others, as
/// on a SuperPod, they take no time to speak of. Each dimension carries what those before it leave.
double hierarchical_steps(std::vector<std::uint32_t> sides)
{
    constexpr double k_least = 0.02;
    std::sort(sides.rbegin(), sides.rend());
    double left = 1, steps = 0;
    for (const std::uint32_t side : sides) {
        if (left * (side - 1) / side >= k_least)
            steps += side - 1;
        left /= side;
    }
    return std::max(1.0, steps);
}

/// Into how many parts a collective divides its data, of which its average step sends one, and its shortest step by
/// halving and doubling.
double parts_of(const train_limits& limits, const collective_case& c)
{
    double sides = 0, longest = 1;
    for (const std::uint32_t side : limits.sides) {
        sides += side - 1;
        longest = std::max<double>(longest, side);
    }
    if (c.ranks_per_group != 0)
        return std::max<double>(1, c.ranks_per_group - 1.0);
    switch (c.algo) {
    case abi::algorithm::ring_1d: return std::max(1.0, ranks_of(limits) - 1);
    case abi::algorithm::two_d:
    case abi::algorithm::mesh_tree: return std::max(1.0, sides);
    case abi::algorithm::hierarchical: return hierarchical_steps(limits.sides);
    case abi::algorithm::row_pair:
    case abi::algorithm::row_pair_forward: return std::max(1.0, sides + longest);
    case abi::algorithm::halving_doubling: return std::max(1.0, ranks_of(limits));
    default: return 1; // in single packets, see meets_everywhere()
    }
}

/// Streams of this collective, which is no broadcast (shares_ports()), share neither local ports nor links with others,
/// so that each may fill a buffer.
bool owns_links(const train_limits& limits, const collective_case& c)
{
    const auto [shortest, longest] = std::minmax_element(limits.sides.begin(), limits.sides.end());
    if (!limits.own_links || limits.sides.size() != 2 || *shortest < 2)
        return false; // a line carries both directions of a ring on the same links
    return c.ranks_per_group != 2 && (c.algo != abi::algorithm::two_d || *shortest >= 3); // so does a ring of two
}

/// A broadcast on a mesh of rows and columns goes by several trees, whose streams share read-ahead and local ports at
/// every chip: trains were up to 18 % off. (In full meshes it has one stream for each link.)
bool shares_ports(const train_limits& limits, const collective_case& c)
{
    return c.algo == abi::algorithm::mesh_tree && limits.sides.size() == 2;
}

/// row_pair whose detours are all in one pair: the streams that they meet are those of the same pair.
bool detours_in_one_pair(const train_limits& limits, const collective_case& c)
{
    return c.algo == abi::algorithm::row_pair && (c.transposed ? limits.one_pair_of_columns : limits.one_pair_of_rows);
}

/// Detours meet other streams at routers, and whose turn it is hangs on little: single packets themselves were 3 %
/// faster for 32 bytes more. A ring over all ranks goes around what failed.
bool takes_detours(const train_limits& limits, const collective_case& c)
{
    return limits.detours && c.algo != abi::algorithm::ring_1d && !detours_in_one_pair(limits, c);
}

/// Of a message to one rank at a time, a train's parts go over ranks that send themselves. Nothing evens out who goes
/// first there, and single packets fall into step: all_reduce of 16 MiB by halving_doubling on a board took 510 us or
/// 380 us for 1 ns more of latency. Trains were 26 % off, rings up to 2.7 %.
bool meets_spread_parts(const train_limits& limits, const collective_case& c)
{
    return (c.algo == abi::algorithm::ring_1d || c.algo == abi::algorithm::halving_doubling) &&
           std::any_of(limits.hops.begin(), limits.hops.end(), [](const train_hop& h) { return h.paths > 1; });
}

/// Pairs of rows or columns that are all there is: both rings of a pair and its exchange share the links between them,
/// and single packets fall into step. On 6x2 and 8x2 chips trains were 6.1 % faster to 7.7 % slower.
bool has_one_pair(const train_limits& limits, const collective_case& c)
{
    return (c.algo == abi::algorithm::row_pair || c.algo == abi::algorithm::row_pair_forward) && limits.own_links &&
           std::find(limits.sides.begin(), limits.sides.end(), 2u) != limits.sides.end();
}

/// What a slow core does first decides then, which hangs on little: all_gather by ring_1d on 4x5 chips with cores of 50
/// MHz was 15 % off. Rings of both directions share a core.
bool cores_set_the_pace(const train_limits& limits, double message_packets)
{
    return 2.0 * static_cast<double>(limits.message_ps) > message_packets * static_cast<double>(limits.packet_ps);
}

/// Trees of lines of which one is shorter, or leads to a spare NPU, share links. A broadcast of 16 MiB on a rack of 4x4
/// NPUs, one of them masked, was 6.0 % faster in trains of 16, 3.4 % slower in trains of 2.
bool has_unlike_trees(const train_limits& limits, const collective_case& c) { return limits.gaps && c.algo == abi::algorithm::mesh_tree; }

/// Why nobody can tell how far trains of this collective are off; "" where a bound is known. Groups that run at once
/// meet on links. Where many send to one at once, or messages of several rings meet at every router, nothing evens out
/// who goes first: direct exchanges and parameter servers were up to 10 % off in trains, two_d with wrap links, which
/// has two times, up to 5 %, and on lines 9 %.
std::string why_no_bound(const train_limits& limits, const collective_case& c)
{
    using abi::algorithm;
    if (!c.groups.empty())
        return "process groups meet on links";
    if (c.algo == algorithm::two_d && !owns_links(limits, c))
        return "rings that share links";
    if (shares_ports(limits, c))
        return "trees that share local ports";
    if (has_one_pair(limits, c))
        return "one pair of rows or columns, whose rings share links";
    if (has_unlike_trees(limits, c))
        return "trees around failed NPUs share links";
    if (takes_detours(limits, c))
        return "detours around what failed meet other streams";
    if (meets_spread_parts(limits, c))
        return "packets that are spread meet those of other ranks";
    constexpr algorithm k_many_to_one[] = {algorithm::direct,     algorithm::parameter_server, algorithm::multi_axis,
                                           algorithm::multi_ring, algorithm::two_phase,        algorithm::two_phase_one_path};
    const bool many_to_one = std::find(std::begin(k_many_to_one), std::end(k_many_to_one), c.algo) != std::end(k_many_to_one);
    if (many_to_one || abi::moves_tokens(c.op) || c.op == abi::collective_op::reduce)
        return "many send to one at once";
    return "";
}

/// Whether the buffer takes trains of `packets`, of which it sees its part.
bool takes(const train_hop& hop, std::uint32_t packets, bool own)
{
    const std::uint32_t part = (packets + hop.paths - 1) / hop.paths;
    return std::uint64_t{part} * (own ? hop.own_trains : hop.trains) <= hop.depth_packets &&
           (hop.round_trip_ps == 0 || train_streams(hop, part));
}

const train_hop* refusing(const train_choice& choice, std::uint32_t packets, bool own)
{
    for (const train_hop& h : choice.limits.hops)
        if (!takes(h, packets, own))
            return &h;
    return nullptr;
}

constexpr bool is_power_of_two(std::uint32_t n) { return (n & (n - 1)) == 0; }

/// The longest train of at most `most` packets that all buffers take; `limit` becomes the buffer that takes no longer
/// one. Queues that share the slots of a DMA engine get even shares only of lengths that fill them: powers of two,
/// unless `any_length`.
std::uint32_t longest_train(const train_choice& choice, std::uint32_t most, bool own, bool any_length, const train_hop*& limit)
{
    const std::uint32_t least = choice.paths > 1 ? 2 * choice.paths : 2; // parts of one packet are no trains
    for (std::uint32_t n = most; n >= least; --n) {
        if (!any_length && !is_power_of_two(n))
            continue;
        const train_hop* const by = refusing(choice, n, own);
        if (by == nullptr)
            return n;
        limit = by;
    }
    return 1;
}

/// Of the shortest trains: "too small for trains: ub.transmit_queue = 64 (64 packets, about 256 needed)".
std::string too_small(const train_choice& choice)
{
    std::uint32_t least = 2;
    while (least < 2 * choice.paths && choice.paths > 1)
        least *= 2;
    std::vector<std::string> all;
    for (const train_hop& h : choice.limits.hops) {
        train_hop deeper = h;
        while (!takes(deeper, least, choice.limits.own_links) && deeper.depth_packets < (1ull << 32))
            deeper.depth_packets += std::max<std::uint64_t>(1, deeper.depth_packets / 64);
        if (deeper.depth_packets == h.depth_packets)
            continue;
        std::string text = fmt::format("{} ({} packets, about {} needed)", h.buffer, h.depth_packets, deeper.depth_packets);
        if (std::find(all.begin(), all.end(), text) == all.end())
            all.push_back(std::move(text));
    }
    constexpr std::size_t k_show = 3;
    const std::size_t more = all.size() > k_show ? all.size() - k_show : 0;
    all.resize(all.size() - more);
    return fmt::format("too small for trains: {}{}", fmt::join(all, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

double step_packets(const train_choice& choice, const collective_case& c)
{
    return static_cast<double>(c.size_bytes / choice.limits.packet_payload) / parts_of(choice.limits, c);
}

std::uint64_t trains_of_a_step(const train_choice& choice, const collective_case& c)
{
    return owns_links(choice.limits, c) ? std::min(k_trains_of_an_own_step, choice.trains_a_step) : choice.trains_a_step;
}

std::uint64_t short_step(const train_choice& choice, const collective_case& c)
{
    if (detours_in_one_pair(choice.limits, c))
        return k_short_step_of_detours;
    const bool rings = c.algo == abi::algorithm::ring_1d || c.algo == abi::algorithm::row_pair ||
                       c.algo == abi::algorithm::row_pair_forward;
    const std::vector<std::uint32_t>& sides = choice.limits.sides;
    const bool wide = !sides.empty() && *std::min_element(sides.begin(), sides.end()) >= 4;
    return rings && wide && owns_links(choice.limits, c) ? k_short_step_of_own_rings : k_short_step_packets;
}

/// So that no later chunk of a step evens out what one lost.
bool few_chunks(const train_choice& choice, const collective_case& c)
{
    return c.chunk_bytes == 0 || 2.0 * static_cast<double>(c.chunk_bytes) > step_packets(choice, c) * choice.limits.packet_payload;
}

/// Why steps, or their chunks, are too short for trains: "" where they are not. Around one failed host, all_reduce by
/// row_pair was 2.1 % off on 8x6 chips in chunks longer than a step, and on 8x10 chips in 22 chunks of 1,024 packets.
std::string why_too_short(const train_choice& choice, const collective_case& c)
{
    if (const std::uint64_t least = short_step(choice, c); step_packets(choice, c) < static_cast<double>(least))
        return fmt::format("steps of fewer than {} packets", least);
    if (!detours_in_one_pair(choice.limits, c))
        return "";
    if (few_chunks(choice, c))
        return "steps of fewer than two chunks";
    const bool short_chunks = c.chunk_bytes / choice.limits.packet_payload < k_short_chunk_of_detours;
    return short_chunks ? fmt::format("chunks of fewer than {} packets", k_short_chunk_of_detours) : "";
}

std::uint64_t trains_of_a_chunk(const collective_case& c)
{
    return c.algo == abi::algorithm::mesh_tree ? k_trains_of_a_forwarded_chunk : k_trains_of_a_chunk;
}
} // namespace

bool train_streams(const train_hop& hop, std::uint32_t packets)
{
    const std::uint64_t difference_ps =
        hop.drained_ps > hop.filled_ps ? hop.drained_ps - hop.filled_ps : hop.filled_ps - hop.drained_ps;
    // Whole trains of credits; the next train waits for one of its own length.
    return hop.depth_packets / packets * packets * hop.filled_ps >=
           hop.round_trip_ps + packets * difference_ps + (packets - 1) * hop.filled_ps;
}

train_hop longest_on_a_wire(std::uint64_t packet_ps, std::uint64_t wire_bytes)
{
    const std::uint64_t packets = 0xffff'ffff / std::max<std::uint64_t>({packet_ps, wire_bytes, 1});
    return {"4.29 ms or 4 GiB of a train on a wire", packets, packet_ps, packet_ps, 1, 1, 1, 0};
}

std::vector<train_hop> dma_hops(const dma_config& dma, const hbm_config& memory, const packet_format& format, std::uint64_t packet_ps,
                                bandwidth links, std::uint32_t paths, const std::string& chip_key, const std::string& memory_key,
                                std::uint32_t readers)
{
    // Trains that are read at once wait for each other: a packet's time at the memory when all links are busy.
    const auto loaded_ps = static_cast<std::uint64_t>(3.0 * static_cast<double>(packet_ps) * static_cast<double>(links.value()) /
                                                      static_cast<double>(memory.rate.value()));
    const std::uint64_t receives =
        dma.receive_buffer.value() / format.cell_bytes() / format.cells_of_one(format.max_payload_bytes);
    const std::uint64_t drained_ps = std::max(packet_ps, loaded_ps);
    const std::uint32_t reads = paths > 1 ? 4 : 2; // trains read while others are sent
    return {{fmt::format("{}.dma.read_ahead = {} over {}.latency = {}", chip_key, dma.read_ahead, memory_key, to_string(memory.latency)),
             dma.read_ahead, packet_ps, drained_ps, reads, reads, 1, readers * memory.latency.value() + packet_ps},
            {fmt::format("{}.dma.receive_buffer = {}", chip_key, to_string(dma.receive_buffer)), receives, packet_ps, drained_ps, 4, 4, 1,
             2 * packet_ps}};
}

std::string memory_sets_the_pace(bandwidth memory, bandwidth links, const std::string& key, bool own_links)
{
    const std::uint64_t quarters = own_links ? k_memory_quarters_of_own_links : k_memory_quarters;
    if (memory.value() / quarters * 4 >= links.value())
        return "";
    return fmt::format("{} = {} is below {:g} times the links of a chip, {} together, and can set the pace", key, to_string(memory),
                       static_cast<double>(quarters) / 4, to_string(links));
}

std::string text_of(const train_choice& c)
{
    if (c.packets == 1)
        return "single packets" + (c.chosen ? fmt::format(" (auto: {})", c.reason) : "");
    if (!c.chosen)
        return fmt::format("trains of up to {} packets", c.packets);
    return fmt::format("trains of up to {} packets in long messages, else single packets (auto: {})", c.packets, c.reason);
}

train_choice choose_trains(packet_count burst, train_limits limits)
{
    train_choice c;
    c.chosen = burst.value() == 0;
    c.limits = std::move(limits);
    for (const train_hop& h : c.limits.hops)
        c.paths = std::max(c.paths, h.paths);
    c.trains_a_step = c.paths > 1 ? k_trains_of_a_spread_step : k_trains_of_a_step;
    if (!c.limits.single.empty() || burst.value() == 1) {
        c.reason = c.limits.single;
        return c;
    }
    if (burst.value() > 1) { // what the user wants, as far as buffers hold it
        c.packets = static_cast<std::uint32_t>(burst.value());
        for (const train_hop& h : c.limits.hops)
            if (h.depth_packets < c.packets) {
                c.packets = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, h.depth_packets));
                c.held = h.buffer;
            }
        return c;
    }
    if (!c.limits.no_bound.empty()) {
        c.reason = c.limits.no_bound;
        return c;
    }
    const train_hop* limit = nullptr;
    c.packets = longest_train(c, k_longest, c.limits.own_links, c.limits.own_links, limit);
    c.reason = c.packets == 1     ? too_small(c)
               : limit == nullptr ? "longer ones save no time"
                                  : limit->buffer + " sets the length";
    return c;
}

case_trains trains_of(const train_choice& choice, const collective_case& c)
{
    if (abi::by_switch(c.algo))
        return {1, "packets of a switch are its own"};
    if (abi::is_in(abi::k_by_ccu, c.algo))
        return {1, "CCUs send packet by packet"};
    if (!choice.chosen || choice.packets == 1)
        return {choice.packets, choice.reason};
    if (std::string why = why_no_bound(choice.limits, c); !why.empty())
        return {1, std::move(why)};
    if (std::string why = why_too_short(choice, c); !why.empty())
        return {1, std::move(why)};
    const double step = step_packets(choice, c);
    const std::uint64_t chunk = c.chunk_bytes / choice.limits.packet_payload;
    if (cores_set_the_pace(choice.limits, chunk > 0 ? std::min(step, static_cast<double>(chunk)) : step))
        return {1, "cores take about as long for messages as links"};
    std::uint64_t most = choice.packets;
    std::string reason = choice.reason;
    const auto lower = [&](std::uint64_t to, const char* why) {
        if (to < most)
            most = std::max<std::uint64_t>(1, to), reason = why;
    };
    lower(static_cast<std::uint64_t>(step * choice.paths / static_cast<double>(trains_of_a_step(choice, c))), "the length of a step");
    // Few later chunks even out what one lost. Calibrated with chunks of 8 MiB on a rack, 64 MiB was 2.6 % off, 1.0 %
    // by half as long trains; with 4 MiB on a board, 48 MiB 2.3 % and 1.9 %.
    if (choice.paths > 1 && few_chunks(choice, c))
        lower(most / 2, "steps of fewer than two chunks");
    // A chunk goes on when its last packet is there: a train must be little of it, and less where chunks go from chip
    // to chip.
    if (chunk > 0)
        lower(chunk / trains_of_a_chunk(c), "the length of a chunk");
    const train_hop* limit = nullptr;
    // What is left over of a short message is a train that others wait for. Calibrated: row_pair of 1 MiB on 4x4 chips,
    // in messages of 1,024 packets, was 3.1 % off in trains of 17, 0.7 % in 8, 16 or 32.
    const bool own = owns_links(choice.limits, c), any_length = own && step >= static_cast<double>(k_short_step_packets);
    const std::uint32_t packets = longest_train(choice, static_cast<std::uint32_t>(most), own, any_length, limit);
    return {packets, limit == nullptr ? reason : limit->buffer};
}

case_trains longest_trains(const train_choice& choice, const std::vector<collective_case>& cases)
{
    case_trains longest = trains_of(choice, cases.at(0));
    for (const collective_case& c : cases)
        if (case_trains here = trains_of(choice, c); here.packets > longest.packets)
            longest = std::move(here);
    return longest;
}

std::optional<double> train_error_bound(const train_choice& choice, const collective_case& c, std::uint32_t packets)
{
    if (packets == 1 || !abi::by_dma(c.algo))
        return 0;
    const double step = std::max(1.0, step_packets(choice, c));
    const double n = std::min<double>(packets, step); // no train is longer than its message
    if (!choice.limits.no_bound.empty() || !c.groups.empty())
        return std::nullopt;
    if (n <= 1)
        return 0;
    const bool unproved = detours_in_one_pair(choice.limits, c) && !why_too_short(choice, c).empty();
    if (unproved || !why_no_bound(choice.limits, c).empty())
        return std::nullopt;
    double bound = k_stated_error * n * static_cast<double>(trains_of_a_step(choice, c)) / (step * choice.paths);
    if (const double chunk = static_cast<double>(c.chunk_bytes / choice.limits.packet_payload); chunk > 0)
        bound = std::max(bound, k_stated_error * n * static_cast<double>(trains_of_a_chunk(c)) / std::min(chunk, step));
    for (const train_hop& h : choice.limits.hops) {
        const std::uint32_t part = (packets + h.paths - 1) / h.paths;
        const std::uint64_t window = h.depth_packets / part * part;
        if (window == 0)
            return std::nullopt;
        if (h.round_trip_ps == 0 || train_streams(h, part))
            continue;
        // Of a stream that waits for credits: the round trip, in trains, against the window.
        const double needs_ps = static_cast<double>(h.round_trip_ps + (part - 1) * h.filled_ps);
        bound = std::max(bound, needs_ps / (static_cast<double>(window) * static_cast<double>(h.filled_ps)) - 1);
    }
    return bound;
}

std::string train_warning(const train_choice& choice, packet_count burst, const std::vector<collective_case>& cases)
{
    if (choice.chosen || burst.value() == 1)
        return "";
    if (!choice.limits.single.empty())
        return fmt::format("is {}, but {}: single packets are simulated.", to_string(burst), choice.limits.single);
    std::string text;
    if (!choice.held.empty())
        text = fmt::format(" {} holds no more than {}, which are simulated.", choice.held, choice.packets);
    const train_choice by_itself = choose_trains(packet_count(0), choice.limits);
    const collective_case* worst = nullptr;
    std::optional<double> largest = k_stated_error;
    for (const collective_case& c : cases)
        if (const std::optional<double> bound = train_error_bound(choice, c, choice.packets);
            largest && (!bound || *bound > *largest)) { // no bound is worse than any
            worst = &c;
            largest = bound;
        }
    if (worst != nullptr) {
        const case_trains own = trains_of(by_itself, *worst);
        const std::string auto_takes = own.packets == 1 ? fmt::format("single packets ({})", own.reason)
                                                        : fmt::format("trains of {}", own.packets);
        text += fmt::format(" Of {} by {} of {}, times may be off by {}; burst: auto takes {} there.", name_of(worst->op),
                            name_of(worst->algo), to_string(data_size(worst->size_bytes)),
                            largest ? fmt::format("up to {:.{}f} %, by the bound of docs/adr/0003", 100 * *largest, *largest < 0.1 ? 1 : 0)
                                    : std::string("more than any bound tells"),
                            auto_takes);
    }
    return text.empty() ? "" : fmt::format("is {}.{}", to_string(burst), text);
}

} // namespace weft
