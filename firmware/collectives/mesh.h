// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The 2-D mesh that a rank knows: its shape, its wrap links and the rectangles of chips that have failed. All functions
// are pure; "O(regions)" costs at most k_max_failed_regions comparisons. Figures are those of Kumar and Jouppi, "Highly
// Available Data Parallel ML training on Mesh Networks".
#pragma once

#include "hw/abi/platform_table.h"

namespace weft::firmware {

struct place {
    std::uint32_t row = 0;
    std::uint32_t col = 0;
};
constexpr bool operator==(place a, place b) { return a.row == b.row && a.col == b.col; }

struct mesh {
    std::uint32_t rows = 1;
    std::uint32_t cols = 1;
    bool wrap_rows = false; ///< a column closes to a ring of links
    bool wrap_cols = false; ///< a row closes to a ring of links
    std::uint32_t regions = 0;
    abi::failed_region failed[abi::k_max_failed_regions] = {};
    const std::uint8_t* tree = nullptr; ///< edges of a block_tree, for the Hamiltonian ring of a broken mesh

    bool broken() const { return regions != 0; }
};

/// The mesh of the table; a table of one dimension is one row. Meaningless with more than two dimensions.
mesh mesh_of(const abi::platform_table& table);

/// Rows and columns swapped when `transposed`; so are places.
mesh oriented(const mesh& m, bool transposed);
constexpr place oriented(place p, bool transposed) { return transposed ? place{p.col, p.row} : p; }

/// Whether the chip at `p` exists and works; `p` may lie outside. O(regions).
bool works(const mesh& m, place p);
std::uint32_t chips(const mesh& m); ///< that work
/// Rank of a chip that works. O(regions).
std::uint32_t rank_of(const mesh& m, place p);
/// Where rank (< chips) is. O(1) on a whole mesh, else O(rows x regions).
place place_of(const mesh& m, std::uint32_t rank);

/// Bit 0: towards rising numbers; bit 1: across rows.
enum class direction : std::uint32_t { west = 0, east = 1, north = 2, south = 3 };
/// The next chip that works in this direction, over failed ones, not over wrap links. False when there is none.
bool next_chip(const mesh& m, place p, direction d, place& found);

// Pairs of rows 2k and 2k+1, of which some are whole and some have failed chips (Fig. 9). An even number of rows.
bool pair_is_whole(const mesh& m, std::uint32_t pair);
std::uint32_t whole_pairs(const mesh& m);
std::uint32_t whole_pairs_before(const mesh& m, std::uint32_t pair);
std::uint32_t nth_whole_pair(const mesh& m, std::uint32_t n);
bool column_is_whole(const mesh& m, std::uint32_t col);
/// The whole column that takes over the second phase of `col`: the nearest, the left one of two. False when there is
/// none.
bool nearest_whole_column(const mesh& m, std::uint32_t col, std::uint32_t& found);

/// The chip of a whole pair of rows to which a neighbour of failed chips forwards its sums: in its own column, the
/// nearest.
/// `distance` counts rows, 1 to the next. False when no pair is whole.
bool forward_target(const mesh& m, place p, place& target, std::uint32_t& distance);

/// Parent of `p` in the broadcast tree: next chip that works towards the root's row in its column; where there is none
/// up to and on that row, the next in its own row towards the root's column; on the root's row, the next towards the
/// root. False for the root, and where failed regions leave none.
bool tree_parent(const mesh& m, place root, place p, place& parent);

} // namespace weft::firmware
