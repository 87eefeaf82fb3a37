// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A 2-D mesh of routers with optional wrap links, failed rectangles of routers and failed directed links: a grid of
// rows and columns. Router r, column c has ports +X (to c + 1), -X, +Y (to r + 1), -Y, then its local ports. Ranks
// count the chips that work row by row.
#pragma once

#include "hw/routing/grid.h"

namespace weft {

/// A rectangle of the mesh; its upper left corner is (row, col).
struct mesh_region {
    std::uint32_t row = 0, col = 0;
    std::uint32_t rows = 0, cols = 0;
    bool holds(std::uint32_t r, std::uint32_t c) const
    {
        return r >= row && r - row < rows && c >= col && c - col < cols;
    }
};

/// The directed link that leaves (row, col) through `port`, 0..3: +X, -X, +Y, -Y.
struct mesh_link {
    std::uint32_t row = 0, col = 0;
    std::uint32_t port = 0;
};

/// Axis 0 of the wiring is X, axis 1 Y.
struct mesh_description : grid_wiring {
    std::uint32_t rows = 0, cols = 0;
    bool wrap_rows = false; ///< links (rows-1, c) <-> (0, c)
    bool wrap_cols = false; ///< links (r, cols-1) <-> (r, 0)
    std::vector<mesh_region> failed{};
    std::vector<mesh_link> links_down{}; ///< that routing knows of
};

class mesh {
public:
    static constexpr std::uint32_t k_none = fabric_plan::k_none;
    struct place {
        std::uint32_t row, col;
    };

    explicit mesh(const mesh_description& description);

    const mesh_description& description() const { return description_; }
    const weft::grid& grid() const { return grid_; }
    const fabric_plan& plan() const { return grid_.plan(); }
    std::uint32_t ranks() const { return grid_.ranks(); }
    std::uint32_t rank_at(std::uint32_t row, std::uint32_t col) const
    {
        return grid_.rank_at(row * description_.cols + col);
    }
    place place_of(std::uint32_t rank) const
    {
        const std::uint32_t at = grid_.position_of(rank);
        return {at / description_.cols, at % description_.cols};
    }
    bool broken() const { return !description_.failed.empty() || !description_.links_down.empty(); }
    bool is_wrap_link(const plan_link& l) const;

private:
    mesh_description description_;
    weft::grid grid_;
};

} // namespace weft
