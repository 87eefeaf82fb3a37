// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ub/ub_fabric_plan.h"

#include "hw/ub/ub_link.h"
#include "hw/routing/ub/ub_routing.h"

namespace weft {

namespace {
bool is_switch(ub_device d) { return d == ub_device::lrs || d == ub_device::hrs; }
} // namespace

fabric_plan ub_fabric_plan(const ub_plan& plan, const ub_config& config, bool managed)
{
    fabric_plan result;
    result.routers.reserve(plan.routers.size());
    for (const ub_router_plan& r : plan.routers) {
        const ub_ports ports{r.ports, r.local_ports, config.voq, managed};
        plan_router router{r.name, ports.count(), ub_pipeline(config, r.device)};
        if (r.second_die_from < r.ports && r.local_ports >= 2)
            router.second_die = {{r.second_die_from, r.ports - 1u},
                                 {ports.to_chip(1), ports.to_chip(1)},
                                 {ports.from_chip(1, 0), ports.management() - 1}};
        // Traffic enters through the chip's ways in, and into a switch from a chip.
        for (std::uint32_t p = ports.from_chip(0, 0); config.relays_first && p < ports.management(); ++p)
            router.entries.push_back(p);
        result.routers.push_back(std::move(router));
    }
    result.links.reserve(plan.links.size());
    for (const ub_link_plan& l : plan.links) {
        const ub_device into = plan.routers[l.to].device;
        plan_link link{l.from, l.from_port, l.to, l.to_port, managed ? k_ub_managed_vls : k_ub_vls,
                       {config.link_rate(l.lanes), ub_wire(config, l.propagation),
                        ub_depth_cells(config, l.lanes, l.propagation, into)}};
        if (const double rate = l.bit_error_rate < 0 ? config.bit_error_rate : l.bit_error_rate; rate > 0) {
            link.retry = ub_retry(config, l.lanes);
            link.retry->bit_error_rate = rate;
        }
        result.links.push_back(std::move(link));
        if (config.relays_first && is_switch(into) && !is_switch(plan.routers[l.from].device))
            result.routers[l.to].entries.push_back(l.to_port);
    }
    for (const std::uint32_t r : plan.endpoint_router)
        result.endpoints.push_back({r, plan.routers[r].ports, plan.routers[r].local_ports});
    return result;
}

} // namespace weft
