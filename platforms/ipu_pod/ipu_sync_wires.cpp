// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ipu_pod/ipu_sync_wires.h"

#include <algorithm>

namespace weft {

std::vector<duration> ipu_sync_wires::ways(const sync_zone& zone) const
{
    const auto apart = [](std::uint32_t a, std::uint32_t b) { return a > b ? a - b : b - a; };
    std::uint32_t lowest = shape_.rungs(), highest = 0;
    for (std::uint32_t i = 0; i < zone.members; ++i) {
        lowest = std::min(lowest, shape_.rung_of(zone.rank(i)));
        highest = std::max(highest, shape_.rung_of(zone.rank(i)));
    }
    const std::uint32_t rung = (lowest + highest + 1) / 2, column = shape_.column_of(zone.first);
    const std::uint32_t first = shape_.domain_of(zone.first), last = shape_.domain_of(zone.last()), domain = (first + last) / 2;
    std::vector<duration> ways;
    for (std::uint32_t i = 0; i < zone.members; ++i) {
        const std::uint32_t ipu = zone.rank(i);
        const std::uint64_t hops = apart(shape_.rung_of(ipu), rung) + apart(shape_.column_of(ipu), column);
        ways.emplace_back(hops * config_.hop.value() + apart(shape_.domain_of(ipu), domain) * config_.gateway_hop.value());
    }
    return ways;
}

} // namespace weft
