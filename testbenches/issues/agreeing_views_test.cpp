// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a user reads of one run in several places: shares stay shares, and advice does not sell chance.
#include "testbenches/issues/program.h"

#include "platforms/report/folder_lock.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace weft::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json results_of(const program_folder& folder, const std::string& out = "out/a") { return json::parse(folder.read(out + "/results.json")); }

} // namespace

TEST_CASE("views: ub.efficiency is of links and leaves the ports of a rank their rate")
{
    program_folder folder;
    folder.write("a.yaml", "platform: ub_mesh\nname: a\ndata: off\nmesh: {npus: 8, boards: 1, backplane: false}\nub: {local_port_rate: 50 GB/s, efficiency: 0.2}\n"
                           "workload:\n  - {op: all_to_all, algorithms: [direct], sizes: [4 MiB]}\n");
    REQUIRE(folder.weft("run a.yaml --quiet") == 0);
    const json row = results_of(folder).at("results").at(0);
    INFO(row.dump());
    CHECK(row.at("bound_share") > 0.5);
    CHECK(row.at("bound_share") <= 1.0);
}

TEST_CASE("views: a switch that answers later than the timeout is warned of and no link is busier than time")
{
    program_folder folder;
    folder.write("a.yaml", "platform: switchml\nname: a\ndata: off\nworkers: 4\nnetwork: {rate: 1 Gbps}\njob: {transport: udp, slots: 128, timeout: 1 ms}\n"
                           "workload:\n  - {op: all_reduce, algorithms: [switchml], sizes: [1 MiB]}\n");
    REQUIRE(folder.weft("run a.yaml --quiet") == 0);
    CHECK_THAT(folder.read("stderr"), Contains("raise job.timeout"));
    const json results = results_of(folder);
    REQUIRE(results.at("links").size() >= 8);
    for (const json& link : results.at("links")) {
        INFO(link.dump());
        CHECK(link.at("busy_share") <= 1.0);
    }
    REQUIRE(folder.weft("explain out/a") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("twice the timeout of resends"));
}

TEST_CASE("views: the busiest links are those that are busy longest")
{
    program_folder folder;
    folder.write("a.yaml", "platform: trainium\nname: a\ndata: off\nnode: {rows: 2, cols: 2}\n"
                           "workload:\n  - {op: all_gather, algorithms: [rdh], sizes: [1 MiB]}\n");
    REQUIRE(folder.weft("run a.yaml --quiet") == 0);
    const json results = results_of(folder);
    double most = 0;
    for (const json& link : results.at("links"))
        most = std::max(most, link.at("busy_share").get<double>());
    double named = 0;
    for (const json& stat : results.at("stats"))
        if (const auto name = stat.at("name").get<std::string>();
            name.rfind("busiest_link.", 0) == 0 && name.find(".utilisation") != std::string::npos)
            named = std::max(named, stat.at("value").get<double>() / 100);
    CHECK(named == Approx(most).epsilon(1e-6));
}

TEST_CASE("views: advice for a run with losses by chance says what chance alone does")
{
    program_folder folder;
    folder.write("a.yaml", "platform: switchml\nname: a\ndata: off\nworkers: 4\nnetwork: {cable: {impairments: {loss: 0.02}}}\n"
                           "workload:\n  - {op: all_reduce, algorithms: [switchml], sizes: [256 KiB]}\n");
    REQUIRE(folder.weft("run a.yaml --quiet") == 0);
    REQUIRE(folder.weft("explain out/a --no-reruns --changes 'worker.nic.register_latency=19 ns' --json e.json") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("Chance alone moves this time by") && Contains("another draw of chance"));
    const json changes = json::parse(folder.read("e.json")).at("changes");
    REQUIRE(changes.size() == 3);
    CHECK(changes.at(1).at("chance") == true);
    CHECK(changes.at(1).at("time_ps") != changes.at(2).at("time_ps"));
    // Without losses there is no chance.
    REQUIRE(folder.weft("run a.yaml --quiet --set network.cable.impairments.loss=0") == 0);
    REQUIRE(folder.weft("explain out/a --no-reruns --changes 'worker.nic.register_latency=19 ns'") == 0);
    CHECK_THAT(folder.read("stdout"), !Contains("hance"));
}

