// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tlm/check.h"
#include "tlm/stats.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {
struct device {
    explicit device(const char* name) : stats(name)
    {
        stats.add("reads", "1", "Reads", reads);
        stats.add("busy", "ps", "Busy time", busy);
        stats.add("depth", "packets", "Deepest queue", depth);
    }
    counter reads;
    accumulated_time busy;
    maximum depth;
    stat_group stats;
};
} // namespace

TEST_CASE("statistics count and reset")
{
    device d("d");
    ++d.reads;
    d.reads.add(41);
    d.busy.add_ps(1500);
    d.busy.add_ps(500);
    d.depth.record(3);
    d.depth.record(7);
    d.depth.record(5);
    CHECK(d.reads.value() == 42);
    CHECK(d.busy.value() == 2000);
    CHECK(d.depth.value() == 7);
    d.reads.reset();
    d.busy.reset();
    d.depth.reset();
    for (const auto& row : d.stats.rows())
        CHECK(row.value() == 0);
}

TEST_CASE("a group has its rows in the order in which they were added and finds them by name")
{
    device a("chip0.a");
    a.reads.add(1);
    std::string walked;
    for (const stat_row& row : a.stats.rows())
        walked += std::string(row.name) + '=' + std::to_string(row.value()) + row.unit + ' ';
    CHECK(walked == "reads=11 busy=0ps depth=0packets ");
    CHECK(a.stats.find("no such thing") == nullptr);
    REQUIRE(a.stats.find("busy"));
    CHECK(std::string(a.stats.find("busy")->description) == "Busy time");
}

TEST_CASE("two statistics of one name are a bug")
{
    device d("d");
    counter again;
    CHECK_THROWS_AS(d.stats.add("reads", "1", "Reads once more", again), bug);
}
