// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The lowest of several curves on logarithmic scales, and where it changes. Tables that choose by it, and plots of it: issues/tune_test.
#include "platforms/workload/tuning_curves.h"

#include "platforms/report/tuning_plot.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace weft;

namespace {

using times = std::vector<std::optional<std::uint64_t>>;

/// Every measured size lies in the range of the curve that is the lowest there; ranges ascend and have no size in common.
void check_whole(const measured_curves& curves, const lowest_curves& lowest)
{
    REQUIRE(lowest.at.size() == curves.sizes.size());
    for (std::size_t r = 0; r < lowest.ranges.size(); ++r) {
        CHECK(lowest.ranges[r].from_bytes <= lowest.ranges[r].to_bytes);
        if (r > 0)
            CHECK(lowest.ranges[r - 1].to_bytes < lowest.ranges[r].from_bytes);
    }
    for (std::size_t i = 0; i < curves.sizes.size(); ++i) {
        std::size_t found = 0;
        for (const lowest_range& r : lowest.ranges)
            if (curves.sizes[i] >= r.from_bytes && curves.sizes[i] <= r.to_bytes) {
                ++found;
                CHECK(r.curve == lowest.at[i]);
            }
        CHECK(found == (lowest.at[i] ? 1 : 0));
    }
}

} // namespace

TEST_CASE("two curves cross where their lines on logarithmic scales do")
{
    // 10 and 20 at 1 KiB, 40 and 20 at 16 KiB: the first rises with a slope of 1/2 and meets 20 after a factor of 4.
    const measured_curves curves{{1024, 16384}, {times{10, 40}, times{20, 20}}};
    const lowest_curves lowest = lowest_of(curves);
    check_whole(curves, lowest);
    REQUIRE(lowest.crossovers.size() == 1);
    CHECK(lowest.crossovers[0].bytes == Approx(4096));
    CHECK(lowest.crossovers[0].ps == Approx(20));
    CHECK(lowest.crossovers[0].below == 0);
    CHECK(lowest.crossovers[0].above == 1);
    REQUIRE(lowest.ranges.size() == 2);
    CHECK(lowest.ranges[0].from_bytes == 1024);
    CHECK(std::abs(static_cast<double>(lowest.ranges[0].to_bytes) - 4096) <= 1);
    CHECK(lowest.ranges[1].from_bytes == lowest.ranges[0].to_bytes + 1);
    CHECK(lowest.ranges[1].to_bytes == 16384);
}

TEST_CASE("a third curve may be the lowest between two measured sizes only")
{
    const measured_curves curves{{1024, 1048576}, {times{10, 1000}, times{400, 400}, times{1000, 10}, times{13, 100}}};
    const lowest_curves lowest = lowest_of(curves);
    check_whole(curves, lowest);
    REQUIRE(lowest.ranges.size() == 3);
    CHECK(lowest.ranges[0].curve == 0);
    CHECK(lowest.ranges[1].curve == 3);
    CHECK(lowest.ranges[2].curve == 2);
    REQUIRE(lowest.crossovers.size() == 2);
    CHECK(lowest.crossovers[0].bytes > 1024);
    CHECK(lowest.crossovers[1].bytes < 1048576);
    CHECK(lowest.crossovers[0].bytes < lowest.crossovers[1].bytes);
}

TEST_CASE("a curve that lacks a size does not exist on either side of it")
{
    const measured_curves curves{{4, 16, 64}, {times{10, std::nullopt, 10}, times{20, 30, 20}}};
    const lowest_curves lowest = lowest_of(curves);
    check_whole(curves, lowest);
    REQUIRE(lowest.ranges.size() == 3);
    CHECK(lowest.ranges[0].to_bytes == 4);
    CHECK(lowest.ranges[1].from_bytes == 5);
    CHECK(lowest.ranges[1].to_bytes == 63);
    CHECK(lowest.ranges[2].from_bytes == 64);
    CHECK(lowest.crossovers.empty());
    // A size without any time is known by nobody, and neither are its neighbours.
    const measured_curves gap{{4, 16, 64}, {times{10, std::nullopt, 10}}};
    const lowest_curves of_gap = lowest_of(gap);
    check_whole(gap, of_gap);
    REQUIRE(of_gap.ranges.size() == 2);
    CHECK(of_gap.ranges[0].to_bytes == 4);
    CHECK(of_gap.ranges[1].from_bytes == 64);
}

