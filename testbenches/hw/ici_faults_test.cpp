// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Broken meshes under load: what unit/routing_test.cpp proves is run here with the smallest buffers, so that a cycle would close.
#include "hw/ici/ici_fabric.h"
#include "hw/routing/detour_routing.h"
#include "platforms/workload/traffic.h"
#include "testbenches/hw/fabric_bench.h"

#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::testing;

namespace {

constexpr std::uint64_t k_one_packet = 9 * 32; ///< 256 B of payload and 16 B of header in flits of 32 B

/// A broken mesh with a traffic generator on its local ports. `hot`: three in four ranks send to one.
struct loaded_mesh {
    loaded_mesh(timeline& time, packet_pool& pool, const mesh_description& d, std::uint64_t seed, bool hot,
                std::uint64_t packets)
        : topology(d), plan(plan_detours(topology, d.vls))
    {
        ici_config c;
        c.local_ports = 1;
        c.virtual_lanes = d.vls;
        c.buffer_per_vl = data_size(k_one_packet);
        mesh_description wired = ici_mesh(c, d.rows, d.cols);
        wired.failed = d.failed;
        wired.links_down = d.links_down;
        fabric = std::make_unique<ici_fabric>(sc_core::sc_gen_unique_name("ici"), time, pool, mesh(wired), c,
                                              std::make_unique<detour_policy>(plan.table));
        traffic_config t;
        t.endpoints = topology.ranks();
        t.vl_count = d.vls;
        t.packets_each = packets;
        t.payload_bytes = 256;
        t.format = c.format();
        t.wire_rate = c.local_port_rate;
        t.receive_cells = 18;
        t.seed = seed;
        t.random_stalls = seed % 2 == 0;
        traffic_random random(seed);
        if (hot)
            for (std::uint32_t r = 0; r < t.endpoints; ++r) {
                std::uint32_t to = random.below(4) != 0 ? t.endpoints / 2 : random.below(t.endpoints);
                t.destinations.push_back(to == r ? (r + 1) % t.endpoints : to);
            }
        load = std::make_unique<traffic>(sc_core::sc_gen_unique_name("load"), time, pool, t);
        for (std::uint32_t r = 0; r < t.endpoints; ++r) {
            load->to_fabric(r).bind(fabric->router(r).local_port(0).in);
            fabric->router(r).local_port(0).out.bind(load->from_fabric(r));
        }
        expected = packets * t.endpoints;
    }
    mesh topology;
    detour_plan plan;
    std::unique_ptr<ici_fabric> fabric;
    std::unique_ptr<traffic> load;
    std::uint64_t expected = 0;
};

mesh_description broken(std::vector<mesh_region> failed, std::vector<mesh_link> down = {}, std::uint32_t vls = 2)
{
    mesh_description d;
    d.rows = d.cols = 8;
    d.vls = vls;
    d.failed = std::move(failed);
    d.links_down = std::move(down);
    return d;
}

void drains(const std::vector<mesh_description>& meshes)
{
    timeline time("timeline");
    packet_pool pool;
    std::vector<std::unique_ptr<loaded_mesh>> all;
    for (const mesh_description& d : meshes)
        for (std::uint64_t seed = 1; seed <= 4; ++seed)
            for (const bool hot : {false, true})
                all.push_back(std::make_unique<loaded_mesh>(time, pool, d, seed, hot, 60));
    for (const auto& m : all) {
        const detour_policy policy(m->plan.table);
        REQUIRE(prove_deadlock_free(m->topology.plan(), routes_of(policy)));
    }
    sc_core::sc_start();
    for (const auto& m : all) {
        INFO(m->fabric->engine().describe_blocked());
        CHECK(m->load->received() == m->expected);
        CHECK(m->load->misdelivered() == 0);
        CHECK(m->load->out_of_order() == 0);
        CHECK(m->fabric->engine().packets_inside() == 0);
        CHECK(m->fabric->engine().audit() == "");
    }
    CHECK(pool.leak_report() == "");
}

} // namespace

TEST_CASE("meshes with one failed block drain at full load with buffers of one packet")
{
    drains({broken({{2, 2, 2, 2}}), broken({{2, 2, 2, 4}}), broken({{0, 0, 4, 2}}), broken({{4, 2, 4, 4}}),
            broken({{3, 1, 2, 2}})});
}

TEST_CASE("meshes with several failed blocks and links drain at full load with buffers of one packet")
{
    drains({broken({{2, 2, 2, 2}, {4, 4, 2, 2}}), broken({{0, 2, 2, 2}, {2, 4, 2, 2}}),
            broken({{1, 1, 1, 6}, {2, 1, 5, 1}, {6, 2, 1, 5}, {3, 6, 2, 1}}),
            broken({}, {{3, 3, k_plus_x}, {3, 4, k_minus_x}, {5, 5, k_plus_y}}),
            broken({{2, 2, 2, 4}}, {{0, 3, k_plus_x}})});
}

TEST_CASE("a broken mesh with one VL drains over the tree") { drains({broken({{2, 2, 2, 4}}, {}, 1)}); }

