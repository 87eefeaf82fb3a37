// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ici/dimension_order.h"

#include <algorithm>

namespace weft {

dimension_order::dimension_order(std::uint32_t rows, std::uint32_t cols, bool wrap_rows, bool wrap_cols)
    : rows_(rows), cols_(cols), wrap_rows_(wrap_rows), wrap_cols_(wrap_cols)
{
    at_.reserve(std::size_t{rows} * cols);
    for (std::uint32_t r = 0; r < rows; ++r)
        for (std::uint32_t c = 0; c < cols; ++c)
            at_.push_back({r, c});
}

std::uint32_t dimension_order::hops(std::uint32_t from, std::uint32_t to) const
{
    const auto distance = [](std::uint32_t a, std::uint32_t b, std::uint32_t n, bool wrap) {
        const std::uint32_t d = a > b ? a - b : b - a;
        return wrap ? std::min(d, n - d) : d;
    };
    return distance(at_[from].col, at_[to].col, cols_, wrap_cols_) +
           distance(at_[from].row, at_[to].row, rows_, wrap_rows_);
}

} // namespace weft
