// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/run_report.h"
#include "platforms/report/validation_report.h"

#include <catch2/catch.hpp>

#include <sstream>
#include <stdexcept>
#include <type_traits>

using namespace weft;

namespace {
validation_row row(double published, std::optional<double> simulated, double tolerance_percent)
{
    validation_row r(row_kind::emergent());
    r.target = "T1";
    r.what = "something";
    r.unit = "%";
    r.published = published;
    r.simulated = simulated;
    r.tolerance = tolerance_percent > 0 ? tolerance::percent(tolerance_percent) : tolerance::exact();
    r.source = "somebody (quoted)";
    return r;
}
} // namespace

TEST_CASE("a value outside its tolerance is a miss and so is one that was not reached")
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

TEST_CASE("points are differences and a factor goes both ways")
{
    validation_row r = row(94.6, 97.5, 0);
    r.tolerance = tolerance::points(3);
    CHECK(r.result() == verdict::met);
    CHECK(line_of(r).find("+2.90 points") != std::string::npos);
    CHECK(line_of(r).find("3 points") != std::string::npos);
    r.simulated = 97.7; // 3.3 % would have been met
    CHECK(r.result() == verdict::miss);
    r.simulated = 91.5;
    CHECK(r.result() == verdict::miss);
    r.published = 0.5; // percent of a small value would be a miss
    r.simulated = 3.4;
    CHECK(r.result() == verdict::met);

    r = row(6.0, 2.1, 0);
    r.tolerance = tolerance::factor(3);
    CHECK(r.result() == verdict::met);
    CHECK(line_of(r).find("x 0.35") != std::string::npos);
    r.simulated = 1.9;
    CHECK(r.result() == verdict::miss);
    r.simulated = 17.9;
    CHECK(r.result() == verdict::met);
    r.simulated = 18.1;
    CHECK(r.result() == verdict::miss);
    r.simulated = -2.1; // of the other sign
    CHECK(r.result() == verdict::miss);
    r.simulated = std::nullopt;
    CHECK(r.result() == verdict::miss);
}

TEST_CASE("an order is met when all names stand in the same places and both orders are shown")
{
    validation_row r(row_kind::emergent());
    r.target = "T3";
    r.what = "order";
    r.tolerance = tolerance::order();
    r.published_order = {"a", "b", "c"};
    CHECK(r.result() == verdict::miss); // a run did not complete
    r.simulated_order = {"a", "b", "c"};
    CHECK(r.result() == verdict::met);
    r.simulated_order = {"a", "c", "b"};
    CHECK(r.result() == verdict::miss);
    r.simulated_order = {"a", "b"};
    CHECK(r.result() == verdict::miss);
    CHECK(line_of(r).find("a > b > c") != std::string::npos);

    validation_report report;
    report.rows = {r};
    CHECK(to_markdown(report).find("| T3 | emergent | order | a > b > c | a > b | - | same order | MISS |") !=
          std::string::npos);
    const auto j = to_json(report)["targets"][0];
    CHECK(j["published"] == std::vector<std::string>{"a", "b", "c"});
    CHECK(j["simulated"].size() == 2);
    CHECK(j["error_percent"].is_null());
    CHECK(j["tolerance"]["kind"] == "order");
}

TEST_CASE("values that are alike have no order")
{
    using names = std::vector<std::string>;
    CHECK(largest_first({{1, "a"}, {3, "b"}, {2, "c"}}) == names{"b", "c", "a"});
    CHECK(largest_first({{2, "a"}, {2, "b"}, {1, "c"}}) == names{"a = b", "c"});
    CHECK(largest_first({{-1, "a"}, {-1, "b"}}) == names{"a = b"});
}

