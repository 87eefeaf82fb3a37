// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Links that are down in one direction only: whatever is connected is routed, on one VL too, or refused with the reason that
// holds.
#include "hw/routing/mesh.h"
#include "platforms/tpu_v3/tpu_v3.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace weft;

namespace {

/// Every directed link of a mesh as a fault that routing knows.
std::vector<link_fault_config> links_of(std::uint32_t rows, std::uint32_t cols)
{
    mesh_description d;
    d.rows = rows;
    d.cols = cols;
    const mesh whole(d);
    std::vector<link_fault_config> all;
    for (const plan_link& l : whole.plan().links) {
        const mesh::place at = whole.place_of(l.from);
        all.push_back({at.row, at.col, static_cast<mesh_direction>(l.from_port)});
    }
    return all;
}

tpu_v3_config mesh_with(std::uint32_t rows, std::uint32_t cols, std::uint32_t vls, std::vector<link_fault_config> down)
{
    tpu_v3_config config;
    config.mesh.rows = rows;
    config.mesh.cols = cols;
    config.ici.virtual_lanes = vls;
    config.faults.links_down = std::move(down);
    return config;
}

/// Whether every chip has a path to every other: all pairs, by Warshall, apart from the product's search.
bool connected(const mesh& m)
{
    std::vector<std::vector<bool>> path(m.ranks(), std::vector<bool>(m.ranks(), false));
    for (const plan_link& l : m.plan().links)
        path[l.from][l.to] = l.works;
    for (std::uint32_t via = 0; via < m.ranks(); ++via)
        for (std::uint32_t from = 0; from < m.ranks(); ++from)
            for (std::uint32_t to = 0; path[from][via] && to < m.ranks(); ++to)
                path[from][to] = path[from][to] || path[via][to];
    for (std::uint32_t from = 0; from < m.ranks(); ++from)
        for (std::uint32_t to = 0; to < m.ranks(); ++to)
            if (from != to && !path[from][to])
                return false;
    return true;
}

/// Whether no routing on one VL can be free of deadlock: the dependencies that some pair cannot do without make a cycle. A
/// dependency is needed when forbidding it, and no other, leaves a pair without a path.
bool must_deadlock(const mesh& m)
{
    std::vector<plan_link> links;
    for (const plan_link& l : m.plan().links)
        if (l.works)
            links.push_back(l);
    const auto count = static_cast<std::uint32_t>(links.size());
    const auto all_served_without = [&](std::uint32_t held, std::uint32_t wanted) {
        for (std::uint32_t source = 0; source < m.ranks(); ++source) {
            std::vector<bool> passed(count, false), reached(m.ranks(), false);
            std::vector<std::uint32_t> queue;
            reached[source] = true;
            const auto pass = [&](std::uint32_t l) {
                if (!passed[l])
                    queue.push_back(l);
                passed[l] = reached[links[l].to] = true;
            };
            for (std::uint32_t l = 0; l < count; ++l)
                if (links[l].from == source)
                    pass(l);
            for (std::size_t i = 0; i < queue.size(); ++i)
                for (std::uint32_t l = 0; l < count; ++l)
                    if (links[l].from == links[queue[i]].to && !(queue[i] == held && l == wanted))
                        pass(l);
            if (std::find(reached.begin(), reached.end(), false) != reached.end())
                return false;
        }
        return true;
    };
    std::vector<std::vector<bool>> after(count, std::vector<bool>(count, false)); // transitive in the end
    for (std::uint32_t a = 0; a < count; ++a)
        for (std::uint32_t b = 0; b < count; ++b)
            after[a][b] = links[a].to == links[b].from && !all_served_without(a, b);
    for (std::uint32_t via = 0; via < count; ++via)
        for (std::uint32_t a = 0; a < count; ++a)
            for (std::uint32_t b = 0; after[a][via] && b < count; ++b)
                after[a][b] = after[a][b] || after[via][b];
    for (std::uint32_t a = 0; a < count; ++a)
        if (after[a][a])
            return true;
    return false;
}

struct tally {
    std::uint32_t routed = 0;
    std::uint32_t cut_off = 0;  ///< some pair has no path at all
    std::uint32_t no_order = 0; ///< connected, refused all the same
};

void judge(const tpu_v3_config& config, tally& t)
{
    const tpu_v3_routing routing(config);
    const std::string problem = routing.problem();
    INFO(problem);
    if (!connected(routing.topology)) {
        CHECK(problem.find("leave chips that no route connects: chip(") == 0);
        ++t.cut_off;
    } else if (problem.empty()) {
        CHECK(routing.proof().verdict == route_verdict::deadlock_free);
        CHECK(routing.proof().broken_pairs == 0);
        ++t.routed;
    } else {
        CHECK(problem.find("leave every chip connected, but no routing free of deadlock was found on 1 virtual lane") ==
              0);
        tpu_v3_config wider = config;
        wider.ici.virtual_lanes = 2;
        const bool two_do = tpu_v3_routing(wider).problem().empty();
        CHECK((problem.find("with ici.virtual_lanes: 2 there is one") != std::string::npos) == two_do);
        ++t.no_order;
        if (config.mesh.cols == 2) // all there is to choose is the way round
            CHECK(must_deadlock(routing.topology));
    }
}

} // namespace

