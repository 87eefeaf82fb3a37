// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What limited a collective, where one part of the machine is made slow.
#include "testbenches/issues/program_shell.h"

#include <nlohmann/json.hpp>

using namespace weft::testing;
using nlohmann::json;

TEST_CASE("engines of DMA that move bytes slowly are what limited a collective")
{
    const program_shell sh;
    sh.write("slow.yaml", "platform: trainium\nname: slow\ndata: off\n"
                          "workload: [{op: all_reduce, algorithms: [device_mesh, rdh, kangaring], sizes: [4 MiB]}]\n"
                          "chip: {dma: {start: 1 ns, wake: 1 ns}}\n");
    for (const auto& [rate, limits] : {std::pair{"0.25 GB/s", true}, std::pair{"1 TB/s", false}}) {
        const shell_result r = sh.run("$weft run slow.yaml --quiet --out out --set 'chip.dma.engine_rate=" + std::string(rate) + "'");
        INFO(r.err);
        REQUIRE(r.exit_code == 0);
        const json results = json::parse(sh.read("out/results.json")).at("results");
        CHECK(results.size() == 3);
        for (const json& row : results) {
            INFO(rate << " " << row.dump());
            CHECK((row.at("limited_by") == "dma") == limits);
            CHECK((row.at("busy_shares").at("dma") > 0.9) == limits);
        }
    }
}

TEST_CASE("SRAM and adders of CCUs and loop-back ports of switches limit what they are too slow for")
{
    const program_shell sh;
    sh.write("board.yaml", "platform: ub_mesh\nname: board\ndata: off\nmesh: {boards: 1, npus: 8}\n"
                           "workload: [{op: all_reduce, algorithms: [ccu], sizes: [8 MiB]}]\n");
    sh.write("star.yaml", "platform: switchml\nname: star\ndata: off\nworkers: 4\n"
                          "workload: [{op: all_reduce, algorithms: [switchml], sizes: [4 MiB]}]\n");
    const auto limit_of = [&](const std::string& file, const std::string& settings) {
        const shell_result r = sh.run("$weft run " + file + " --quiet --out out " + settings);
        INFO(r.err);
        REQUIRE(r.exit_code == 0);
        const json row = json::parse(sh.read("out/results.json")).at("results").at(0);
        CHECK((row.at("limited_by") != "offload" || row.at("busy_shares").at("offload") > 0.5));
        return row.at("limited_by").get<std::string>();
    };
    CHECK(limit_of("board.yaml", "") == "link");
    CHECK(limit_of("board.yaml", "--set npu.ccu.reduce_rate=50Gbps") == "offload");
    CHECK(limit_of("board.yaml", "--set npu.ccu.sram_rate=200Gbps") == "offload");
    CHECK(limit_of("star.yaml", "") != "offload");
    CHECK(limit_of("star.yaml", "--set switch.recirculation_rate=20Gbps") == "offload");
}

TEST_CASE("results and report have the same shares of what limited a collective")
{
    const program_shell sh;
    REQUIRE(sh.run("$weft run small.yaml --quiet --report --out out").exit_code == 0);
    const json rows = json::parse(sh.read("out/results.json")).at("results");
    const json cases = json::parse(sh.read("out/activity.json")).at("cases");
    REQUIRE(rows.size() == cases.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CHECK(rows[i].at("busy_shares") == cases[i].at("shares"));
        CHECK(rows[i].at("limited_by") == cases[i].at("limited_by"));
    }
}

TEST_CASE("what is said to limit a collective is what helps most or nearly so")
{
    struct machine_of_case {
        const char* file;
        const char* settings;
        const char* collective;
    };
    const std::vector<std::pair<std::string, std::string>> k_helps{
        {"link", "links twice as fast"},       {"arbitration", "links twice as fast"}, {"credits", "buffers twice as large"}, {"core", "cores twice as fast"},
        {"dma", "DMA engines twice as fast"}, {"memory", "memory twice as fast"},     {"offload", "coprocessors twice as fast"}};
    constexpr double k_near = 0.1;
    const program_shell sh;
    for (const machine_of_case& m : std::vector<machine_of_case>{
             {"tpu_v3/mesh_4x4.yaml", "", "all_reduce, algorithms: [ring_1d, two_d], sizes: [4 KiB, 4 MiB]"},
             {"tpu_v3/mesh_4x4.yaml", "--set 'chip.hbm.rate=150 GB/s'", "all_reduce, algorithms: [ring_1d], sizes: [4 MiB]"},
             {"tpu_v3/mesh_4x4.yaml", "--set 'ici.buffer_per_vl=1 KiB'", "all_reduce, algorithms: [two_d], sizes: [256 KiB, 4 MiB]"},
             {"tpu_v3/mesh_4x4.yaml", "--set 'chip.core.clock=100 MHz'", "all_reduce, algorithms: [ring_1d], sizes: [4 MiB]"},
             {"tpu_v3/mesh_4x4.yaml", "", "all_to_all, algorithms: [direct], sizes: [4 MiB]"},
             {"ub_mesh/board.yaml", "", "all_reduce, algorithms: [direct, multi_axis], sizes: [4 KiB, 4 MiB]"},
             {"ub_mesh/board_ccu.yaml", "--set 'npu.ccu.reduce_rate=50 Gbps'", "all_reduce, algorithms: [ccu], sizes: [4 MiB]"},
             {"trainium/trn2.yaml", "", "all_reduce, algorithms: [device_mesh], sizes: [4 KiB, 4 MiB]"},
             {"ipu_pod/pod16.yaml", "--set 'ipu_link.rate=2 GB/s'", "all_reduce, algorithms: [meet_in_the_middle], sizes: [4 MiB]"},
             {"switchml/rack_4x10g.yaml", "", "all_reduce, algorithms: [switchml, ring_1d], sizes: [1 MiB]"}}) {
        const shell_result r = sh.run(std::string("$weft run " WEFT_SOURCE_DIR "/configs/") + m.file + " --quiet --out out --set data=off --set 'workload=[{op: " + m.collective +
                                      "}]' " + m.settings);
        INFO(m.file << " " << m.settings << "\n" << r.err);
        REQUIRE(r.exit_code == 0);
        const json rows = json::parse(sh.read("out/results.json")).at("results");
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const shell_result explained = sh.run("$weft explain out --case " + std::to_string(i) + " --json - --quiet");
            REQUIRE(explained.exit_code == 0);
            const json changes = json::parse(explained.out).at("changes");
            const std::string limit = rows[i].at("limited_by");
            INFO(rows[i].dump() << "\n" << changes.dump(1));
            CHECK(limit != "latency");
            double best = 0, its_own = -1;
            for (const json& c : changes) {
                const double gain = c.at("gain");
                best = std::max(best, gain);
                for (const auto& [of, change] : k_helps)
                    if (of == limit && change == c.at("change").get<std::string>())
                        its_own = gain;
            }
            CHECK(its_own >= best - k_near);
        }
    }
}
