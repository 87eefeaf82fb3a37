// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Two jobs share a switch, and a worker of one dies: the other job's results are kept.
#include "testbenches/issues/started_program.h"

using namespace weft::testing;
using nlohmann::json;

TEST_CASE("a dead worker of one job leaves the results of the other")
{
    started_program weft;
    weft.write("jobs.yaml", text_of(WEFT_SOURCE_DIR "/configs/switchml/two_jobs.yaml"));
    const int code = weft.run({"run", "jobs.yaml", "--out", "out", "--set", "faults.outages=[{worker: 5, from: 100 us}]",
                               "--set", "firmware_timeout=5 ms"});
    CHECK(code == 1);
    INFO(weft.out());
    INFO(weft.err());
    const json j = weft.results();
    REQUIRE(j.at("results").size() == 1);
    const json& row = j.at("results").at(0);
    CHECK(row.at("group") == "job 0");
    CHECK(row.at("wrong") == 0);
    CHECK(row.at("type") == "int32");
    // What it takes where nothing fails: the jobs share nothing but the switch.
    CHECK(row.at("time_us").get<double>() > 500);
    CHECK(row.at("time_us").get<double>() < 2000);
    CHECK(has(weft.out(), "switchml, job 0"));
    CHECK(row.at("busbw_GBps").get<double>() == Approx(1.5 * row.at("algbw_GBps").get<double>())); // 2 (n - 1) / n of four workers, not of eight
    const std::string failure = j.at("failure");
    CHECK(has(failure, "Not completed: job 1, of 2 groups; the results of the others stand."));
    CHECK(has(failure, "job 1 waits for worker 5"));
    CHECK_FALSE(has(failure, "rank 3, worker 3"));
}
