// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/plan_part.h"

#include "tlm/check.h"

#include <map>

namespace weft {

plan_part part_of(const fabric_plan& whole, const std::vector<std::uint32_t>& part_of_router, std::uint32_t part)
{
    plan_part result;
    result.plan.port_names = whole.port_names;
    std::vector<std::uint32_t> number(whole.routers.size(), fabric_plan::k_none);
    for (std::uint32_t r = 0; r < whole.routers.size(); ++r) {
        if (part_of_router.at(r) != part)
            continue;
        number[r] = static_cast<std::uint32_t>(result.router_of.size());
        result.router_of.push_back(r);
        result.plan.routers.push_back(whole.routers[r]);
    }
    for (std::uint32_t e = 0; e < whole.endpoints.size(); ++e) {
        plan_endpoint end = whole.endpoints[e];
        if (number[end.router] == fabric_plan::k_none)
            continue;
        end.router = number[end.router];
        result.plan.endpoints.push_back(end);
        result.endpoint_of.push_back(e);
    }
    std::map<std::pair<std::uint32_t, std::uint32_t>, const plan_link*> into; // by (router, port) of the whole
    for (const plan_link& l : whole.links)
        into[{l.to, l.to_port}] = &l;
    for (const plan_link& l : whole.links) {
        if (part_of_router[l.from] != part)
            continue;
        if (part_of_router[l.to] == part) {
            plan_link inside = l;
            inside.from = number[l.from];
            inside.to = number[l.to];
            result.plan.links.push_back(std::move(inside));
            continue;
        }
        const auto back = into.find({l.from, l.from_port});
        if (back == into.end())
            throw bug("plan_part", 0, whole.link_name(static_cast<std::uint32_t>(&l - whole.links.data())) +
                                          " leaves a part, and nothing comes back");
        result.plan.gates.push_back({number[l.from], l.from_port, back->second->wire, l.wire, l.works});
        result.far_ends.emplace_back(l.to, l.to_port);
    }
    return result;
}

} // namespace weft
