// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Process groups of the commands of a loopback world, and what their members are told.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

#include "platforms/workload/process_groups.h"

namespace weft::testing {

class world_groups {
public:
    /// Of the next command; none: all ranks run it together.
    void add(const std::vector<rank_list>& lists)
    {
        of_command_.push_back(lists);
        if (!lists.empty() && std::find(banks_.begin(), banks_.end(), lists) == banks_.end())
            banks_.push_back(lists);
    }

    bool any(const abi::command& c) const { return !of_command_[c.sequence - 1].empty(); }
    /// Members of the group of `rank`, by place, or all of `ranks`; none where it is in no group.
    rank_list members(const abi::command& c, std::uint32_t rank, std::uint32_t ranks) const
    {
        rank_list all(any(c) ? 0 : ranks);
        std::iota(all.begin(), all.end(), 0);
        for (const rank_list& list : of_command_[c.sequence - 1])
            if (std::find(list.begin(), list.end(), rank) != list.end())
                return list;
        return all;
    }

    /// The command as `rank` gets it, with table and list of its group in its memory. A rank of no group is a group of one, without data.
    abi::command told(const abi::command& all, std::uint32_t rank, const table_of_rank& tables, unsigned char* local) const
    {
        abi::command c = all;
        if (!any(all))
            return c;
        rank_list list = members(all, rank, 0);
        if (list.empty()) {
            list = {rank};
            c.count = 0;
        }
        const std::vector<rank_list>& division = of_command_[all.sequence - 1];
        const auto bank = std::find(banks_.begin(), banks_.end(), division) - banks_.begin() + 1; // 0: of all ranks
        const auto place = std::find(list.begin(), list.end(), rank) - list.begin();
        abi::platform_table t =
            tables_of_group(list, tables, static_cast<std::uint32_t>(bank))[static_cast<std::size_t>(place)];
        t.check = abi::check_word(reinterpret_cast<const std::uint32_t*>(&t),
                                  offsetof(abi::platform_table, check) / sizeof(std::uint32_t));
        std::memcpy(&local[abi::k_group_table_address], &t, sizeof t);
        std::memcpy(&local[t.members], list.data(), list.size() * sizeof list[0]);
        c.table = abi::k_group_table_address;
        return c;
    }

private:
    std::vector<std::vector<rank_list>> of_command_;
    std::vector<std::vector<rank_list>> banks_; ///< divisions that were seen
};

} // namespace weft::testing
