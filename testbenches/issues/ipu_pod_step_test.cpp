// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// IPU-Pods: what training steps, `weft scale`, checks and predictions say of links and hosts, against runs.
#include "testbenches/issues/exact_runs.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace weft;
using weft::testing::exact_runs;
using weft::testing::has;
using weft::testing::program_folder;
using weft::testing::text_of;
using Catch::Contains;

namespace {

const exact_runs k_pod16("ipu_pod/pod16.yaml");
const std::string k_no_data = "--set data=off ";

std::string shipped(const char* file)
{
    return (std::filesystem::path(WEFT_SOURCE_DIR) / "configs" / "ipu_pod" / file).string();
}

/// Arguments of a training step on a Pod16 that `more` changes.
std::string step_of(const std::string& step, const std::string& more = "")
{
    return fmt::format("{} --set workload=[] --set data=off --set 'training_step={{{}}}' {}", k_pod16.file(), step, more);
}

/// The first step of a run.
nlohmann::json run(const std::string& what)
{
    const program_folder folder;
    const int code = folder.weft(fmt::format("run {} --quiet --out out", what));
    INFO(what << "\n" << text_of(folder.path() / "stderr"));
    REQUIRE(code == 0);
    return nlohmann::json::parse(text_of(folder.path() / "out" / "results.json")).at("training_step").at("steps").at(0);
}

double time_us(const std::string& what) { return run(what).at("time_us").get<double>(); }

nlohmann::json scale(const std::string& what)
{
    const program_folder folder;
    const int code = folder.weft(fmt::format("scale {} --quiet --json -", what));
    INFO(what << "\n" << text_of(folder.path() / "stderr"));
    REQUIRE(code == 0);
    return nlohmann::json::parse(text_of(folder.path() / "stdout"));
}

/// What `weft check` says, and how it ends.
std::string checked(const std::string& what, int code)
{
    const program_folder folder;
    const int got = folder.weft("check " + what);
    const std::string said = text_of(folder.path() / "stderr");
    INFO(what << "\n" << said);
    CHECK(got == code);
    return said;
}

/// "faster compute raises throughput at most 2.58-fold".
double at_most_fold(const nlohmann::json& scaled)
{
    for (const auto& f : scaled.at("findings"))
        if (const std::string text = f; text.rfind("Amdahl", 0) == 0)
            return std::stod(text.substr(text.find("at most ") + 8));
    return 0;
}

} // namespace

TEST_CASE("ipu_pod: parts of every shipped step that scale prints are parts of it", "[ipu_pod]")
{
    for (const char* file : {"sharded_pod16.yaml", "pipeline_pod16.yaml", "streaming_pod16.yaml",
                             "host_input_pod16.yaml", "resnet50_pod16.yaml"}) {
        const nlohmann::json scaled = scale(shipped(file) + " --to 4");
        REQUIRE(scaled.at("points").size() == 3);
        for (const auto& p : scaled.at("points")) {
            INFO(file << " " << p.dump());
            const double step = p.at("step_us");
            for (const auto& [name, us] : p.at("parts_us").items()) {
                CHECK(us.get<double>() >= 0);
                if (name.rfind("host", 0) != 0) // beside the step before
                    CHECK(us.get<double>() <= step * (1 + 1e-9));
            }
        }
    }
}

