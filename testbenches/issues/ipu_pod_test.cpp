// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// IPU-Pods from their files: every method on every legal ring and size of replicas, three phases over gateways, the examples of the source, what `auto`
// takes, and what is said of wires and syncs that fail.
#include "platforms/ipu_pod/ipu_pod.h"
#include "platforms/workload/process_groups.h"
#include "testbenches/issues/exact_runs.h"
#include "testbenches/support/child.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

using namespace weft;
using weft::testing::exact_runs;
using weft::testing::program_folder;
using weft::testing::text_of;
using weft::testing::values_from_child;
using Catch::Contains;

namespace {

const exact_runs k_pod16("ipu_pod/pod16.yaml");

nlohmann::json exact(const std::string& workload, const std::string& more = "") { return k_pod16.exact(workload, more); }
double time_us(const std::string& workload, const std::string& more = "") { return k_pod16.time_us(workload, "--set data=off " + more); }

std::string three(const std::string& methods, const std::string& more)
{
    return fmt::format("[{{op: all_reduce, algorithms: [{0}], {1}}}, {{op: reduce_scatter, algorithms: [{0}], {1}}}, {{op: all_gather, algorithms: [{0}], {1}}}]", methods, more);
}

const char* const k_rings = "clockwise, anticlockwise, bidirectional_pair, meet_in_the_middle";
const char* const k_sizes = "sizes: [4 B, 60 B, 4100 B, 36 KiB]";

/// What fails is told, with these words.
std::string failed(const std::string& workload, const std::string& more, int code)
{
    const program_folder folder;
    const int got = folder.weft(k_pod16.command(workload, more + " --set 'firmware_timeout=200 us'"));
    const std::string said = text_of(folder.path() / "stderr");
    INFO(workload << " " << more << "\n" << said);
    CHECK(got == code);
    return said;
}

/// What replicas 0 and 1 have of `values` in the end.
std::vector<std::int32_t> two_replicas(abi::collective_op op, abi::algorithm by, const std::vector<std::vector<std::int32_t>>& values)
{
    struct host final : mailbox_listener {
        void on_done(std::uint32_t, std::uint32_t) override { ++answers; }
        unsigned answers = 0;
    };
    return values_from_child<std::int32_t>([&] {
        ipu_pod_config config;
        config.pod.machines = 1;
        ipu_pod_machine machine(config, ipu_pod_planned_routing(config), {});
        host done;
        const auto table_of = [&](std::uint32_t rank) -> const abi::platform_table& { return machine.chips()[rank]->table(); };
        const rank_list members{0, 1};
        const std::vector<abi::platform_table> tables = tables_of_group(members, table_of, 1);
        for (std::uint32_t r = 0; r < 2; ++r) {
            chip& c = *machine.chips()[r];
            c.connect_host(done);
            c.memory.write_bytes(0, values[r].data(), values[r].size() * 4);
            c.write_group(tables[r], members);
            abi::command command;
            command.sequence = 1;
            command.op = op;
            command.algo = by;
            command.redop = op == abi::collective_op::all_gather ? abi::reduce_op::none : abi::reduce_op::sum;
            command.count = 4;
            command.chunk_bytes = 4096;
            command.timeout_ns = 1'000'000;
            command.table = abi::k_group_table_address;
            command.scratch_offset = 65536;
            c.post(command);
        }
        sc_core::sc_start(100, sc_core::SC_US);
        std::vector<std::int32_t> both{static_cast<std::int32_t>(done.answers)};
        for (std::uint32_t r = 0; r < 2; ++r) {
            both.push_back(static_cast<std::int32_t>(machine.chips()[r]->response().code));
            std::int32_t got[4];
            machine.chips()[r]->memory.read_bytes(0, got, sizeof got);
            both.insert(both.end(), got, got + 4);
        }
        return both;
    });
}

} // namespace

TEST_CASE("ipu_pod: every method is exact on every legal ring and size of replicas of a Pod16", "[ipu_pod]")
{
    for (const char* machine : {"pod.topology=mesh", "pod.topology=torus"})
        for (const char* order : {"interleaved", "flat"})
            for (const int replica : {1, 2, 4, 8})
                exact(three(k_rings, k_sizes), fmt::format("--set {} --set gcl.ring_order={} --set pod.replica_size={}", machine, order, replica));
    exact(three(fmt::format("{}, quad_directional", k_rings), k_sizes), "--set pod.topology=barley_twist");
}