TEST_CASE("a row that is shown and not judged is neither met nor missed")
{
    validation_report report;
    report.rows = {row(99, 50, 3)};
    report.rows[0].why_not_judged = "luck";
    CHECK(report.rows[0].result() == verdict::not_judged);
    CHECK(report.count(verdict::miss) == 0);
    CHECK(report.count(verdict::not_judged) == 1);
    CHECK(to_markdown(report).find("| 99 % | 50 % | -49.5 % | - | not judged: luck |") != std::string::npos);
    CHECK(line_of(report.rows[0]).find("not judged: luck") != std::string::npos);
    const auto j = to_json(report);
    CHECK(j["not_judged"] == 1);
    CHECK(j["targets"][0]["why_not_judged"] == "luck");
    report.rows[0].why_not_run = "cannot"; // what was not run is not judged either
    CHECK(report.rows[0].result() == verdict::not_run);
}

TEST_CASE("the page and the JSON of a validation show misses and numbers and sources")
{
    validation_report r;
    r.name = "machine";
    r.title = "A machine";
    r.command = "weft validate machine";
    r.rows = {row(4.0, 4.2, 10), row(4.0, 5.0, 10), row(4.0, std::nullopt, 10)};
    r.rows.push_back(row(4.0, std::nullopt, 10));
    r.rows.back().why_not_run = "not yet";
    r.inputs = {{"rate", "82 GB/s", "a page (quoted)"}};
    const std::string page = to_markdown(r);
    CHECK(page.find("**1 of 3 emergent targets met**") != std::string::npos);
    CHECK(page.find("| emergent | 1 | 2 | 1 | 0 |") != std::string::npos);
    CHECK(page.find("| T1 | emergent | something | 4 % | 5 % | +25.0 % | 10 % | MISS | - | somebody (quoted) |") !=
          std::string::npos);
    CHECK(page.find("| rate | 82 GB/s | a page (quoted) |") != std::string::npos);
    CHECK(line_of(r.rows[1]).find("MISS") != std::string::npos);
    const auto j = to_json(r);
    CHECK(j["missed"] == 2);
    CHECK(j["targets"][1]["verdict"] == "MISS");
    CHECK(j["targets"][1]["error_percent"].get<double>() == Approx(25));
    CHECK(j["targets"][1]["tolerance"]["kind"] == "percent");
    CHECK(j["targets"][1]["tolerance"]["amount"] == 10);
    CHECK(j["targets"][2]["simulated"].is_null());
    CHECK(j["targets"][3]["why_not_run"] == "not yet");
}

TEST_CASE("a row states its kind and a calibrated one what was fitted")
{
    static_assert(!std::is_default_constructible_v<validation_row>, "a row without a kind must not compile");
    static_assert(!std::is_default_constructible_v<row_kind>);
    CHECK_THROWS_AS(row_kind::calibrated(""), std::invalid_argument);
    CHECK(row_kind::calibrated("a delay").fitted_input() == "a delay");
    CHECK(row_kind::emergent().fitted_input().empty());
    for (const row_kind& k :
         {row_kind::emergent(), row_kind::conformity(), row_kind::identity(), row_kind::calibrated("x")})
        CHECK(k.is(k.which()));
}

TEST_CASE("the head counts each kind apart with emergent rows first")
{
    const auto of_kind = [](row_kind kind, double simulated) {
        validation_row r(std::move(kind));
        r.target = "T9";
        r.published = 4;
        r.simulated = simulated;
        r.tolerance = tolerance::percent(10);
        return r;
    };
    validation_report r;
    r.rows = {of_kind(row_kind::identity(), 4), of_kind(row_kind::conformity(), 4), of_kind(row_kind::conformity(), 9),
              of_kind(row_kind::calibrated("a delay"), 4), of_kind(row_kind::emergent(), 9)};
    CHECK(r.count(row_kind::name::emergent, verdict::met) == 0); // met rows of other kinds do not count
    CHECK(r.count(row_kind::name::emergent, verdict::miss) == 1);
    CHECK(r.count(row_kind::name::conformity, verdict::met) == 1);
    CHECK(r.count(row_kind::name::conformity, verdict::miss) == 1);
    const std::string page = to_markdown(r);
    CHECK(page.find("**0 of 1 emergent targets met**") != std::string::npos);
    CHECK(page.find("| calibrated: a delay |") != std::string::npos);
    std::size_t last = 0;
    for (const char* line :
         {"| emergent | 0 | 1 |", "| conformity | 1 | 1 |", "| identity | 1 | 0 |", "| calibrated | 1 | 0 |"}) {
        const std::size_t at = page.find(line);
        REQUIRE(at != std::string::npos);
        CHECK(at > last);
        last = at;
    }
    CHECK(head_of(r).find("emergent") == 0);
    const auto j = to_json(r);
    CHECK(j["kinds"]["emergent"]["missed"] == 1);
    CHECK(j["kinds"]["identity"]["met"] == 1);
    CHECK(j["targets"][3]["fitted_input"] == "a delay");
    CHECK(j["missed"] == 2); // the exit code goes by all kinds
}

