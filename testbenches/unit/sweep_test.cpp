// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sweep files as text, what becomes of results in a table and in small multiples, and how two results are paired.
#include "platforms/config/yaml_text.h"
#include "platforms/sweep/comparison.h"
#include "platforms/sweep/sweep_page.h"
#include "testbenches/support/temporary_folder.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cmath>
#include <limits>

using namespace weft;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using nlohmann::json;

namespace {

std::string refusal_of(const std::string& text)
{
    try {
        static_cast<void>(read_sweep_text(text, "folder/s.yaml"));
    } catch (const user_error& e) {
        return e.what();
    }
    return "";
}

stored_row row_of(const std::string& algorithm, std::uint64_t bytes, double us)
{
    stored_row row;
    row.op = "all_reduce";
    row.algorithm = algorithm;
    row.type = "int32";
    row.redop = "sum";
    row.size_bytes = bytes;
    row.time_us = us;
    row.busbw_GBps = static_cast<double>(bytes) / us / 1e3;
    row.wrong = 0;
    return row;
}

/// One key, "link.rate", of these values in Gbps; times by algorithm and size.
sweep_report report_of(const std::vector<std::uint64_t>& gbps)
{
    sweep_report r;
    r.name = "small";
    std::vector<sweep_cell> cells;
    for (const std::uint64_t rate : gbps) {
        swept_point p;
        p.name = fmt::format("link.rate={} Gbps", rate);
        p.folder = fmt::format("points/{}", rate);
        p.cells = {{fmt::format("{} Gbps", rate), rate * 1'000'000'000}};
        p.state = point_state::done;
        cells.push_back(p.cells.front());
        r.points.push_back(p);
    }
    config_field field;
    field.type = field_type::quantity;
    field.kind = quantity_kind::bandwidth;
    r.columns = {column_of("link.rate", &field, cells)};
    return r;
}

stored_results results_of(const std::vector<stored_row>& rows)
{
    stored_results r;
    r.digest = "d";
    r.rows = rows;
    r.config = json{{"mesh", {{"rows", 2}}}, {"name", "a"}};
    return r;
}

} // namespace

TEST_CASE("values of a sweep become text that reads back to the same tree")
{
    const auto round = [](const std::string& text) {
        return flow_text(yaml_document::parse("v: " + text + "\n", "f").root().entries.front().value);
    };
    CHECK(round("82 GB/s") == "82 GB/s");
    CHECK(round("[4 KiB, [1, 2]]") == "[4 KiB, [1, 2]]");
    CHECK(round("\n  - op: all_reduce\n    sizes: [4 B]") == "[{op: all_reduce, sizes: [4 B]}]");
    CHECK(round("'0x1'") == "\"0x1\"");
    CHECK(round("a, b") == "\"a, b\"");
    for (const char* text : {"\"a \\\" b\"", "'it''s'", "\"back\\\\slash\"", "{\"odd: key\": [x, \"{y}\"]}", "\"\""})
        CHECK(round(round(text)) == round(text));
}

TEST_CASE("a sweep file has its points in the order of the file with the last key of the grid fastest")
{
    const sweep_file f = read_sweep_text("sweep: {platform: ../p/a.yaml, set: {data: off}}\n"
                                         "list: [{x.a: 1, x.b: 2 us}, {x.a: 3}]\n"
                                         "grid:\n  y: [1 B, 2 B, 3 B]\n  z.w: [[1, 2], [3]]\n",
                                         "folder/s.yaml");
    CHECK(f.platform == "p/a.yaml");
    CHECK(f.name == "s");
    CHECK(f.out == "out/sweeps/s");
    CHECK(f.common.front().assignment() == "data=off");
    CHECK(f.keys() == std::vector<std::string>{"x.a", "x.b", "y", "z.w"});
    const auto points = f.points();
    REQUIRE(points.size() == 2 * 3 * 2);
    const auto text = [&](std::size_t i) {
        std::string all;
        for (const sweep_setting& s : points[i])
            all += s.assignment() + ";";
        return all;
    };
    CHECK(text(0) == "x.a=1;x.b=2 us;y=1 B;z.w=[1, 2];");
    CHECK(text(1) == "x.a=1;x.b=2 us;y=1 B;z.w=[3];");
    CHECK(text(11) == "x.a=3;y=3 B;z.w=[3];");
    CHECK(points[1][3].value_at.line == 5);
    CHECK(points[1][3].value_at.column == 17);
}

TEST_CASE("a wrong sweep file is refused with all its problems and their places")
{
    const std::string all = refusal_of("sweeep: {}\n"
                                       "sweep: {platfrom: a.yaml, name: a/b}\n"
                                       "grid:\n"
                                       "  mesh: {rows: [1]}\n"
                                       "  a: 4\n"
                                       "  b: [1, 2, 1]\n"
                                       "  c d: [1]\n"
                                       "  e: []\n"
                                       "list: [4, {b: 3}, {q: 1}, {q: 1}]\n"
                                       "plot: {x: [size, algorithm], y: speed, lines: [algoritm], panel: [op]}\n");
    for (const char* part :
         {"s.yaml:1:1: error: sweeep: unknown key; did you mean 'sweep'?",
          "sweep.platfrom: unknown key; did you mean 'platform'?", "sweep.platform: is missing",
          "sweep.name: has a '/'",
          "s.yaml:4:3: error: grid.mesh: is a section; write the whole path as one key, `mesh.rows: [...]`",
          "s.yaml:5:6: error: grid.a: must be a list", "s.yaml:6:13: error: grid.b: has '1' twice",
          "grid.'c d': is no key of a platform file", "grid.e: must be a list with one value at least",
          "list.0: must be a section of keys", "b: is set here and as b in the grid",
          "list.3: is the same point as one before", "plot.x: must be one name", "plot.y: is 'speed'; ",
          "'algoritm' is neither a swept key nor a column of results; did you mean 'algorithm'?",
          "plot.panel: unknown key; did you mean 'panels'?"})
        CHECK_THAT(all, Contains(part));
    CHECK_THAT(refusal_of("sweep: {platform: a.yaml}\n"), Contains("there is nothing to sweep"));
    CHECK_THAT(refusal_of("sweep: {platform: a.yaml, set: {x.y: 1}}\ngrid: {x: [{y: 2}]}\n"),
               Contains("sweep.set.x.y: is of no use: every value of the swept key x replaces it"));
    CHECK(refusal_of("sweep: {platform: a.yaml, set: {x: {y: 1}}}\ngrid: {x.y: [2]}\n").empty());
    CHECK_THAT(refusal_of("sweep: {platform: a.yaml}\ngrid: {x: [{y: 2}], x.y: [3]}\n"),
               Contains("is set here and as x in the grid, too"));
    std::string many = "sweep: {platform: a.yaml}\ngrid:\n";
    for (const char* key : {"a", "b"}) {
        many += fmt::format("  {}: [0", key);
        for (int i = 1; i < 101; ++i)
            many += fmt::format(", {}", i);
        many += "]\n";
    }
    CHECK_THAT(refusal_of(many), Contains("more than 10000 points"));
}

TEST_CASE("the CSV of a sweep has a line for each result and for each point without one")
{
    sweep_report r = report_of({100, 200, 400});
    r.points[0].rows = {row_of("ring", 4096, 12.25), row_of("direct", 4096, 7)};
    r.points[0].digest = "0123";
    r.points[0].host_seconds = 0.5;
    r.points[1].state = point_state::failed;
    r.points[1].reason = "a \"quoted\", long reason";
    r.points[2].state = point_state::missing;
    CHECK(
        to_csv(r) ==
        "point,link.rate (Gbps),state,op,algorithm,group,type,redop,size (B),time (us),algbw (GB/s),busbw (GB/s),bound share,bound by,wrong,limited by,repeats,min (us),max (us),deviation (us),token (B),experts per token,expert skew,chosen by,digest,folder,host (s),reason\n"
        "0,100,done,all_reduce,ring,,int32,sum,4096,12.25,,0.33436734693877546,,,0,,,,,,,,,,0123,points/100,0.5,\n"
        "0,100,done,all_reduce,direct,,int32,sum,4096,7,,0.5851428571428571,,,0,,,,,,,,,,0123,points/100,0.5,\n"
        "1,200,failed,,,,,,,,,,,,,,,,,,,,,,,points/200,,\"a \"\"quoted\"\", long reason\"\n"
        "2,400,missing,,,,,,,,,,,,,,,,,,,,,,,points/400,,\n");
    // What a point had finished before it failed stands above its own line.
    r.points[1].rows = {row_of("ring", 4096, 12.25)};
    r.points[1].rows[0].limited_by = "link";
    CHECK_THAT(to_csv(r), Contains("\n1,200,kept,all_reduce,ring,,int32,sum,4096,12.25,,0.33436734693877546,,,0,link,,,,,,,,,,points/200,,\"a \"\"quoted\"\", "
                                   "long reason\"\n1,200,failed,,"));
    // Texts of different units keep them.
    config_field field;
    field.type = field_type::quantity;
    field.kind = quantity_kind::data_size;
    const sweep_column mixed = column_of("buffer", &field, {{"4 KiB", 4096}, {"1 MiB", 1 << 20}});
    CHECK(heading_of(mixed) == "buffer (B)");
    CHECK(csv_cell(mixed, {"4 KiB", 4096}) == "4096");
    const sweep_column with_words =
        column_of("buffer", &field, {{"4 KiB", 4096}, {"", std::nullopt}}); // a machine without it
    CHECK(heading_of(with_words) == "buffer");
    CHECK(csv_cell(with_words, {"4 KiB", 4096}) == "4 KiB");
}

TEST_CASE("small multiples leave no result out and find where the fastest changes")
{
    // ring takes 100 us at every rate; direct 1600 us over the rate in 100 Gbps squared: equal at 400 Gbps.
    sweep_report r = report_of({100, 200, 300, 700, 1100, 1300});
    for (swept_point& p : r.points) {
        const double rate = static_cast<double>(*p.cells[0].units) / 1e11;
        for (const std::uint64_t bytes : {4096ull, 65536ull})
            p.rows.insert(p.rows.end(), {row_of("ring", bytes, 100), row_of("direct", bytes, 1600 / rate / rate)});
    }
    r.points[0].rows.pop_back(); // direct of 64 KiB at 100 Gbps is missing
    const placed_results placed = place_results(r);
    CHECK(placed.results.size() == 23);
    const sweep_panels by_rate = panels_of(placed, {});
    CHECK(by_rate.x_name == "link.rate (Gbps)");
    CHECK(by_rate.lines == std::vector<std::string>{"ring", "direct"});
    REQUIRE(by_rate.panels.size() == 2);
    CHECK(by_rate.panels[1].title == "size 64 KiB");
    CHECK(by_rate.panels[1].rows[1][0] == nullptr);
    for (const sweep_panel& panel : by_rate.panels) {
        REQUIRE(panel.crossovers.size() == 1);
        const sweep_crossover& c = panel.crossovers[0];
        CHECK(by_rate.x.values[c.from].text == "300 Gbps");
        CHECK(by_rate.x.values[c.to].text == "700 Gbps");
        CHECK(*c.units == Approx(400e9).epsilon(1e-4));
        CHECK(*c.us == Approx(100).epsilon(1e-4));
        CHECK_THAT(winners_text(by_rate, panel), StartsWith("ring below 400 Gbps, direct above"));
    }
    CHECK_THAT(winners_text(by_rate, by_rate.panels[1]), EndsWith("above (ring alone has a result at 100 Gbps)"));
    const sweep_panels by_size = panels_of(placed, {"size", "", {}, {"link.rate"}});
    CHECK(by_size.panels.size() == 6);
    CHECK(by_size.panels[0].title == "link.rate 100 Gbps");
    // What the plot does not name makes lines where panels are chosen.
    const sweep_panels one = panels_of(placed, {"link.rate", "", {"algorithm"}, {"op"}});
    CHECK(one.panels.size() == 1);
    CHECK(one.lines.size() == 4);
    CHECK(one.line_names == "algorithm, size");
    const std::string page = to_page(r, by_rate);
    for (const char* part : {"<svg class=\"panel\"", "ring below 400 Gbps, direct above", "prefers-color-scheme:dark",
                             "<td>300 Gbps</td><td>700 Gbps</td><td>400 Gbps</td>", "6 of 6 points are done"})
        CHECK_THAT(page, Contains(part));
    CHECK(page.find("http") == page.find("http://www.w3.org/2000/svg")); // nothing is loaded
    CHECK(page == to_page(r, by_rate));
}

TEST_CASE("results with wrong answers are not the fastest and the panel says how many there are")
{
    sweep_report r = report_of({100, 200, 300});
    for (swept_point& p : r.points)
        p.rows = {row_of("ring", 4096, 100), row_of("direct", 4096, 10)};
    r.points[1].rows[1].wrong = 3;
    sweep_panels panels = panels_of(place_results(r), {});
    REQUIRE(panels.panels.size() == 1);
    CHECK(panels.panels[0].fastest == std::vector<std::optional<std::size_t>>{1, 0, 1});
    CHECK_THAT(winners_text(panels, panels.panels[0]), Contains("(1 with wrong answers left out)"));
    for (swept_point& p : r.points)
        for (stored_row& row : p.rows)
            row.wrong = 1;
    panels = panels_of(place_results(r), {});
    CHECK(winners_text(panels, panels.panels[0]) == "none (6 with wrong answers left out)");
    CHECK(fastest_heading(r, panels) == "fastest by link.rate (Gbps)");
    r.points[0].state = point_state::failed;
    CHECK(fastest_heading(r, panels) == "fastest by link.rate (Gbps) of what has run: 1 point did not");
}

TEST_CASE("where lines lack points neither text nor crossovers nor strip claim what was not simulated")
{
    sweep_report r = report_of({100, 200, 300});
    // Time by rate of ring, direct and tree; 0: no result.
    const double times[3][3] = {{5, 0, 5}, {20, 10, 4}, {10, 20, 9}};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t line = 0; line < 3; ++line)
            if (const char* names[] = {"ring", "direct", "tree"}; times[line][i] > 0)
                r.points[i].rows.push_back(row_of(names[line], 4096, times[line][i]));
    sweep_panels panels = panels_of(place_results(r), {});
    const sweep_panel& panel = panels.panels.at(0);
    // Tree and direct cross between 100 and 200 Gbps, where ring, the fastest of 100, is not known.
    CHECK(panel.fastest == std::vector<std::optional<std::size_t>>{0, 1, 1});
    CHECK(panel.crossovers.empty());
    CHECK_FALSE(knows_between(panel, 0));
    CHECK(knows_between(panel, 1));
    CHECK(winners_text(panels, panel) == "ring at 100 Gbps; direct at 200 Gbps, 300 Gbps");
    CHECK_THAT(to_page(r, panels), Contains("In no panel do curves cross."));
    // One line alone has no rival.
    for (swept_point& p : r.points)
        p.rows = {row_of("ring", 4096, 5)};
    r.points[0].rows.push_back(row_of("direct", 65536, 5));
    panels = panels_of(place_results(r), {"link.rate", "", {"algorithm"}, {"size"}});
    CHECK(winners_text(panels, panels.panels.at(0)) == "ring: no other has a result");
}

TEST_CASE("axes of words and of zero have crossovers without a place")
{
    sweep_report r = report_of({0, 100, 200});
    const double direct[] = {10, 10, 300};
    for (std::size_t i = 0; i < 3; ++i)
        r.points[i].rows = {row_of("ring", 4096, i == 0 ? 5 : 100), row_of("direct", 4096, direct[i])};
    const sweep_panels zero = panels_of(place_results(r), {});
    REQUIRE(zero.panels[0].crossovers.size() == 2);
    CHECK_FALSE(zero.panels[0].crossovers[0].units);
    CHECK(zero.panels[0].crossovers[1].units);
    CHECK_THAT(winners_text(zero, zero.panels[0]),
               Contains("ring below something between 0 Gbps and 100 Gbps, direct to "));
    r.columns[0].kind.reset();
    for (std::size_t i = 0; i < 3; ++i)
        r.points[i].cells[0] = {i == 0 ? "none" : i == 1 ? "half" : "full", std::nullopt};
    const sweep_panels words = panels_of(place_results(r), {"link.rate", "", {}, {}});
    CHECK(words.x.values[1].text == "half");
    REQUIRE(words.panels[0].crossovers.size() == 2);
    CHECK_FALSE(words.panels[0].crossovers[1].units);
    CHECK_THAT(to_page(r, words), Contains("<td>half</td><td>full</td><td>-</td><td>-</td>"));
}

TEST_CASE("keys that change together and entries that repeat have places of their own")
{
    sweep_report r = report_of({100, 200});
    r.columns.push_back(r.columns.front());
    r.columns.back().key = "other";
    for (swept_point& p : r.points) {
        p.cells.push_back(p.cells.front());
        p.rows = {row_of("ring", 4096, 3), row_of("ring", 4096, 4)}; // differ in a key that results do not tell
    }
    const sweep_panels all = panels_of(place_results(r), {});
    CHECK(all.lines == std::vector<std::string>{"all_reduce ring, first of its kind in the workload",
                                                "all_reduce ring, second of its kind in the workload"});
    REQUIRE(all.panels.size() == 1); // `other` says nothing more than link.rate
    CHECK(all.panels[0].rows[1][1]->time_us == 4);
    for (swept_point& p : r.points) // then lines and panels name the algorithm
        p.rows = {row_of("ring", 4096, 3), row_of("ring", 4096, 4), row_of("direct", 4096, 2)};
    const sweep_panels two = panels_of(place_results(r), {});
    CHECK(std::count(two.lines.begin(), two.lines.end(), "ring") == 1);
    REQUIRE(two.panels.size() == 2);
    CHECK(two.panels[1].title == "all_reduce, second of its kind in the workload");
    CHECK(panels_of(place_results(report_of({100})), {}).panels.empty());
}

TEST_CASE("a comparison pairs results by what was run and tells the largest difference first")
{
    stored_results a = results_of(
        {row_of("ring", 4096, 100), row_of("direct", 4096, 50), row_of("ring", 8192, 10), row_of("ring", 8192, 20)});
    stored_results b = results_of(
        {row_of("ring", 8192, 10), row_of("ring", 8192, 20.1), row_of("ring", 4096, 90), row_of("two_d", 4096, 50)});
    b.config["mesh"]["rows"] = 4;
    b.config["extra"] = {{"deep", {1, 2}}};
    b.digest = "e";
    a.stats = {{"link.bytes", 1000, "B"}, {"gone", 1, "1"}, {"run.host_cpu_seconds", 1, "s"}, {"zero", 0, "1"}};
    b.stats = {{"link.bytes", 2000, "B"}, {"run.host_cpu_seconds", 9, "s"}, {"zero", 3, "1"}};
    b.rows[2].wrong = 7;
    a.rows[0].bound_us = b.rows[2].bound_us = 20; // the share follows from the time
    a.rows[2].bound_us = 4;
    b.rows[0].bound_us = 2;
    const comparison c = compare(a, b, 0.01);
    REQUIRE(c.config.size() == 2);
    CHECK(c.config[0].key == "extra.deep");
    CHECK(c.config[0].a == "not there");
    CHECK(c.config[1].key == "mesh.rows");
    CHECK(c.config[1].b == "4");
    REQUIRE(c.beyond.size() == 1);
    CHECK(c.beyond[0].name == "all_reduce ring 4096 B int32 sum: time");
    CHECK(c.beyond[0].difference() == Approx(-0.1));
    REQUIRE(c.bounds.size() == 1); // though it differs by more
    CHECK(c.bounds[0].name == "all_reduce ring 8192 B int32 sum: least time by the bound");
    REQUIRE(c.outcomes.size() == 1);
    CHECK(c.outcomes[0].b == "7");
    REQUIRE(c.stats.size() == 2);
    CHECK(std::isinf(c.stats[0].difference())); // from 0
    CHECK(c.stats[1].name == "link.bytes");
    CHECK(c.only_a == std::vector<std::string>{"all_reduce direct 4096 B int32 sum", "gone"});
    CHECK(c.only_b == std::vector<std::string>{"all_reduce two_d 4096 B int32 sum"});
    CHECK_FALSE(c.same());
    CHECK(compare(a, b, 0.001).beyond.size() == 2);
    CHECK(compare(a, b, 0.001).beyond[1].name == "all_reduce ring 8192 B int32 sum #2: time");
    CHECK(compare(a, a, 0).same());
    stored_results other_config = a;
    other_config.config["mesh"]["rows"] = 3;
    CHECK(compare(a, other_config, 0).same()); // figures decide
    const comparisons all{"one", "two", 0.01, {c}, {}, {}};
    const std::string text = to_text(all);
    CHECK(text.find("ring 4096 B int32 sum: time") < text.find("mesh.rows"));
    CHECK(text.find("mesh.rows") < text.find("least time by the bound"));
    CHECK(text.find("least time by the bound") < text.find("link.bytes"));
    CHECK(text.find("link.bytes") < text.find("two_d"));
    CHECK_THAT(text, Contains("-10.0 %") && Contains("+100.0 %") && Contains("from 0"));
    CHECK_THAT(to_csv(all),
               Contains(",result,all_reduce ring 4096 B int32 sum: time,100,90,us,-0.1\n") &&
                   Contains(",configuration,mesh.rows,2,4,,\n") &&
                   Contains(",bound,all_reduce ring 8192 B int32 sum: least time by the bound,4,2,us,-0.5\n"));
    CHECK_THAT(to_page(all), Contains("<h1>Different</h1>") && Contains("<td>mesh.rows</td>"));
}
