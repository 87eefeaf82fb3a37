// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which channels and passes an algorithm is made of. Around failed chips by pairs of rows: plan_failed_chips.cpp.
#include "firmware/collectives/planner.h"

#include "firmware/collectives/broadcast_trees.h"

#include <new>

namespace weft::firmware {

namespace {
std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }
} // namespace

planner::planner(ring_map& rings, block_tree& tree, const abi::command& command, schedule& out)
    : rings_(rings), table_(rings.table), mesh_(rings.as_mesh), tree_(tree), command_(command), out_(out)
{
    const std::uint32_t element_bytes = abi::element_bytes(command.type);
    out_.count = command.count;
    out_.chunk_elements = command.chunk_bytes / element_bytes > 0 ? command.chunk_bytes / element_bytes : 1;
    out_.cost = costs::k_engine;
}

ring_id hamiltonian_ring(const mesh& m, bool transposed, bool reversed)
{
    const bool asked_fits = (transposed ? m.cols : m.rows) % 2 == 0;
    return {ring_kind::hamiltonian, transposed == asked_fits, reversed};
}

// -------------------------------------------------------------------------------------------------------- parts of a
// schedule

// How this rank sees a ring; the passes of a collective share few of them.
const ring_view& planner::view(ring_id ring)
{
    const std::uint32_t number = ring_number(ring);
    if ((seen_rings_ >> number & 1) == 0) {
        seen_rings_ |= 1u << number;
        charge(rings_.view_cost(ring));
        views_[number] = rings_.view(ring);
    }
    return views_[number];
}

channel_plan& planner::add_channel(std::uint32_t lane)
{
    charge(costs::k_channel);
    channel_plan& c = *new (&out_.channels[out_.channel_count]) channel_plan;
    c.queue = static_cast<std::uint16_t>(out_.channel_count++);
    c.lane = lane;
    return c;
}

pass& planner::add_pass(channel_plan& c, run_source source)
{
    pass& p = *new (&c.passes[c.pass_count++]) pass;
    p.source = source;
    p.entry_cost = costs::k_phase;
    p.run_cost = costs::k_run;
    return p;
}

pass& planner::add_ring(channel_plan& c, ring_id ring, bool accumulate, std::uint32_t first_list, std::uint32_t lists)
{
    pass& p = add_pass(c, run_source::ring);
    p.ring = ring;
    p.view = view(ring);
    p.accumulate = accumulate;
    p.forwards = p.needs_ready = true;
    p.first_list = static_cast<std::uint8_t>(first_list);
    p.lists = static_cast<std::uint8_t>(lists);
    p.ready_semaphore = static_cast<std::uint8_t>(ready_semaphore(ring_number(ring)));
    const bool inner = first_list != 0;
    p.receive_semaphore = static_cast<std::uint8_t>(
        ring.kind == ring_kind::axis ? axis_semaphore(c.lane, ring.axis)
        : accumulate                 ? data_semaphore(c.lane, inner ? data_kind::inner_reduce : data_kind::outer_reduce)
                     : data_semaphore(c.lane, inner ? data_kind::inner_gather : data_kind::outer_gather));
    p.remote_semaphore = p.receive_semaphore;
    return p;
}

lane_plan& planner::make_lane(std::uint32_t index, abi::element_range range)
{
    lane_plan& l = *new (&out_.lanes[index]) lane_plan;
    l.lists[0] = range;
    return l;
}

void planner::add_send(pass& p, abi::element_range range, std::uint32_t to)
{
    if (p.sends++ == 0)
        p.first_send = static_cast<std::uint8_t>(out_.send_count);
    new (&out_.sends[out_.send_count++]) send_entry{range, to};
}

void planner::expect(std::uint32_t semaphore, std::uint32_t messages)
{
    new (&out_.expectations[out_.expectation_count++]) expectation{semaphore, messages};
}

void planner::notify(std::uint32_t queue, std::uint32_t rank, std::uint32_t semaphore)
{
    new (&out_.notices[out_.notice_count++])
        notice{static_cast<std::uint8_t>(queue), static_cast<std::uint8_t>(semaphore), rank};
}

