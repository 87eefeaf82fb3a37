// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The data of a report, without a machine: bins that lose nothing, what limits a collective, groups in names, base64.
#include "hw/fabric/output_waits.h"
#include "platforms/report/activity_file.h"
#include "platforms/report/case_limits.h"
#include "platforms/report/time_bins.h"
#include "platforms/workload/map_maker.h"
#include "tlm/check.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

using namespace weft;

namespace {

std::uint64_t sum_of(const time_bins& bins, std::size_t series)
{
    std::uint64_t sum = 0;
    for (std::uint32_t b = 0; b < bins.bins(); ++b)
        sum += bins.value(series, b);
    return sum;
}

std::uint64_t length_of(const time_bins& bins)
{
    std::uint64_t sum = 0;
    for (std::uint32_t b = 0; b < bins.bins(); ++b)
        sum += bins.length_ps(b);
    return sum;
}

/// A series that is busy for `step` of every `step` + 1, and one that is busy all the time.
time_bins filled(std::uint64_t start_ps, std::uint64_t span_ps)
{
    time_bins bins(2, 16, 7);
    bins.begin(start_ps);
    std::uint64_t at_ps = start_ps;
    while (bins.end_of_bin_ps() <= start_ps + span_ps) {
        const std::uint64_t length_ps = bins.end_of_bin_ps() - at_ps;
        at_ps = bins.end_of_bin_ps();
        bins.add(0, length_ps / 3);
        bins.add(1, length_ps);
        bins.next();
    }
    bins.add(1, start_ps + span_ps - at_ps);
    bins.end(start_ps + span_ps);
    return bins;
}

case_shares shares(double core, double dma, double memory, double link, double credits, double arbitration)
{
    case_shares s;
    s.core = core, s.dma = dma, s.memory = memory, s.link = link, s.credits = credits, s.arbitration = arbitration;
    s.known = true;
    return s;
}

} // namespace

TEST_CASE("bins sum to what was added and cover the whole span whatever its length")
{
    for (const std::uint64_t span_ps : {1u, 6u, 7u, 8u, 111u, 112u, 113u, 1000u, 9973u, 1'000'003u}) {
        const time_bins bins = filled(1234, span_ps);
        INFO(span_ps);
        CHECK(sum_of(bins, 1) == span_ps);
        CHECK(length_of(bins) == span_ps);
        CHECK(bins.bins() <= 16);
        if (span_ps > 200)
            CHECK(bins.bins() >= 8); // half of them at least: bins are no wider than they must be
        for (std::uint32_t b = 0; b < bins.bins(); ++b) {
            CHECK(bins.value(1, b) == bins.length_ps(b)); // always busy: every bin is full, merged or not
            CHECK(bins.value(0, b) <= bins.length_ps(b));
        }
    }
}

TEST_CASE("what comes at the very end of a bin is not lost")
{
    time_bins bins(1, 4, 10);
    bins.begin(0);
    bins.add(0, 3);
    bins.next();
    bins.add(0, 5); // at 10 ps, where the second bin has no time yet
    bins.end(10);
    CHECK(bins.bins() == 1);
    CHECK(sum_of(bins, 0) == 8);
    bins.begin(100);
    CHECK(bins.bins() == 0);
    bins.end(100);
    CHECK(sum_of(bins, 0) == 0);
    CHECK_THROWS_AS(time_bins(1, 3, 10), bug);
    CHECK_THROWS_AS(time_bins(1, 4, 0), bug);
}

