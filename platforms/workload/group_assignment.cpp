// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/group_assignment.h"

#include "firmware/collectives/token_lines.h"

#include <algorithm>
#include <numeric>

namespace weft {

group_layout group_assignment::layout_of(const collective_case& c) const
{
    group_layout layout;
    if (c.ranks_per_group != 0) {
        layout = machine_.groups_of(c.ranks_per_group);
    } else if (!c.groups.empty()) {
        named_groups named = find_groups(c.groups, machine_.data_ranks(), tables());
        if (!named.problem.empty())
            throw bug("host", kernel_now_ps(), "groups: entry " + named.problem);
        layout.members = std::move(named.lists);
    } else {
        layout.members.emplace_back();
    }
    // All ranks in their order are what the platform table tells.
    const bool whole =
        layout.members.size() == 1 && (layout.members[0].empty() || layout.members[0].size() == machine_.data_ranks());
    if (whole) {
        rank_list all(machine_.data_ranks());
        std::iota(all.begin(), all.end(), 0);
        if (layout.members[0].empty() || layout.members[0] == all) {
            layout.members[0] = std::move(all);
            layout.firmware_knows = true;
        }
    }
    return layout;
}

rank_groups group_assignment::groups_of(const group_layout& layout) const
{
    rank_groups groups(machine_.data_ranks(), layout.members);
    std::vector<std::uint32_t> lines;
    for (const rank_list& members : layout.members)
        lines.push_back(firmware::token_line(layout.firmware_knows ? machine_.chips()[members.front()]->table()
                                                                   : tables_of_group(members, tables(), 1).front()));
    groups.set_lines(std::move(lines));
    return groups;
}

table_of_rank group_assignment::tables() const
{
    return [this](std::uint32_t rank) -> const abi::platform_table& { return machine_.chips()[rank]->table(); };
}

/// Groups that were the same before keep their bank: its counters go on.
std::uint32_t group_assignment::bank_of(const group_layout& layout)
{
    const auto known =
        std::find_if(banks_.begin(), banks_.end(), [&](const division& d) { return d.groups == layout.members; });
    const auto bank = static_cast<std::uint32_t>(known - banks_.begin()) + 1;
    if (bank >= abi::dma::SEM_BANKS_reset)
        throw bug("host", kernel_now_ps(),
                  "more divisions into groups than banks of semaphores: a platform has let them pass");
    if (known == banks_.end())
        banks_.push_back({layout.members, {}});
    return bank;
}

void group_assignment::write(const group_layout& layout)
{
    const std::uint32_t bank = bank_of(layout);
    std::vector<std::uint16_t>& near = banks_[bank - 1].near_ranks;
    if (near.empty()) {
        std::vector<abi::platform_table> firsts;
        for (const rank_list& members : layout.members)
            firsts.push_back(tables_of_group(members, tables(), bank).front());
        near = machine_.near_ranks(layout.members, firsts);
        near.resize(layout.members.size(), abi::k_all_near);
    }
    std::vector<bool> takes_part(machine_.data_ranks());
    for (std::size_t group = 0; group < layout.members.size(); ++group) {
        const rank_list& members = layout.members[group];
        std::vector<abi::platform_table> of_group = tables_of_group(members, tables(), bank);
        for (std::size_t place = 0; place < members.size(); ++place) {
            of_group[place].near_ranks = near[group];
            machine_.chips()[members[place]]->write_group(of_group[place], members);
            takes_part[members[place]] = true;
        }
    }
    for (std::uint32_t rank = 0; rank < machine_.data_ranks(); ++rank)
        if (!takes_part[rank]) // a group of one can run everything
            machine_.chips()[rank]->write_group(tables_of_group({rank}, tables(), bank).front(), {rank});
}

} // namespace weft
