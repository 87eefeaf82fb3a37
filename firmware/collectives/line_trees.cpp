// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/line_trees.h"

namespace weft::firmware {

line_trees::line_trees(const abi::platform_table& table, std::uint32_t root)
{
    std::uint32_t stride = 1;
    std::uint32_t rest = root;
    std::uint32_t queue = 0;
    for (std::uint32_t axis = 0; axis < table.dim_count; ++axis) { // from the innermost
        const std::uint32_t d = table.dim_count - 1 - axis;
        const std::uint32_t size = table.dims[d];
        const std::uint32_t root_at = rest % size;
        rest /= size;
        if (size > 1) {
            line[count++] = {axis, size, table.coord[d], root_at, stride, trees, queue};
            trees += size - 1;
            queue += size - 1;
            is_root = is_root && table.coord[d] == root_at;
        }
        stride *= size;
    }
}

std::uint32_t line_trees::came_by(std::uint32_t colour) const
{
    std::uint32_t n = count - 1;
    while (n > 0 && !line[behind(colour, n)].relays())
        --n;
    return n;
}

std::uint32_t line_trees::parent(std::uint32_t colour, std::uint32_t here) const
{
    const tree_line& by = line[behind(colour, came_by(colour))];
    return here + (by.root_at - by.at) * by.stride; // unsigned: wraps back
}

std::uint32_t line_trees::children(std::uint32_t colour) const
{
    std::uint32_t found = leaves(colour);
    for (std::uint32_t n = came_by(colour) + 1; n < count; ++n)
        found += line[behind(colour, n)].size - 1;
    return found;
}

} // namespace weft::firmware
