// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Detours and their proof, without simulation. hw/ici_faults_test.cpp runs what is proved here.
#include "hw/routing/dimension_order.h"
#include "hw/routing/detour_routing.h"
#include "platforms/workload/traffic.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace weft;

namespace {

mesh_description mesh_of(std::uint32_t rows, std::uint32_t cols, std::vector<mesh_region> failed = {},
                         std::vector<mesh_link> down = {})
{
    mesh_description d;
    d.rows = rows;
    d.cols = cols;
    d.vls = 2;
    d.failed = std::move(failed);
    d.links_down = std::move(down);
    return d;
}

/// Links from every router to every other, shortest ways over what works and without wrap links.
std::vector<std::vector<std::uint32_t>> shortest(const mesh& m)
{
    const fabric_plan& g = m.plan();
    std::vector<std::vector<std::uint32_t>> next(m.ranks());
    for (const plan_link& l : g.links)
        if (l.works && !m.is_wrap_link(l))
            next[l.from].push_back(l.to);
    std::vector<std::vector<std::uint32_t>> all;
    for (std::uint32_t from = 0; from < m.ranks(); ++from) {
        std::vector<std::uint32_t> hops(m.ranks(), 9999);
        std::vector<std::uint32_t> queue{from};
        hops[from] = 0;
        for (std::size_t i = 0; i < queue.size(); ++i)
            for (const std::uint32_t to : next[queue[i]])
                if (hops[to] == 9999) {
                    hops[to] = hops[queue[i]] + 1;
                    queue.push_back(to);
                }
        all.push_back(hops);
    }
    return all;
}

struct walked {
    std::uint32_t hops = 0;
    bool dimension_order = true; ///< X before Y, toward the destination, VL 0
};

/// One route, link by link.
walked walk(const mesh& m, const std::vector<std::uint32_t>& base, const std::vector<std::uint32_t>& out,
            const route_function& route, std::uint32_t from, std::uint32_t to)
{
    walked w;
    std::uint32_t at = from, in_port = 4, vl = 0;
    const mesh::place there = m.place_of(to);
    while (at != to && w.hops < 10000) {
        const route_step s = route({at, in_port, vl, to, 0});
        const mesh::place here = m.place_of(at);
        const std::uint32_t wanted =
            here.col != there.col ? (there.col > here.col ? 0u : 1u) : (there.row > here.row ? 2u : 3u);
        w.dimension_order = w.dimension_order && s.out_port == wanted && s.vl == 0;
        const plan_link& l = m.plan().links.at(out[base[at] + s.out_port]);
        at = l.to;
        in_port = l.to_port;
        vl = s.vl;
        ++w.hops;
    }
    return w;
}

/// Whether every link of the dimension-order path works.
bool path_is_free(const mesh& m, const std::vector<std::uint32_t>& base, const std::vector<std::uint32_t>& out,
                  std::uint32_t from, std::uint32_t to)
{
    const mesh::place there = m.place_of(to);
    while (from != to) {
        const mesh::place here = m.place_of(from);
        const std::uint32_t port =
            here.col != there.col ? (there.col > here.col ? 0u : 1u) : (there.row > here.row ? 2u : 3u);
        const std::uint32_t link = out[base[from] + port];
        if (link == mesh::k_none)
            return false;
        from = m.plan().links[link].to;
    }
    return true;
}

struct verdict {
    channel_proof proof;
    detour_rule rule = {};
    std::uint32_t longest_excess = 0; ///< links beyond the shortest way, over all pairs
    std::uint64_t longer = 0;         ///< pairs with any
    std::uint64_t displaced = 0;      ///< pairs whose dimension-order path is free and that do not take it
};

bool is_x_then_y(const detour_rule& r) { return r.kind == detour_rule::two_sets && r.first == detour_rule{}.first; }

verdict judge(const mesh_description& d, std::uint32_t vls = 2)
{
    const mesh m(d);
    const detour_plan plan = plan_detours(m, vls);
    INFO(plan.unreachable);
    CHECK(plan.complete);
    const detour_policy policy(plan.table);
    const route_function route = routes_of(policy);
    verdict v{prove_deadlock_free(m.plan(), route), plan.rule};
    INFO(v.proof.text);
    CHECK(v.proof.verdict == route_verdict::deadlock_free);
    if (!v.proof)
        return v;
    const auto best = shortest(m);
    const std::vector<std::uint32_t> base = m.plan().port_base();
    const std::vector<std::uint32_t> out = m.plan().out_links();
    for (std::uint32_t from = 0; from < m.ranks(); ++from)
        for (std::uint32_t to = 0; to < m.ranks(); ++to) {
            if (from == to)
                continue;
            const walked w = walk(m, base, out, route, from, to);
            v.longest_excess = std::max(v.longest_excess, w.hops - best[from][to]);
            v.longer += w.hops != best[from][to] ? 1 : 0;
            v.displaced += !w.dimension_order && path_is_free(m, base, out, from, to) ? 1 : 0;
        }
    return v;
}

} // namespace

