// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/fabric/plan_fabric.h"

#include <fmt/format.h>

namespace weft {

std::string module_name(const std::string& plan_name)
{
    std::string name;
    for (const char c : plan_name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (plain)
            name += c;
        else if (!name.empty() && name.back() != '_')
            name += '_';
    }
    while (!name.empty() && name.back() == '_')
        name.pop_back();
    return name;
}

void add_plan_routers(fabric_engine& engine, const fabric_plan& plan)
{
    for (const plan_router& r : plan.routers) {
        const std::uint32_t router = engine.add_router(r.ports, r.name, r.pipeline);
        for (const port_range& range : r.second_die)
            engine.set_second_zone(router, range.first, range.last);
        for (const std::uint32_t port : r.entries)
            engine.set_entry_port(router, port);
    }
}

std::vector<std::uint32_t> add_plan_links(fabric_engine& engine, const fabric_plan& plan)
{
    std::vector<std::uint32_t> numbers;
    numbers.reserve(plan.links.size());
    for (const plan_link& l : plan.links) {
        numbers.push_back(engine.add_link(l.from, l.from_port, l.to, l.to_port, l.wire));
        if (l.retry)
            engine.set_link_layer(numbers.back(), *l.retry);
        if (!l.works)
            engine.set_link_up(numbers.back(), false);
    }
    return numbers;
}

fabric_router::fabric_router(const sc_core::sc_module_name& name, fabric_engine& engine, std::uint32_t router,
                             const std::vector<outside>& ports)
    : sc_core::sc_module(name)
{
    for (const outside& o : ports)
        ports_.push_back(std::make_unique<fabric_socket>(o.name, engine, router, o.port, o.in, o.out));
}

void fabric_router::start_of_simulation()
{
    for (auto& port : ports_)
        port->advertise();
}

plan_fabric::plan_fabric(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const fabric_plan& plan,
                         std::shared_ptr<const routing_policy> routing, const fabric_config& config)
    : sc_core::sc_module(name), routing_(std::move(routing)),
      engine_(std::make_unique<fabric_engine>(time, pool, *routing_, config))
{
    engine_->set_port_names(plan.port_names);
    add_plan_routers(*engine_, plan);
    add_modules(plan);
    links_ = add_plan_links(*engine_, plan);
    engine_->finish_build();
}

void plan_fabric::add_modules(const fabric_plan& plan)
{
    std::vector<std::vector<fabric_router::outside>> outside(plan.routers.size());
    std::vector<std::uint32_t> place; // of each endpoint and gate, in the list of its router
    const auto add = [&](std::uint32_t router, fabric_router::outside o) {
        outside.at(router).push_back(std::move(o));
    };
    for (const plan_endpoint& e : plan.endpoints) {
        place.push_back(static_cast<std::uint32_t>(outside.at(e.router).size()));
        for (std::uint32_t port = 0; port < e.ports; ++port)
            add(e.router, {fmt::format("local{}", outside[e.router].size()), e.first_port + port, e.wire, e.wire});
    }
    for (const plan_gate& g : plan.gates) {
        place.push_back(static_cast<std::uint32_t>(outside.at(g.router).size()));
        add(g.router, {fmt::format("gate{}", g.port), g.port, g.in, g.out});
    }
    std::vector<std::uint32_t> module_at(plan.routers.size(), fabric_plan::k_none);
    for (std::uint32_t r = 0; r < plan.routers.size(); ++r)
        if (!outside[r].empty()) {
            module_at[r] = static_cast<std::uint32_t>(modules_.size());
            modules_.push_back(std::make_unique<fabric_router>(module_name(plan.routers[r].name).c_str(), *engine_, r,
                                                               outside[r]));
        }
    for (std::size_t e = 0; e < plan.endpoints.size(); ++e) {
        module_of_.push_back(module_at[plan.endpoints[e].router]);
        first_port_.push_back(static_cast<std::uint32_t>(ports_.size()));
        for (std::uint32_t port = 0; port < plan.endpoints[e].ports; ++port)
            ports_.push_back(&modules_[module_of_[e]]->local_port(place[e] + port));
    }
    for (std::size_t g = 0; g < plan.gates.size(); ++g) {
        const plan_gate& gate = plan.gates[g];
        gates_.push_back(&modules_[module_at[gate.router]]->local_port(place[plan.endpoints.size() + g]));
        if (!gate.works)
            engine_->set_link_up(gates_.back()->output_link(), false);
    }
}

} // namespace weft
