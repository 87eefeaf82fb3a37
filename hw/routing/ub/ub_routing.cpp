// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/ub/ub_routing.h"

#include "tlm/check.h"

#include <fmt/format.h>

namespace weft {

using abi::ub::source_route;

ub_routing::ub_routing(const ub_plan& plan, bool voq)
    : endpoint_router_(plan.endpoint_router), plan_(plan), lanes_(plan.lanes), voq_(voq)
{
    std::uint32_t ports = 0;
    routers_.reserve(plan.routers.size());
    for (const ub_router_plan& r : plan.routers) {
        router_info info;
        info.first_port = ports;
        info.ports = r.ports;
        info.second_die_from = r.second_die_from;
        info.local_ports = r.local_ports;
        if (!plan.tables.empty()) {
            const ub_table_plan& steps = plan.tables.at(r.table);
            info.table = {steps.steps.data(), static_cast<unsigned>(steps.steps.size()), r.entries.data(), r.place};
        }
        routers_.push_back(info);
        places_.push_back(r.place);
        ports += r.ports;
    }
    in_channel_.assign(ports, static_cast<std::uint8_t>(ub_channel::local));
    out_channel_ = in_channel_;
    for (const ub_link_plan& l : plan.links) {
        out_channel_.at(routers_.at(l.from).first_port + l.from_port) = static_cast<std::uint8_t>(l.channel);
        in_channel_.at(routers_.at(l.to).first_port + l.to_port) = static_cast<std::uint8_t>(l.channel);
    }
}

route_decision ub_routing::route(std::uint32_t router, std::uint32_t in_port, packet& p) const
{
    if (p.vl >= k_ub_management_vl)
        return route_management(router, in_port, p);
    const router_info& r = routers_[router];
    const std::uint32_t to = endpoint_router_[p.destination];
    const auto first_vl = static_cast<std::uint8_t>(p.vl & ~1u); // lane 0 of the packet's class
    if (to == router) {
        std::uint32_t die = in_port < r.ports ? (in_port >= r.second_die_from ? 1 : 0)
                                              : ub_ports{r.ports, r.local_ports, voq_}.die_of_way_in(in_port);
        if ((p.flags & k_for_coprocessor) != 0) // by whichever die it came
            die = p.destination_port;
        if (die >= r.local_ports)
            die = 0;
        return {static_cast<std::uint16_t>(r.ports + die), first_vl};
    }
    const source_route header{p.route};
    if (header.here()) {
        const abi::ub::instruction i = abi::ub::decode_instruction(header.present_byte());
        if (i.port >= r.ports)
            refuse(router, in_port, p, fmt::format("its source route names port {} of {}", i.port, r.ports));
        p.route = header.advanced().bits;
        return {i.port, static_cast<std::uint8_t>(first_vl | (i.second_vl ? 1u : 0u))};
    }
    const std::uint32_t port = table_port(router, to, p.flow);
    if (port == k_none)
        refuse(router, in_port, p, "its table leads nowhere");
    if (port >= r.ports)
        refuse(router, in_port, p, fmt::format("its table names port {} of {}", port, r.ports));
    if (p.route != 0)
        p.route = header.advanced().bits;
    const auto in = static_cast<ub_channel>(in_port < r.ports ? in_channel_[r.first_port + in_port] : 0);
    const auto out = static_cast<ub_channel>(out_channel_[r.first_port + port]);
    const std::uint8_t lane = lanes_.next(in, p.vl & 1u, out);
    if (lane == ub_lane_rule::k_refused)
        refuse(router, in_port, p,
               fmt::format("the lane rule refuses the turn from {} on lane {} to {}", name_of(in), p.vl & 1u,
                           name_of(out)));
    return {static_cast<std::uint16_t>(port), static_cast<std::uint8_t>(first_vl | lane), true};
}

route_decision ub_routing::route_management(std::uint32_t router, std::uint32_t in_port, packet& p) const
{
    const router_info& r = routers_[router];
    const source_route header{p.route};
    if (!header.here())
        return {static_cast<std::uint16_t>(ub_ports{r.ports, r.local_ports, voq_}.management()), static_cast<std::uint8_t>(k_ub_management_vl)};
    const abi::ub::instruction i = abi::ub::decode_instruction(header.present_byte());
    if (i.port >= r.ports)
        refuse(router, in_port, p, fmt::format("its source route names port {} of {}", i.port, r.ports));
    p.route = header.advanced().bits;
    return {i.port, static_cast<std::uint8_t>(k_ub_management_vl | (i.second_vl ? 1u : 0u))};
}

void ub_routing::refuse(std::uint32_t router, std::uint32_t in_port, const packet& p, const std::string& why) const
{
    throw bug(plan_.routers[router].name, 0,
              fmt::format("cannot route a packet from endpoint {} to {} that came in by port {} on VL {}: {}", p.source,
                          p.destination, in_port, p.vl, why));
}

} // namespace weft
