// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The Hamiltonian ring of a mesh with failed chips (Fig. 8). Cut the mesh into blocks of 2x2 chips, span the blocks
// that work by a tree, and walk around the tree: in a block clockwise, except that where the tree crosses one of its
// sides the walk goes over to the neighbouring block. That visits every chip once, each hop is one link, and no
// directed link is used twice. Exists whenever regions are of even size and start on even rows and columns, and the
// rest is connected.
#pragma once

#include "firmware/collectives/mesh.h"

namespace weft::firmware {

inline constexpr std::uint32_t k_max_blocks = 4096; ///< of 2x2 chips, failed ones included

/// Per block, row by row: the sides that the tree crosses. One byte each.
struct block_tree {
    static constexpr std::uint8_t k_north = 1, k_east = 2, k_south = 4, k_west = 8, k_reached = 16;
    std::uint8_t edges[k_max_blocks] = {};
    bool built = false;
    bool transposed = false; ///< whether it was built with the roles of rows and columns swapped
};

/// What all regions and both sides of the mesh must be for a tree of blocks.
bool fits_blocks(const mesh& m);

/// Builds the tree; `transposed` prefers columns to rows. `visits` is the number of blocks looked at, for the cost of
/// it.
/// False when the blocks are not connected. Needs fits_blocks() and at most k_max_blocks.
bool build(block_tree& tree, const mesh& m, bool transposed, std::uint32_t& visits);

/// Neighbours of a chip on the walk; m.tree must be set.
place tree_successor(const mesh& m, place p);
place tree_predecessor(const mesh& m, place p);

} // namespace weft::firmware
