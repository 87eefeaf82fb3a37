// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Wiring and routing of IPU-Pods and the wires of their syncs, without simulation.
#include "hw/routing/ipu/ipu_pod_routing.h"
#include "platforms/ipu_pod/ipu_sync_wires.h"
#include "hw/routing/channel_dependency.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace weft;

namespace {

std::vector<ipu_shape> shapes()
{
    std::vector<ipu_shape> all;
    for (const ipu_topology topology : {ipu_topology::mesh, ipu_topology::torus, ipu_topology::barley_twist})
        for (const std::uint32_t machines : {1u, 2u, 4u, 8u, 16u})
            for (const std::uint32_t domains : {1u, 2u, 4u, 8u})
                if (machines * domains <= 32)
                    all.push_back({machines, domains, topology});
    return all;
}

fabric_plan plan_of(const ipu_shape& s, const std::vector<swapped_cables>& swapped = {}, const std::vector<ipu_link_end>& down = {})
{
    return plan_ipu_pod(s, {}, swapped, down);
}

} // namespace

TEST_CASE("ipu pod: every port has one link and its way back and an IPU inside uses all ten controllers")
{
    for (const ipu_shape& s : shapes()) {
        const fabric_plan plan = plan_of(s);
        INFO(s.machines << " machines, " << s.domains << " domains, topology " << static_cast<int>(s.topology));
        std::set<std::pair<std::uint32_t, std::uint32_t>> used;
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>> ends;
        for (const plan_link& l : plan.links) {
            CHECK(used.insert({l.from, l.from_port}).second);
            ends[{l.from, l.from_port}] = {l.to, l.to_port};
        }
        for (const auto& [from, to] : ends)
            CHECK(ends.at(to) == from);
        for (std::uint32_t ipu = 0; ipu < s.ipus(); ++ipu) {
            std::uint32_t controllers = 0;
            for (std::uint32_t c = 0; c < k_controllers.size(); ++c)
                controllers += used.count({ipu, c}) != 0 ? 1 : 0;
            const bool at_end = s.rung_of(ipu) == 0 || s.rung_of(ipu) == s.rungs() - 1;
            CHECK(controllers == (at_end && !s.closes() ? 8 : 10));
        }
        CHECK(wrong_cables(s, plan).empty());
    }
}

TEST_CASE("ipu pod: an IPU-Machine is wired as the figure says")
{
    const ipu_shape s{2, 1, ipu_topology::mesh};
    const fabric_plan plan = plan_of(s);
    const auto far = [&](std::uint32_t ipu, const std::string& controller) -> std::string {
        for (const plan_link& l : plan.links)
            if (l.from == ipu && k_controllers[l.from_port] == controller)
                return s.ipu_name(l.to) + "." + k_controllers[l.to_port];
        return "";
    };
    for (const char* c : {"2A", "2B", "2C", "3A", "3B", "3C"}) {
        CHECK(far(0, c) == std::string("ipu1.") + c);
        CHECK(far(3, c) == std::string("ipu2.") + c);
    }
    for (const char* c : {"0B", "0C"}) {
        CHECK(far(0, c) == std::string("ipu2.") + c);
        CHECK(far(3, c) == std::string("ipu5.") + c); // to the next machine
    }
    for (const char* c : {"1B", "1C"}) {
        CHECK(far(1, c) == std::string("ipu3.") + c);
        CHECK(far(2, c) == std::string("ipu4.") + c);
        CHECK(far(0, c).empty()); // closes a torus only
    }
}

