// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A 2-D mesh of routers with optional wrap links, failed rectangles of routers and failed directed links. Router r, column c
// has ports +X (to c + 1), -X, +Y (to r + 1), -Y, then its local ports. Routers that failed do not exist: ranks, which are
// also router numbers and endpoints, count the remaining ones row by row.
#pragma once

#include "platforms/topology/fabric_graph.h"

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

struct mesh_description {
    std::uint32_t rows = 0, cols = 0;
    bool wrap_rows = false, wrap_cols = false;
    std::vector<mesh_region> failed;
    std::vector<mesh_link> links_down;
    std::uint32_t local_ports = 1;
    std::uint32_t vls = 1;
};

class mesh {
public:
    static constexpr std::uint32_t k_none = fabric_graph::k_none;
    struct place {
        std::uint32_t row, col;
    };

    explicit mesh(const mesh_description& description);

    const mesh_description& description() const { return description_; }
    const fabric_graph& graph() const { return graph_; } ///< of what works
    std::uint32_t ranks() const { return static_cast<std::uint32_t>(places_.size()); }
    std::uint32_t rank_at(std::uint32_t row, std::uint32_t col) const
    {
        return rank_at_[row * description_.cols + col];
    }
    place place_of(std::uint32_t rank) const { return places_[rank]; }
    bool broken() const { return !description_.failed.empty() || !description_.links_down.empty(); }
    bool is_wrap_link(const graph_link& l) const;

private:
    mesh_description description_;
    std::vector<std::uint32_t> rank_at_;
    std::vector<place> places_;
    fabric_graph graph_;
};

} // namespace weft
