// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/ipu/ipu_pod_plan.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace weft {

namespace {

// Rows of k_controllers.
constexpr port_range k_zero{0, 1}, k_one{2, 3}, k_east{4, 9};

std::string row_text(const ipu_shape& s, std::uint32_t ipu, ipu_way way)
{
    const port_range range = s.controllers(ipu, way);
    std::string text;
    for (std::uint32_t c = range.first; c <= range.last; ++c)
        text += fmt::format("{}{}", c == range.first ? "" : " ", k_controllers[c]);
    return text;
}

/// Exchanges the two ends, wherever they are among the cables.
template <class End> void swap_ends(std::vector<std::pair<End, End>>& cables, const End& first, const End& second)
{
    for (auto& [a, b] : cables)
        for (End* e : {&a, &b})
            *e = *e == first ? second : *e == second ? first : *e;
}

std::string pair_text(const ipu_shape& s, std::uint32_t ipu, ipu_way way)
{
    return fmt::format("{} - {} by {}", s.ipu_name(ipu), s.ipu_name(*s.neighbour(ipu, way)), row_text(s, ipu, way));
}

} // namespace

std::optional<std::uint32_t> ipu_shape::neighbour(std::uint32_t ipu, ipu_way way) const
{
    const std::uint32_t domain = domain_of(ipu), rung = rung_of(ipu), column = column_of(ipu);
    if (way == ipu_way::rung)
        return domain_ipus() > 1 ? std::optional(at(domain, rung, 1 - column)) : std::nullopt;
    const bool up = way == ipu_way::up;
    if (rung == (up ? rungs() - 1 : 0))
        return closes() ? std::optional(at(domain, up ? 0 : rungs() - 1, column)) : std::nullopt;
    return at(domain, up ? rung + 1 : rung - 1, column);
}

port_range ipu_shape::controllers(std::uint32_t ipu, ipu_way way) const
{
    if (way == ipu_way::rung)
        return k_east;
    const bool inside = (rung_of(ipu) % 2 == 0) == (way == ipu_way::up); // of the machine
    return inside == (column_of(ipu) == 0) ? k_zero : k_one;
}

std::optional<std::uint32_t> ipu_shape::far_end(std::uint32_t ipu, std::uint32_t controller) const
{
    for (const ipu_way way : {ipu_way::rung, ipu_way::up, ipu_way::down})
        if (const port_range range = controllers(ipu, way); controller >= range.first && controller <= range.last)
            if (const auto other = neighbour(ipu, way))
                return other;
    return std::nullopt;
}

bool ipu_shape::on_board(std::uint32_t ipu, std::uint32_t controller) const
{
    // Machines with loop-back cables have two rungs of their own at least: a cable leads to another machine.
    const auto other = far_end(ipu, controller);
    return other && domain_of(*other) == domain_of(ipu) && slot_of(*other) == slot_of(ipu);
}

std::string ipu_shape::ipu_name(std::uint32_t ipu) const
{
    return domains == 1 ? fmt::format("ipu{}", ipu) : fmt::format("d{}.ipu{}", domain_of(ipu), ipu % domain_ipus());
}

std::string ipu_shape::machine_name(std::uint32_t machine) const
{
    return domains == 1 ? fmt::format("machine {}", machine) : fmt::format("d{} machine {}", machine / machines, machine % machines);
}