TEST_CASE("ipu pod: routing reaches everybody across the rung first and cannot deadlock on any shape")
{
    for (const ipu_shape& s : shapes()) {
        const fabric_plan plan = plan_of(s);
        const ipu_pod_routing routing(s, plan);
        INFO(s.machines << " machines, " << s.domains << " domains, topology " << static_cast<int>(s.topology));
        CHECK(routing.unreachable().empty());
        const channel_proof proof = prove_deadlock_free(plan, routes_of(routing));
        INFO(proof.text);
        CHECK(proof);
        std::map<std::pair<std::uint32_t, std::uint32_t>, const plan_link*> out;
        for (const plan_link& l : plan.links)
            out[{l.from, l.from_port}] = &l;
        for (std::uint32_t from = 0; from < s.ipus(); from += s.ipus() > 64 ? 5 : 1)
            for (std::uint32_t to = 0; to < s.ipus(); ++to)
                for (const std::uint8_t lane : std::initializer_list<std::uint8_t>{0, 1, 5}) {
                    packet p;
                    p.destination = to;
                    p.destination_port = lane;
                    std::uint32_t router = from, in_port = k_first_tile_port + lane, hops = 0, ladder = 0;
                    for (;;) {
                        const route_decision d = routing.route(router, in_port, p);
                        const auto next = out.find({router, d.out_port});
                        if (next == out.end()) {
                            CHECK(router == to);
                            CHECK(d.out_port == k_first_tile_port + lane);
                            break;
                        }
                        if (d.out_port < k_controllers.size() && router < s.ipus())
                            ++ladder;
                        p.vl = d.vl;
                        router = next->second->to;
                        in_port = next->second->to_port;
                        REQUIRE(++hops < 100);
                    }
                    if (s.domain_of(from) == s.domain_of(to))
                        CHECK(ladder == routing.hops(from, to));
                }
    }
}

TEST_CASE("ipu pod: lanes spread over the links that work and a way without any is named")
{
    const ipu_shape s{4, 1, ipu_topology::mesh};
    const auto ports = [&](const std::vector<ipu_link_end>& down) {
        const ipu_pod_routing routing(s, plan_of(s, {}, down));
        std::set<std::uint32_t> used;
        for (std::uint8_t lane = 0; lane < k_tile_ports; ++lane) {
            packet p;
            p.destination = 1;
            p.destination_port = lane;
            used.insert(routing.route(0, k_first_tile_port + lane, p).out_port);
        }
        return used;
    };
    CHECK(ports({}) == std::set<std::uint32_t>{4, 5, 6, 7, 8, 9});
    CHECK(ports({{0, 5}, {0, 9}}) == std::set<std::uint32_t>{4, 6, 7, 8});
    const ipu_pod_routing routing(s, plan_of(s, {}, {{2, 2}, {2, 3}}));
    CHECK(routing.unreachable() == "no IPU-Link works from ipu2 up to ipu4");
}

TEST_CASE("ipu pod: any two cables of one kind that are swapped are found and swapped back are not")
{
    for (const ipu_shape& s : {ipu_shape{4, 1, ipu_topology::mesh}, ipu_shape{4, 1, ipu_topology::torus}, ipu_shape{2, 3, ipu_topology::torus}}) {
        INFO(s.machines << " machines, " << s.domains << " domains");
        std::vector<ipu_link_end> ports;
        for (std::uint32_t domain = 0; s.domains > 1 && domain < s.domains; ++domain)
            for (std::uint32_t slot = 0; slot < s.machines; ++slot)
                for (const std::uint32_t port : {k_east_port, k_west_port})
                    ports.push_back({s.gateway(domain, slot), port});
        for (std::size_t a = 0; a < ports.size(); ++a)
            for (std::size_t b = a + 1; b < ports.size(); ++b) {
                CHECK(wrong_gw_cables(s, plan_of(s, {{{ports[a], ports[b]}}})).size() == 2); // of the gateways
                CHECK(wrong_cables(s, plan_of(s, {{{ports[a], ports[b]}}})).empty());
                CHECK(wrong_gw_cables(s, plan_of(s, {{{ports[a], ports[b]}}, {{ports[b], ports[a]}}})).empty());
            }
        std::vector<sync_link_end> ends;
        for (std::uint32_t machine = 0; machine < s.domains * s.machines; ++machine)
            for (const bool up : {true, false})
                if (sync_neighbour(s, {machine, up}))
                    ends.push_back({machine, up});
        CHECK(ends.size() == s.domains * (s.closes() ? 2 * s.machines : 2 * (s.machines - 1)));
        CHECK(wrong_sync_cables(s, {}).empty());
        for (std::size_t a = 0; a < ends.size(); ++a)
            for (std::size_t b = a + 1; b < ends.size(); ++b) {
                const bool one_cable = *sync_neighbour(s, ends[a]) == ends[b]; // turned round
                CHECK(wrong_sync_cables(s, {{{ends[a], ends[b]}}}).empty() == one_cable);
                CHECK(wrong_sync_cables(s, {{{ends[a], ends[b]}}, {{ends[a], ends[b]}}}).empty());
            }
    }
    CHECK_FALSE(sync_neighbour({4, 1, ipu_topology::mesh}, {3, true}));
    CHECK_FALSE(sync_neighbour({1, 1, ipu_topology::mesh}, {0, false}));
}

