// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Reports of every platform, opened in Debian's Chromium without a network, and used by probe.js as a reader would.
#include "testbenches/report/browser.h"

#include <algorithm>
#include <string>

using Catch::Matchers::Contains;
using nlohmann::json;
using namespace weft::testing;

namespace {

/// The same, up to three times: on a busy host frames come later than the probe waits. A page that is broken is so three times.
json used(const temporary_folder& folder, const std::string& page_name, int width)
{
    json found;
    for (int i = 0; i < 3; ++i) {
        found = opened(folder, page_name, "probe.js", width);
        bool all = true;
        for (const char* what : {"ready", "slider_moves_text", "arrow_moves_time", "plus_zooms", "zero_shows_all", "row_chooses", "theme_redraws"})
            all = all && found.contains(what) && found.at(what) == true;
        if (all)
            break;
    }
    return found;
}

void check_page(const json& found)
{
    INFO(found.dump(2));
    CHECK(found.at("errors").empty());
    REQUIRE(found.at("ready") == true);
    CHECK(found.at("links_over_places") == 0);
    CHECK(found.at("covered_links") == 0);
    CHECK(found.at("busy_and_idle") == 0);
    CHECK(found.at("empty_spans") == 0);
    for (const auto& [name, colours] : found.at("canvases").items()) {
        INFO(name);
        CHECK(colours > 3);
    }
    CHECK(found.at("overflow") <= 0); // nothing sticks out of the window
    CHECK(found.at("unnamed_rows") == false);
    CHECK(found.at("lane_pixels") >= 3); // thinner ones are a blur
    CHECK(found.at("ranks_pixels") <= 1200);
    CHECK(found.at("resources").empty());
    CHECK(found.at("settings") > 10);
    CHECK(found.at("slider_focused") == true);
    CHECK(found.at("slider_moves_text") == true);
    CHECK(found.at("slider_moves_picture") == true);
    CHECK(found.at("heatmap_focused") == true);
    CHECK(found.at("arrow_moves_time") == true);
    CHECK(found.at("arrow_tells") == true);
    CHECK(found.at("plus_zooms") == true);
    CHECK(found.at("zero_shows_all") == true);
    CHECK(found.at("row_chooses") == true);
    CHECK(found.at("filtered") == 0);
    CHECK(found.at("theme_first") != found.at("theme_second"));
    CHECK(found.at("theme_redraws") == true);
    CHECK(found.at("unnamed_controls") == 0);
    for (const char* theme : {"contrast_first", "contrast_second"})
        for (const auto& [what, ratio] : found.at(theme).items()) {
            INFO(theme << " " << what);
            CHECK(ratio >= 4.5); // WCAG 2, AA
        }
}

/// The page of a configuration, with its name from the root of the sources, made in `folder`.
void make_page(const temporary_folder& folder, const std::string& config, const std::string& settings)
{
    const int code = shell("cd " + k_source_root + " && timeout 500 " + WEFT_PROGRAM + " run " + config +
                           " --quiet --report --out " + folder.path().string() + " " + settings + " 2> " +
                           folder.path().string() + "/err.txt");
    INFO(text_of(folder.path() / "err.txt"));
    REQUIRE(code == 0);
}

} // namespace

TEST_CASE("a report works in a browser at two widths in light and dark")
{
    const temporary_folder folder;
    make_page(folder, "configs/tpu_v3/mesh_4x4.yaml", "");
    for (const int width : {1280, 800}) {
        INFO(width);
        const json found = used(folder, "report.html", width);
        check_page(found);
        CHECK(found.at("rows") == 42);
        CHECK_THAT(found.at("verdict").get<std::string>(), Contains("Every answer is right"));
        CHECK_THAT(found.at("headline").get<std::string>(), Contains("was limited by"));
    }
}

