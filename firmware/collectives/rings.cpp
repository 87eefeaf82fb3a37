// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/rings.h"

namespace weft::firmware {

namespace {

struct place {
    std::uint32_t row;
    std::uint32_t col;
};

mesh oriented(const mesh& m, bool transposed)
{
    return transposed ? mesh{m.cols, m.rows, m.wrap_cols, m.wrap_rows} : m;
}

place place_of(const mesh& m, bool transposed, std::uint32_t rank)
{
    const place p{rank / m.cols, rank % m.cols};
    return transposed ? place{p.col, p.row} : p;
}

std::uint32_t rank_at(const mesh& m, bool transposed, place p)
{
    return transposed ? p.col * m.cols + p.row : p.row * m.cols + p.col;
}

// Ring over the points 0 .. n-1 of a line: natural order where the line closes, else out over the even points and back over
// the odd ones.
std::uint32_t line_position(std::uint32_t n, bool closed, std::uint32_t x)
{
    if (closed)
        return x;
    return x % 2 == 0 ? x / 2 : n - 1 - x / 2;
}

std::uint32_t line_point(std::uint32_t n, bool closed, std::uint32_t position)
{
    if (closed)
        return position;
    const std::uint32_t even_points = (n + 1) / 2;
    return position < even_points ? 2 * position : 2 * (n - 1 - position) + 1;
}

// Hamiltonian ring: from (0,0) snake through columns 1 .. C-1 down all rows, and come back up column 0. An even number of
// rows makes the snake end next to column 0.
std::uint32_t hamiltonian_position(const mesh& m, place p)
{
    const std::uint32_t width = m.cols - 1;
    if (p.col == 0)
        return p.row == 0 ? 0 : m.rows * width + (m.rows - p.row);
    return 1 + p.row * width + (p.row % 2 == 0 ? p.col - 1 : width - p.col);
}

place hamiltonian_place(const mesh& m, std::uint32_t position)
{
    const std::uint32_t width = m.cols - 1;
    if (position == 0)
        return {0, 0};
    const std::uint32_t i = position - 1;
    if (i >= m.rows * width)
        return {m.rows * m.cols - position, 0};
    const std::uint32_t row = i / width;
    const std::uint32_t along = i % width;
    return {row, row % 2 == 0 ? 1 + along : width - along};
}

std::uint32_t forward_position(const mesh& m, ring_kind kind, place p)
{
    switch (kind) {
    case ring_kind::hamiltonian: return hamiltonian_position(m, p);
    case ring_kind::line: return line_position(m.cols, m.wrap_cols, p.col);
    case ring_kind::pair: return p.row % 2 == 0 ? p.col : 2 * m.cols - 1 - p.col;
    case ring_kind::alternate: return line_position(m.rows / 2, m.wrap_rows, p.row / 2);
    }
    return 0;
}

place forward_place(const mesh& m, ring_kind kind, place p, std::uint32_t position)
{
    switch (kind) {
    case ring_kind::hamiltonian: return hamiltonian_place(m, position);
    case ring_kind::line: return {p.row, line_point(m.cols, m.wrap_cols, position)};
    case ring_kind::pair:
        return position < m.cols ? place{p.row & ~1u, position} : place{p.row | 1u, 2 * m.cols - 1 - position};
    case ring_kind::alternate: return {2 * line_point(m.rows / 2, m.wrap_rows, position) + p.row % 2, p.col};
    }
    return p;
}

} // namespace

mesh mesh_of(const abi::platform_table& table)
{
    if (table.dim_count < 2)
        return {1, table.dims[0], false, table.wrap[0] != 0};
    return {table.dims[0], table.dims[1], table.wrap[0] != 0, table.wrap[1] != 0};
}

std::uint32_t ring_size(const mesh& m, ring_id id)
{
    const mesh o = oriented(m, id.transposed);
    switch (id.kind) {
    case ring_kind::hamiltonian: return o.rows * o.cols;
    case ring_kind::line: return o.cols;
    case ring_kind::pair: return 2 * o.cols;
    case ring_kind::alternate: return o.rows / 2;
    }
    return 1;
}

std::uint32_t ring_position(const mesh& m, ring_id id, std::uint32_t rank)
{
    const std::uint32_t n = ring_size(m, id);
    const std::uint32_t p = forward_position(oriented(m, id.transposed), id.kind, place_of(m, id.transposed, rank));
    return id.reversed && p != 0 ? n - p : p;
}

std::uint32_t ring_member(const mesh& m, ring_id id, std::uint32_t rank, std::uint32_t position)
{
    const std::uint32_t n = ring_size(m, id);
    const std::uint32_t forward = id.reversed && position != 0 ? n - position : position;
    const place p = forward_place(oriented(m, id.transposed), id.kind, place_of(m, id.transposed, rank), forward);
    return rank_at(m, id.transposed, p);
}

ring_view view_ring(const mesh& m, ring_id id, std::uint32_t rank)
{
    ring_view v;
    v.size = ring_size(m, id);
    v.position = ring_position(m, id, rank);
    v.successor = ring_member(m, id, rank, v.position + 1 == v.size ? 0 : v.position + 1);
    v.predecessor = ring_member(m, id, rank, v.position == 0 ? v.size - 1 : v.position - 1);
    return v;
}

} // namespace weft::firmware
