// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/rings.h"

#include "firmware/collectives/block_tree.h"

namespace weft::firmware {

namespace {

// Ring over the points 0 .. n-1 of a line: natural order where the line closes, else out over the even points and back
// over the odd ones.
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

// Hamiltonian ring: from (0,0) snake through columns 1 .. C-1 down all rows, and come back up column 0. An even number
// of rows makes the snake end next to column 0.
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

constexpr std::uint32_t k_tile_side = 2;

mesh tile_mesh()
{
    mesh m;
    m.rows = m.cols = k_tile_side;
    return m;
}

std::uint32_t forward_position(const mesh& m, ring_id id, place p)
{
    switch (id.kind) {
    case ring_kind::hamiltonian: return hamiltonian_position(m, p);
    case ring_kind::line: return line_position(m.cols, m.wrap_cols, p.col);
    case ring_kind::pair: return p.row % 2 == 0 ? p.col : 2 * m.cols - 1 - p.col;
    case ring_kind::alternate: return line_position(whole_pairs(m), m.wrap_rows, whole_pairs_before(m, p.row / 2));
    case ring_kind::tile: return hamiltonian_position(tile_mesh(), {p.row % k_tile_side, p.col % k_tile_side});
    default: return 0; // of full_mesh.h
    }
}

place forward_place(const mesh& m, ring_id id, place p, std::uint32_t position)
{
    switch (id.kind) {
    case ring_kind::hamiltonian: return hamiltonian_place(m, position);
    case ring_kind::line: return {p.row, line_point(m.cols, m.wrap_cols, position)};
    case ring_kind::pair:
        return position < m.cols ? place{p.row & ~1u, position} : place{p.row | 1u, 2 * m.cols - 1 - position};
    case ring_kind::alternate:
        return {2 * nth_whole_pair(m, line_point(whole_pairs(m), m.wrap_rows, position)) + p.row % 2, p.col};
    case ring_kind::tile: {
        const place in = hamiltonian_place(tile_mesh(), position);
        return {p.row - p.row % k_tile_side + in.row, p.col - p.col % k_tile_side + in.col};
    }
    default: return p;
    }
}

// Which chips of an oriented mesh have ranks below a limit: in every row a number of the first ones, which nowhere
// grows from row to row. Ranks go along its rows, or down its columns where the ring is transposed.
struct first_ranks {
    first_ranks(const mesh& m, bool transposed, std::uint32_t limit)
        : rows(transposed ? m.cols : m.rows), cols(transposed ? m.rows : m.cols), down_columns(transposed)
    {
        const std::uint32_t line = down_columns ? rows : cols;
        full = limit / line;
        part = limit - full * line;
    }
    /// Of `row`, besides that in column 0.
    std::uint32_t in_snake(std::uint32_t row) const
    {
        const std::uint32_t all = down_columns  ? full + (row < part ? 1 : 0)
                                  : row < full  ? cols
                                  : row == full ? part
                                                : 0;
        return all == 0 ? 0 : all - 1;
    }
    /// How many rows, from the first on, have such chips in their first `columns` columns.
    std::uint32_t rows_with(std::uint32_t columns) const
    {
        if (!down_columns)
            return full + (part >= columns ? 1 : 0);
        return full >= columns ? rows : full + 1 == columns ? part : 0;
    }
    std::uint32_t rows;
    std::uint32_t cols;
    bool down_columns;
    std::uint32_t full; ///< lines of ranks
    std::uint32_t part; ///< ranks of the next line
};

// On the Hamiltonian ring: the nearest position at or below `position` with a chip of `first`. In a row of the snake
// they are `k` neighbours from `begin` on.
std::uint32_t hamiltonian_below(const first_ranks& first, std::uint32_t position)
{
    const std::uint32_t width = first.cols - 1;
    const std::uint32_t snake = first.rows * width;
    if (position > snake) { // column 0, upwards: a falling position goes down
        if (first.rows + snake - position < first.rows_with(1))
            return position;
        position = snake;
    }
    if (position == 0)
        return 0;
    std::uint32_t row = (position - 1) / width;
    const std::uint32_t along = position - 1 - row * width;
    const std::uint32_t k = first.in_snake(row);
    const std::uint32_t begin = row % 2 == 0 ? 0 : width - k;
    if (k != 0 && along >= begin)
        return 1 + row * width + (along < begin + k ? along : begin + k - 1);
    const std::uint32_t rows = first.rows_with(2);
    if (row == 0 || rows == 0)
        return 0; // the chip of rank 0
    row = row - 1 < rows - 1 ? row - 1 : rows - 1;
    return 1 + row * width + (row % 2 == 0 ? first.in_snake(row) - 1 : width - 1);
}

// The same at or above `position`.
std::uint32_t hamiltonian_above(const first_ranks& first, std::uint32_t position)
{
    const std::uint32_t width = first.cols - 1;
    const std::uint32_t snake = first.rows * width;
    if (position == 0)
        return 0;
    if (position <= snake) {
        const std::uint32_t row = (position - 1) / width;
        const std::uint32_t along = position - 1 - row * width;
        const std::uint32_t k = first.in_snake(row);
        const std::uint32_t begin = row % 2 == 0 ? 0 : width - k;
        if (k != 0 && along < begin + k)
            return 1 + row * width + (along < begin ? begin : along);
        if (row + 1 < first.rows_with(2))
            return 1 + (row + 1) * width + (row % 2 != 0 ? 0 : width - first.in_snake(row + 1));
        position = snake + 1;
    }
    const std::uint32_t row = first.rows + snake - position; // column 0, upwards
    const std::uint32_t last = first.rows_with(1) - 1;
    const std::uint32_t nearest = row < last ? row : last;
    return nearest == 0 ? 0 : snake + first.rows - nearest;
}

bool is_walk(const mesh& m, ring_id id) { return id.kind == ring_kind::hamiltonian && m.broken(); }

} // namespace

std::uint32_t ring_number(ring_id id)
{
    const std::uint32_t reversed = id.reversed ? 1 : 0;
    if (id.kind >= ring_kind::whole)
        return id.kind == ring_kind::whole ? reversed : 4 + 2u * id.axis + reversed;
    return static_cast<std::uint32_t>(id.kind) * 4 + (id.transposed ? 2u : 0u) + reversed;
}

namespace {

std::uint32_t size_of(const mesh& o, ring_id id)
{
    switch (id.kind) {
    case ring_kind::hamiltonian: return chips(o);
    case ring_kind::line: return o.cols;
    case ring_kind::pair: return 2 * o.cols;
    case ring_kind::alternate: return whole_pairs(o);
    case ring_kind::tile: return k_tile_side * k_tile_side;
    default: return 1;
    }
}

// A ring seen along its rows: `o` is the mesh, or `turned` where the ring is transposed.
struct facing {
    facing(const mesh& m, ring_id ring) : whole(m), id(ring)
    {
        if (ring.transposed)
            turned = oriented(m, true);
    }
    const mesh& o() const { return id.transposed ? turned : whole; }
    std::uint32_t position(place at) const
    {
        const std::uint32_t p = forward_position(o(), id, at);
        return id.reversed && p != 0 ? size_of(o(), id) - p : p;
    }
    std::uint32_t member(place at, std::uint32_t size, std::uint32_t position) const
    {
        const std::uint32_t forward = id.reversed && position != 0 ? size - position : position;
        return rank_of(whole, oriented(forward_place(o(), id, at, forward), id.transposed));
    }
    const mesh& whole;
    mesh turned;
    ring_id id;
};

} // namespace

std::uint32_t ring_size(const mesh& m, ring_id id) { return size_of(facing(m, id).o(), id); }

std::uint32_t ring_position(const mesh& m, ring_id id, std::uint32_t rank)
{
    if (is_walk(m, id))
        return 0;
    return facing(m, id).position(oriented(place_of(m, rank), id.transposed));
}

std::uint32_t ring_member(const mesh& m, ring_id id, std::uint32_t rank, std::uint32_t position)
{
    const facing f(m, id);
    return f.member(oriented(place_of(m, rank), id.transposed), size_of(f.o(), id), position);
}

std::uint32_t ring_position_below(const mesh& m, ring_id id, std::uint32_t position, std::uint32_t limit)
{
    const std::uint32_t size = m.rows * m.cols;
    const std::uint32_t at = id.reversed && position != 0 ? size - position : position;
    std::uint32_t found = 0;
    if (id.kind == ring_kind::hamiltonian) {
        const first_ranks first(m, id.transposed, limit);
        found = id.reversed ? hamiltonian_above(first, at) : hamiltonian_below(first, at);
    } else { // 0, 1, .., n-1
        found = at < limit ? at : id.reversed ? 0 : limit - 1;
    }
    return id.reversed && found != 0 ? size - found : found;
}

ring_view view_ring(const mesh& m, ring_id id, std::uint32_t rank)
{
    ring_view v;
    const place p = place_of(m, rank);
    if (is_walk(m, id)) {
        v.size = chips(m);
        v.successor = rank_of(m, id.reversed ? tree_predecessor(m, p) : tree_successor(m, p));
        v.predecessor = rank_of(m, id.reversed ? tree_successor(m, p) : tree_predecessor(m, p));
        return v;
    }
    const facing f(m, id);
    const place at = oriented(p, id.transposed);
    v.size = size_of(f.o(), id);
    v.position = f.position(at);
    v.successor = f.member(at, v.size, v.position + 1 == v.size ? 0 : v.position + 1);
    v.predecessor = f.member(at, v.size, v.position == 0 ? v.size - 1 : v.position - 1);
    return v;
}

} // namespace weft::firmware