TEST_CASE("every even block at every position of 8x8 is routed around on shortest ways and proved")
{
    std::uint32_t cases = 0;
    for (const auto& [rows, cols] : {std::pair{2u, 2u}, {4u, 2u}, {2u, 4u}, {4u, 4u}})
        for (std::uint32_t row = 0; row + rows <= 8; ++row)
            for (std::uint32_t col = 0; col + cols <= 8; ++col) {
                INFO(fmt::format("{}x{} at ({},{})", rows, cols, row, col));
                const verdict v = judge(mesh_of(8, 8, {{row, col, rows, cols}}));
                CHECK(is_x_then_y(v.rule));
                CHECK(v.longest_excess == 0);
                CHECK(v.displaced == 0);
                ++cases;
            }
    CHECK(cases == 49 + 35 + 35 + 25);
}

TEST_CASE("pairs of blocks on 16x32 are routed around and proved")
{
    traffic_random random(7);
    const std::pair<std::uint32_t, std::uint32_t> shapes[] = {{2, 2}, {4, 2}, {2, 4}, {4, 4}, {8, 2}, {2, 8}};
    std::uint32_t excess = 0, cases = 0;
    std::uint64_t trees = 0, longer = 0, pairs = 0;
    while (cases < 12) {
        std::vector<mesh_region> two;
        for (int i = 0; i < 2; ++i) {
            const auto& [rows, cols] = shapes[random.below(6)];
            two.push_back({2 * random.below((16 - rows) / 2 + 1), 2 * random.below((32 - cols) / 2 + 1), rows, cols});
        }
        const auto apart = [](std::uint32_t a, std::uint32_t n, std::uint32_t b, std::uint32_t k) {
            return a + n <= b || b + k <= a;
        };
        if (!apart(two[0].row, two[0].rows, two[1].row, two[1].rows) &&
            !apart(two[0].col, two[0].cols, two[1].col, two[1].cols))
            continue;
        const mesh_description d = mesh_of(16, 32, two);
        INFO(fmt::format("({},{}) {}x{}, ({},{}) {}x{}", two[0].row, two[0].col, two[0].rows, two[0].cols, two[1].row,
                         two[1].col, two[1].rows, two[1].cols));
        const verdict v = judge(d);
        CHECK(v.displaced == 0);
        excess = std::max(excess, v.longest_excess);
        longer += v.longer;
        pairs += v.proof.pairs;
        trees += v.rule.kind == detour_rule::tree ? 1 : 0;
        ++cases;
    }
    CHECK(trees == 0);
    CHECK(excess <= 6); // links, in a mesh where the longest way has 46
    CHECK(longer * 5000 < pairs);
}

