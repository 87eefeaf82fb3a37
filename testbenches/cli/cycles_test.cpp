// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A time where cycles are wanted, of the clock beside the key; and values of --set that are lists.
#include "testbenches/issues/program_shell.h"

#include <catch2/catch.hpp>

using namespace weft::testing;

namespace {
std::string resolved_line(const shell_result& r, const std::string& key)
{
    INFO(r.err);
    const std::size_t at = r.out.find(key + ": ");
    REQUIRE(at != std::string::npos);
    return r.out.substr(at, r.out.find("  #", at) - at);
}
} // namespace

TEST_CASE("a time stands where cycles are wanted and means the nearest number of them")
{
    const program_shell sh;
    const auto latency = [&](const std::string& sets) {
        return resolved_line(sh.run("$weft check small.yaml --resolved " + sets), "router_latency");
    };
    CHECK(latency("") == "router_latency: 4 cycles");
    CHECK(latency("--set 'ici.router_latency=10 ns' --set 'ici.clock=1 GHz'") == "router_latency: 10 cycles");
    CHECK(latency("--set 'ici.router_latency=10 ns' --set 'ici.clock=500 MHz'") == "router_latency: 5 cycles");
    CHECK(latency("--set 'ici.router_latency=50 us' --set 'ici.clock=940 MHz'") == "router_latency: 47000 cycles");
    // 11 ns of 940 MHz are 10.34 cycles, which is told.
    const shell_result rounded = sh.run("$weft check small.yaml --set 'ici.router_latency=11 ns'");
    CHECK(rounded.exit_code == 0);
    CHECK(has(rounded.err,
              "--set: warning: ici.router_latency: '11 ns' is 10.34 cycles of 940 MHz, taken as 10 cycles."));
    // A time and its cycles are one configuration.
    const auto digest = [&](const std::string& value) {
        return sh
            .run("$weft run small.yaml --set 'ici.clock=1 GHz' --set 'ici.router_latency=" + value +
                 "' | grep -e Digest -e Simulated")
            .out;
    };
    CHECK(digest("40 ns") == digest("40 cycles"));
    CHECK(digest("40 ns") != digest("80 ns"));
    CHECK(digest("40 ns").size() > 40);
    // Limits count for what it means, and units of other kinds are wrong still.
    CHECK(sh.run("$weft check small.yaml --set 'ici.router_latency=10 GB'").exit_code == 2);
    CHECK(sh.run("$weft check small.yaml --set 'ici.router_latency=10'").exit_code == 2);
    CHECK(sh.run("$weft check small.yaml --set 'ici.router_latency=1000000000 s'").exit_code == 2);
    // The clock of the core is another one than that of the routers.
    CHECK(
        resolved_line(
            sh.run("$weft check small.yaml --resolved --set 'chip.core.irq_wake=100 ns' --set 'chip.core.clock=2 GHz'"),
            "irq_wake") == "irq_wake: 200 cycles");
}

TEST_CASE("a list on the command line takes the place of the list of the file")
{
    const program_shell sh;
    CHECK(resolved_line(sh.run("$weft check small.yaml --resolved --set 'workload.0.sizes=[1 KiB, 2 KiB, 4 KiB]'"),
                        "sizes") == "sizes: [1 KiB, 2 KiB, 4 KiB]");
    const shell_result ran = sh.run("$weft run small.yaml --set 'workload.0.sizes=[1 KiB]'");
    CHECK(has(ran.out, "        1024 "));
    CHECK_FALSE(has(ran.out, "        4000 "));
}
