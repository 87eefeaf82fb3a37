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
    bool alike() const;
};

class lane_loads {
public:
    /// `bytes` of each rank.
    lane_loads(const abi::platform_table& table, std::uint32_t lanes, std::uint64_t bytes);

    /// Dimensions that begin a lane have as many ranks and the same links.
    bool alike() const;
    std::uint32_t longest_size() const;
    /// All data, as the first dimension of this lane.
    std::uint64_t first_ns(std::uint32_t lane) const { return ns_[lane][lane]; }
    /// All data, dimension by dimension behind the first one of lane 0, as far as they begin no lane.
    std::uint64_t behind_ns() const;
    /// When all are done with the dimensions that begin a lane. A lane takes dimensions one after the other; of two lanes that take turns, the last one does.
    std::uint64_t ns(const lane_shares& shares, bool turns) const;
    lane_shares halves() const;
    /// What lets the first dimensions of all lanes be done at once.
    lane_shares balanced() const;

private:
    std::uint32_t lanes_, dims_ = 0;
    std::uint32_t size_[abi::k_max_dims];
    std::uint64_t ns_[abi::k_max_dims][abi::k_max_dims]; ///< by lane and dimension, which lanes begin with in their order
};

} // namespace weft::firmware
