// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Of process groups that run at once, the one that is done last. Internal to this folder.
#pragma once

#include "hw/abi/platform_table.h"

#include <algorithm>
#include <vector>

namespace weft {

/// What the first rank of the longest group is told; without ranks where there are no groups.
inline abi::platform_table longest_of(const std::vector<abi::platform_table>& groups)
{
    const auto longest = std::max_element(groups.begin(), groups.end(),
                                          [](const abi::platform_table& a, const abi::platform_table& b) { return a.ranks < b.ranks; });
    return longest == groups.end() ? abi::platform_table{} : *longest;
}

} // namespace weft