TEST_CASE("equal curves and single sizes and none")
{
    const measured_curves equal{{7, 1009, 65537}, {times{10, 20, 30}, times{10, 20, 30}}};
    const lowest_curves lowest = lowest_of(equal);
    check_whole(equal, lowest);
    REQUIRE(lowest.ranges.size() == 1);
    CHECK(lowest.ranges[0].curve == 0);
    CHECK(lowest.crossovers.empty());
    // They meet at a measured size.
    const measured_curves touching{{16, 64, 256}, {times{10, 20, 40}, times{40, 20, 10}}};
    check_whole(touching, lowest_of(touching));
    CHECK(lowest_of(touching).crossovers.size() == 1);
    CHECK(lowest_of(touching).crossovers[0].bytes == Approx(64));
    const measured_curves one{{48}, {times{5}, times{4}}};
    const lowest_curves of_one = lowest_of(one);
    check_whole(one, of_one);
    CHECK(of_one.ranges[0].curve == 1);
    CHECK(lowest_of({}).ranges.empty());
    CHECK(lowest_of({{4, 8}, {}}).ranges.empty());
    CHECK(lowest_of({{4, 8}, {times{std::nullopt, std::nullopt}}}).ranges.empty());
}

TEST_CASE("whatever the curves are every measured size has its lowest one")
{
    std::uint64_t state = 1;
    const auto random = [&](std::uint64_t below) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return (state >> 33) % below;
    };
    for (int round = 0; round < 2000; ++round) {
        measured_curves curves;
        std::uint64_t size = 1 + random(8);
        for (std::uint64_t n = 1 + random(6); n > 0; --n, size = size * (2 + random(3)) + random(5))
            curves.sizes.push_back(size);
        curves.times_ps.resize(1 + random(5));
        for (times& t : curves.times_ps)
            for (std::size_t i = 0; i < curves.sizes.size(); ++i)
                t.push_back(random(8) == 0 ? std::nullopt
                                           : std::optional<std::uint64_t>(random(4) == 0 ? 50 : 1 + random(1000)));
        check_whole(curves, lowest_of(curves));
    }
}

TEST_CASE("sizes have three digits and a binary prefix")
{
    CHECK(binary_size_text(4) == "4 B");
    CHECK(binary_size_text(1000) == "1000 B");
    CHECK(binary_size_text(1024) == "1 KiB");
    CHECK(binary_size_text(70031) == "68.4 KiB");
    CHECK(binary_size_text(1023.7) == "1 KiB");
    CHECK(binary_size_text(1.5 * 1048576) == "1.5 MiB");
    CHECK(binary_size_text(256 * 1048576.0) == "256 MiB");
}

TEST_CASE("a plot of nothing and of one point and of names with signs is a whole SVG")
{
    tuning_plot plot;
    plot.title = "a < b & \"c\"";
    CHECK(to_svg(plot).find("No point has completed.") != std::string::npos);
    CHECK(to_svg(plot).find("a &lt; b &amp; &quot;c&quot;") != std::string::npos);
    plot.curves = {{"ring_1d", {plotted_point{1024, 10}}}, {"two_d", {std::nullopt}}};
    plot.lowest = {{1024, 1024, 0}};
    const std::string one = to_svg(plot);
    CHECK(one.find("nan") == std::string::npos);
    CHECK(one.find("inf") == std::string::npos);
    CHECK(one.find("ring_1d") != std::string::npos);
    CHECK(one.substr(one.size() - 7) == "</svg>\n");
}
