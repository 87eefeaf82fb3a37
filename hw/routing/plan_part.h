// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A plan in parts: some of the routers, with gates where links lead to routers of other parts. Each part is built by
// itself; gates are bound to those of the other part, or to what carries packets there. The routing stays that of the
// whole.
#pragma once

#include "hw/routing/fabric_plan.h"
#include "hw/routing/routing_policy.h"

namespace weft {

struct plan_part {
    fabric_plan plan;                       ///< destinations in packets stay endpoints of the whole
    std::vector<std::uint32_t> router_of;   ///< of the part -> of the whole
    std::vector<std::uint32_t> endpoint_of; ///< of the part -> of the whole
    /// Of each gate: router and port of the whole at the other end of its cable.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> far_ends;
};

/// The routers for which part_of_router is `part`. A port whose link crosses must be wired in both directions.
plan_part part_of(const fabric_plan& whole, const std::vector<std::uint32_t>& part_of_router, std::uint32_t part);

/// The routing of the whole, asked with the routers of a part.
class part_routing final : public routing_policy {
public:
    /// `whole` must outlive this.
    part_routing(const routing_policy& whole, const plan_part& part) : whole_(whole), router_of_(part.router_of) {}
    route_decision route(std::uint32_t router, std::uint32_t in_port, packet& p) const override
    {
        return whole_.route(router_of_[router], in_port, p);
    }

private:
    const routing_policy& whole_;
    std::vector<std::uint32_t> router_of_;
};

} // namespace weft