TEST_CASE("the reports of the other platforms work in a browser")
{
    const auto check = [](const std::string& config, const std::string& settings, unsigned bounds = 1) {
        INFO(config);
        const temporary_folder folder;
        make_page(folder, "configs/" + config, settings);
        const json found = used(folder, "report.html", 1280);
        check_page(found);
        CHECK(found.at("rows") > 0);
        CHECK(found.at("bounds") == bounds); // a switch that sums has one of its own
    };
    check("switchml/rack_4x10g.yaml", "", 2);
    check("ub_mesh/board.yaml", "--set data=off");
    check("trainium/trn2.yaml",
          "--set data=off --set 'workload=[{op: all_reduce, algorithms: [rdh], sizes: [1 MiB, 4 MiB]}]'");
    check("ipu_pod/pod16.yaml", "--set data=off");
    check("switchml/two_racks.yaml", "", 2); // a tree of switches
}

TEST_CASE("the report of a large mesh names its rows and has readable lanes")
{
    const temporary_folder folder;
    folder.write("large.yaml", "platform: tpu_v3\nname: large\ndata: off\nmesh: {rows: 14, cols: 24}\n"
                               "workload: [{op: broadcast, sizes: [4 B]}]\n");
    make_page(folder, (folder / "large.yaml").string(), "");
    for (const int width : {1280, 800}) {
        INFO(width);
        const json found = used(folder, "report.html", width);
        check_page(found);
        CHECK(found.at("ranks_drawn") >= 30);
        CHECK((width < 1280 || found.at("cut_tables") == 0));
        // Lines that look alike in the legend are told apart by its words; there is one size.
        const auto& legend = found.at("legend");
        CHECK(std::count_if(legend.begin(), legend.end(), [](const json& l) { return Contains("(long line)").match(l); }) == 1);
        CHECK(std::count_if(legend.begin(), legend.end(), [](const json& l) { return Contains("(short lines)").match(l); }) == 1);
    }
}

TEST_CASE("the report of training steps draws them over time")
{
    const temporary_folder folder;
    folder.write("step.yaml", "platform: tpu_v3\nname: step\ndata: off\nmesh: {rows: 2, cols: 2}\ntraining_step:\n"
                              "  compute: 100 us\n  groups: [{name: last, bytes: 64 KiB, ready: 0.5}, {name: first, bytes: 64 KiB}]\n"
                              "  exchanges: [{name: norm, count: 2, bytes: 1 KiB, from: 0.1, to: 0.4}]\n");
    make_page(folder, (folder / "step.yaml").string(), "");
    const json found = used(folder, "report.html", 1280);
    check_page(found);
    CHECK(found.at("canvases").contains("steps"));
    CHECK_THAT(found.at("headline").get<std::string>(), Contains("A training step takes"));
}

TEST_CASE("the report of a job with checkpoints shows them and what failed when")
{
    const temporary_folder folder;
    make_page(folder, "configs/ub_mesh/rack_checkpoint.yaml", "");
    const json found = opened(folder, "report.html", "probe.js", 1280);
    INFO(found.dump(2));
    CHECK(found.at("errors").empty());
    CHECK(found.at("hosts_hidden") == false);
    CHECK(found.at("host_rows") == json{{"all_steps", 6}, {"checkpoints", 4}, {"streams", 1}});
    // The NPU fails in the job: the first step has it, the last one a spare in its place.
    CHECK_THAT(found.at("failed_marks")[0].get<std::string>(), !Contains("failed") && !Contains("not work"));
    CHECK_THAT(found.at("failed_marks")[1].get<std::string>(), Contains("1 chip failed, 16 directed links do not work"));
}

TEST_CASE("the report of a step that waits for samples says so first")
{
    const temporary_folder folder;
    make_page(folder, "configs/ipu_pod/host_input_pod16.yaml", "");
    const json found = opened(folder, "report.html", "probe.js", 1280);
    INFO(found.dump(2));
    CHECK(found.at("errors").empty());
    CHECK(found.at("hosts_hidden") == true);
    CHECK_THAT(found.at("headline").get<std::string>(), Contains(": 41 % waits for samples, 1.1 % waits for communication"));
}

