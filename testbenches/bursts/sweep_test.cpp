// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Bursts err by at most 2 % where a message has 64 KiB or more, and by at most 5 % or 1 us below: the corner of the sweep, and, in
// a night, all of it. testbenches/system/bursts_test.cpp has a sample.
#include "testbenches/bursts/sweep_run.h"

#include <regex>

using weft::testing::has;
using weft::testing::sweep_run;

TEST_CASE("bursts keep their bounds in the corner of the sweep", "[bursts]")
{
    const sweep_run sweep;
    const int code = sweep.bursts("--corner");
    INFO(sweep.read("stdout") << sweep.read("stderr"));
    CHECK(code == 0);
    CHECK(has(sweep.read("stdout"), "31 points"));
    CHECK(has(sweep.read("stdout"), "0 points failed"));
    // Single packets against single packets prove nothing: enough of them go in trains.
    static const std::regex in_trains(R"(in trains: +0 of ([0-9]+) beyond)");
    const std::string printed = sweep.read("stdout");
    std::smatch trains;
    REQUIRE(std::regex_search(printed, trains, in_trains));
    CHECK(std::stoul(trains[1]) >= 10);

    // The command that the page prints for a point gives the time that the page prints.
    static const std::regex entry(R"(\*\*: ([0-9.]+) us, single packets[^\n]*\n\n  ```\n  weft ([^\n]*)\n)");
    const std::string page = sweep.read("page.md");
    std::smatch found;
    REQUIRE(std::regex_search(page, found, entry));
    const std::string time_us = found[1];
    REQUIRE(sweep.run(found[2].str() + " --out " + (sweep / "out").string()) == 0);
    INFO(found[2] << "\n" << sweep.read("stdout"));
    CHECK(has(sweep.read("stdout"), " " + time_us + " "));
}

TEST_CASE("an interrupted sweep shows the points that are finished", "[bursts]")
{
    const sweep_run sweep;
    CHECK(sweep.bursts("--sample 500", "timeout --preserve-status -s INT 6") == 130);
    CHECK(has(sweep.read("stdout"), "Interrupted: "));
    CHECK(has(sweep.read("page.md"), "The bounds do not hold."));
}

TEST_CASE("a sweep that finds no platform files or knows no burst says so", "[bursts]")
{
    const sweep_run sweep;
    CHECK(sweep.run("bursts --corner --configs nowhere") == 2);
    CHECK(has(sweep.read("stderr"), "nowhere/"));
    CHECK(sweep.run("bursts --corner --sample 3") == 2);
    CHECK(sweep.run("bursts --corner --only switchml --only nobody") == 0);
    CHECK(has(sweep.read("stdout"), ": 5 points"));
    CHECK(sweep.run("bursts --corner --only nobody") == 2);
    CHECK(has(sweep.read("stderr"), "--only nobody: no point"));
    CHECK(sweep.run("bursts --corner --only switchml --quiet --burst sometimes") == 2);
    CHECK(has(sweep.read("stderr"), "burst"));
    CHECK(has(sweep.read("stderr"), "sometimes"));
    CHECK(sweep.read("stdout").empty());
}

namespace {
/// Number behind `before` in what was printed; -1 without it.
long number_after(const std::string& printed, const std::string& before)
{
    const std::size_t at = printed.find(before);
    return at == std::string::npos ? -1 : std::stol(printed.substr(at + before.size()));
}
} // namespace

TEST_CASE("what goes in single packets either way can be left out of a sweep", "[bursts]")
{
    const sweep_run sweep;
    REQUIRE(sweep.bursts("--corner --only tpu_v3") == 0);
    const std::string all = sweep.read("stdout");
    REQUIRE(sweep.bursts("--corner --only tpu_v3 --in-trains") == 0);
    const std::string trains = sweep.read("stdout");
    const auto worst = [](const std::string& printed) {
        const std::size_t at = printed.find("in trains:");
        return printed.substr(at, printed.find('\n', at) - at);
    };
    CHECK(worst(all) == worst(trains)); // the same collectives, the same times
    const long compared = number_after(trains, "12 points, ");
    CHECK(compared > 0);
    CHECK(number_after(all, "12 points, ") == compared + number_after(trains, "left out:"));
    CHECK(has(sweep.read("page.md"), "was not run"));
}

TEST_CASE("parts of a sweep are all of it", "[bursts]")
{
    const sweep_run sweep;
    long points = 0, left_out = 0;
    for (const char* part : {"1/3", "2/3", "3/3"}) {
        REQUIRE(sweep.bursts(std::string("--corner --only ub_mesh --in-trains --part ") + part) == 0);
        points += number_after(sweep.read("stdout"), "burst: auto: ");
        left_out += number_after(sweep.read("stdout"), "left out:");
    }
    REQUIRE(sweep.bursts("--corner --only ub_mesh --in-trains") == 0);
    CHECK(points == number_after(sweep.read("stdout"), "burst: auto: "));
    CHECK(left_out == number_after(sweep.read("stdout"), "left out:"));
    for (const char* wrong : {"0/3", "4/3", "1", "1/3x", "99/100"}) {
        CHECK(sweep.bursts(std::string("--corner --only ub_mesh --part ") + wrong) == 2);
        CHECK(has(sweep.read("stderr"), "--part"));
    }
}

TEST_CASE("bursts keep their bounds at every point of the sweep", "[bursts][slow]")
{
    const sweep_run sweep;
    const int code = sweep.bursts("--in-trains");
    INFO(sweep.read("page.md"));
    CHECK(code == 0);
}
