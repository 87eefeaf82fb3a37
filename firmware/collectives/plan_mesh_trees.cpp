// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans of broadcasts and mesh_tree on rows and columns: a broadcast goes down the trees, a reduce up the same ones.
#include "firmware/collectives/broadcast_trees.h"
#include "firmware/collectives/planners.h"
#include "firmware/collectives/tree_writer.h"

namespace weft::firmware {

namespace {

std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }

class mesh_tree_planner : public tree_writer {
public:
    using tree_writer::tree_writer;

    void plan_trees();

private:
    void plan_one_tree(const mesh& o, place here, place root, bool transposed);
    void add_child(direction d, std::uint32_t child, abi::element_range range, bool is_root,
                   std::uint32_t data_semaphore);
    void add_contributor(direction d, std::uint32_t child, std::uint32_t colour, abi::element_range range);
    void add_parent(direction d, std::uint32_t parent, std::uint32_t colour, abi::element_range range);
    std::uint16_t queue_towards(direction d) const;
};

// Rows and columns have a local port each, or the two directions of a line: so of what a chip sends, and of what it
// gets, each of two ports carries one half.
std::uint16_t mesh_tree_planner::queue_towards(direction d) const
{
    const bool column = d == direction::north || d == direction::south;
    const bool rises = d == direction::east || d == direction::south;
    if (mesh_.rows == 1 || mesh_.cols == 1)
        return rises ? 1 : 0;
    return static_cast<std::uint16_t>((column ? 1 : 0) + (rises ? 2 : 0));
}

// Ready semaphores go by the direction on the machine, so that each has one possible sender for ever.
void mesh_tree_planner::add_child(direction d, std::uint32_t child, abi::element_range range, bool is_root, std::uint32_t data_semaphore)
{
    tree_writer::add_child(queue_towards(d), k_sem_tree_ready + static_cast<std::uint32_t>(d), child, range, is_root,
              data_semaphore);
}

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

// A broadcast goes down the trees, a reduce up the same ones.
void mesh_tree_planner::plan_trees()
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
void mesh_tree_planner::plan_one_tree(const mesh& o, place here, place root, bool transposed)
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

// Each neighbour that may be a child counts on a semaphore of its own: what they send is waited for message by message.
void mesh_tree_planner::add_contributor(direction d, std::uint32_t child, std::uint32_t colour, abi::element_range range)
{
    add_contributions(colour, out_.chunks(range.count), child, k_sem_data + static_cast<std::uint32_t>(d));
    notify(out_.channel_count - 1, child, k_sem_tree_ready + static_cast<std::uint32_t>(opposite(d)));
}

void mesh_tree_planner::add_parent(direction d, std::uint32_t parent, std::uint32_t colour, abi::element_range range)
{
    const std::uint32_t ready = k_sem_tree_ready + static_cast<std::uint32_t>(d);
    add_sums(colour, range, parent, ready, k_sem_data + static_cast<std::uint32_t>(opposite(d)));
    out_.channels[out_.channel_count - 1].queue = queue_towards(d);
    expect(ready, 1);
}

} // namespace

void plan_mesh_trees(ring_map& rings, const abi::command& command, schedule& out)
{
    mesh_tree_planner(rings, command, out).plan_trees();
}

} // namespace weft::firmware