namespace {

/// The proof and a run of the same routing on the same graph, with buffers of one packet.
struct judged_and_run {
    channel_proof proof;
    bool drained = false;
    std::string picture;
};

judged_and_run judge_and_run(const mesh& m, const route_function& rule,
                             const std::function<std::uint32_t(std::uint32_t from)>& to)
{
    judged_and_run result;
    result.proof = prove_deadlock_free(m.plan(), rule);
    fabric_bench b;
    fabric_config f;
    f.vl_count = m.description().vls;
    fabric_engine& e = b.add_engine(f, [&](std::uint32_t router, std::uint32_t in_port, packet& p) {
        const route_step s = rule({router, in_port, p.vl, p.destination, p.destination_port});
        return route_decision{static_cast<std::uint16_t>(s.out_port), static_cast<std::uint8_t>(s.vl)};
    });
    e.set_port_names(m.plan().port_names);
    for (const plan_router& r : m.plan().routers)
        e.add_router(r.ports, r.name);
    const fabric_link_params wire{bandwidth(656'000'000'000), duration(25'000), 9};
    for (const plan_link& l : m.plan().links)
        if (l.works)
            e.add_link(l.from, l.from_port, l.to, l.to_port, wire);
    b.format = ici_config{}.format();
    for (std::uint32_t r = 0; r < m.ranks(); ++r) {
        endpoint& point = b.add_endpoint(e, r, k_first_local, {bandwidth(1'312'000'000'000), duration(0), 64});
        for (int i = 0; i < 50; ++i)
            if (const std::uint32_t there = to(r); there != r)
                point.orders.push_back({1'000'000, there, 256});
    }
    e.finish_build();
    b.run();
    result.drained = b.received() == b.ordered();
    result.picture = e.describe_blocked(32);
    CHECK(b.first_audit == "");
    return result;
}

mesh square()
{
    mesh_description d;
    d.rows = d.cols = 2;
    return mesh(d);
}
std::uint32_t diagonal(std::uint32_t from) { return 3 - from; }

} // namespace

TEST_CASE("a cyclic routing is caught by the proof and its run deadlocks in the same cycle")
{
    // Clockwise only: every diagonal pair turns, and the four turns make a ring.
    static constexpr std::uint32_t k_clockwise[] = {k_plus_x, k_plus_y, k_minus_y, k_minus_x};
    const auto rule = [](const route_request& q) {
        return route_step{q.router == q.destination ? std::uint32_t{k_first_local} : k_clockwise[q.router], 0};
    };
    const judged_and_run r = judge_and_run(square(), rule, diagonal);
    INFO(r.proof.text);
    INFO(r.picture);
    CHECK(r.proof.verdict == route_verdict::cycle);
    REQUIRE(r.proof.cycle.size() == 4);
    CHECK_FALSE(r.drained);
    CHECK(r.picture.find("They form a cycle of 4:") != std::string::npos);
    for (const char* channel :
         {"chip(0,0).+X VL 0 ->", "chip(0,1).+Y VL 0 ->", "chip(1,1).-X VL 0 ->", "chip(1,0).-Y VL 0 ->"}) {
        CHECK(r.proof.text.find(channel) != std::string::npos);
        CHECK(r.picture.find(channel) != std::string::npos);
    }
}

TEST_CASE("the same pairs by dimension order are proved and drain")
{
    const mesh m = square();
    const dimension_order order(m.grid());
    const judged_and_run r = judge_and_run(m, routes_of(order), diagonal);
    CHECK(r.proof.verdict == route_verdict::deadlock_free);
    CHECK(r.drained);
    CHECK(r.picture == "");
}

namespace {
auto anywhere(const mesh& m)
{
    return [&m, random = traffic_random(3)](std::uint32_t) mutable { return random.below(m.ranks()); };
}
} // namespace

TEST_CASE("detours on two VLs are proved and drain")
{
    const mesh m(broken({{2, 2, 4, 4}}));
    const detour_policy policy(plan_detours(m, 2).table);
    const judged_and_run r = judge_and_run(m, routes_of(policy), anywhere(m));
    CHECK(r.proof.verdict == route_verdict::deadlock_free);
    CHECK(r.drained);
}

TEST_CASE("detours squeezed into one VL are caught by the proof and deadlock under load")
{
    // Shortest ways of the same tables, all on VL 0.
    const mesh m(broken({{2, 2, 4, 4}}, {}, 1));
    const detour_policy policy(plan_detours_by(m, {}).table);
    const route_function two = routes_of(policy);
    const route_function squeezed = [&](const route_request& q) {
        return route_step{two({q.router, k_first_local, 0, q.destination, q.destination_port}).out_port, 0};
    };
    const judged_and_run r = judge_and_run(m, squeezed, anywhere(m));
    INFO(r.proof.text);
    INFO(r.picture);
    CHECK(r.proof.verdict == route_verdict::cycle);
    CHECK_FALSE(r.drained);
    CHECK(r.picture.find("They form a cycle of ") != std::string::npos);
}
