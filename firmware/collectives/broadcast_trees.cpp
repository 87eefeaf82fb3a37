// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/broadcast_trees.h"

namespace weft::firmware {

namespace {

constexpr direction k_west = direction::west, k_east = direction::east, k_north = direction::north, k_south = direction::south;

/// A mesh without failed chips. Lines of one or two chips do not close.
struct grid {
    explicit grid(const mesh& m)
        : rows(m.rows), cols(m.cols), wrap_rows(m.wrap_rows && m.rows > 2), wrap_cols(m.wrap_cols && m.cols > 2)
    {
        turned = (wrap_rows && !wrap_cols) || (cols == 1 && rows != 1);
        if (turned) {
            rows = m.cols;
            cols = m.rows;
            const bool wrap = wrap_rows;
            wrap_rows = wrap_cols;
            wrap_cols = wrap;
        }
    }
    place seen(place p) const { return oriented(p, turned); }
    std::uint32_t rows, cols;
    bool wrap_rows, wrap_cols; ///< rows close before columns do, and a line is a row: else it is turned
    bool turned = false;
};

std::uint32_t larger(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }

/// Steps from `from` to `to` in the rising direction of a closed line.
std::uint32_t rising(std::uint32_t from, std::uint32_t to, std::uint32_t n) { return to >= from ? to - from : to + n - from; }

/// The shorter way to the root, in a column or a row.
direction towards(std::uint32_t at, std::uint32_t root, std::uint32_t n, bool wrap, direction falls, direction rises)
{
    if (!wrap)
        return at < root ? rises : falls;
    const std::uint32_t away = rising(root, at, n);
    return away <= n / 2 ? falls : rises;
}

/// Links from the root to the farthest chip of a line.
std::uint32_t reach(std::uint32_t root, std::uint32_t n, bool wrap) { return wrap ? n / 2 : larger(root, n - 1 - root); }

direction parent_of(const grid& m, place root, std::uint32_t colours, std::uint32_t colour, place p, torus_trees kind)
{
    const bool on_row = p.row == root.row;
    const bool on_col = p.col == root.col;
    const direction to_row = towards(p.row, root.row, m.rows, m.wrap_rows, k_north, k_south);
    if (colours == 1)
        return on_row ? towards(p.col, root.col, m.cols, m.wrap_cols, k_west, k_east) : to_row;
    if (m.rows == 1) // a closed line, around it either way
        return colour == 0 ? k_west : k_east;
    const direction into_row = p.row + 1 < m.rows ? k_south : k_north; // a link into the root's row
    if (colours == 2) {
        const direction to_col = p.col < root.col ? k_east : k_west;
        if (colour == 0)
            return on_row ? to_col : !on_col ? to_row : p.col + 1 < m.cols ? k_east : k_west;
        return on_col ? to_row : !on_row ? to_col : into_row;
    }
    const std::uint32_t x = rising(root.col, p.col, m.cols);
    if (colours == 3)
        switch (colour) {
        case 0: return on_row ? into_row : on_col ? to_row : k_west;
        case 1: return on_row ? k_west : x == 1 ? to_row : k_east;
        default: return on_row ? k_east : x == 0 ? k_west : x == 1 ? k_east : to_row;
        }
    if (kind == torus_trees::even)
        switch (colour) {
        case 0: return on_row || on_col ? k_west : k_north;
        case 1: return on_row || on_col ? k_east : k_south;
        case 2: return on_row || on_col ? k_north : k_east;
        default: return on_row || on_col ? k_south : k_west;
        }
    // Half of the chips is nearer to the chip over the tree's first link than to the one opposite. They hang on the
    // root's row (or column) by the shorter way, the others on them, a row long. In every quadrant the two trees that
    // are near come from inside, along the other dimension; the two that are far come from outside, along their own.
    const direction to_col = towards(p.col, root.col, m.cols, true, k_west, k_east);
    const bool near_east = to_col == k_west, near_south = to_row == k_north;
    switch (colour) {
    case 0: return on_col ? k_east : on_row || !near_east ? k_west : to_row;
    case 1: return on_col ? k_west : on_row || near_east ? k_east : to_row;
    case 2: return on_row ? k_south : on_col || !near_south ? k_north : to_col;
    default: return on_row ? k_north : on_col || near_south ? k_south : to_col;
    }
}

} // namespace

bool linked_chip(const mesh& m, place p, direction d, place& found)
{
    const bool across = d == k_north || d == k_south;
    const bool rises = d == k_east || d == k_south;
    const std::uint32_t n = across ? m.rows : m.cols;
    const std::uint32_t at = across ? p.row : p.col;
    if (at == (rises ? n - 1 : 0) && !(n > 2 && (across ? m.wrap_rows : m.wrap_cols)))
        return false;
    found = p;
    (across ? found.row : found.col) = rises ? (at + 1 == n ? 0 : at + 1) : (at == 0 ? n : at) - 1;
    return true;
}

std::uint32_t tree_colours(const mesh& m)
{
    const std::uint32_t rows = m.rows == 1 ? 0 : m.wrap_rows && m.rows > 2 ? 2 : 1;
    const std::uint32_t cols = m.cols == 1 ? 0 : m.wrap_cols && m.cols > 2 ? 2 : 1;
    return larger(1, rows + cols);
}

direction parent_direction(const mesh& m, place root, std::uint32_t colours, std::uint32_t colour, place p,
                           torus_trees kind)
{
    const grid g(m);
    const direction d = parent_of(g, g.seen(root), colours, colour, g.seen(p), kind);
    return g.turned ? static_cast<direction>(static_cast<std::uint32_t>(d) ^ 2u) : d;
}

std::uint32_t tree_depth(const mesh& m, place root, std::uint32_t colours, torus_trees kind)
{
    const grid g(m);
    const place from = g.seen(root);
    const std::uint32_t vertical = reach(from.row, g.rows, g.wrap_rows);
    const std::uint32_t horizontal = reach(from.col, g.cols, g.wrap_cols);
    switch (colours) {
    case 1: return vertical + horizontal;
    case 2: return g.rows == 1 ? g.cols - 1 : larger(vertical + horizontal, 2 + larger(vertical, horizontal));
    case 3: return g.cols + vertical;
    default:
        return kind == torus_trees::even ? g.rows + g.cols - 1
                                         : larger(g.cols - 1 + g.rows / 2, g.rows - 1 + g.cols / 2);
    }
}

} // namespace weft::firmware
