// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans of multi_axis; axes.h explains it.
#include "firmware/collectives/lane_loads.h"
#include "firmware/collectives/planner.h"

#include <new>

namespace weft::firmware {

namespace {

// A shard that is cut into parts has one message more for each part; below this they would cost more than idle links.
// On rings every step waits for them: calibrated on an 8x8 torus, where an all_gather of 4 MiB took 117 us in parts of
// 16 KiB and 78 us by one lane.
// On an 8x8 full mesh a reduce_scatter of 1 MiB took 15.1 us in parts of 8 KiB and 13.3 us by one lane.
constexpr std::uint64_t k_shortest_part_bytes = 16 << 10, k_shortest_ring_part_bytes = 32 << 10;
// An all_reduce cuts no shard of a rank, but its lanes share a core. On rings one lane is done sooner than two below
// this, and two sooner than four below k_shortest_ring_part_bytes. Calibrated on an 8x8 mesh and torus with 64 KiB to
// 4 MiB.
constexpr std::uint64_t k_shortest_ring_lane_part_bytes = 2048;
// In direct exchanges, when a link carries a message along the longest dimension in less than this for each of them:
// the core makes them one after the other. Calibrated on racks of 3x3 to 8x8 NPUs, where two lanes pay from 100, 270,
// 560, 1000 and (8x8) 1750 KiB on.
constexpr std::uint64_t k_lane_ns_of_message = 314;
// An all_reduce on rings goes in two halves from here on: while the first one is gathered, which touches memory twice a
// byte, sums of the second one touch it three times, and its messages fill what the other's steps leave idle.
// Calibrated on an 8x8 torus: 24 MiB takes 1.6 % longer in halves, 32 MiB 5.7 % less, 64 MiB 4.6 %.
constexpr std::uint64_t k_shortest_half_part_bytes = 64 << 10;
// Two lanes take turns in direct exchanges, when a link carries a shard in so long for each message of a turn: while
// one waits for the last message of a dimension, the other one sends, but the core has twice as many messages.
// Calibrated with an all_reduce, in us without and with turns: board of 8, 1 MiB 14.6 and 15.2, 2 MiB 20.0 and 17.5;
// 4x4 NPUs, 4 MiB 39.1 and 40.2, 6 MiB 52.5 and 52.3, 32 MiB 227 and 222; 8x8 NPUs, 2 MiB 29.1 and 47.8, 16 MiB 68 and
// 85, 32 MiB 117 and 119. One dimension has no second one whose messages the core could send meanwhile, so turns pay
// earlier.
constexpr std::uint64_t k_turn_ns_of_message = 503, k_turn_ns_of_lone_message = 377;

// As many lanes as a core keeps busy in messages of the command's chunk.
constexpr std::uint32_t k_lanes_of_a_chunk = 2;

std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

/// The user sees which rank has which shard.
bool shards_are_of_ranks(abi::collective_op op)
{
    return op == abi::collective_op::reduce_scatter || op == abi::collective_op::all_gather;
}

bool joined(abi::dimension_kind kind)
{
    return kind == abi::dimension_kind::full || kind == abi::dimension_kind::switched;
}

/// Axes along which everybody of a line sends to everybody else, as bits. Two ranks beside rings are a ring, too: their
/// messages go on chunk by chunk, where exchanged blocks would be whole, and in bursts that keep messages of the rings
/// waiting.
std::uint32_t axes_joined_directly(const abi::platform_table& t)
{
    bool rings = false;
    for (std::uint32_t d = 0; d < t.dim_count; ++d)
        rings = rings || (t.dims[d] > 1 && !joined(t.kind[d]));
    std::uint32_t axes = 0;
    for (std::uint32_t d = 0; d < t.dim_count; ++d)
        if (joined(t.kind[d]) && !(rings && t.dims[d] == 2))
            axes |= 1u << (t.dim_count - 1 - d);
    return axes;
}
bool has(std::uint32_t axes, std::uint32_t axis) { return (axes >> axis & 1) != 0; }

void outermost_first(std::uint32_t* axes, std::uint32_t levels)
{
    for (std::uint32_t i = 1; i < levels; ++i) // few, so sorted by insertion
        for (std::uint32_t k = i; k > 0 && axes[k] > axes[k - 1]; --k) {
            const std::uint32_t axis = axes[k];
            axes[k] = axes[k - 1];
            axes[k - 1] = axis;
        }
}

/// The dimensions of a lane, in its order; returns how many.
std::uint32_t axes_of_lane(const axis_places& places, std::uint32_t lane, std::uint32_t* axes)
{
    for (std::uint32_t i = 0; i < places.count; ++i)
        axes[i] = places.axis[places.of_lane(lane, i)];
    return places.count;
}

// What a core takes for a message and, on a ring, for the step that waits for it. Calibrated: all_gather of 1 to 8 MiB
// on 4x4x4 chips of four ranks.
constexpr std::uint64_t k_message_ns = 150;

/// What a shard of each rank takes on links, dimension by dimension in this order, in ns.
std::uint64_t link_ns(const abi::platform_table& t, std::uint32_t direct, const std::uint32_t* axes,
                      std::uint32_t levels, std::uint64_t shard_bytes)
{
    std::uint64_t ns = 0;
    std::uint64_t bytes = shard_bytes * t.ranks;
    for (std::uint32_t i = 0; i < levels; ++i) {
        const std::uint32_t d = t.dim_count - 1 - axes[i];
        const std::uint64_t ways = has(direct, axes[i]) ? 1 : 2; // a ring goes one way round
        bytes /= t.dims[d];
        ns += t.rate_mbps[d] != 0 ? bytes * (t.dims[d] - 1) * ways * 8000 / t.rate_mbps[d] : 0;
    }
    return ns;
}

/// With one lane, whether all data should go along fast dimensions first, although blocks of shards of ranks do not lie
/// side by side then, so that there are more messages.
bool fast_axes_first_pays(const abi::platform_table& t, const axis_places& places, std::uint32_t direct,
                          std::uint64_t shard_bytes, bool any_ring)
{
    std::uint32_t axes[abi::k_max_dims];
    const std::uint32_t levels = axes_of_lane(places, 0, axes);
    const std::uint64_t fast_ns = link_ns(t, direct, axes, levels, shard_bytes);
    std::uint64_t messages = 0;
    std::uint32_t shards = t.ranks;
    for (std::uint32_t i = 0; i < levels; ++i) {
        const std::uint32_t size = t.dims[t.dim_count - 1 - axes[i]];
        const std::uint32_t last = t.dims[t.dim_count - 1 - axes[levels - 1]];
        shards /= size;
        messages += std::uint64_t{size - 1} * (any_ring || i + 1 == levels ? shards : shards / last); // pieces of one
    }
    outermost_first(axes, levels);
    return link_ns(t, direct, axes, levels, shard_bytes) > fast_ns + messages * k_message_ns;
}

/// How many of two dimensions of direct exchanges, of which one is slow, begin a lane: both, where the messages of
/// further lanes cost less than the links that the fast one leaves idle. `turns`: of lanes of one dimension, and of
/// two.
std::uint32_t first_axes(const lane_loads& loads, std::uint32_t messages, const bool* turns, bool by_rank)
{
    // Of two lanes that take turns, the second one is late by half. An all_reduce goes on meanwhile.
    const std::uint64_t behind_ns = !turns[0] ? loads.behind_ns(1) : by_rank ? loads.behind_ns(1) / 2 : 0;
    const std::uint64_t fast_ns = loads.first_ns() + behind_ns;
    const std::uint32_t more_lanes = turns[1] ? 2 : 1;
    const std::uint64_t made_ns = std::uint64_t{more_lanes} * messages * k_lane_ns_of_message;
    return loads.ns(loads.balanced(2), turns[1]) + made_ns < fast_ns ? 2 : 1;
}

/// How many of `most` lanes of direct exchanges are done first, with `messages` in each.
std::uint32_t lanes_that_pay(const lane_loads& loads, std::uint32_t most, std::uint32_t messages)
{
    std::uint32_t best = 1;
    std::uint64_t least_ns = ~0ull;
    for (std::uint32_t lanes = 1; lanes <= most; ++lanes) {
        const std::uint64_t ns = loads.ns(even_shares(lanes), false) + loads.behind_ns(lanes) +
                                 std::uint64_t{lanes} * messages * k_lane_ns_of_message;
        best = ns < least_ns ? lanes : best;
        least_ns = ns < least_ns ? ns : least_ns;
    }
    return best;
}

/// Whether links that wait for other dimensions would be idle, if all lanes of direct exchanges had as much, for longer
/// than the last lane is late, behind the messages of the others. On rings lanes are alike always: messages of several
/// lengths take turns there, and all lanes would wait for the longest ones (an all_gather of 64 MiB on a 4x8 torus took
/// 23 % longer).
bool balance_pays(const lane_loads& loads, const lane_shares& balanced, bool turns)
{
    const std::uint64_t late_ns = k_lane_ns_of_message * loads.longest_size();
    return loads.ns(balanced, turns) + late_ns < loads.ns(even_shares(balanced.lanes), turns);
}

/// Part `part` of `parts` of what a lane has.
lane_cut cut_of(const lane_shares& shares, std::uint32_t lane, std::uint32_t parts, std::uint32_t part)
{
    lane_cut cut;
    cut.first = shares.before(lane);
    cut.share = shares.of[lane];
    cut.parts = parts;
    cut.part = part;
    return cut;
}

/// Of the parts of shards of `shard` elements and of one more.
std::uint64_t longest_part(std::uint64_t shard, const lane_shares& shares, std::uint32_t parts)
{
    std::uint64_t longest = 0;
    for (std::uint32_t i = 0; i < 2 * shares.lanes; ++i) {
        const std::uint64_t part = cut_of(shares, i / 2, parts, 0).of(shard + i % 2).count;
        longest = part > longest ? part : longest;
    }
    return longest;
}

/// Which of the semaphores of a lane of direct exchanges counts what level `level` gathers: one that has counted all of
/// its sums. Who sends had this rank's part at that level, which it sent when it was done with the levels before.
std::uint32_t gather_semaphore(std::uint32_t level, std::uint32_t levels) { return level == 0 ? levels : level - 1; }

} // namespace

void planner::plan_axes()
{
    const bool reduces = command_.op != abi::collective_op::all_gather;
    const bool to_root = command_.op == abi::collective_op::reduce;
    const bool gathers = command_.op != abi::collective_op::reduce_scatter && !to_root;
    const bool by_rank = shards_are_of_ranks(command_.op);
    const axis_places places = axis_places_of(table_);
    std::uint32_t axes[abi::k_max_dims];
    const std::uint32_t levels = axes_of_lane(places, 0, axes);
    charge(costs::k_axes + levels * costs::k_axes_dimension);
    direct_axes_ = axes_joined_directly(table_);
    const std::uint32_t element_bytes = abi::element_bytes(command_.type);
    const std::uint64_t bytes = command_.count * element_bytes;
    std::uint32_t first = places.fast; // dimensions that begin a lane
    std::uint32_t directions = 1;
    bool any_ring = false;
    std::uint64_t longest = 1, link_mbps = 0; // dimension, in ranks, and the links between them
    const auto bytes_in = [&](std::uint64_t ns) { return ns * link_mbps / 8000; };
    bool any_direct = false;
    for (std::uint32_t i = 0; i < levels; ++i) {
        const std::uint32_t size = table_.dims[table_.dim_count - 1 - axes[i]];
        if (size > longest) {
            longest = size;
            link_mbps = table_.rate_mbps[table_.dim_count - 1 - axes[i]] / (size - 1);
        }
        if (table_.kind[table_.dim_count - 1 - axes[i]] == abi::dimension_kind::ring)
            directions = 2;
        (has(direct_axes_, axes[i]) ? any_direct : any_ring) = true;
    }
    // Of a lane. A rank has one predecessor on a ring, but many in a direct exchange, and on the way to a root.
    const std::uint32_t semaphores = !any_ring ? levels + 1 : any_direct || to_root ? 2 * levels : levels;
    const std::uint32_t most_lanes = smaller(k_axis_data_semaphores / semaphores, k_max_lanes);
    if (!any_ring) {
        out_.chunk_elements = command_.count; // nobody forwards anything, so a block is one message
        std::uint32_t messages = 0; // of a lane
        const std::uint32_t last = table_.dims[table_.dim_count - 1 - axes[levels - 1]];
        std::uint32_t shards = table_.ranks;
        for (std::uint32_t i = 0; i < levels; ++i) {
            const std::uint32_t size = table_.dims[table_.dim_count - 1 - axes[i]];
            shards /= size;
            messages += (size - 1) * (by_rank && shards > last ? shards / last : 1); // pieces_of_message()
        }
        const std::uint64_t turn = messages * bytes_in(levels > 1 ? k_turn_ns_of_message : k_turn_ns_of_lone_message);
        const std::uint64_t shard_bytes = command_.count / table_.ranks * element_bytes;
        const bool turns[2] = {shard_bytes >= turn, shard_bytes >= 2 * turn};
        // Of more than two dimensions slow ones begin no lane: with lanes for links between racks, an all_reduce of
        // 64 MiB on a pod of 1,024 NPUs took 401 us, 248 us without.
        if (levels == 2 && places.fast == 1)
            first = first_axes(lane_loads(table_, places, bytes), messages, turns, by_rank);
        else if (by_rank && levels > 2 && first > 1)
            first = lanes_that_pay(lane_loads(table_, places, bytes), first, messages);
        if (levels > 2)
            charge(costs::k_axes_loads * levels * levels);
        if (shard_bytes >= first * turn)
            directions = 2;
    }
    if (first * directions > most_lanes && (!any_ring || most_lanes < 2))
        directions = 1; // dimensions before turns
    std::uint32_t colours = smaller(first, most_lanes / directions);
    const std::uint64_t shard = command_.count / table_.ranks;
    const auto part_bytes = [&] { return shard / (colours * directions) * element_bytes; };
    const std::uint64_t shortest_part_bytes = any_ring ? k_shortest_ring_part_bytes : k_shortest_part_bytes;
    if (!by_rank && any_ring && part_bytes() < shortest_part_bytes) {
        directions = 1;
        colours = smaller(colours, k_lanes_of_a_chunk);
    }
    // Shards of ranks that are too short for all lanes are cut for fewer: one direction of each dimension, then fewer
    // dimensions.
    if (by_rank && part_bytes() < shortest_part_bytes)
        directions = 1;
    while (by_rank && colours > 1 && part_bytes() < shortest_part_bytes)
        --colours;
    const std::uint64_t shortest_lane = any_ring          ? k_shortest_ring_lane_part_bytes
                                        : directions == 1 ? bytes_in(k_lane_ns_of_message) * longest * (longest - 1) / table_.ranks
                                                          : 0; // turns pay later than lanes
    if (part_bytes() < (by_rank ? shortest_part_bytes : shortest_lane))
        colours = directions = 1;
    // One core serves all lanes: with four its messages are twice as long as with two, so that it has as long for each.
    if (any_ring && colours * directions > k_lanes_of_a_chunk)
        out_.chunk_elements *= colours * directions / k_lanes_of_a_chunk;
    if (by_rank && part_bytes() < shortest_part_bytes)
        charge(levels * costs::k_axes_order);
    const bool in_parts = by_rank && (part_bytes() >= shortest_part_bytes ||
                                      fast_axes_first_pays(table_, places, direct_axes_, shard * element_bytes, any_ring));
    const std::uint32_t ways = colours * directions;
    lane_shares shares{1, {lane_cut::k_whole}};
    bool unlike = false; // dimensions that begin a lane
    if (colours > 1 && !any_ring)
        if (const lane_loads loads(table_, places, bytes); !loads.alike(colours)) {
            unlike = true;
            if (colours == first)
                if (const lane_shares balanced = loads.balanced(colours); balance_pays(loads, balanced, directions == 2))
                    shares = balanced;
            charge(costs::k_axes_shares * colours * colours / 4);
        }
    const bool alike = shares.lanes == 1;
    if (in_parts) { // all parts of a lane have as many messages
        const std::uint64_t part = alike ? shard / ways + 1 : longest_part(shard, shares, directions);
        const std::uint32_t messages = out_.chunks(part);
        out_.chunk_elements = (part + messages - 1) / messages;
    }
    const bool in_halves = !by_rank && !to_root && any_ring && 2 * ways <= most_lanes &&
                           shard / (2 * ways) * element_bytes >= k_shortest_half_part_bytes;
    const std::uint32_t lanes = in_halves ? 2 * ways : ways;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        // Channels have their turns by lane: where links are loaded by lines, one lane of each dimension goes
        // before a second one.
        const std::uint32_t half = lane / ways, way = lane % ways;
        const std::uint32_t colour = any_ring ? way / directions : way % colours;
        const std::uint32_t direction = any_ring ? way % directions : way / colours;
        axis_lane& a = make_axis_lane(places, lane, colour, direction != 0, by_rank && !in_parts);
        a.cut = alike ? cut_of({1, {lane_cut::k_whole}}, 0, lanes, lane)
                      : cut_of(shares, colour, lanes / colours, half * directions + direction);
        make_lane(lane, by_rank ? abi::element_range{0, command_.count} : a.cut.of(command_.count));
        if (in_parts) {
            a.in_parts = true;
            a.run_messages = out_.chunks(shard / ways + 1);
            a.in_strides = !any_ring && a.run_messages == 1;
            a.uneven = command_.count % table_.ranks != 0;
        } else if (!any_ring) {
            a.run_messages = 1;
        }
        channel_plan& c = add_channel(lane);
        c.sleeps = half != 0;
        for (std::uint32_t k = 0; reduces && k < a.levels; ++k)
            add_axis(c, k, true, lane * semaphores + k);
        for (std::uint32_t k = a.levels; gathers && k-- > 0;)
            add_axis(c, k, false, lane * semaphores + (!any_ring           ? gather_semaphore(k, levels)
                                                       : a.level[k].direct ? levels + k
                                                                           : k));
        // Else short messages of one lane, in front of longer ones of another, keep them waiting. Two even lanes differ
        // by less than a last lane is late.
        if ((!alike || (unlike && colours > 2)) && reduces && gathers)
            c.passes[a.levels].after_all_lanes = true;
        if (in_halves && half == 0)
            c.passes[1].wakes = static_cast<std::uint8_t>(lane + ways);
        if (to_root)
            add_gather_to_root(c, lane * semaphores, any_ring);
        std::uint32_t steps = 0;
        for (std::uint32_t k = 0; k < a.levels; ++k)
            steps += a.level[k].direct ? 1 : a.level[k].size - 1;
        out_.steps = steps * (by_rank ? 1 : 2);
    }
    announce_rings();
    announce_lines();
}