TEST_CASE("ipu pod: around GW-Links that are down routing goes the other way round and cannot deadlock")
{
    for (const std::uint32_t domains : {2u, 3u, 4u, 8u}) {
        const ipu_shape s{2, domains, ipu_topology::mesh};
        const std::uint32_t gateway = s.gateway(0, 1), east = s.gateway_switch(1);
        const fabric_plan plan = plan_of(s, {}, {{gateway, k_east_port}, {s.gateway(domains - 1, 0), k_west_port}});
        const ipu_pod_routing routing(s, plan);
        INFO(domains << " domains");
        CHECK(routing.unreachable().empty());
        CHECK(prove_deadlock_free(plan, routes_of(routing)));
        // From d0 by slot 1, lane 0, to the next domain: west, and through all others. The ring of slot 0 is whole there.
        packet p;
        p.destination = s.domain_ipus() + 4;
        std::uint32_t router = gateway, in_port = k_gateway_ipu_port, switches = 0;
        std::map<std::pair<std::uint32_t, std::uint32_t>, const plan_link*> out;
        for (const plan_link& l : plan.links)
            if (l.works)
                out[{l.from, l.from_port}] = &l;
        while (router != s.gateway(1, 1)) {
            const route_decision d = routing.route(router, in_port, p);
            REQUIRE(out.count({router, d.out_port}) == 1);
            p.vl = d.vl;
            const plan_link* const l = out.at({router, d.out_port});
            router = l->to, in_port = l->to_port;
            switches += router == east ? 1 : 0;
            REQUIRE(switches < 20);
        }
        CHECK(switches == domains - 1);
        const ipu_pod_routing cut(s, plan_of(s, {}, {{gateway, k_east_port}, {gateway, k_west_port}}));
        CHECK(cut.unreachable().find("close both ways round from d0.gw1 to d1.gw1") != std::string::npos);
    }
}

TEST_CASE("ipu pod: cables in each other's ports are found")
{
    const ipu_shape s{4, 1, ipu_topology::mesh};
    // ipu2.1B and ipu3.0B both lead to the next machine.
    const std::vector<std::string> wrong = wrong_cables(s, plan_of(s, {{{{2, 2}, {3, 0}}}}));
    REQUIRE(wrong.size() == 4);
    CHECK(wrong.front().find("ipu") != std::string::npos);
    CHECK(std::any_of(wrong.begin(), wrong.end(), [](const std::string& w) { return w == "ipu2.1B leads to ipu5.0B, but must lead to ipu4.1B"; }));
    CHECK(wrong_cables(s, plan_of(s, {{{{2, 2}, {2, 3}}}})).empty()); // two links of one way, crossed
}

TEST_CASE("ipu pod: a sync of a whole ladder takes what the published formula says")
{
    for (const std::uint32_t machines : {1u, 2u, 4u, 8u, 16u}) {
        const ipu_shape s{machines, 1, ipu_topology::mesh};
        const std::vector<duration> ways = ipu_sync_wires(s, {}).ways({0, 1, s.ipus()});
        const std::uint64_t hops = 1 + s.ipus() / 2 / 2;
        CHECK(std::max_element(ways.begin(), ways.end())->value() == 15'000 * hops);
    }
    // Of a part: the two IPUs of a rung, and those of a column.
    const ipu_shape s{4, 2, ipu_topology::mesh};
    const ipu_sync_wires wires(s, {});
    CHECK(wires.ways({4, 1, 2}) == std::vector<duration>{duration(0), duration(15'000)});
    CHECK(wires.ways({0, 2, 4}).back().value() == 15'000);
    CHECK(wires.ways({0, 16, 2}) == std::vector<duration>{duration(0), duration(3'000'000)}); // over gateways
}
