// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a user reads of one run in several places: shares stay shares, and advice does not sell chance.
#include "testbenches/issues/program.h"

#include "platforms/cli/cli.h"
#include "platforms/report/folder_lock.h"
#include "platforms/workload/algorithm_predictions.h"
#include "platforms/workload/machine.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace weft;
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

TEST_CASE("views: one worker of SwitchML is refused as one chip is")
{
    program_folder folder;
    folder.write("a.yaml", "platform: switchml\nname: a\nworkers: 1\nworkload:\n  - {op: all_reduce, algorithms: [ring_1d], sizes: [1 MiB]}\n");
    CHECK(folder.weft("check a.yaml") != 0);
    CHECK_THAT(folder.read("stderr"), Contains("workers: is 1, but a collective needs at least two."));
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
    CHECK_THAT(folder.read("stdout"), Contains("% of this path is timeout") && !Contains("nothing is short"));
}

TEST_CASE("views: no prediction is below the bound of the links that work")
{
    for (const char* file : {"tpu_v3/mesh_8x8_failed_host", "ub_mesh/rack_1d_fm_a", "ipu_pod/pod64", "trainium/trn2"}) {
        INFO(file);
        cli::platform_source source;
        source.file = fmt::format("{}/configs/{}.yaml", WEFT_SOURCE_DIR, file);
        const cli::loaded_platform loaded = cli::read_platform(source);
        REQUIRE(loaded.platform != nullptr);
        const platform& machine = *loaded.platform;
        std::size_t compared = 0;
        for (const abi::collective_op op : {abi::collective_op::all_reduce, abi::collective_op::all_to_all, abi::collective_op::broadcast})
            for (const std::uint64_t size : {std::uint64_t{64} << 10, std::uint64_t{256} << 20}) {
                collective_case c = make_case(op, k_auto_algorithm, abi::element_type::int32, abi::reduce_op::sum, size);
                for (const algorithm_prediction& one : predictions_on(machine, machine.rank_table(0), machine.costs(), c)) {
                    c.algo = one.algorithm;
                    const auto bound = bound_on(machine, c);
                    if (!bound)
                        continue;
                    INFO(fmt::format("{} by {} of {} B", name_of(op), name_of(one.algorithm), size));
                    CHECK(one.us >= bound->us);
                    ++compared;
                }
            }
        CHECK(compared > 5);
    }
}