// `by_place`, the outermost dimension first: blocks of shards of ranks lie side by side only in this order.
axis_lane& planner::make_axis_lane(const axis_places& places, std::uint32_t lane, std::uint32_t colour, bool reversed,
                                   bool by_place)
{
    axis_lane& a = *new (&out_.axis_lanes[lane]) axis_lane;
    std::uint32_t axes[abi::k_max_dims];
    a.levels = axes_of_lane(places, colour, axes);
    if (by_place)
        outermost_first(axes, a.levels);
    const bool of_ranks = shards_are_of_ranks(command_.op);
    std::uint32_t first = 0;
    std::uint32_t shards = table_.ranks;
    for (std::uint32_t i = 0; i < a.levels; ++i) {
        axis_level& level = *new (&a.level[i]) axis_level;
        const std::uint32_t d = table_.dim_count - 1 - axes[i];
        level.axis = static_cast<std::uint8_t>(axes[i]);
        level.direct = has(direct_axes_, axes[i]);
        level.folded = table_.kind[d] == abi::dimension_kind::line;
        level.reversed = reversed;
        level.size = table_.dims[d];
        level.at = table_.coord[d];
        shards /= level.size;
        level.shards = shards;
        level.stride = shards;
        if (of_ranks)
            level.stride = rank_stride(table_, d);
        level.first = first;
        first += level.at * level.stride;
    }
    return a;
}

