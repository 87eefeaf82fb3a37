// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/run_report.h"
#include "platforms/report/validation_report.h"

#include <catch2/catch.hpp>

#include <sstream>

using namespace weft;

namespace {
validation_row row(double published, std::optional<double> simulated, double tolerance_percent)
{
    validation_row r;
    r.target = "T1";
    r.what = "something";
    r.unit = "%";
    r.published = published;
    r.simulated = simulated;
    r.tolerance_percent = tolerance_percent;
    r.source = "somebody (Q)";
    return r;
}
} // namespace

TEST_CASE("a value outside its tolerance is a miss, and so is one that was not reached")
{
    CHECK(row(4.0, 4.39, 10).result() == verdict::met);
    CHECK(row(4.0, 3.61, 10).result() == verdict::met);
    CHECK(row(4.0, 4.41, 10).result() == verdict::miss);
    CHECK(row(4.0, 3.59, 10).result() == verdict::miss);
    CHECK(row(4.0, std::nullopt, 10).result() == verdict::miss);
    CHECK(row(30, 30, 0).result() == verdict::met);
    CHECK(row(30, 31, 0).result() == verdict::miss);
    CHECK(row(4.0, 4.4, 20).error_percent() == Approx(10));
    validation_row later = row(4.0, std::nullopt, 10);
    later.why_not_run = "not yet";
    CHECK(later.result() == verdict::not_run);
}

TEST_CASE("the page and the JSON of a validation show misses, numbers and sources")
{
    validation_report r;
    r.name = "machine";
    r.title = "A machine";
    r.command = "weft validate machine";
    r.rows = {row(4.0, 4.2, 10), row(4.0, 5.0, 10), row(4.0, std::nullopt, 10)};
    r.rows.push_back(row(4.0, std::nullopt, 10));
    r.rows.back().why_not_run = "not yet";
    r.inputs = {{"rate", "82 GB/s", "a page (Q)"}};
    const std::string page = to_markdown(r);
    CHECK(page.find("1 met, 2 missed, 1 not run") != std::string::npos);
    CHECK(page.find("| T1 | something | 4 % | 5 % | +25.0 % | 10 % | MISS | somebody (Q) |") != std::string::npos);
    CHECK(page.find("| rate | 82 GB/s | a page (Q) |") != std::string::npos);
    CHECK(line_of(r.rows[1]).find("MISS") != std::string::npos);
    const auto j = to_json(r);
    CHECK(j["missed"] == 2);
    CHECK(j["targets"][1]["verdict"] == "MISS");
    CHECK(j["targets"][1]["error_percent"].get<double>() == Approx(25));
    CHECK(j["targets"][2]["simulated"].is_null());
    CHECK(j["targets"][3]["why_not_run"] == "not yet");
}

TEST_CASE("table and JSON show the steps of a training run")
{
    training_part_row group;
    group.name = "layer4";
    group.type = "float32";
    group.size_bytes = 4000;
    group.count = 1000;
    group.calls = 1;
    group.ready_ps = group.start_ps = 30'000'000;
    group.time_ps = 10'000'000;
    group.wrong = 2;
    run_report r;
    r.training =
        training_report{"row_pair", true, "none", {{40'000'000, 30'000'000, 10'000'000, 10'000'000, 0.25, {group}}}};
    std::ostringstream out;
    print_table(out, r);
    CHECK(out.str().find("training_step by row_pair transposed, overlap none") != std::string::npos);
    CHECK(out.str().find("0    40.000       30.000    10.000       10.000    25.000       2") != std::string::npos);
    CHECK(out.str().find("2 in 1 of 1 results") != std::string::npos);
    const auto j = to_json(r)["training_step"];
    CHECK(j["steps"][0]["share"] == 0.25);
    CHECK(j["steps"][0]["exposed_us"] == 10.0);
    CHECK(j["steps"][0]["groups"][0]["name"] == "layer4");
    CHECK(j["steps"][0]["groups"][0]["wrong"] == 2);
    CHECK(j["steps"][0]["exchanges"].empty());
    CHECK_FALSE(to_json(run_report{}).contains("training_step"));
}
