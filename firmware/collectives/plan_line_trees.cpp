// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans of mesh_tree on full meshes in several trees; line_trees.h explains them.
//
// Who sends to this rank, and to whom it sends, is in a line with it. All of a line tell each other that they have
// entered, and a rank waits for all its lines before it sends anything. So whoever is ahead, even the one that only
// sends or only gets, knows by then that all of its lines have entered, and none is taken for another.
#include "firmware/collectives/planners.h"
#include "firmware/collectives/schedule_writer.h"

#include <new>

namespace weft::firmware {

namespace {

std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

// Below this, whole lines in turn are faster than trees that share the data. Calibrated: a broadcast on a board is as
// fast either way at 270 KiB, on a rack at 180, a reduce at 205 and 170.
constexpr std::uint64_t k_shortest_line_tree_bytes = 192 << 10;
constexpr std::uint32_t k_most_tree_lines = 4;
static_assert(2 * k_most_tree_lines + 1 <= k_max_channels, "of a reduce: two channels for each, and one");

// Of each piece a core makes a message for every link. Shorter pieces than so many bytes for each of them would leave
// links idle. Calibrated on a rack: a broadcast of 16 MiB takes 66 us in pieces of 256 KiB, 56 us in those of 400 KiB,
// 64 us in those of 600 KiB.
constexpr std::uint64_t k_piece_bytes_of_link = 28 << 10;
// In a reduce every link also has a sum to wait for. Calibrated: 16 MiB on a board take 76 us in pieces of 240 KiB, 64
// us in those of 400 KiB. On a rack they take 64 us in those of 256 KiB, 52 us in those of 400 KiB, 60 us in those of
// 600 KiB.
constexpr std::uint64_t k_sum_piece_bytes = 400 << 10;

// Of each colour: what comes from the parent, and what comes along the own dimension.
std::uint32_t relay_semaphore(std::uint32_t colour) { return axis_data_semaphore(colour); }
std::uint32_t leaf_semaphore(const line_trees& t, std::uint32_t colour)
{
    return axis_data_semaphore(t.count + colour);
}

// A sum waits for all that have a part in it, of which any may be ahead by a piece. So in a reduce each piece counts on
// a semaphore of its own; of them these follow each other.
constexpr std::uint32_t k_sum_semaphores = 16;
std::uint32_t sum_semaphore(const line_trees& t, std::uint32_t colour)
{
    return axis_data_semaphore(colour * t.pieces);
}

class line_tree_planner : public schedule_writer {
public:
    using schedule_writer::schedule_writer;

