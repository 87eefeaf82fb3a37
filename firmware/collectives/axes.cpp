// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/axes.h"

namespace weft::firmware {

namespace {

bool fast(const abi::platform_table& table, std::uint32_t dimension)
{
    std::uint32_t fastest = 0;
    for (std::uint32_t d = 0; d < table.dim_count; ++d)
        fastest = table.dims[d] > 1 && table.rate_mbps[d] > fastest ? table.rate_mbps[d] : fastest;
    return table.dims[dimension] > 1 && std::uint64_t{table.rate_mbps[dimension]} * 2 >= fastest;
}

} // namespace

std::uint32_t fast_axes(const abi::platform_table& table)
{
    std::uint32_t count = 0;
    for (std::uint32_t d = 0; d < table.dim_count; ++d)
        count += fast(table, d) ? 1 : 0;
    return count;
}

std::uint32_t axis_order(const abi::platform_table& table, std::uint32_t colour, std::uint32_t* axes)
{
    const std::uint32_t dims = table.dim_count;
    const std::uint32_t rotating = fast_axes(table);
    std::uint32_t count = rotating;
    std::uint32_t seen = 0;
    for (std::uint32_t d = 0; d < dims; ++d) {
        if (fast(table, d))
            axes[(seen++ + rotating - colour) % rotating] = dims - 1 - d;
        else if (table.dims[d] > 1)
            axes[count++] = dims - 1 - d;
    }
    if (rotating == 1 && count == 2 && colour == 1) {
        const std::uint32_t fast_one = axes[0];
        axes[0] = axes[1];
        axes[1] = fast_one;
    }
    return count;
}

} // namespace weft::firmware
