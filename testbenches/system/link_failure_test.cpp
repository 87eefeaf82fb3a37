// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A link that goes down during a run: the run ends with the link, the ranks and their neighbours; a second run with the link
// declared from time zero is exact.
#include "testbenches/support/small_machines.h"

#include <chrono>

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {

/// Two all-reduces, a short and a long one.
tpu_v3_config two_cases(algorithm a)
{
    tpu_v3_config config = pod(4, 4);
    config.run.firmware_timeout = duration(1000 * k_us);
    config.run.workload = {spec(collective_op::all_reduce, {a}, {4, 262144})};
    return config;
}

tpu_v3_config with_fault(tpu_v3_config config, std::uint64_t at_ps)
{
    link_fault_config f{1, 1, mesh_direction::plus_x};
    f.at = duration(at_ps);
    config.faults.links_down = {f};
    return config;
}

} // namespace

TEST_CASE("a link that fails during a run is named with who waited and the rerun around it is exact")
{
    for (const algorithm a : {algorithm::ring_1d, algorithm::two_d, algorithm::row_pair}) {
        INFO(name_of(a));
        const verdict healthy = run(two_cases(a));
        REQUIRE_FALSE(healthy.failed);
        CHECK(healthy.warnings.empty());
        // In the boot, in the first collective, in the middle of the second.
        for (const std::uint64_t at : {k_us / 2, 6 * k_us, healthy.simulated_time_ps - 15 * k_us}) {
            const verdict v = run(with_fault(two_cases(a), at));
            INFO("down at " << at << " ps: " << v.failure);
            CHECK(v.failed);
            REQUIRE(v.failed_case);
            CHECK(v.failed_case->algo == a);
            CHECK(v.cases.size() <= 1);
            CHECK((v.cases.empty() || at > k_us));
            CHECK((v.cases.size() == 1 || at < 10 * k_us));
            CHECK(v.wrong == 0);
            CHECK(v.unsound == ""); // credits are accounted for, whatever is stuck
            CHECK(v.says("link chip(1,1).+X to chip(1,2) went down at " + to_string(duration(at))));
            CHECK(
                (v.says(", before the start of this collective at ") || v.says(" after the start of this collective")));
            CHECK(v.says("waits for chip(1,1).+X: the link went down at "));
            CHECK(v.says("a wait timed out on DMA."));
            CHECK(v.says(std::string(" of ") + name_of(a) + ", waiting for rank "));
            CHECK(v.says(", chip(1,"));
            CHECK_FALSE(v.says("Nothing was blocked for good"));
            CHECK(v.warnings.empty());
        }
        for (const std::uint64_t at : {healthy.simulated_time_ps + 1, 3'000'000 * k_us}) {
            const verdict late = run(with_fault(two_cases(a), at));
            CHECK_FALSE(late.failed);
            CHECK(late.digest == healthy.digest);
            CHECK(late.simulated_time_ps == healthy.simulated_time_ps);
            CHECK(late.hops == healthy.hops);
            CHECK(late.unsound == "");
            CHECK(late.warns("link chip(1,1).+X to chip(1,2) goes down at "));
            CHECK(late.warns(", after the end of the run at "));
        }
        tpu_v3_config around = two_cases(a);
        around.faults.links_down = {{1, 1, mesh_direction::plus_x}};
        const verdict exact = run(around);
        CHECK_FALSE(exact.failed);
        CHECK(exact.cases.size() == 2);
        CHECK(exact.wrong == 0);
        CHECK(exact.unsound == "");
    }
}

TEST_CASE("a failed run gives the same digest again and without run-ahead")
{
    const tpu_v3_config config = with_fault(two_cases(algorithm::two_d), 25 * k_us + 1'234);
    const verdict first = run(config);
    CHECK(first.failed);
    for (const bool run_ahead : {true, false}) {
        const verdict again = run(config, [&](tpu_v3& m) { m.time().set_run_ahead(run_ahead); });
        CHECK(again.digest == first.digest);
        CHECK(again.hops == first.hops);
        CHECK(again.failure == first.failure);
    }
}

TEST_CASE("whenever a link fails the run either completes exactly or names the link")
{
    const auto begin = std::chrono::steady_clock::now();
    for (const std::uint64_t burst : {std::uint64_t{1}, std::uint64_t{16}}) {
        tpu_v3_config config = two_cases(algorithm::row_pair);
        config.run.burst = packet_count(burst);
        const verdict healthy = run(config);
        std::size_t failures = 0;
        bool completed = false;
        for (std::uint64_t at = 1; at < healthy.simulated_time_ps + 2 * k_us; at += 1'700'001) {
            const verdict v = run(with_fault(config, at));
            INFO("burst " << burst << ", down at " << at << " ps: " << v.failure << v.warning_text());
            CHECK(v.wrong == 0);
            CHECK(v.failed == v.says("link chip(1,1).+X to chip(1,2) "));
            CHECK(v.failed == (v.warnings.empty()));
            CHECK_FALSE((v.failed && completed)); // a later failure does not affect more
            completed = completed || !v.failed;
            failures += v.failed ? 1 : 0;
            CHECK((v.failed || v.digest == healthy.digest));
        }
        CHECK(completed);
        CHECK(failures > 20);
    }
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(120));
}

TEST_CASE("ranks have the time to report when a link fails late in a long collective")
{
    tpu_v3_config config = pod(4, 4);
    config.run.data = data_mode::off;
    config.run.burst = packet_count(16);
    config.run.firmware_timeout = duration(150 * k_us); // the collective takes many times this
    config.run.workload = {spec(collective_op::all_reduce, {algorithm::ring_1d}, {64 << 20})};
    const verdict v = run(with_fault(config, 600 * k_us));
    INFO(v.failure);
    CHECK(v.failed);
    CHECK(v.says("a wait timed out on DMA."));
    CHECK_FALSE(v.says("no answer"));
}
