// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/ipu/ipu_pod_routing.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {
constexpr ipu_way k_ways[] = {ipu_way::rung, ipu_way::up, ipu_way::down};
constexpr const char* k_way_words[] = {"across to", "up to", "down to"};
} // namespace

ipu_pod_routing::ipu_pod_routing(const ipu_shape& shape, const fabric_plan& plan) : shape_(shape), ports_(std::size_t{shape.ipus()} * 3)
{
    const std::vector<std::uint32_t> base = plan.port_base(), out = plan.out_links();
    const auto works = [&](std::uint32_t router, std::uint32_t port) { return out[base[router] + port] != fabric_plan::k_none; };
    const auto refuse = [this](std::string text) { unreachable_ += (unreachable_.empty() ? "" : "; ") + std::move(text); };
    for (std::uint32_t ipu = 0; ipu < shape.ipus(); ++ipu)
        for (const ipu_way way : k_ways) {
            const auto to = shape.neighbour(ipu, way);
            if (!to)
                continue;
            std::vector<std::uint16_t>& ports = ports_[ipu * 3 + static_cast<std::uint32_t>(way)];
            const port_range range = shape.controllers(ipu, way);
            for (std::uint32_t c = range.first; c <= range.last; ++c)
                if (works(ipu, c))
                    ports.push_back(static_cast<std::uint16_t>(c));
            if (ports.empty())
                refuse(fmt::format("no IPU-Link works from {} {} {}", shape.ipu_name(ipu), k_way_words[static_cast<std::uint32_t>(way)], shape.ipu_name(*to)));
        }
    if (shape.domains == 1)
        return;
    for (const plan_link& l : plan.links)
        if (!l.works && (l.from_port == k_host_link_port || (l.from >= shape.ipus() && l.from_port < k_east_port)))
            refuse(fmt::format("{}.{} is down, and there is no second way", plan.routers[l.from].name,
                               plan.port_name(l.from_port)));
    find_ways_round(plan);
    for (std::uint32_t from = 0; from < shape.domains; ++from)
        for (std::uint32_t slot = 0; slot < shape.machines; ++slot)
            for (std::uint32_t to = 0; to < shape.domains; ++to)
                if (from != to && ways_round(shape.gateway(from, slot), to) == 0)
                    refuse(fmt::format("GW-Links that are down close both ways round from {} to {}",
                                       plan.routers[shape.gateway(from, slot)].name,
                                       plan.routers[shape.gateway(to, slot)].name));
}

/// A packet goes on in the direction in which it has begun, so the first gateway decides.
void ipu_pod_routing::find_ways_round(const fabric_plan& plan)
{
    const std::uint32_t size = shape_.domains;
    round_.assign(std::size_t{size} * shape_.machines * size, k_eastward | k_westward);
    for (const plan_link& l : plan.links) {
        if (l.works || l.from < shape_.ipus() || l.from >= shape_.gateway_switch(0) || l.from_port < k_east_port)
            continue;
        const bool east = l.from_port == k_east_port;
        const std::uint32_t domain = (l.from - shape_.ipus()) / shape_.machines,
                            slot = (l.from - shape_.ipus()) % shape_.machines;
        // Whoever passes: begins `before` domains earlier, ends behind this link.
        for (std::uint32_t before = 0; before + 1 < size; ++before)
            for (std::uint32_t beyond = 1; before + beyond < size; ++beyond) {
                const std::uint32_t from = east ? (domain + size - before) % size : (domain + before) % size;
                const std::uint32_t to = east ? (domain + beyond) % size : (domain + size - beyond) % size;
                round_[(shape_.gateway(from, slot) - shape_.ipus()) * size + to] &=
                    static_cast<std::uint8_t>(east ? ~k_eastward : ~k_westward);
            }
    }
}

std::uint32_t ipu_pod_routing::hops(std::uint32_t from, std::uint32_t to) const
{
    const std::uint32_t a = shape_.rung_of(from), b = shape_.rung_of(to), apart = a > b ? a - b : b - a;
    return (shape_.column_of(from) != shape_.column_of(to) ? 1 : 0) + (shape_.closes() ? std::min(apart, shape_.rungs() - apart) : apart);
}

