// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ici/ici_fabric.h"

#include <algorithm>

namespace weft {

namespace {
/// The wire between router and chip on one die is part of the router pipeline.
constexpr duration k_on_die{0};

fabric_config engine_of(const ici_config& config)
{
    fabric_config fabric;
    fabric.vl_count = config.virtual_lanes;
    fabric.pipeline = duration(config.pipeline_ps());
    fabric.voq = config.voq;
    fabric.cut_through = config.switching == switching_mode::cut_through;
    return fabric;
}

std::shared_ptr<const routing_policy> or_dimension_order(std::shared_ptr<const routing_policy> routing, const mesh& topology)
{
    return routing != nullptr ? std::move(routing) : std::make_shared<const dimension_order>(topology.grid());
}
} // namespace

mesh_description ici_mesh(const ici_config& config, std::uint32_t rows, std::uint32_t cols, bool wrap_rows,
                          bool wrap_cols)
{
    const auto cells = [&](data_size buffer) {
        return static_cast<std::uint32_t>(buffer.value() / std::max<std::uint64_t>(1, config.flit.value()));
    };
    mesh_description d;
    d.rows = rows;
    d.cols = cols;
    d.wrap_rows = wrap_rows;
    d.wrap_cols = wrap_cols;
    d.local_ports = config.local_ports;
    d.vls = config.virtual_lanes;
    d.relays_first = config.relays_first;
    d.local = {config.local_port_rate, k_on_die, cells(config.local_buffer_in_use())};
    d.wire = [rate = config.link_rate, board = config.board_propagation, cable = config.cable_propagation,
              depth = cells(config.buffer_per_vl)](std::uint32_t, std::uint32_t a, std::uint32_t b) {
        return fabric_link_params{rate, b == a + 1 && a % 2 == 0 ? board : cable, depth};
    };
    return d;
}

ici_fabric::ici_fabric(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const mesh& topology,
                       const ici_config& config, std::shared_ptr<const routing_policy> routing)
    : plan_fabric(name, time, pool, topology.plan(), or_dimension_order(std::move(routing), topology), engine_of(config))
{
}

} // namespace weft
