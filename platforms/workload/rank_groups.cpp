// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/rank_groups.h"

#include "tlm/check.h"

#include <algorithm>
#include <string>
#include <utility>

namespace weft {

rank_groups::rank_groups(std::uint32_t ranks) : rank_groups(std::vector<std::uint32_t>(ranks, 0)) {}

rank_groups::rank_groups(std::vector<std::uint32_t> group_of_rank) : group_of_(std::move(group_of_rank))
{
    const std::uint32_t last = group_of_.empty() ? 0 : *std::max_element(group_of_.begin(), group_of_.end());
    if (last >= ranks())
        throw bug("rank_groups", 0, "group " + std::to_string(last) + " among " + std::to_string(ranks()) + " ranks");
    members_.resize(last + 1);
    place_.reserve(group_of_.size());
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
        std::vector<std::uint32_t>& members = members_[group_of_[rank]];
        place_.push_back(static_cast<std::uint32_t>(members.size()));
        members.push_back(rank);
    }
    for (std::uint32_t group = 0; group <= last; ++group)
        if (members_[group].empty())
            throw bug("rank_groups", 0, "group " + std::to_string(group) + " has no member");
}

rank_groups::rank_groups(std::uint32_t ranks, std::vector<std::vector<std::uint32_t>> members)
    : group_of_(ranks, k_none), place_(ranks, 0), members_(std::move(members))
{
    for (std::uint32_t group = 0; group < groups(); ++group)
        for (std::uint32_t place = 0; place < members_[group].size(); ++place) {
            const std::uint32_t rank = members_[group][place];
            if (rank >= ranks || group_of_[rank] != k_none)
                throw bug("rank_groups", 0, "rank " + std::to_string(rank) + " is in two groups, or does not exist");
            group_of_[rank] = group;
            place_[rank] = place;
        }
}

} // namespace weft
