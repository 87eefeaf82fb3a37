// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules of lanes: words, what they admit, the proof on the fabric, and rules that are wrong.
#include "hw/ub/ub_fabric_plan.h"
#include "testbenches/support/ub_proof_of.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace weft;

namespace {

ub_shape shape_of(std::uint32_t pods, std::uint32_t rows, std::uint32_t cols, std::uint32_t boards, std::uint32_t npus)
{
    ub_shape s;
    s.pods = pods;
    s.rack_rows = rows;
    s.rack_cols = cols;
    s.hrs = rows * cols > 1;
    s.boards = boards;
    s.npus = npus;
    return s;
}

const ub_path_census::row& row_of(const ub_path_census& c, const std::string& pairs, ub_path_kind kind)
{
    for (const auto& r : c.rows)
        if (r.pairs == pairs && r.kind == kind)
            return r;
    FAIL("no row " + pairs);
    return c.rows.front();
}

} // namespace

TEST_CASE("a word of lanes is a rule")
{
    using c = ub_channel;
    CHECK(problem_of(stand_in_lane_word()).empty());
    CHECK(problem_of(x_before_y_lane_word()).empty());
    CHECK(problem_of(mesh_lane_word()).empty());
    CHECK(problem_of(switched_lane_word()).empty());
    CHECK(problem_of({{c::x_plus}, {c::x_plus, c::y_plus}, {c::x_plus}}) ==
          "X+ stands more than twice in the word: there are two lanes");
    CHECK(problem_of({{c::x_plus, c::y_minus}}) ==
          "Y- cannot share a letter: only directions of one sign are free of circles");
    CHECK_FALSE(problem_of({{c::up, c::down}}).empty());
    CHECK_FALSE(problem_of({{c::local}}).empty());
    const ub_lane_rule r = lane_rule_of({{c::x_plus}, {c::x_minus}, {c::y_plus}, {c::x_plus}});
    CHECK(r.next(c::local, 0, c::x_plus) == 0);
    CHECK(r.next(c::x_plus, 0, c::x_plus) == 0); // onward in one direction
    CHECK(r.next(c::x_minus, 0, c::x_plus) == 1);
    CHECK(r.next(c::y_plus, 0, c::x_minus) == ub_lane_rule::k_refused);
    CHECK(r.next(c::y_plus, 0, c::y_minus) == ub_lane_rule::k_refused);
    const ub_lane_rule mixed = lane_rule_of({{c::x_plus, c::y_plus}, {c::x_minus, c::y_minus}});
    CHECK(mixed.next(c::x_plus, 0, c::y_plus) == 0);
    CHECK(mixed.next(c::y_plus, 0, c::x_plus) == 0);
    CHECK(mixed.next(c::y_minus, 0, c::x_plus) == ub_lane_rule::k_refused);
    CHECK(text_of({{c::x_plus, c::y_plus}, {c::up}, {c::x_plus}}) == "{X+ Y+}, U, X+'");
}

TEST_CASE("the stand-in admits what was counted for it")
{
    const auto t = std::make_shared<ub_topology>(shape_of(1, 3, 3, 4, 4));
    const ub_lane_rule rule = lane_rule_of(stand_in_lane_word());
    const auto c = census_of(ub_paths(t, rule));
    INFO(c.text());
    const auto& between = row_of(c, "between racks", ub_path_kind::detour);
    CHECK(between.sequences_admitted == 260);
    CHECK(between.sequences == 280);
    CHECK(row_of(c, "in a rack", ub_path_kind::detour).sequences_admitted == 44 + 6); // 6 by LRS
    CHECK(row_of(c, "between racks", ub_path_kind::shortest).sequences_admitted == 60);
    CHECK(row_of(c, "between racks", ub_path_kind::borrow).sequences_admitted == 5);
}

TEST_CASE("the rule in use is free of deadlock and admits every shortest and one-detour and borrowed path")
{
    for (const ub_shape& s : {shape_of(1, 1, 1, 8, 8), shape_of(2, 3, 3, 3, 3)}) {
        const auto t = std::make_shared<ub_topology>(s);
        const ub_lane_rule rule = lane_rule_of(lane_word_for(s));
        const channel_proof proof = weft::testing::prove_lanes_of(*t, rule);
        INFO(proof.text);
        CHECK(proof);
        CHECK(proof.used_channels > t->plan().links.size());
        const ub_table_check tables = check_tables(*t, rule);
        INFO(tables.text);
        CHECK(tables);
        const auto c = census_of(ub_paths(t, rule));
        INFO(c.text());
        for (const auto& r : c.rows) {
            CHECK(r.all > 0);
            CHECK(r.admitted == r.all);
        }
    }
}

TEST_CASE("the rule in use proves the baselines")
{
    std::vector<ub_shape> shapes;
    for (const ub_rack_kind kind : {ub_rack_kind::full_mesh_1d_a, ub_rack_kind::full_mesh_1d_b, ub_rack_kind::clos}) {
        ub_shape s;
        s.rack = kind;
        shapes.push_back(s);
        s.rack_rows = s.rack_cols = kind == ub_rack_kind::clos ? 1 : 2;
        shapes.push_back(s);
    }
    ub_shape clos_pod = shape_of(1, 2, 2, 8, 8);
    clos_pod.pod = ub_pod_kind::clos;
    shapes.push_back(clos_pod);
    for (const ub_shape& s : shapes) {
        const ub_topology t(s);
        const ub_lane_rule rule = lane_rule_of(lane_word_for(s));
        const channel_proof proof = weft::testing::prove_lanes_of(t, rule);
        INFO(proof.text);
        CHECK(proof);
        const ub_table_check tables = check_tables(t, rule);
        INFO(static_cast<int>(s.rack) << " " << tables.text);
        CHECK(tables);
    }
}

