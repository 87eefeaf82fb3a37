// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The schedules of firmware (firmware/collectives/schedule.h) as the host sees them: what every rank of a machine sends
// and receives in a collective, without running it.
#pragma once

#include "hw/abi/platform_table.h"
#include "platforms/workload/collective_case.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace weft {

/// Elements that go to one rank, cut into messages of at most a chunk.
struct planned_run {
    std::uint32_t step = 0; ///< of its pass, from 0; steps without elements are left out
    abi::element_range range;
    std::uint32_t to = 0; ///< rank
    std::uint32_t messages = 0;
    std::uint32_t pieces = 1; ///< of each message, as long as the range and a stride apart
};

struct planned_pass {
    std::string what; ///< "reduce-scatter, ring of 16"
    bool forwards = false;   ///< messages wait for those that arrive
    bool direct = false;     ///< everybody of a line to everybody else of it
    bool moves_shards = false; ///< between their ranks and those that sum or gather them, who may be itself
    std::uint32_t ranks = 0; ///< of the ring or line
    std::uint32_t entry_instructions = 0; ///< costs.h: what entering it takes
    std::vector<planned_run> runs;
};

struct planned_channel {
    std::vector<planned_pass> passes;
};

struct planned_rank {
    abi::platform_table table;
    std::uint32_t steps = 0;         ///< as its firmware reports them
    std::uint64_t ahead_bytes = 0;   ///< longest message of trees that are posted ahead; 0: none are
    std::uint32_t tree_pieces = 0;   ///< messages of a part of line_trees.h; 0: it has none
    std::uint64_t tree_piece_bytes = 0; ///< the longest of them
    std::vector<std::uint32_t> told; ///< ranks that hear that this one is ready, in order
    std::vector<planned_channel> channels;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>
        sent;                                        ///< messages by rank and semaphore of the receiver
    std::map<std::uint32_t, std::uint64_t> received; ///< messages waited for, by semaphore
};

/// The schedule of one rank. Throws user_error where its planner refuses.
planned_rank plan_of(const abi::platform_table& table, const collective_case& c);

/// Whether every rank is sent exactly the messages that it waits for: "" or the first difference. `ranks` are all of
/// them, by rank.
std::string unmatched(const std::vector<planned_rank>& ranks);

/// A few lines per channel and pass, one per run.
std::string text_of(const planned_rank& rank, std::uint32_t element_bytes);

/// Whether firmware of this algorithm executes a schedule on this machine.
bool has_schedule(const abi::platform_table& table, abi::collective_op op, abi::algorithm algorithm);
/// Whether it goes round rings in lock-step, which plan_of() knows as well: a channel is a ring, a pass a phase.
bool has_rings_in_lockstep(abi::algorithm algorithm);

} // namespace weft