/// The shorter way round; to the opposite rung, even ones go up and odd ones down.
bool ipu_pod_routing::goes_up(std::uint32_t here, std::uint32_t there) const
{
    if (!shape_.closes())
        return there > here;
    const std::uint32_t above = (there + shape_.rungs() - here) % shape_.rungs();
    return 2 * above != shape_.rungs() ? 2 * above < shape_.rungs() : here % 2 == 0;
}

route_decision ipu_pod_routing::along(std::uint32_t ipu, ipu_way way, const packet& p, std::uint8_t vl) const
{
    const std::vector<std::uint16_t>& ports = ports_[ipu * 3 + static_cast<std::uint32_t>(way)];
    if (ports.empty()) // unreachable() has it; the proof meets a link that does not work
        return {static_cast<std::uint16_t>(shape_.controllers(ipu, way).first), vl};
    return {ports[p.destination_port % ports.size()], vl};
}

route_decision ipu_pod_routing::from_ipu(std::uint32_t ipu, std::uint32_t in_port, const packet& p) const
{
    const std::uint32_t to = p.destination;
    if (shape_.column_of(ipu) != shape_.column_of(to))
        return along(ipu, ipu_way::rung, p, 0);
    const std::uint32_t here = shape_.rung_of(ipu), there = shape_.rung_of(to);
    if (here != there) {
        const bool up = goes_up(here, there);
        const bool by_rung = in_port >= shape_.controllers(ipu, ipu_way::rung).first; // or from its exchange
        const bool late = !by_rung && p.vl == 1;
        const bool closes = shape_.closes() && here == (up ? shape_.rungs() - 1 : 0);
        return along(ipu, up ? ipu_way::up : ipu_way::down, p, late || closes ? 1 : 0);
    }
    if (shape_.domain_of(ipu) != shape_.domain_of(to))
        return {static_cast<std::uint16_t>(k_host_link_port), 0};
    return {static_cast<std::uint16_t>(k_first_tile_port + p.destination_port), 0};
}

route_decision ipu_pod_routing::from_gateway(std::uint32_t router, std::uint32_t in_port, const packet& p) const
{
    const std::uint32_t domain = (router - shape_.ipus()) / shape_.machines, to = shape_.domain_of(p.destination);
    if (domain == to)
        return {static_cast<std::uint16_t>(k_gateway_ipu_port + p.destination % k_machine_ipus), 0};
    // To the opposite domain, lanes take both sides.
    const std::uint32_t beyond = (to + shape_.domains - domain) % shape_.domains;
    const bool from_ring = in_port >= k_east_port;
    const std::uint8_t open = ways_round(router, to);
    const bool nearer_east = 2 * beyond != shape_.domains ? 2 * beyond < shape_.domains : p.destination_port % 2 == 0;
    const bool east = from_ring                                               ? in_port == k_west_port
                      : (open & (nearer_east ? k_eastward : k_westward)) != 0 ? nearer_east
                                                                              : !nearer_east;
    const bool closes = domain == (east ? shape_.domains - 1 : 0);
    const bool late = from_ring && p.vl == 1;
    return {static_cast<std::uint16_t>(east ? k_east_port : k_west_port), static_cast<std::uint8_t>(late || closes ? 1 : 0)};
}

route_decision ipu_pod_routing::route(std::uint32_t router, std::uint32_t in_port, packet& p) const
{
    if (router < shape_.ipus())
        return from_ipu(router, in_port, p);
    if (router < shape_.gateway_switch(0))
        return from_gateway(router, in_port, p);
    // A switch stands for the cables of the ring: what comes from an east side leaves for the west side of the next
    // domain.
    const std::uint32_t side = in_port - k_switch_port, domain = side / 2, size = shape_.domains;
    const std::uint32_t out = side % 2 == 0 ? 2 * ((domain + 1) % size) + 1 : 2 * ((domain + size - 1) % size);
    return {static_cast<std::uint16_t>(k_switch_port + out), p.vl};
}

} // namespace weft
