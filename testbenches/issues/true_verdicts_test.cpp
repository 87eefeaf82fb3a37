// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What outsiders found false in tables, reports and bounds: times that grow with the square of the data, shares that
// are not of the time that is told, links with fewer lanes that were worse than none, choices that `list` did not know.
#include "testbenches/issues/program_shell.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <tuple>

using namespace weft::testing;
using nlohmann::json;

namespace {
json results_of(const program_shell& sh, const std::string& file, const std::string& settings)
{
    const shell_result r = sh.run("$weft run " + file + " --quiet --out out --set data=off " + settings);
    INFO(r.err);
    REQUIRE(r.exit_code == 0);
    return json::parse(sh.read("out/results.json")).at("results");
}
double time_us(const json& row) { return row.at("time_us").get<double>(); }
} // namespace

TEST_CASE("slow memory makes a parameter server slower in proportion to the data")
{
    const program_shell sh;
    const json rows = results_of(sh, WEFT_SOURCE_DIR "/configs/switchml/rack_8x10g.yaml",
                                 "--set 'worker.memory.rate=4 GB/s' --set 'workload=[{op: all_reduce, algorithms: [parameter_server], "
                                 "sizes: [64 KiB, 256 KiB, 1 MiB]}]'");
    CHECK(time_us(rows.at(1)) < 5 * time_us(rows.at(0)));
    CHECK(time_us(rows.at(2)) < 5 * time_us(rows.at(1)));
}

TEST_CASE("what compute units take of a memory is no load of the collective")
{
    const program_shell sh;
    const std::string work = " --set 'workload=[{op: all_reduce, algorithms: [direct], sizes: [4 MiB]}]'", board = WEFT_SOURCE_DIR "/configs/ub_mesh/board.yaml";
    const json alone = results_of(sh, board, work).at(0), loaded = results_of(sh, board, "--set npu.hbm.load=0.5" + work).at(0);
    const json more = results_of(sh, board, "--set npu.hbm.load=0.7" + work).at(0);
    CHECK(time_us(loaded) < 1.02 * time_us(alone));
    CHECK(loaded.at("limited_by") == alone.at("limited_by"));
    // Of half a memory and of 0.3 of one the same bytes take shares as 0.3 to 0.5. Without load, waits of cores exceed it.
    const double share = loaded.at("busy_shares").at("memory"), of_less = more.at("busy_shares").at("memory");
    CHECK(of_less == Approx(share * 0.5 / 0.3).epsilon(0.1));
    CHECK(alone.at("busy_shares").at("memory") < share);
}

TEST_CASE("shares of a repeated collective are of the time that is told and no less than the bound")
{
    const program_shell sh;
    const json row = results_of(sh, WEFT_SOURCE_DIR "/configs/ub_mesh/board.yaml", "-n 16 --set 'workload=[{op: all_reduce, algorithms: [direct], sizes: [1 MiB]}]'").at(0);
    CHECK(row.at("busy_shares").at("link") >= row.at("bound_share"));
}

TEST_CASE("what a restart has lost ends when the job was interrupted and counters say from when on they count")
{
    const program_shell sh;
    const shell_result r = sh.run("$weft run " WEFT_SOURCE_DIR "/configs/ub_mesh/rack_spare.yaml --report --out out --set data=off");
    INFO(r.err);
    REQUIRE(r.exit_code == 0);
    CHECK(has(r.out, "since the job was interrupted at 60 us"));
    const json results = json::parse(sh.read("out/results.json"));
    CHECK(results.at("counted_from_ps") == 60'000'000);
    const json cases = json::parse(sh.read("out/activity.json")).at("cases");
    REQUIRE(cases.size() == results.at("results").size() + 1);
    CHECK_FALSE(cases[0].at("complete").get<bool>());
    CHECK(cases[0].at("time_us") == 57.0); // to the interruption, not to the end of the take-over
    CHECK(cases[1].at("complete").get<bool>());
}

TEST_CASE("a link that has lost lanes is no worse than one that is down")
{
    const program_shell sh;
    const auto with = [&](const std::string& op, const std::string& lanes) {
        return time_us(results_of(sh, WEFT_SOURCE_DIR "/configs/ub_mesh/board.yaml",
                                  "--set 'faults.links=[{from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\"" + lanes + "}]' --set 'workload=[{op: " + op +
                                      ", algorithms: [direct], sizes: [4 MiB]}]'")
                           .at(0));
    };
    for (const char* op : {"all_reduce", "all_to_all"})
        for (const char* lanes : {", lanes: 1", ", lanes: 2", ", lanes: 3"}) {
            INFO(op << lanes);
            CHECK(with(op, lanes) <= 1.02 * with(op, ""));
        }
}

