// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Generators of fabric plans: routers, links and hops counted by hand, routing proved on each.
#include "hw/routing/channel_dependency.h"
#include "hw/routing/dimension_order.h"
#include "hw/routing/leaf_spine.h"
#include "hw/routing/plan_part.h"
#include "hw/routing/route_tables.h"
#include "hw/routing/star.h"

#include <catch2/catch.hpp>

#include <set>

using namespace weft;

namespace {

grid made(std::vector<grid_axis> axes, std::uint32_t vls = 2, std::vector<bool> failed = {})
{
    grid_description d;
    d.axes = std::move(axes);
    d.vls = vls;
    d.failed = std::move(failed);
    return grid(d);
}

/// Every port is wired once, and every link has its way back.
void check_wiring(const fabric_plan& plan)
{
    std::set<std::pair<std::uint32_t, std::uint32_t>> out, in;
    for (const plan_link& l : plan.links) {
        CHECK(l.from != l.to);
        CHECK(l.from_port < plan.routers[l.from].ports);
        CHECK(l.to_port < plan.routers[l.to].ports);
        CHECK(out.insert({l.from, l.from_port}).second);
        CHECK(in.insert({l.to, l.to_port}).second);
    }
    CHECK(out == in);
}

channel_proof proved(const grid& g) { return prove_deadlock_free(g.plan(), routes_of(dimension_order(g))); }

} // namespace

TEST_CASE("grids have the links of their kind", "[routing][fast]")
{
    using k = axis_kind;
    struct shape {
        std::vector<grid_axis> axes;
        std::size_t links;
        std::uint32_t longest;
    };
    const std::vector<shape> shapes{
        {{{5}}, 8, 4},                                        // a line
        {{{5, k::ring}}, 10, 2},                              // a ring
        {{{6, k::full}}, 30, 1},                              // a full mesh
        {{{4, k::line, "X"}, {3, k::line, "Y"}}, 34, 5},      // 3 x 3 x 2 + 4 x 2 x 2
        {{{4, k::ring, "X"}, {4, k::ring, "Y"}}, 64, 4},      // Trn1
        {{{4, k::ring}, {4, k::ring}, {4, k::ring}}, 384, 6}, // Trn2: 64 x 6
        {{{2, k::line, "X"}, {8, k::line, "Y"}}, 44, 8},      // a ladder: 8 rungs, 2 x 7 rails
        {{{2, k::line, "X"}, {8, k::ring, "Y"}}, 48, 5},      // with loop-back cables
        {{{4, k::full}, {4, k::full}, {2, k::full}}, 224, 3}, // UB: 32 x (3 + 3 + 1)
        {{{3, k::ring}, {2, k::full}, {2, k::line}}, 48, 3},  // a mixture: 24 + 12 + 12
        {{{1}, {7, k::ring}}, 14, 3},
        {{{2, k::ring}}, 2, 1}, // one cable
    };
    for (const shape& s : shapes) {
        const grid g = made(s.axes);
        check_wiring(g.plan());
        CHECK(g.plan().links.size() == s.links);
        const channel_proof proof = proved(g);
        INFO(proof.text);
        CHECK(proof);
        CHECK(proof.longest_route == s.longest);
    }
}

TEST_CASE("a ring of two has one cable and each router its way over it", "[routing][fast]")
{
    grid_description d;
    d.axes = {{2, axis_kind::ring, "X"}, {3, axis_kind::ring, "Y"}};
    d.vls = 2;
    const grid g(d);
    CHECK(g.plan().links.size() == 2 * 3 + 2 * 2 * 3);
    const dimension_order order(g);
    const channel_proof proof = prove_deadlock_free(g.plan(), routes_of(order));
    CHECK(proof);
    CHECK(proof.longest_route == 2);
}

TEST_CASE("dimension order counts its hops as the proof walks them", "[routing][fast]")
{
    const grid g = made({{5, axis_kind::ring, "X"}, {3, axis_kind::full, "Y"}, {4, axis_kind::line, "Z"}});
    const dimension_order order(g);
    const route_function route = routes_of(order);
    const std::vector<std::uint32_t> base = g.plan().port_base(), out = g.plan().out_links();
    for (std::uint32_t from = 0; from < g.ranks(); ++from)
        for (std::uint32_t to = 0; to < g.ranks(); ++to) {
            std::uint32_t at = from, port = g.first_local(), vl = 0, hops = 0;
            while (at != to && hops < 99) {
                const route_step s = route({at, port, vl, to, 0});
                const plan_link& l = g.plan().links.at(out.at(base[at] + s.out_port));
                at = l.to, port = l.to_port, vl = s.vl, ++hops;
            }
            CHECK(hops == order.hops(from, to));
        }
    CHECK(g.plan().routers[7].name == "chip(0,1,2)");
    CHECK(g.plan().port_name(0) == "+X");
    CHECK(g.plan().port_name(4) == "Y2");
    CHECK(g.plan().port_name(5) == "+Z");
}