TEST_CASE("ipu_pod: every method is exact on a Pod64", "[ipu_pod]")
{
    const char* const sizes = "sizes: [4 B, 8196 B]";
    exact(three(k_rings, sizes), "--set pod.machines=16");
    exact(three(k_rings, sizes), "--set pod.machines=16 --set pod.topology=torus --set pod.replica_size=4");
    exact(three(k_rings, sizes), "--set pod.machines=16 --set pod.replica_size=16");
    exact(three("quad_directional, meet_in_the_middle", sizes), "--set pod.machines=16 --set pod.topology=barley_twist");
}

TEST_CASE("ipu_pod: three phases over gateways are exact on two to eight domains in every kind of exchange", "[ipu_pod]")
{
    for (const int domains : {2, 4, 8})
        for (const char* exchange : {"syncful", "hybrid", "syncless"})
            exact(three(k_rings, k_sizes), fmt::format("--set pod.machines=2 --set pod.domains={} --set gcl.exchange={}", domains, exchange));
    exact(three(k_rings, k_sizes), "--set pod.domains=2 --set pod.replica_size=2");
    exact(three(k_rings, k_sizes), "--set pod.domains=2 --set pod.replica_size=4 --set pod.topology=torus --set gcl.exchange=syncful");
    exact(three("quad_directional", k_sizes), "--set pod.domains=4 --set pod.topology=barley_twist");
    exact(three(k_rings, "sizes: [4 B, 4100 B]"), "--set pod.machines=1 --set pod.domains=4");
}

TEST_CASE("ipu_pod: types and operations and random floats and groups and repeats are exact", "[ipu_pod]")
{
    exact("[{op: all_reduce, algorithms: [clockwise, meet_in_the_middle, bidirectional_pair, replica_broadcast], types: [int32, float32, float16, bfloat16], "
          "redops: [sum, max, min], sizes: [4100 B]}]");
    exact("[{op: all_reduce, algorithms: [meet_in_the_middle, replica_broadcast], types: [float32, bfloat16], inputs: random, sizes: [12 B, 36 KiB]}]");
    exact(fmt::format("[{{op: all_reduce, algorithms: [{}], sizes: [4 B, 4100 B], groups: [blocks of 2]}}]", k_rings));
    for (const char* groups : {"columns", "rows", "\"0-4\", \"5,9,14,7\"", "\"3,2,1,0\""})
        exact(fmt::format("[{{op: all_reduce, algorithms: [{}], sizes: [4 B, 4100 B], groups: [{}]}}]", k_rings, groups));
    exact(three(k_rings, "sizes: [20 KiB], repeats: 3"), "--set cases=continuous --seed 7");
    exact("[{op: all_to_all, sizes: [4 KiB]}, {op: broadcast, sizes: [4 KiB], root: 3}, {op: all_reduce, algorithms: [ring_1d, two_d, multi_axis], sizes: [4 KiB]}]");
}

TEST_CASE("ipu_pod: the examples of the source with two replicas", "[ipu_pod]")
{
    const std::vector<std::vector<std::int32_t>> start{{1, 2, 3, 4}, {10, 20, 30, 40}};
    for (const abi::algorithm by : {abi::algorithm::clockwise, abi::algorithm::anticlockwise, abi::algorithm::bidirectional_pair, abi::algorithm::meet_in_the_middle}) {
        CHECK(two_replicas(abi::collective_op::all_reduce, by, start) == std::vector<std::int32_t>{2, 0, 11, 22, 33, 44, 0, 11, 22, 33, 44});
        const std::vector<std::int32_t> scattered = two_replicas(abi::collective_op::reduce_scatter, by, start);
        REQUIRE(scattered.size() == 11);
        CHECK(scattered[1] + scattered[6] == 0);
        CHECK(std::vector<std::int32_t>{scattered[2], scattered[3]} == std::vector<std::int32_t>{11, 22});  // replica 0
        CHECK(std::vector<std::int32_t>{scattered[9], scattered[10]} == std::vector<std::int32_t>{33, 44}); // replica 1
        CHECK(two_replicas(abi::collective_op::all_gather, by, {{11, 22, 0, 0}, {0, 0, 33, 44}}) ==
              std::vector<std::int32_t>{2, 0, 11, 22, 33, 44, 0, 11, 22, 33, 44});
    }
}

