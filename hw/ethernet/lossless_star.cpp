// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/lossless_star.h"

namespace weft {

namespace {
constexpr std::uint32_t k_flit_bytes = 1; // Ethernet pads nothing that is this large

/// Switches share their memory among queues of outputs: nobody waits behind a frame for another port.
fabric_config queues_of_outputs()
{
    fabric_config c;
    c.voq = true;
    return c;
}
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
    if (std::string why = format().no_room_for_one(buffer); !why.empty())
        p.push_back({severity::error, "buffer", std::move(why)});
    return p;
}

fabric_plan lossless_star_plan(std::uint32_t machines, const lossless_star_config& config)
{
    const auto depth = static_cast<std::uint32_t>(config.buffer.value() / k_flit_bytes);
    star_description d;
    d.machines = machines;
    d.wire = {config.rate, config.propagation, depth};
    d.local = {bandwidth(2 * config.rate.value()), duration(0), depth};
    d.nic_pipeline = config.nic_latency;
    d.switch_pipeline = config.switch_latency;
    return star_plan(d);
}

lossless_star::lossless_star(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool,
                             std::uint32_t machines, const lossless_star_config& config,
                             std::shared_ptr<const routing_policy> routing)
    : plan_fabric(name, time, pool, lossless_star_plan(machines, config),
                  routing != nullptr ? std::move(routing) : std::make_shared<const star_routing>(machines), queues_of_outputs())
{
}

} // namespace weft
