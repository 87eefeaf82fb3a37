// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans of multi_axis; axes.h explains it.
#include "firmware/collectives/lane_choice.h"
#include "firmware/collectives/planners.h"
#include "firmware/collectives/schedule_writer.h"

#include <new>

namespace weft::firmware {

namespace {

/// Which of the semaphores of a lane of direct exchanges counts what level `level` gathers: one that has counted all of
/// its sums. Who sends had this rank's part at that level, which it sent when it was done with the levels before.
std::uint32_t gather_semaphore(std::uint32_t level, std::uint32_t levels) { return level == 0 ? levels : level - 1; }

std::uint64_t lesser(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

class axes_planner : public schedule_writer {
public:
    axes_planner(ring_map& rings, const abi::command& command, schedule& out);

    void plan();

private:
    void add_lane(std::uint32_t lane);
    axis_lane& make_axis_lane(std::uint32_t lane, std::uint32_t colour, bool reversed);
    void add_axis(channel_plan& c, std::uint32_t level, bool accumulate, std::uint32_t semaphore);
    void add_gather_to_root(channel_plan& c, std::uint32_t semaphore);
    void add_move(channel_plan& c, bool gathers, std::uint32_t semaphore);
    std::uint32_t piece_of_rank(const axis_lane& a, std::uint32_t rank) const;
    std::uint32_t rank_of_piece(const axis_lane& a, std::uint32_t piece) const;
    std::uint16_t queue_towards(std::uint32_t rank) const;
    std::uint16_t queue_of_line(std::uint32_t axis) const;

    lane_choice lanes_;
};

axes_planner::axes_planner(ring_map& rings, const abi::command& command, schedule& out)
    : schedule_writer(rings, command, out), lanes_(table_, command_, out_.chunk_elements)
{
    out_.chunk_elements = lanes_.chunk_elements;
    charge(lanes_.cost);
}

void axes_planner::plan()
{
    for (std::uint32_t lane = 0; lane < lanes_.lanes(); ++lane)
        add_lane(lane);
    announce_rings();
    announce_lines();
}

void axes_planner::add_lane(std::uint32_t lane)
{
    const bool reduces = command_.op != abi::collective_op::all_gather;
    const bool to_root = command_.op == abi::collective_op::reduce;
    const bool gathers = command_.op != abi::collective_op::reduce_scatter && !to_root;
    const bool moves = lanes_.moves_shards;
    const bool by_rank = shards_are_of_ranks(command_.op) && !moves;
    const std::uint32_t ways = lanes_.ways(), directions = lanes_.directions, colours = lanes_.colours;
    // Channels have their turns by lane: where links are loaded by lines, one lane of each dimension goes before a
    // second one.
    const std::uint32_t half = lane / ways, way = lane % ways;
    const std::uint32_t colour = lanes_.any_ring ? way / directions : way % colours;
    const std::uint32_t direction = lanes_.any_ring ? way % directions : way / colours;
    axis_lane& a = make_axis_lane(lane, colour, direction != 0);
    const lane_shares whole{1, {lane_cut::k_whole}};
    a.cut = lanes_.alike() ? whole.cut(0, lanes_.lanes(), lane)
                           : lanes_.shares.cut(colour, lanes_.lanes() / colours, half * directions + direction);
    make_lane(lane, by_rank ? abi::element_range{0, command_.count} : a.cut.of(command_.count));
    if (lanes_.in_parts) {
        a.in_parts = true;
        a.run_messages = out_.chunks(command_.count / table_.ranks / ways + 1);
        a.in_strides = !lanes_.any_ring && a.run_messages == 1;
        a.uneven = command_.count % table_.ranks != 0;
    } else if (!lanes_.any_ring) {
        a.run_messages = 1;
    }
    channel_plan& c = add_channel(lane);
    c.sleeps = half != 0;
    const std::uint32_t first = lane * lanes_.semaphores;
    if (moves && gathers)
        add_move(c, true, first + a.levels - 1);
    for (std::uint32_t k = 0; reduces && k < a.levels; ++k)
        add_axis(c, k, true, first + k);
    for (std::uint32_t k = a.levels; gathers && k-- > 0;)
        add_axis(c, k, false, first + (!lanes_.any_ring      ? gather_semaphore(k, a.levels)
                                       : a.level[k].direct ? a.levels + k
                                                             : k));
    // Else short messages of one lane, in front of longer ones of another, keep them waiting. Two even lanes differ
    // by less than a last lane is late.
    if ((!lanes_.alike() || (lanes_.unlike && colours > 2)) && reduces && gathers)
        c.passes[a.levels].after_all_lanes = true;
    if (lanes_.halves > 1 && half == 0)
        c.passes[1].wakes = static_cast<std::uint8_t>(lane + ways);
    if (moves && reduces)
        add_move(c, false, first + a.levels);
    if (to_root)
        add_gather_to_root(c, first);
    std::uint32_t steps = 0;
    for (std::uint32_t k = 0; k < a.levels; ++k)
        steps += a.level[k].direct ? 1 : a.level[k].size - 1;
    out_.steps = steps * (shards_are_of_ranks(command_.op) ? 1 : 2) + (moves ? 1 : 0);
}

axis_lane& axes_planner::make_axis_lane(std::uint32_t lane, std::uint32_t colour, bool reversed)
{
    axis_lane& a = *new (&out_.axis_lanes[lane]) axis_lane;
    std::uint32_t axes[abi::k_max_dims];
    a.levels = axes_of_lane(lanes_.places, colour, axes);
    const bool of_ranks = shards_are_of_ranks(command_.op) && !lanes_.moves_shards;
    if (of_ranks && !lanes_.in_parts) // blocks of shards of ranks lie side by side only in this order
        outermost_first(axes, a.levels);
    std::uint32_t first = 0;
    std::uint32_t shards = table_.ranks;
    for (std::uint32_t i = 0; i < a.levels; ++i) {
        axis_level& level = *new (&a.level[i]) axis_level;
        const std::uint32_t d = table_.dim_count - 1 - axes[i];
        level.axis = static_cast<std::uint8_t>(axes[i]);
        level.direct = lanes_.direct.has(axes[i]);
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

void axes_planner::add_axis(channel_plan& c, std::uint32_t level, bool accumulate, std::uint32_t semaphore)
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
    p.meets_line = a.direct;
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
void axes_planner::add_gather_to_root(channel_plan& c, std::uint32_t semaphore)
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
            semaphore + (lanes_.any_ring ? a.levels + i : gather_semaphore(i, a.levels))));
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

// The pieces of a lane lie side by side in the order of its dimensions, shards in that of ranks. Sums go to their ranks
// at the end; nobody needs to be told: a sum is complete when its receiver has sent its part of it. Contributions to an
// all-gather go to who begins with them, who must have entered it.
void axes_planner::add_move(channel_plan& c, bool gathers, std::uint32_t semaphore)
{
    const axis_lane& a = out_.axis_lanes[c.lane];
    const abi::element_range lane = out_.lanes[c.lane].lists[0];
    const auto shard = [&](std::uint32_t rank) { return abi::shard_of(command_.count, table_.ranks, rank); };
    const auto piece = [&](std::uint32_t rank) {
        const abi::element_range own = abi::shard_of(lane.count, table_.ranks, piece_of_rank(a, rank));
        return abi::element_range{lane.first + own.first, own.count};
    };
    // Every other rank whose shard lies in this rank's piece of the lane, or whose piece in its shard: see(rank, part).
    const auto each_in_piece = [&](auto&& see) {
        const abi::element_range own = piece(table_.rank);
        for (std::uint64_t at = own.first; at < own.first + own.count;) {
            const std::uint32_t rank = abi::owner_of(command_.count, table_.ranks, at);
            const std::uint64_t end = lesser(own.first + own.count, shard(rank).first + shard(rank).count);
            if (rank != table_.rank)
                see(rank, abi::element_range{at, end - at});
            at = end;
        }
    };
    const auto each_in_shard = [&](auto&& see) {
        const abi::element_range own = shard(table_.rank);
        const std::uint64_t first = own.first > lane.first ? own.first : lane.first;
        const std::uint64_t last = lesser(own.first + own.count, lane.first + lane.count);
        for (std::uint64_t at = first; at < last;) {
            const std::uint32_t rank = rank_of_piece(a, abi::owner_of(lane.count, table_.ranks, at - lane.first));
            const std::uint64_t end = lesser(last, piece(rank).first + piece(rank).count);
            if (rank != table_.rank)
                see(rank, abi::element_range{at, end - at});
            at = end;
        }
    };
    pass& p = add_pass(c, run_source::list);
    p.moves_shards = true;
    p.receive_semaphore = p.remote_semaphore = static_cast<std::uint8_t>(axis_data_semaphore(semaphore));
    p.view = {2, 0, table_.rank, table_.rank}; // one step
    const auto send = [&](std::uint32_t rank, abi::element_range part) {
        if (p.sends == 0)
            p.first_queue = queue_towards(rank);
        add_send(p, part, rank);
    };
    std::uint32_t receives = 0, sender = 0;
    const auto receive = [&](std::uint32_t rank) {
        ++receives;
        sender = rank;
    };
    if (gathers) {
        each_in_shard(send);
        each_in_piece([&](std::uint32_t rank, abi::element_range) {
            receive(rank);
            notify(queue_towards(rank), rank, k_sem_mover_ready);
        });
        p.needs_ready = p.sends != 0;
        p.ready_semaphore = static_cast<std::uint8_t>(k_sem_mover_ready);
        if (p.sends != 0)
            expect(k_sem_mover_ready, p.sends);
    } else {
        each_in_piece(send);
        each_in_shard([&](std::uint32_t rank, abi::element_range) { receive(rank); });
    }
    // Of several nobody knows who is late.
    if (receives != 0)
        p.view.predecessor = receives == 1 ? sender : table_.ranks;
    if (p.sends != 0)
        p.view.successor = p.sends == 1 ? out_.sends[p.first_send].to : table_.ranks;
    p.has_queue = p.sends != 0;
    p.total_sends = p.free_sends = p.sends;
    p.total_receives = receives;
    charge((p.sends + receives) * a.levels * costs::k_axis_block);
}

std::uint32_t axes_planner::piece_of_rank(const axis_lane& a, std::uint32_t rank) const
{
    std::uint32_t piece = 0;
    for (std::uint32_t i = 0; i < a.levels; ++i)
        piece += rank / rank_stride(table_, table_.dim_count - 1 - a.level[i].axis) % a.level[i].size * a.level[i].stride;
    return piece;
}

std::uint32_t axes_planner::rank_of_piece(const axis_lane& a, std::uint32_t piece) const
{
    std::uint32_t rank = 0;
    for (std::uint32_t i = 0; i < a.levels; ++i)
        rank += piece / a.level[i].stride % a.level[i].size * rank_stride(table_, table_.dim_count - 1 - a.level[i].axis);
    return rank;
}

// That of the neighbour along the innermost dimension in which `rank` differs.
std::uint16_t axes_planner::queue_towards(std::uint32_t rank) const
{
    for (std::uint32_t axis = 0; axis < table_.dim_count; ++axis) {
        const std::uint32_t d = table_.dim_count - 1 - axis, size = table_.dims[d];
        const std::uint32_t to = rank / rank_stride(table_, d) % size;
        if (to != table_.coord[d])
            return static_cast<std::uint16_t>(queue_of_line(axis) + (to + size - table_.coord[d]) % size - 1);
    }
    return 0;
}

// Queues of a line of direct exchanges: one for each other rank, behind those of the lines further in.
std::uint16_t axes_planner::queue_of_line(std::uint32_t axis) const
{
    std::uint32_t queue = 0;
    for (std::uint32_t inner = 0; inner < axis; ++inner)
        queue += lanes_.direct.has(inner) ? table_.dims[table_.dim_count - 1 - inner] - 1 : 0;
    return static_cast<std::uint16_t>(queue);
}

} // namespace

void plan_axes(ring_map& rings, const abi::command& command, schedule& out) { axes_planner(rings, command, out).plan(); }

} // namespace weft::firmware
