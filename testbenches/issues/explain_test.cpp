// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `weft explain`, as a user starts it: parts that sum to the time, parts that are their formulas, changes that are run.
#include "platforms/cli/cli.h"
#include "platforms/cli/explain_case.h"
#include "platforms/firmware_bench/isolated.h"
#include "platforms/explain/what_if.h"
#include "testbenches/issues/program.h"
#include "testbenches/issues/started_program.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

using namespace weft::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

std::uint64_t ps_of(const json& us) { return static_cast<std::uint64_t>(us.get<double>() * 1e6 + 0.5); }

/// Times by cause of an explanation, in ps.
std::map<std::string, std::uint64_t> causes_of(const json& j)
{
    std::map<std::string, std::uint64_t> all;
    for (const json& c : j.at("critical_path").at("causes"))
        all[c.at("cause").get<std::string>()] = c.at("time_ps").get<std::uint64_t>();
    return all;
}
std::uint64_t sum_of(const std::map<std::string, std::uint64_t>& causes)
{
    std::uint64_t sum = 0;
    for (const auto& [cause, ps] : causes)
        sum += ps;
    return sum;
}

/// The explanation of a case, with the time of the run checked.
json explained(const program_folder& folder, const std::string& options)
{
    const int code = folder.weft("explain out --no-reruns --quiet --json - " + options);
    INFO(folder.read("stdout") << folder.read("stderr"));
    REQUIRE(code == 0);
    CHECK(folder.read("stderr").empty()); // or the time differs from that of the run
    return json::parse(folder.read("stdout"));
}

void run(const program_folder& folder, const std::string& file, const std::string& options = "")
{
    folder.write("file.yaml", file);
    const int code = folder.weft("run file.yaml --quiet --out out " + options);
    INFO(folder.read("stderr"));
    REQUIRE(code == 0);
}

const std::string k_pair = "platform: tpu_v3\nname: pair\nmesh: {rows: 1, cols: 2}\nburst: 1 packet\n"
                           "workload: [{op: broadcast, algorithms: [mesh_tree], sizes: [4 B, 256 B]}]\n";

} // namespace

TEST_CASE("explain: every picosecond has a cause on every platform")
{
    const std::vector<std::string> files = {
        "platform: tpu_v3\nname: tpu\nmesh: {rows: 3, cols: 4}\n"
        "workload: [{op: all_reduce, algorithms: [ring_1d, two_d], sizes: [36 B, 100 kB]}, {op: all_to_all, sizes: [72 kB]}]\n",
        "platform: switchml\nname: rack\nworkers: 3\n"
        "workload: [{op: all_reduce, algorithms: [switchml, ring_1d, parameter_server], sizes: [4 B, 64 KiB]}]\n",
        "platform: ub_mesh\nname: board\nmesh: {boards: 1, npus: 4, backplane: false}\n"
        "workload: [{op: all_reduce, algorithms: [ring_1d, direct], sizes: [4 B, 128 KiB]}]\n",
        "platform: trainium\nname: trn\nworkload: [{op: all_reduce, algorithms: [device_mesh], sizes: [4 KiB, 256 KiB]}]\n",
        "platform: ipu_pod\nname: pod\nworkload: [{op: all_reduce, algorithms: [meet_in_the_middle], sizes: [4 KiB, 256 KiB]}]\n",
    };
    for (const std::string& file : files) {
        const program_folder folder;
        run(folder, file, "--set data=off");
        const json results = json::parse(folder.read("out/results.json")).at("results");
        REQUIRE_FALSE(results.empty());
        for (std::size_t i = 0; i < results.size(); ++i) {
            const json j = explained(folder, "--case " + std::to_string(i));
            INFO(file << i);
            CHECK(j.at("time_ps") == ps_of(results[i].at("time_us")));
            CHECK(j.at("slowest") == true);
            const auto causes = causes_of(j);
            CHECK(sum_of(causes) == j.at("time_ps"));
            CHECK(causes.count("unknown") == 0);
            CHECK(causes.count("firmware") == 1);
            std::uint64_t at = 0;
            for (const json& part : j.at("critical_path").at("path")) {
                CHECK(ps_of(part.at("from_us")) == at);
                at = ps_of(part.at("until_us"));
            }
            CHECK(at == j.at("time_ps"));
        }
    }
}

