// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of burst errors: bounds, quantiles, what makes a sweep fail, and what its page says.
#include "platforms/cli/burst_errors.h"
#include "testbenches/support/temporary_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace weft::cli;
using weft::testing::has;

namespace {

constexpr std::uint64_t k_KiB = 1024;
constexpr std::uint64_t k_us = 1'000'000; // ps

burst_run run_of(std::uint64_t size_bytes, std::uint64_t time_ps)
{
    burst_run run;
    run.collectives = {{"all_reduce", "two_d", size_bytes, time_ps, 0, 7}};
    run.cpu_s = 2;
    return run;
}

burst_point_result result_of(std::uint64_t size_bytes, std::uint64_t single_ps, std::uint64_t tested_ps)
{
    burst_point_result r;
    r.point = sweep_points(sweep_subset::corner, 0, 0).front();
    r.source = sweep_workloads(std::string(WEFT_SOURCE_DIR) + "/configs").source_of(r.point);
    r.single = run_of(size_bytes, single_ps);
    r.tested = run_of(size_bytes, tested_ps);
    return r;
}

burst_summary summary_of(std::vector<burst_point_result> results)
{
    burst_summary s;
    s.command = "weft bursts --corner";
    s.version = "test";
    s.burst = "16 packets";
    s.planned_points = results.size();
    s.results = std::move(results);
    return s;
}

} // namespace

TEST_CASE("the error of a burst is its time by that of single packets minus one", "[bursts]")
{
    CHECK(error_percent(100 * k_us, 103 * k_us) == Approx(3));
    CHECK(error_percent(100 * k_us, 73 * k_us) == Approx(-27));
    CHECK(error_percent(826 * k_us, 1135 * k_us) == Approx(37.409));
    CHECK(error_percent(5, 5) == 0);
}

TEST_CASE("sizes of 64 KiB and more have a bound of 2 per cent", "[bursts]")
{
    CHECK(share_of_bound(64 * k_KiB, 100 * k_us, 102 * k_us) == Approx(1));
    CHECK(share_of_bound(64 * k_KiB, 100 * k_us, 99 * k_us) == Approx(0.5));
    CHECK(share_of_bound(1024 * k_KiB, 10 * k_us, 10 * k_us + k_us / 2) ==
          Approx(2.5)); // half a microsecond does not help
}

TEST_CASE("smaller sizes may miss 5 per cent or one microsecond", "[bursts]")
{
    CHECK(share_of_bound(4 * k_KiB, 10 * k_us, 10 * k_us + k_us / 2) == Approx(0.5)); // 5 %, and half a microsecond
    CHECK(share_of_bound(4 * k_KiB, 5 * k_us, 6 * k_us) == Approx(1));                // 20 %, one microsecond
    CHECK(share_of_bound(4 * k_KiB, 100 * k_us, 96 * k_us) == Approx(0.8));           // 4 %, four microseconds
    CHECK(share_of_bound(64 * k_KiB - 1, 100 * k_us, 110 * k_us) == Approx(2));
}

TEST_CASE("a quantile is a value of the sample", "[bursts]")
{
    const std::vector<double> ten{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    CHECK(quantile(ten, 0.5) == 5);
    CHECK(quantile(ten, 0.9) == 9);
    CHECK(quantile(ten, 0.99) == 10);
    CHECK(quantile(ten, 1) == 10);
    CHECK(quantile({4}, 0.5) == 4);
    CHECK(quantile({}, 0.5) == 0);
}

TEST_CASE("a run passes a pipe unchanged", "[bursts]")
{
    burst_run run = run_of(64 * k_KiB, 12'345'678'901);
    run.collectives.push_back({"all_to_all", "direct", 4096, 1, 3, ~std::uint64_t{0}});
    const burst_run back = burst_run_from(to_text(run));
    CHECK(back.failure.empty());
    CHECK(back.cpu_s == 2);
    REQUIRE(back.collectives.size() == 2);
    CHECK(back.collectives[0].time_ps == 12'345'678'901);
    CHECK(back.collectives[1].op == "all_to_all");
    CHECK(back.collectives[1].algorithm == "direct");
    CHECK(back.collectives[1].wrong == 3);
    CHECK(back.collectives[1].data_digest == ~std::uint64_t{0});
    CHECK_FALSE(burst_run_from("").failure.empty());
}

TEST_CASE("a sweep holds when every planned point keeps its bounds", "[bursts]")
{
    CHECK(holds(summary_of({result_of(64 * k_KiB, 100 * k_us, 101 * k_us)})));
    CHECK_FALSE(holds(summary_of({result_of(64 * k_KiB, 100 * k_us, 103 * k_us)})));
    burst_summary interrupted = summary_of({result_of(64 * k_KiB, 100 * k_us, 100 * k_us)});
    interrupted.planned_points = 2;
    CHECK_FALSE(holds(interrupted));
    CHECK(has(head_of(interrupted), "Interrupted: 1 of 2 points."));
}

TEST_CASE("a run that fails and answers that differ are complaints", "[bursts]")
{
    burst_point_result good = result_of(64 * k_KiB, 100 * k_us, 100 * k_us);
    CHECK(complaint_of(good).empty());

    const auto complains = [&](auto&& change, const char* text) {
        burst_point_result r = good;
        change(r);
        INFO(complaint_of(r));
        CHECK(has(complaint_of(r), text));
        CHECK(errors_of({r}).empty());
        const burst_summary s = summary_of({r});
        CHECK_FALSE(holds(s));
        CHECK(has(to_markdown(s), text));
    };
    complains([](auto& r) { r.single.failure = "crashed with signal 11"; },
              "single packets the run crashed with signal 11");
    complains([](auto& r) { r.tested.failure = "did not end in 300 s of host time"; },
              "bursts the run did not end in 300 s");
    complains([](auto& r) { r.tested.collectives[0].wrong = 4; }, "4 with bursts");
    complains([](auto& r) { r.tested.collectives[0].data_digest = 8; }, "the answers differ");
    complains([](auto& r) { r.tested.collectives[0].size_bytes = 8; }, "different collectives");
    complains([](auto& r) { r.tested.collectives.clear(); }, "different collectives");
    complains([](auto& r) { r.tested.collectives[0].time_ps = 0; }, "took no time");
}

TEST_CASE("the page names the worst point with the command that runs it", "[bursts]")
{
    const burst_summary s =
        summary_of({result_of(64 * k_KiB, 100 * k_us, 101 * k_us), result_of(64 * k_KiB, 100 * k_us, 137 * k_us)});
    const std::string page = to_markdown(s);
    CHECK(has(page, "<!-- Made by `weft bursts --corner`; do not edit. -->"));
    CHECK(has(page, "1 of 2 beyond 2 %; the worst 37.00 %"));
    CHECK(has(page, "The bounds do not hold."));
    const std::size_t worst =
        page.find("**+37.00 %**: 137.000 us, single packets 100.000 us. all_reduce two_d 64 KiB, trains of 1.");
    REQUIRE(worst != std::string::npos);
    CHECK(worst < page.find("**+1.00 %**"));
    CHECK(has(page,
              "--set 'workload=[{op: all_reduce, algorithms: [two_d], sizes: [64 KiB]}]' --set 'burst=16 packets'"));
    CHECK(
        has(page, "| tpu_v3, all | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 1 | 0 |")); // 1 % is in its bin, 37 % between 20 and 50
    CHECK(has(page, "| all | 2 | 4.0 | 4.0 | 1.00 |"));
}