void planner::add_axis(channel_plan& c, std::uint32_t level, bool accumulate, std::uint32_t semaphore)
{
    const axis_level& a = out_.axis_lanes[c.lane].level[level];
    ring_id ring{ring_kind::axis, false, a.reversed};
    ring.axis = a.axis;
    pass& p = add_pass(c, a.direct ? run_source::axis_direct : run_source::axis_ring);
    p.ring = ring;
    p.view = view(ring);
    p.level = static_cast<std::uint8_t>(level);
    p.accumulate = accumulate;
    p.needs_ready = true;
    p.forwards = !a.direct;
    p.sends_empty = a.direct; // everybody waits for everybody
    p.receive_semaphore = p.remote_semaphore = static_cast<std::uint8_t>(axis_data_semaphore(semaphore));
    p.ready_semaphore =
        static_cast<std::uint8_t>(a.direct ? line_ready_semaphore(a.axis) : ready_semaphore(ring_number(ring)));
    if (a.direct) {
        p.stride = rank_stride(table_, table_.dim_count - 1 - a.axis);
        p.shortest_paths = p.stride < table_.near_ranks;
        p.view.position = a.at;
        p.view.predecessor = p.view.successor;
        p.first_queue = queue_of_line(a.axis);
    }
    const bool counts = out_.axis_lanes[c.lane].run_messages == 0;
    p.entry_cost = static_cast<std::uint16_t>(costs::k_phase + (counts ? a.size * costs::k_axis_block : 0));
    const bool in_parts = out_.axis_lanes[c.lane].in_parts;
    p.run_cost = costs::k_axis_run + (a.direct ? costs::k_axis_exchange : in_parts ? costs::k_axis_part : 0);
    if (out_.axis_lanes[c.lane].pieces_of_message(level) > 1)
        p.run_cost = static_cast<std::uint16_t>(p.run_cost + costs::k_axis_stride);
}

