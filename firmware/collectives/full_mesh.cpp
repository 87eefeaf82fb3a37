// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/full_mesh.h"

namespace weft::firmware {

namespace {

// Dimensions in the order in which the ring over all ranks goes through them, without those of one rank. Line i of the dimension
// added last is walked from one end to the other and back in line i + 1. A dimension of 2 behind an odd number of lines could not
// close, so it goes first.
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

// Line `line` of `lines`, each of n ranks that are all joined: 0 .. n-1 and n-1 .. 0 in turn. An odd number of lines ends at the
// wrong end, so the last but one leaves at 1 (n-1, .., 2, 0, 1) and the last goes 1 .. n-1, 0. n is at least 3 there.
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
        if (table.wrap[d] == abi::k_wrap_open)
            return false;
    return true;
}

bool full_mesh(const abi::platform_table& table)
{
    if (!closes(table))
        return false;
    for (std::uint32_t d = 0; d < table.dim_count && table.dim_count < 3; ++d)
        if (table.wrap[d] != abi::k_wrap_full)
            return false;
    return true;
}

std::uint32_t ring_member(const abi::platform_table& table, ring_id ring, std::uint32_t position)
{
    return rank_on(table, walk(table), turned(position, table.ranks, ring.reversed));
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
    std::uint32_t stride = 1;
    for (std::uint32_t inner = d + 1; inner < table.dim_count; ++inner)
        stride *= table.dims[inner];
    const std::uint32_t at = table.coord[d];
    v.size = table.dims[d];
    const std::uint32_t line = table.rank - at * stride;
    const std::uint32_t above = line + (at + 1 == v.size ? 0 : at + 1) * stride;
    const std::uint32_t below = line + (at == 0 ? v.size - 1 : at - 1) * stride;
    v.position = turned(at, v.size, ring.reversed);
    v.successor = ring.reversed ? below : above;
    v.predecessor = ring.reversed ? above : below;
    return v;
}

} // namespace weft::firmware