TEST_CASE("every pair of disjoint 2x2 blocks that leaves 8x8 whole is routed around and proved")
{
    std::uint32_t cases = 0, trees = 0;
    std::uint32_t excess = 0;
    std::uint64_t longer = 0, pairs = 0;
    for (std::uint32_t a = 0; a < 49; ++a)
        for (std::uint32_t b = a + 1; b < 49; b += 3) {
            const mesh_region p{a / 7, a % 7, 2, 2}, q{b / 7, b % 7, 2, 2};
            if (q.row < p.row + 2 && p.col < q.col + 2 && q.col < p.col + 2)
                continue;
            const mesh m(mesh_of(8, 8, {p, q}));
            const auto hops = shortest(m);
            if (std::find(hops[0].begin(), hops[0].end(), 9999u) != hops[0].end())
                continue;
            INFO(fmt::format("({},{}) and ({},{})", p.row, p.col, q.row, q.col));
            const verdict v = judge(mesh_of(8, 8, {p, q}));
            CHECK(v.displaced == 0);
            excess = std::max(excess, v.longest_excess);
            longer += v.longer;
            pairs += v.proof.pairs;
            trees += v.rule.kind == detour_rule::tree ? 1 : 0;
            ++cases;
        }
    CHECK(cases == 320);
    CHECK(trees <= 1); // the others by sets of ports
    CHECK(excess <= 4);
    CHECK(longer * 5000 < pairs);
}

TEST_CASE("every single link of 6x5 is routed around and proved")
{
    const mesh whole(mesh_of(6, 5));
    for (const plan_link& l : whole.plan().links) {
        const mesh::place at = whole.place_of(l.from);
        INFO(whole.plan().routers[l.from].name << " " << l.from_port);
        const verdict v = judge(mesh_of(6, 5, {}, {{at.row, at.col, l.from_port}}));
        CHECK(is_x_then_y(v.rule));
        CHECK(v.longest_excess == 0);
        CHECK(v.displaced == 0);
    }
}

TEST_CASE("a hole that needs more turns than two passes have is left by the tree")
{
    // A spiral of failed chips: the way out turns more often than X, Y, X, Y.
    const mesh_description d =
        mesh_of(9, 9, {{1, 1, 1, 7}, {2, 7, 6, 1}, {7, 1, 1, 6}, {3, 1, 4, 1}, {3, 2, 1, 4}, {4, 5, 2, 1}});
    const mesh m(d);
    CHECK_FALSE(plan_detours_by(m, {}).complete);
    const verdict v = judge(d);
    CHECK(v.rule.kind == detour_rule::tree);
    CHECK(v.displaced == 0);
}

TEST_CASE("with one VL the tree alone serves every pair")
{
    const verdict v = judge(mesh_of(8, 8, {{2, 2, 2, 4}}), 1);
    CHECK(v.rule.kind == detour_rule::tree_only);
}

TEST_CASE("chips without a way are named")
{
    const mesh m(mesh_of(4, 4, {}, {{3, 3, k_minus_x}, {3, 3, k_minus_y}}));
    const detour_plan plan = plan_detours(m, 2);
    CHECK_FALSE(plan.complete);
    CHECK(plan.unreachable == "chip(3,3) cannot reach chip(0,0)");
    const detour_policy policy(plan.table);
    const channel_proof proof = prove_deadlock_free(m.plan(), routes_of(policy));
    CHECK(proof.verdict == route_verdict::unreachable);
    CHECK(proof.broken_pairs == 15);
    CHECK(proof.text.find("15 of 240 pairs have no route: chip(3,3) to chip(0,0)") == 0);
}