fabric_plan plan_ipu_pod(const ipu_shape& s, const ipu_pod_wires& wires, const std::vector<swapped_cables>& swapped, const std::vector<ipu_link_end>& down)
{
    fabric_plan p;
    for (const char* name : k_controllers)
        p.port_names.emplace_back(name);
    p.port_names.emplace_back("host");
    for (std::uint32_t i = 0; i < k_tile_ports; ++i)
        p.port_names.push_back(fmt::format("tiles{}", i));
    for (std::uint32_t i = 0; i < k_machine_ipus; ++i)
        p.port_names.push_back(fmt::format("ipu{}", i));
    p.port_names.insert(p.port_names.end(), {"east", "west"});
    for (std::uint32_t domain = 0; domain < s.domains; ++domain)
        p.port_names.insert(p.port_names.end(), {fmt::format("d{}.east", domain), fmt::format("d{}.west", domain)});

    for (std::uint32_t ipu = 0; ipu < s.ipus(); ++ipu) {
        p.routers.push_back({s.ipu_name(ipu), k_first_tile_port + k_tile_ports});
        p.endpoints.push_back({ipu, k_first_tile_port, k_tile_ports, wires.tiles, ""});
    }
    std::vector<std::pair<ipu_link_end, ipu_link_end>> cables, gateway_cables;
    for (std::uint32_t ipu = 0; ipu < s.ipus(); ++ipu)
        for (const ipu_way way : {ipu_way::rung, ipu_way::up}) {
            const auto other = s.neighbour(ipu, way);
            if (!other || (way == ipu_way::rung && s.column_of(ipu) == 1))
                continue;
            const port_range range = s.controllers(ipu, way);
            for (std::uint32_t c = range.first; c <= range.last; ++c)
                cables.push_back({{ipu, c}, {*other, c}});
        }
    for (std::uint32_t domain = 0; s.domains > 1 && domain < s.domains; ++domain)
        for (std::uint32_t slot = 0; slot < s.machines; ++slot)
            for (const std::uint32_t port : {k_east_port, k_west_port})
                gateway_cables.push_back({{s.gateway(domain, slot), port}, {s.gateway_switch(slot), s.switch_port(domain, port)}});
    for (const swapped_cables& w : swapped)
        for (auto* of_kind : {&cables, &gateway_cables})
            swap_ends(*of_kind, w.ends[0], w.ends[1]);
    for (const auto& [a, b] : cables)
        p.connect(a.router, a.port, b.router, b.port, k_ipu_vls, wires.link);

    if (s.domains > 1) {
        for (std::uint32_t domain = 0; domain < s.domains; ++domain)
            for (std::uint32_t slot = 0; slot < s.machines; ++slot)
                p.routers.push_back({fmt::format("d{}.gw{}", domain, slot), k_west_port + 1});
        for (std::uint32_t slot = 0; slot < s.machines; ++slot)
            p.routers.push_back({fmt::format("switch{}", slot), k_switch_port + 2 * s.domains});
        for (std::uint32_t ipu = 0; ipu < s.ipus(); ++ipu)
            p.connect(ipu, k_host_link_port, s.gateway(s.domain_of(ipu), s.slot_of(ipu)), k_gateway_ipu_port + ipu % k_machine_ipus, k_ipu_vls, wires.host);
        for (const auto& [a, b] : gateway_cables)
            p.connect(a.router, a.port, b.router, b.port, k_ipu_vls, wires.gateway);
    }
    for (const ipu_link_end& d : down)
        for (plan_link& l : p.links)
            if (l.from == d.router && l.from_port == d.port)
                l.works = false;
    return p;
}

std::vector<std::string> wrong_cables(const ipu_shape& s, const fabric_plan& plan)
{
    std::vector<std::string> found;
    for (const plan_link& l : plan.links) {
        if (l.from >= s.ipus() || l.from_port >= k_controllers.size())
            continue;
        const auto expected = s.far_end(l.from, l.from_port);
        if (expected && *expected != l.to) // which controllers of a way are joined is an assumption
            found.push_back(fmt::format("{}.{} leads to {}.{}, but must lead to {}.{}", s.ipu_name(l.from), k_controllers[l.from_port], s.ipu_name(l.to),
                                        k_controllers[l.to_port], s.ipu_name(*expected), k_controllers[l.from_port]));
    }
    return found;
}

