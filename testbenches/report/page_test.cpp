// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// report.html as users get it: the program makes it, it needs nothing else, and what cannot be shown is said in a
// sentence.
#include "testbenches/support/temporary_folder.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <sys/wait.h>

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

/// A folder in which programs run.
class workshop : public weft::testing::temporary_folder {
public:
    int shell(const std::string& command) const
    {
        const int status = std::system(("cd " + path().string() + " && timeout 240 " + command).c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
    }
    int weft(const std::string& arguments) const
    {
        return shell(std::string(WEFT_PROGRAM) + " " + arguments + " > out.txt 2> err.txt < /dev/null");
    }
    std::string err() const { return read("err.txt"); }

    void run_small(const std::string& more = "") const
    {
        write(
            "small.yaml",
            "platform: tpu_v3\nname: small\nmesh: {rows: 3, cols: 4}\n"
            "workload:\n  - {op: all_reduce, algorithms: [ring_1d, two_d], types: [int32], sizes: [4 B, 64 KiB, 1 MiB]}\n");
        const int code = weft("run small.yaml --report " + more);
        INFO(err());
        REQUIRE(code == 0);
    }
};

} // namespace

TEST_CASE("a run with a report leaves one page that needs nothing else")
{
    const workshop w;
    w.run_small();
    CHECK_THAT(w.read("out.txt"), Contains("report:  out/small/report.html"));
    std::string page = w.read("out/small/report.html");
    REQUIRE(page.size() > 250'000); // the charting library is in it
    CHECK(page.find("<!--") != std::string::npos);
    for (const char* mark : {"<!--style-->", "<!--data-->", "<!--scripts-->"})
        CHECK(page.find(mark) == std::string::npos);
    // Addresses stand in notices of licences only: nothing loads one.
    const std::regex loads(
        R"((src|href|action)\s*=\s*["']?(https?:)?//|@import|url\(\s*["']?https?:|\bfetch\(|XMLHttpRequest|new\s+WebSocket|importScripts)");
    CHECK_FALSE(std::regex_search(page, loads));
    CHECK_THAT(page, Contains("default-src 'none'"));
    // The block of data is JSON of the results and the activity, and no text in it ends a script.
    const std::string begin = R"(<script type="application/json" id="data">)";
    const std::size_t at = page.find(begin) + begin.size();
    const json data = json::parse(page.substr(at, page.find("</script>", at) - at));
    json results = json::parse(w.read("out/small/results.json"));
    for (const char* rows : {"links", "ranks"}) // the page has those of its activity
        CHECK(results.erase(rows) == 1);
    CHECK(data.at("results") == results);
    CHECK(data.at("activity") == json::parse(w.read("out/small/activity.json")));
    CHECK(data.at("activity").at("cases").size() == 6);
    for (const json& row : data.at("results").at("results")) {
        CHECK_FALSE(row.at("limited_by").get<std::string>().empty());
        CHECK(row.at("busy_shares").size() == 7);
    }
    CHECK_THAT(w.read("out.txt"), Contains("Limited by       all_reduce ring_1d: latency"));
}

TEST_CASE("a page is made again from its folder and is the same")
{
    const workshop w;
    w.run_small("--seed 7");
    const std::string page = w.read("out/small/report.html");
    fs::remove(w / "out/small/report.html");
    REQUIRE(w.weft("report out/small") == 0);
    CHECK(w.read("out/small/report.html") == page);
    REQUIRE(w.weft("report out/small --out other.html") == 0);
    CHECK(w.read("other.html") == page);
}

TEST_CASE("what is no folder of a report is told in a sentence and nothing is written")
{
    const workshop w;
    w.run_small();
    const std::string activity = w.read("out/small/activity.json");
    fs::remove(w / "out/small/report.html");
    const auto refused = [&](const std::string& why) {
        CHECK(w.weft("report out/small") == 2);
        CHECK_THAT(w.err(), Contains(why));
        CHECK_FALSE(fs::exists(w / "out/small/report.html"));
    };
    w.write("out/small/activity.json", activity.substr(0, activity.size() / 2));
    refused("is no whole JSON file");
    json changed = json::parse(activity);
    changed["digest"] = "0000000000000000";
    w.write("out/small/activity.json", changed.dump());
    refused("belongs to a run with digest");
    changed = json::parse(activity);
    changed["schema"] = 99;
    w.write("out/small/activity.json", changed.dump());
    refused("this version reads schema 1");
    changed.erase("map");
    w.write("out/small/activity.json", changed.dump());
    refused("has no \"map\"");
    fs::remove(w / "out/small/activity.json");
    refused("weft run FILE --report");
    w.write("out/small/results.json", "{\"digest\": 1}");
    refused("has no \"results\"");
    CHECK(w.weft("report nowhere") == 2);
    CHECK_THAT(w.err(), Contains("nowhere: there is no such folder."));
    CHECK(w.weft("report") == 2);
}

TEST_CASE("without the charting library nothing is run")
{
    const workshop w;
    w.write(
        "small.yaml",
        "platform: tpu_v3\nname: small\nmesh: {rows: 2, cols: 2}\nworkload:\n  - {op: all_reduce, algorithms: [two_d], sizes: [4 B]}\n");
    CHECK(w.shell("env WEFT_CHART_JS=/nowhere/chart.js " + std::string(WEFT_PROGRAM) +
                  " run small.yaml --report > out.txt 2> err.txt") == 2);
    CHECK_THAT(w.err(), Contains("apt-get install libjs-chart.js"));
    CHECK_FALSE(fs::exists(w / "out"));
}

TEST_CASE("sums in a switch have a bound of their own")
{
    for (const std::string job : {"{}", "{transport: rdma, packets_per_message: 4}"}) {
        const workshop w;
        w.write("rack.yaml", "platform: switchml\nname: rack\nworkers: 4\nnetwork: {rate: 10 Gbps}\ndata: off\njob: " + job +
                                 "\nworkload: [{op: all_reduce, algorithms: [switchml, ring_1d], sizes: [4 KiB, 4 MiB]}]\n");
        REQUIRE(w.weft("run rack.yaml") == 0);
        const json rows = json::parse(w.read("out/rack/results.json")).at("results");
        REQUIRE(rows.size() == 4);
        for (std::size_t i = 0; i < 2; ++i) {
            const json &sums = rows[i], &ring = rows[2 + i];
            CHECK(sums.at("algorithm") == "switchml");
            CHECK(sums.at("bound_by") == "links of a worker to a switch that sums");
            CHECK(ring.at("bound_by") == "links of a rank");
            CHECK(sums.at("bound_us") < ring.at("bound_us"));
            // Every byte goes to the switch and comes back once: not less than the bytes alone take.
            CHECK(sums.at("bound_us").get<double>() > sums.at("size_bytes").get<double>() * 8 / 10e3);
            for (const json& row : {sums, ring})
                CHECK((row.at("bound_share") > 0 && row.at("bound_share") <= 1));
        }
        CHECK(rows[1].at("bound_share") > 0.8);
    }
}

TEST_CASE("a run that fails has a page that says so")
{
    const workshop w;
    w.write("small.yaml", "platform: tpu_v3\nname: small\nmesh: {rows: 2, cols: 2}\n"
                          "faults: {links_down: [{row: 0, col: 0, direction: +X, announced: false}]}\n"
                          "workload:\n  - {op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB]}\n");
    CHECK(w.weft("run small.yaml --report") == 1);
    const json activity = json::parse(w.read("out/small/activity.json"));
    REQUIRE(activity.at("cases").size() == 1);
    CHECK(activity.at("cases")[0].at("complete") == false);
    CHECK(activity.at("cases")[0].at("limited_by") == ""); // what did not end has no verdict
    std::size_t broken = 0;
    for (const json& b : activity.at("map").at("levels")[0].at("bundles"))
        broken += b[3].get<std::size_t>();
    CHECK(broken == 1);
    CHECK(fs::exists(w / "out/small/report.html"));
}

TEST_CASE("the digest of a run is that of the same run with a report")
{
    const workshop w;
    w.run_small();
    const json with = json::parse(w.read("out/small/results.json"));
    REQUIRE(w.weft("run small.yaml") == 0);
    const json without = json::parse(w.read("out/small/results.json"));
    CHECK(with.at("digest") == without.at("digest"));
    CHECK(with.at("timeline_events") == without.at("timeline_events"));
    CHECK_FALSE(fs::exists(w / "out/small/report.html")); // of an earlier run: it is moved away
    CHECK(fs::exists(w / "out/small/report.previous.html"));
    for (std::size_t i = 0; i < with.at("results").size(); ++i)
        CHECK(with.at("results")[i].at("busy_shares") == without.at("results")[i].at("busy_shares"));
}
