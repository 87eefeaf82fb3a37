// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Fabrics from plans: the engine has what the plan says, and a plan that is built in parts behaves as one that is built whole.
#include "hw/fabric/plan_fabric.h"
#include "hw/routing/dimension_order.h"
#include "hw/routing/leaf_spine.h"
#include "hw/routing/plan_part.h"
#include "platforms/workload/traffic.h"

#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::literals;

namespace {

grid_description cube()
{
    grid_description d;
    d.axes = {{4, axis_kind::ring, "X"}, {3, axis_kind::line, "Y"}, {3, axis_kind::full, "Z"}};
    d.vls = 2;
    d.local = {200_Gbps, duration(0), 64};
    d.wire = [](std::uint32_t axis, std::uint32_t, std::uint32_t) {
        return fabric_link_params{100_Gbps, duration(10'000 + 7'000 * axis), 64};
    };
    return d;
}

fabric_config engine_of_cube()
{
    fabric_config f;
    f.vl_count = 2;
    f.pipeline = duration(4'000);
    return f;
}

traffic_config load_of(std::uint32_t endpoints, double load, std::uint64_t seed)
{
    traffic_config t;
    t.endpoints = endpoints;
    t.vl_count = 2;
    t.packets_each = 200;
    t.payload_bytes = 256;
    t.wire_rate = 200_Gbps;
    t.load = load;
    t.seed = seed;
    return t;
}

/// Hands a packet that has crossed a gate on, and its credits back.
void join(fabric_socket& a, fabric_socket& b)
{
    a.out.bind(b.in);
    b.out.bind(a.in);
}

struct figures {
    std::uint64_t received, latency_ps, last_ps;
    bool operator==(const figures& o) const
    {
        return received == o.received && latency_ps == o.latency_ps && last_ps == o.last_ps;
    }
};

figures figures_of(const traffic& t) { return {t.received(), t.latency_sum_ps(), t.last_arrival_ps()}; }

} // namespace

TEST_CASE("the engine has the routers and links of its plan and their wires", "[fabric][fast]")
{
    timeline time("time");
    packet_pool pool;
    const grid g(cube());
    fabric_plan plan = g.plan();
    plan.links[5].works = false;
    plan_fabric fabric("fabric", time, pool, plan, std::make_unique<dimension_order>(g), engine_of_cube());
    const fabric_engine& e = fabric.engine();
    REQUIRE(e.router_count() == plan.routers.size());
    std::uint32_t wires = 0;
    for (std::uint32_t l = 0; l < e.link_count(); ++l)
        wires += e.is_router_link(l) ? 1 : 0;
    CHECK(wires == plan.links.size());
    for (std::uint32_t l = 0; l < plan.links.size(); ++l) {
        const std::uint32_t there = fabric.link_of(l);
        CHECK(e.out_link(plan.links[l].from, plan.links[l].from_port) == there);
        CHECK(e.link_ends(there) == std::pair{plan.links[l].from, plan.links[l].to});
        CHECK(e.link_name(there) == plan.link_name(l));
        CHECK(e.link_rate(there) == plan.links[l].wire.rate);
        CHECK(e.depth_cells(there) == 64);
        CHECK(e.link_up(there) == (l != 5));
    }
    traffic idle("idle", time, pool, load_of(g.ranks(), 1, 1)); // sockets must be bound
    for (std::uint32_t r = 0; r < g.ranks(); ++r) {
        idle.to_fabric(r).bind(fabric.port(r).in);
        fabric.port(r).out.bind(idle.from_fabric(r));
    }
}

TEST_CASE("a plan in parts gives the times of the whole", "[fabric][fast]")
{
    const grid g(cube());
    struct run {
        timeline time;
        packet_pool pool;
        std::vector<std::unique_ptr<part_routing>> routings;
        std::vector<std::unique_ptr<plan_fabric>> fabrics;
        std::unique_ptr<traffic> load;
        explicit run(const char* name) : time(name) {}
    };
    const auto whole_routing = dimension_order(g);
    std::vector<std::unique_ptr<run>> runs;
    for (const double load : {0.05, 0.9})
        for (const bool whole : {true, false}) {
            runs.push_back(std::make_unique<run>(sc_core::sc_gen_unique_name("time")));
            run& r = *runs.back();
            r.load = std::make_unique<traffic>(sc_core::sc_gen_unique_name("load"), r.time, r.pool,
                                               load_of(g.ranks(), load, 3));
            const auto bind = [&](std::uint32_t endpoint, fabric_socket& port) {
                r.load->to_fabric(endpoint).bind(port.in);
                port.out.bind(r.load->from_fabric(endpoint));
            };
            if (whole) {
                r.fabrics.push_back(std::make_unique<plan_fabric>(sc_core::sc_gen_unique_name("whole"), r.time, r.pool,
                                                                  g.plan(), std::make_unique<dimension_order>(g),
                                                                  engine_of_cube()));
                for (std::uint32_t e = 0; e < g.ranks(); ++e)
                    bind(e, r.fabrics[0]->port(e));
                continue;
            }
            std::vector<std::uint32_t> of_router; // two halves of the ring X
            for (std::uint32_t at = 0; at < g.ranks(); ++at)
                of_router.push_back(g.coordinate(at, 0) / 2);
            const plan_part parts[2] = {part_of(g.plan(), of_router, 0), part_of(g.plan(), of_router, 1)};
            for (const plan_part& part : parts) {
                r.fabrics.push_back(std::make_unique<plan_fabric>(
                    sc_core::sc_gen_unique_name("part"), r.time, r.pool, part.plan,
                    std::make_unique<part_routing>(whole_routing, part), engine_of_cube()));
                for (std::uint32_t e = 0; e < part.endpoint_of.size(); ++e)
                    bind(part.endpoint_of[e], r.fabrics.back()->port(e));
            }
            REQUIRE(parts[0].plan.gates.size() == 2 * 9); // X has two cables between the halves
            for (std::uint32_t i = 0; i < parts[0].plan.gates.size(); ++i)
                for (std::uint32_t k = 0; k < parts[1].plan.gates.size(); ++k) {
                    const plan_gate& other = parts[1].plan.gates[k];
                    if (parts[0].far_ends[i] == std::pair{parts[1].router_of[other.router], other.port})
                        join(r.fabrics[0]->gate(i), r.fabrics[1]->gate(k));
                }
        }
    sc_core::sc_start();
    for (const auto& r : runs) {
        CHECK(r->load->received() == 200 * g.ranks());
        CHECK(r->load->misdelivered() == 0);
        CHECK(r->load->out_of_order() == 0);
        for (const auto& f : r->fabrics)
            CHECK(f->engine().audit() == "");
    }
    CHECK(figures_of(*runs[0]->load) == figures_of(*runs[1]->load)); // nothing meets: to the picosecond
    // What meets at one picosecond goes by link number, which parts do not share.
    const auto near = [](std::uint64_t a, std::uint64_t b) {
        return std::abs(static_cast<double>(a) / static_cast<double>(b) - 1) < 0.02;
    };
    CHECK(near(figures_of(*runs[2]->load).latency_ps, figures_of(*runs[3]->load).latency_ps));
}

TEST_CASE("packets of a folded Clos network arrive", "[fabric][fast]")
{
    leaf_spine_description d;
    d.leaves = 4, d.spines = 3, d.machines_per_leaf = 3;
    d.uplink = d.cable = {100_Gbps, duration(20'000), 32};
    d.local = {100_Gbps, duration(0), 32};
    timeline time("time");
    packet_pool pool;
    plan_fabric fabric("fabric", time, pool, leaf_spine_plan(d), std::make_unique<leaf_spine_routing>(d), fabric_config{});
    traffic_config t = load_of(12, 1, 7);
    t.vl_count = 1;
    t.wire_rate = 100_Gbps;
    traffic load("load", time, pool, t);
    for (std::uint32_t e = 0; e < 12; ++e) {
        load.to_fabric(e).bind(fabric.port(e).in);
        fabric.port(e).out.bind(load.from_fabric(e));
    }
    sc_core::sc_start();
    CHECK(load.received() == 200 * 12);
    CHECK(load.misdelivered() == 0);
    CHECK(load.out_of_order() == 0);
    CHECK(fabric.engine().audit() == "");
}