TEST_CASE("ipu_pod: faster compute gains what scale says at most", "[ipu_pod]")
{
    const auto gained = [](const std::string& with, const std::string& to, const std::string& without) {
        INFO(with);
        CHECK(at_most_fold(scale(with + " --to " + to)) == Approx(time_us(with) / time_us(without)).epsilon(0.01));
    };
    // Hosts that are ready in time, but would not be without compute.
    const std::string host = shipped("host_input_pod16.yaml") + " --set training_step.input.samples_per_second=90000";
    gained(host, "16", host + " --set 'training_step.compute=1 ps'");
    // An all-reduce beside compute.
    const auto overlapped = [](const char* compute) {
        return step_of(fmt::format("compute: {}, accumulation: 2, micro_batch: 20, overlap: when_ready, groups: "
                                   "[{{bytes: 51.2 MB, type: float16, ready: 0.1}}]",
                                   compute));
    };
    gained(overlapped("5 ms"), "16", overlapped("1 ps"));
    // Streaming Memory beside compute.
    const auto streamed = [](const char* compute) {
        return step_of(fmt::format("compute: {}, accumulation: 4, micro_batch: 20, streaming: {{bytes: 320 MB, "
                                   "io_tiles: 64}}, groups: [{{bytes: 2 MB, type: float16}}]",
                                   compute),
                       "--set pod.machines=1");
    };
    gained(streamed("1 ms"), "4", streamed("1 ps"));
    const nlohmann::json p = scale(streamed("1 ms") + " --to 4").at("points").back().at("parts_us");
    CHECK(p.at("compute").get<double>() == Approx(4 * 1000.0 * 1472 / 1408).epsilon(1e-6));
    CHECK(p.at("streaming").get<double>() == Approx(4 * (320e6 / 27.2e3 + 0.4 - 1000.0 * 1472 / 1408)).epsilon(1e-6));
}

TEST_CASE("ipu_pod: scale of several domains runs the machine of the file", "[ipu_pod]")
{
    const std::string four = step_of("compute: 1 ms, micro_batch: 20, groups: [{bytes: 51.2 MB, type: float16}]",
                                     "--set pod.machines=1 --set pod.domains=4");
    const nlohmann::json points = scale(four + " --to 32").at("points");
    REQUIRE(points.size() == 6);
    CHECK(points[4].at("replicas") == 16);
    CHECK(points[4].at("step_us").get<double>() == Approx(time_us(four)).epsilon(1e-9));
    CHECK(points[5].at("settings").dump() == R"(["pod.machines=1","pod.domains=8","pod.partition=4","pod.topology=mesh"])");
}

TEST_CASE("ipu_pod: stages of a pipeline are as fast as the links between them", "[ipu_pod]")
{
    const auto compute_us = [](int stages, const std::string& more) {
        return run(step_of(fmt::format("compute: 1 ms, accumulation: 16, pipeline: {{stages: {}, activations: 100 MB}}, "
                                       "groups: [{{bytes: 1 MB, type: float16}}]",
                                       stages),
                           fmt::format("--set pod.replica_size={} {}", stages, more)))
            .at("compute_us")
            .get<double>();
    };
    CHECK(compute_us(2, "") == Approx(17 * (500 + 100e6 / 81.6e3 + 3.935)).epsilon(1e-6));
    CHECK(compute_us(4, "") == Approx(19 * (250 + 100e6 / 27.2e3 + 3.935)).epsilon(1e-6)); // IPUs 1 and 2: along the ladder
    CHECK(compute_us(2, "--set 'ipu_link.rate=8 GB/s'") == Approx(17 * (500 + 100e6 / 40.8e3 + 3.935)).epsilon(1e-6));
    // The links themselves: 100 MB each way at once between IPUs 1 and 2.
    const double us = k_pod16.time_us(
        "[{op: all_gather, algorithms: [clockwise], sizes: [200 MB], groups: [\"1,2\"]}]", k_no_data);
    CHECK(compute_us(4, "") / 19 - 250 == Approx(us).epsilon(0.02));
    CHECK_THAT(checked(shipped("pipeline_pod16.yaml") + " --set 'training_step.pipeline.rate=100 GB/s'", 0),
               Contains("training_step.pipeline.rate") && Contains("the 6 IPU-Links between two of 2 stages carry"));
}

