// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/axes.h"

namespace weft::firmware {

namespace {

/// Half of the rate of the fastest dimension, rounded up.
std::uint32_t slowest_fast_rate(const abi::platform_table& table)
{
    std::uint32_t fastest = 0;
    for (std::uint32_t d = 0; d < table.dim_count; ++d)
        fastest = table.dims[d] > 1 && table.rate_mbps[d] > fastest ? table.rate_mbps[d] : fastest;
    return fastest / 2 + fastest % 2;
}

} // namespace

axis_places axis_places_of(const abi::platform_table& table)
{
    axis_places places;
    const std::uint32_t least = slowest_fast_rate(table);
    for (std::uint32_t d = 0; d < table.dim_count; ++d)
        if (table.dims[d] > 1 && table.rate_mbps[d] >= least)
            places.axis[places.fast++] = static_cast<std::uint8_t>(table.dim_count - 1 - d);
    places.count = places.fast;
    for (std::uint32_t d = 0; d < table.dim_count; ++d)
        if (table.dims[d] > 1 && table.rate_mbps[d] < least)
            places.axis[places.count++] = static_cast<std::uint8_t>(table.dim_count - 1 - d);
    return places;
}

std::uint32_t axis_places::of_lane(std::uint32_t lane, std::uint32_t i) const
{
    if (lane >= fast)
        return i == 0 ? lane : i <= lane ? i - 1 : i;
    return i >= fast ? i : lane + i < fast ? lane + i : lane + i - fast;
}

std::uint32_t axes_of_lane(const axis_places& places, std::uint32_t lane, std::uint32_t* axes)
{
    for (std::uint32_t i = 0; i < places.count; ++i)
        axes[i] = places.axis[places.of_lane(lane, i)];
    return places.count;
}

void outermost_first(std::uint32_t* axes, std::uint32_t levels)
{
    for (std::uint32_t i = 1; i < levels; ++i) // few, so sorted by insertion
        for (std::uint32_t k = i; k > 0 && axes[k] > axes[k - 1]; --k) {
            const std::uint32_t axis = axes[k];
            axes[k] = axes[k - 1];
            axes[k - 1] = axis;
        }
}

} // namespace weft::firmware
