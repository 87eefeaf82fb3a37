// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks divided into groups that run a collective among themselves, all groups at once. Which ranks stand together is
// the platform's to say (chips of a tile, a server, a board); here it is a number per rank.
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

class rank_groups {
public:
    /// One group of all.
    explicit rank_groups(std::uint32_t ranks);
    /// Rank r belongs to group `group_of_rank[r]`. Throws bug unless the groups are 0, 1, ... without a gap.
    explicit rank_groups(std::vector<std::uint32_t> group_of_rank);

    std::uint32_t ranks() const { return static_cast<std::uint32_t>(group_of_.size()); }
    std::uint32_t groups() const { return static_cast<std::uint32_t>(members_.size()); }
    std::uint32_t group_of(std::uint32_t rank) const { return group_of_[rank]; }
    /// Where `rank` stands among the members of its group.
    std::uint32_t place_of(std::uint32_t rank) const { return place_[rank]; }
    const std::vector<std::uint32_t>& members(std::uint32_t group) const { return members_[group]; } ///< ascending
    std::uint32_t group_size_of(std::uint32_t rank) const ///< of its group, itself included
    {
        return static_cast<std::uint32_t>(members_[group_of_[rank]].size());
    }

private:
    std::vector<std::uint32_t> group_of_;
    std::vector<std::uint32_t> place_;
    std::vector<std::vector<std::uint32_t>> members_;
};

/// What a machine answers when `ranks_per_group` of its ranks are to work together.
struct group_layout {
    std::vector<std::uint32_t> group_of_rank;
    std::uint32_t tile_rows = 0; ///< abi::command::group_rows and group_cols; 0: all ranks are one group
    std::uint32_t tile_cols = 0;
};

} // namespace weft
