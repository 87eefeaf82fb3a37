// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Wiring and routing of Trainium chips, without simulation.
#include "hw/routing/neuronlink/neuronlink_routing.h"
#include "hw/routing/channel_dependency.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

using namespace weft;

namespace {

neuronlink_shape shape_of(std::uint32_t rows, std::uint32_t cols, std::uint32_t nodes, std::uint32_t ranks) { return {{cols, rows, nodes}, ranks, 2}; }

/// Chips that a tree reaches: over joints, which always work, and links that work both ways.
std::set<std::uint32_t> reached_from_chip_0(const neuronlink_shape& s, const std::vector<neuronlink_link>& down)
{
    const auto works = [&](std::uint32_t chip, std::uint32_t axis, bool up) {
        return std::none_of(down.begin(), down.end(), [&](const neuronlink_link& d) { return d.chip == chip && d.axis == axis && d.up == up; });
    };
    std::set<std::uint32_t> seen = {0};
    std::vector<std::uint32_t> open = {0};
    while (!open.empty()) {
        const std::uint32_t chip = open.back();
        open.pop_back();
        for (std::uint32_t axis = 0; axis < k_neuronlink_axes; ++axis)
            for (const bool up : {true, false})
                if (s.has_link(chip, axis, up)) {
                    const std::uint32_t next = s.neighbour(chip, axis, up);
                    if (works(chip, axis, up) && works(next, axis, !up) && seen.insert(next).second)
                        open.push_back(next);
                }
    }
    return seen;
}

std::uint32_t distance(const neuronlink_shape& s, std::uint32_t a, std::uint32_t b)
{
    std::uint32_t sum = 0;
    for (std::uint32_t axis = 0; axis < k_neuronlink_axes; ++axis) {
        const std::uint32_t x = s.coordinate(a, axis), y = s.coordinate(b, axis), direct = x > y ? x - y : y - x;
        sum += s.is_ring(axis) ? std::min(direct, s.size[axis] - direct) : direct;
    }
    return sum;
}

} // namespace

TEST_CASE("neuronlink: every link has its way back and sits at the half that the figure gives")
{
    for (const neuronlink_shape& s : {shape_of(4, 4, 1, 4), shape_of(3, 5, 1, 2), shape_of(2, 2, 2, 4), shape_of(1, 2, 1, 1), shape_of(4, 4, 4, 4)}) {
        const fabric_plan plan = plan_neuronlink(s, {}, {});
        INFO(plan.routers.front().name << " and " << plan.routers.size() << " routers");
        CHECK(plan.endpoints.size() == s.chips() * s.ranks);
        std::set<std::pair<std::uint32_t, std::uint32_t>> used;
        for (const plan_link& l : plan.links) {
            CHECK(used.insert({l.from, l.from_port}).second); // a port has one link
            CHECK(std::any_of(plan.links.begin(), plan.links.end(), [&](const plan_link& b) {
                return b.from == l.to && b.from_port == l.to_port && b.to == l.from && b.to_port == l.from_port;
            }));
        }
        for (std::uint32_t chip = 0; chip < s.chips(); ++chip) {
            CHECK(s.half_of_link(chip, 0, true) != s.half_of_link(chip, 0, false));
            CHECK(s.half_of_link(chip, 1, true) == (s.coordinate(chip, 0) % 2 == 0 ? 1 : 0)); // alternating by column
        }
    }
}

TEST_CASE("neuronlink: routing reaches everybody on shortest ways and cannot deadlock on any shape")
{
    for (std::uint32_t rows = 1; rows <= 5; ++rows)
        for (std::uint32_t cols = 1; cols <= 5; ++cols)
            for (const std::uint32_t nodes : {1u, 2u, 3u})
                for (const std::uint32_t ranks : {1u, 2u, 4u}) {
                    const neuronlink_shape s = shape_of(rows, cols, nodes, ranks);
                    const fabric_plan plan = plan_neuronlink(s, {}, {});
                    const neuronlink_routing routing(s, plan);
                    INFO(rows << " x " << cols << " x " << nodes << ", " << ranks << " ranks");
                    CHECK(routing.unreachable().empty());
                    CHECK(routing.detours() == 0);
                    const channel_proof proof = prove_deadlock_free(plan, routes_of(routing));
                    INFO(proof.text);
                    CHECK(proof);
                    for (std::uint32_t a = 0; a < s.chips(); ++a)
                        for (std::uint32_t b = 0; b < s.chips(); ++b)
                            if (routing.hops(a, b) != distance(s, a, b))
                                FAIL_CHECK(a << " to " << b);
                }
}

TEST_CASE("neuronlink: routing around links that have failed reaches whom a tree can and cannot deadlock")
{
    std::mt19937 random(1);
    const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
    std::uint32_t cut_off = 0, gone_around = 0;
    for (int trial = 0; trial < 300; ++trial) {
        const neuronlink_shape s = shape_of(1 + below(4), 1 + below(4), 1 + below(2), below(2) == 0 ? 1 : 4);
        std::vector<neuronlink_link> down;
        const std::uint32_t failures = 1 + below(5);
        for (std::uint32_t i = 0; i < failures; ++i) {
            const neuronlink_link l{below(s.chips()), below(3), below(2) == 0};
            if (s.has_link(l.chip, l.axis, l.up))
                down.push_back(l);
        }
        if (down.empty())
            continue;
        const fabric_plan plan = plan_neuronlink(s, {}, down);
        const neuronlink_routing routing(s, plan);
        INFO("trial " << trial << ": " << s.size[1] << " x " << s.size[0] << " x " << s.size[2] << ", " << down.size() << " links");
        const bool connected = reached_from_chip_0(s, down).size() == s.chips();
        if (connected)
            CHECK(routing.unreachable().empty());
        if (!routing.unreachable().empty()) {
            ++cut_off;
            continue;
        }
        gone_around += routing.detours() != 0 ? 1 : 0;
        const channel_proof proof = prove_deadlock_free(plan, routes_of(routing));
        INFO(proof.text);
        CHECK(proof);
    }
    CHECK(cut_off > 3);
    CHECK(gone_around > 100);
}