TEST_CASE("a null model is judged by the tolerance of its row and counted beside the simulation")
{
    validation_report r;
    r.rows = {row(4.0, 4.2, 10), row(4.0, 5.0, 10), row(4.0, 4.1, 10), row(4.0, 4.0, 10)};
    r.rows[0].null_value = 4.3;
    r.rows[1].null_value = 4.39;
    r.rows[1].why_miss = "a reason";
    r.rows[2].null_value = 4.41;
    r.rows[3].null_value = 4.0;
    r.rows[3].why_not_judged = "luck";
    r.null_models = {{"T1", "bytes / rate"}};
    const null_score s = r.score_of("T1");
    CHECK(s.rows == 3); // not the row that is not judged
    CHECK(s.simulation_met == 2);
    CHECK(s.null_met == 2);
    const std::string page = to_markdown(r);
    CHECK(page.find("| T1 | bytes / rate | 3 | 2 | 2 |") != std::string::npos);
    CHECK(page.find("| MISS: a reason | 4.39 %, met |") != std::string::npos);
    CHECK(page.find("| 4.41 %, MISS |") != std::string::npos);
    CHECK(head_of(r).find("simulation meets 2 of 3, the null model 2: bytes / rate") != std::string::npos);
    CHECK(to_json(r)["null_models"][0]["null_met"] == 2);
    r.rows[0].kind = row_kind::calibrated("a delay"); // fitted rows are no evidence beside emergent ones
    CHECK(r.score_of("T1").rows == 2);
    CHECK(r.score_of("T1").simulation_met == 1);
    for (validation_row& fitted : r.rows)
        fitted.kind = row_kind::calibrated("a delay");
    CHECK(r.score_of("T1").rows == 3);
    CHECK(to_json(r)["targets"][1]["why_miss"] == "a reason");

    validation_row order(row_kind::emergent());
    order.tolerance = tolerance::order();
    order.published_order = {"a", "b"};
    CHECK_FALSE(order.has_null_model());
    order.null_order = {"all alike"};
    CHECK_FALSE(order.null_model_meets());
    order.null_order = {"a", "b"};
    CHECK(order.null_model_meets());
}

TEST_CASE("a published zero is met by zero only when the tolerance is a percentage")
{
    CHECK(row(0, 0, 10).result() == verdict::met);
    CHECK(row(0, 7, 10).result() == verdict::miss);
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
        training_report{"row_pair", true, "none", "", {{40'000'000, 30'000'000, 10'000'000, 10'000'000, 0.25, {group}}}};
    std::ostringstream out;
    print_table(out, r);
    CHECK(out.str().find("training_step by row_pair transposed, overlap none") != std::string::npos);
    CHECK(out.str().find("0    40.000       30.000    10.000       10.000    25.000       2") != std::string::npos);
    CHECK(out.str().find("2 in 1 of 1 checked results") != std::string::npos);
    const auto j = to_json(r)["training_step"];
    CHECK(j["steps"][0]["share"] == 0.25);
    CHECK(j["steps"][0]["exposed_us"] == 10.0);
    CHECK(j["steps"][0]["groups"][0]["name"] == "layer4");
    CHECK(j["steps"][0]["groups"][0]["wrong"] == 2);
    CHECK(j["steps"][0]["exchanges"].empty());
    CHECK_FALSE(to_json(run_report{}).contains("training_step"));
}
