// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/bounds.h"

#include "hw/routing/fabric_plan.h"
#include "platforms/workload/link_cuts.h"

#include <catch2/catch.hpp>

using namespace weft;
using abi::collective_op;
using abi::dimension_kind;

namespace {

/// Dimensions of 80 Gb/s each, 10 bytes per ns of payload.
abi::platform_table machine(const std::vector<std::uint32_t>& dims, dimension_kind kind)
{
    abi::platform_table t;
    t.ranks = 1;
    for (const std::uint32_t n : dims) {
        t.kind[t.dim_count] = kind;
        t.rate_mbps[t.dim_count] = 80'000;
        t.dims[t.dim_count++] = n;
        t.ranks *= n;
    }
    return t;
}

double us(const abi::platform_table& t, collective_op op, std::uint64_t bytes, std::uint64_t memory_bps = 0)
{
    const auto bound = bound_of(t, 0, memory_bps, op, bytes);
    REQUIRE(bound);
    return bound->us;
}

} // namespace

TEST_CASE("bounds: the links of a rank", "[bounds]")
{
    const abi::platform_table full = machine({8, 8}, dimension_kind::full); // 20 GB/s a rank
    CHECK(us(full, collective_op::all_reduce, 640'000) == Approx(2 * 630.0 / 20));
    CHECK(us(full, collective_op::all_gather, 640'000) == Approx(630.0 / 20));
    CHECK(us(full, collective_op::broadcast, 640'000) == Approx(640.0 / 20));
    CHECK(us(full, collective_op::reduce, 640'000) == Approx(640.0 / 20));
    // The corner of a mesh has half of the links.
    CHECK(us(machine({4, 4}, dimension_kind::line), collective_op::reduce_scatter, 640'000) == Approx(600.0 / 10));
    CHECK(us(machine({4, 4}, dimension_kind::ring), collective_op::reduce_scatter, 640'000) == Approx(600.0 / 20));
}

TEST_CASE("bounds: what crosses a dimension", "[bounds]")
{
    // On a full mesh, 7 of 8 blocks change the coordinate.
    CHECK(us(machine({8, 8}, dimension_kind::full), collective_op::all_to_all, 640'000) == Approx(560.0 / 10));
    // Half of what 4 of 8 ranks send crosses the middle: over one link of 5 GB/s, or over two.
    CHECK(us(machine({8, 8}, dimension_kind::line), collective_op::all_to_all, 640'000) == Approx(4 * 320.0 / 5));
    CHECK(us(machine({8, 8}, dimension_kind::ring), collective_op::all_to_all, 640'000) == Approx(4 * 320.0 / 10));
    CHECK(bound_of(machine({2, 8}, dimension_kind::line), 0, 0, collective_op::all_to_all, 640'000)->resource ==
          "links of dimension 0");
}

TEST_CASE("bounds: memory", "[bounds]")
{
    const abi::platform_table full = machine({8, 8}, dimension_kind::full);
    CHECK(us(full, collective_op::reduce_scatter, 640'000, 8'000'000'000) == Approx(3 * 630.0));
    CHECK(bound_of(full, 0, 8'000'000'000, collective_op::reduce_scatter, 640'000)->resource == "memory");
    // On average a sum is read once and added once for each rank but the root, wherever relays are.
    CHECK(us(full, collective_op::reduce, 640'000, 8'000'000'000) == Approx(3 * 630.0));
    CHECK(us(full, collective_op::broadcast, 640'000, 8'000'000'000) == Approx(2 * 630.0));
    // Of two ranks the root touches memory most: it adds all that comes.
    CHECK(us(machine({2}, dimension_kind::full), collective_op::reduce, 640'000, 8'000'000'000) == Approx(2 * 640.0));
    CHECK(bound_of(full, 0, 8'000'000'000, collective_op::reduce, 640'000, true)->us ==
          Approx(2 * 640.0)); // or reads its own and writes the sum
    CHECK(us(full, collective_op::reduce_scatter, 640'000, 8'000'000'000'000) == Approx(630.0 / 20));
}

TEST_CASE("bounds: what compute units take of memory but for chance", "[bounds]")
{
    const memory_supply idle(8'000'000'000), loaded(8'000'000'000, 0.5, 64 << 10);
    CHECK(idle.least_us(640'000) == Approx(640.0));
    const double much = loaded.least_us(1e12) / 1e9, little = loaded.least_us(640'000);
    CHECK(much > 1.99);
    CHECK(much < 2); // more than a run without any luck
    CHECK(little >= 640);
    CHECK(little < 2 * 640.0); // ten blocks that come on average may come later
    CHECK(memory_supply().least_us(640'000) == 0);
    const abi::platform_table full = machine({8, 8}, dimension_kind::full);
    CHECK(bound_of(full, 0, memory_supply(8'000'000'000, 0.5, 64), collective_op::reduce_scatter, 640'000'000)->us > 1.99 * 3 * 630'000);
}

TEST_CASE("bounds: nothing is said of machines that nobody knows", "[bounds]")
{
    abi::platform_table t = machine({8, 8}, dimension_kind::line);
    t.failed_regions = 1;
    CHECK(!bound_of(t, 0, 0, collective_op::all_reduce, 1));
    t = machine({8, 8}, dimension_kind::line);
    t.rate_mbps[1] = 0;
    CHECK(!bound_of(t, 0, 0, collective_op::all_reduce, 1));
    CHECK(!bound_of(machine({1}, dimension_kind::full), 0, 0, collective_op::all_reduce, 1));
}

TEST_CASE("bounds: a process group may use all links that its ranks have", "[bounds]")
{
    const auto us = [](collective_op op, std::uint64_t memory_bps = 0) {
        return bound_of_group(4, 160'000'000'000, memory_bps, op, 640'000)->us;
    };
    CHECK(us(collective_op::all_reduce) == Approx(2 * 480.0 / 20));
    CHECK(us(collective_op::all_to_all) == Approx(480.0 / 20));
    CHECK(us(collective_op::broadcast) == Approx(640.0 / 20));
    CHECK(us(collective_op::reduce) == Approx(640.0 / 20));
    CHECK(us(collective_op::all_reduce, 80'000'000'000) == Approx(5 * 480.0 / 10));
    CHECK_FALSE(bound_of_group(4, 0, 0, collective_op::all_reduce, 640'000));
    CHECK_FALSE(bound_of_group(1, 160'000'000'000, 0, collective_op::all_reduce, 640'000));
}

TEST_CASE("bounds: links of no dimension may carry what goes along one", "[bounds]")
{
    const abi::platform_table full = machine({8, 8}, dimension_kind::full); // 20 GB/s a rank
    const auto us = [&](std::uint64_t links_bps, collective_op op) { return bound_of(full, links_bps, 0, op, 640'000)->us; };
    CHECK(us(160'000'000'000, collective_op::all_gather) == Approx(630.0 / 20));
    CHECK(us(240'000'000'000, collective_op::all_gather) == Approx(630.0 / 30));
    CHECK(us(240'000'000'000, collective_op::all_to_all) == Approx(560.0 / 20));
}

TEST_CASE("bounds: ports of a rank may carry less than its links", "[bounds]")
{
    const abi::platform_table full = machine({8, 8}, dimension_kind::full); // 20 GB/s a rank
    const auto bound = [&](std::uint64_t links_bps, collective_op op) {
        return *bound_of(full, links_bps, 0, op, 640'000);
    };
    for (const collective_op op : {collective_op::all_gather, collective_op::all_to_all}) {
        CHECK(bound(40'000'000'000, op).us == Approx(630.0 / 5));
        CHECK(bound(40'000'000'000, op).resource == "ports of a rank");
        CHECK(bound(0, op).resource != "ports of a rank");
    }
    CHECK(bound(159'000'000'000, collective_op::all_gather).us == Approx(630.0 / 19.875));
}

TEST_CASE("bounds: rates of the platform table are rounded up", "[bounds]")
{
    CHECK(abi::mbps_of(1'000'000'000) == 1000);
    CHECK(abi::mbps_of(1'000'000'001) == 1001);
    CHECK(abi::mbps_of(1'000'000'000, 1024, 1072) == 956); // 955.22
    CHECK(abi::mbps_of(1'312'000'000'000, 256, 256) == 1'312'000);
    CHECK(abi::mbps_of(2'000'000'000'000'000, 1 << 20, (1 << 20) + 4096) == 1'992'217'899); // no overflow
}

namespace {

/// Four routers in a ring, one rank at each by a port of 160 Gb/s; links of 80 Gb/s, 10 bytes per ns. `sharers` ranks
/// next to each other are a device.
struct ring_of_four {
    fabric_plan plan;
    std::vector<abi::platform_table> tables;

    explicit ring_of_four(std::uint8_t sharers = 1)
    {
        const fabric_link_params wire{bandwidth(80'000'000'000), duration(1), 1}, port{bandwidth(160'000'000'000), duration(1), 1};
        for (std::uint32_t r = 0; r < 4; ++r) {
            plan.routers.push_back({name_of_router(r), 3});
            plan.endpoints.push_back({r, 2, 1, port, ""});
            abi::platform_table t;
            t.ranks = t.dims[0] = 4;
            t.rank = t.coord[0] = r;
            t.dim_count = 1;
            t.kind[0] = abi::dimension_kind::ring;
            t.device_ranks = t.device_members = sharers;
            tables.push_back(t);
        }
        for (std::uint32_t r = 0; r < 4; ++r)
            plan.connect(r, 0, (r + 1) % 4, 1, 1, wire);
    }
    static std::string name_of_router(std::uint32_t r) { return "chip(" + std::to_string(r) + ")"; }
    void take_down(std::uint32_t from, std::uint32_t to)
    {
        for (plan_link& l : plan.links)
            if (l.from == from && l.to == to)
                l.works = false;
    }
    std::optional<collective_bound> bound(collective_op op, std::vector<rank_list> groups = {}, std::uint32_t root = 0, double share = 1) const
    {
        if (groups.empty())
            groups = {{0, 1, 2, 3}};
        collective_case c = make_case(op, k_auto_algorithm, abi::element_type::int32, abi::reduce_op::sum, 640'000);
        c.root = root;
        const link_cuts cuts(links_of(plan, 4, share), [this](std::uint32_t rank) -> const abi::platform_table& { return tables[rank]; });
        return cuts.bound(c, groups);
    }
    double us(collective_op op, std::vector<rank_list> groups = {}, std::uint32_t root = 0) const
    {
        const auto found = bound(op, std::move(groups), root);
        REQUIRE(found);
        return found->us;
    }
};

} // namespace

TEST_CASE("link cuts: a whole ring", "[bounds]")
{
    const ring_of_four ring;
    CHECK(ring.us(collective_op::reduce_scatter) == Approx(480.0 / 20));
    CHECK(ring.us(collective_op::all_gather) == Approx(480.0 / 20));
    CHECK(ring.us(collective_op::broadcast) == Approx(640.0 / 20));
    CHECK(ring.us(collective_op::reduce) == Approx(640.0 / 20));
    // 2 S (n-1) in all, over eight links; and what half of the ranks send to the others, over two.
    CHECK(ring.us(collective_op::all_reduce) == Approx(2 * 3 * 640.0 / 80));
    CHECK(ring.us(collective_op::all_to_all) == Approx(2 * 320.0 / 20));
    CHECK(ring.bound(collective_op::all_to_all)->resource == "links across dimension 0");
    CHECK(ring.bound(collective_op::all_gather, {}, 0, 0.5)->us == Approx(480.0 / 10)); // half of the rate is payload
}

TEST_CASE("link cuts: links that are down carry nothing", "[bounds]")
{
    ring_of_four ring;
    ring.take_down(0, 1);
    CHECK(ring.us(collective_op::reduce_scatter) == Approx(480.0 / 10));
    CHECK(ring.bound(collective_op::reduce_scatter)->resource == "links of chip(0)");
    CHECK(ring.us(collective_op::all_gather) == Approx(480.0 / 10));
    CHECK(ring.bound(collective_op::all_gather)->resource == "links of chip(1)");
    CHECK(ring.us(collective_op::all_reduce) == Approx(640.0 / 10)); // no rank does with less than S
    CHECK(ring.us(collective_op::all_to_all) == Approx(2 * 320.0 / 10));
    CHECK(ring.us(collective_op::broadcast, {}, 0) == Approx(640.0 / 10));
    CHECK(ring.us(collective_op::broadcast, {}, 2) == Approx(640.0 / 10)); // into rank 1
    CHECK(ring.us(collective_op::reduce, {}, 3) == Approx(640.0 / 10));    // out of rank 0
    ring.take_down(3, 0);
    ring.take_down(1, 0);
    CHECK(ring.us(collective_op::reduce, {}, 3) == Approx(640.0 / 10)); // a cut without links says nothing
}

TEST_CASE("link cuts: groups that run at once share what crosses a cut", "[bounds]")
{
    const ring_of_four ring;
    // Alone, ranks 0 and 1 may use the way round, too, which with 2 and 3 beside them takes the links of these.
    CHECK(ring.us(collective_op::all_gather, {{0, 1}}) == Approx(320.0 / 20));
    CHECK(ring.us(collective_op::all_gather, {{0, 1}, {2, 3}}) == Approx(2 * 320.0 / 20));
    // Across the middle both pairs go by the same two links.
    CHECK(ring.us(collective_op::all_gather, {{0, 2}, {1, 3}}) == Approx(2 * 320.0 / 20));
    CHECK(ring.us(collective_op::all_to_all, {{0, 2}, {1, 3}}) == Approx(2 * 320.0 / 20));
    CHECK(ring.us(collective_op::broadcast, {{0, 2}, {1, 3}}, 1) == Approx(2 * 640.0 / 20));
    CHECK_FALSE(ring.bound(collective_op::all_gather, {{0}, {1}}));
}

TEST_CASE("link cuts: ranks of a device share its links", "[bounds]")
{
    ring_of_four ring(2);
    for (abi::platform_table& t : ring.tables) { // two devices of two ranks
        t.dim_count = 2;
        t.dims[0] = t.dims[1] = 2;
        t.coord[0] = t.rank / 2;
        t.coord[1] = t.rank % 2;
        t.kind[0] = t.kind[1] = abi::dimension_kind::full;
    }
    CHECK(ring.us(collective_op::all_gather) == Approx(320.0 / 20)); // two links leave a device
    CHECK(ring.us(collective_op::all_reduce) == Approx(640.0 / 20));
    CHECK_FALSE(ring.bound(collective_op::all_reduce, {{0, 1}})); // inside a device nothing is sent
    ring.take_down(1, 2);
    CHECK(ring.us(collective_op::all_reduce) == Approx(640.0 / 10));
}
