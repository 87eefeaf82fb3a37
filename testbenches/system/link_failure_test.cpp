// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A link that goes down during a run: the run ends with the link, the ranks and their neighbours; a second run with the link
// declared from time zero is exact. Every run is a child, since a process has one SystemC kernel.
#include "testbenches/support/child.h"
#include "testbenches/system/pod_bench.h"

#include <array>
#include <chrono>
#include <cstring>

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {

constexpr std::uint64_t k_us = 1'000'000;

/// What a child tells about its run; plain bytes for the pipe.
struct verdict {
    std::uint64_t digest = 0, end_ps = 0, first_start_ps = 0, wrong = 0, cases = 0, hops = 0, leaks = 0;
    bool failed = false;
    abi::algorithm failed_algorithm{};
    std::array<char, 8192> failure{};
    std::array<char, 1024> warnings{};
    bool says(const char* what) const { return std::strstr(failure.data(), what) != nullptr; }
    bool warns(const char* what) const { return std::strstr(warnings.data(), what) != nullptr; }
};

verdict run_here(const tpu_v3_config& config, bool run_ahead)
{
    tpu_v3 machine(config);
    machine.time().set_run_ahead(run_ahead);
    collective_runner runner("host", machine, config.run, nullptr);
    const run_outcome outcome = runner.run();
    verdict v;
    v.digest = outcome.digest;
    v.end_ps = outcome.simulated_time_ps;
    v.cases = outcome.cases.size();
    for (const case_result& r : outcome.cases)
        v.wrong += r.check.wrong;
    v.hops = machine.ici().engine().packet_hops();
    v.leaks = machine.ici().engine().packets_inside() + (machine.ici().engine().audit().empty() ? 0 : 1'000'000);
    v.failed = !outcome.failure.empty();
    if (outcome.failed_case)
        v.failed_algorithm = outcome.failed_case->algo;
    std::strncpy(v.failure.data(), outcome.failure.c_str(), v.failure.size() - 1);
    std::string warnings;
    for (const std::string& w : outcome.warnings)
        warnings += w + "\n";
    std::strncpy(v.warnings.data(), warnings.c_str(), v.warnings.size() - 1);
    return v;
}

verdict run_in_child(const tpu_v3_config& config, bool run_ahead = true)
{
    for (const config_problem& p : config.validate())
        REQUIRE(p.level == severity::warning);
    return testing::value_from_child([&] { return run_here(config, run_ahead); });
}

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
        const verdict healthy = run_in_child(two_cases(a));
        REQUIRE_FALSE(healthy.failed);
        CHECK(healthy.warnings[0] == 0);
        // In the boot, in the first collective, in the middle of the second.
        for (const std::uint64_t at : {k_us / 2, 6 * k_us, healthy.end_ps - 15 * k_us}) {
            const verdict v = run_in_child(with_fault(two_cases(a), at));
            INFO("down at " << at << " ps: " << v.failure.data());
            CHECK(v.failed);
            CHECK(v.failed_algorithm == a);
            CHECK(v.cases <= 1);
            CHECK((v.cases == 0 || at > k_us));
            CHECK((v.cases == 1 || at < 10 * k_us));
            CHECK(v.wrong == 0);
            CHECK(v.leaks < 1'000'000); // credits are accounted for, whatever is stuck
            CHECK(v.says(("link chip(1,1).+X to chip(1,2) went down at " + to_string(duration(at))).c_str()));
            CHECK(
                (v.says(", before the start of this collective at ") || v.says(" after the start of this collective")));
            CHECK(v.says("waits for chip(1,1).+X: the link went down at "));
            CHECK(v.says("a wait timed out on DMA."));
            CHECK(v.says((std::string(" of ") + name_of(a) + ", waiting for rank ").c_str()));
            CHECK(v.says(", chip(1,"));
            CHECK_FALSE(v.says("Nothing was blocked for good"));
            CHECK(v.warnings[0] == 0);
        }
        for (const std::uint64_t at : {healthy.end_ps + 1, 3'000'000 * k_us}) {
            const verdict late = run_in_child(with_fault(two_cases(a), at));
            CHECK_FALSE(late.failed);
            CHECK(late.digest == healthy.digest);
            CHECK(late.end_ps == healthy.end_ps);
            CHECK(late.hops == healthy.hops);
            CHECK(late.leaks == 0);
            CHECK(late.warns("link chip(1,1).+X to chip(1,2) goes down at "));
            CHECK(late.warns(", after the end of the run at "));
        }
        tpu_v3_config around = two_cases(a);
        around.faults.links_down = {{1, 1, mesh_direction::plus_x}};
        const verdict exact = run_in_child(around);
        CHECK_FALSE(exact.failed);
        CHECK(exact.cases == 2);
        CHECK(exact.wrong == 0);
        CHECK(exact.leaks == 0);
    }
}

TEST_CASE("a failed run gives the same digest again and without run-ahead")
{
    const tpu_v3_config config = with_fault(two_cases(algorithm::two_d), 25 * k_us + 1'234);
    const verdict first = run_in_child(config);
    CHECK(first.failed);
    for (const bool run_ahead : {true, false}) {
        const verdict again = run_in_child(config, run_ahead);
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
        const verdict healthy = run_in_child(config);
        std::size_t failures = 0;
        bool completed = false;
        for (std::uint64_t at = 1; at < healthy.end_ps + 2 * k_us; at += 1'700'001) {
            const verdict v = run_in_child(with_fault(config, at));
            INFO("burst " << burst << ", down at " << at << " ps: " << v.failure.data() << v.warnings.data());
            CHECK(v.wrong == 0);
            CHECK(v.failed == v.says("link chip(1,1).+X to chip(1,2) "));
            CHECK(v.failed == (v.warnings[0] == 0));
            CHECK_FALSE((v.failed && completed)); // a later failure does not hinder more
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
    const verdict v = run_in_child(with_fault(config, 600 * k_us));
    INFO(v.failure.data());
    CHECK(v.failed);
    CHECK(v.says("a wait timed out on DMA."));
    CHECK_FALSE(v.says("no answer"));
}
