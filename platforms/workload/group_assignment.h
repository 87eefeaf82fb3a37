// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Process groups as the host gives them to the ranks of a machine (docs/adr/0018): who is in which, with which bank of
// semaphores, and the tables in the local memories of the members.
#pragma once

#include "platforms/workload/collective_case.h"
#include "platforms/workload/machine.h"
#include "platforms/workload/process_groups.h"

#include <cstdint>
#include <vector>

namespace weft {

class group_assignment {
public:
    explicit group_assignment(machine& m) : machine_(m) {}

    group_layout layout_of(const collective_case& c) const;
    /// Who works with whom in it, and in which lines.
    rank_groups groups_of(const group_layout& layout) const;
    /// Tells every member, and those outside of all groups that each is alone. Throws bug when no bank is left.
    void write(const group_layout& layout);
    /// All banks are free again: counters of semaphores have begun anew.
    void forget() { banks_.clear(); }

private:
    table_of_rank tables() const;
    std::uint32_t bank_of(const group_layout& layout);

    machine& machine_;
    struct division {
        std::vector<rank_list> groups;
        std::vector<std::uint16_t> near_ranks; ///< of each
    };
    /// Semaphore bank i + 1 is that of these groups, since the last forget().
    std::vector<division> banks_;
};

} // namespace weft
