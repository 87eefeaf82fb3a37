// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which channels and phases an algorithm is made of. Plans around failed chips by pairs of rows: fault_tolerant.cpp.
#include "firmware/collectives/engine.h"
#include "firmware/collectives/full_mesh.h"
#include "firmware/costs.h"

#include <new>

namespace weft::firmware {

namespace {
std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }
} // namespace

ring_id hamiltonian_ring(const mesh& m, bool transposed, bool reversed)
{
    const bool asked_fits = (transposed ? m.cols : m.rows) % 2 == 0;
    return {ring_kind::hamiltonian, transposed == asked_fits, reversed};
}

channel& engine::add_channel(std::uint32_t lane_index)
{
    charge(costs::k_channel);
    channel& c = *new (&channels_[channel_count_]) channel;
    c.index = channel_count_++;
    c.queue = c.index % dma_.queues();
    c.port = static_cast<std::uint8_t>(c.queue % context_.table.dma_ports);
    c.lane = lane_index;
    return c;
}

lane_plan& engine::make_lane(std::uint32_t index, abi::element_range range)
{
    lane_plan& l = *new (&lanes_[index]) lane_plan;
    l.outer_range = range;
    return l;
}

abi::status engine::plan()
{
    const bool transposed = command_.transposed != 0;
    if (command_.op == abi::collective_op::broadcast) {
        if (full_mesh(context_.table))
            plan_fan_out();
        else
            plan_broadcast();
    } else if (command_.group_rows != 0) {
        plan_groups();
    } else if (command_.algo == abi::algorithm::hierarchical) {
        plan_hierarchical();
    } else if (command_.algo == abi::algorithm::two_d) {
        // A ring over a line without wrap uses the links of both directions already; a closed one needs a second channel.
        const bool both_ways = mesh_.wrap_rows || mesh_.wrap_cols;
        const ring_id x{ring_kind::line, transposed, false};
        const ring_id y{ring_kind::line, !transposed, false};
        plan_all_reduce_2d(x, y, 0, 2, both_ways);
        plan_all_reduce_2d(y, x, 1, 2, both_ways);
    } else if (command_.algo == abi::algorithm::row_pair && !mesh_.broken()) {
        plan_all_reduce_2d({ring_kind::pair, transposed, false}, {ring_kind::alternate, transposed, false}, 0, 1, true);
    } else if (command_.algo == abi::algorithm::row_pair || command_.algo == abi::algorithm::row_pair_forward) {
        plan_row_pair_around_failed_chips(transposed, command_.algo == abi::algorithm::row_pair_forward);
    } else {
        return plan_ring_1d();
    }
    return {};
}

void engine::plan_all_reduce_2d(ring_id first, ring_id second, std::uint32_t colour, std::uint32_t colours,
                                bool both_ways)
{
    const std::uint32_t directions = both_ways ? 2 : 1;
    for (std::uint32_t d = 0; d < directions; ++d) {
        first.reversed = second.reversed = d != 0;
        channel& c = add_channel(colour * directions + d);
        lane_plan& l = make_lane(c.lane, abi::shard_of(command_.count, colours * directions, c.lane));
        c.phases[0] = {phase_kind::reduce, first, 0};
        c.phases[1] = {phase_kind::reduce, second, 1};
        c.phases[2] = {phase_kind::gather, second, 1};
        c.phases[3] = {phase_kind::gather, first, 0};
        c.phase_count = 4;
        const ring_view& outer = view(first);
        l.inner[0] = abi::shard_of(l.outer_range.count, outer.size, outer.position);
        l.inner[0].first += l.outer_range.first;
    }
    steps_ = larger(steps_, 2 * (ring_size(mesh_, first) - 1 + ring_size(mesh_, second) - 1));
}

