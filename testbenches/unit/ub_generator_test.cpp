// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Generators of UB racks: every kind numbers its routers as it says, uses every port once, and shares steps of tables.
#include "hw/routing/ub/ub_generator.h"

#include <catch2/catch.hpp>

#include <set>

using namespace weft;
using role = ub_place::role;

namespace {

ub_shape shape_of(ub_rack_kind rack, std::uint32_t rows, std::uint32_t cols)
{
    ub_shape s;
    s.rack = rack;
    s.rack_rows = rows;
    s.rack_cols = cols;
    s.boards = 4;
    s.npus = 8;
    return s;
}

std::uint32_t count(const ub_parts& parts, role is)
{
    std::uint32_t n = 0;
    for (const ub_place& p : parts.places)
        n += p.is == is ? 1 : 0;
    return n;
}

} // namespace

TEST_CASE("ub_generator: routers of a role stand together where the numbering says")
{
    for (const ub_rack_kind rack :
         {ub_rack_kind::full_mesh_2d, ub_rack_kind::full_mesh_1d_a, ub_rack_kind::full_mesh_1d_b, ub_rack_kind::clos}) {
        CAPTURE(static_cast<int>(rack));
        const ub_shape shape = rack == ub_rack_kind::clos ? shape_of(rack, 1, 1) : shape_of(rack, 2, 3);
        const ub_parts parts = ub_generator_for(shape, {})->make();
        const ub_numbering& n = parts.numbers;
        const std::uint32_t racks = shape.racks();
        CHECK(count(parts, role::npu) == shape.ranks());
        CHECK(count(parts, role::spare) == racks);
        CHECK(count(parts, role::cpu) == racks * n.cpus);
        CHECK(count(parts, role::nic) == racks * n.nics);
        CHECK(count(parts, role::leaf) == racks * n.leaves);
        CHECK(count(parts, role::spine) == racks * n.spines);
        CHECK(count(parts, role::hrs) == racks * n.rack_hrs + n.hrs);
        const auto stand_from = [&](role is, std::uint32_t first) {
            for (std::uint32_t i = 0; i < count(parts, is); ++i)
                CHECK(parts.places.at(first + i).is == is);
        };
        stand_from(role::npu, 0);
        stand_from(role::spare, n.first_spare);
        stand_from(role::cpu, n.first_cpu);
        stand_from(role::nic, n.first_nic);
        stand_from(role::leaf, n.first_leaf);
        stand_from(role::spine, n.first_spine);
        stand_from(role::hrs, n.first_hrs);
    }
}

TEST_CASE("ub_generator: every port of every router has one link")
{
    for (const ub_rack_kind rack :
         {ub_rack_kind::full_mesh_2d, ub_rack_kind::full_mesh_1d_a, ub_rack_kind::full_mesh_1d_b}) {
        CAPTURE(static_cast<int>(rack));
        const ub_parts parts = ub_generator_for(shape_of(rack, 2, 2), {})->make();
        std::set<std::pair<std::uint32_t, std::uint32_t>> used;
        for (const ub_link_plan& l : parts.plan.links)
            CHECK(used.insert({l.from, l.from_port}).second);
        std::size_t ports = 0;
        for (std::uint32_t r = 0; r < parts.plan.routers.size(); ++r) {
            ports += parts.plan.routers[r].ports;
            CHECK((used.empty() || used.lower_bound({r, parts.plan.routers[r].ports}) == used.lower_bound({r + 1, 0})));
        }
        CHECK(used.size() == ports);
        CHECK(parts.plan.tables.size() < parts.plan.routers.size() / 4);
    }
}

TEST_CASE("ub_generator: a bare rack has NPUs and no more")
{
    ub_shape shape = shape_of(ub_rack_kind::full_mesh_2d, 1, 1);
    shape.backplane = false;
    const ub_parts parts = ub_generator_for(shape, {})->make();
    CHECK(parts.places.size() == 32);
    CHECK(parts.plan.links.size() == 2 * (4 * (8 * 7 / 2) + 8 * (4 * 3 / 2)));
    CHECK(parts.numbers.planes == 0);
}

TEST_CASE("ub_table_maker: steps share entries")
{
    using abi::ub::segment;
    ub_table_maker t;
    t.step(segment::unit, ub_mesh_entries(2, 1, 3)).again(segment::board);
    t.step(segment::rack, ub_entries(16, ub_to_port(7, 2)), true);
    REQUIRE(t.steps.size() == 3);
    CHECK(t.entries.size() == 19);
    CHECK(t.steps[1].first == t.steps[0].first);
    CHECK(t.steps[1].condition == segment::board);
    CHECK(t.steps[2].first == 3);
    CHECK(t.entries[0].port == 2); // coordinates 0 and 2 of three; the own one has no port
    CHECK(t.entries[2].port == 3);
    CHECK(t.entries[18].ways == 2);
    ub_by_kind by_kind;
    by_kind.set(abi::ub::node_kind::npu, 2, [](std::uint32_t j) { return ub_to_port(5 + j); });
    CHECK(by_kind.entries[static_cast<std::uint32_t>(abi::ub::node_kind::npu) * 8 + 1].port == 6);
}