TEST_CASE("list --bounds predicts what auto takes")
{
    const program_shell sh;
    const shell_result list = sh.run("$weft list --bounds " WEFT_SOURCE_DIR "/configs/ub_mesh/board.yaml");
    for (const char* op : {"broadcast", "reduce", "all_reduce", "all_to_all"}) {
        const json row = results_of(sh, WEFT_SOURCE_DIR "/configs/ub_mesh/board.yaml", std::string("--set 'workload=[{op: ") + op + ", algorithms: [auto], sizes: [1 MiB]}]'").at(0);
        const std::size_t line = list.out.find(std::string("  ") + op + " ", list.out.find("Predicted"));
        INFO(op);
        REQUIRE(line != std::string::npos);
        const std::size_t at = list.out.find("1 MiB  ", line);
        REQUIRE(at != std::string::npos);
        const std::string first = list.out.substr(at + 7, list.out.find(' ', at + 7) - at - 7);
        CHECK(first == row.at("algorithm"));
    }
}

TEST_CASE("bounds know local ports that are slower than links")
{
    const program_shell sh;
    for (const auto& [file, setting, by] : {std::tuple{"trainium/trn2.yaml", "neuronlink.port_rate=2 GB/s", "ports of a device"},
                                            std::tuple{"ipu_pod/pod16.yaml", "ipu_link.exchange_rate=1 GB/s", "ports of a rank"},
                                            std::tuple{"tpu_v3/mesh_4x4.yaml", "ici.local_port_rate=1 GB/s", "ports of a rank"}}) {
        const shell_result r = sh.run(std::string("$weft list --bounds " WEFT_SOURCE_DIR "/configs/") + file + " --set '" + setting + "'");
        INFO(file << r.out << r.err);
        REQUIRE(r.exit_code == 0);
        const std::size_t at = r.out.find("  all_reduce ");
        REQUIRE(at != std::string::npos);
        CHECK(has(r.out.substr(at, r.out.find('\n', at) - at), by));
    }
}

TEST_CASE("a sweep of auto says where each of its choices is the fastest")
{
    const program_shell sh;
    sh.write("s.yaml", "sweep: {platform: " WEFT_SOURCE_DIR "/configs/trainium/trn2.yaml, set: {data: off, node.rows: 2, node.cols: 2}}\n"
                       "grid:\n  workload: [[{op: all_reduce, algorithms: [auto], sizes: [64 KiB, 2 MiB]}]]\n  chip.dma.wake: [1300 ns, 650 ns]\n"
                       "plot: {x: size, lines: [algorithm]}\n");
    const shell_result r = sh.run("$weft sweep s.yaml --out sw");
    INFO(r.out << r.err);
    CHECK(r.exit_code == 0);
    CHECK_FALSE(has(r.out, "everywhere"));
    CHECK(has(r.out, "device_mesh at 64 KiB; rdh at 2 MiB"));
}

TEST_CASE("a SwitchML pool that takes longer than its timeout is a warning before the run")
{
    const program_shell sh;
    const std::string file = WEFT_SOURCE_DIR "/configs/switchml/rack_8x10g.yaml";
    const shell_result slow = sh.run("$weft check " + file + " --set network.rate=1Gbps"), right = sh.run("$weft check " + file);
    CHECK(has(slow.err + slow.out, "packets are sent again although none is lost"));
    CHECK_FALSE(has(right.err + right.out, "packets are sent again although none is lost"));
}

TEST_CASE("explain tries first what is busiest though it is not on the path by its own name")
{
    const program_shell sh;
    const shell_result run = sh.run("$weft run " WEFT_SOURCE_DIR "/configs/ub_mesh/board_ccu.yaml --quiet --out out --set data=off --set 'npu.ccu.sram_rate=64 GB/s' "
                                    "--set 'workload=[{op: all_reduce, algorithms: [ccu], sizes: [8 MiB]}]'");
    REQUIRE(run.exit_code == 0);
    const shell_result r = sh.run("$weft explain out --quiet");
    INFO(r.out << r.err);
    CHECK(has(r.out, "limited by offload"));
    CHECK(has(r.out, "coprocessors twice as fast"));
    CHECK_FALSE(has(r.out, "Nothing of this helps"));
}

