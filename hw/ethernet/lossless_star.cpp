// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/lossless_star.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::uint32_t k_flit_bytes = 1; // Ethernet pads nothing that is this large
} // namespace

packet_format lossless_star_config::format() const
{
    packet_format f;
    f.max_payload_bytes = static_cast<std::uint32_t>(max_payload.value());
    f.header_bytes = k_header_bytes;
    f.flit_bytes = k_flit_bytes;
    return f;
}

std::vector<config_problem> lossless_star_config::validate() const
{
    std::vector<config_problem> p;
    if (buffer.value() < max_payload.value() + k_header_bytes)
        p.push_back({severity::error, "buffer",
                     fmt::format("is {}, but one frame takes {}, so none could ever move.", to_string(buffer),
                                 to_string(data_size(max_payload.value() + k_header_bytes)))});
    return p;
}

lossless_star::lossless_star(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool,
                             std::uint32_t machines, const lossless_star_config& config)
    : sc_core::sc_module(name), routing_(machines)
{
    // One pipeline for all routers: a path crosses two NICs and the switch, and their sum is what counts.
    fabric_config fabric;
    fabric.pipeline = duration((2 * config.nic_latency.value() + config.switch_latency.value()) / 3);
    engine_ = std::make_unique<fabric_engine>(time, pool, routing_, fabric);
    const auto depth = static_cast<std::uint32_t>(config.buffer.value() / k_flit_bytes);
    const fabric_link_params wire{config.rate, config.propagation, depth};
    const fabric_link_params local{bandwidth(2 * config.rate.value()), duration(0), depth};
    for (std::uint32_t m = 0; m < machines; ++m)
        engine_->add_router(2, fmt::format("nic({})", m));
    const std::uint32_t hub = engine_->add_router(machines, "switch");
    for (std::uint32_t m = 0; m < machines; ++m) {
        engine_->add_link(m, star_routing::k_to_switch, hub, m, wire);
        engine_->add_link(hub, m, m, star_routing::k_to_switch, wire);
        ports_.push_back(std::make_unique<fabric_socket>(fmt::format("port{}", m).c_str(), *engine_, m,
                                                         star_routing::k_to_machine, local, local));
    }
    engine_->finish_build();
}

route_decision star_routing::route(std::uint32_t router, std::uint32_t in_port, packet& p) const
{
    if (router == machines_)
        return {static_cast<std::uint16_t>(p.destination), 0};
    return {static_cast<std::uint16_t>(in_port == k_to_switch ? k_to_machine : k_to_switch), 0};
}

void lossless_star::start_of_simulation()
{
    for (auto& port : ports_)
        port->advertise();
}

} // namespace weft