std::vector<std::string> wrong_gw_cables(const ipu_shape& s, const fabric_plan& plan)
{
    const auto name_of_end = [&](const ipu_link_end& e) { return plan.routers[e.router].name + "." + plan.port_names[e.port]; };
    std::vector<std::string> found;
    for (const plan_link& l : plan.links) {
        if (l.from_port != k_east_port && l.from_port != k_west_port)
            continue;
        const std::uint32_t number = l.from - s.ipus(); // gateways follow the IPUs, by domain and slot
        const ipu_link_end from{l.from, l.from_port}, to{l.to, l.to_port},
            expected{s.gateway_switch(number % s.machines), s.switch_port(number / s.machines, l.from_port)};
        if (!(to == expected))
            found.push_back(fmt::format("{} leads to {}, but must lead to {}", name_of_end(from), name_of_end(to), name_of_end(expected)));
    }
    return found;
}

std::optional<sync_link_end> sync_neighbour(const ipu_shape& s, const sync_link_end& end)
{
    // As the IPU-Links do: those of the machine's lowest or highest rung.
    const std::uint32_t first = end.machine * s.partition, ipu = end.up ? first + s.partition - 2 : first;
    if (s.partition != k_machine_ipus || s.machines == 1)
        return std::nullopt;
    const auto other = s.neighbour(ipu, end.up ? ipu_way::up : ipu_way::down);
    return other ? std::optional(sync_link_end{*other / s.partition, !end.up}) : std::nullopt;
}

std::vector<std::string> wrong_sync_cables(const ipu_shape& s, const std::vector<swapped_sync_cables>& swapped)
{
    std::vector<std::pair<sync_link_end, sync_link_end>> cables;
    for (std::uint32_t machine = 0; machine < s.domains * s.machines; ++machine)
        if (const auto other = sync_neighbour(s, {machine, true}))
            cables.push_back({{machine, true}, *other});
    for (const swapped_sync_cables& w : swapped)
        swap_ends(cables, w.ends[0], w.ends[1]);
    const auto name_of_end = [&](const sync_link_end& end) { return fmt::format("{}.{}", s.machine_name(end.machine), end.up ? "up" : "down"); };
    std::vector<std::string> found;
    for (const auto& [a, b] : cables)
        if (const auto expected = sync_neighbour(s, a); !(*expected == b))
            found.push_back(fmt::format("{} leads to {}, but must lead to {}", name_of_end(a), name_of_end(b), name_of_end(*expected)));
    return found;
}

std::string wiring_text(const ipu_shape& s)
{
    if (s.partition != k_machine_ipus)
        return fmt::format("Wiring    {} of the IPUs of an IPU-Machine{}\n", s.partition, s.partition == 2 ? ", " + pair_text(s, 0, ipu_way::rung) : "");
    std::string text = fmt::format("Wiring    of every IPU-Machine, here the lowest: {}, {}, {}, {}\n", pair_text(s, 0, ipu_way::rung), pair_text(s, 2, ipu_way::rung),
                                   pair_text(s, 0, ipu_way::up), pair_text(s, 1, ipu_way::up));
    for (std::uint32_t m = 0; m + 1 < s.machines; ++m)
        text += fmt::format("          machine {:>2} to {:>2}: {}, {}\n", m, m + 1, pair_text(s, s.at(0, 2 * m + 1, 0), ipu_way::up),
                            pair_text(s, s.at(0, 2 * m + 1, 1), ipu_way::up));
    if (s.closes())
        text += fmt::format("          loop-back:        {}, {}\n", pair_text(s, s.at(0, s.rungs() - 1, 0), ipu_way::up),
                            pair_text(s, s.at(0, s.rungs() - 1, 1), ipu_way::up));
    if (s.domains > 1)
        text += fmt::format("          the same in each of {} domains; GW-Links of slot k: d0.gw<k> east - switch<k> - d1.gw<k> west, and so on, d{}.gw<k> east - switch<k> - "
                            "d0.gw<k> west\n",
                            s.domains, s.domains - 1);
    return text;
}

} // namespace weft