TEST_CASE("explain: collectives of CCUs and of failed chips are followed to their begin")
{
    const std::vector<std::string> files = {
        "platform: ub_mesh\nname: ccu\nmesh: {boards: 1, npus: 4, backplane: false}\nub: {paths: shortest}\n"
        "workload: [{op: all_reduce, algorithms: [ccu], sizes: [64 KiB]}]\n",
        "platform: tpu_v3\nname: broken\nmesh: {rows: 4, cols: 4}\nfaults: {regions: [{row: 0, col: 0, rows: 2, cols: 2}]}\n"
        "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [1 MiB]}]\n",
    };
    for (const std::string& file : files) {
        const program_folder folder;
        run(folder, file, "--set data=off");
        const json j = explained(folder, "");
        INFO(file);
        const auto causes = causes_of(j);
        CHECK(sum_of(causes) == j.at("time_ps"));
        CHECK(causes.count("unknown") == 0);
        CHECK(j.at("critical_path").at("messages") >= 3);
    }
}

TEST_CASE("explain: steps beyond memory come from a file and give the same path")
{
    const std::vector<std::string> files = {
        "platform: tpu_v3\nname: tpu\nmesh: {rows: 2, cols: 4}\nburst: 1 packet\n"
        "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [512 KiB]}]\n",
        "platform: ub_mesh\nname: board\nmesh: {boards: 1, npus: 4, backplane: false}\nburst: 1 packet\n"
        "workload: [{op: all_to_all, sizes: [2 MiB]}]\n",
        "platform: ub_mesh\nname: ccu\nmesh: {boards: 1, npus: 4, backplane: false}\nub: {paths: shortest}\nburst: 1 packet\n"
        "workload: [{op: all_reduce, algorithms: [ccu], sizes: [1 MiB]}]\n",
        // Parts of the file are shorter than the start of an engine, so what is looked for lies many parts back.
        "platform: trainium\nname: trn\nworkload: [{op: all_reduce, algorithms: [device_mesh], sizes: [256 KiB]}]\n",
        "platform: trainium\nname: trn\nworkload: [{op: all_reduce, algorithms: [rdh], sizes: [256 KiB]}]\n",
        "platform: trainium\nname: trn\nworkload: [{op: all_to_all, sizes: [256 KiB]}]\n",
        "platform: ipu_pod\nname: pod\nworkload: [{op: all_reduce, algorithms: [meet_in_the_middle], sizes: [256 KiB]}]\n",
    };
    for (const std::string& file : files) {
        const program_folder folder;
        run(folder, file, "--set data=off");
        const weft::cli::explained_case c((folder.path() / "out/results.json").string(), "");
        const auto told_with = [&](std::size_t steps, const char* tmpdir) {
            return weft::run_isolated(
                [&] {
                    if (tmpdir != nullptr)
                        setenv("TMPDIR", tmpdir, 1);
                    return weft::cli::explained(c, {}, steps).dump(1);
                },
                60);
        };
        INFO(file);
        constexpr std::size_t k_few = 2000;
        const weft::isolated_result all = told_with(weft::step_recorder::k_in_memory, "/nowhere"), few = told_with(k_few, nullptr);
        CHECK(all.failure.empty());
        CHECK(few.failure.empty());
        CHECK(json::parse(all.text).contains("critical_path")); // no file was asked for
        CHECK(few.text == all.text);
        CHECK_THAT(told_with(k_few, "/nowhere").text, Contains("more than 2000 steps of packets") && Contains("/nowhere does not take the others") &&
                                                          Contains("set TMPDIR"));
    }
}

