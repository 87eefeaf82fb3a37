// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The TPU inter-chip interconnect: a mesh of ICI routers. ici_fabric owns the switching engine and the routing; an
// ici_router is the sc_module that a chip sees: its local ports with sockets, its share of the statistics.
//
// Models: dimension-order routing, or by tables where chips or links have failed; optional wrap links, board and cable wires,
// two local ports. Routers and ranks count the chips that work, row by row. Does not model: link-level retry, bandwidth of the router's crossbar beyond its ports. Timing: hw/fabric/fabric_engine.h.
#pragma once

#include "hw/fabric/fabric_socket.h"
#include "hw/ici/dimension_order.h"
#include "hw/ici/ici_config.h"
#include "hw/ici/table_routing.h"

#include <memory>

namespace weft {

/// One local port of a router: two sockets, and the joint to the engine.
using ici_local_port = fabric_socket;

class ici_router final : public sc_core::sc_module {
public:
    ici_router(const sc_core::sc_module_name& name, fabric_engine& engine, std::uint32_t router,
               const ici_config& config);

    ici_local_port& local_port(std::uint32_t i) { return *ports_.at(i); }

private:
    void start_of_simulation() override;
    std::vector<std::unique_ptr<ici_local_port>> ports_;
};

/// Shape of the mesh.
struct mesh_shape {
    std::uint32_t rows = 0;
    std::uint32_t cols = 0;
    bool wrap_rows = false;        ///< links (rows-1, c) <-> (0, c)
    bool wrap_cols = false;        ///< links (r, cols-1) <-> (r, 0)
    std::vector<bool> failed = {}; ///< row * cols + col: no router, no links. Empty: all chips work
};

class ici_fabric final : public sc_core::sc_module {
public:
    /// Without `table` the routing is dimension order, which knows no failed chips.
    ici_fabric(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const mesh_shape& shape,
               const ici_config& config, const ici_route_table* table = nullptr);

    ici_router& router(std::uint32_t rank) { return *routers_.at(rank); }
    fabric_engine& engine() { return *engine_; }
    const fabric_engine& engine() const { return *engine_; }
    const dimension_order& routing() const { return routing_; } ///< of the healthy mesh

    /// Directed link from (row, col) through `port`, or fabric_engine::k_none where there is none.
    std::uint32_t link_at(std::uint32_t row, std::uint32_t col, ici_port port) const;

private:
    void wire(const ici_config& config, std::uint32_t depth_cells);
    std::uint32_t rank(std::uint32_t row, std::uint32_t col) const { return rank_at_[row * shape_.cols + col]; }

    mesh_shape shape_;
    std::vector<std::uint32_t> rank_at_; ///< fabric_engine::k_none for a failed chip
    dimension_order routing_;
    std::unique_ptr<table_routing> detours_;
    std::unique_ptr<fabric_engine> engine_;
    std::vector<std::unique_ptr<ici_router>> routers_;
};

} // namespace weft
