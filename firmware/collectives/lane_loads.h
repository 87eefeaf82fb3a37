// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Lanes of multi_axis over direct exchanges, each of which begins with another dimension: how long they keep links
// busy, and what each has of the data so that all are done at once.
#pragma once

#include "firmware/collectives/axes.h"

namespace weft::firmware {

/// Of the data, in 256ths, by lane.
struct lane_shares {
    std::uint32_t lanes = 0;
    std::uint32_t of[abi::k_max_dims];

    std::uint32_t before(std::uint32_t lane) const;
    /// Part `part` of `parts` of what a lane has.
    lane_cut cut(std::uint32_t lane, std::uint32_t parts, std::uint32_t part) const;
};
lane_shares even_shares(std::uint32_t lanes);

class lane_loads {
public:
    /// `bytes` of each rank.
    lane_loads(const abi::platform_table& table, const axis_places& places, std::uint64_t bytes);

    /// The dimensions that `lanes` begin with have as many ranks and the same links.
    bool alike(std::uint32_t lanes) const;
    std::uint32_t longest_size() const;
    /// All data in the first dimension.
    std::uint64_t first_ns() const { return ns_[0][0]; }
    /// All data in the dimensions that begin none of `lanes`, which come last, one after the other.
    std::uint64_t behind_ns(std::uint32_t lanes) const;
    /// When all are done with the dimensions that begin a lane. A lane takes dimensions one after the other; of two
    /// lanes that take turns, the last one does.
    std::uint64_t ns(const lane_shares& shares, bool turns) const;
    /// What lets the first dimensions of all lanes be done at once.
    lane_shares balanced(std::uint32_t lanes) const;

private:
    std::uint32_t count_;
    std::uint32_t size_[abi::k_max_dims];                ///< by place
    std::uint64_t ns_[abi::k_max_dims][abi::k_max_dims]; ///< by lane and place, if the lane had all data
};

} // namespace weft::firmware
