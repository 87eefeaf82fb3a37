// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Process groups: lists of ranks that run a collective among themselves, several at once, as a user names them and as
// firmware is told. A rank of a group is its place in the list.
//
//   rows, columns           ranks along the innermost dimension, along the one outside it
//   dimension K             along dimension K, counted from the innermost; "dimensions 0 1": of these planes
//   blocks of N             0 to N-1, N to 2N-1, ...
//   0-3,8,12-28/4           this list
#pragma once

#include "hw/abi/platform_table.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft {

using rank_list = std::vector<std::uint32_t>;
/// What the firmware of a rank is told of the machine.
using table_of_rank = std::function<const abi::platform_table&(std::uint32_t rank)>;

struct named_groups {
    std::vector<rank_list> lists;
    std::string problem;     ///< a sentence without its subject: "names rank 9, but ..."; "" for none
    std::size_t problem_at = 0; ///< entry of the texts
};

/// The groups of all `texts`, in order; no rank is in two of them.
named_groups find_groups(const std::vector<std::string>& texts, std::uint32_t ranks, const table_of_rank& table_of);

/// The table of each member of a group. Its dimensions are those of the box of the machine that the list enumerates row
/// by row; of any other list, one dimension in which routing joins any two. `bank` is that of its semaphores.
std::vector<abi::platform_table> tables_of_group(const rank_list& list, const table_of_rank& table_of, std::uint32_t bank);

/// "ranks 0 to 7", "ranks 0, 5, 3, 1 and 12 more": for a sentence.
std::string text_of_group(const rank_list& list);

} // namespace weft
