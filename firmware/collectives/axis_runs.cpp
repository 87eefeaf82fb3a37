// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of multi_axis: blocks of shards along one dimension, see axes.h.
#include "firmware/collectives/runs.h"

namespace weft::firmware {

abi::element_range run_finder::block_of(const pass& p, std::uint32_t lane, std::uint32_t coordinate,
                                        std::uint32_t piece) const
{
    const axis_lane& a = schedule_.axis_lanes[lane];
    const std::uint32_t ranks = rings_.table.ranks;
    if (a.in_parts) {
        const abi::element_range shard = abi::shard_of(schedule_.count, ranks, a.shard(p.level, coordinate, piece));
        const abi::element_range part = a.cut.of(shard.count);
        return {shard.first + part.first, part.count};
    }
    return a.block(schedule_.lanes[lane].lists[0], ranks, p.level, coordinate);
}

// In a direct exchange everybody waits for everybody, so a block without elements is a message, too.
std::uint32_t run_finder::messages_of_block(const pass& p, std::uint32_t lane, std::uint32_t coordinate) const
{
    const axis_lane& a = schedule_.axis_lanes[lane];
    if (a.run_messages != 0)
        return a.pieces(p.level) / a.pieces_of_message(p.level) * a.messages_of_pieces(p.level);
    const std::uint32_t messages = schedule_.chunks(block_of(p, lane, coordinate, 0).count);
    return messages == 0 && a.level[p.level].direct ? 1 : messages;
}

message_counts run_finder::enter_axis(const pass& p, run_cursor& c)
{
    const axis_level& level = schedule_.axis_lanes[c.lane].level[p.level];
    const std::uint32_t n = level.size;
    c.turn = 0;
    std::uint32_t all = 0;
    if (schedule_.axis_lanes[c.lane].run_messages != 0)
        all = n * messages_of_block(p, c.lane, 0);
    else
        for (std::uint32_t coordinate = 0; coordinate < n; ++coordinate)
            all += messages_of_block(p, c.lane, coordinate);
    message_counts counts;
    if (level.direct) {
        const std::uint32_t own = messages_of_block(p, c.lane, level.at);
        counts.sends = p.accumulate ? all - own : (n - 1) * own;
        counts.receives = p.accumulate ? (n - 1) * own : all - own;
        counts.free_sends = counts.sends;
        return counts;
    }
    const std::uint32_t position = p.view.position;
    const std::uint32_t before = level.point(position == 0 ? n - 1 : position - 1);
    const std::uint32_t after = level.point(position + 1 == n ? 0 : position + 1);
    counts.free_sends = messages_of_block(p, c.lane, p.accumulate ? before : level.at);
    counts.sends = all - messages_of_block(p, c.lane, p.accumulate ? level.at : after);
    counts.receives = all - counts.free_sends;
    return counts;
}

// A reduce-scatter begins with the block before the own one, an all-gather with the own one; positions fall.
void run_finder::find_block(const pass& p, run_cursor& c, bool first)
{
    const axis_lane& a = schedule_.axis_lanes[c.lane];
    const axis_level& level = a.level[p.level];
    const auto step_back = [&] {
        c.position = (c.position == 0 ? level.size : c.position) - 1;
        c.turn = 0;
    };
    if (first) {
        c.position = p.view.position;
        if (p.accumulate)
            step_back();
    } else if (++c.turn == a.pieces(p.level)) {
        step_back();
    } else {
        --c.step; // still the same block
    }
    for (;; step_back(), ++c.step) {
        cost_ += p.run_cost;
        c.run = block_of(p, c.lane, level.point(c.position), c.turn);
        if (c.run.count != 0)
            return;
    }
}

// Message by message to the next rank of the line, so that all links work from the beginning.
void run_finder::find_exchange(const pass& p, run_cursor& c, bool first)
{
    const axis_lane& a = schedule_.axis_lanes[c.lane];
    const axis_level& level = a.level[p.level];
    const std::uint32_t others = level.size - 1;
    if (first) {
        c.turn = 0;
        c.position = 0; // which message of a block
    }
    for (;;) {
        cost_ += p.run_cost;
        if (c.turn++ == others) {
            c.turn = 1;
            ++c.position;
        }
        c.step = c.turn;
        const std::uint32_t to = level.at + c.turn < level.size ? level.at + c.turn : level.at + c.turn - level.size;
        const std::uint32_t block = p.accumulate ? to : level.at;
        if (c.position >= messages_of_block(p, c.lane, block))
            continue;
        c.to = rings_.table.rank + (to - level.at) * p.stride; // unsigned: wraps back
        const std::uint32_t pieces = a.pieces_of_message(p.level);
        if (pieces > 1)
            return find_strided(p, c, block, pieces);
        const std::uint32_t piece = a.in_parts ? c.position / a.run_messages : 0;
        const abi::element_range all = block_of(p, c.lane, block, piece);
        const std::uint64_t done = (c.position - piece * a.run_messages) * schedule_.chunk_elements;
        const std::uint64_t left = all.count - done;
        c.run = {all.first + done, left < schedule_.chunk_elements ? left : schedule_.chunk_elements};
        c.more_pieces = 0;
        return;
    }
}

// Parts of several shards as pieces of one message. Shards are of at most two lengths; the longer ones come first.
void run_finder::find_strided(const pass& p, run_cursor& c, std::uint32_t block, std::uint32_t pieces)
{
    const axis_lane& a = schedule_.axis_lanes[c.lane];
    const std::uint32_t stride = a.level[a.levels - 1].stride;
    const std::uint32_t messages = a.messages_of_pieces(p.level);
    const std::uint32_t group = c.position / messages;
    const bool shorter = c.position - group * messages != 0;
    std::uint32_t first = group * pieces;
    std::uint64_t length = schedule_.count / rings_.table.ranks;
    if (a.uneven) {
        const auto longer = static_cast<std::uint32_t>(schedule_.count - length * rings_.table.ranks);
        const std::uint32_t shard = a.shard(p.level, block, first);
        std::uint32_t long_ones = longer > shard ? (longer - shard + stride - 1) / stride : 0;
        long_ones = long_ones < pieces ? long_ones : pieces;
        first += shorter ? long_ones : 0;
        pieces = shorter ? pieces - long_ones : long_ones;
        length += shorter ? 0 : 1;
    }
    c.run = {};
    if (pieces != 0) // else a message says that there are none
        c.run = block_of(p, c.lane, block, first);
    c.more_pieces = pieces != 0 ? pieces - 1 : 0;
    c.stride = stride * length;
}

} // namespace weft::firmware
