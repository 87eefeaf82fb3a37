// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ipu_pod/ipu_sync_wires.h"

#include <algorithm>

namespace weft {

std::vector<duration> ipu_sync_wires::ways(const sync_zone& zone) const
{
    const auto apart = [](std::uint32_t a, std::uint32_t b) { return a > b ? a - b : b - a; };
    const std::uint32_t rungs = shape_.rungs();
    const auto rungs_apart = [&](std::uint32_t a, std::uint32_t b) { return shape_.closes() ? std::min(apart(a, b), rungs - apart(a, b)) : apart(a, b); };
    std::vector<bool> occupied(rungs);
    for (std::uint32_t i = 0; i < zone.members; ++i)
        occupied[shape_.rung_of(zone.rank(i))] = true;
    // Of a ladder that is closed, the stretch behind its longest gap; of one that is not, the rungs from end to end.
    const auto first_of = std::find(occupied.begin(), occupied.end(), true);
    std::uint32_t lowest = static_cast<std::uint32_t>(first_of - occupied.begin()), length = 0;
    for (std::uint32_t r = lowest; r < rungs; ++r)
        if (occupied[r])
            length = r - lowest + 1;
    std::uint32_t gap = rungs - length, before = lowest; // rungs between the last and the first
    for (std::uint32_t r = lowest + 1; shape_.closes() && r < rungs; ++r)
        if (occupied[r]) {
            if (r - before - 1 > gap) {
                gap = r - before - 1;
                lowest = r;
                length = rungs - gap;
            }
            before = r;
        }
    const std::uint32_t rung = (lowest + length / 2) % rungs, column = shape_.column_of(zone.first);
    const std::uint32_t first = shape_.domain_of(zone.first), last = shape_.domain_of(zone.last()), domain = (first + last) / 2;
    std::vector<duration> ways;
    for (std::uint32_t i = 0; i < zone.members; ++i) {
        const std::uint32_t ipu = zone.rank(i);
        const std::uint64_t hops = rungs_apart(shape_.rung_of(ipu), rung) + apart(shape_.column_of(ipu), column);
        ways.emplace_back(hops * config_.hop.value() + apart(shape_.domain_of(ipu), domain) * config_.gateway_hop.value());
    }
    return ways;
}

} // namespace weft