TEST_CASE("views: keys of DMA engines and tables and paths that nothing uses are warned of")
{
    program_folder folder;
    folder.write("a.yaml", "platform: ub_mesh\nname: a\ndata: off\nmesh: {npus: 8, boards: 1, backplane: false}\n"
                           "workload:\n  - {op: all_reduce, algorithms: [ccu], sizes: [64 KiB]}\n");
    REQUIRE(folder.weft("check a.yaml --set npu.dma.read_ahead=1 --set 'ub.table_lookup=1 us' --set ub.paths=shortest --set ub.choice=adaptive") == 0);
    for (const char* key : {"npu.dma.read_ahead", "ub.table_lookup", "ub.choice"})
        CHECK_THAT(folder.read("stderr"), Contains(std::string("warning: ") + key + ": is set, but nothing uses it"));
    // What CCUs receive goes through it.
    REQUIRE(folder.weft("check a.yaml --set 'npu.dma.receive_buffer=2 KiB'") == 0);
    CHECK_THAT(folder.read("stderr"), !Contains("npu.dma"));
    const auto us = [&](const char* buffer) {
        REQUIRE(folder.weft(fmt::format("run a.yaml --quiet --set workload.0.op=reduce --set 'workload.0.sizes=[1 MiB]' --set 'npu.dma.receive_buffer={}' --out out",
                                        buffer)) == 0);
        return nlohmann::json::parse(folder.read("out/results.json")).at("results").at(0).at("time_us").get<double>();
    };
    CHECK(us("2 KiB") > 1.02 * us("32 KiB"));
}

TEST_CASE("views: tune leaves a folder alone that another one works in")
{
    program_folder folder;
    folder.write("a.yaml", "platform: tpu_v3\nname: a\nmesh: {rows: 2, cols: 2}\n");
    std::filesystem::create_directories(folder / "t");
    {
        const weft::folder_lock held((folder / "t").string());
        CHECK(folder.weft("tune a.yaml --sizes 4KiB --algorithms ring_1d --op all_reduce --out t --quiet") == 2);
        CHECK_FALSE(folder.exists("t/tuning.yaml"));
    }
    CHECK(folder.weft("tune a.yaml --sizes 4KiB --algorithms ring_1d --op all_reduce --out t --quiet") == 0);
}

TEST_CASE("views: compare knows which points a sweep still has and which figures are only an order")
{
    program_folder folder;
    const std::string machine = "platform: ub_mesh\nname: a\ndata: off\nmesh: {npus: 8, boards: 1, backplane: false}\n"
                                "workload:\n  - {op: all_reduce, algorithms: [direct], sizes: [64 KiB]}\n";
    folder.write("a.yaml", machine);
    folder.write("one.yaml", "sweep: {platform: a.yaml}\ngrid: {ub.lane_rate: [28 Gbps, 53 Gbps]}\n");
    folder.write("two.yaml", "sweep: {platform: a.yaml}\ngrid: {ub.lane_rate: [28 Gbps, 59 Gbps]}\n");
    REQUIRE(folder.weft("sweep one.yaml --out both --quiet") == 0);
    REQUIRE(folder.weft("sweep two.yaml --out both --quiet") == 0);
    REQUIRE(folder.weft("sweep two.yaml --out fresh --quiet") == 0);
    CHECK(folder.weft("compare both fresh") == 0);
    REQUIRE(folder.weft("run a.yaml --quiet --out x") == 0);
    REQUIRE(folder.weft("run a.yaml --quiet --out y --set 'cables.x=5.3 ns'") == 0);
    CHECK(folder.weft("compare x y --tolerance 10%") == 0);
    CHECK(folder.weft("compare x y --tolerance 0") == 1);
}

TEST_CASE("views: compare sees answers of other bits on one machine and none on another one")
{
    const program_folder folder;
    folder.write("a.yaml", "platform: tpu_v3\nname: a\nmesh: {rows: 2, cols: 2}\nworkload:\n  - {op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB]}\n");
    REQUIRE(folder.weft("run a.yaml --quiet --seed 1 --out one") == 0);
    REQUIRE(folder.weft("run a.yaml --quiet --seed 7 --out seven") == 0);
    REQUIRE(folder.weft("run a.yaml --quiet --seed 1 --out larger --set mesh.cols=3") == 0);
    CHECK(folder.weft("compare one one --tolerance 0") == 0);
    CHECK(folder.weft("compare one seven --tolerance 0") == 1);
    CHECK_THAT(folder.read("stdout"), Contains("bits of the answers (digest)"));
    folder.weft("compare one larger");
    CHECK_THAT(folder.read("stdout"), !Contains("bits of the answers"));
}

