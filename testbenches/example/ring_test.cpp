// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The platform of docs/08, as a user of it finds it: everything that weft does for a platform works for one that is a folder and a line.
#include "testbenches/issues/program.h"

#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include <algorithm>

using namespace weft::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

const std::filesystem::path k_example = WEFT_EXAMPLE;

std::string config() { return (k_example / "configs/ring/ring_8.yaml").string(); }

json results(const program_folder& folder) { return json::parse(folder.read("out/ring_8/results.json")); }

std::size_t lines(const std::string& text)
{
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

#ifdef WEFT_UNICORN
const char* const k_cores[] = {"", " --set chip.core.model=rv64"};
#else
const char* const k_cores[] = {""};
#endif

} // namespace

TEST_CASE("the platform of the page has at most 300 lines")
{
    std::size_t all = 0;
    for (const char* file :
         {"CMakeLists.txt", "ring.h", "ring.cpp"}) // studies.cpp is for those who have published results
        all += lines(text_of(k_example / "platforms/ring" / file));
    CHECK(all > 100);
    CHECK(all <= 300);
}

TEST_CASE("the platform of the page is listed and checked and proved")
{
    const program_folder folder;
    REQUIRE(folder.weft("list") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("\n  ring      A ring of chips"));
    REQUIRE(folder.weft("check " + config()) == 0);
    CHECK_THAT(folder.read("stdout"), Contains("Ring      8 chips") && Contains("deadlock-free"));
    REQUIRE(folder.weft("docs --out pages") == 0);
    CHECK_THAT(folder.read("pages/04_config.md"), Contains("## platform: ring") && Contains("`link.bridge_rate`"));
    CHECK(json::parse(folder.read("pages/ring.schema.json")).at("properties").contains("link"));
}

TEST_CASE("the platform of the page is exact for every collective and size and core")
{
    const program_folder folder;
    for (const int chips : {2, 3, 8, 13})
        for (const char* more : k_cores) {
            INFO(chips << " chips" << more);
            REQUIRE(folder.weft("run " + config() + " --quiet --set chips=" + std::to_string(chips) + more) == 0);
            const json all = results(folder);
            REQUIRE(all.at("results").size() >= 10);
            for (const json& row : all.at("results"))
                CHECK(row.at("wrong") == 0);
        }
    REQUIRE(folder.weft("run " + config() + " --quiet") == 0);
    const json with = results(folder);
    REQUIRE(folder.weft("run " + config() + " --quiet") == 0);
    CHECK(results(folder).at("digest") == with.at("digest"));
    REQUIRE(folder.weft("run " + config() + " --quiet --set data=off") == 0);
    const json without = results(folder);
    for (std::size_t i = 0; i < with.at("results").size(); ++i)
        CHECK(without.at("results")[i].at("time_us") == with.at("results")[i].at("time_us"));
}

TEST_CASE("the platform of the page is validated and its modes run")
{
    const program_folder folder;
    CHECK(folder.weft("validate ring --out ring.md") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("R1") && Contains("met"));
    const YAML::Node keys = YAML::LoadFile((k_example / "platforms/ring/keys.yaml").string());
    REQUIRE(keys["modes"].size() == 2);
    for (const YAML::Node& mode : keys["modes"]) {
        folder.write("mode.yaml", mode["text"].as<std::string>());
        CHECK(folder.weft("run mode.yaml --quiet") == mode["code"].as<int>(0));
    }
}

TEST_CASE("firmware is benched on the platform of the page")
{
    const program_folder folder;
    REQUIRE(folder.weft("firmware test collective --platform ring --runs 4") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("ring of 3 chips and a host") && Contains("Failed        0"));
}

TEST_CASE("report and trace see the devices of the platform of the page")
{
    const program_folder folder;
    REQUIRE(folder.weft("run " + config() + " --trace t.json") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("Busiest links") && Contains("  chip(") && Contains("HBM traffic"));
    const std::string trace = folder.read("t.json");
    for (const char* track : {"rank 8 host_chip", "DMA sends", "chip(0).bridge", "host.bridge"})
        CHECK_THAT(trace, Contains(track));
}

TEST_CASE("what fails on the platform of the page is explained")
{
    const program_folder folder;
    CHECK(folder.weft("run " + config() + " --set firmware_timeout='1 ms' --set 'faults=[{chip: 3, at: 20 us}]'") == 1);
    CHECK_THAT(folder.read("stderr"),
               Contains("link chip(3).+X to chip(4) went down at 20 us") && Contains("timed out"));
    CHECK(folder.weft("check " + config() +
                      " --set 'faults=[{chip: 9, at: 20 us}]' --set link.rates=1 --set chips=1") == 2);
    CHECK_THAT(folder.read("stderr"),
               Contains("link.rates") && Contains("did you mean 'rate'") && Contains("chips: is 1, must be 2 to 1024"));
    CHECK(folder.weft("check " + config() + " --set 'faults=[{chip: 9, at: 20 us}]'") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("faults.0.chip: is 9, but the chips are 0 to 7."));
    CHECK(folder.weft("check " + config() +
                      " --set 'workload=[{op: all_reduce, algorithms: [row_pair], sizes: [4 KiB]}]'") == 2);
    CHECK(folder.weft("check " + config() + " --set 'workload=[{op: all_reduce, sizes: [64 GiB]}]'") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("HBM per chip"));
}

TEST_CASE("the platform of the page takes routing tables of one's own")
{
    const program_folder folder;
    // Down the line and never round: no circle.
    std::string tables = "host * bridge 0\n";
    for (int from = 0; from < 8; ++from) {
        for (int to = 0; to < 8; ++to)
            if (to != from)
                tables += "chip(" + std::to_string(from) + ") chip(" + std::to_string(to) + ") " +
                          (to > from ? "+X" : "-X") + " 0\n";
        tables += "chip(" + std::to_string(from) + ") host " + (from == 0 ? "bridge" : "-X") + " 0\n";
    }
    folder.write("line.txt", tables);
    REQUIRE(folder.weft("run " + config() + " --quiet --set routing=line.txt") == 0);
    CHECK(folder.weft("check " + config() + " --routes") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("goes by where a packet comes from"));
}