// Who has the root's coordinate along a dimension takes the sums of its line, the last dimension first; the others are
// done there. Nobody needs to be told: a sum is complete when its receiver has sent its part of it.
void planner::add_gather_to_root(channel_plan& c, std::uint32_t semaphore, bool any_ring)
{
    const axis_lane& a = out_.axis_lanes[c.lane];
    const abi::element_range all = out_.lanes[c.lane].lists[0];
    for (std::uint32_t i = a.levels; i-- > 0;) {
        const axis_level& level = a.level[i];
        const std::uint32_t stride = rank_stride(table_, table_.dim_count - 1 - level.axis);
        const std::uint32_t root_at = command_.root / stride % level.size;
        const std::uint32_t to = table_.rank + (root_at - level.at) * stride; // unsigned: wraps back
        pass& p = add_pass(c, run_source::list);
        p.shortest_paths = level.direct && stride < table_.near_ranks;
        p.receive_semaphore = p.remote_semaphore = static_cast<std::uint8_t>(axis_data_semaphore(
            semaphore + (any_ring ? a.levels + i : gather_semaphore(i, a.levels))));
        p.view.successor = p.view.predecessor = to;
        p.has_queue = level.direct && level.at != root_at; // as in an exchange, so that the root gets by all its ports
        if (p.has_queue)
            p.first_queue = static_cast<std::uint16_t>(queue_of_line(level.axis) +
                                                       (root_at + level.size - level.at) % level.size - 1);
        if (level.at != root_at) {
            const abi::element_range own = a.block(all, table_.ranks, i, level.at);
            p.total_sends = p.free_sends = out_.chunks(own.count);
            add_send(p, own, to);
            return;
        }
        for (std::uint32_t from = 0; from < level.size; ++from)
            p.total_receives += from != level.at ? out_.chunks(a.block(all, table_.ranks, i, from).count) : 0;
        charge(level.size * costs::k_axis_block);
    }
}

// Queues of a line of direct exchanges: one for each other rank, behind those of the lines further in.
std::uint16_t planner::queue_of_line(std::uint32_t axis) const
{
    std::uint32_t queue = 0;
    for (std::uint32_t inner = 0; inner < axis; ++inner)
        queue += has(direct_axes_, inner) ? table_.dims[table_.dim_count - 1 - inner] - 1 : 0;
    return static_cast<std::uint16_t>(queue);
}

// A line of direct exchanges is told that this rank has entered the collective, once; the rank itself with it, by one
// descriptor.
void planner::announce_lines()
{
    std::uint32_t told = 0; // axes
    for (std::uint32_t i = 0; i < out_.channel_count; ++i)
        for (std::uint32_t k = 0; k < out_.channels[i].pass_count; ++k) {
            const pass& p = out_.channels[i].passes[k];
            if (p.source != run_source::axis_direct || (told >> p.ring.axis & 1) != 0)
                continue;
            told |= 1u << p.ring.axis;
            charge(costs::k_plan_phase);
            expect(p.ready_semaphore, p.view.size);
            new (&out_.lines[out_.line_count++])
                told_line{p.ready_semaphore, p.first_queue, p.view.size, p.view.position, p.stride};
        }
}

} // namespace weft::firmware