TEST_CASE("views: keys by which auto has chosen are no unused ones and stay with the results")
{
    program_folder folder;
    folder.write("a.yaml", "platform: switchml\nname: a\ndata: off\nworkers: 4\njob: {timeout: 2 ms}\nnetwork: {cable: {impairments: {loss: 0.01}}}\n"
                           "workload:\n  - {op: all_reduce, algorithms: [auto], sizes: [1 MiB]}\n");
    REQUIRE(folder.weft("run a.yaml --quiet") == 0);
    CHECK_THAT(folder.read("stderr"), !Contains("nothing uses it"));
    const json row = results_of(folder).at("results").at(0);
    CHECK(row.at("algorithm") != "switchml"); // as it would be without losses
    CHECK(folder.weft("explain out/a --no-reruns") == 0);
    CHECK_THAT(folder.read("stderr"), !Contains("no case like"));
}

TEST_CASE("views: a collective among one worker of SwitchML is refused")
{
    program_folder folder;
    folder.write("a.yaml", "platform: switchml\nname: a\nworkers: 1\nworkload:\n  - {op: all_reduce, algorithms: [ring_1d], sizes: [1 MiB]}\n");
    CHECK(folder.weft("check a.yaml") != 0);
    CHECK_THAT(folder.read("stderr"), Contains("workers: is 1, but a collective among workers needs at least two."));
}

TEST_CASE("views: a report takes no run for published figures")
{
    program_folder folder;
    folder.write("a.yaml", "platform: switchml\nname: a\ndata: off\nworkers: 2\nworkload:\n  - {op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB]}\n");
    REQUIRE(folder.weft("run a.yaml --quiet --report --json a.json") == 0);
    CHECK(folder.weft("report out/a --published a.json") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("a.json: has no published figures."));
}

TEST_CASE("views: explain names what takes most of the path where no part is busy")
{
    program_folder folder;
    folder.write("a.yaml", "platform: switchml\nname: a\ndata: off\nworkers: 4\nnetwork: {cable: {impairments: {loss: 0.01}}}\n"
                           "workload:\n  - {op: all_reduce, algorithms: [switchml], sizes: [1 MiB]}\n");
    REQUIRE(folder.weft("run a.yaml --quiet") == 0);
    REQUIRE(folder.weft("explain out/a --no-reruns") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("the collective was limited by timeout") && !Contains("nothing is short"));
}

TEST_CASE("views: no prediction is below the bound of the links that work")
{
    program_folder folder;
    // Around failed chips, in a group, and of tokens.
    folder.write("mesh.yaml", "platform: tpu_v3\nname: mesh\ndata: off\nmesh: {rows: 8, cols: 8}\nfaults: {regions: [{row: 2, col: 2, rows: 2, cols: 4}]}\n"
                              "workload:\n  - {op: all_to_all, algorithms: [auto], sizes: [1 MiB]}\n  - {op: all_reduce, algorithms: [auto], sizes: [1 MiB]}\n");
    folder.write("group.yaml", "platform: trainium\nname: group\ndata: off\nworkload:\n  - {op: all_reduce, algorithms: [auto], sizes: [4 MiB], groups: [\"0,5,10\"]}\n"
                               "  - {op: dispatch, algorithms: [auto], sizes: [64 KiB], token: 1 KiB}\n");
    for (const char* name : {"mesh", "group"}) {
        REQUIRE(folder.weft(fmt::format("run {}.yaml --quiet", name)) == 0);
        for (const json& row : results_of(folder, fmt::format("out/{}", name)).at("results")) {
            INFO(row.dump());
            CHECK(row.at("predicted_us").get<double>() >= 0.999 * row.at("bound_us").get<double>());
        }
    }
    // What is proposed for a wait that is too short is no less than the bound, and knows the busiest link: 5.41 ms.
    CHECK(folder.weft("check mesh.yaml --set 'workload=[{op: all_to_all, algorithms: [direct], sizes: [64 MiB]}]' --set 'firmware_timeout=1 ms'") == 0);
    CHECK_THAT(folder.read("stderr"), Contains("takes 4.58 ms as predicted") && Contains("firmware_timeout: 10 ms"));
}
