// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/runs.h"

namespace weft::firmware {

namespace {

std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }
std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

abi::element_range shard_at(const abi::element_range& list, std::uint32_t size, std::uint32_t position)
{
    const abi::element_range shard = abi::shard_of(list.count, size, position);
    return {list.first + shard.first, shard.count};
}

abi::element_range shard_of_rank(std::uint64_t count, std::uint32_t size, std::uint32_t rank, std::uint32_t lane)
{
    const abi::element_range all = abi::shard_of(count, size, rank);
    const abi::element_range half = abi::shard_of(all.count, 2, lane);
    return {all.first + half.first, half.count};
}

} // namespace

// shard_of() makes shards of at most two lengths, so no loop over the ring is needed.
std::uint32_t run_finder::chunks_of_all_shards(const pass& p, std::uint32_t lane, std::uint64_t count) const
{
    const std::uint32_t n = p.view.size;
    std::uint64_t short_length = count / n;
    std::uint64_t long_length = short_length + 1;
    if (p.source != run_source::ring) {
        short_length = abi::shard_of(short_length, 2, lane).count;
        long_length = abi::shard_of(long_length, 2, lane).count;
    }
    const auto long_shards = static_cast<std::uint32_t>(count % n);
    return long_shards * schedule_.chunks(long_length) + (n - long_shards) * schedule_.chunks(short_length);
}

message_counts run_finder::enter(const pass& p, std::uint32_t lane, run_cursor& c)
{
    cost_ += p.entry_cost;
    c.lane = lane;
    c.step = 0;
    c.to = p.view.successor;
    c.semaphore = p.remote_semaphore;
    if (p.source == run_source::axis_ring || p.source == run_source::axis_direct)
        return enter_axis(p, c);
    if (is_ring(p.source))
        return p.view.size < 2 ? message_counts{} : enter_ring(p, c);
    return {p.total_sends, p.total_receives, p.free_sends};
}

// A reduce-scatter sends every shard but the one that ends here and receives every one but the first sent; an
// all-gather sends all but the successor's and receives all but its own.
message_counts run_finder::enter_ring(const pass& p, run_cursor& c)
{
    const std::uint32_t n = p.view.size;
    const std::uint32_t position = p.view.position;
    message_counts counts;
    if (p.source != run_source::ring) {
        const std::uint64_t count = schedule_.count;
        const std::uint32_t here = rings_.table.rank;
        const std::uint32_t first = p.accumulate ? p.view.predecessor : here;
        const std::uint32_t never = p.accumulate ? here : p.view.successor;
        const std::uint32_t all = chunks_of_all_shards(p, c.lane, count);
        counts.free_sends = schedule_.chunks(shard_of_rank(count, n, first, c.lane).count);
        counts.sends = all - schedule_.chunks(shard_of_rank(count, n, never, c.lane).count);
        counts.receives = all - counts.free_sends;
        const bool all_have_some = abi::shard_of(count / n, 2, c.lane).count != 0;
        c.rank_limit = all_have_some ? n : static_cast<std::uint32_t>(count % n);
        return counts;
    }
    const abi::element_range* const lists = &schedule_.lanes[c.lane].lists[p.first_list];
    c.short_length = lists[0].count / n;
    c.long_shards = static_cast<std::uint32_t>(lists[0].count % n);
    const std::uint32_t before = position == 0 ? n - 1 : position - 1;
    const std::uint32_t after = position + 1 == n ? 0 : position + 1;
    for (std::uint32_t list = 0; list < p.lists; ++list) {
        cost_ += costs::k_list;
        const std::uint32_t all = chunks_of_all_shards(p, c.lane, lists[list].count);
        const std::uint32_t first = schedule_.chunks(shard_at(lists[list], n, p.accumulate ? before : position).count);
        counts.free_sends += first;
        counts.sends += all - schedule_.chunks(shard_at(lists[list], n, p.accumulate ? position : after).count);
        counts.receives += all - first;
    }
    return counts;
}

void run_finder::find(const pass& p, run_cursor& c, bool first)
{
    c.step += first ? 0 : 1;
    if (p.source == run_source::ring || p.source == run_source::ring_rank) {
        cost_ += p.run_cost;
        const std::uint32_t list = p.lists == 1 ? 0 : c.step % p.lists;
        std::uint32_t position = first ? p.view.position + (p.accumulate ? 0 : 1) : c.position;
        if (list == 0)
            position = (position == 0 ? p.view.size : position) - 1;
        if (p.source == run_source::ring)
            find_shard(p, c, position, list);
        else
            find_shard_of_rank(p, c, position);
        return;
    }
    if (p.source == run_source::axis_ring)
        return find_block(p, c, first);
    if (p.source == run_source::axis_direct)
        return find_exchange(p, c, first);
    for (;; ++c.step) {
        cost_ += p.run_cost;
        switch (p.source) {
        case run_source::list: {
            const send_entry& entry = schedule_.sends[p.first_send + c.step];
            c.run = entry.range;
            c.to = entry.to;
            break;
        }
        case run_source::ring_walk: find_on_walk(p, c); break;
        case run_source::fan_out: find_for_line(p, c); break;
        case run_source::tree_parts:
        case run_source::tree_spread:
        case run_source::tree_sums: find_of_tree(p, c); break;
        default: find_unit(p, c); break;
        }
        if (c.run.count != 0 || p.sends_empty)
            return;
    }
}