TEST_CASE("explain: two messages over one link are their formula")
{
    const program_folder folder;
    run(folder, k_pair);
    const auto causes = causes_of(explained(folder, "--case 1"));
    // "Ready" one way, 256 B the other; four routers are entered, two links crossed. The last bytes follow their heads
    // once.
    const auto time_of = [](double bytes, double GBps) {
        return static_cast<std::uint64_t>(bytes / GBps * 1e3 + 0.999);
    };
    CHECK(causes.at("propagation") == 2 * 5'000);
    CHECK(causes.at("router") == 4 * 4'255); // 4 cycles of 940 MHz
    CHECK(causes.at("serialisation") >= time_of(32, 82) - 1);
    CHECK(causes.at("serialisation") == 391 + 3'122 - 1); // 32 B and 256 B at 82 GB/s
    CHECK(causes.count("queueing: arbitration") == 0);
    CHECK(causes.count("queueing: credits") == 0);
}

TEST_CASE("explain: a knob moves the part that it should")
{
    const program_folder folder;
    run(folder, k_pair);
    const auto before = causes_of(explained(folder, "--case 1"));
    run(folder, k_pair, "--set 'ici.board_propagation=10 ns'");
    const auto later = causes_of(explained(folder, "--case 1"));
    CHECK(later.at("propagation") == 2 * before.at("propagation"));
    CHECK(later.at("router") == before.at("router"));
    CHECK(later.at("serialisation") == before.at("serialisation"));
    run(folder, k_pair, "--set 'ici.link_rate=41 GB/s' --set 'ici.local_port_rate=41 GB/s'");
    const auto slower = causes_of(explained(folder, "--case 1"));
    CHECK(slower.at("serialisation") > before.at("serialisation") * 19 / 10);
    CHECK(slower.at("propagation") == before.at("propagation"));
}

TEST_CASE("explain: changes are run and give the times of runs")
{
    const program_folder folder;
    run(folder,
        "platform: tpu_v3\nname: mesh\nmesh: {rows: 2, cols: 2}\n"
        "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB, 1 MiB]}, {op: all_gather, sizes: [4 MiB]}]\n");
    REQUIRE(
        folder.weft(
            "explain out --quiet --json all.json --changes 'ici.link_rate=164 GB/s,ici.local_port_rate=328 GB/s'") ==
        0);
    CHECK_THAT(folder.read("stdout"),
               Contains("all_reduce ring_1d of 1 MiB") && Contains("What would help") && Contains("What helps most"));
    const json j = json::parse(folder.read("all.json"));
    const json& changes = j.at("changes");
    REQUIRE(changes.size() >= 3);
    CHECK(changes[0].at("settings") == json::array({"ici.link_rate=164 GB/s", "ici.local_port_rate=328 GB/s"}));
    for (const json& c : changes) {
        REQUIRE(c.contains("time_ps"));
        CHECK(c.at("gain").get<double>() == Approx(1 - c.at("time_ps").get<double>() / j.at("time_ps").get<double>()));
    }
    double share = 1;
    for (std::size_t i = 1; i < changes.size(); ++i) { // the most promising first
        CHECK(changes[i].at("share").get<double>() <= share);
        share = changes[i].at("share").get<double>();
    }
    REQUIRE(
        folder.weft(
            "run file.yaml --quiet --out faster --set 'ici.link_rate=164 GB/s' --set 'ici.local_port_rate=328 GB/s'") ==
        0);
    CHECK(changes[0].at("time_ps") ==
          ps_of(json::parse(folder.read("faster/results.json")).at("results")[1].at("time_us")));
}

TEST_CASE("explain: a rank and a case that the user names")
{
    const program_folder folder;
    run(folder,
        "platform: tpu_v3\nname: mesh\nmesh: {rows: 2, cols: 2}\nworkload: [{op: broadcast, sizes: [4 KiB, 64 KiB]}]\n");
    const json last = explained(folder, "--case broadcast:mesh_tree:4KiB");
    CHECK(explained(folder, "--case broadcast:mesh_tree:4096") == last); // as tables have it
    const json first = explained(folder, "--case broadcast:mesh_tree:4KiB --rank 0");
    CHECK(first.at("slowest") == false);
    CHECK(first.at("critical_path").at("time_ps") < last.at("critical_path").at("time_ps"));
    CHECK(sum_of(causes_of(first)) == first.at("critical_path").at("time_ps"));
}

TEST_CASE("explain: a collective beside traffic of hosts is that beside the traffic")
{
    const program_folder folder;
    run(folder, "platform: ub_mesh\nname: hosts\nmesh: {boards: 2, npus: 4}\nhost: {traffic: [{rate: 1 GB/s}]}\n"
                "workload: [{op: all_reduce, algorithms: [direct], sizes: [256 KiB]}]\n");
    REQUIRE(folder.weft("explain out --no-reruns --quiet --json -") == 0);
    const json all = json::parse(folder.read("stdout")); // it runs alone before, by host.compare
    CHECK(all.at("critical_path").at("messages") > 0);
    CHECK(causes_of(all).at("serialisation") > 0);
}

TEST_CASE("explain: engines that start are what limits and what the path is made of")
{
    const program_folder folder;
    run(folder, "platform: trainium\nname: trn\nworkload: [{op: all_reduce, algorithms: [rdh, kangaring], sizes: [64 KiB]}]\n",
        "--set data=off");
    for (const std::string number : {"0", "1"}) {
        const json j = explained(folder, "--case " + number);
        CHECK(j.at("limited_by") == "dma");
        CHECK(j.at("critical_path").at("causes").at(0).at("cause") == "DMA");
        CHECK(folder.weft("explain out --no-reruns --quiet --case " + number) == 0);
        CHECK_THAT(folder.read("stdout"), Contains("limited by dma, ") && Contains(" % of this path."));
    }
}

TEST_CASE("explain: links whose lanes are as fast as they get are given more lanes")
{
    const program_folder folder;
    run(folder, "platform: ub_mesh\nname: board\nmesh: {boards: 1, npus: 4, backplane: false}\n"
                "workload: [{op: all_reduce, algorithms: [direct], sizes: [4 MiB]}]\n");
    REQUIRE(folder.weft("explain out --quiet --json all.json") == 0);
    CHECK_THAT(folder.read("stdout"), Contains("mesh.x_lanes=8") && !Contains("(in part)") &&
                                          Contains("lanes in place of ub.lane_rate, which ends there"));
    const json all = json::parse(folder.read("all.json"));
    const auto found = std::find_if(all.at("changes").begin(), all.at("changes").end(),
                                    [](const json& c) { return c.at("change") == "links twice as fast"; });
    REQUIRE(found != all.at("changes").end());
    CHECK(found->at("left_out").empty());
    CHECK(found->at("by_lanes") == json{"ub.lane_rate"}); // 224 Gbps are beyond its limit
    CHECK(found->at("gain").get<double>() > 0.3);
}

TEST_CASE("explain: a change that cannot be applied whole says so")
{
    const program_folder folder;
    run(folder, "platform: ub_mesh\nname: board\nmesh: {boards: 1, npus: 4, backplane: false, x_lanes: 8}\n"
                "workload: [{op: all_reduce, algorithms: [direct], sizes: [4 MiB]}]\n");
    CHECK(folder.weft("explain out --quiet") == 0);
    CHECK_THAT(folder.read("stdout"),
               Contains("links twice as fast (in part)") && Contains("beyond what is legal, so unchanged: mesh.x_lanes") &&
                   Contains("Not to be applied whole: links twice as fast.") && !Contains("Nothing of this helps"));
}

TEST_CASE("explain: keys that a case does not use are in no change's way")
{
    const program_folder folder;
    run(folder, "platform: switchml\nname: rack\nworkers: 4\nnetwork: {rate: 10 Gbps}\n"
                "workload: [{op: all_reduce, algorithms: [ring_1d, switchml], sizes: [256 KiB]}]\n");
    // Ports of the switch follow network.rate, and the results hold all rates.
    REQUIRE(folder.weft("explain out --case 0 --quiet --json all.json --changes 'network.rate=20 Gbps'") == 0);
    const json j = json::parse(folder.read("all.json"));
    for (const std::string change : {"network.rate=20 Gbps", "links twice as fast"}) {
        INFO(change);
        const auto found = std::find_if(j.at("changes").begin(), j.at("changes").end(), [&](const json& c) { return c.at("change") == change; });
        REQUIRE(found != j.at("changes").end());
        CHECK(found->at("gain").get<double>() > 0.3);
    }
}

TEST_CASE("explain: what waits for a wire that carries one frame behind the other is serialisation")
{
    for (const std::string transport : {"udp", "rdma"}) {
        const program_folder folder;
        run(folder, "platform: switchml\nname: rack\nworkers: 3\ndata: off\nnetwork: {rate: 10 Gbps}\njob: {slots: 128, transport: " + transport +
                        "}\nworkload: [{op: all_reduce, algorithms: [switchml], types: [int32], sizes: [1 MiB]}]\n");
        const json all = explained(folder, "");
        INFO(transport << " " << all.at("limited_by"));
        const auto causes = causes_of(all);
        CHECK(sum_of(causes) == all.at("time_ps"));
        // The bound is the bytes of the wire, and the run comes near to it.
        CHECK(all.at("limited_by") == "link");
        CHECK(causes.at("serialisation") > 8 * all.at("time_ps").get<std::uint64_t>() / 10);
    }
}

TEST_CASE("explain: what lost frames wait for is a timeout and a smaller one is tried")
{
    for (const std::string job : {"timeout: 300 us", "timeout: 300 us, transport: rdma"}) {
        const program_folder folder;
        run(folder, "platform: switchml\nname: rack\nworkers: 3\nworker: {cores: 1, nic: {queues: 1}}\ndata: off\n"
                    "network: {cable: {seed: 3, impairments: {loss: 0.01}}}\njob: {slots: 16, " +
                        job +
                        "}\n"
                        "workload: [{op: all_reduce, algorithms: [switchml], types: [int32], sizes: [256 KiB]}]\n");
        INFO(job);
        const int code = folder.weft("explain out --quiet --json all.json");
        INFO(folder.read("stderr") << folder.read("stdout"));
        REQUIRE(code == 0);
        const json all = json::parse(folder.read("all.json"));
        const auto causes = causes_of(all);
        CHECK(sum_of(causes) == all.at("time_ps"));
        REQUIRE(causes.count("timeout") == 1);
        const std::uint64_t lost_ps = causes.at("timeout");
        CHECK(lost_ps > 250'000'000); // a timeout at least, less the frame itself
        CHECK(2 * lost_ps > causes.at("NIC"));
        bool tried = false;
        for (const json& change : all.at("changes"))
            if (change.at("change") == "half the timeout of resends") {
                tried = true;
                CHECK(change.at("settings") == json::array({"job.timeout=150 us"}));
                CHECK(change.at("gain") > 0.05);
            }
        CHECK(tried);
        const std::string text = folder.read("stdout");
        CHECK_THAT(text, Contains(" frames.") && !Contains("0 messages"));
        CHECK(all.at("critical_path").at("frames") > 2);
        CHECK(all.at("critical_path").at("messages") == 0);
    }
    // Nothing is lost: no timeout, though frames of a slot come again and again.
    const program_folder folder;
    run(folder, "platform: switchml\nname: rack\nworkers: 3\ndata: off\njob: {slots: 4}\n"
                "workload: [{op: all_reduce, algorithms: [switchml], types: [int32, float32], sizes: [256 KiB]}]\n");
    for (const char* number : {"0", "1"})
        CHECK(causes_of(explained(folder, std::string("--case ") + number)).count("timeout") == 0);
}

// It was called "controller", and half the latency was advised, which gains 2 %.
TEST_CASE("explain: what UB sends again after a link has failed is a timeout")
{
    const program_folder folder;
    REQUIRE(folder.weft("run " WEFT_SOURCE_DIR "/configs/ub_mesh/rack_link_down.yaml --quiet --out out --set data=off --set \"workload=[{op: all_to_all, algorithms: [direct], sizes: [4 MiB]}]\"") == 0);
    REQUIRE(folder.weft("explain out --quiet --json -") == 0);
    const json all = json::parse(folder.read("stdout"));
    CHECK(causes_of(all).at("timeout") >= 25'600'000); // ub.rtp_timeout
    CHECK(causes_of(all).at("controller") < 1'000'000);
    const auto half = std::find_if(all.at("changes").begin(), all.at("changes").end(), [](const json& c) { return c.at("change") == "half the timeout of resends"; });
    REQUIRE(half != all.at("changes").end());
    CHECK(half->at("gain") > 0.1);
}

TEST_CASE("explain: with several cores a chip the last rank is the one that answers last")
{
    const program_folder folder;
    run(folder, "platform: switchml\nname: rack\nworkers: 3\nworker: {cores: 4}\ndata: off\n"
                "network: {cable: {seed: 3, impairments: {loss: 0.01}}}\njob: {slots: 16, timeout: 300 us}\n"
                "workload: [{op: all_reduce, algorithms: [switchml], types: [int32], sizes: [256 KiB]}]\n");
    const json last = explained(folder, "");
    CHECK(last.at("slowest") == true);
    CHECK_FALSE(has(last.at("note").get<std::string>(), "not sure"));
    std::size_t slowest = 0;
    for (const char* rank : {"0", "1", "2"}) {
        const json one = explained(folder, std::string("--rank ") + rank);
        CHECK(sum_of(causes_of(one)) == one.at("critical_path").at("time_ps"));
        CHECK(one.at("critical_path").at("time_ps") <= last.at("time_ps"));
        CHECK((one.at("critical_path").at("time_ps") == last.at("time_ps")) == (one.at("slowest") == true));
        slowest += one.at("slowest") == true ? 1 : 0;
    }
    CHECK(slowest == 1);
}

TEST_CASE("explain: sections of a platform say which part of the machine they are about")
{
    using weft::config_part;
    const std::map<std::string, std::map<std::string, config_part>> expected{
        {"tpu_v3",
         {{"mesh", config_part::none}, {"ici", config_part::links}, {"chip", config_part::none}, {"chip.core", config_part::core}, {"chip.bus", config_part::core},
          {"chip.mailbox", config_part::core}, {"chip.local_memory", config_part::core}, {"chip.hbm", config_part::memory}, {"chip.dma", config_part::dma},
          {"faults", config_part::none}}},
        {"switchml",
         {{"network", config_part::links}, {"network.cable", config_part::links}, {"network.cable.impairments", config_part::none},
          {"switch", config_part::aggregation}, {"job", config_part::job}, {"worker", config_part::nic}, {"worker.core", config_part::core},
          {"worker.memory", config_part::memory}, {"worker.dma", config_part::dma}, {"worker.nic", config_part::nic}, {"faults", config_part::none}}},
        {"ub_mesh",
         {{"mesh", config_part::none}, {"cables", config_part::links}, {"ub", config_part::links}, {"npu", config_part::none}, {"npu.core", config_part::core},
          {"npu.hbm", config_part::memory}, {"npu.dma", config_part::dma}, {"npu.ccu", config_part::ccu}, {"cpu", config_part::none}, {"nic", config_part::nic},
          {"faults", config_part::none}, {"host", config_part::none}}},
        {"trainium",
         {{"node", config_part::none}, {"neuronlink", config_part::links}, {"chip", config_part::none}, {"chip.core", config_part::core},
          {"chip.hbm", config_part::memory}, {"chip.dma", config_part::dma}, {"faults", config_part::none}}},
        {"ipu_pod",
         {{"pod", config_part::none}, {"ipu_link", config_part::links}, {"gateway", config_part::links}, {"sync", config_part::sync}, {"ipu", config_part::none},
          {"ipu.core", config_part::core}, {"ipu.memory", config_part::memory}, {"ipu.dma", config_part::dma}, {"gcl", config_part::none},
          {"faults", config_part::none}}}};
    for (const weft::platform_info* p : weft::cli::platforms())
        for (const auto& [path, part] : expected.at(p->name)) {
            INFO(p->name << " " << path);
            const weft::config_field defaults = p->defaults();
            const weft::config_field* at = &defaults;
            std::istringstream names(path);
            for (std::string name; at != nullptr && std::getline(names, name, '.');) {
                const auto found = std::find_if(at->children.begin(), at->children.end(), [&](const weft::config_field& f) { return f.name == name; });
                at = found == at->children.end() ? nullptr : &*found;
            }
            REQUIRE(at != nullptr);
            CHECK(at->part == part);
        }
    // What workers do is none of the links' business.
    const program_folder folder;
    run(folder, "platform: switchml\nname: rack\nworkers: 3\ndata: off\n"
                "workload: [{op: all_reduce, algorithms: [switchml], types: [int32], sizes: [64 KiB]}]\n");
    REQUIRE(folder.weft("explain out --quiet --json all.json") == 0);
    for (const json& change : json::parse(folder.read("all.json")).at("changes"))
        for (const std::string setting : change.at("settings"))
            CHECK((setting.rfind("worker.transmit_hold", 0) == std::string::npos || change.at("change") == "network cards with half the delays"));
    // The table has no blanks behind its lines.
    std::istringstream lines(folder.read("stdout"));
    for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK((line.empty() || line.back() != ' '));
    }
}

TEST_CASE("explain: a name of several cases is refused with their numbers")
{
    const program_folder folder;
    run(folder, "platform: tpu_v3\nname: mesh\nmesh: {rows: 2, cols: 2}\n"
                "workload: [{op: all_reduce, algorithms: [ring_1d], types: [int32, float32], sizes: [4 KiB]}]\n");
    CHECK(folder.weft("explain out --case all_reduce:ring_1d:4KiB") == 2);
    CHECK_THAT(folder.read("stderr"), Contains("are 2 cases; write the number of one of them: 0, 1."));
}

TEST_CASE("explain: what cannot be explained is refused with a remedy")
{
    const program_folder folder;
    run(folder, k_pair);
    const auto refused = [&](const std::string& arguments, const std::string& why) {
        CHECK(folder.weft("explain " + arguments) == 2);
        CHECK_THAT(folder.read("stderr"), Contains(why));
        CHECK(folder.read("stdout").empty());
    };
    refused("nowhere", "there is no such folder; `weft run FILE --out nowhere` makes it");
    refused(".", "has no results.json; explain takes the folder that `weft run` has written");
    refused("out --case 2", "there is no case 2");
    refused("out --case all_reduce:ring_1d:4B", "1  broadcast:mesh_tree:256 B");
    refused("out --case all_reduce", "neither a number nor OP:ALGORITHM:SIZE");
    refused("out --rank 2", "rank 2 does not exist; ranks are 0 to 1");
    refused("out --changes 'ici.link_rat=1 GB/s'", "did you mean 'link_rate'?");
    refused("out --changes nothing", "is no key=value");
    refused("out --json out/results.json", "results.json");
    CHECK(folder.weft("run file.yaml --quiet --out failed --set 'time_limit=2 us'") == 1);
    refused("failed", "the run did not end");
    folder.write("step.yaml", "platform: tpu_v3\nname: step\nmesh: {rows: 2, cols: 2}\n"
                              "training_step: {compute: 10 us, groups: [{name: all, bytes: 4 KiB}]}\n");
    CHECK(folder.weft("run step.yaml --quiet --out step") == 0);
    refused("step", "the run has no collective of `workload`");
    CHECK(folder.weft("run " WEFT_SOURCE_DIR "/configs/ub_mesh/rack_checkpoint.yaml --quiet --out saved --set data=off") == 0);
    refused("saved", "Write one of a training step as an entry of `workload`"); // its checkpoints are no collectives
    folder.write("broken/results.json", "{}");
    refused("broken", "is no results.json");
}

TEST_CASE("explain: Ctrl-C keeps what is known")
{
    started_program p;
    p.write("file.yaml", "platform: tpu_v3\nname: mesh\nmesh: {rows: 4, cols: 4}\n"
                         "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [8 MiB]}]\n");
    REQUIRE(p.run({"run", "file.yaml", "--quiet", "--out", "out", "--set", "data=off"}) == 0);
    std::vector<std::string> arguments{"explain", "out", "--quiet", "--no-reruns",
                                       "--jobs",  "1",   "--json",  "kept.json"};
    for (int seed = 2; seed < 60; ++seed)
        arguments.insert(arguments.end(), {"--changes", "burst=1 packet,seed=" + std::to_string(seed)});
    p.start(arguments);
    p.until([&] { return has(p.out(), "# cause"); });
    p.signal(SIGINT);
    CHECK(p.finish() == 130);
    CHECK(has(p.out(), "not run"));
    const json j = json::parse(p.read("kept.json"));
    CHECK(j.at("interrupted") == true);
    CHECK(sum_of(causes_of(j)) == j.at("time_ps"));
    CHECK(j.at("changes").size() == 58);
    CHECK_FALSE(j.at("changes").back().contains("time_ps"));
}

TEST_CASE("explain: Ctrl-C before the path is known says so")
{
    started_program p;
    p.write("file.yaml", "platform: tpu_v3\nname: mesh\nburst: 1 packet\nmesh: {rows: 8, cols: 8}\n"
                         "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [8 MiB]}]\n");
    REQUIRE(p.run({"run", "file.yaml", "--quiet", "--out", "out", "--set", "data=off"}) == 0);
    p.start({"explain", "out", "--quiet"});
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    p.signal(SIGINT);
    CHECK(p.finish() == 130);
    CHECK(has(p.err(), "interrupted before the path of all_reduce"));
}

TEST_CASE("explain: what is approximate is told with its share")
{
    const auto text_of_run = [](const std::string& file) {
        const program_folder folder;
        run(folder, file, "--set data=off");
        REQUIRE(folder.weft("explain out --no-reruns --quiet") == 0);
        return folder.read("stdout");
    };
    const std::string ccu = text_of_run("platform: ub_mesh\nname: board\nmesh: {boards: 1, npus: 4, backplane: false}\n"
                                        "workload: [{op: all_reduce, algorithms: [ccu], sizes: [128 KiB]}]\n");
    CHECK_THAT(ccu, Contains("Approximate: CCU ") && Contains("the path takes what came last"));
    const std::string devices = text_of_run(
        "platform: trainium\nname: trn\nworkload: [{op: all_reduce, algorithms: [device_ring], sizes: [256 KiB]}]\n");
    CHECK_THAT(devices, Contains("Approximate: DMA ") && Contains("a ring that stood still behind one"));
    const std::string mesh = text_of_run(k_pair);
    CHECK_THAT(mesh, !Contains("Approximate"));
}
