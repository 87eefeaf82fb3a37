// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/full_mesh.h"

namespace weft::firmware {

namespace {

// Dimensions in the order in which the ring over all ranks goes through them, without those of one rank. Line i of the
// dimension added last is walked from one end to the other and back in line i + 1. A dimension of 2 behind an odd
// number of lines could not close, so it goes first.
struct walk {
    std::uint32_t count = 0;
    std::uint8_t dim[abi::k_max_dims] = {};

    explicit walk(const abi::platform_table& t)
    {
        std::uint32_t lines = 1;
        std::uint32_t two_first = abi::k_max_dims;
        for (std::uint32_t d = 0; d < t.dim_count; ++d) {
            if (two_first == abi::k_max_dims && t.dims[d] == 2 && lines % 2 != 0 && lines != 1)
                two_first = d;
            lines *= t.dims[d];
        }
        if (two_first != abi::k_max_dims)
            dim[count++] = static_cast<std::uint8_t>(two_first);
        for (std::uint32_t d = 0; d < t.dim_count; ++d)
            if (d != two_first && t.dims[d] > 1)
                dim[count++] = static_cast<std::uint8_t>(d);
    }
};

// Line `line` of `lines`, each of n ranks that are all joined: 0 .. n-1 and n-1 .. 0 in turn. An odd number of lines
// ends at the wrong end, so the last but one leaves at 1 (n-1, .., 2, 0, 1) and the last goes 1 .. n-1, 0. n is at
// least 3 there.
std::uint32_t point_at(std::uint32_t line, std::uint32_t lines, std::uint32_t n, std::uint32_t step)
{
    if (lines % 2 != 0 && line + 2 >= lines) {
        if (line + 1 == lines)
            return step + 1 == n ? 0 : step + 1;
        if (step + 2 >= n)
            return step + 2 - n;
    }
    return line % 2 == 0 ? step : n - 1 - step;
}

std::uint32_t step_of(std::uint32_t line, std::uint32_t lines, std::uint32_t n, std::uint32_t point)
{
    if (lines % 2 != 0 && line + 2 >= lines) {
        if (line + 1 == lines)
            return point == 0 ? n - 1 : point - 1;
        if (point < 2)
            return n - 2 + point;
    }
    return line % 2 == 0 ? point : n - 1 - point;
}

std::uint32_t rank_on(const abi::platform_table& t, const walk& w, std::uint32_t position)
{
    std::uint32_t coord[abi::k_max_dims] = {};
    std::uint32_t lines = t.ranks;
    for (std::uint32_t i = w.count; i-- > 1;) {
        const std::uint32_t n = t.dims[w.dim[i]];
        const std::uint32_t line = position / n;
        lines /= n;
        coord[w.dim[i]] = point_at(line, lines, n, position - line * n);
        position = line;
    }
    coord[w.dim[0]] = position;
    std::uint32_t rank = 0;
    for (std::uint32_t d = 0; d < t.dim_count; ++d)
        rank = rank * t.dims[d] + coord[d];
    return rank;
}

// A position of the ring over all ranks, digit by digit, and the search for the nearest one, in either direction, whose
// rank is below a limit. A rank is the sum of what its coordinates contribute, so a line holds such a rank if its
// coordinates do without those further in.
struct nearest_rank {
    nearest_rank(const abi::platform_table& t, std::uint32_t below, std::uint32_t position) : w(t), limit(below)
    {
        std::uint32_t of_dim[abi::k_max_dims] = {};
        std::uint32_t all = 1;
        for (std::uint32_t d = t.dim_count; d-- > 0;) {
            of_dim[d] = all;
            all *= t.dims[d];
        }
        std::uint32_t count = 1;
        for (std::uint32_t i = 0; i < w.count; ++i) {
            n[i] = t.dims[w.dim[i]];
            stride[i] = of_dim[w.dim[i]];
            lines[i] = count;
            count *= n[i];
        }
        for (std::uint32_t i = w.count; i-- > 0;) {
            line[i] = position / n[i];
            step[i] = position - line[i] * n[i];
            position = line[i];
        }
        for (std::uint32_t i = 0; i < w.count; ++i)
            base[i + 1] = base[i] + point(i, step[i]) * stride[i];
    }
    std::uint32_t point(std::uint32_t i, std::uint32_t s) const
    {
        return i == 0 ? s : point_at(line[i], lines[i], n[i], s);
    }
    bool fits(std::uint32_t i, std::uint32_t s) const { return base[i] + point(i, s) * stride[i] < limit; }
    /// Takes step `s` of digit `i`, and in the digits behind it the last or first steps that fit. Coordinate 0 always
    /// does.
    std::uint32_t take(std::uint32_t i, std::uint32_t s, bool downwards)
    {
        for (;; ++i, s = downwards ? n[i] - 1 : 0) {
            while (!fits(i, s))
                s = downwards ? s - 1 : s + 1;
            base[i + 1] = base[i] + point(i, s) * stride[i];
            const std::uint32_t position = line[i] * n[i] + s;
            if (i + 1 == w.count)
                return position;
            line[i + 1] = position;
        }
    }
    std::uint32_t find(bool downwards)
    {
        if (base[w.count] < limit)
            return line[w.count - 1] * n[w.count - 1] + step[w.count - 1];
        for (std::uint32_t i = w.count; i-- > 0;) {
            if (base[i] >= limit)
                continue;
            for (std::uint32_t s = step[i]; downwards ? s-- > 0 : ++s < n[i];)
                if (fits(i, s))
                    return take(i, s, downwards);
        }
        return 0; // around: rank 0
    }
    walk w;
    std::uint32_t limit;
    std::uint32_t n[abi::k_max_dims] = {};
    std::uint32_t stride[abi::k_max_dims] = {};
    std::uint32_t lines[abi::k_max_dims] = {};    ///< of digit i
    std::uint32_t line[abi::k_max_dims] = {};     ///< which of them
    std::uint32_t step[abi::k_max_dims] = {};     ///< where on it
    std::uint32_t base[abi::k_max_dims + 1] = {}; ///< what the coordinates before contribute
};

// Positions on a ring over a line without wrap: out over the even coordinates and back over the odd ones.
std::uint32_t fold(std::uint32_t size, std::uint32_t coordinate)
{
    return coordinate % 2 == 0 ? coordinate / 2 : size - 1 - coordinate / 2;
}
std::uint32_t unfold(std::uint32_t size, std::uint32_t position)
{
    return position < (size + 1) / 2 ? 2 * position : 2 * (size - 1 - position) + 1;
}

std::uint32_t turned(std::uint32_t position, std::uint32_t size, bool reversed)
{
    return reversed && position != 0 ? size - position : position;
}

} // namespace

bool closes(const abi::platform_table& table)
{
    if (table.failed_regions != 0 || table.dim_count == 0 || table.dim_count > abi::k_max_dims)
        return false;
    for (std::uint32_t d = 0; d < table.dim_count; ++d)
        if (table.kind[d] == abi::dimension_kind::line)
            return false;
    return true;
}

bool full_mesh(const abi::platform_table& table)
{
    if (!closes(table))
        return false;
    for (std::uint32_t d = 0; d < table.dim_count; ++d)
        if (table.kind[d] != abi::dimension_kind::full)
            return false;
    return true;
}

bool one_full_line(const abi::platform_table& table)
{
    if (table.members != 0 || !full_mesh(table))
        return false;
    for (std::uint32_t d = 0; d < table.dim_count; ++d)
        if (table.dims[d] == table.ranks)
            return true;
    return false;
}

std::uint32_t ring_member(const abi::platform_table& table, ring_id ring, std::uint32_t position)
{
    return rank_on(table, walk(table), turned(position, table.ranks, ring.reversed));
}

std::uint32_t ring_position_below(const abi::platform_table& table, ring_id ring, std::uint32_t position,
                                  std::uint32_t limit)
{
    nearest_rank search(table, limit, turned(position, table.ranks, ring.reversed));
    return turned(search.find(!ring.reversed), table.ranks, ring.reversed);
}

std::uint32_t ring_position(const abi::platform_table& table, ring_id ring)
{
    const walk w(table);
    std::uint32_t lines = table.dims[w.dim[0]];
    std::uint32_t position = table.coord[w.dim[0]];
    for (std::uint32_t i = 1; i < w.count; ++i) {
        const std::uint32_t n = table.dims[w.dim[i]];
        position = position * n + step_of(position, lines, n, table.coord[w.dim[i]]);
        lines *= n;
    }
    return turned(position, table.ranks, ring.reversed);
}

std::uint32_t axis_position(const abi::platform_table& table, ring_id ring, std::uint32_t coordinate)
{
    const std::uint32_t d = table.dim_count - 1 - ring.axis;
    return table.kind[d] == abi::dimension_kind::line ? fold(table.dims[d], coordinate) : coordinate;
}

std::uint32_t rank_stride(const abi::platform_table& table, std::uint32_t d)
{
    std::uint32_t stride = 1;
    for (std::uint32_t inner = d + 1; inner < table.dim_count; ++inner)
        stride *= table.dims[inner];
    return stride;
}

ring_view view_ring(const abi::platform_table& table, ring_id ring)
{
    ring_view v;
    if (ring.kind == ring_kind::whole) {
        v.size = table.ranks;
        v.position = ring_position(table, ring);
        v.successor = ring_member(table, ring, v.position + 1 == v.size ? 0 : v.position + 1);
        v.predecessor = ring_member(table, ring, v.position == 0 ? v.size - 1 : v.position - 1);
        return v;
    }
    const std::uint32_t d = table.dim_count - 1 - ring.axis;
    const std::uint32_t stride = rank_stride(table, d);
    const bool folded = table.kind[d] == abi::dimension_kind::line;
    v.size = table.dims[d];
    const std::uint32_t line = table.rank - table.coord[d] * stride;
    const std::uint32_t at = folded ? fold(v.size, table.coord[d]) : table.coord[d];
    const auto rank_at = [&](std::uint32_t p) { return line + (folded ? unfold(v.size, p) : p) * stride; };
    const std::uint32_t above = rank_at(at + 1 == v.size ? 0 : at + 1);
    const std::uint32_t below = rank_at(at == 0 ? v.size - 1 : at - 1);
    v.position = turned(at, v.size, ring.reversed);
    v.successor = ring.reversed ? below : above;
    v.predecessor = ring.reversed ? above : below;
    return v;
}

} // namespace weft::firmware
