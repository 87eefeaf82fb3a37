// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the runs of a pass, one after the other. Pure: engine and `weft check --schedule` see the same runs.
//
// Around a ring of n ranks:
//   reduce-scatter, step s   send shard position-1-s, receive and accumulate shard position-2-s; ends owning shard
//                            `position`
//   all-gather, step s       send shard position-s,   receive and overwrite shard position-1-s; starts owning shard
//                            `position`
// for s = 0 .. n-2, indices modulo n. What is sent in step s+1 is what arrived in step s, so chunk c of step s+1 leaves
// as soon as chunk c of step s is in. An inner pass works inside the shard that the outer ring left here. Empty runs
// are left out.
#pragma once

#include "firmware/collectives/ring_map.h"
#include "firmware/collectives/schedule.h"

namespace weft::firmware {

/// Where a channel stands in a pass.
struct run_cursor {
    abi::element_range run; ///< the present one
    std::uint32_t to = 0;   ///< rank that it goes to
    std::uint32_t semaphore = 0; ///< counts there
    std::uint32_t step = 0; ///< its number, empty ones counted
    std::uint32_t lane = 0;
    std::uint32_t position = 0;     ///< on a ring: whose shard it is
    place at;                       ///< on a walk: the same
    std::uint32_t rank_limit = 0;   ///< ranks from here on have empty shards
    std::uint32_t long_shards = 0;  ///< of a ring with one list: the first ones have one element more
    std::uint64_t short_length = 0; ///< than this
    std::uint32_t more_pieces = 0;  ///< of the run's message, each as long as the run
    std::uint64_t stride = 0;       ///< elements from one to the next
    /// Of fan_out and axis_direct: which other rank, 1 ..; of axis_ring: which run of a block.
    std::uint32_t turn = 0;
    std::uint32_t queue = 0; ///< of trees: that of the message
};

/// Messages of a pass.
struct message_counts {
    std::uint32_t sends = 0;
    std::uint32_t receives = 0;
    std::uint32_t free_sends = 0; ///< depend on nothing received
};

class run_finder {
public:
    run_finder(const schedule& s, const ring_map& rings) : schedule_(s), rings_(rings) {}

    /// Puts the cursor before the first run.
    message_counts enter(const pass& p, std::uint32_t lane, run_cursor& c);
    /// The first run, or the next one from there that is not empty. There is one: messages are left to send.
    void find(const pass& p, run_cursor& c, bool first);
    /// Instructions since the last call, costs.h.
    std::uint32_t take_cost()
    {
        const std::uint32_t cost = cost_;
        cost_ = 0;
        return cost;
    }

private:
    message_counts enter_ring(const pass& p, run_cursor& c);
    message_counts enter_axis(const pass& p, run_cursor& c); ///< axis_runs.cpp
    void find_shard(const pass& p, run_cursor& c, std::uint32_t position, std::uint32_t list);
    void find_shard_of_rank(const pass& p, run_cursor& c, std::uint32_t position);
    void find_on_walk(const pass& p, run_cursor& c);
    void find_for_line(const pass& p, run_cursor& c);
    void find_of_tree(const pass& p, run_cursor& c);
    void find_unit(const pass& p, run_cursor& c); ///< failed_chips.cpp
    void find_block(const pass& p, run_cursor& c, bool first);    ///< axis_runs.cpp
    void find_exchange(const pass& p, run_cursor& c, bool first); ///< the same
    void find_strided(const pass& p, run_cursor& c, std::uint32_t block, std::uint32_t pieces); ///< the same
    abi::element_range block_of(const pass& p, std::uint32_t lane, std::uint32_t coordinate, std::uint32_t piece) const;
    std::uint32_t messages_of_block(const pass& p, std::uint32_t lane, std::uint32_t coordinate) const;
    std::uint32_t chunks_of_all_shards(const pass& p, std::uint32_t lane, std::uint64_t count) const;

    const schedule& schedule_;
    const ring_map& rings_;
    std::uint32_t cost_ = 0;
};

} // namespace weft::firmware
