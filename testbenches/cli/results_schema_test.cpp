// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// results.json is what docs/results.schema.json says, for runs of all kinds, and has a row for each link, rank and collective.
#include "testbenches/issues/json_schema.h"
#include "testbenches/issues/program_shell.h"

#include <catch2/catch.hpp>

using namespace weft::testing;
using nlohmann::json;

namespace {

const json& schema()
{
    static const json all = json::parse(text_of(WEFT_SOURCE_DIR "/docs/results.schema.json"));
    return all;
}

json results_of(const program_shell& sh, const std::string& arguments, int exit_code = 0)
{
    INFO(arguments);
    const shell_result r = sh.run("rm -rf out && $weft run " + arguments + " --out out --quiet");
    INFO(r.err);
    REQUIRE(r.exit_code == exit_code);
    return json::parse(sh.read("out/results.json"));
}

std::string config(const std::string& name) { return WEFT_SOURCE_DIR "/configs/" + name; }

} // namespace

TEST_CASE("results of runs of all kinds are what the schema says")
{
    const program_shell sh;
    const std::vector<std::pair<std::string, int>> runs = {
        {"small.yaml", 0},
        {"small.yaml --set data=off --report", 0},
        {"small.yaml --set workload.0.repeats=3", 0},
        {"small.yaml --set 'workload.0.algorithms=[auto]'", 0},
        {"small.yaml --set 'workload.0.groups=[rows]'", 0},
        {"small.yaml --set 'faults.links_down=[{row: 0, col: 0, direction: +X, announced: false}]'", 1},
        {config("switchml/two_jobs.yaml"), 0},
        {config("ub_mesh/board_ccu.yaml") + " --set data=off", 0},
        {config("ub_mesh/rack_checkpoint.yaml") + " --set data=off", 0},
        {config("ipu_pod/resnet50_pod16.yaml") + " --set data=off", 0},
    };
    for (const auto& [arguments, exit_code] : runs) {
        const json results = results_of(sh, arguments, exit_code);
        INFO(arguments);
        CHECK(schema_violation(results, schema()) == "");
        CHECK(results["schema"] == 1);
    }
}

TEST_CASE("the schema refuses keys that it does not have and values of other types")
{
    const program_shell sh;
    const json good = results_of(sh, "small.yaml");
    REQUIRE(schema_violation(good, schema()) == "");
    const auto is_refused = [&](const char* path, const json& value) {
        json wrong = good;
        wrong[json::json_pointer(path)] = value;
        INFO(path);
        CHECK(schema_violation(wrong, schema()) != "");
    };
    is_refused("/results/0/time_ns", 1);
    is_refused("/results/0/time_us", "1");
    is_refused("/results/0/wrong", -1);
    is_refused("/more", 1);
    is_refused("/links/0/name", 1);
    is_refused("/ranks/0/stats/dma.bytes_sent", "many");
    json less = good;
    less.erase("digest");
    CHECK(schema_violation(less, schema()) != "");
}

TEST_CASE("results have a row for each link and for each rank whose sums are the statistics")
{
    const program_shell sh;
    const json results = results_of(sh, "small.yaml --set mesh.rows=3");
    REQUIRE(results["ranks"].size() == 6);
    std::map<std::string, std::uint64_t> sums;
    std::uint32_t rank = 0;
    for (const json& row : results["ranks"]) {
        CHECK(row["rank"] == rank++);
        for (const auto& [name, value] : row["stats"].items())
            sums[name] += value.get<std::uint64_t>();
    }
    std::size_t compared = 0;
    std::uint64_t wire_bytes = 0;
    for (const json& stat : results["stats"]) {
        const std::string name = stat["name"];
        if (name == "fabric.wire_bytes")
            wire_bytes = stat["value"];
        if (name == "dma.bytes_sent" || name == "hbm.bytes_read" || name == "core.wakeups") {
            CHECK(sums[name] == stat["value"].get<std::uint64_t>());
            CHECK(sums[name] > 0);
            ++compared;
        }
    }
    CHECK(compared == 3);
    // Links between chips, and both directions of the ports of 6 chips.
    std::uint64_t sent = 0;
    std::set<std::string> names;
    for (const json& link : results["links"]) {
        CHECK(names.insert(link["name"]).second);
        CHECK(link["busy_share"].get<double>() > 0);
        CHECK(link["busy_share"].get<double>() <= 1);
        sent += link["wire_bytes"].get<std::uint64_t>();
    }
    CHECK(results["links"].size() >= 6);
    CHECK(sent >= wire_bytes);
}