TEST_CASE("a key that names a place has to be given")
{
    const program_shell sh;
    for (const auto& [file, fault, why] : std::vector<std::tuple<std::string, std::string, std::string>>{
             {"tpu_v3/mesh_4x4", "faults.links_down=[{row: 1, direction: +X}]", "faults.links_down.0.col: is missing; it has no default. Column of the chip"},
             {"tpu_v3/mesh_4x4", "faults.regions=[{rows: 2}]", "faults.regions.0.row: is missing; it has no default. First failed row."},
             {"trainium/trn2", "faults.links_down=[{row: 1, col: 1}]", "faults.links_down.0.direction: is missing"},
             {"ipu_pod/pod16", "faults.links_down=[{}]", "faults.links_down.0.controller: is missing"},
             {"ipu_pod/pod16", "faults.sync_cut=[{at: 5 us}]", "faults.sync_cut.0.ipu: is missing"},
             {"switchml/rack_4x10g", "faults.outages=[{from: 5 us}]", "faults.outages.0.worker: is missing"}}) {
        const shell_result r = sh.run("$weft check " WEFT_SOURCE_DIR "/configs/" + file + ".yaml --set '" + fault + "'");
        INFO(fault << r.err);
        CHECK(r.exit_code == 2);
        CHECK(has(r.err, why));
    }
}

TEST_CASE("a sum in a switch is bounded by slow memory of workers and predictions know it")
{
    const program_shell sh;
    const auto rows_of = [&](const std::string& file, const std::string& rate) {
        return results_of(sh, WEFT_SOURCE_DIR "/configs/switchml/" + file + ".yaml",
                          "--set 'worker.memory.rate=" + rate + "' --set 'workload=[{op: all_reduce, algorithms: [auto, switchml], sizes: [1 MiB]}]'");
    };
    const json row = rows_of("rack_8x100g_rdma", "5 GB/s").at(0); // the card reads and writes: no algorithm needs less
    INFO(row.dump());
    CHECK(row.at("algorithm") == "switchml");
    CHECK(row.at("bound_by") == "memory");
    CHECK(row.at("bound_share") > 0.95);
    CHECK(row.at("bound_share") <= 1.0);
    // Cores that make frames touch everything six times.
    const json rows = rows_of("rack_16x100g", "20 GB/s");
    CHECK(rows.at(0).at("algorithm") != "switchml");
    CHECK(time_us(rows.at(0)) < time_us(rows.at(1)));
    CHECK(time_us(rows.at(1)) == Approx(rows.at(0).at("predicted_us").at("switchml").get<double>()).epsilon(0.1));
}

TEST_CASE("auto on SwitchML knows timeouts that are too short and a host that answers late")
{
    const program_shell sh;
    const std::string file = WEFT_SOURCE_DIR "/configs/switchml/rack_4x10g.yaml";
    const auto chosen = [&](const std::string& settings, const std::string& size) {
        return results_of(sh, file, settings + " --set 'workload=[{op: all_reduce, algorithms: [auto], sizes: [" + size + "]}]'").at(0).at("algorithm").get<std::string>();
    };
    CHECK(chosen("", "1 MiB") == "switchml");
    CHECK(chosen("--set 'job.timeout=50 us'", "1 MiB") == "multi_axis");
    CHECK(chosen("--set 'worker.nic.host_latency=50 us'", "64 KiB") == "multi_axis");
}

TEST_CASE("what a Tofino cannot take is a warning")
{
    const program_shell sh;
    const auto warned = [&](const std::string& file, const std::string& settings) {
        const shell_result r = sh.run("$weft check " WEFT_SOURCE_DIR "/configs/switchml/" + file + ".yaml " + settings);
        INFO(r.err);
        CHECK(r.exit_code == 0);
        return r.err;
    };
    CHECK(has(warned("rack_16x100g", "--set workers=17"), "has 1.6 Tbps for workers"));
    CHECK_FALSE(has(warned("rack_16x100g", ""), "Tbps"));
    CHECK_FALSE(has(warned("rack_4x10g", "--set workers=64"), "Tbps"));
    CHECK(has(warned("rack_4x10g", "--set 'faults.outages=[{worker: 2, from: 100 us, until: 150 ms}]'"), "the others wait no longer than firmware_timeout"));
    CHECK(has(warned("rack_8x100g_rdma", "--set network.cable.impairments.duplication=0.01"), "a packet that comes twice is out of order for the queue pair"));
}

