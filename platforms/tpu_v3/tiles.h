// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups of chips of a pod: tiles of the mesh. n chips form the squarest tile with rows >= cols whose sides are powers
// of two: 2 -> 2x1, 4 -> 2x2 (a board), 8 -> 4x2 (the chips of a host), 16 -> 4x4. Tiles start at (0,0) and divide the
// mesh; one whose chips have all failed is left out. All chips of the mesh are one group whatever their number.
#pragma once

#include "hw/routing/mesh.h"
#include "platforms/workload/rank_groups.h"

#include <cstdint>
#include <optional>
#include <string>

namespace weft {

struct chip_tile {
    std::uint32_t rows = 0;
    std::uint32_t cols = 0;
};

/// None unless n is a power of two from 2 on.
std::optional<chip_tile> tile_of(std::uint32_t ranks_per_group);

/// Why the mesh cannot be divided into tiles of so many chips, as the rest of a sentence about that number; "" when it
/// can.
std::string tile_refusal(const mesh_description& mesh, std::uint32_t ranks_per_group);

/// Groups in the order of their tiles, row by row. Throws bug where tile_refusal() has something to say.
group_layout tile_groups(const mesh& topology, std::uint32_t ranks_per_group);

} // namespace weft
