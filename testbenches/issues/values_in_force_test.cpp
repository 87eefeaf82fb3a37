// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run says about itself is so: the values in force, one name for one thing, and only what happened.
#include "testbenches/issues/program.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

using namespace weft::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

const char* const k_switchml = R"(platform: switchml
name: a
workers: 4
network: {rate: 10 Gbps}
job: {slots: 64}
workload:
  - {op: all_reduce, algorithms: [switchml], types: [int32], sizes: [64 KiB]}
)";

std::map<std::string, json> stats_of(const program_folder& folder)
{
    std::map<std::string, json> stats;
    const json all = json::parse(folder.read("out/a/results.json"))["stats"];
    for (const json& s : all) {
        CHECK(stats.count(s.at("name")) == 0); // one name, one value
        stats[s.at("name")] = s.at("value");
    }
    return stats;
}

} // namespace

TEST_CASE("the resolved configuration of SwitchML shows the rates in force")
{
    const program_folder folder;
    folder.write("a.yaml", k_switchml);
    REQUIRE(folder.weft("check a.yaml --resolved") == 0);
    const std::string resolved = folder.read("stdout");
    CHECK_THAT(resolved, Contains("\n    rate: 10 Gbps") && Contains("\n  port_rate: 10 Gbps") &&
                             Contains("source: network.rate"));
    CHECK_THAT(resolved, !Contains("rate: 100 Gbps  # Line rate") && !Contains("port_rate: 100 Gbps"));
    REQUIRE(folder.weft("run a.yaml --quiet") == 0);
    const json config = json::parse(folder.read("out/a/results.json")).at("config");
    CHECK(config.at("worker").at("nic").at("rate") == "10 Gbps");
    CHECK(config.at("switch").at("port_rate") == "10 Gbps");
    // The dump is a file like any other.
    folder.write("again.yaml", resolved);
    CHECK(folder.weft("check again.yaml") == 0);
    CHECK(folder.read("stderr").empty());
    // A rate of a part that is its default, but not that of the network, is not taken in silence.
    CHECK(folder.weft("check a.yaml --set \"worker.nic.rate=100 Gbps\"") == 0);
    CHECK_THAT(folder.read("stderr"),
               Contains("--set") &&
                   Contains("worker.nic.rate: is set, but nothing uses it: it applies only as network.rate"));
    CHECK(folder.weft("check a.yaml --set \"worker.nic.rate=25 Gbps\"") == 2);
}

TEST_CASE("the resolved file keeps the queues that cores of parameter servers probe")
{
    const program_folder folder;
    folder.write("a.yaml", k_switchml);
    const std::string by_servers = "--set worker.cores=8 --set worker.nic.queues=8 "
                                   "--set \"workload=[{op: all_reduce, algorithms: [parameter_server], sizes: [64 KiB]}]\"";
    REQUIRE(folder.weft("check a.yaml --resolved " + by_servers) == 0);
    CHECK_THAT(folder.read("stderr"), !Contains("worker.nic"));
    folder.write("again.yaml", folder.read("stdout"));
    CHECK(folder.weft("check again.yaml") == 0);
    CHECK(folder.weft("run again.yaml") == 0);
}

TEST_CASE("memory traffic has one name in table and statistics and is called what it is")
{
    const program_folder folder;
    folder.write("a.yaml", k_switchml);
    REQUIRE(folder.weft("run a.yaml") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("\nMemory traffic ") && !Contains("HBM"));
    std::map<std::string, json> stats = stats_of(folder);
    CHECK(stats.at("memory.bytes_read") > 0);
    CHECK(stats.at("memory.bytes_written") > 0);
    for (const auto& [name, value] : stats)
        CHECK(name.rfind("hbm", 0) != 0);

    folder.write(
        "a.yaml",
        "platform: tpu_v3\nname: a\nmesh: {rows: 2, cols: 2}\nworkload: [{op: all_gather, sizes: [4 KiB]}]\n");
    REQUIRE(folder.weft("run a.yaml") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("\nHBM traffic "));
    stats = stats_of(folder);
    CHECK(stats.at("hbm.bytes_read") > 0);
    CHECK(stats.count("hbm.read_bytes") + stats.count("hbm.written_bytes") == 0);
}

TEST_CASE("frames over cables count as packet hops and cables are among the busiest links")
{
    const program_folder folder;
    folder.write("a.yaml", k_switchml);
    REQUIRE(folder.weft("run a.yaml") == 0);
    const std::string table = folder.read("stdout");
    CHECK_THAT(table, !Contains("Packet hops      0,") && Contains("Busiest links    cable_"));
    const json results = json::parse(folder.read("out/a/results.json"));
    // 64 KiB in packets of 256 elements: 64 from each of 4 workers and 64 back to each.
    CHECK(results.at("packet_hops") == 2 * 4 * 64);
    CHECK(stats_of(folder).at("cables.frames") == 2 * 4 * 64);
}

TEST_CASE("host time names data and checks only where data was carried")
{
    const program_folder folder;
    folder.write("a.yaml", k_switchml);
    REQUIRE(folder.weft("run a.yaml") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("of CPU for the simulation, the rest for data, checks and other programs\n"));
    REQUIRE(folder.weft("run a.yaml --set data=off") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("of CPU for the simulation\n") && !Contains("the rest"));
}
