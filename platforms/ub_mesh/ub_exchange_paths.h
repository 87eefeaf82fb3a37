// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which messages of direct exchanges in process groups take all paths. Where a group has a part of a mesh only, two of
// four racks in a row, links to the others stand idle, and a detour brings more than it costs; where groups fill a mesh
// it takes from others what it brings. Decided from the busiest link, when every rank sends the same to each other one
// of its group.
#pragma once

#include "hw/abi/platform_table.h"
#include "hw/routing/ub/ub_topology.h"

#include <cstdint>
#include <vector>

namespace weft {

/// Exchanges of more pairs keep to shortest paths: some 20 us of the host a pair.
inline constexpr std::uint64_t k_most_exchange_pairs = 1 << 18;

/// platform_table::near_ranks of each group. `groups`: routers of their ranks; `tables`: of their first ranks; `down`:
/// links that are. All k_all_near, or the fewest outermost dimensions by all paths that bring the least load of the
/// busiest link, if it is a quarter less than by shortest paths.
std::vector<std::uint16_t> near_ranks_of(const ub_plan& plan, const std::vector<bool>& down,
                                         const std::vector<std::vector<std::uint32_t>>& groups,
                                         const std::vector<abi::platform_table>& tables);

} // namespace weft
