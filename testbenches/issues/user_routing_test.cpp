// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `routing: FILE` on every platform: tables of one's own are run as they stand, or refused with what is wrong.
#include "testbenches/issues/program.h"

#include <nlohmann/json.hpp>

using namespace weft::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

struct machine_file {
    const char* name;
    const char* text;
};

// Their own routing goes by destination alone, one path a pair.
const machine_file k_machines[] = {
    {"tpu_v3",
     "platform: tpu_v3\nname: a\nmesh: {rows: 3, cols: 4}\n"
     "workload:\n  - {op: all_reduce, algorithms: [two_d], sizes: [64 KiB]}\n  - {op: all_to_all, sizes: [48 KiB]}\n"},
    {"switchml", "platform: switchml\nname: a\nworkers: 4\n"
                 "workload: [{op: all_reduce, algorithms: [ring_1d, halving_doubling, parameter_server], sizes: [64 KiB]}]\n"},
    {"ub_mesh",
     "platform: ub_mesh\nname: a\nmesh: {boards: 1, npus: 4, backplane: false}\nub: {paths: shortest}\n"
     "workload:\n  - {op: all_reduce, algorithms: [direct], sizes: [64 KiB]}\n  - {op: all_to_all, sizes: [64 KiB]}\n"},
};

json results_of(const program_folder& folder) { return json::parse(folder.read("out/a/results.json")); }

} // namespace

TEST_CASE("a machine with its own routing written as tables runs as before")
{
    for (const machine_file& m : k_machines) {
        INFO(m.name);
        const program_folder folder;
        folder.write("a.yaml", m.text);
        REQUIRE(folder.weft("run a.yaml --quiet") == 0);
        const json plain = results_of(folder);
        REQUIRE(folder.weft("check a.yaml --routes") == 0);
        folder.write("tables/routes.txt", folder.read("stdout"));
        CHECK(folder.weft("check a.yaml --set routing=tables/routes.txt") == 0);
        CHECK_THAT(folder.read("stdout"),
                   Contains("tables of the file that routing names") && Contains("deadlock-free"));
        REQUIRE(folder.weft("run a.yaml --quiet --set routing=tables/routes.txt") == 0);
        const json tables = results_of(folder);
        CHECK(tables.at("digest") == plain.at("digest"));
        // The resolved file names the tables, too.
        REQUIRE(folder.weft("check a.yaml --resolved --set routing=tables/routes.txt") == 0);
        CHECK_THAT(folder.read("stdout"), Contains("routing: tables/routes.txt"));
    }
}

TEST_CASE("another routing gives other times and the same answers")
{
    const program_folder folder;
    const std::string crowded =
        "platform: tpu_v3\nname: a\nmesh: {rows: 3, cols: 4}\nworkload: [{op: all_to_all, sizes: [1 MiB]}]\n";
    folder.write("a.yaml", crowded);
    REQUIRE(folder.weft("run a.yaml --quiet") == 0);
    const json plain = results_of(folder);
    std::string y_first;
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 4; ++c)
            for (int to = 0; to < 12; ++to) {
                const int row = to / 4, col = to % 4;
                const char* port = row > r ? "+Y" : row < r ? "-Y" : col > c ? "+X" : "-X";
                if (row != r || col != c)
                    y_first += "chip(" + std::to_string(r) + "," + std::to_string(c) + ") " + std::to_string(to) + " " +
                               port + " 0\n";
            }
    folder.write("routes.txt", y_first);
    folder.write("b.yaml", crowded + "routing: routes.txt\n");
    REQUIRE(folder.weft("run b.yaml --quiet") == 0);
    const json other = results_of(folder);
    CHECK(other.at("digest") != plain.at("digest"));
    for (const json& row : other.at("results"))
        CHECK(row.at("wrong") == 0);
}

TEST_CASE("tables that can deadlock or that end or that cannot be read stop before anything is built")
{
    const program_folder folder;
    folder.write("a.yaml", "platform: tpu_v3\nname: a\nmesh: {rows: 2, cols: 2}\nrouting: routes.txt\n"
                           "workload: [{op: all_to_all, sizes: [4 KiB]}]\n");
    const auto refused = [&](const std::string& tables) {
        folder.write("routes.txt", tables);
        return refusal_of(folder, "a.yaml");
    };
    CHECK_THAT(refused("chip(0,0) * +X 0\nchip(0,1) * +Y 0\nchip(1,1) * -X 0\nchip(1,0) * -Y 0\n"),
               Contains("a.yaml:4:10: error: routing: is refused: it can deadlock: a cycle of 4 channels") &&
                   Contains("held by packets from"));
    CHECK_THAT(refused("chip(0,0) * +X 0\n"), Contains("routing: is refused: by it 11 of 12 pairs have no route") && Contains("the tables have no line for it"));
    CHECK_THAT(refused("chip(0,0) * +X 0\nchip(0,9) * +Y 0\n"),
               Contains("routes.txt:2:1: error: 'chip(0,9)' is no router here; a name is for example chip(0,0)."));
    CHECK(folder.weft("check a.yaml --set routing=nowhere.txt") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("error: routing: names 'nowhere.txt', which cannot be read") && Contains("in the folder of the file that names it"));
}

TEST_CASE("tables of a UB board leave no other way when a link goes down and need none of an NPU that failed")
{
    const program_folder folder;
    folder.write("a.yaml", k_machines[2].text);
    REQUIRE(folder.weft("check a.yaml --routes") == 0);
    folder.write("routes.txt", folder.read("stdout"));
    // Tables have one way a pair.
    CHECK(folder.weft("run a.yaml --set routing=routes.txt --set firmware_timeout='1 ms' "
                      "--set 'faults.links=[{from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\", at: 1 us}]'") == 1);
    CHECK_THAT(folder.read("stderr"), Contains("npu(p0,r0,b0,0).X1 to npu(p0,r0,b0,1) and back went down at 1 us"));
    // An NPU that has failed needs no lines.
    std::string three;
    for (const int from : {0, 2, 3})
        for (const int to : {0, 2, 3})
            if (from != to)
                three += "npu(p0,r0,b0," + std::to_string(from) + ") " + std::to_string(to) + " port" +
                         std::to_string(to > from ? to - 1 : to) + " 0\n";
    folder.write("three.txt", three);
    const std::string failed = " --set 'faults={npus: [{npu: \"npu(p0,r0,b0,1)\"}], recovery: mask}' --set workload.0.algorithms=[direct]";
    CHECK(folder.weft("check a.yaml --set routing=three.txt" + failed) == 0);
    INFO(folder.read("stderr"));
    CHECK(folder.weft("run a.yaml --quiet --set routing=three.txt" + failed) == 0);
}
