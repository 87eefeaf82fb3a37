// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks divided into groups that run a collective among themselves, all groups at once; some ranks may be in none.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

class rank_groups {
public:
    /// One group of all.
    explicit rank_groups(std::uint32_t ranks);
    /// Rank r belongs to group `group_of_rank[r]`. Throws bug unless the groups are 0, 1, ... without a gap.
    explicit rank_groups(std::vector<std::uint32_t> group_of_rank);
    /// These lists, of some of `ranks`; a rank's place is that in its list. Throws bug where a rank is in two, or does
    /// not exist.
    rank_groups(std::uint32_t ranks, std::vector<std::vector<std::uint32_t>> members);

    std::uint32_t ranks() const { return static_cast<std::uint32_t>(group_of_.size()); }
    std::uint32_t groups() const { return static_cast<std::uint32_t>(members_.size()); }
    static constexpr std::uint32_t k_none = 0xffff'ffff;
    std::uint32_t group_of(std::uint32_t rank) const { return group_of_[rank]; } ///< k_none: of no group
    bool takes_part(std::uint32_t rank) const { return rank < ranks() && group_of_[rank] != k_none; }
    /// Where `rank` stands among the members of its group.
    std::uint32_t place_of(std::uint32_t rank) const { return place_[rank]; }
    const std::vector<std::uint32_t>& members(std::uint32_t group) const { return members_[group]; } ///< by place
    std::uint32_t group_size_of(std::uint32_t rank) const ///< of its group, itself included
    {
        return static_cast<std::uint32_t>(members_[group_of_[rank]].size());
    }

    /// Ranks of a line of the group, for dispatch and combine (hw/abi/tokens.h); 1 unless told.
    std::uint32_t line_of(std::uint32_t group) const { return group < lines_.size() ? lines_[group] : 1; }
    void set_lines(std::vector<std::uint32_t> lines) { lines_ = std::move(lines); } ///< by group

private:
    std::vector<std::uint32_t> group_of_;
    std::vector<std::uint32_t> place_;
    std::vector<std::vector<std::uint32_t>> members_;
    std::vector<std::uint32_t> lines_;
};

/// What a machine answers when `ranks_per_group` of its ranks are to work together.
struct group_layout {
    std::vector<std::vector<std::uint32_t>> members;
    bool firmware_knows = false; ///< who its peers are; else its table says so (platforms/workload/process_groups.h)
};

} // namespace weft