TEST_CASE("the part that was busy for longest limits a collective")
{
    CHECK(limited_by(shares(0.1, 0.2, 0.3, 0.9, 0.4, 0.8)) == "link");
    CHECK(limited_by(shares(0.1, 0.2, 0.95, 0.9, 0.9, 0.8)) == "memory");
    CHECK(limited_by(shares(0.8, 0.2, 0.3, 0.4, 0.1, 0.2)) == "core");
    CHECK(limited_by(shares(0.1, 0.97, 0.3, 0.9, 0.1, 0.2)) == "dma");
    CHECK(limited_by(shares(0.66, 0.59, 0.32, 0.59, 0, 0)) == "link"); // a core waits for its bus beside the rest
    CHECK(limited_by(shares(0.75, 0.2, 0.3, 0.59, 0, 0)) == "core");
    CHECK(limited_by(shares(0.55, 0.2, 0.3, 0.49, 0, 0)) == "core");
    CHECK(limited_by(shares(0.1, 0.9, 0.3, 0.9, 0.1, 0.2)) == "link"); // a port as busy as its link
    CHECK(limited_by(shares(0.1, 0.2, 0.3, 0.38, 0.6, 0.2)) == "credits");
    CHECK(limited_by(shares(0.1, 0.2, 0.3, 0.4, 0.3, 0.3)) == "arbitration");
    CHECK(limited_by(shares(0.1, 0.1, 0.2, 0.44, 0.45, 0.29)) == "arbitration"); // twice the links bring 35 %, twice the buffers 3 %
    CHECK(limited_by(shares(0.1, 0.1, 0.1, 0.2, 0.45, 0.2)) == "credits");
    CHECK(limited_by(shares(0.3, 0.1, 0.1, 0.2, 0.1, 0.1)) == "latency");
    CHECK(limited_by(case_shares{}) == "");
    case_shares waits = shares(0.45, 0.1, 0.3, 0.2, 0.1, 0.1); // the core is busy for 0.75
    waits.core_waits = 0.3;
    CHECK(limited_by(waits) == "core");
    waits.core = 0.2, waits.core_waits = waits.memory = 0.45;
    CHECK(limited_by(waits) == "memory");
    case_shares by_unit = shares(0.1, 0.2, 0.7, 0.8, 0.1, 0.2);
    by_unit.offload = 0.95;
    CHECK(limited_by(by_unit) == "offload");
}

TEST_CASE("groups of a place are the parts of its name that have a letter")
{
    CHECK(parts_of("npu(p0,r3,b2,5)").kind == "npu");
    CHECK(parts_of("npu(p0,r3,b2,5)").groups == std::vector<std::string>{"p0", "r3", "b2"});
    CHECK(parts_of("lrs(p1,r7,4)").groups == std::vector<std::string>{"p1", "r7"});
    CHECK(parts_of("hrs(5)").groups.empty());
    CHECK(parts_of("chip(3,4)").groups.empty());
    CHECK(parts_of("d2.ipu7").groups == std::vector<std::string>{"d2"});
    CHECK(parts_of("d2.ipu7").kind == "ipu");
    CHECK(parts_of("switch").kind == "switch");
}

TEST_CASE("base64 is that of everybody else")
{
    const auto of = [](const char* text) {
        return base64(std::vector<std::uint8_t>(text, text + std::string(text).size()));
    };
    CHECK(of("") == "");
    CHECK(of("f") == "Zg==");
    CHECK(of("fo") == "Zm8=");
    CHECK(of("foo") == "Zm9v");
    CHECK(of("foobar") == "Zm9vYmFy");
    CHECK(base64({0xff, 0xfe, 0xfd}) == "//79");
}

TEST_CASE("an output starves while nobody that waits has credits and contends while another waits")
{
    output_waits waits;
    waits.set_outputs(2, 2);
    waits.begin_starving(0, 1, 10, 12);
    CHECK(waits.starved_ps(0, 10, 20) == 8); // it goes on
    CHECK(waits.starved_ps(0, 1, 10, 20) == 8);
    CHECK(waits.starved_ps(0, 0, 10, 20) == 0);
    waits.begin_starving(0, 0, 10, 25); // no new start
    waits.end_starving(0, 10, 30);
    CHECK(waits.starved_ps(0, 10, 99) == 18);
    CHECK(waits.starved_ps(0, 1, 10, 99) == 18);
    // One that transmits in the very picosecond in which it began to starve: what is idle later is nobody's wait.
    waits.begin_starving(0, 0, 30, 40);
    waits.end_starving(0, 60, 80); // busy from 40 to 60
    CHECK(waits.starved_ps(0, 60, 99) == 18);
    // Nobody waits any more.
    waits.begin_starving(0, 0, 80, 90);
    waits.forget(0);
    CHECK(waits.starved_ps(0, 80, 99) == 18);
    waits.contend(0, 100, 107);
    waits.contend(0, 103, 107); // the same transmission
    waits.contend(0, 120, 125);
    CHECK(waits.contended_ps(0) == 12);
    CHECK(waits.contended_ps(1) == 0);
    CHECK(waits.starved_ps(1, 0, 99) == 0);
}
