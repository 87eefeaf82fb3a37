// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Routing tables of the user: how they are read, what is refused, and that what is written can be read again.
#include "hw/routing/dimension_order.h"
#include "hw/routing/mesh.h"
#include "hw/routing/mesh_ports.h"
#include "hw/routing/route_tables.h"
#include "hw/routing/star.h"

#include <catch2/catch.hpp>

using namespace weft;
using Catch::Matchers::Contains;

namespace {

mesh mesh_of_size(std::uint32_t rows, std::uint32_t cols, std::uint32_t vls = 1)
{
    mesh_description d;
    d.rows = rows;
    d.cols = cols;
    d.vls = vls;
    d.wire = [](std::uint32_t, std::uint32_t, std::uint32_t) { return fabric_link_params{}; };
    return mesh(d);
}

std::vector<std::string> problems_of(const std::string& text, const fabric_plan& plan)
{
    std::vector<route_tables_problem> problems;
    read_route_tables(text, plan, problems);
    std::vector<std::string> lines;
    for (const route_tables_problem& p : problems)
        lines.push_back(std::to_string(p.line) + ":" + std::to_string(p.column) + ": " + p.message);
    return lines;
}

} // namespace

TEST_CASE("tables that are written say the same when they are read again")
{
    for (const auto& [rows, cols] : {std::pair{1u, 5u}, std::pair{3u, 4u}, std::pair{4u, 4u}}) {
        const mesh m = mesh_of_size(rows, cols);
        const dimension_order order(m.grid());
        const std::string text = text_of_route_tables(m.plan(), routes_of(order));
        std::vector<route_tables_problem> problems;
        const table_routing tables(m.plan(), read_route_tables(text, m.plan(), problems));
        REQUIRE(problems.empty());
        const channel_proof proof = prove_deadlock_free(m.plan(), routes_of(tables));
        CHECK(proof);
        CHECK(proof.dependencies == prove_deadlock_free(m.plan(), routes_of(order)).dependencies);
        CHECK(text_of_route_tables(m.plan(), routes_of(tables)) == text);
    }
    star_description d;
    d.machines = 5;
    const fabric_plan star = star_plan(d);
    const star_routing routing(5);
    const std::string text = text_of_route_tables(star, routes_of(routing));
    std::vector<route_tables_problem> problems;
    const table_routing tables(star, read_route_tables(text, star, problems));
    CHECK(problems.empty());
    CHECK(prove_deadlock_free(star, routes_of(tables)));
}

TEST_CASE("a routing that goes by where packets come from has no tables")
{
    mesh_description d;
    d.rows = 1;
    d.cols = 6;
    d.vls = 2;
    d.wrap_cols = true;
    d.wire = [](std::uint32_t, std::uint32_t, std::uint32_t) { return fabric_link_params{}; };
    const mesh ring(d);
    const dimension_order datelines(ring.grid());
    CHECK(text_of_route_tables(ring.plan(), routes_of(datelines)).empty());
}

TEST_CASE("a line for all destinations gives way to lines of their own wherever they stand")
{
    const mesh m = mesh_of_size(1, 3);
    const std::string text = "chip(0,0) * +X 0   # both\n"
                             "\n"
                             "  chip(0,1)\tchip(0,0) -X 0\n"
                             "chip(0,1) * +X 0\n"
                             "chip(0,2) * 1 0\r\n"; // port 1 is -X
    std::vector<route_tables_problem> problems;
    const table_routing tables(m.plan(), read_route_tables(text, m.plan(), problems));
    CHECK(problems.empty());
    CHECK(tables.tables().at(1, 0).port == k_minus_x);
    CHECK(tables.tables().at(1, 2).port == k_plus_x);
    CHECK(tables.tables().at(2, 0).port == k_minus_x);
    CHECK(prove_deadlock_free(m.plan(), routes_of(tables)));
}