// Everyone who will send to this rank along a ring is told that it has entered the collective: once, channels may share
// rings. What is taken over overwrites, so nobody may add to it before: those of inner passes are told when the first
// of them begins.
void planner::announce_rings()
{
    std::uint64_t told = 0; // semaphores
    for (std::uint32_t i = 0; i < out_.channel_count; ++i) {
        channel_plan& c = out_.channels[i];
        charge(c.pass_count * costs::k_plan_phase);
        bool takes_over = false;
        for (std::uint32_t k = 0; k < c.pass_count; ++k) {
            const pass& p = c.passes[k];
            takes_over = takes_over || p.tells_when_entered;
            const bool meets_neighbours = is_ring(p.source) || p.source == run_source::tile;
            if (!meets_neighbours || p.view.size < 2 || (told >> p.ready_semaphore & 1) != 0)
                continue;
            told |= 1ull << p.ready_semaphore;
            expect(p.ready_semaphore, 1);
            if (!takes_over || p.first_list == 0)
                notify(i, p.view.predecessor, p.ready_semaphore);
        }
    }
}

// --- algorithms ------------------------------------------------------------------------------------------------------

namespace {

// Below this, whole lines in turn are faster than trees that share the data. Calibrated: a broadcast on a board is as
// fast either way at 270 KiB, on a rack at 180, a reduce at 205 and 170.
constexpr std::uint64_t k_shortest_line_tree_bytes = 192 << 10;
constexpr std::uint32_t k_most_tree_lines = (k_max_channels - 1) / 2; // of a reduce: two channels for each, and one

} // namespace

bool planner::in_line_trees() const
{
    std::uint32_t lines = 0;
    for (std::uint32_t d = 0; d < table_.dim_count; ++d)
        lines += table_.dims[d] > 1 ? 1 : 0;
    return table_.ranks > 2 && lines <= k_most_tree_lines && command_.count * abi::element_bytes(command_.type) >= k_shortest_line_tree_bytes;
}

abi::status planner::plan()
{
    const bool transposed = command_.transposed != 0;
    const bool row_pair = command_.algo == abi::algorithm::row_pair;
    if (command_.op == abi::collective_op::broadcast) {
        if (full_mesh(table_) && in_line_trees())
            plan_line_trees();
        else if (full_mesh(table_))
            plan_fan_out();
        else if (table_.dim_count > 2)
            plan_grid_tree();
        else
            plan_trees();
        return {};
    }
    if (command_.op == abi::collective_op::reduce && command_.algo == abi::algorithm::mesh_tree) {
        if (full_mesh(table_) && in_line_trees())
            plan_line_trees();
        else if (full_mesh(table_))
            plan_fan_in();
        else if (table_.dim_count > 2)
            plan_grid_tree();
        else
            plan_trees();
        return {};
    }
    if (command_.algo == abi::algorithm::multi_axis) {
        plan_axes();
        return {};
    }
    if (command_.algo == abi::algorithm::hierarchical) {
        plan_hierarchical();
    } else if (command_.algo == abi::algorithm::two_d) {
        // A ring over a line without wrap uses the links of both directions already; a closed one needs a second
        // channel.
        const bool both_ways = mesh_.wrap_rows || mesh_.wrap_cols;
        const ring_id x{ring_kind::line, transposed, false};
        const ring_id y{ring_kind::line, !transposed, false};
        plan_all_reduce_2d(x, y, 0, 2, both_ways);
        plan_all_reduce_2d(y, x, 1, 2, both_ways);
    } else if (row_pair && !mesh_.broken()) {
        plan_all_reduce_2d({ring_kind::pair, transposed, false}, {ring_kind::alternate, transposed, false}, 0, 1, true);
    } else if (row_pair || command_.algo == abi::algorithm::row_pair_forward) {
        plan_row_pair_around_failed_chips(transposed, !row_pair);
        return {};
    } else if (abi::status s = plan_ring_1d(); !s.ok()) {
        return s;
    }
    announce_rings();
    return {};
}