TEST_CASE("auto on a TPU knows buffers below the round trip and says which links that are down it does not know")
{
    const program_shell sh;
    const std::string file = WEFT_SOURCE_DIR "/configs/tpu_v3/mesh_4x4.yaml", all_to_all = " --set 'workload=[{op: all_to_all, algorithms: [auto], sizes: [1 MiB]}]'";
    const json wide = results_of(sh, file, all_to_all).at(0), narrow = results_of(sh, file, "--set 'ici.buffer_per_vl=1 KiB'" + all_to_all).at(0);
    CHECK(narrow.at("algorithm") == "two_phase"); // direct takes 119 us, two_phase 84
    CHECK(time_us(narrow) == Approx(narrow.at("predicted_us").at("two_phase").get<double>()).epsilon(0.25));
    CHECK(narrow.at("bound_us") == wide.at("bound_us")); // a bound is of links, not of credits
    const auto warned = [&](const std::string& rest) {
        const shell_result r = sh.run("$weft check " + file + " --set 'faults.links_down=[{row: 1, col: 1, direction: +X" + rest + "}]' --set 'workload=[{op: all_reduce, algorithms: [auto], sizes: [1 MiB]}]'");
        INFO(r.err);
        CHECK(r.exit_code == 0);
        return has(r.err, "is auto, whose predictions leave out links of faults.links_down that routing does not know: another algorithm may be faster here");
    };
    CHECK_FALSE(warned(""));
    CHECK(warned(", at: 5 us"));
    CHECK(warned(", announced: false"));
}

TEST_CASE("explain tries slots and loop-back ports of a switch by themselves")
{
    const program_shell sh;
    const auto best = [&](const std::string& settings) {
        results_of(sh, WEFT_SOURCE_DIR "/configs/switchml/rack_4x10g.yaml", settings + " --set 'workload=[{op: all_reduce, algorithms: [switchml], sizes: [1 MiB]}]'");
        const shell_result r = sh.run("$weft explain out --quiet");
        return r.out.substr(std::min(r.out.size(), r.out.find("What helps most")));
    };
    CHECK(has(best("--set 'switch.recirculation_rate=2 Gbps'"), "loop-back ports of switches twice as fast, 49.6 %"));
    CHECK(has(best("--set job.slots=4"), "twice as many slots, 41.6 %"));
}

TEST_CASE("what waits for timeouts after losses is limited by them and what waits for a window is not")
{
    const program_shell sh;
    const std::string sum = "--set 'workload=[{op: all_reduce, algorithms: [switchml], sizes: [64 KiB]}]'";
    const json lost = results_of(sh, WEFT_SOURCE_DIR "/configs/switchml/rack_4x10g.yaml", "--set network.cable.impairments.loss=0.01 " + sum).at(0);
    CHECK(lost.at("limited_by") == "timeout"); // it was latency
    const json whole = results_of(sh, WEFT_SOURCE_DIR "/configs/switchml/rack_4x10g.yaml", sum).at(0);
    CHECK(whole.at("limited_by") != "timeout");
    results_of(sh, WEFT_SOURCE_DIR "/configs/ub_mesh/board.yaml",
               "--set ub.transport=rtp --set ub.rtp_window=2 --set 'workload=[{op: all_reduce, algorithms: [multi_axis], sizes: [256 KiB]}]'");
    const shell_result r = sh.run("$weft explain out --no-reruns");
    INFO(r.out);
    REQUIRE(r.exit_code == 0);
    CHECK_FALSE(has(r.out, "is timeout")); // nothing was lost: it was 95 %
}

TEST_CASE("chips with one rank on a square torus have two cycles for rings")
{
    const program_shell sh;
    const json row = results_of(sh, WEFT_SOURCE_DIR "/configs/trainium/trn2.yaml", "--set chip.ranks=1 --set 'workload=[{op: all_reduce, algorithms: [device_ring], sizes: [64 MiB]}]'").at(0);
    CHECK(time_us(row) < 1.25 * 273); // 2 x 64 MiB x 15/16 by four links of 115.3 GB/s; by one cycle 561
}

TEST_CASE("what limited a run is told by size in whatever order files give sizes")
{
    const program_shell sh;
    const auto limits = [&](const std::string& sizes) {
        const shell_result r = sh.run("$weft run " WEFT_SOURCE_DIR "/configs/tpu_v3/mesh_4x4.yaml --set data=off --set 'workload=[{op: all_reduce, algorithms: [two_d], sizes: [" + sizes + "]}]'");
        INFO(r.err);
        REQUIRE(r.exit_code == 0);
        const std::size_t at = r.out.find("Limited by");
        REQUIRE(at != std::string::npos);
        return r.out.substr(at, r.out.find('\n', at) - at);
    };
    CHECK(limits("128 KiB, 4 B, 1 MB, 64 B, 2 MB") == limits("4 B, 64 B, 128 KiB, 1 MB, 2 MB"));
}