TEST_CASE("ipu_pod: T_AR of the links is that of replicas of several IPUs", "[ipu_pod]")
{
    for (const int size : {1, 2, 4, 8}) {
        const std::string replicas = fmt::format("--set pod.replica_size={}", size);
        const nlohmann::json s =
            run(step_of("compute: 1 ms, micro_batch: 20, groups: [{bytes: 25.6 MB, type: float16}]", replicas));
        const double bound = k_pod16.exact("[{op: all_reduce, types: [float16], sizes: [25600000 B]}]", k_no_data + replicas)
                                 .at("results")[0]
                                 .at("bound_us");
        INFO(size << " " << bound);
        CHECK(s.at("links_samples_per_second").get<double>() ==
              Approx(s.at("samples").get<double>() * 1e6 / (1000 + bound)).epsilon(1e-3));
    }
    // One replica sends nothing.
    const nlohmann::json alone =
        run(step_of("compute: 1 us, micro_batch: 1, groups: [{bytes: 2 MB, type: float16}]",
                    "--set pod.machines=1 --set pod.replica_size=4"));
    CHECK(alone.at("links_samples_per_second").get<double>() == Approx(1e6).epsilon(1e-6));
}

TEST_CASE("ipu_pod: the step of ResNet-50 has the micro batch of the logs", "[ipu_pod]")
{
    const nlohmann::json s = run(shipped("resnet50_pod16.yaml"));
    double norm_us = 0;
    for (const auto& e : s.at("exchanges"))
        norm_us += e.at("time_us").get<double>();
    CHECK(norm_us > 0);
    CHECK((s.at("compute_us").get<double>() + norm_us) / 10 == Approx(10'270).epsilon(0.003));
}

TEST_CASE("ipu_pod: samples and Streaming Memory pass Host-Links", "[ipu_pod]")
{
    const std::string input = "compute: 1 ms, accumulation: 4, micro_batch: 10, input: {data: generated, sample: 15 MB, "
                              "links: 4000}, groups: [{bytes: 1 MB, type: float16}]";
    const double bytes = 4.0 * 4 * 10 * 15e6; // of four IPUs
    CHECK(time_us(step_of(input, "--set pod.machines=1")) == Approx(bytes / 12.5e3).epsilon(1e-6)); // 100 GbE to the machine
    CHECK(time_us(step_of(input, "--set pod.machines=1 --set 'gateway.host_rate=10 Gbps'")) == Approx(bytes / 1.25e3).epsilon(1e-6));
    CHECK_THAT(checked(step_of(input, "--set pod.machines=1"), 0),
               Contains("training_step.input.links: is 4000") && Contains("what goes beyond brings nothing"));
    const std::string streamed =
        "compute: 1 ms, streaming: {bytes: 320 MB}, groups: [{bytes: 1 MB, type: float16}]";
    const auto compute_us = [&](const std::string& more) {
        return run(step_of(streamed, "--set pod.machines=1 " + more)).at("compute_us").get<double>();
    };
    CHECK(compute_us("") == Approx(1000 + 320e6 / 27.2e3 + 0.4));
    CHECK(compute_us("--set pod.domains=2 --set 'gateway.host_link_rate=1 GB/s'") == Approx(1000 + 320e6 / 0.85e3 + 0.4));
    CHECK(checked(step_of(streamed, "--set 'gateway.host_link_rate=1 GB/s'"), 0).find("host_link_rate") ==
          std::string::npos);
}

TEST_CASE("ipu_pod: hosts that are fewer than the Pods are said", "[ipu_pod]")
{
    const std::string four_pods = shipped("host_input_pod16.yaml") + " --set pod.machines=16 --set pod.domains=4 ";
    const std::string said = checked(
        four_pods + "--set training_step.input.instances=1 --set training_step.input.numa_nodes=1", 0);
    CHECK_THAT(said, Contains("training_step.input.links: is 1, but 64 IPU-Machines are 4 Pods") &&
                         Contains("training_step.input.instances: is 1, but"));
    CHECK(checked(four_pods + "--set training_step.input.links=4 --set training_step.input.instances=4 --set "
                         "training_step.input.numa_nodes=4",
                  0)
              .find("Pods") == std::string::npos);
    const program_folder folder;
    CHECK(folder.weft("scale " + shipped("host_input_pod16.yaml") +
                      " --to 128 --quiet --set training_step.groups.0.bytes=64KiB") == 0);
    CHECK_THAT(text_of(folder.path() / "stderr"), Contains("128 replicas: training_step.input.links: is 1, but"));
}

TEST_CASE("ipu_pod: hosts of each Pod grow with the Pods", "[ipu_pod]")
{
    const std::string file = shipped("host_input_pod16.yaml") + " --set 'training_step.groups.0.bytes=256 B' ";
    const nlohmann::json points = scale(file + "--to 128 --set training_step.input.hosts_per_pod=4").at("points");
    REQUIRE(points.size() == 8);
    const double samples = 10 * 20; // of a replica
    for (const auto& [part, one_us] : {std::pair{"host", samples * 1e6 / (9000.0 * 2 * 4)}, {"host link", samples * 150e3 / (12.5e3 * 4)}})
        for (const auto& [replicas, of_a_pod] : {std::pair{6, 64}, {7, 64}}) { // a Pod64, and two of them
            INFO(part << " " << replicas);
            CHECK(points[replicas].at("parts_us").at(part).get<double>() == Approx(one_us * of_a_pod).epsilon(1e-6));
        }
    const program_folder other;
    CHECK(other.weft("scale " + file + "--to 4 --quiet --set training_step.input.hosts_per_pod=1 --set "
                                       "training_step.input.samples_per_second=900") == 0);
    CHECK_THAT(text_of(other.path() / "stdout"), Contains("samples/s until another Pod brings hosts"));
    const std::string four_pods = shipped("host_input_pod16.yaml") + " --set pod.machines=16 --set pod.domains=4 ";
    CHECK(checked(four_pods + "--set training_step.input.hosts_per_pod=1", 0).find("Pods") == std::string::npos);
    CHECK_THAT(checked(four_pods + "--set training_step.input.hosts_per_pod=1000 --set training_step.input.links=100", 0),
               Contains("is 100 of 100 Gbps of each of 4000 hosts, but the machine takes"));
}

TEST_CASE("ipu_pod: merge_up_to says what it merges nothing of and what types keep apart", "[ipu_pod]")
{
    const auto said = [](const char* second, const char* up_to) {
        return checked(step_of(fmt::format("compute: 1 ms, merge_up_to: {}, groups: [{{name: a, bytes: 1 MB, type: "
                                           "float16}}, {{name: b, bytes: 1 MB, type: {}}}, {{name: c, bytes: 1 MB, "
                                           "type: float16}}]",
                                           up_to, second)),
                       0);
    };
    CHECK_THAT(said("float16", "1 B"), Contains("merge_up_to") && Contains("merges nothing") && Contains("one type"));
    CHECK(said("float16", "2 MB").find("merge_up_to") == std::string::npos);
    // The first and the third are summed together.
    const std::string apart = said("float32", "64 MB");
    CHECK_THAT(apart, Contains("leaves 2 groups to sum; across types it would leave 1"));
    CHECK(apart.find("merges nothing") == std::string::npos);
    const nlohmann::json groups = run(step_of("compute: 1 ms, merge_up_to: 64 MB, groups: [{name: a, bytes: 1 MB, type: float16}, "
                                              "{name: b, bytes: 1 MB, type: float32}, {name: c, bytes: 1 MB, type: float16}]"))
                                      .at("groups");
    REQUIRE(groups.size() == 2);
    CHECK(groups[0].at("name") == "b");
    CHECK(groups[1].at("name") == "a+c");
}

TEST_CASE("ipu_pod: scale leaves out faults that smaller machines do not have and says so", "[ipu_pod]")
{
    const std::string step = step_of("compute: 1 ms, micro_batch: 20, groups: [{bytes: 1 MB, type: float16}]");
    const nlohmann::json plain = scale(step + " --to 16"),
                         broken = scale(step + " --to 16 --set 'faults.late=[{replica: 9, by: 50 us}, {replica: 1, by: 5 us}]' "
                                               "--set 'faults.links_down=[{ipu: 8, controller: 0B}]'");
    const auto& points = broken.at("points");
    REQUIRE(points.size() == 5);
    const std::vector<std::size_t> missing{3, 2, 2, 2, 0};
    for (std::size_t i = 0; i < points.size(); ++i) {
        INFO(points[i].dump());
        REQUIRE(!points[i].contains("problem"));
        CHECK((points[i].contains("left_out") ? points[i].at("left_out").size() : 0) == missing[i]);
    }
    CHECK(points[0].at("left_out")[1].at("key") == "faults.late.0");
    CHECK(points[3].at("left_out")[1].at("why") == "replica is 9, but there are replicas 0 to 7");
    const auto later_us = [&](std::size_t i) {
        return points[i].at("step_us").get<double>() - plain.at("points")[i].at("step_us").get<double>();
    };
    CHECK(later_us(0) == 0);
    CHECK(later_us(3) == Approx(5).epsilon(0.01)); // of replica 1, which it has
    CHECK(later_us(4) > 50);
    const program_folder folder;
    REQUIRE(folder.weft("scale " + step + " --to 16 --quiet --set 'faults.late=[{replica: 9, by: 50 us}]'") == 0);
    CHECK_THAT(text_of(folder.path() / "stdout"),
               Contains("left out") &&
                   Contains("Left out           faults.late.0 on 8 replicas: replica is 9, but there are replicas 0 to 7"));
    // Cables of a torus, gateways, and serpents are not on one IPU-Machine.
    CHECK(scale(step + " --to 16 --set pod.machines=1 --set pod.domains=4 --set "
                       "'faults.gw_links_down=[{domain: 2, slot: 0, side: east}]'")
              .at("points")[3]
              .at("left_out")[0]
              .at("key") == "faults.gw_links_down.0");
    CHECK(!scale(step + " --to 4 --set pod.topology=barley_twist --set gcl.ring_order=serpent").at("points")[2].contains("problem"));
}

TEST_CASE("ipu_pod: mistakes of faults and workload and buffers are told at once", "[ipu_pod]")
{
    const std::string said = checked(
        k_pod16.file() +
            " --set pod.domains=2 --set gcl.ring_order=serpent --set 'ipu_link.buffer_per_vl=512 B' "
            "--set 'faults.links_down=[{ipu: 99, controller: 1B}, {ipu: 2, controller: 1B}, {ipu: 2, controller: 1B}]' "
            "--set 'faults.gw_links_down=[{domain: 9, slot: 9}]' --set 'faults.sync_cut=[{ipu: 99}]'",
        2);
    for (const char* part : {"gcl.ring_order: is serpent", "ipu_link.buffer_per_vl: is 512 B", "links_down.0.ipu: is 99",
                             "links_down.2: names the link", "gw_links_down.0.domain: is 9", "gw_links_down.0.slot: is 9",
                             "sync_cut.0.ipu: is 99"})
        CHECK_THAT(said, Contains(part));
    const std::string both = checked(
        k_pod16.file() + " --set 'faults.links_down=[{ipu: 99, controller: 1B}]' --set 'ipu_link.buffer_per_vl=512 B' "
                         "--set 'workload=[{op: all_reduce, algorithms: [quad_directional], sizes: [3 B]}, "
                         "{op: all_gather, algorithms: [mesh_tree], sizes: [1 MiB]}]'",
        2);
    CHECK_THAT(both, Contains("links_down.0.ipu: is 99") && Contains("needs a Barley twist") &&
                         Contains("all_gather by mesh_tree cannot run"));
}

TEST_CASE("ipu_pod: samples go on from the gateway to the tiles and hosts have one 100 GbE a machine", "[ipu_pod]")
{
    const program_folder folder;
    folder.write("step.yaml", "platform: ipu_pod\nname: step\ndata: off\npod: {machines: 1}\ntraining_step:\n  compute: 1 ms\n  accumulation: 4\n  micro_batch: 8\n"
                              "  groups: [{bytes: 1 MiB, type: float16}]\n");
    const auto step_of = [&](const std::string& settings) {
        const int code = folder.weft("run step.yaml --quiet --out out " + settings);
        INFO(settings << folder.read("stderr"));
        REQUIRE(code == 0);
        return nlohmann::json::parse(folder.read("out/results.json")).at("training_step").at("steps")[0];
    };
    const double alone_us = step_of("").at("time_us");
    // 8 samples of 100 kB by a Host-Link of 27.2 GB/s: 29.4 us a micro batch, for which compute waits.
    const nlohmann::json fed = step_of("--set 'training_step.input={data: generated, sample: 100 kB}'");
    CHECK(fed.at("time_us").get<double>() - alone_us == Approx(4 * 8 * 100e3 / 27.2e3).epsilon(0.001));
    CHECK(fed.at("compute_us").get<double>() == Approx(4000 + 4 * 8 * 100e3 / 27.2e3).epsilon(0.001));
    // Hosts send 4 IPUs x 4 x 8 samples of 1 MB by 12.5 GB/s, however many links there are.
    CHECK(step_of("--set 'training_step.input={data: generated, sample: 1 MB, links: 8}'").at("time_us").get<double>() == Approx(128e6 / 12.5e3).epsilon(0.001));
    CHECK(has(folder.read("stderr"), "but the machine takes 100 Gbps from them"));
    // Beside I/O tiles both are hidden; the others compute, and update, longer.
    const nlohmann::json tiles = step_of("--set 'training_step.input={data: generated, sample: 100 kB}' --set 'training_step.streaming={bytes: 1 MB, io_tiles: 736}' "
                                         "--set 'training_step.optimiser={update: 100 us}'");
    CHECK(tiles.at("compute_us") == 8000.0);
    CHECK(tiles.at("update_us") == 200.0);
}

TEST_CASE("ipu_pod: an exchange of activations costs what a message costs", "[ipu_pod]")
{
    const program_folder folder;
    folder.write("step.yaml", "platform: ipu_pod\nname: step\ndata: off\npod: {machines: 1, replica_size: 2}\ntraining_step:\n  compute: 20 us\n  accumulation: 9\n"
                              "  micro_batch: 8\n  pipeline: {stages: 2, activations: 4 KiB}\n  groups: [{bytes: 64 KiB, type: float16}]\n");
    const auto compute_us = [&](const std::string& settings) {
        REQUIRE(folder.weft("run step.yaml --quiet --out out " + settings) == 0);
        return nlohmann::json::parse(folder.read("out/results.json")).at("training_step").at("steps")[0].at("compute_us").get<double>();
    };
    // Ten slots: half of the compute, and set-up, link with its congestion, sync there and back, 4 KiB by six links.
    const double each_us = 0.5 + 0.8 * 4 + 2 * 0.1 + 2 * 0.015 + 0.005 + 4096 / 81.6e3;
    CHECK(compute_us("") == Approx(10 * (10 + each_us)).epsilon(0.001));
    CHECK(compute_us("--set 'ipu_link.latency=10 us'") == Approx(10 * (10 + each_us + 4 * 9.2)).epsilon(0.001));
    CHECK(compute_us("--set gcl.exchange=syncless") == Approx(10 * (10 + each_us - 0.035)).epsilon(0.001));
}

TEST_CASE("ipu_pod: links on a board are no cables and those of a way are alike", "[ipu_pod]")
{
    const auto swapped = [](const char* entry, int code) {
        return checked(fmt::format("{} --set 'faults.swapped_cables=[{{{}}}]'", k_pod16.file(), entry), code);
    };
    CHECK_THAT(swapped("ipu: 0, controller: 2A, other_ipu: 2, other_controller: 2A", 2),
               Contains("names ipu0.2A, a link on the board of an IPU-Machine"));
    CHECK_THAT(swapped("ipu: 2, controller: 1B, other_ipu: 2, other_controller: 1C", 0),
               Contains("every cable leads where it should"));
    CHECK_THAT(swapped("ipu: 2, controller: 1B, other_ipu: 3, other_controller: 0B", 2),
               Contains("wire the ladder wrongly"));
}

TEST_CASE("ipu_pod: predictions know what is waited for before gateways and all links of a rung", "[ipu_pod]")
{
    const auto near = [](const std::string& entry, const std::string& more, double within) {
        const nlohmann::json r = k_pod16.exact("[" + entry + "]", k_no_data + more).at("results")[0];
        INFO(entry << " " << more << " " << r.dump());
        const double predicted = r.at("predicted_us").at(r.at("algorithm").get<std::string>());
        CHECK(predicted == Approx(r.at("time_us").get<double>()).epsilon(within));
    };
    for (const char* mode : {"hybrid", "syncful", "syncless"})
        for (const int domains : {2, 4, 16})
            for (const char* entry : {"{op: all_gather, algorithms: [auto], sizes: [4 KiB]}",
                                      "{op: all_reduce, algorithms: [auto], sizes: [8 KiB]}"})
                near(entry, fmt::format("--set pod.machines=1 --set pod.domains={} --set gcl.exchange={}", domains, mode), 0.15);
    near("{op: all_reduce, algorithms: [auto], sizes: [64 KiB]}", "--set pod.domains=8", 0.15);
    for (const char* entry : {"{op: all_gather, algorithms: [auto], sizes: [64 MiB]}",
                              "{op: all_reduce, algorithms: [auto], sizes: [64 MiB]}"})
        near(entry, "--set pod.machines=1 --set pod.partition=2", 0.1);
}

TEST_CASE("ipu_pod: a refused algorithm names those that run here", "[ipu_pod]")
{
    const auto said = [](const std::string& by) {
        const program_folder folder;
        folder.weft(fmt::format("check {} --set 'workload=[{{op: all_reduce, algorithms: [{}], sizes: [1 MiB]}}]'",
                                k_pod16.file(), by));
        return text_of(folder.path() / "stderr");
    };
    const std::string refusal = said("mesh_tree"), begin = "here it runs by ";
    INFO(refusal);
    const std::size_t at = refusal.find(begin);
    REQUIRE(at != std::string::npos);
    std::string list = refusal.substr(at + begin.size());
    list.resize(list.find('.'));
    list.replace(list.find(" or "), 4, ", ");
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(", "), list.size());
        const std::string name = list.substr(0, end);
        INFO(name);
        if (name.find(' ') == std::string::npos) // else with a setting
            CHECK(said(name).find("cannot run") == std::string::npos);
        list.erase(0, end + 2);
    }
}