void planner::plan_all_reduce_2d(ring_id first, ring_id second, std::uint32_t colour, std::uint32_t colours,
                                 bool both_ways)
{
    const std::uint32_t directions = both_ways ? 2 : 1;
    for (std::uint32_t d = 0; d < directions; ++d) {
        first.reversed = second.reversed = d != 0;
        channel_plan& c = add_channel(colour * directions + d);
        lane_plan& l = make_lane(c.lane, abi::shard_of(command_.count, colours * directions, c.lane));
        const ring_view& outer = view(first);
        l.lists[1] = abi::shard_of(l.lists[0].count, outer.size, outer.position);
        l.lists[1].first += l.lists[0].first;
        add_ring(c, first, true);
        add_ring(c, second, true, 1);
        add_ring(c, second, false, 1);
        add_ring(c, first, false);
    }
    out_.steps = larger(out_.steps, 2 * (ring_size(mesh_, first) - 1 + ring_size(mesh_, second) - 1));
}

abi::status planner::plan_ring_1d()
{
    const bool transposed = command_.transposed != 0;
    if (mesh_.broken()) {
        if (!tree_.built || tree_.transposed != transposed) {
            std::uint32_t visits = 0;
            const bool connected = build(tree_, mesh_, transposed, visits);
            charge(visits * costs::k_tree_block);
            if (!connected)
                return {abi::status_code::unsupported, "failed regions split the mesh", 0};
        }
        mesh_.tree = tree_.edges;
    }
    // On a switched network every rank is next to every other: the ring is 0, 1, .., n-1.
    const bool flat = table_.dim_count == 1;
    const bool whole = full_mesh(table_) || (!mesh_.broken() && (table_.dim_count > 2 || !has_hamiltonian_ring(mesh_)));
    const bool reduces = command_.op != abi::collective_op::all_gather;
    const bool gathers = command_.op != abi::collective_op::reduce_scatter;
    // With only one half of the work the user sees which rank has which shard, so shards go by rank; a walk around
    // failed chips has no positions to go by.
    const run_source source = mesh_.broken()          ? run_source::ring_walk
                              : !(reduces && gathers) ? run_source::ring_rank
                                                      : run_source::ring;
    for (std::uint32_t d = 0; d < 2; ++d) {
        const ring_id ring = flat    ? ring_id{ring_kind::line, false, d != 0}
                             : whole ? ring_id{ring_kind::whole, false, d != 0}
                                     : hamiltonian_ring(mesh_, transposed, d != 0);
        channel_plan& c = add_channel(d);
        make_lane(d, source == run_source::ring ? abi::shard_of(command_.count, 2, d)
                                                : abi::element_range{0, command_.count});
        if (reduces)
            add_ring(c, ring, true).source = source;
        if (gathers)
            add_ring(c, ring, false).source = source;
        out_.steps = c.pass_count * (table_.ranks - 1);
    }
    return {};
}

// From the innermost dimension outwards, each inside the shard that the one before left here; then the same way back.
// Both passes of a ring count on one semaphore: they have one sender, which sends the shards of the first before those
// of the second.
void planner::plan_hierarchical()
{
    const std::uint32_t dims = table_.dim_count;
    for (std::uint32_t d = 0; d < 2; ++d) {
        channel_plan& c = add_channel(d);
        lane_plan& l = make_lane(d, abi::shard_of(command_.count, 2, d));
        abi::element_range range = l.lists[0];
        out_.steps = 0;
        for (std::uint32_t i = 0; i < dims; ++i) {
            ring_id ring{ring_kind::axis, false, d != 0};
            ring.axis = static_cast<std::uint8_t>(command_.transposed != 0 ? dims - 1 - i : i);
            const ring_view& along = view(ring);
            if (along.size < 2)
                continue;
            l.lists[c.pass_count] = range;
            const abi::element_range shard = abi::shard_of(range.count, along.size, along.position);
            range = {range.first + shard.first, shard.count};
            add_ring(c, ring, true, c.pass_count);
            out_.steps += 2 * (along.size - 1);
        }
        for (std::uint32_t level = c.pass_count; level-- > 0;)
            add_ring(c, c.passes[level].ring, false, level);
    }
}