TEST_CASE("every wrong line is told with its place and what would be right")
{
    const mesh m = mesh_of_size(2, 2, 2);
    const std::string text = "chip(0,0) chip(0,1) +X\n"
                             "chip(9,9) chip(0,1) +X 0\n"
                             "chip(0,0) chip(7,7) +X 0\n"
                             "chip(0,0) 4 +X 0\n"
                             "chip(0,0) chip(0,1) -X 0\n"
                             "chip(0,0) chip(0,1) +Z 0\n"
                             "chip(0,0) chip(0,1) +X 2\n"
                             "chip(0,0) chip(0,1) +X one\n"
                             "chip(0,0) chip(0,1) +X 1\n"
                             "chip(0,0) 1 +X 0\n";
    const std::vector<std::string> p = problems_of(text, m.plan());
    REQUIRE(p.size() == 9);
    CHECK(p[0] == "1:1: has 3 words, must have four: router, destination, port, VL.");
    CHECK(p[1] == "2:1: 'chip(9,9)' is no router here; a name is for example chip(0,0).");
    CHECK(p[2] ==
          "3:11: 'chip(7,7)' is no destination here; write a name such as chip(0,0), a number from 0 to 3, or *.");
    CHECK_THAT(p[3], Contains("4:11: '4' is no destination"));
    CHECK(p[4] == "5:21: no link that works leaves chip(0,0) by '-X'; there are: +X, +Y.");
    CHECK_THAT(p[5], Contains("6:21: no link that works leaves chip(0,0) by '+Z'"));
    CHECK(p[6] == "7:24: '2' is no VL of this link, which has 2: 0 to 1.");
    CHECK_THAT(p[7], Contains("8:24: 'one' is no VL"));
    CHECK(p[8] == "10:11: chip(0,1) at chip(0,0) has had a line before.");
}

TEST_CASE("tables that go round in a circle are refused with the cycle and those that end with the pairs")
{
    const mesh m = mesh_of_size(2, 2, 2);
    const auto proof_of = [&](const std::string& text) {
        std::vector<route_tables_problem> problems;
        const table_routing tables(m.plan(), read_route_tables(text, m.plan(), problems));
        REQUIRE(problems.empty());
        return prove_deadlock_free(m.plan(), routes_of(tables));
    };
    const std::string clockwise = "chip(0,0) * +X 0\nchip(0,1) * +Y 0\nchip(1,1) * -X 0\nchip(1,0) * -Y 0\n";
    const channel_proof circle = proof_of(clockwise);
    CHECK(circle.verdict == route_verdict::cycle);
    CHECK(circle.cycle.size() == 4);
    CHECK_THAT(circle.text, Contains("chip(0,0).+X VL 0") && Contains("back to the first"));
    // Who turns back in time breaks it.
    CHECK(proof_of("chip(0,0) * +X 0\nchip(0,1) * +Y 0\nchip(1,1) * -X 1\nchip(1,0) * -Y 1\n"
                   "chip(1,0) chip(0,1) +X 0\nchip(1,1) chip(0,1) -Y 0\nchip(1,0) chip(1,1) +X 0\n")
              .verdict == route_verdict::deadlock_free);
    const channel_proof ends = proof_of("chip(0,0) * +X 0\nchip(0,1) * +Y 0\nchip(1,1) * -X 0\n");
    CHECK(ends.verdict == route_verdict::unreachable);
    CHECK_THAT(ends.text, Contains("6 of 12 pairs have no route: chip(0,1) to chip(0,0)"));
    CHECK(proof_of("chip(0,0) * +X 0\nchip(0,1) * -X 0\nchip(1,1) * -X 0\nchip(1,0) * +X 0\n").verdict ==
          route_verdict::livelock);
}

TEST_CASE("what an endpoint sends to itself goes by the tables where they have a way for it")
{
    star_description d;
    d.machines = 3;
    const fabric_plan star = star_plan(d);
    const std::string own = text_of_route_tables(star, routes_of(star_routing(3)));
    CHECK_THAT(own, Contains("nic(0) nic(0) port0 0\n") && Contains("switch nic(0) port0 0\n"));
    std::vector<route_tables_problem> problems;
    const table_routing tables(star, read_route_tables(own, star, problems));
    packet p;
    p.destination = 0;
    CHECK(tables.route(0, star_routing::k_to_machine, p).out_port == star_routing::k_to_switch);
    CHECK(tables.route(0, star_routing::k_to_switch, p).out_port == star_routing::k_to_machine);
    p.destination = 1;
    CHECK(tables.route(1, star_routing::k_to_switch, p).out_port == star_routing::k_to_machine);
}

TEST_CASE("any end of line and a byte-order mark are read")
{
    const mesh m = mesh_of_size(1, 2);
    for (const char* text : {"\xef\xbb\xbf" "chip(0,0) 1 +X 0\rchip(0,1) 0 -X 0\r", "chip(0,0) 1 +X 0\r\nchip(0,1) 0 -X 0"}) {
        std::vector<route_tables_problem> problems;
        const table_routing tables(m.plan(), read_route_tables(text, m.plan(), problems));
        CHECK(problems.empty());
        CHECK(prove_deadlock_free(m.plan(), routes_of(tables)));
    }
    CHECK(problems_of("\r\n\r\nx\x1b[31m y z 0\n", m.plan()).front() ==
          "3:1: 'x?[31m' is no router here; a name is for example chip(0,0).");
}
