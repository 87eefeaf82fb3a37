// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/topology/fabric_graph.h"

#include <fmt/format.h>

namespace weft {

std::vector<std::uint32_t> fabric_graph::port_base() const
{
    std::vector<std::uint32_t> base{0};
    base.reserve(routers.size() + 1);
    for (const graph_router& r : routers)
        base.push_back(base.back() + r.ports);
    return base;
}

std::vector<std::uint32_t> fabric_graph::out_links() const
{
    const std::vector<std::uint32_t> base = port_base();
    std::vector<std::uint32_t> out(base.back(), k_none);
    for (std::size_t l = 0; l < links.size(); ++l)
        out[base[links[l].from] + links[l].from_port] = static_cast<std::uint32_t>(l);
    return out;
}

std::string fabric_graph::port_name(std::uint32_t port) const
{
    return port < port_names.size() ? port_names[port] : fmt::format("port{}", port);
}

std::string fabric_graph::link_name(std::uint32_t link) const
{
    return routers[links[link].from].name + "." + port_name(links[link].from_port);
}

} // namespace weft