// A broadcast comes from one parent: it is told, and nothing is sent on this channel.
void planner::add_arrivals(std::uint32_t messages, std::uint32_t parent, std::uint32_t ready_semaphore,
                           std::uint32_t data_semaphore)
{
    channel_plan& arrivals = add_channel(0);
    pass& p = add_pass(arrivals, run_source::list);
    p.entry_cost = p.run_cost = 0;
    p.forwards = true;
    p.receive_semaphore = static_cast<std::uint8_t>(data_semaphore);
    p.total_receives = messages;
    notify(out_.channel_count - 1, parent, ready_semaphore);
    for (std::uint32_t i = 0; i < out_.channel_count; ++i) {
        pass& of_tree = out_.channels[i].passes[0];
        if (of_tree.receive_semaphore == data_semaphore)
            of_tree.view.predecessor = parent;
    }
}

// Rows and columns have a local port each, or the two directions of a line: so of what a chip sends, and of what it
// gets, each of two ports carries one half.
std::uint16_t planner::queue_towards(direction d) const
{
    const bool column = d == direction::north || d == direction::south;
    const bool rises = d == direction::east || d == direction::south;
    if (mesh_.rows == 1 || mesh_.cols == 1)
        return rises ? 1 : 0;
    return static_cast<std::uint16_t>((column ? 1 : 0) + (rises ? 2 : 0));
}

// Ready semaphores go by the direction on the machine, so that each has one possible sender for ever.
void planner::add_child(direction d, std::uint32_t child, abi::element_range range, bool is_root, std::uint32_t data_semaphore)
{
    add_child(queue_towards(d), k_sem_tree_ready + static_cast<std::uint32_t>(d), child, range, is_root,
              data_semaphore);
}

void planner::add_child(std::uint16_t queue, std::uint32_t ready_semaphore, std::uint32_t child,
                        abi::element_range range, bool is_root, std::uint32_t data_semaphore)
{
    channel_plan& c = add_channel(0);
    c.queue = queue;
    pass& p = add_pass(c, run_source::list);
    p.entry_cost = p.run_cost = 0;
    p.forwards = p.needs_ready = true;
    p.ready_semaphore = static_cast<std::uint8_t>(ready_semaphore);
    p.receive_semaphore = p.remote_semaphore = static_cast<std::uint8_t>(data_semaphore);
    p.view.predecessor = command_.root;
    p.total_sends = out_.chunks(range.count);
    p.free_sends = is_root ? p.total_sends : 0;
    add_send(p, range, child);
    p.view.successor = child;
    expect(p.ready_semaphore, 1);
}

namespace {

constexpr direction k_directions[] = {direction::west, direction::east, direction::north, direction::south};
constexpr direction turned(direction d, bool transposed)
{
    return static_cast<direction>(static_cast<std::uint32_t>(d) ^ (transposed ? 2u : 0u));
}

constexpr std::uint32_t k_most_colours_of_core = 2;
// A message reaches the deepest chip late by one for each link, so they are short; shorter ones than these keep the
// core busier than the links. Calibrated on an 8x8 torus: see docs/adr/0017, 20.
constexpr std::uint64_t k_ahead_chunk_bytes = 96 << 10;
std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

/// ns of what does not depend on bytes, in trees of a mesh or torus.
struct tree_times {
    std::uint64_t start, link; ///< of all, and for each link of the way to the deepest chip
};
// One tree, whose messages every core on the way sends on, and two: what is added for the second, and for each link
// by which it is deeper. Calibrated with 1 KiB on meshes of 2x5 to 16x16 chips and on closed lines of 8.
constexpr tree_times k_one_broadcast_tree = {2900, 1050}, k_one_reduce_tree = {2100, 840}, k_second_tree = {600, 900};
// Trees that are posted ahead. Calibrated with 1 KiB on tori of 3x3 to 16x16 chips.
constexpr tree_times k_trees_ahead = {800, 280};
constexpr std::uint64_t k_tree_ahead_ns = 750, k_tree_with_data_ns = 500; ///< each tree

/// Whether `count` elements come sooner by `colours` trees, each of which carries a part of them, than by one of least
/// depth.
bool several_trees_pay(const mesh& m, place root, std::uint32_t colours, std::uint64_t count,
                       std::uint64_t element_bytes, std::uint64_t chunk_elements, std::uint64_t link_mbps, bool reduces)
{
    if (colours < 2 || link_mbps == 0)
        return false;
    const std::uint64_t one = tree_depth(m, root, 1), several = tree_depth(m, root, colours);
    // A message leaves a chip when all of it has come; others follow it.
    const auto bytes_ns = [&](std::uint64_t all, std::uint64_t depth) {
        const std::uint64_t first = smaller(all, chunk_elements);
        return (depth * first + all - first) * element_bytes * 8000 / link_mbps;
    };
    const tree_times& t = reduces ? k_one_reduce_tree : k_one_broadcast_tree;
    const std::uint64_t one_ns = t.start + one * t.link + bytes_ns(count, one);
    const std::uint64_t more_ns = bytes_ns(count / colours, several);
    return one_ns > (colours > k_most_colours_of_core
                         ? k_trees_ahead.start + colours * k_tree_ahead_ns + smaller(colours, count) * k_tree_with_data_ns +
                               several * k_trees_ahead.link
                         : t.start + one * t.link + k_second_tree.start + (several - one) * k_second_tree.link) + more_ns;
}

} // namespace