abi::status engine::plan_ring_1d()
{
    const bool transposed = command_.transposed != 0;
    if (mesh_.broken()) {
        if (!context_.tree.built || context_.tree.transposed != transposed) {
            std::uint32_t visits = 0;
            const bool connected = build(context_.tree, mesh_, transposed, visits);
            charge(visits * costs::k_tree_block);
            if (!connected)
                return {abi::status_code::unsupported, "failed regions split the mesh", 0};
        }
        mesh_.tree = context_.tree.edges;
    }
    // On a switched network every rank is next to every other: the ring is 0, 1, .., n-1.
    const bool flat = context_.table.dim_count == 1;
    const bool reduces = command_.op != abi::collective_op::all_gather;
    const bool gathers = command_.op != abi::collective_op::reduce_scatter;
    for (std::uint32_t d = 0; d < 2; ++d) {
        const ring_id ring = flat                        ? ring_id{ring_kind::line, false, d != 0}
                             : full_mesh(context_.table) ? ring_id{ring_kind::whole, false, d != 0}
                                                         : hamiltonian_ring(mesh_, transposed, d != 0);
        channel& c = add_channel(d);
        // With only one half of the work the user sees which rank has which shard, so shards go by rank; a walk around
        // failed chips has no positions to go by.
        c.by_rank = !(reduces && gathers) || mesh_.broken();
        make_lane(d, c.by_rank ? abi::element_range{0, command_.count} : abi::shard_of(command_.count, 2, d));
        if (reduces)
            c.phases[c.phase_count++] = {phase_kind::reduce, ring, 0};
        if (gathers)
            c.phases[c.phase_count++] = {phase_kind::gather, ring, 0};
        steps_ = c.phase_count * (context_.table.ranks - 1);
    }
    return {};
}

void engine::plan_groups()
{
    for (std::uint32_t d = 0; d < 2; ++d) {
        const ring_id ring{ring_kind::tile, false, d != 0, static_cast<std::uint8_t>(command_.group_rows),
                           static_cast<std::uint8_t>(command_.group_cols)};
        channel& c = add_channel(d);
        make_lane(d, abi::shard_of(command_.count, 2, d));
        c.phases[0] = {phase_kind::reduce, ring, 0};
        c.phases[1] = {phase_kind::gather, ring, 0};
        c.phase_count = 2;
        steps_ = 2 * (ring_size(mesh_, ring) - 1);
    }
}

void engine::plan_broadcast()
{
    const bool transposed = command_.transposed != 0;
    const mesh o = oriented(mesh_, transposed);
    const place here = oriented(place_of(mesh_, context_.table.rank), transposed);
    const place root = oriented(place_of(mesh_, command_.root), transposed);
    steps_ = larger(root.row, o.rows - 1 - root.row) + larger(root.col, o.cols - 1 - root.col);

    const bool is_root = here == root;
    const std::uint32_t total = chunks(command_.count);
    const std::uint32_t base = context_.expected[k_sem_tree_data];
    // Ready semaphores go by the direction on the machine, so that each has one possible sender for ever.
    const auto ready_of = [&](direction d) {
        return k_sem_tree_ready + (transposed ? static_cast<std::uint32_t>(d) ^ 2u : static_cast<std::uint32_t>(d));
    };
    const auto rank_at = [&](place p) { return rank_of(mesh_, oriented(p, transposed)); };

    constexpr direction k_directions[] = {direction::west, direction::east, direction::north, direction::south};
    for (const direction d : k_directions) {
        place child;
        place parent;
        if (!next_chip(o, here, d, child) || !tree_parent(o, root, child, parent) || !(parent == here))
            continue;
        channel& c = add_channel(0);
        c.ready_semaphore = ready_of(d);
        c.needs_ready = true;
        ++context_.expected[c.ready_semaphore];
        c.successor = rank_at(child);
        c.remote_semaphore = k_sem_tree_data;
        c.total_sends = total;
        c.free_sends = is_root ? total : 0;
    }

    std::uint32_t from = command_.root;
    if (!is_root) {
        charge(costs::k_parent);
        place parent;
        tree_parent(o, root, here, parent); // there is one: check_command()
        from = rank_at(parent);
        channel& arrivals = add_channel(0);
        arrivals.total_receives = total;
        const direction d = parent.row == here.row ? (parent.col < here.col ? direction::east : direction::west)
                                                   : (parent.row < here.row ? direction::south : direction::north);
        // The arrivals send nothing, so this is not waited for: it is what say_ready() tells the parent.
        arrivals.ready_semaphore = ready_of(d);
        context_.expected[k_sem_tree_data] += total;
    }
    for (std::uint32_t i = 0; i < channel_count_; ++i) {
        channel& c = channels_[i];
        c.predecessor = from;
        c.receive_semaphore = k_sem_tree_data;
        c.receive_base = base;
        c.shard = {0, command_.count};
    }
}

