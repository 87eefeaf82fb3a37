// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/mesh.h"

namespace weft::firmware {

namespace {

/// How many of the `count` numbers from `first` on lie below `limit`.
std::uint32_t below(std::uint32_t first, std::uint32_t count, std::uint32_t limit)
{
    if (limit <= first)
        return 0;
    return limit - first < count ? limit - first : count;
}

bool meets(std::uint32_t first, std::uint32_t count, std::uint32_t low, std::uint32_t high)
{
    return first <= high && first + count > low;
}

} // namespace

mesh mesh_of(const abi::platform_table& table)
{
    mesh m;
    if (table.dim_count < 2) {
        m.cols = table.dims[0];
        m.wrap_cols = table.kind[0] != abi::dimension_kind::line;
        return m;
    }
    m.rows = table.dims[0];
    m.cols = table.dims[1];
    m.wrap_rows = table.kind[0] != abi::dimension_kind::line;
    m.wrap_cols = table.kind[1] != abi::dimension_kind::line;
    m.regions = table.failed_regions < abi::k_max_failed_regions ? table.failed_regions : abi::k_max_failed_regions;
    for (std::uint32_t i = 0; i < m.regions; ++i)
        m.failed[i] = table.failed[i];
    return m;
}

mesh oriented(const mesh& m, bool transposed)
{
    mesh o = m;
    if (!transposed)
        return o;
    o.rows = m.cols;
    o.cols = m.rows;
    o.wrap_rows = m.wrap_cols;
    o.wrap_cols = m.wrap_rows;
    for (std::uint32_t i = 0; i < m.regions; ++i) {
        const abi::failed_region& f = m.failed[i];
        o.failed[i] = {f.col, f.row, f.cols, f.rows};
    }
    return o;
}

bool works(const mesh& m, place p)
{
    if (p.row >= m.rows || p.col >= m.cols)
        return false;
    for (std::uint32_t i = 0; i < m.regions; ++i) {
        const abi::failed_region& f = m.failed[i];
        if (p.row - f.row < f.rows && p.row >= f.row && p.col >= f.col && p.col - f.col < f.cols)
            return false;
    }
    return true;
}

std::uint32_t chips(const mesh& m)
{
    std::uint32_t n = m.rows * m.cols;
    for (std::uint32_t i = 0; i < m.regions; ++i)
        n -= std::uint32_t{m.failed[i].rows} * m.failed[i].cols;
    return n;
}

std::uint32_t rank_of(const mesh& m, place p)
{
    std::uint32_t rank = p.row * m.cols + p.col;
    for (std::uint32_t i = 0; i < m.regions; ++i) {
        const abi::failed_region& f = m.failed[i];
        rank -= below(f.row, f.rows, p.row) * f.cols;
        if (p.row >= f.row && p.row - f.row < f.rows)
            rank -= below(f.col, f.cols, p.col);
    }
    return rank;
}

place place_of(const mesh& m, std::uint32_t rank)
{
    if (!m.broken())
        return {rank / m.cols, rank % m.cols};
    place p;
    while (p.row + 1 < m.rows && rank_of(m, {p.row + 1, 0}) <= rank)
        ++p.row;
    // Failed chips before a column do not count, so skip them until the rank fits.
    p.col = rank - rank_of(m, {p.row, 0});
    while (p.col + 1 < m.cols && (!works(m, p) || rank_of(m, p) != rank))
        ++p.col;
    return p;
}

bool next_chip(const mesh& m, place p, direction d, place& found)
{
    const bool across = d == direction::north || d == direction::south;
    const bool rising = d == direction::east || d == direction::south;
    std::uint32_t& at = across ? p.row : p.col;
    const std::uint32_t side = across ? m.rows : m.cols;
    for (;;) {
        if (rising ? at + 1 >= side : at == 0)
            return false;
        at = rising ? at + 1 : at - 1;
        if (works(m, p)) {
            found = p;
            return true;
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- pairs of
// rows

bool pair_is_whole(const mesh& m, std::uint32_t pair)
{
    for (std::uint32_t i = 0; i < m.regions; ++i)
        if (meets(m.failed[i].row, m.failed[i].rows, 2 * pair, 2 * pair + 1))
            return false;
    return true;
}

std::uint32_t whole_pairs_before(const mesh& m, std::uint32_t pair)
{
    if (!m.broken())
        return pair;
    std::uint32_t n = 0;
    for (std::uint32_t k = 0; k < pair; ++k)
        n += pair_is_whole(m, k) ? 1 : 0;
    return n;
}

std::uint32_t whole_pairs(const mesh& m) { return whole_pairs_before(m, m.rows / 2); }

std::uint32_t nth_whole_pair(const mesh& m, std::uint32_t n)
{
    if (!m.broken())
        return n;
    std::uint32_t pair = 0;
    for (; pair + 1 < m.rows / 2; ++pair)
        if (pair_is_whole(m, pair) && n-- == 0)
            break;
    return pair;
}

bool column_is_whole(const mesh& m, std::uint32_t col)
{
    for (std::uint32_t i = 0; i < m.regions; ++i)
        if (meets(m.failed[i].col, m.failed[i].cols, col, col))
            return false;
    return true;
}

bool nearest_whole_column(const mesh& m, std::uint32_t col, std::uint32_t& found)
{
    for (std::uint32_t away = 0; away < m.cols; ++away) {
        if (away <= col && column_is_whole(m, col - away)) {
            found = col - away;
            return true;
        }
        if (col + away < m.cols && column_is_whole(m, col + away)) {
            found = col + away;
            return true;
        }
    }
    return false;
}

bool forward_target(const mesh& m, place p, place& target, std::uint32_t& distance)
{
    // The rows between two whole pairs are even in number, so no row is as near to one as to the other.
    for (distance = 1; distance < m.rows; ++distance) {
        if (distance <= p.row && pair_is_whole(m, (p.row - distance) / 2)) {
            target = {p.row - distance, p.col};
            return true;
        }
        if (p.row + distance < m.rows && pair_is_whole(m, (p.row + distance) / 2)) {
            target = {p.row + distance, p.col};
            return true;
        }
    }
    return false;
}

// --------------------------------------------------------------------------------------------------------- broadcast
// tree

bool tree_parent(const mesh& m, place root, place p, place& parent)
{
    if (p == root)
        return false;
    const bool to_east = p.col < root.col;
    const bool sideways = p.col != root.col && next_chip(m, p, to_east ? direction::east : direction::west, parent) &&
                          (to_east ? parent.col <= root.col : parent.col >= root.col);
    if (p.row == root.row)
        return sideways;
    place above;
    const bool to_south = p.row < root.row;
    if (next_chip(m, p, to_south ? direction::south : direction::north, above) &&
        (to_south ? above.row <= root.row : above.row >= root.row)) {
        parent = above;
        return true;
    }
    return sideways;
}

} // namespace weft::firmware
