// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranks by device: which share one, where devices stand, and cycles that visit each of them once. Source: AWS Neuron
// documentation, "Intra-node Collective Communications with AWS Neuron".
#pragma once

#include "hw/abi/platform_table.h"

namespace weft::firmware {

/// Rank = device x per_device + index. Where ranks do not share devices every one is a device of its own.
struct device_map {
    explicit device_map(const abi::platform_table& table)
        : ranks(table.ranks), rank(table.rank), per_device(table.device_members > 1 ? table.device_members : 1), devices(ranks / per_device),
          device(rank / per_device), index(rank % per_device), dims(table.dim_count - (per_device > 1 || has_only_place(table) ? 1 : 0))
    {
        for (std::uint32_t d = 0; d < dims; ++d) {
            size[d] = table.dims[d];
            kind[d] = table.kind[d];
        }
    }
    /// Of ranks that are a chip each the dimension inside chips has one place.
    static bool has_only_place(const abi::platform_table& table) { return table.dim_count > 1 && table.dims[table.dim_count - 1] == 1; }
    std::uint32_t rank_of(std::uint32_t of_device, std::uint32_t of_index) const { return of_device * per_device + of_index; }

    std::uint32_t ranks, rank;
    std::uint32_t per_device, devices;
    std::uint32_t device, index; ///< of the own rank
    std::uint32_t dims;          ///< of the devices, outermost first
    std::uint32_t size[abi::k_max_dims] = {};
    abi::dimension_kind kind[abi::k_max_dims] = {};
};

/// Of a number that is not 0: the place of its highest bit.
inline std::uint32_t bits_of(std::uint32_t size)
{
    std::uint32_t bits = 0;
    while (size >> (bits + 1) != 0)
        ++bits;
    return bits;
}

/// The device on the other side of the axes that are set in `axes`, where every dimension has 2^m devices: m axes each,
/// from the innermost dimension on, by the Gray code of the coordinate. In a ring of four each of both is a link.
inline std::uint32_t across_hypercube(const device_map& map, std::uint32_t of_device, std::uint32_t axes)
{
    std::uint32_t device = 0, stride = 1;
    for (std::uint32_t d = map.dims; d-- > 0;) {
        const std::uint32_t bits = bits_of(map.size[d]), at = of_device % map.size[d];
        std::uint32_t gray = (at ^ (at >> 1)) ^ (axes & ((1u << bits) - 1));
        for (std::uint32_t shift = 1; shift < bits; shift *= 2)
            gray ^= gray >> shift;
        device += gray * stride;
        stride *= map.size[d];
        of_device /= map.size[d];
        axes >>= bits;
    }
    return device;
}

/// Cycles over all devices. A square torus has two that share no link; elsewhere there is one, whose hops are links
/// where rows or columns close it and are routed where none does.
class device_cycles {
public:
    explicit device_cycles(const device_map& map) : devices_(map.devices), cols_(map.dims == 0 ? 1 : map.size[map.dims - 1])
    {
        rows_ = devices_ / cols_;
        layer_rows_ = map.dims >= 2 ? map.size[map.dims - 2] : 1;
        square_ = map.dims == 2 && rows_ == cols_ && rows_ >= 3 && map.kind[0] == abi::dimension_kind::ring && map.kind[1] == abi::dimension_kind::ring;
        by_columns_ = rows_ % 2 != 0 && cols_ % 2 == 0 && map.dims == 2;
    }
    std::uint32_t count() const { return square_ ? 2 : 1; }
    std::uint32_t device_at(std::uint32_t cycle, std::uint32_t position) const
    {
        if (square_) { // along a line, then one on to the next: each line is begun one place before the last one
            const std::uint32_t line = position / rows_, along = (rows_ - line + position) % rows_;
            return cycle == 0 ? line * cols_ + along : along * cols_ + line;
        }
        if (by_columns_) {
            const std::uint32_t col = position / rows_, along = position % rows_;
            return (col % 2 == 0 ? along : rows_ - 1 - along) * cols_ + col;
        }
        const std::uint32_t row = position / cols_, along = position % cols_;
        return row_in_snake(row) * cols_ + (row % 2 == 0 ? along : cols_ - 1 - along);
    }
    std::uint32_t position_of(std::uint32_t cycle, std::uint32_t device) const
    {
        const std::uint32_t y = device / cols_, x = device % cols_;
        if (square_) {
            const std::uint32_t line = cycle == 0 ? y : x, along = cycle == 0 ? x : y;
            return line * rows_ + (along + line) % rows_;
        }
        if (by_columns_)
            return x * rows_ + (x % 2 == 0 ? y : rows_ - 1 - y);
        const std::uint32_t row = row_in_snake(y);
        return row * cols_ + (row % 2 == 0 ? x : cols_ - 1 - x);
    }

private:
    /// Rows of every second layer are taken from the last one: its own inverse.
    std::uint32_t row_in_snake(std::uint32_t row) const
    {
        const std::uint32_t layer = row / layer_rows_, in_layer = row % layer_rows_;
        return layer % 2 == 0 ? row : layer * layer_rows_ + layer_rows_ - 1 - in_layer;
    }
    std::uint32_t devices_, cols_, rows_, layer_rows_;
    bool square_, by_columns_;
};

} // namespace weft::firmware