TEST_CASE("one VL: each single one-way failure of 4x4 is routed")
{
    tally t;
    for (const link_fault_config& link : links_of(4, 4)) {
        INFO(fmt::format("({},{}) {}", link.row, link.col, name_of(link.direction)));
        judge(mesh_with(4, 4, 1, {link}), t);
    }
    CHECK(t.routed == 48);
}

TEST_CASE("one VL: each pair of one-way failures of 4x4 is routed unless a chip is cut off")
{
    const std::vector<link_fault_config> links = links_of(4, 4);
    tally t;
    for (std::size_t a = 0; a < links.size(); ++a)
        for (std::size_t b = a + 1; b < links.size(); ++b) {
            INFO(fmt::format("({},{}) {} and ({},{}) {}", links[a].row, links[a].col, name_of(links[a].direction),
                             links[b].row, links[b].col, name_of(links[b].direction)));
            judge(mesh_with(4, 4, 1, {links[a], links[b]}), t);
        }
    INFO(fmt::format("{} routed, {} cut off, {} without an order", t.routed, t.cut_off, t.no_order));
    CHECK(t.cut_off == 8); // both links out of a corner, or both into it
    CHECK(t.no_order == 0);
    CHECK(t.routed == 48 * 47 / 2 - 8);
}

TEST_CASE("one VL: hardly any pair of one-way failures of other meshes is refused while all chips are connected")
{
    struct expected {
        std::uint32_t rows, cols, no_order;
    };
    // On 2x4 the cut between two columns is crossed to the east by one row only and to the west by the other.
    for (const auto& [rows, cols, no_order] : {expected{2, 2, 4}, {2, 4, 6}, {3, 3, 0}, {3, 4, 0}}) {
        const std::vector<link_fault_config> links = links_of(rows, cols);
        tally t;
        for (std::size_t a = 0; a < links.size(); ++a)
            for (std::size_t b = a; b < links.size(); ++b) {
                INFO(fmt::format("{}x{}: links {} and {}", rows, cols, a, b));
                judge(mesh_with(rows, cols, 1, a == b ? std::vector{links[a]} : std::vector{links[a], links[b]}), t);
            }
        INFO(fmt::format("{}x{}: {} routed, {} cut off, {} without an order", rows, cols, t.routed, t.cut_off,
                         t.no_order));
        CHECK(t.no_order == no_order);
    }
}

TEST_CASE("a ring of one-way links is refused as connected and with remedies that hold")
{
    // 2x2 clockwise: whoever sends to its left holds a channel that the next one wants. One VL can never do.
    const std::vector<link_fault_config> against = {{0, 1, mesh_direction::minus_x},
                                                    {1, 1, mesh_direction::minus_y},
                                                    {1, 0, mesh_direction::plus_x},
                                                    {0, 0, mesh_direction::plus_y}};
    CHECK(must_deadlock(tpu_v3_routing(mesh_with(2, 2, 1, against)).topology));
    const std::string problem = tpu_v3_routing(mesh_with(2, 2, 1, against)).problem();
    INFO(problem);
    CHECK(problem.find(
              "leave every chip connected, but no routing free of deadlock was found on 1 virtual lane: chip(") == 0);
    // With both directions of all down nothing is left, so that is no remedy.
    CHECK(problem.find("faults.links_down") == std::string::npos);
    const bool by_lanes = tpu_v3_routing(mesh_with(2, 2, 2, against)).problem().empty();
    CHECK((problem.find("ici.virtual_lanes: 2") != std::string::npos) == by_lanes);

    // The same ring in the corner of a 4x4, one-way links all around: taken out of service, the rest still connects.
    std::vector<link_fault_config> corner = against;
    corner.push_back({1, 1, mesh_direction::plus_x});
    corner.push_back({1, 0, mesh_direction::plus_y});
    corner.push_back({1, 1, mesh_direction::plus_y});
    const tpu_v3_routing routing(mesh_with(4, 4, 1, corner));
    CHECK(connected(routing.topology));
    INFO(routing.problem());
    CHECK(routing.problem().find("leave every chip connected, but") == 0);
}

TEST_CASE("one VL: faults in both directions keep the routes of the order around the middle")
{
    // Levels are distances from the middle here, whatever joins them: the links of all routes together
    // are those of a plain breadth-first search from there.
    mesh_description d;
    d.rows = d.cols = 8;
    d.vls = 1;
    d.failed = {{2, 2, 2, 4}};
    const detour_plan plan = plan_detours(mesh(d), 1);
    CHECK(plan.complete);
    CHECK(plan.links == 19'568);
}