// A broadcast goes down the trees, a reduce up the same ones.
void planner::plan_trees()
{
    const bool reduces = abi::reduces(command_.op);
    const bool transposed = command_.transposed != 0;
    const mesh o = oriented(mesh_, transposed);
    const place here = oriented(place_of(mesh_, table_.rank), transposed);
    const place root = oriented(place_of(mesh_, command_.root), transposed);
    if (mesh_.broken() || table_.kind[0] == abi::dimension_kind::switched) {
        plan_one_tree(o, here, root, transposed);
        return;
    }
    const std::uint32_t most = tree_colours(o);
    // A dimension of a mesh has the rate of two links.
    const std::uint64_t link_mbps = larger(table_.rate_mbps[0], table_.rate_mbps[1]) / 2;
    const std::uint32_t colours = several_trees_pay(o, root, most, command_.count, abi::element_bytes(command_.type),
                                                    out_.chunk_elements, link_mbps, reduces)
                                      ? most
                                      : 1;
    charge(costs::k_tree_choice);
    const bool ahead = out_.posted_ahead = colours > k_most_colours_of_core;
    if (ahead && command_.chunk_is_asked == 0)
        out_.chunk_elements = smaller(out_.chunk_elements, k_ahead_chunk_bytes / abi::element_bytes(command_.type));
    out_.steps = tree_depth(o, root, colours);
    const bool is_root = here == root;
    const auto rank_at = [&](place p) { return rank_of(mesh_, oriented(p, transposed)); };
    const auto range_of = [&](std::uint32_t colour) { return abi::shard_of(command_.count, colours, colour); };
    const auto semaphore_of = [](std::uint32_t colour) { return colour == 0 ? k_sem_tree_data : k_sem_data + colour; };
    for (std::uint32_t colour = 0; colour < colours; ++colour) {
        charge(colours == 1 ? costs::k_tree_alone : costs::k_tree_colour);
        for (const direction d : k_directions) {
            place child;
            if (!linked_chip(o, here, d, child) || child == root ||
                parent_direction(o, root, colours, colour, child) != opposite(d))
                continue;
            if (reduces)
                add_contributor(turned(d, transposed), rank_at(child), colour, range_of(colour));
            else
                add_child(turned(d, transposed), rank_at(child), range_of(colour), is_root, semaphore_of(colour));
        }
    }
    for (std::uint32_t colour = 0; colour < colours && !is_root; ++colour) {
        const direction d = parent_direction(o, root, colours, colour, here);
        place parent;
        linked_chip(o, here, d, parent);
        if (reduces)
            add_parent(turned(d, transposed), rank_at(parent), colour, range_of(colour));
        else
            add_arrivals(out_.chunks(range_of(colour).count), rank_at(parent),
                         k_sem_tree_ready + static_cast<std::uint32_t>(turned(opposite(d), transposed)),
                         semaphore_of(colour));
    }
    // Of more trees than two messages come faster than a core that wakes for each sends them on.
    for (std::uint32_t i = 0; i < out_.channel_count && ahead; ++i) {
        pass& p = out_.channels[i].passes[0];
        if (p.total_sends == 0)
            continue;
        p.posted_ahead = p.guarded = true;
        p.group_semaphore = static_cast<std::uint8_t>(group_semaphore(out_.channels[i].queue));
    }
}

