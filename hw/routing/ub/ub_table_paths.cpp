// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/ub/ub_table_paths.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

fabric_plan lanes_of_a_class(fabric_plan wired, const std::vector<bool>& down)
{
    for (std::size_t l = 0; l < wired.links.size(); ++l) {
        wired.links[l].vls = k_ub_lanes_per_class;
        wired.links[l].works = wired.links[l].works && !(l < down.size() && down[l]);
    }
    return wired;
}

ub_table_paths::ub_table_paths(std::shared_ptr<const ub_topology> topology, const ub_lane_rule& rule,
                               std::shared_ptr<const table_routing> routing)
    : topology_(std::move(topology)), rule_(rule), routing_(std::move(routing))
{
}

bool ub_table_paths::walk(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links,
                          std::vector<std::uint8_t>& lanes) const
{
    links.clear();
    lanes.clear();
    for (std::uint32_t at = from; at != to;) { // endpoint i is router i
        const route_tables::entry& e = routing_->tables().at(at, to);
        const std::uint32_t link =
            e.port == route_tables::k_no_port ? ub_topology::k_none : topology_->out_link(at, e.port);
        if (link == ub_topology::k_none || links.size() > topology_->plan().routers.size())
            return false;
        links.push_back(link);
        lanes.push_back(e.vl);
        at = topology_->plan().links[link].to;
    }
    return true;
}

std::vector<ub_path> ub_table_paths::paths(std::uint32_t from, std::uint32_t to, const std::vector<bool>& down) const
{
    std::vector<std::uint32_t> links;
    std::vector<std::uint8_t> lanes;
    if (from == to || to >= topology_->endpoints() || !walk(from, to, links, lanes) ||
        std::any_of(links.begin(), links.end(), [&](std::uint32_t l) { return l < down.size() && down[l]; }))
        return {};
    ub_path path;
    if (!encode_route(*topology_, rule_, links.data(), static_cast<std::uint32_t>(links.size()), lanes.data(), to,
                      path.route))
        return {};
    path.first_lane = lanes.front();
    path.hops = static_cast<std::uint8_t>(links.size());
    path.links = std::move(links);
    return {path};
}

std::string ub_table_paths::too_long() const
{
    std::vector<std::uint32_t> links;
    std::vector<std::uint8_t> lanes;
    abi::ub::source_route route;
    for (std::uint32_t from = 0; from < topology_->endpoints(); ++from)
        for (std::uint32_t to = 0; to < topology_->endpoints(); ++to)
            if (from != to && walk(from, to, links, lanes) &&
                !encode_route(*topology_, rule_, links.data(), static_cast<std::uint32_t>(links.size()), lanes.data(),
                              to, route))
                return fmt::format(
                    "has a way of {} links from {} to {}, and a source-routing header has room for {}, of which {} may differ "
                    "from what address tables choose.",
                    links.size(), topology_->plan().routers[from].name, topology_->plan().routers[to].name,
                    abi::ub::k_most_hops, abi::ub::k_most_instructions);
    return {};
}

std::vector<std::uint32_t> ub_table_paths::sources_over(std::uint32_t link) const
{
    std::vector<std::uint32_t> all, links;
    std::vector<std::uint8_t> lanes;
    for (std::uint32_t from = 0; from < topology_->endpoints(); ++from)
        for (std::uint32_t to = 0; to < topology_->endpoints(); ++to)
            if (from != to && walk(from, to, links, lanes) &&
                std::find(links.begin(), links.end(), link) != links.end()) {
                all.push_back(from);
                break;
            }
    return all;
}

route_function routes_of_address_tables(const ub_topology& topology, const ub_lane_rule& rule)
{
    return [&topology, rule](const route_request& r) -> route_step {
        const ub_router_plan& here = topology.plan().routers[r.router];
        const std::uint32_t to = topology.plan().endpoint_router[r.destination];
        if (to == r.router)
            return {here.ports + r.destination_port, 0};
        const abi::ub::table_entry e = look_up(topology.table_of(r.router), topology.address_of(to));
        const std::uint32_t link = e.ways == 0 ? ub_topology::k_none : topology.out_link(r.router, e.port);
        if (link == ub_topology::k_none)
            return {~0u, 0};
        const bool starts = r.in_port >= topology.ports(r.router);
        const ub_channel in =
            starts ? ub_channel::local : topology.plan().links[topology.in_link(r.router, r.in_port)].channel;
        return {e.port, rule.next(in, static_cast<std::uint8_t>(r.in_vl), topology.plan().links[link].channel)};
    };
}

} // namespace weft