// From the innermost dimension outwards, each inside the shard that the one before left here; then the same way back. Both
// phases of a ring count on one semaphore: they have one sender, which sends the shards of the first before those of the second.
void engine::plan_hierarchical()
{
    const std::uint32_t dims = context_.table.dim_count;
    for (std::uint32_t d = 0; d < 2; ++d) {
        channel& c = add_channel(d);
        lane_plan& l = make_lane(d, abi::shard_of(command_.count, 2, d));
        abi::element_range range = l.outer_range;
        std::uint32_t levels = 0;
        steps_ = 0;
        for (std::uint32_t i = 0; i < dims; ++i) {
            ring_id ring{ring_kind::axis, false, d != 0};
            ring.axis = static_cast<std::uint8_t>(command_.transposed != 0 ? dims - 1 - i : i);
            const ring_view& along = view(ring);
            if (along.size < 2)
                continue;
            if (levels != 0)
                l.inner[levels - 1] = range;
            const abi::element_range shard = abi::shard_of(range.count, along.size, along.position);
            range = {range.first + shard.first, shard.count};
            c.phases[levels] = {phase_kind::reduce, ring, static_cast<std::uint8_t>(levels)};
            steps_ += 2 * (along.size - 1);
            ++levels;
        }
        for (std::uint32_t i = 0; i < levels; ++i)
            c.phases[2 * levels - 1 - i] = {phase_kind::gather, c.phases[i].ring, c.phases[i].level};
        c.phase_count = 2 * levels;
    }
}

// Dimension by dimension, the outermost first: who has a chunk sends it to all others of its line in every dimension further in
// than the one it came by. All of a line are told at once, so a rank waits for `ready` of them all: none of them can be
// ahead, because it needs what this rank has not sent yet (firmware/context.h).
void engine::plan_fan_out()
{
    const abi::platform_table& t = context_.table;
    set_up_cycles_ = costs::k_fan_engine;
    std::uint32_t stride = 1;
    std::uint32_t rest = command_.root;
    std::uint32_t from = t.rank; // the parent: the root's coordinate in the innermost dimension that differs
    std::uint32_t came_by = t.dim_count;
    const std::uint32_t total = chunks(command_.count);
    const std::uint32_t base = context_.expected[k_sem_tree_data];
    for (std::uint32_t i = 0; i < t.dim_count; ++i) { // from the innermost
        charge(costs::k_fan_axis);
        const std::uint32_t d = t.dim_count - 1 - i;
        const std::uint32_t side = t.dims[d];
        const std::uint32_t root_at = rest % side;
        rest /= side;
        steps_ += side > 1 ? 1 : 0;
        if (came_by != t.dim_count || side < 2) {
            stride *= side;
            continue;
        }
        if (t.coord[d] != root_at) {
            came_by = i;
            from = t.rank + (root_at - t.coord[d]) * stride; // unsigned: wraps back
        } else {
            channel& c = add_channel(0);
            c.phases[0].kind = phase_kind::fan_out;
            c.ring.size = side;
            c.ring.position = t.coord[d];
            c.stride = stride;
            c.ready_semaphore = line_ready_semaphore(i);
            c.needs_ready = true;
            context_.expected[c.ready_semaphore] += side - 1;
            c.remote_semaphore = k_sem_tree_data;
            c.total_sends = total * (side - 1);
            c.free_sends = t.rank == command_.root ? c.total_sends : 0;
        }
        stride *= side;
    }
    if (came_by != t.dim_count) {
        channel& arrivals = add_channel(0);
        arrivals.total_receives = total;
        arrivals.ready_semaphore = line_ready_semaphore(came_by);
        context_.expected[k_sem_tree_data] += total;
    }
    for (std::uint32_t i = 0; i < channel_count_; ++i) {
        channel& c = channels_[i];
        c.predecessor = from;
        c.receive_semaphore = k_sem_tree_data;
        c.receive_base = base;
        c.shard = {0, command_.count};
        if (c.total_sends != 0)
            load_run(c);
    }
}

} // namespace weft::firmware