TEST_CASE("a ring needs a second VL for its dateline", "[routing][fast]")
{
    const grid g = made({{5, axis_kind::ring}}, 1);
    CHECK(proved(g).verdict == route_verdict::unreachable); // it asks for VL 1
    const grid three = made({{3, axis_kind::ring}}, 1); // no way of one hop crosses and goes on
    CHECK(proved(three).verdict == route_verdict::unreachable);
    CHECK(proved(made({{4, axis_kind::line}, {4, axis_kind::full}}, 1)));
}

TEST_CASE("routers that have failed do not exist", "[routing][fast]")
{
    std::vector<bool> failed(12, false);
    failed[5] = true; // column 1 of row 1
    const grid g = made({{4, axis_kind::line, "X"}, {3, axis_kind::line, "Y"}}, 1, failed);
    CHECK(g.ranks() == 11);
    CHECK(g.plan().links.size() == 34 - 8);
    CHECK(g.rank_at(5) == grid::k_none);
    CHECK(g.rank_at(6) == 5);
    CHECK(g.position_of(5) == 6);
    CHECK(proved(g).verdict == route_verdict::unreachable); // dimension order knows nothing of it
}

TEST_CASE("stars and folded Clos networks are proved", "[routing][fast]")
{
    for (const std::uint32_t machines : {1u, 2u, 7u}) {
        star_description d;
        d.machines = machines;
        const fabric_plan plan = star_plan(d);
        check_wiring(plan);
        CHECK(plan.links.size() == 2 * machines);
        CHECK(prove_deadlock_free(plan, routes_of(star_routing(machines))));
    }
    for (const auto& [leaves, spines, each] : {std::tuple{4u, 2u, 3u}, {1u, 1u, 5u}, {5u, 3u, 1u}}) {
        leaf_spine_description d;
        d.leaves = leaves, d.spines = spines, d.machines_per_leaf = each;
        const fabric_plan plan = leaf_spine_plan(d);
        check_wiring(plan);
        CHECK(plan.endpoints.size() == std::size_t{leaves} * each);
        const channel_proof proof = prove_deadlock_free(plan, routes_of(leaf_spine_routing(d)));
        INFO(proof.text);
        CHECK(proof);
        CHECK(proof.longest_route == (leaves > 1 ? 4 : 2));
        // What `weft check --routes` prints is what `routing:` reads.
        std::vector<route_tables_problem> wrong;
        const std::string text = text_of_route_tables(plan, routes_of(leaf_spine_routing(d)));
        const table_routing again(plan, read_route_tables(text, plan, wrong));
        CHECK(wrong.empty());
        CHECK(prove_deadlock_free(plan, routes_of(again)));
    }
}

TEST_CASE("plans are appended with their numbers moved", "[routing][fast]")
{
    fabric_plan plan = made({{3, axis_kind::ring}}).plan();
    const fabric_plan other = star_plan({2});
    const std::uint32_t first = plan.append(other);
    CHECK(first == 3);
    CHECK(plan.routers.size() == 6);
    CHECK(plan.links.size() == 6 + 4);
    CHECK(plan.links[6].from == 3);
    CHECK(plan.links[6].to == 5);
    CHECK(plan.endpoints.back().router == 4);
    check_wiring(plan);
}

TEST_CASE("a plan falls into parts with gates where links cross", "[routing][fast]")
{
    const grid g = made({{4, axis_kind::line, "X"}, {2, axis_kind::line, "Y"}});
    std::vector<std::uint32_t> part; // columns 0 and 1, and 2 and 3
    for (std::uint32_t r = 0; r < g.ranks(); ++r)
        part.push_back(g.coordinate(r, 0) / 2);
    const plan_part left = part_of(g.plan(), part, 0), right = part_of(g.plan(), part, 1);
    CHECK(left.plan.routers.size() == 4);
    CHECK(left.plan.links.size() == 8); // of 20 links 4 cross
    CHECK(right.plan.links.size() == 8);
    REQUIRE(left.plan.gates.size() == 2);
    CHECK(left.plan.routers[left.plan.gates[0].router].name == "chip(0,1)");
    CHECK(left.plan.gates[0].port == 0);
    CHECK(left.far_ends[0] == std::pair{2u, 1u});
    CHECK(right.router_of == std::vector<std::uint32_t>{2, 3, 6, 7});
    CHECK(right.endpoint_of == right.router_of);
    fabric_plan one_way = g.plan();
    one_way.links.erase(one_way.links.begin() + 3); // from chip(1,0) back to chip(0,0)
    std::vector<std::uint32_t> alone(g.ranks(), 1);
    alone[0] = 0;
    CHECK_THROWS_WITH(part_of(one_way, alone, 0), Catch::Matchers::Contains("chip(0,0).+Y leaves a part"));
}
