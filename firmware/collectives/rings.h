// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Logical rings on a 2-D mesh or torus, as pure functions of (mesh, ring, rank), O(1) where no chip has failed. Figures
// are those of Kumar and Jouppi, "Highly Available Data Parallel ML training on Mesh Networks". For `transposed` read
// columns for rows.
#pragma once

#include "firmware/collectives/mesh.h"

namespace weft::firmware {

enum class ring_kind : std::uint8_t {
    hamiltonian =
        0, ///< the whole mesh, every hop one link; needs an even number of rows and at least 2 of each (Fig. 3). Around
           ///< failed chips: the walk of block_tree.h (Fig. 8), which has no positions
    line = 1, ///< one row; with wrap in natural order, else 0 2 4 .. 5 3 1 so that no hop is longer than 2 (Fig. 4)
    pair = 2, ///< rows 2k and 2k+1, every hop one link; needs an even number of rows (Fig. 6)
    alternate =
        3,    ///< the rows of one parity in one column, whole pairs of rows only, order as `line`; needs an even number
              ///< of rows (Fig. 7)
    tile = 4, ///< the 2x2 chips of a tile, around failed chips; never transposed
    whole = 5, ///< all ranks of a machine of any number of dimensions that close, see full_mesh.h
    axis = 6   ///< the ranks along one dimension of such a mesh, or of a torus: the same as `line` where both exist
};

/// Of a mesh without failed chips: there is a ring of kind `hamiltonian`, transposed or not.
constexpr bool has_hamiltonian_ring(const mesh& m)
{
    return m.rows > 1 && m.cols > 1 && (m.rows % 2 == 0 || m.cols % 2 == 0);
}

struct ring_id {
    ring_kind kind = ring_kind::line;
    bool transposed = false;    ///< swap the roles of rows and columns
    bool reversed = false;      ///< walk in the other direction
    std::uint8_t axis = 0; ///< of `axis`: which dimension, counted from the innermost
};

inline constexpr std::uint32_t k_ring_numbers = 18;
/// 0..17: unique for each ring_id of a machine. 0..3 are whole rings, 4.. those along one dimension, 16 and 17 those of
/// tiles.
std::uint32_t ring_number(ring_id id);

std::uint32_t ring_size(const mesh& m, ring_id id);
/// Position of `rank` on its ring of this kind; the ring is walked in rising positions. 0 on a walk without positions.
std::uint32_t ring_position(const mesh& m, ring_id id, std::uint32_t rank);
/// Rank at `position` (< size) of the ring that `rank` is on. Not on a walk without positions.
std::uint32_t ring_member(const mesh& m, ring_id id, std::uint32_t rank, std::uint32_t position);

/// The nearest position, from `position` downwards and from 0 on around, whose member has a rank below `limit`, 1 ..
/// size, in one step. Of rings over all ranks of a machine without failed chips: `hamiltonian`, and `line` in one
/// dimension that closes.
std::uint32_t ring_position_below(const mesh& m, ring_id id, std::uint32_t position, std::uint32_t limit);

/// A ring as one of its members sees it.
struct ring_view {
    std::uint32_t size = 1;
    std::uint32_t position = 0;
    std::uint32_t successor = 0;
    std::uint32_t predecessor = 0;
};
ring_view view_ring(const mesh& m, ring_id id, std::uint32_t rank);

} // namespace weft::firmware