// One tree, around failed chips.
void planner::plan_one_tree(const mesh& o, place here, place root, bool transposed)
{
    const bool reduces = abi::reduces(command_.op);
    out_.steps = larger(root.row, o.rows - 1 - root.row) + larger(root.col, o.cols - 1 - root.col);
    const bool is_root = here == root;
    const auto rank_at = [&](place p) { return rank_of(mesh_, oriented(p, transposed)); };
    for (const direction d : k_directions) {
        place child;
        place parent;
        if (!next_chip(o, here, d, child) || !tree_parent(o, root, child, parent) || !(parent == here))
            continue;
        if (reduces)
            add_contributor(turned(d, transposed), rank_at(child), 0, {0, command_.count});
        else
            add_child(turned(d, transposed), rank_at(child), {0, command_.count}, is_root, k_sem_tree_data);
    }
    if (is_root)
        return;
    charge(costs::k_parent);
    place parent;
    tree_parent(o, root, here, parent); // there is one: check_command()
    const direction d = parent.row == here.row ? (parent.col < here.col ? direction::east : direction::west)
                                               : (parent.row < here.row ? direction::south : direction::north);
    if (reduces)
        add_parent(turned(opposite(d), transposed), rank_at(parent), 0, {0, command_.count});
    else
        add_arrivals(out_.chunks(command_.count), rank_at(parent),
                     k_sem_tree_ready + static_cast<std::uint32_t>(turned(d, transposed)), k_sem_tree_data);
}

// What comes to be summed here. Channels of a tree share a lane: its sums wait for all of them.
pass& planner::add_contributions(std::uint32_t colour, std::uint32_t messages, std::uint32_t from,
                                 std::uint32_t data_semaphore)
{
    pass& p = add_pass(add_channel(colour), run_source::list);
    p.entry_cost = p.run_cost = 0;
    p.receive_semaphore = static_cast<std::uint8_t>(data_semaphore);
    p.total_receives = messages;
    p.view.predecessor = from;
    return p;
}

// Sums of a tree, to the parent.
pass& planner::add_sums(std::uint32_t colour, abi::element_range range, std::uint32_t to, std::uint32_t ready_semaphore,
                        std::uint32_t data_semaphore)
{
    pass& p = add_pass(add_channel(colour), run_source::list);
    p.entry_cost = p.run_cost = 0;
    p.accumulate = p.guarded = p.of_contributions = p.needs_ready = true;
    p.receive_semaphore = p.ready_semaphore = static_cast<std::uint8_t>(ready_semaphore);
    p.remote_semaphore = static_cast<std::uint8_t>(data_semaphore);
    p.total_sends = out_.chunks(range.count);
    p.view.successor = p.view.predecessor = to;
    add_send(p, range, to);
    return p;
}

// Each neighbour that may be a child counts on a semaphore of its own: what they send is waited for message by message.
void planner::add_contributor(direction d, std::uint32_t child, std::uint32_t colour, abi::element_range range)
{
    add_contributions(colour, out_.chunks(range.count), child, k_sem_data + static_cast<std::uint32_t>(d));
    notify(out_.channel_count - 1, child, k_sem_tree_ready + static_cast<std::uint32_t>(opposite(d)));
}

void planner::add_parent(direction d, std::uint32_t parent, std::uint32_t colour, abi::element_range range)
{
    const std::uint32_t ready = k_sem_tree_ready + static_cast<std::uint32_t>(d);
    add_sums(colour, range, parent, ready, k_sem_data + static_cast<std::uint32_t>(opposite(d)));
    out_.channels[out_.channel_count - 1].queue = queue_towards(d);
    expect(ready, 1);
}

