// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Logical rings on a 2-D mesh or torus, as pure O(1) functions of (mesh, ring, rank). Figures are those of Kumar and
// Jouppi, "Highly Available Data Parallel ML training on Mesh Networks". For `transposed` read columns for rows.
#pragma once

#include "hw/abi/platform_table.h"

namespace weft::firmware {

struct mesh {
    std::uint32_t rows = 1;
    std::uint32_t cols = 1;
    bool wrap_rows = false; ///< a column closes to a ring of links
    bool wrap_cols = false; ///< a row closes to a ring of links
};

/// The mesh of the table; a table of one dimension is one row. Meaningless with more than two dimensions.
mesh mesh_of(const abi::platform_table& table);

enum class ring_kind : std::uint8_t {
    hamiltonian =
        0,        ///< the whole mesh, every hop one link; needs an even number of rows and at least 2 of each (Fig. 3)
    line = 1,     ///< one row; with wrap in natural order, else 0 2 4 .. 5 3 1 so that no hop is longer than 2 (Fig. 4)
    pair = 2,     ///< rows 2k and 2k+1, every hop one link; needs an even number of rows (Fig. 6)
    alternate = 3 ///< the rows of one parity in one column, order as `line`; needs an even number of rows (Fig. 7)
};

struct ring_id {
    ring_kind kind = ring_kind::line;
    bool transposed = false; ///< swap the roles of rows and columns
    bool reversed = false;   ///< walk in the other direction
};

/// 0..15, unique for each ring_id.
constexpr std::uint32_t ring_number(ring_id id)
{
    return static_cast<std::uint32_t>(id.kind) * 4u + (id.transposed ? 2u : 0u) + (id.reversed ? 1u : 0u);
}

std::uint32_t ring_size(const mesh& m, ring_id id);
/// Position of `rank` on its ring of this kind; the ring is walked in rising positions.
std::uint32_t ring_position(const mesh& m, ring_id id, std::uint32_t rank);
/// Rank at `position` (< size) of the ring that `rank` is on.
std::uint32_t ring_member(const mesh& m, ring_id id, std::uint32_t rank, std::uint32_t position);

/// A ring as one of its members sees it.
struct ring_view {
    std::uint32_t size = 1;
    std::uint32_t position = 0;
    std::uint32_t successor = 0;
    std::uint32_t predecessor = 0;
};
ring_view view_ring(const mesh& m, ring_id id, std::uint32_t rank);

} // namespace weft::firmware