TEST_CASE("the healthy mesh and tori are proved and their figures counted by hand")
{
    const auto prove = [](std::uint32_t rows, std::uint32_t cols, bool wrap, std::uint32_t vls) {
        mesh_description d = mesh_of(rows, cols);
        d.wrap_rows = d.wrap_cols = wrap;
        d.vls = vls;
        d.local_ports = 2;
        const mesh m(d);
        const dimension_order order(m.grid());
        return prove_deadlock_free(m.plan(), routes_of(order));
    };
    // Straight on: 6 a row and direction, 8 rows, 2 directions, 2 dimensions; turns: 14 inputs a row x 14 outputs a column.
    const channel_proof healthy = prove(8, 8, false, 2);
    CHECK(healthy.text == "deadlock-free: 448 channels, 388 dependencies, acyclic; longest route 14 links");
    CHECK(healthy.used_channels == 224);
    CHECK(healthy.pairs == 64 * 63);
    CHECK(prove(8, 8, false, 1));
    const channel_proof torus = prove(8, 8, true, 2);
    CHECK(torus);
    CHECK(torus.longest_route == 8);
    CHECK(prove(5, 3, true, 2));
    CHECK(prove(32, 32, false, 2));
}

TEST_CASE("a torus without datelines is caught with its shortest cycle")
{
    mesh_description d = mesh_of(1, 5);
    d.wrap_cols = true;
    d.vls = 1;
    const mesh m(d);
    const dimension_order order(m.grid());
    const route_function rule = routes_of(order);
    const channel_proof proof = prove_deadlock_free(m.plan(), [&](const route_request& r) {
        return route_step{rule(r).out_port, 0};
    });
    CHECK(proof.verdict == route_verdict::cycle);
    REQUIRE(proof.cycle.size() == 5);
    for (const cycle_step& s : proof.cycle) {
        const mesh::place from = m.place_of(s.source), to = m.place_of(s.destination);
        CHECK((from.col + 2) % 5 == to.col);
    }
    CHECK(
        proof.text.find(
            "can deadlock: a cycle of 5 channels:\n  chip(0,0).+X VL 0 ->   (held by packets from chip(0,0) to chip(0,2))") ==
        0);
}

TEST_CASE("a route in circles is a livelock")
{
    const mesh m(mesh_of(2, 2));
    // Round and round, clockwise, and never home.
    const channel_proof proof = prove_deadlock_free(m.plan(), [&](const route_request& r) {
        static constexpr std::uint32_t k_clockwise[] = {k_plus_x, k_plus_y, k_minus_y, k_minus_x};
        return route_step{k_clockwise[r.router], 0};
    });
    CHECK(proof.verdict == route_verdict::livelock);
    CHECK(proof.broken_pairs == 12);
    CHECK(proof.text.find("the route comes back to chip(") != std::string::npos);
}

TEST_CASE("the proof finds the shorter of two cycles in a fabric that is no mesh")
{
    // Five switches; one ring of 3 and one of 4 share switch 0. Ports: 0, 1 to the rings, 2 the endpoint.
    fabric_plan g;
    for (int i = 0; i < 6; ++i)
        g.routers.push_back({fmt::format("s{}", i), 3});
    for (std::uint32_t i = 0; i < 6; ++i)
        g.endpoints.push_back({i, 2, 1});
    const auto ring = [&](const std::vector<std::uint32_t>& nodes, std::uint32_t port) {
        for (std::size_t i = 0; i < nodes.size(); ++i)
            g.links.push_back({nodes[i], port, nodes[(i + 1) % nodes.size()], port, 1});
    };
    ring({0, 1, 2}, 0);
    ring({0, 3, 4, 5}, 1);
    const auto of_first = [](std::uint32_t s) { return s == 1 || s == 2; };
    const route_function route = [&](const route_request& r) {
        if (r.router == r.destination)
            return route_step{2, 0};
        if (r.router == 0)
            return route_step{of_first(r.destination) ? 0u : 1u, 0};
        return route_step{of_first(r.router) ? 0u : 1u, 0};
    };
    const channel_proof proof = prove_deadlock_free(g, route);
    CHECK(proof.verdict == route_verdict::cycle);
    CHECK(proof.cycle.size() == 3);
    CHECK(proof.channels == 7);
    CHECK(proof.text.find("s0.port0 VL 0 -> ") != std::string::npos);
}
