// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ici/ici_fabric.h"

#include <algorithm>

namespace weft {

namespace {
std::uint32_t depth_cells_of(const ici_config& config)
{
    return static_cast<std::uint32_t>(config.buffer_per_vl.value() / config.flit.value());
}
/// The wire between router and chip on one die is part of the router pipeline.
constexpr duration k_on_die{0};
} // namespace

ici_router::ici_router(const sc_core::sc_module_name& name, fabric_engine& engine, std::uint32_t router,
                       const ici_config& config)
    : sc_core::sc_module(name)
{
    const fabric_link_params params{config.local_port_rate, k_on_die, depth_cells_of(config)};
    for (std::uint32_t i = 0; i < config.local_ports; ++i)
        ports_.push_back(std::make_unique<ici_local_port>("local" + std::to_string(i), engine, router,
                                                          k_first_local + i, params, params));
}

void ici_router::start_of_simulation()
{
    for (auto& port : ports_)
        port->advertise();
}

ici_fabric::ici_fabric(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const mesh_shape& shape,
                       const ici_config& config, const ici_route_table* table)
    : sc_core::sc_module(name), shape_(shape), routing_(shape.rows, shape.cols, shape.wrap_rows, shape.wrap_cols)
{
    fabric_config fabric;
    fabric.vl_count = config.virtual_lanes;
    fabric.pipeline = duration(config.pipeline_ps());
    fabric.cut_through = config.switching == switching_mode::cut_through;
    if (table != nullptr)
        detours_ = std::make_unique<table_routing>(*table);
    const routing_policy& policy = detours_ ? static_cast<const routing_policy&>(*detours_) : routing_;
    engine_ = std::make_unique<fabric_engine>(time, pool, policy, fabric);
    rank_at_.assign(std::size_t{shape.rows} * shape.cols, fabric_engine::k_none);
    std::vector<std::string> ports{"+X", "-X", "+Y", "-Y"};
    for (std::uint32_t i = 0; i < config.local_ports; ++i)
        ports.push_back("local" + std::to_string(i));
    engine_->set_port_names(ports);
    for (std::uint32_t r = 0; r < shape.rows; ++r)
        for (std::uint32_t c = 0; c < shape.cols; ++c) {
            const std::size_t at = std::size_t{r} * shape.cols + c;
            if (!shape.failed.empty() && shape.failed[at])
                continue;
            const std::uint32_t router = engine_->add_router(
                k_first_local + config.local_ports, "chip(" + std::to_string(r) + "," + std::to_string(c) + ")");
            rank_at_[at] = router;
            routers_.push_back(std::make_unique<ici_router>(
                ("router_" + std::to_string(r) + "_" + std::to_string(c)).c_str(), *engine_, router, config));
        }
    wire(config, depth_cells_of(config));
    engine_->finish_build();
}

void ici_fabric::wire(const ici_config& config, std::uint32_t depth_cells)
{
    // A board is a 2x2 tile of chips that starts on even coordinates; a wrap link is always a cable.
    const auto both_ways = [&](std::uint32_t a, std::uint32_t b, ici_port plus, bool board) {
        if (a == fabric_engine::k_none || b == fabric_engine::k_none)
            return;
        const fabric_link_params params{config.link_rate, board ? config.board_propagation : config.cable_propagation,
                                        depth_cells};
        const auto minus = static_cast<std::uint32_t>(plus + 1);
        engine_->add_link(a, plus, b, minus, params);
        engine_->add_link(b, minus, a, plus, params);
    };
    for (std::uint32_t r = 0; r < shape_.rows; ++r)
        for (std::uint32_t c = 0; c < shape_.cols; ++c) {
            if (c + 1 < shape_.cols)
                both_ways(rank(r, c), rank(r, c + 1), k_plus_x, c % 2 == 0);
            else if (shape_.wrap_cols)
                both_ways(rank(r, c), rank(r, 0), k_plus_x, false);
            if (r + 1 < shape_.rows)
                both_ways(rank(r, c), rank(r + 1, c), k_plus_y, r % 2 == 0);
            else if (shape_.wrap_rows)
                both_ways(rank(r, c), rank(0, c), k_plus_y, false);
        }
}

std::uint32_t ici_fabric::link_at(std::uint32_t row, std::uint32_t col, ici_port port) const
{
    const std::uint32_t router = rank(row, col);
    return router == fabric_engine::k_none ? router : engine_->out_link(router, port);
}

} // namespace weft
