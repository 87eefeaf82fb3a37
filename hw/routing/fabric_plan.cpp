// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/fabric_plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

std::vector<std::uint32_t> fabric_plan::port_base() const
{
    std::vector<std::uint32_t> base{0};
    base.reserve(routers.size() + 1);
    for (const plan_router& r : routers)
        base.push_back(base.back() + r.ports);
    return base;
}

std::vector<std::uint32_t> fabric_plan::out_links() const
{
    const std::vector<std::uint32_t> base = port_base();
    std::vector<std::uint32_t> out(base.back(), k_none);
    for (std::size_t l = 0; l < links.size(); ++l)
        if (links[l].works)
            out[base[links[l].from] + links[l].from_port] = static_cast<std::uint32_t>(l);
    return out;
}

std::uint64_t fabric_plan::working_links() const
{
    return static_cast<std::uint64_t>(
        std::count_if(links.begin(), links.end(), [](const plan_link& l) { return l.works; }));
}

std::string fabric_plan::port_name(std::uint32_t port) const
{
    return port < port_names.size() ? port_names[port] : fmt::format("port{}", port);
}

std::string fabric_plan::link_name(std::uint32_t link) const
{
    return routers[links[link].from].name + "." + port_name(links[link].from_port);
}

void fabric_plan::connect(std::uint32_t a, std::uint32_t a_port, std::uint32_t b, std::uint32_t b_port,
                          std::uint32_t vls, const fabric_link_params& wire)
{
    links.push_back({a, a_port, b, b_port, vls, wire});
    links.push_back({b, b_port, a, a_port, vls, wire});
}

std::uint32_t fabric_plan::append(const fabric_plan& other)
{
    const auto first = static_cast<std::uint32_t>(routers.size());
    routers.insert(routers.end(), other.routers.begin(), other.routers.end());
    for (plan_link l : other.links) {
        l.from += first;
        l.to += first;
        links.push_back(std::move(l));
    }
    for (plan_endpoint e : other.endpoints) {
        e.router += first;
        endpoints.push_back(e);
    }
    for (plan_gate g : other.gates) {
        g.router += first;
        gates.push_back(g);
    }
    return first;
}

} // namespace weft