    void plan_trees();

private:
    pass& add_wait(channel_plan& c, std::uint32_t semaphore);
    pass& add_tree_pass(std::uint32_t colour, run_source source, std::uint32_t messages);
    void add_spread_of(std::uint32_t colour);
    void add_sums_of(std::uint32_t colour);
};

void line_tree_planner::plan_trees()
{
    line_trees& t = *new (&out_.trees) line_trees(table_, command_.root);
    const bool reduces = abi::reduces(command_.op);
    const std::uint64_t longest = (command_.count + t.trees - 1) / t.trees;
    const std::uint64_t shortest =
        (reduces ? k_sum_piece_bytes : t.trees * k_piece_bytes_of_link) / abi::element_bytes(command_.type);
    if (command_.chunk_is_asked == 0 && out_.chunk_elements < shortest)
        out_.chunk_elements = shortest;
    t.pieces = out_.chunks(longest);
    if (reduces)
        t.pieces = smaller(t.pieces, smaller(k_sum_semaphores / t.count, k_max_passes));
    out_.tree_pieces = t.pieces;
    out_.chunk_elements = (longest + t.pieces - 1) / t.pieces;
    out_.steps = t.count + 1;
    charge(t.count * costs::k_tree_line);

    channel_plan& entries = add_channel(0);
    for (std::uint32_t c = 0; c < t.count; ++c) {
        const tree_line& line = t.line[c];
        const std::uint32_t ready = line_ready_semaphore(line.axis);
        expect(ready, line.size);
        add_wait(entries, ready);
        new (&out_.lines[out_.line_count++])
            told_line{static_cast<std::uint8_t>(ready), static_cast<std::uint16_t>(line.first_queue), line.size,
                      line.at, line.stride};
    }
    pass& others = add_wait(entries, line_ready_semaphore(t.line[0].axis));
    others.wakes = 0;
    bool waits = false;
    for (std::uint32_t c = 0; c < t.count && !reduces && !t.is_root; ++c) {
        const tree_line& line = t.line[c];
        if (line.others() == 0 && line.relays())
            continue;
        const std::uint32_t arrivals = leaf_semaphore(t, c);
        expect(arrivals, (line.relays() ? line.size - 2 : line.size - 1) * t.pieces);
        if (waits)
            add_wait(entries, arrivals);
        else
            others.receive_semaphore = static_cast<std::uint8_t>(arrivals);
        waits = true;
    }
    for (std::uint32_t c = 0; c < t.count; ++c)
        if (reduces)
            add_sums_of(c);
        else
            add_spread_of(c);
}

/// A pass that waits for all that this rank expects on a semaphore.
pass& line_tree_planner::add_wait(channel_plan& c, std::uint32_t semaphore)
{
    pass& p = add_pass(c, run_source::list);
    p.entry_cost = p.run_cost = 0;
    p.receive_semaphore = static_cast<std::uint8_t>(semaphore);
    p.view.predecessor = table_.rank;
    return p;
}

pass& line_tree_planner::add_tree_pass(std::uint32_t colour, run_source source, std::uint32_t messages)
{
    channel_plan& c = add_channel(0);
    c.sleeps = true;
    pass& p = add_pass(c, source);
    p.level = static_cast<std::uint8_t>(colour);
    p.run_cost = costs::k_tree_run;
    p.sends_empty = true; // every part has as many pieces
    p.total_sends = p.free_sends = messages;
    p.view.predecessor = table_.rank;
    p.shortest_paths = true;
    for (std::uint32_t c2 = 0; c2 < out_.trees.count; ++c2)
        p.shortest_paths = p.shortest_paths && out_.trees.line[c2].stride < table_.near_ranks;
    return p;
}

// The root sends to its neighbours each the part of its tree, and they send on what they get.
void line_tree_planner::add_spread_of(std::uint32_t colour)
{
    const line_trees& t = out_.trees;
    const tree_line& line = t.line[colour];
    if (t.is_root) {
        pass& p = add_tree_pass(colour, run_source::tree_parts, line.others() * t.pieces);
        p.receive_semaphore = static_cast<std::uint8_t>(leaf_semaphore(t, colour)); // nothing comes
        p.remote_semaphore = static_cast<std::uint8_t>(relay_semaphore(colour));
    } else if (line.relays()) {
        pass& p = add_tree_pass(colour, run_source::tree_spread, t.children(colour) * t.pieces);
        p.guarded = true;
        p.free_sends = 0;
        p.total_receives = t.pieces;
        p.receive_semaphore = p.remote_semaphore = static_cast<std::uint8_t>(relay_semaphore(colour));
        p.leaf_semaphore = static_cast<std::uint8_t>(leaf_semaphore(t, colour));
        p.view.predecessor = t.parent(colour, table_.rank);
    }
}

// Everybody but the root sends each other rank of a line the part of its tree, and the own part when it is summed to
// the parent.
void line_tree_planner::add_sums_of(std::uint32_t colour)
{
    const line_trees& t = out_.trees;
    const tree_line& line = t.line[colour];
    const std::uint32_t sums = sum_semaphore(t, colour);
    const std::uint32_t contributors = t.is_root ? line.size - 1 : line.relays() ? t.children(colour) : 0;
    for (std::uint32_t piece = 0; piece < t.pieces && contributors != 0; ++piece)
        expect(sums + piece, contributors);
    if (t.is_root) {
        channel_plan& arrivals = add_channel(0);
        for (std::uint32_t piece = 0; piece < t.pieces; ++piece)
            add_wait(arrivals, sums + piece);
        return;
    }
    if (line.others() != 0) {
        pass& p = add_tree_pass(colour, run_source::tree_parts, line.others() * t.pieces);
        p.accumulate = true;
        p.remote_semaphore = static_cast<std::uint8_t>(sums);
        p.receive_semaphore = static_cast<std::uint8_t>(line_ready_semaphore(line.axis)); // nothing comes besides
    }
    if (line.relays()) {
        pass& p = add_tree_pass(colour, run_source::tree_sums, t.pieces);
        p.accumulate = p.guarded = true;
        p.receive_semaphore = p.remote_semaphore = static_cast<std::uint8_t>(sums);
        p.view.successor = p.view.predecessor = t.parent(colour, table_.rank);
    }
}

} // namespace

bool line_trees_pay(const abi::platform_table& table, const abi::command& command)
{
    std::uint32_t lines = 0;
    for (std::uint32_t d = 0; d < table.dim_count; ++d)
        lines += table.dims[d] > 1 ? 1 : 0;
    return table.ranks > 2 && lines <= k_most_tree_lines &&
           command.count * abi::element_bytes(command.type) >= k_shortest_line_tree_bytes;
}

void plan_line_trees(ring_map& rings, const abi::command& command, schedule& out)
{
    line_tree_planner(rings, command, out).plan_trees();
}

} // namespace weft::firmware