TEST_CASE("ipu_pod: nothing is faster than the links and large rings come near them", "[ipu_pod]")
{
    // Per direction along the ladder 27.2e3 B/us. Bytes that a link must carry of P in one phase: all of it but a fragment, by rings that share it.
    struct one {
        const char* by;
        const char* machine;
        double share; ///< of P by the busiest link in a phase
        double steps; ///< of a phase
    };
    const double bytes = 16 << 20, rate = 27.2e3;
    for (const one& o : {one{"clockwise", "", 15.0 / 16, 15}, {"bidirectional_pair", "", 15.0 / 32, 15}, {"meet_in_the_middle", "", 8.0 / 16, 9},
                         {"quad_directional", "--set pod.topology=barley_twist", 15.0 / 64, 15}}) {
        INFO(o.by);
        const double bound_us = 2 * o.share * bytes / rate;
        const double us = time_us(fmt::format("[{{op: all_reduce, algorithms: [{}], sizes: [16 MiB]}}]", o.by), o.machine);
        CHECK(us >= bound_us);
        CHECK(us <= 1.01 * (bound_us + 2 * o.steps * 4.8)); // sync, set-up, congested latency and packets of a step
    }
}

TEST_CASE("ipu_pod: long messages keep all links of a way busy", "[ipu_pod]")
{
    // Half of the data goes each way; more pieces than a ring of descriptors holds.
    for (const auto& [pair, rate] : {std::pair{"0,2", 27.2e3}, {"0,1", 81.6e3}}) {
        const double us = time_us(fmt::format("[{{op: all_gather, algorithms: [clockwise], sizes: [256 MB], groups: [\"{}\"]}}]", pair));
        CHECK(us >= 128e6 / rate);
        CHECK(us <= 128e6 / rate / 0.98);
    }
    // Replicas of four IPUs on a torus: places of one column have exchanges of their own, and the links stay busy.
    const double us = time_us("[{op: reduce_scatter, algorithms: [clockwise], sizes: [8 MiB]}]", "--set pod.machines=16 --set pod.topology=torus --set pod.replica_size=4");
    CHECK(us <= 15 * (2 * 2 * 524'288 / 27.2e3 + 2 * 4) * 1.1); // 15 steps of two exchanges over two links each, half a MiB a fragment
}

TEST_CASE("ipu_pod: a ring on a line beats the direct ring without loop-back cables and gains nothing with them", "[ipu_pod]")
{
    const auto time = [](const char* order, const char* topology) {
        return time_us("[{op: all_reduce, algorithms: [clockwise], sizes: [4 MiB]}]",
                       fmt::format("--set pod.machines=16 --set pod.replica_size=2 --set gcl.ring_order={} --set pod.topology={}", order, topology));
    };
    CHECK(time("interleaved", "mesh") < 0.7 * time("flat", "mesh"));
    CHECK(time("flat", "torus") < time("interleaved", "torus"));
}

TEST_CASE("ipu_pod: auto takes the published method for every size", "[ipu_pod]")
{
    const auto chosen = [](const std::string& entry, const std::string& more) {
        std::vector<std::string> all;
        const nlohmann::json results = exact("[" + entry + "]", "--set data=off " + more);
        for (const auto& r : results.at("results"))
            all.push_back(r.at("algorithm"));
        return all;
    };
    const std::string reduce = "{op: reduce_scatter, algorithms: [auto], sizes: [1 MiB, 39845888 B]}";
    CHECK(chosen(reduce, "") == std::vector<std::string>{"meet_in_the_middle", "bidirectional_pair"});
    CHECK(chosen(reduce, "--set pod.machines=8") == std::vector<std::string>{"meet_in_the_middle", "meet_in_the_middle"});
    CHECK(chosen(reduce, "--set pod.replica_size=2") == std::vector<std::string>{"clockwise", "clockwise"});
    CHECK(chosen("{op: all_reduce, algorithms: [auto], sizes: [128 B, 132 B]}", "") == std::vector<std::string>{"replica_broadcast", "meet_in_the_middle"});
    CHECK(chosen("{op: all_gather, algorithms: [auto], sizes: [3145712 B, 3145728 B]}", "--set pod.topology=barley_twist") ==
          std::vector<std::string>{"meet_in_the_middle", "quad_directional"});
}

TEST_CASE("ipu_pod: what fails in a run is named and the run ends", "[ipu_pod]")
{
    const std::string reduce = "[{op: all_reduce, algorithms: [meet_in_the_middle], sizes: [64 KiB]}]";
    CHECK_THAT(failed(reduce, "--set 'faults.sync_cut=[{ipu: 5, at: 8 us}]'", 1),
               Contains("sync zone of ranks 0 to 15, sync 3 since it began: 15 of 16 have arrived") &&
                   Contains("rank 5 has, but its sync wire is cut") &&
                   Contains("in step 2 of meet_in_the_middle, waiting for the others of its sync zone"));
    CHECK_THAT(failed(reduce, "--set 'faults.links_down=[{ipu: 2, controller: 1B, at: 12 us}]'", 1),
               Contains("ipu2.1B"));
    CHECK_THAT(failed(reduce,
                      "--set pod.domains=2 --set 'faults.gw_links_down=[{domain: 0, slot: 1, side: east, at: 25 us}]'",
                      1),
               Contains("d0.gw1"));
    for (const char* exchange : {"hybrid", "syncful", "syncless"}) {
        const std::string down = failed(reduce, std::string("--set pod.domains=2 --set gcl.exchange=") + exchange + " --set 'faults.machines_down=[{domain: 1, slot: 2, at: 12 us}]'", 1);
        CHECK_THAT(down, Contains("d1 machine 2 went down at 12 us"));
        CHECK_THAT(down, Contains("sync zone") || Contains("down"));
    }
}

TEST_CASE("ipu_pod: what wiring shows is found before time zero", "[ipu_pod]")
{
    const std::string reduce = "[{op: all_reduce, algorithms: [clockwise], sizes: [4 KiB]}]";
    CHECK_THAT(
        failed(reduce, "--set 'faults.swapped_cables=[{ipu: 2, controller: 1B, other_ipu: 3, other_controller: 0B}]'",
               2),
        Contains("faults.swapped_cables: wire the ladder wrongly: ipu2.1B leads to ipu5.0B, but must lead to ipu4.1B"));
    const std::string two = "--set pod.machines=2 --set pod.domains=2 ";
    const std::string gateways = "--set 'faults.swapped_gw_cables=[{domain: 0, slot: 0, side: east, other_domain: 0, other_slot: 1, other_side: east}]' ";
    const std::string syncs = "--set 'faults.swapped_sync_cables=[{slot: 0, end: up, other_domain: 1, other_slot: 0, other_end: up}]' ";
    CHECK_THAT(failed(reduce, two + gateways, 2),
               Contains("faults.swapped_gw_cables: wire the gateways wrongly: d0.gw0.east leads to switch1.d0.east, but must lead to switch0.d0.east"));
    CHECK_THAT(failed(reduce, two + syncs, 2),
               Contains("faults.swapped_sync_cables: wire the Sync-Links wrongly: d0 machine 0.up leads to d1 machine 1.down, but must lead to d0 machine 1.down"));
    CHECK_THAT(failed(reduce, two + gateways + syncs, 2), Contains("wire the gateways") && Contains("wire the Sync-Links"));
    CHECK_THAT(failed(reduce, gateways, 2), Contains("names GW-Links, but pod.domains is 1"));
    CHECK_THAT(failed(reduce, "--set 'faults.swapped_sync_cables=[{slot: 0, end: down, other_slot: 9, other_end: up}]'", 2),
               Contains("other_slot: is 9, but there are slots 0 to 3"));
    CHECK_THAT(failed(reduce, "--set 'faults.swapped_sync_cables=[{slot: 0, end: down, other_slot: 1, other_end: up}]'", 2),
               Contains("names machine 0.down, which has no Sync-Link cable"));
    CHECK_THAT(failed(reduce,
                      "--set 'faults.swapped_cables=[{ipu: 0, controller: 1B, other_ipu: 3, other_controller: 0B}]'",
                      2),
               Contains("ipu0.1B, which has no cable"));
    CHECK_THAT(failed(reduce, "--set 'faults.links_down=[{ipu: 2, controller: 1B}, {ipu: 2, controller: 1C}]'", 2),
               Contains("no IPU-Link works from ipu2 up to ipu4"));
    CHECK_THAT(
        failed(
            reduce,
            "--set pod.domains=2 --set 'faults.gw_links_down=[{domain: 1, slot: 0, side: west}, {domain: 1, slot: 0, side: east}]'",
            2),
        Contains("GW-Links that are down close both ways round from d1.gw0 to d0.gw0"));
    CHECK_THAT(failed(reduce, "--set pod.machines=3", 2), Contains("power of two"));
    CHECK_THAT(failed(reduce, "--set pod.replica_size=16", 2), Contains("leaves one replica"));
    CHECK_THAT(failed(reduce, "--set pod.topology=barley_twist --set pod.replica_size=2", 2), Contains("replicas with one IPU only"));
    CHECK_THAT(failed("[{op: all_reduce, algorithms: [quad_directional], sizes: [4 KiB]}]", "", 2), Contains("needs a Barley twist"));
    CHECK_THAT(failed("[{op: all_reduce, algorithms: [clockwise], sizes: [4 KiB], groups: [rows]}]", "--set pod.replica_size=2", 2), Contains("makes groups of its own"));
    // One link of two: the other one carries both halves.
    const double whole = time_us("[{op: all_reduce, algorithms: [clockwise], sizes: [16 MiB]}]");
    const double half = time_us("[{op: all_reduce, algorithms: [clockwise], sizes: [16 MiB]}]", "--set 'faults.links_down=[{ipu: 2, controller: 1B}]'");
    CHECK(half == Approx(2 * whole).epsilon(0.08)); // but for what a step costs besides its bytes
}

TEST_CASE("ipu_pod: an all-reduce whose phases the library chooses apart takes both methods", "[ipu_pod]")
{
    // Eight IPUs: the pair reduces from 4,980,736 B on, shards gather by it from 2,490,368 B on, which are eight times as many.
    const auto run = [](const std::string& by, const std::string& size, const std::string& more) {
        return exact(fmt::format("[{{op: all_reduce, algorithms: [{}], sizes: [{}]}}]", by, size),
                     "--set pod.machines=2 " + more)
            .at("results")[0];
    };
    const nlohmann::json both = run("auto", "8 MB", ""), pair = run("bidirectional_pair", "8 MB", ""),
                         meet = run("meet_in_the_middle", "8 MB", "");
    CHECK(both.at("algorithm") == "bidirectional_pair");
    CHECK_THAT(both.dump(), Contains("all-gather by meet_in_the_middle"));
    CHECK(both.at("steps") == 7 + 5); // of each phase: N - 1, and 1 + N/2
    CHECK(pair.at("steps") == 14);
    CHECK(meet.at("steps") == 10);
    CHECK(both.at("time_us") != pair.at("time_us"));
    CHECK(run("auto", "20 MB", "").at("steps") == 14); // both by the pair
    CHECK(run("auto", "8 MB", "--set ipu.core.model=rv64 --set ipu.core.cpi=1").at("steps") == 12);
}

TEST_CASE("ipu_pod: a file that names no algorithm gets the choice of the library", "[ipu_pod]")
{
    const auto algorithm = [](const std::string& entry, const std::string& more) -> std::string {
        return exact("[" + entry + "]", "--set data=off " + more).at("results")[0].at("algorithm");
    };
    CHECK(algorithm("{op: all_reduce, sizes: [1 MiB]}", "") == "meet_in_the_middle");
    CHECK(algorithm("{op: all_reduce, sizes: [1 MiB]}", "--set pod.domains=2 --set pod.replica_size=2") == "clockwise");
    CHECK(algorithm("{op: all_to_all, sizes: [4 KiB]}", "") == "direct");
    const program_folder folder;
    REQUIRE(
        folder.weft(fmt::format(
            "run {} --out out --set 'training_step={{compute: 1 ms, groups: [{{bytes: 1 MiB}}]}}' --set workload=[] --set data=off",
            k_pod16.file())) == 0);
    CHECK_THAT(text_of(folder.path() / "stdout"), Contains("training_step by auto"));
}

TEST_CASE("ipu_pod: a GW-Link that is down is gone around and costs what the other way carries", "[ipu_pod]")
{
    const std::string reduce = "[{op: all_reduce, algorithms: [bidirectional_pair], sizes: [8 MiB]}]",
                      four = "--set pod.machines=1 --set pod.domains=4 ";
    const nlohmann::json whole = exact(reduce, four).at("results")[0];
    const nlohmann::json around =
        exact(reduce, four + "--set 'faults.gw_links_down=[{domain: 1, slot: 0, side: east}]'").at("results")[0];
    CHECK(around.at("time_us").get<double>() > 1.3 * whole.at("time_us").get<double>());
    CHECK(around.at("time_us").get<double>() < 6 * whole.at("time_us").get<double>());
}

TEST_CASE("ipu_pod: a late replica holds up all by as much and one that is too late is named", "[ipu_pod]")
{
    const std::string reduce = "[{op: all_reduce, algorithms: [clockwise], sizes: [4 KiB]}]";
    const double prompt = time_us(reduce), late = time_us(reduce, "--set 'faults.late=[{replica: 3, by: 40 us}]'");
    CHECK(late == Approx(prompt + 40).margin(1));
    CHECK(time_us(reduce, "--set pod.replica_size=2 --set 'faults.late=[{replica: 7, by: 40 us}]'") ==
          Approx(time_us(reduce, "--set pod.replica_size=2") + 40).margin(1));
    const std::string said = failed(reduce, "--set 'faults.late=[{replica: 3, by: 900 us}]'", 1);
    CHECK_THAT(said, Contains("not shorter than firmware_timeout = 200 us") && Contains("in step 0 of clockwise"));
}

TEST_CASE("ipu_pod: nothing beats the cuts of the machine and its bound names the narrowest", "[ipu_pod]")
{
    const auto bound = [](const std::string& more) {
        const nlohmann::json r =
            exact("[{op: all_reduce, algorithms: [bidirectional_pair], sizes: [16 MiB]}]", more).at("results")[0];
        INFO(more << " " << r.dump());
        CHECK(r.at("bound_us").get<double>() <= r.at("time_us").get<double>());
        return std::pair{r.at("bound_us").get<double>(), r.at("bound_by").get<std::string>()};
    };
    const double bytes = 16 << 20;
    // One machine of each domain: everything has to come in by two GW-Links.
    const auto [gateways_us, gateways] = bound("--set pod.machines=1 --set pod.domains=2");
    CHECK(gateways == "GW-Links of d0");
    CHECK(gateways_us == Approx(bytes / (0.926 * 25e3)));
    CHECK(
        bound(
            "--set pod.machines=1 --set pod.domains=2 --set 'faults.gw_links_down=[{domain: 1, slot: 0, side: west}]'")
            .first == Approx(bytes / (0.926 * 12.5e3)));
    // Replicas of two IPUs: both groups at once cross a ladder of four links.
    const auto [ladder_us, ladder] = bound("--set pod.replica_size=2");
    CHECK_THAT(ladder, Catch::StartsWith("links around ipu0 to ipu"));
    CHECK(ladder_us == Approx(2 * bytes / 54.4e3));
    CHECK(bound("--set 'faults.links_down=[{ipu: 2, controller: 1B}]'").first == Approx(bytes / 40.8e3));
}

TEST_CASE("ipu_pod: predictions of rings in lock-step come near the simulation", "[ipu_pod]")
{
    const program_folder folder;
    for (const char* machine : {"", "--set pod.machines=16 --set pod.topology=torus", "--set pod.replica_size=2",
                                "--set pod.domains=2", "--set pod.topology=barley_twist"})
        for (const char* size : {"4 KiB", "1 MiB", "16 MiB"}) {
            const nlohmann::json r = exact(fmt::format("[{{op: all_reduce, algorithms: [auto], sizes: [{}]}}]", size),
                                           fmt::format("--set data=off {}", machine))
                                         .at("results")[0];
            INFO(machine << " " << r.dump());
            REQUIRE(r.at("predicted_us").size() > 2);
            const double predicted = r.at("predicted_us").at(r.at("algorithm").get<std::string>());
            CHECK(predicted == Approx(r.at("time_us").get<double>()).epsilon(0.2));
        }
}

TEST_CASE("ipu_pod: the schedule of rings is printed and every rank is sent what it waits for", "[ipu_pod]")
{
    const program_folder folder;
    const auto schedule = [&](const std::string& workload, const std::string& more) {
        REQUIRE(folder.weft("check " + k_pod16.file() + " --schedule --set 'workload=" + workload + "' " + more) == 0);
        return text_of(folder.path() / "stdout");
    };
    const std::string text = schedule("[{op: all_reduce, algorithms: [meet_in_the_middle], sizes: [4 KiB]}]", "");
    CHECK_THAT(text, Contains("every rank is sent exactly the messages that it waits for"));
    CHECK_THAT(text, Contains("rank 0 at (0,0): 18 steps") && Contains("channel 0  reduce-scatter, clockwise of 16") &&
                         Contains("channel 1  all-gather, anticlockwise of 16"));
    CHECK_THAT(
        text,
        Contains(
            "step   0  to rank 2    elements 960 to 1023: 256 B, 2 messages")); // N/2 = 8 positions ahead of rank 0 on 0 2 4 .. 14 15 .. 1
    for (const char* more :
         {"--set pod.domains=2 --set pod.machines=2", "--set pod.replica_size=2", "--set pod.topology=barley_twist"})
        CHECK_THAT(schedule(three(k_rings, "sizes: [36 KiB]"), more),
                   Contains("every rank is sent exactly the messages that it waits for"));
}

TEST_CASE("ipu_pod: a step with shards and pipelines and Streaming Memory takes what its law says", "[ipu_pod]")
{
    const program_folder folder;
    const auto step = [&](const char* file, const std::string& more) {
        const std::string path = (std::filesystem::path(WEFT_SOURCE_DIR) / "configs" / "ipu_pod" / file).string();
        INFO(path << " " << more);
        REQUIRE(folder.weft(fmt::format("run {} --out out {}", path, more)) == 0);
        const nlohmann::json s = nlohmann::json::parse(text_of(folder.path() / "out" / "results.json"))
                                     .at("training_step")
                                     .at("steps")
                                     .at(0);
        CHECK(s.at("samples_per_second").get<double>() <= s.at("law_samples_per_second").get<double>() * (1 + 1e-9));
        if (s.at("input_us").get<double>() == 0)
            CHECK(s.at("samples_per_second").get<double>() ==
                  Approx(s.at("law_samples_per_second").get<double>()).epsilon(1e-9));
        return s;
    };
    // Shards: the update of a sixteenth; two collectives take what the all-reduce does.
    const nlohmann::json sharded = step("sharded_pod16.yaml", ""),
                         copies = step("sharded_pod16.yaml", "--set training_step.optimiser.sharded=false");
    CHECK(sharded.at("update_us").get<double>() == Approx(3000.0 / 16));
    CHECK(copies.at("update_us").get<double>() == 3000);
    CHECK(sharded.at("groups").size() == 2);
    CHECK(sharded.at("groups")[1].at("name") == "weights of weights");
    CHECK(sharded.at("communication_us").get<double>() ==
          Approx(copies.at("communication_us").get<double>()).epsilon(0.1));
    CHECK(sharded.at("exposed_us").get<double>() == Approx(sharded.at("communication_us").get<double>()).epsilon(1e-6));
    // A pipeline: GA + S - 1 slots of half of the compute and an exchange of activations.
    const nlohmann::json pipeline = step("pipeline_pod16.yaml", "");
    CHECK(pipeline.at("compute_us").get<double>() == Approx(17 * (5000 + 4e6 / 81.6e3 + 3.935)).epsilon(1e-6));
    CHECK(pipeline.at("samples") == 8 * 16 * 20);
    CHECK_THAT(text_of(folder.path() / "stdout"), Contains("16 micro batches in 17 slots of a pipeline of 2 stages"));
    // Streaming Memory: beside compute on fewer tiles, or compute waits.
    CHECK(step("streaming_pod16.yaml", "").at("compute_us").get<double>() ==
          Approx(10 * 10270.0 * 1472 / 1408).epsilon(1e-6));
    CHECK(step("streaming_pod16.yaml", "--set training_step.streaming.io_tiles=0").at("compute_us").get<double>() ==
          Approx(10 * (10270 + 96e6 / 27.2e3 + 0.4)).epsilon(1e-6));
    CHECK(step("streaming_pod16.yaml", "--set 'training_step.streaming.bytes=640 MB'").at("compute_us").get<double>() ==
          Approx(10 * (640e6 / 27.2e3 + 0.4)).epsilon(1e-6));
    // Hosts: 18,000 samples a second of two instances; generated ones come as fast as the link, synthetic ones cost nothing.
    CHECK(step("host_input_pod16.yaml", "").at("samples_per_second").get<double>() == Approx(18'000).epsilon(1e-3));
    CHECK(step("host_input_pod16.yaml",
               "--set training_step.input.data=generated --set training_step.input.link_rate=10Gbps")
              .at("samples_per_second")
              .get<double>() == Approx(10e9 / 8 / 150e3).epsilon(1e-3));
    CHECK(step("host_input_pod16.yaml", "--set training_step.input.data=synthetic").at("input_us").get<double>() == 0);
    // What cannot be.
    const auto refused = [&](const char* file, const std::string& more) {
        const std::string path = (std::filesystem::path(WEFT_SOURCE_DIR) / "configs" / file).string();
        CHECK(folder.weft(fmt::format("check {} {}", path, more)) == 2);
        return text_of(folder.path() / "stderr");
    };
    CHECK_THAT(refused("ipu_pod/pipeline_pod16.yaml", "--set pod.replica_size=1"),
               Contains("training_step.pipeline.stages: is 2, but a replica has one of the IPUs here"));
    CHECK_THAT(refused("ipu_pod/pipeline_pod16.yaml", "--set pod.replica_size=4"), Contains("each of them is a stage"));
    CHECK_THAT(refused("ipu_pod/pipeline_pod16.yaml", "--set training_step.pipeline.largest_stage=0.4"),
               Contains("the longest has 1/2 of the compute at least"));
    CHECK_THAT(refused("ipu_pod/pipeline_pod16.yaml", "--set 'training_step.exchanges=[{bytes: 1 KiB}]'"),
               Contains("stand beside pipeline"));
    CHECK_THAT(refused("ipu_pod/streaming_pod16.yaml", "--set training_step.streaming.io_tiles=1472"),
               Contains("some have to compute"));
    CHECK_THAT(refused("ipu_pod/sharded_pod16.yaml", "--set training_step.algorithm=two_d"),
               Contains("reduce_scatter by two_d cannot run"));
}

TEST_CASE("ipu_pod: what merge_up_to holds back is said", "[ipu_pod]")
{
    const program_folder folder;
    const std::string step =
        (std::filesystem::path(WEFT_SOURCE_DIR) / "configs" / "ipu_pod" / "resnet50_pod16.yaml").string();
    REQUIRE(folder.weft(fmt::format(
                "check {} --set training_step.overlap=when_ready --set training_step.groups.0.ready=0.5", step)) == 0);
    CHECK_THAT(text_of(folder.path() / "stderr"), Contains("merge_up_to") && Contains("holds \"convolutions\" back"));
    REQUIRE(folder.weft(fmt::format("check {} --set training_step.overlap=when_ready", step)) == 0);
    CHECK(text_of(folder.path() / "stderr").find("holds") == std::string::npos);
}

TEST_CASE("ipu_pod: scale tells of its steps in a pipe and keeps what has ended when it is interrupted", "[ipu_pod]")
{
    const program_folder folder;
    const std::string step =
        (std::filesystem::path(WEFT_SOURCE_DIR) / "configs" / "ipu_pod" / "sharded_pod16.yaml").string();
    REQUIRE(folder.weft(fmt::format("scale {} --to 4 --jobs 1", step)) == 0);
    CHECK_THAT(text_of(folder.path() / "stderr"),
               Contains("4 replicas: ") && Contains("1 replica: ") && Contains(" us a step"));
    CHECK_THAT(text_of(folder.path() / "stdout"), Contains("update(us)"));
    REQUIRE(folder.weft(fmt::format("scale {} --to 2 --quiet", step)) == 0);
    CHECK(text_of(folder.path() / "stderr").empty());
}

TEST_CASE("ipu_pod: native and rv64 cores give the same answers in nearly the same time", "[ipu_pod]")
{
    const std::string workload = three(k_rings, "sizes: [4 B, 20 KiB]");
    const nlohmann::json native = exact(workload, "--set ipu.core.cpi=1"), rv64 = exact(workload, "--set ipu.core.cpi=1 --set ipu.core.model=rv64");
    REQUIRE(native.at("results").size() == rv64.at("results").size());
    for (std::size_t i = 0; i < native.at("results").size(); ++i) {
        INFO(native.at("results")[i].dump());
        CHECK(rv64.at("results")[i].at("time_us").get<double>() == Approx(native.at("results")[i].at("time_us").get<double>()).epsilon(0.1));
    }
}

TEST_CASE("ipu_pod: a training step prints the law beside the throughput and scale follows it from one replica on", "[ipu_pod]")
{
    const std::string step = (std::filesystem::path(WEFT_SOURCE_DIR) / "configs" / "ipu_pod" / "resnet50_pod16.yaml").string();
    const program_folder folder;
    REQUIRE(folder.weft(fmt::format("run {} --out out", step)) == 0);
    CHECK_THAT(text_of(folder.path() / "stdout"), Contains("samples/s; by the law R MBS GA / (GA T_MB + T_AR)"));
    const nlohmann::json results = nlohmann::json::parse(text_of(folder.path() / "out" / "results.json"));
    const nlohmann::json& first = results.at("training_step").at("steps").at(0);
    CHECK(first.at("samples") == 16 * 20 * 10);
    CHECK(first.at("samples_per_second").get<double>() == Approx(first.at("law_samples_per_second").get<double>()).epsilon(1e-6));
    CHECK(first.at("links_samples_per_second").get<double>() > first.at("samples_per_second").get<double>());

    const std::string hosts = "--set 'training_step.input={data: real, sample: 110 kB, samples_per_second: 4000, instances: 8, links: 4}'";
    REQUIRE(folder.weft(fmt::format("scale {} --to 128 --json - {}", step, hosts)) == 0);
    const nlohmann::json scaled = nlohmann::json::parse(text_of(folder.path() / "stdout"));
    REQUIRE(scaled.at("points").size() == 8);
    const auto part = [&](std::size_t i, const char* name) { return scaled.at("points")[i].at("parts_us").at(name).get<double>(); };
    CHECK(part(0, "all-reduce inside") < 100); // nobody to meet: planning alone
    CHECK(part(4, "compute") == Approx(part(0, "compute")));
    CHECK(part(4, "host") == Approx(16 * part(0, "host")));
    CHECK(part(6, "over gateways") == 0);
    CHECK(part(7, "over gateways") > 0);
    CHECK(part(4, "all-reduce inside") > 2 * part(1, "all-reduce inside") * 0.5);
    // 32,000 samples a second of eight instances.
    CHECK(scaled.at("points")[7].at("samples_per_second").get<double>() == Approx(32'000).epsilon(0.01));
    CHECK_THAT(scaled.at("findings").dump(), Contains("host: no more than 32000.0 samples/s"));
    CHECK(folder.weft(fmt::format("scale {} --to 4", k_pod16.file())) == 2);
    CHECK_THAT(text_of(folder.path() / "stderr"), Contains("training_step is missing"));
}
