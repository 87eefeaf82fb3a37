// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How multi_axis cuts its data. The data of a lane is cut into one shard for each rank, and the lane takes one
// dimension after the other: in a reduce-scatter, ranks that differ in the first dimension only exchange blocks of
// shards, so that each is left with those whose owners have its coordinate there; then those that differ in the second
// one, inside these blocks; and so on, until each has its own shard. An all-gather goes the same way back. A reduce
// does, too, but along each dimension only those with the root's coordinate get the others' blocks, and who has given
// its own is done.
//
// Inside a line, ranks that are all joined exchange blocks directly. Others pass them on around a ring: of a line
// without wrap, out over the even coordinates and back over the odd ones, so that every link carries each direction
// once.
//
// Lanes begin with different dimensions, so that all links work at once.
#pragma once

#include "hw/abi/platform_table.h"

namespace weft::firmware {

/// One dimension, as a lane goes along it.
struct axis_level {
    std::uint8_t axis = 0;    ///< which dimension, counted from the innermost
    bool direct = false;      ///< every rank of the line is joined to every other
    bool folded = false;      ///< a ring over a line without wrap
    bool reversed = false;    ///< the ring is walked the other way
    std::uint32_t size = 1;   ///< ranks of the line
    std::uint32_t at = 0;     ///< coordinate of this rank
    std::uint32_t stride = 0; ///< of shards between neighbouring coordinates
    std::uint32_t first = 0;  ///< shard of coordinate 0 of the blocks of this level
    std::uint32_t shards = 1; ///< of a block

    /// Coordinate at `position` of the ring.
    std::uint32_t point(std::uint32_t position) const
    {
        const std::uint32_t p = reversed && position != 0 ? size - position : position;
        if (!folded)
            return p;
        return p < (size + 1) / 2 ? 2 * p : 2 * (size - 1 - p) + 1;
    }
};

/// Which part of a range of elements a lane has.
struct lane_cut {
    static constexpr std::uint32_t k_whole = 256;
    std::uint32_t first = 0, share = k_whole; ///< of its colour, in 256ths
    std::uint32_t parts = 1, part = 0;        ///< of that, alike ones

    abi::element_range of(std::uint64_t count) const
    {
        const std::uint64_t begin = count * first / k_whole, end = count * (first + share) / k_whole;
        const abi::element_range own = abi::shard_of(end - begin, parts, part);
        return {begin + own.first, own.count};
    }
};

struct axis_lane {
    std::uint32_t levels = 0;
    /// No: the lane has a range of elements for itself, and the shards of a block lie side by side. Yes: a shard is
    /// that of its rank in the whole buffer, cut into as many parts as there are lanes, and this lane has one of each.
    bool in_parts = false;
    lane_cut cut;
    std::uint32_t run_messages = 0; ///< of every run of a block; 0: as many as it has chunks
    /// A message has the parts of all shards of a block that differ in the last dimension only; where some shards are
    /// longer, there are two, that of longer ones first.
    bool in_strides = false;
    bool uneven = false; ///< some are longer by one element
    axis_level level[abi::k_max_dims];

    /// The block of `coordinate` of a lane that has `all` for itself.
    abi::element_range block(abi::element_range all, std::uint32_t ranks, std::uint32_t at_level,
                             std::uint32_t coordinate) const
    {
        const std::uint32_t index = level[at_level].first + coordinate * level[at_level].stride;
        const std::uint64_t begin = abi::shard_of(all.count, ranks, index).first;
        const abi::element_range last = abi::shard_of(all.count, ranks, index + level[at_level].shards - 1);
        return {all.first + begin, last.first + last.count - begin};
    }
    /// Runs of elements of a block.
    std::uint32_t pieces(std::uint32_t at_level) const { return in_parts ? level[at_level].shards : 1; }
    /// Of these, how many go in one message, a stride apart.
    std::uint32_t pieces_of_message(std::uint32_t at_level) const
    {
        return in_strides && at_level + 1 < levels ? level[levels - 1].size : 1;
    }
    /// Messages for these.
    std::uint32_t messages_of_pieces(std::uint32_t at_level) const
    {
        return uneven && pieces_of_message(at_level) > 1 ? 2 : run_messages;
    }
    /// Shard number `piece` of the block of `coordinate`, of those that do not lie side by side.
    std::uint32_t shard(std::uint32_t at_level, std::uint32_t coordinate, std::uint32_t piece) const
    {
        std::uint32_t index = level[at_level].first + coordinate * level[at_level].stride;
        for (std::uint32_t i = levels; i-- > at_level + 1;) {
            const std::uint32_t rest = piece / level[i].size;
            index += (piece - rest * level[i].size) * level[i].stride;
            piece = rest;
        }
        return index;
    }
};

/// The dimensions of more than one rank, by place: in the order of lane 0, outermost first, but those with less than
/// half the rate of the fastest one last. Lane i begins with the dimension at place i; slow ones come last in lanes
/// that begin with a fast one.
struct axis_places {
    std::uint32_t count = 0;
    std::uint32_t fast = 0; ///< of them
    std::uint8_t axis[abi::k_max_dims]; ///< counted from the innermost

    /// Place of the `i`-th dimension of a lane.
    std::uint32_t of_lane(std::uint32_t lane, std::uint32_t i) const;
};
axis_places axis_places_of(const abi::platform_table& table);

/// The dimensions of a lane, in its order; returns how many.
std::uint32_t axes_of_lane(const axis_places& places, std::uint32_t lane, std::uint32_t* axes);
void outermost_first(std::uint32_t* axes, std::uint32_t levels);

} // namespace weft::firmware