TEST_CASE("ipu_pod: a sync between domains does not beat the way of a packet", "[ipu_pod]")
{
    const auto time = [](const char* mode) {
        return k_pod16.time_us("[{op: all_reduce, algorithms: [auto], sizes: [8 KiB]}]",
                               k_no_data + "--set pod.machines=1 --set pod.domains=2 --set gcl.exchange=" + mode);
    };
    CHECK(time("syncful") > time("hybrid")); // there and back in each exchange, against one notice
}

TEST_CASE("ipu_pod: explain tries links without congestion", "[ipu_pod]")
{
    const program_folder folder;
    REQUIRE(folder.weft(k_pod16.command("[{op: all_reduce, algorithms: [auto], sizes: [64 KiB]}]", k_no_data)) == 0);
    REQUIRE(folder.weft("explain out --quiet --jobs 1") == 0);
    CHECK_THAT(text_of(folder.path() / "stdout"),
               Contains("ipu_link.congestion=1") && Contains("what congestion of an exchange adds"));
}

TEST_CASE("ipu_pod: what overlaps though tiles cannot is said", "[ipu_pod]")
{
    const program_folder folder;
    REQUIRE(folder.weft("check " + step_of("compute: 1 ms, overlap: when_ready, groups: [{bytes: 10 MB, ready: 0.1}]")) == 0);
    CHECK_THAT(text_of(folder.path() / "stderr"), Contains("training_step.overlap") && Contains("compute or exchange, never both"));
    REQUIRE(folder.weft("check " + step_of("compute: 1 ms, groups: [{bytes: 10 MB}]")) == 0);
    CHECK(text_of(folder.path() / "stderr").find("overlap") == std::string::npos);
}