// Dimension by dimension, the outermost first: who has a chunk sends it to all others of its line in every dimension
// further in than the one it came by. All of a line are told at once, so a rank waits for `ready` of them all: none of
// them can be ahead, because it needs what this rank has not sent yet (firmware/context.h).
void planner::plan_fan_out()
{
    const abi::platform_table& t = table_;
    out_.cost += costs::k_fan_engine - costs::k_engine; // unsigned: wraps back
    std::uint32_t stride = 1;
    std::uint32_t rest = command_.root;
    std::uint32_t from = t.rank; // the parent: the root's coordinate in the innermost dimension that differs
    std::uint32_t came_by = t.dim_count;
    const std::uint32_t total = out_.chunks(command_.count);
    for (std::uint32_t i = 0; i < t.dim_count; ++i) { // from the innermost
        charge(costs::k_fan_axis);
        const std::uint32_t d = t.dim_count - 1 - i;
        const std::uint32_t side = t.dims[d];
        const std::uint32_t root_at = rest % side;
        rest /= side;
        out_.steps += side > 1 ? 1 : 0;
        if (came_by != t.dim_count || side < 2) {
            stride *= side;
            continue;
        }
        if (t.coord[d] != root_at) {
            came_by = i;
            from = t.rank + (root_at - t.coord[d]) * stride; // unsigned: wraps back
        } else {
            pass& p = add_pass(add_channel(0), run_source::fan_out);
            p.entry_cost = 0;
            p.guarded = p.needs_ready = true;
            p.view.size = side;
            p.view.position = t.coord[d];
            p.view.predecessor = t.rank;
            p.stride = stride;
            p.ready_semaphore = static_cast<std::uint8_t>(line_ready_semaphore(i));
            p.receive_semaphore = p.remote_semaphore = k_sem_tree_data;
            p.total_sends = total * (side - 1);
            p.free_sends = t.rank == command_.root ? p.total_sends : 0;
            expect(p.ready_semaphore, side - 1);
        }
        stride *= side;
    }
    if (came_by != t.dim_count)
        add_arrivals(total, from, line_ready_semaphore(came_by), k_sem_tree_data);
}

// The way back: dimension by dimension, the innermost first, all of a line send what they have to the one with the
// root's coordinate, whole, since nobody could send on what is not summed from all. Lines tell each other that they
// have entered as in plan_axes(): all wait for all before they send. So whoever is ahead, even the one that only gets,
// knows by then that all have entered, and none is taken for another.
void planner::plan_fan_in()
{
    const abi::platform_table& t = table_;
    out_.cost += costs::k_fan_engine - costs::k_engine; // unsigned: wraps back
    out_.chunk_elements = command_.count;
    std::uint32_t stride = 1;
    std::uint32_t rest = command_.root;
    bool sent = false;
    channel_plan* entries = nullptr;                  ///< of the lines of which this rank gets sums
    for (std::uint32_t i = 0; i < t.dim_count; ++i) { // from the innermost
        charge(costs::k_fan_axis);
        const std::uint32_t d = t.dim_count - 1 - i;
        const std::uint32_t side = t.dims[d];
        const std::uint32_t root_at = rest % side;
        rest /= side;
        out_.steps += side > 1 ? 1 : 0;
        if (!sent && side > 1) {
            const std::uint32_t ready = line_ready_semaphore(i), data = k_sem_data + i;
            sent = t.coord[d] != root_at;
            if (sent) {
                pass& p = add_sums(0, {0, command_.count}, t.rank + (root_at - t.coord[d]) * stride, ready,
                                   data); // unsigned: wraps back
                p.has_queue = true;       // of each child another one, so that the parent gets by all its ports
                p.first_queue = static_cast<std::uint16_t>((root_at + side - t.coord[d]) % side - 1);
                expect(ready, side);
            } else {
                add_contributions(0, side - 1, t.rank, data).view.size = side;
                if (entries == nullptr)
                    entries = &add_channel(1);
                pass& p = add_pass(*entries, run_source::list); // it waits for them at its end, too: none may be lost
                p.entry_cost = p.run_cost = 0;
                p.receive_semaphore = static_cast<std::uint8_t>(ready);
                p.total_receives = side;
                p.view.predecessor = t.rank;
            }
            new (&out_.lines[out_.line_count++])
                told_line{static_cast<std::uint8_t>(ready), 0, side, t.coord[d], stride};
        }
        stride *= side;
    }
}

} // namespace weft::firmware