TEST_CASE("a rule that is wrong is caught with the cycle in words")
{
    const ub_topology t(shape_of(1, 1, 1, 4, 4));
    ub_lane_rule rule = lane_rule_of(mesh_lane_word());
    for (std::uint8_t lane = 0; lane < 2; ++lane) // X and Y in any order, on the lane a packet is on
        for (const auto in : {ub_channel::x_plus, ub_channel::x_minus, ub_channel::y_plus, ub_channel::y_minus})
            for (const auto out : {ub_channel::x_plus, ub_channel::x_minus, ub_channel::y_plus, ub_channel::y_minus})
                rule.set(in, lane, out, lane);
    const channel_proof proof = weft::testing::prove_lanes_of(t, rule);
    CHECK(proof.verdict == route_verdict::cycle);
    CHECK(proof.cycle.size() == 3); // round three NPUs of a board
    CHECK(proof.text.find("can deadlock: a cycle of 3 channels:") == 0);
    CHECK(proof.text.find("npu(p0,r0,b0,0)") != std::string::npos);
    for (std::size_t i = 0; i < proof.cycle.size(); ++i) {
        const auto& a = t.plan().links[proof.cycle[i].link];
        const auto& b = t.plan().links[proof.cycle[(i + 1) % proof.cycle.size()].link];
        CHECK(a.to == b.from);
    }
    // One lane alone is too few: dimension by dimension works, the tables' Y behind another rack's X does not.
    const ub_lane_rule one =
        lane_rule_of({{ub_channel::y_plus}, {ub_channel::y_minus}, {ub_channel::x_plus}, {ub_channel::x_minus}});
    CHECK(weft::testing::prove_lanes_of(t, one));
    CHECK_FALSE(check_tables(t, one));
}

TEST_CASE("no word of single classes admits more detours of a rack than X before Y twice")
{
    using c = ub_channel;
    ub_shape s;
    s.backplane = false;
    const auto t = std::make_shared<ub_topology>(s);
    auto census = census_of(ub_paths(t, lane_rule_of(mesh_lane_word())));
    const auto detour = [&](const ub_lane_word& w) {
        census.judge(lane_rule_of(w));
        const bool shortest = census.rows[0].admitted == census.rows[0].all;
        return shortest ? census.rows[1].sequences_admitted : 0;
    };
    CHECK(census.rows[1].sequences == 56);
    CHECK(detour(stand_in_lane_word()) == 44);
    CHECK(detour(x_before_y_lane_word()) == 52);
    CHECK(detour(mesh_lane_word()) == 56);
    std::vector<c> letters = {c::x_plus, c::x_plus, c::x_minus, c::x_minus,
                              c::y_plus, c::y_plus, c::y_minus, c::y_minus};
    std::uint64_t best = 0, words = 0;
    do {
        ub_lane_word w;
        for (const c letter : letters)
            w.push_back({letter});
        best = std::max(best, detour(w));
        ++words;
    } while (std::next_permutation(letters.begin(), letters.end()));
    CHECK(words == 2520);
    CHECK(best == 52);
}

TEST_CASE("the SuperPod of 8192 NPUs is proved")
{
    const ub_topology t(shape_of(8, 4, 4, 8, 8));
    const ub_lane_rule rule = lane_rule_of(mesh_lane_word());
    const channel_proof proof = weft::testing::prove_lanes_of(t, rule);
    INFO(proof.text);
    CHECK(proof);
    CHECK(proof.channels == 2 * t.plan().links.size());
    CHECK(proof.dependencies > 1'000'000);
    ub_lane_rule broken = rule; // down again onto the lane it came from, at HRS
    broken.set(ub_channel::hrs_down, 0, ub_channel::hrs_up, 0);
    const channel_proof cycle = weft::testing::prove_lanes_of(t, broken);
    CHECK(cycle.verdict == route_verdict::cycle);
    CHECK(cycle.cycle.size() == 4);
}

TEST_CASE("tables under the rule pass the general proof of routes too")
{
    const ub_topology t(shape_of(2, 2, 2, 3, 3));
    const ub_lane_rule rule = lane_rule_of(mesh_lane_word());
    const auto route = [&](const route_request& r) -> route_step {
        const auto& plan = t.plan();
        const std::uint32_t to = plan.endpoint_router[r.destination];
        if (r.router == to)
            return {plan.routers[to].ports + r.destination_port, 0};
        const auto e = look_up(t.table_of(r.router), t.address_of(to));
        const std::uint32_t port = e.port + (r.destination + r.in_port) % e.ways;
        const bool starts = r.in_port >= t.ports(r.router);
        const auto in = starts ? ub_channel::local : plan.links[t.in_link(r.router, r.in_port)].channel;
        const auto lane = static_cast<std::uint8_t>(r.in_vl);
        return {port, rule.next(in, lane, plan.links[t.out_link(r.router, port)].channel)};
    };
    fabric_plan one_class = ub_fabric_plan(t.plan(), ub_config{});
    for (plan_link& l : one_class.links)
        l.vls = k_ub_lanes_per_class;
    const channel_proof routes = prove_deadlock_free(one_class, route);
    INFO(routes.text);
    CHECK(routes);
    CHECK(routes.longest_route == 8); // NIC to NIC in another pod and plane
    const channel_proof turns = weft::testing::prove_lanes_of(t, rule);
    CHECK(turns.channels == routes.channels);
    CHECK(turns.dependencies > routes.dependencies);
}
