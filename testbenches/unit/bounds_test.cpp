// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/bounds.h"

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