// 8 TB/s over 1472 tiles: 5.4 GB/s each, so that six have more than the 27.2 GB/s of a Host-Link.
TEST_CASE("ipu_pod: I/O tiles stream no faster than they exchange", "[ipu_pod]")
{
    const auto step_us = [](const char* tiles) {
        return time_us(step_of(fmt::format("compute: 1 ms, streaming: {{bytes: 96 MB, io_tiles: {}}}, groups: [{{bytes: 1 kB}}]", tiles)));
    };
    const double by_link = 96e6 / 27.2e9 * 1e6, by_tile = 96e6 / (8e12 / 1472) * 1e6;
    CHECK(step_us("6") == Approx(step_us("7")).epsilon(0.001));
    CHECK(step_us("1") - step_us("6") == Approx(by_tile - by_link).epsilon(0.01));
    const program_folder folder;
    REQUIRE(folder.weft("check " + step_of("compute: 1 ms, streaming: {bytes: 96 MB, io_tiles: 1, rate: 32 GB/s}, groups: [{bytes: 1 kB}]")) == 0);
    CHECK_THAT(text_of(folder.path() / "stderr"), Contains("training_step.streaming.rate") && Contains("1 I/O tile of 1472"));
}

TEST_CASE("ipu_pod: checks of receive buffers and late replicas and groups", "[ipu_pod]")
{
    const auto said = [](const std::string& more, int code) {
        const program_folder folder;
        INFO(more);
        CHECK(folder.weft(fmt::format("check {} {} {}", k_pod16.file(), k_no_data, more)) == code);
        return text_of(folder.path() / "stderr");
    };
    CHECK_THAT(said("--set 'ipu.dma.receive_buffer=4 KiB'", 0), Contains("ipu.dma.receive_buffer: is 4 KiB") && Contains("% of that rate"));
    CHECK_THAT(said("--set ipu_link.congestion=20", 0), Contains("ipu.dma.receive_buffer"));
    CHECK(said("", 0).find("receive_buffer") == std::string::npos);
    CHECK_THAT(said("--set 'faults.late=[{replica: 0, by: 10 ms}]' --set 'firmware_timeout=10 ms'", 0), Contains("the others give up"));
    CHECK_THAT(said("--set 'workload=[{op: all_reduce, algorithms: [clockwise], sizes: [4 KiB], groups: [0-2]}]'", 0),
               Contains("is clockwise") && Contains("a group has 3 ranks") && Contains("power of two"));
    said("--set 'workload=[{op: all_reduce, algorithms: [multi_axis], sizes: [4 KiB], groups: [0-2]}]'", 0);
    said("--set 'workload=[{op: all_reduce, algorithms: [clockwise], sizes: [4 KiB], groups: [0-3]}]'", 0);
}

TEST_CASE("ipu_pod: an all_gather over domains changes its method where that of an all_reduce does", "[ipu_pod]")
{
    const program_folder folder;
    REQUIRE(folder.weft(fmt::format("check {} --set data=off --set 'workload=[{{op: all_reduce, sizes: [400 MB]}}, {{op: all_gather, sizes: [400 MB]}}]'", shipped("eight_pod16.yaml"))) == 0);
    const std::string text = text_of(folder.path() / "stdout");
    const std::size_t gather = text.find("  all_gather      auto");
    REQUIRE(gather != std::string::npos);
    CHECK_THAT(text.substr(gather), Contains("int32 of 400 MB: bidirectional_pair"));
    REQUIRE(folder.weft(fmt::format("list --bounds {}", shipped("eight_pod16.yaml"))) == 0);
    CHECK_THAT(text_of(folder.path() / "stdout"), Contains("its all-gather by"));
}
