// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Meshes with failed chips for tests: shapes, positions, random pairs, and what can be known of them
// without the firmware.
#pragma once

#include <random>
#include <vector>

#include "hw/abi/platform_table.h"

namespace weft::testing {

using regions = std::vector<abi::failed_region>;

inline abi::failed_region region(std::uint32_t row, std::uint32_t col, std::uint32_t rows, std::uint32_t cols)
{
    return {static_cast<std::uint16_t>(row), static_cast<std::uint16_t>(col), static_cast<std::uint16_t>(rows),
            static_cast<std::uint16_t>(cols)};
}

inline bool holds(const abi::failed_region& f, std::uint32_t row, std::uint32_t col)
{
    return row >= f.row && row < f.row + f.rows && col >= f.col && col < f.col + f.cols;
}

inline bool is_failed(const regions& failed, std::uint32_t row, std::uint32_t col)
{
    for (const abi::failed_region& f : failed)
        if (holds(f, row, col))
            return true;
    return false;
}

inline bool overlap(const abi::failed_region& a, const abi::failed_region& b)
{
    return a.row < b.row + b.rows && b.row < a.row + a.rows && a.col < b.col + b.cols && b.col < a.col + a.cols;
}

inline std::uint32_t working_chips(const regions& failed, std::uint32_t rows, std::uint32_t cols)
{
    std::uint32_t n = 0;
    for (std::uint32_t at = 0; at < rows * cols; ++at)
        n += is_failed(failed, at / cols, at % cols) ? 0 : 1;
    return n;
}

/// Whether the chips that work are one piece, and there are any.
inline bool in_one_piece(const regions& failed, std::uint32_t rows, std::uint32_t cols)
{
    std::vector<bool> seen(rows * cols, false);
    std::vector<std::uint32_t> found;
    const auto visit = [&](std::uint32_t row, std::uint32_t col) {
        if (row < rows && col < cols && !seen[row * cols + col] && !is_failed(failed, row, col)) {
            seen[row * cols + col] = true;
            found.push_back(row * cols + col);
        }
    };
    for (std::uint32_t at = 0; at < rows * cols && found.empty(); ++at)
        visit(at / cols, at % cols);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::uint32_t row = found[i] / cols, col = found[i] % cols;
        visit(row + 1, col);
        visit(row - 1, col);
        visit(row, col + 1);
        visit(row, col - 1);
    }
    return !found.empty() && found.size() == working_chips(failed, rows, cols);
}

/// Every rectangle with sides and corner in multiples of `grain` that leaves at least one chip.
inline regions all_regions(std::uint32_t rows, std::uint32_t cols, std::uint32_t grain)
{
    regions found;
    for (std::uint32_t h = grain; h <= rows; h += grain)
        for (std::uint32_t w = grain; w <= cols; w += grain)
            for (std::uint32_t r = 0; r + h <= rows; r += grain)
                for (std::uint32_t c = 0; c + w <= cols; c += grain)
                    if (h != rows || w != cols)
                        found.push_back(region(r, c, h, w));
    return found;
}

/// Up to `most` disjoint rectangles of multiples of `grain`, sides up to `longest`, that leave one piece.
inline regions random_regions(std::mt19937& engine, std::uint32_t rows, std::uint32_t cols, std::uint32_t most,
                              std::uint32_t grain, std::uint32_t longest)
{
    const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
    for (;;) {
        regions found;
        const std::uint32_t wanted = 1 + random() % most;
        for (std::uint32_t i = 0; i < wanted; ++i) {
            const std::uint32_t h = grain * (1 + random() % (longest / grain));
            const std::uint32_t w = grain * (1 + random() % (longest / grain));
            if (h > rows || w > cols)
                continue;
            const abi::failed_region f = region(grain * (random() % ((rows - h) / grain + 1)),
                                                grain * (random() % ((cols - w) / grain + 1)), h, w);
            bool free = true;
            for (const abi::failed_region& other : found)
                free = free && !overlap(f, other);
            if (free)
                found.push_back(f);
        }
        if (!found.empty() && in_one_piece(found, rows, cols) && working_chips(found, rows, cols) >= 2)
            return found;
    }
}

inline abi::platform_table table_of(std::uint32_t rows, std::uint32_t cols, const regions& failed)
{
    abi::platform_table t;
    t.ranks = working_chips(failed, rows, cols);
    t.dim_count = 2;
    t.dims[0] = rows;
    t.dims[1] = cols;
    for (const abi::failed_region& f : failed)
        t.failed[t.failed_regions++] = f;
    return t;
}

} // namespace weft::testing
