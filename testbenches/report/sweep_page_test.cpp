// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Pages of sweeps and comparisons in Chromium, looked at by static_probe.js in light and dark.
#include "testbenches/report/browser.h"

#include <functional>
#include <string>
#include <vector>

using nlohmann::json;
using namespace weft::testing;

namespace {

void weft_in(const temporary_folder& folder, const std::string& arguments, int wanted)
{
    const int code = shell("cd " + folder.path().string() + " && timeout 500 " + WEFT_PROGRAM + " " + arguments + " > out.txt 2> err.txt");
    INFO(arguments << "\n" << text_of(folder.path() / "out.txt") << text_of(folder.path() / "err.txt"));
    REQUIRE(code == wanted);
}

void check_static_page(const json& found, bool dark)
{
    INFO(found.dump(2));
    CHECK(found.at("errors").empty());
    CHECK(found.at("dark") == dark);
    CHECK(found.at("scripts") == 0);
    CHECK(found.at("resources").empty());
    CHECK(found.at("overflow") <= 0);
    CHECK(found.at("tables") > 0);
    for (const auto& [what, ratio] : found.at("contrasts").items()) {
        INFO(what);
        CHECK(ratio >= 4.5); // WCAG 2, AA: texts
    }
    for (const auto& [what, ratio] : found.at("curve_contrasts").items()) {
        INFO(what);
        CHECK(ratio >= 3); // the same: drawings
    }
    CHECK(found.at("texts_outside") == 0);
    CHECK(found.at("texts_over_texts") == 0);
    CHECK(found.at("picks_focus") == true);
    CHECK(found.at("choice_shows") == true);
    CHECK(found.at("scrolls_without_focus") == 0);
}

/// At a usual and a small width, light and dark.
void check_everywhere(const temporary_folder& folder, const std::string& page, const std::function<void(const json&)>& more)
{
    std::string ground;
    for (const bool dark : {false, true})
        for (const int width : {1280, 700}) {
            INFO(page << (dark ? " dark " : " light ") << width);
            const json found = opened(folder, page, "static_probe.js", width, dark);
            check_static_page(found, dark);
            more(found);
            if (width == 1280)
                CHECK(found.at("ground") != ground);
            ground = found.at("ground");
        }
}

const std::string k_base = "platform: tpu_v3\nname: base\ndata: off\nmesh: {rows: 2, cols: 2}\n"
                           "workload: [{op: all_reduce, algorithms: [ring_1d, two_d], sizes: [4 KiB, 64 KiB, 1 MiB]}]\n";

} // namespace

TEST_CASE("the page of a sweep works in a browser in light and dark")
{
    const temporary_folder folder;
    folder.write("base.yaml", k_base);
    folder.write("s.yaml", "sweep: {platform: base.yaml, out: out}\n"
                           "grid:\n  ici.link_rate: [20 GB/s, 82 GB/s]\n  ici.router_latency: [4 cycles, 400 cycles]\n");
    weft_in(folder, "sweep s.yaml --quiet", 0);
    check_everywhere(folder, "out/sweep.html", [](const json& found) {
        CHECK(found.at("panels") == 4);
        for (const json& curves : found.at("curves"))
            CHECK(curves == 2);
        for (const json& levels : found.at("levels")) // an axis with a single value has no scale
            CHECK(levels >= 3);
        CHECK(found.at("markers") == 4 * 2 * 3);
        CHECK(found.at("picks") == 3);
    });
}

TEST_CASE("the page of a sweep whose points fail says so readably")
{
    const temporary_folder folder;
    folder.write("base.yaml", k_base);
    folder.write("s.yaml", "sweep: {platform: base.yaml, out: out}\ngrid: {firmware_timeout: [1 us, 1 ms]}\n");
    weft_in(folder, "sweep s.yaml --quiet", 1);
    check_everywhere(folder, "out/sweep.html", [](const json& found) { CHECK(found.at("contrasts").contains("bad")); });
}

TEST_CASE("the page of a comparison works in a browser in light and dark")
{
    const temporary_folder folder;
    folder.write("base.yaml", k_base);
    weft_in(folder, "run base.yaml --quiet --out a", 0);
    weft_in(folder, "run base.yaml --quiet --out b --set 'ici.link_rate=41 GB/s'", 0);
    weft_in(folder, "compare a b --html d.html", 1);
    check_everywhere(folder, "d.html", [](const json& found) {
        const auto& heads = found.at("headings");
        // What came out first, then what was asked for.
        std::vector<std::string> tables;
        for (const json& head : heads)
            for (const char* name : {"result", "configuration", "bound", "statistic"})
                if (head == name)
                    tables.push_back(head);
        CHECK(tables == std::vector<std::string>{"result", "configuration", "bound", "statistic"});
        CHECK(found.at("rows") > 8);
    });
}