TEST_CASE("a report tells collectives apart that differ in sums and runs")
{
    const temporary_folder folder;
    folder.write("alike.yaml", "platform: tpu_v3\nname: alike\nmesh: {rows: 2, cols: 2}\n"
                               "workload: [{op: all_reduce, algorithms: [two_d], sizes: [4 KiB], redops: [sum, max], repeats: 2}]\n");
    make_page(folder, (folder / "alike.yaml").string(), "");
    const json found = opened(folder, "report.html", "probe.js", 1280);
    INFO(found.dump(2));
    CHECK(found.at("errors").empty());
    CHECK(found.at("names") == json{"1. all_reduce two_d, 4 KiB, run 1 of 2", "2. all_reduce two_d, 4 KiB, run 2 of 2",
                                    "3. all_reduce two_d max, 4 KiB, run 1 of 2", "4. all_reduce two_d max, 4 KiB, run 2 of 2"});
    const auto& legend = found.at("legend");
    CHECK(std::count(legend.begin(), legend.end(), json("two_d max")) == 1);
}

TEST_CASE("a report of process groups has a bound for each and one headline")
{
    const temporary_folder folder;
    folder.write("groups.yaml", "platform: tpu_v3\nname: groups\ndata: off\nmesh: {rows: 4, cols: 4}\nworkload:\n"
                                "  - {op: all_gather, algorithms: [multi_axis], sizes: [64 KiB, 1 MiB]}\n"
                                "  - {op: all_gather, algorithms: [multi_axis], groups: [rows], sizes: [64 KiB, 1 MiB]}\n");
    make_page(folder, (folder / "groups.yaml").string(), "");
    const json found = opened(folder, "report.html", "probe.js", 1280);
    INFO(found.dump(2));
    CHECK(found.at("errors").empty());
    CHECK(found.at("bounds") == 2);
    CHECK(found.at("names")[3].get<std::string>().find(", rows, 1 MiB") != std::string::npos);
    // The collective that is shown is the one that the headline tells of.
    CHECK_THAT(found.at("headline").get<std::string>(), Contains("all_gather of 1 MiB") && Contains(", rows, was limited by"));
    CHECK_THAT(found.at("shown").get<std::string>(), Contains(", rows, 1 MiB"));
}

TEST_CASE("a report shows published against simulated values")
{
    const temporary_folder folder;
    folder.write("two.yaml", "platform: tpu_v3\nname: two\nmesh: {rows: 2, cols: 2}\nworkload: [{op: all_gather, sizes: [64 KiB]}]\n");
    folder.write("published.json", R"({"name":"tpu_v3","targets":[
        {"target":"T1","kind":"emergent","what":"a share","unit":"%","published":4.2,"simulated":4.3,"verdict":"met","source":"a table"},
        {"target":"T2","kind":"emergent","what":"an order","unit":"","published":["a first one with a long name","a second one"],
         "simulated":["a second one","a first one with a long name"],"verdict":"MISS","source":"a figure"}]})");
    make_page(folder, (folder / "two.yaml").string(), "");
    REQUIRE(shell(std::string(WEFT_PROGRAM) + " report " + folder.path().string() + " --published " + (folder / "published.json").string() +
                  " > /dev/null") == 0);
    const json found = used(folder, "report.html", 1280);
    check_page(found);
    CHECK(found.at("published") == 2);
}

TEST_CASE("8192 chips open within 3 seconds", "[slow]")
{
    const temporary_folder folder;
    make_page(folder, "configs/ub_mesh/superpod.yaml",
              "--set 'workload=[{op: all_reduce, algorithms: [hierarchical], sizes: [8 KiB]}]'");
    const json found = opened(folder, "report.html", "probe.js", 1280);
    check_page(found);
    CHECK(found.at("ready_ms") < 3000);
}
