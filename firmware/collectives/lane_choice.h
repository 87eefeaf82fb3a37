// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How many lanes multi_axis takes for a command, and how it cuts the data for them. axes.h explains lanes.
#pragma once

#include "firmware/collectives/lane_loads.h"

namespace weft::firmware {

/// The user sees which rank has which shard.
constexpr bool shards_are_of_ranks(abi::collective_op op)
{
    return op == abi::collective_op::reduce_scatter || op == abi::collective_op::all_gather;
}

/// Axes along which everybody of a line sends to everybody else, as bits.
class joined_axes {
public:
    /// Two ranks beside rings are a ring, too: their messages go on chunk by chunk, where exchanged blocks would be
    /// whole, and in bursts that keep messages of the rings waiting.
    explicit joined_axes(const abi::platform_table& table);
    bool has(std::uint32_t axis) const { return (bits_ >> axis & 1) != 0; }

private:
    std::uint32_t bits_ = 0;
};

struct lane_choice {
    /// `chunk_elements`: of the command; its elements are not 0.
    lane_choice(const abi::platform_table& table, const abi::command& command, std::uint64_t chunk_elements);

    axis_places places;
    joined_axes direct;
    std::uint32_t levels = 0;     ///< dimensions of more than one rank
    bool any_ring = false;        ///< one of them is no direct exchange
    std::uint32_t semaphores = 0; ///< of a lane
    std::uint32_t colours = 1;    ///< dimensions that begin lanes
    std::uint32_t directions = 1; ///< of each: around its rings, or lanes that take turns
    std::uint32_t halves = 1;     ///< of each of these: while one is gathered, the other one is summed
    bool in_parts = false;        ///< each lane has a part of the shard of every rank: axis_lane
    /// Lanes cut the data like those of an all_reduce, and one more pass moves shards between who sums or gathers them
    /// and their ranks.
    bool moves_shards = false;
    bool unlike = false;          ///< the dimensions that begin lanes differ
    lane_shares shares{1, {lane_cut::k_whole}}; ///< by colour, where they have unlike ones
    std::uint64_t chunk_elements; ///< the longest message
    std::uint32_t cost = 0;       ///< instructions of this choice

    std::uint32_t ways() const { return colours * directions; }
    std::uint32_t lanes() const { return ways() * halves; }
    bool alike() const { return shares.lanes == 1; }
};

} // namespace weft::firmware