// Shards of the ranks. Those of `rank_limit` and more are empty, so the search jumps over them, however many are.
void run_finder::find_shard_of_rank(const pass& p, run_cursor& c, std::uint32_t position)
{
    c.position = position;
    if (c.rank_limit < p.view.size) {
        cost_ += rings_.jump_cost(p.ring);
        c.position = rings_.position_below(p.ring, position, c.rank_limit);
        c.step += position - c.position + (c.position > position ? p.view.size : 0);
    }
    cost_ += rings_.member_cost(p.ring);
    c.run = shard_of_rank(schedule_.count, p.view.size, rings_.member(p.ring, c.position), c.lane);
}

// The run of the current step, or the next one that is not empty, however many are: a rank that walked from one to the
// next would keep all behind it on the ring waiting. Positions fall, and every list has its turn in each.
void run_finder::find_shard(const pass& p, run_cursor& c, std::uint32_t position, std::uint32_t list)
{
    const abi::element_range* const lists = &schedule_.lanes[c.lane].lists[p.first_list];
    c.position = position;
    if (p.lists == 1) {
        if (position >= c.long_shards && c.short_length == 0) {
            c.position = c.long_shards - 1;
            c.step += position - c.position;
        }
        c.run.first = lists[0].first + c.short_length * c.position + smaller(c.position, c.long_shards);
        c.run.count = c.short_length + (c.position < c.long_shards ? 1 : 0);
        return;
    }
    for (;; list = 0) {
        for (; list < p.lists; ++list, ++c.step) {
            c.run = shard_at(lists[list], p.view.size, c.position);
            if (c.run.count != 0)
                return;
        }
        // A list of fewer elements than positions has them at the first ones.
        const std::uint32_t below = (c.position == 0 ? p.view.size : c.position) - 1;
        c.position = 0;
        for (std::uint32_t i = 0; i < p.lists; ++i) {
            const std::uint64_t count = lists[i].count;
            const std::uint32_t last = count > below ? below : static_cast<std::uint32_t>(count == 0 ? 0 : count - 1);
            c.position = larger(c.position, last);
        }
        c.step += (below - c.position) * p.lists;
    }
}

void run_finder::find_on_walk(const pass& p, run_cursor& c)
{
    const mesh& m = rings_.as_mesh;
    if (c.step == 0) {
        c.at = place_of(m, p.accumulate ? p.view.predecessor : rings_.table.rank);
    } else {
        cost_ += costs::k_walk;
        c.at = p.ring.reversed ? tree_successor(m, c.at) : tree_predecessor(m, c.at);
    }
    c.run = shard_of_rank(schedule_.count, p.view.size, rank_of(m, c.at), c.lane);
}

// Every chunk to the next rank of the line first, so that not all begin with the same.
void run_finder::find_for_line(const pass& p, run_cursor& c)
{
    const std::uint32_t others = p.view.size - 1;
    const std::uint64_t first = c.step / others * schedule_.chunk_elements;
    const std::uint64_t left = schedule_.count - first;
    c.turn = c.step % others + 1;
    c.run = {first, left < schedule_.chunk_elements ? left : schedule_.chunk_elements};
    const std::uint32_t away = p.view.position + c.turn < p.view.size ? c.turn : c.turn - p.view.size;
    c.to = rings_.table.rank + away * p.stride; // unsigned: wraps back
}

// Piece by piece, to all in turn. In a reduce every piece counts for itself.
void run_finder::find_of_tree(const pass& p, run_cursor& c)
{
    const line_trees& t = schedule_.trees;
    const tree_line& own = t.line[p.level];
    const std::uint32_t here = rings_.table.rank;
    const std::uint32_t receivers = p.total_sends / t.pieces;
    const std::uint32_t piece = c.step / receivers;
    const std::uint32_t number = c.step - piece * receivers;
    c.turn = piece;
    c.semaphore = p.remote_semaphore + (p.accumulate ? piece : 0);
    if (p.source == run_source::tree_sums) {
        const tree_line& by = t.line[t.behind(p.level, t.came_by(p.level))];
        c.queue = by.first_queue + (by.root_at + by.size - by.at) % by.size - 1;
        c.run = t.piece(schedule_.count, own.tree(own.at), piece);
        return;
    }
    // Lines of a relay: those behind the one it came by, and its own one.
    const tree_line* line = &own;
    std::uint32_t place = number;
    bool leaf = true;
    if (p.source == run_source::tree_spread)
        for (std::uint32_t n = t.came_by(p.level) + 1; n < t.count && leaf; ++n) {
            const tree_line& behind = t.line[t.behind(p.level, n)];
            leaf = place >= behind.size - 1;
            line = leaf ? line : &behind;
            place -= leaf ? behind.size - 1 : 0;
        }
    // All of a line but, along the own one, the root.
    const bool all = p.source == run_source::tree_spread && (!leaf || t.came_by(p.level) != 0);
    const std::uint32_t away = all ? place + 1 : line->away(place);
    const std::uint32_t to = line->coordinate(away);
    c.to = here + (to - line->at) * line->stride; // unsigned: wraps back
    c.queue = line->first_queue + away - 1;
    c.run = t.piece(schedule_.count, own.tree(p.source == run_source::tree_parts ? to : own.at), piece);
    if (p.source == run_source::tree_spread && leaf)
        c.semaphore = p.leaf_semaphore;
}

} // namespace weft::firmware
