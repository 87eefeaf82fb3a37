// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives by the collective communication units of UB-Mesh, from files: answers, bytes at the memories, what units change that nobody uses, failures.
#include "testbenches/issues/exact_runs.h"
#include "testbenches/support/child.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <string>

using weft::testing::exact_runs;
using weft::testing::program_folder;
using weft::testing::stat_of;
using weft::testing::text_of;
using Catch::Contains;

namespace {

const exact_runs k_board("ub_mesh/board_ccu.yaml");
const exact_runs k_rack("ub_mesh/rack.yaml", "--set ub.paths=shortest");
const exact_runs k_pod("ub_mesh/pod.yaml");

/// All collectives of the CCUs, with `more` of each.
std::string every_one(const std::string& more)
{
    return fmt::format(
        "[{{op: all_reduce, algorithms: [ccu, ccu_axes], {0}}}, {{op: reduce_scatter, algorithms: [ccu, ccu_axes], {0}}}, "
        "{{op: all_gather, algorithms: [ccu, ccu_axes], {0}}}, {{op: broadcast, algorithms: [ccu, ccu_axes], {0}}}, "
        "{{op: reduce, algorithms: [ccu, ccu_axes], root: 1, {0}}}, {{op: all_to_all, algorithms: [ccu, ccu_axes], {0}}}]",
        more);
}
std::string one_shot(const std::string& more) { return fmt::format("[{{op: all_reduce, algorithms: [ccu_one_shot], {}}}]", more); }

} // namespace

TEST_CASE("ccu: every collective is exact on boards of 2 to 8 NPUs with sizes that fill nothing")
{
    for (const char* npus : {"2", "3", "5", "7", "8"}) {
        const std::string shape = fmt::format("--set mesh.npus={}", npus);
        k_board.exact(every_one("sizes: [4 B, 20 B, 4100 B, 36868 B, 1 MiB]"), shape);
        k_board.exact(one_shot("sizes: [4 B, 52 B, 16 KiB]"), shape);
    }
}

TEST_CASE("ccu: every type and reduction is exact on a board")
{
    const std::string in_memory = "sizes: [12 KiB, 4099 B], types: [int32, float32, float16, bfloat16, int8, uint8, int16], redops: [sum, max, min]";
    const std::string by_units = "sizes: [12 KiB, 4099 B, 7 B], types: [float8_e4m3, float8_e5m2, hifloat8]";
    for (const std::string& more : {in_memory, by_units})
        k_board.exact(fmt::format("[{{op: all_reduce, algorithms: [ccu, ccu_one_shot, ccu_axes], {0}}}, {{op: reduce_scatter, algorithms: [ccu, ccu_axes], {0}}}, "
                                  "{{op: reduce, algorithms: [ccu, ccu_axes{1}], root: 3, {0}}}]",
                                  more, more == in_memory ? ", mesh_tree, multi_axis" : ""));
    k_board.exact(fmt::format("[{{op: all_gather, algorithms: [ccu, ccu_axes, multi_axis], {0}}}, {{op: broadcast, algorithms: [ccu, mesh_tree], {0}}}, "
                              "{{op: all_to_all, algorithms: [ccu, ccu_axes, direct], {0}}}, {{op: all_reduce, algorithms: [auto], {0}}}]",
                              by_units));
    // A unit keeps the programs of all of them side by side.
    k_board.exact("[{op: all_reduce, algorithms: [ccu], sizes: [4100 B], types: [int32, float8_e5m2, float32, hifloat8, float16, int8, uint8, bfloat16, int16, float8_e4m3]}, "
                  "{op: all_reduce, algorithms: [ccu], sizes: [4100 B], types: [int32, float32, int8], redops: [sum, max, min]}]");
    k_board.exact("[{op: all_reduce, algorithms: [ccu, ccu_one_shot, ccu_axes], sizes: [4099 B], types: [float8_e4m3, float8_e5m2, hifloat8, bfloat16], inputs: random}]");
}

TEST_CASE("ccu: collectives are exact on racks with chains of more than 8 NPUs and over pieces")
{
    for (const char* shape : {"--set mesh.boards=3 --set mesh.npus=5", "--set mesh.boards=2 --set mesh.npus=8", "--set mesh.boards=4 --set mesh.npus=4"})
        k_rack.exact(every_one("sizes: [8 B, 4100 B, 100004 B]"), shape);
    k_rack.exact(one_shot("sizes: [4 B, 4100 B]"), "--set mesh.boards=3 --set mesh.npus=3");
}

TEST_CASE("ccu: collectives are exact over a whole rack and over two racks")
{
    k_rack.exact(every_one("sizes: [100004 B]"));
    k_rack.exact(
        "[{op: all_reduce, algorithms: [ccu, ccu_axes], sizes: [65540 B]}, {op: broadcast, algorithms: [ccu_axes], sizes: [65540 B]}, "
        "{op: reduce, algorithms: [ccu, ccu_axes], root: 77, sizes: [65540 B]}, {op: all_to_all, algorithms: [ccu, ccu_axes], sizes: [65540 B]}]",
        "--set mesh.rack_cols=2 --set mesh.boards=8 --set mesh.npus=8");
}

TEST_CASE("ccu: an all_reduce along four dimensions is exact over a pod of 1024 NPUs")
{
    k_pod.exact("[{op: all_reduce, algorithms: [ccu_axes], sizes: [4100 B], types: [float16]}]", "--set data=checked");
}

TEST_CASE("ccu: groups that leave links idle send by all ways as cores do")
{
    // Two of four racks in a row: ways over the other two are free.
    const auto us = [](const char* op, const char* size, const char* paths) {
        return k_board.time_us(fmt::format("[{{op: {}, algorithms: [ccu], sizes: [{}], groups: [\"blocks of 8\"]}}]", op, size),
                               fmt::format("--set data=off --set mesh.backplane=true --set mesh.npus=4 --set mesh.rack_cols=4 --set mesh.rack_link_lanes=16 "
                                           "--set mesh.backplane_lanes=16 --set ub.paths={}",
                                           paths));
    };
    CHECK(us("all_gather", "4 MiB", "detour") < 0.65 * us("all_gather", "4 MiB", "shortest"));
    CHECK(us("all_to_all", "1 MiB", "detour") < 0.8 * us("all_to_all", "1 MiB", "shortest"));
    CHECK(us("all_gather", "4 B", "detour") < 1.01 * us("all_gather", "4 B", "shortest"));
    k_board.exact(every_one("sizes: [100004 B], groups: [\"blocks of 8\"]"),
                  "--set mesh.backplane=true --set mesh.npus=4 --set mesh.rack_cols=4 --set mesh.rack_link_lanes=16 --set mesh.backplane_lanes=16 --set ub.paths=detour");
}

TEST_CASE("ccu: memories and links move as many bytes as the formulas say")
{
    // n ranks, S bytes of 32 bit elements that divide evenly. Of all ranks together, in S:
    struct row {
        const char* op;
        const char* algorithm;
        double read, written; // by all units
        double sent;          // to others
    };
    for (const double n : {2.0, 4.0, 8.0}) {
        const double s = 1 << 20;
        const row rows[] = {
            {"all_reduce", "ccu", n, n, 2 * (n - 1)}, // each shard is read once by its owner from all, written to all
            {"reduce_scatter", "ccu", n, 1, n - 1}, // n reads and 1 write of each shard; n - 1 steps of a ring: 2(n - 1) and n - 1
            {"all_gather", "ccu", 1, n - 1, n - 1},      // each block once, written to all others
            {"broadcast", "ccu", 1, n - 1, n - 1},       // each part once from the root
            {"reduce", "ccu", n, 1, n},              // each part once from all, its sum to the root
            {"all_to_all", "ccu", n, n, n - 1},          // the own block is copied
            {"all_reduce", "ccu_one_shot", 0, 0, n * (n - 1)}, // below, of 16 KiB
        };
        for (const row& r : rows) {
            const bool small = std::string(r.algorithm) == "ccu_one_shot";
            const double bytes = small ? 16 << 10 : s;
            const double read = small ? n * n : r.read;
            const double written = small ? n : r.written;
            const auto got = k_board.exact(fmt::format("[{{op: {}, algorithms: [{}], sizes: [{} B]}}]", r.op, r.algorithm, bytes), fmt::format("--set mesh.npus={}", n));
            INFO(r.op << " by " << r.algorithm << " on " << n);
            CHECK(stat_of(got, "ccu.memory_read") == read * bytes);
            CHECK(stat_of(got, "ccu.memory_written") == written * bytes);
            CHECK(stat_of(got, "ccu.bytes_sent") == r.sent * bytes);
            CHECK(stat_of(got, "ccu.bytes_received") == r.sent * bytes);
            CHECK(stat_of(got, "dma.bytes_sent") == 0);
        }
    }
}

TEST_CASE("ccu: units that nobody uses change no time and no answer")
{
    const std::string workload = "[{op: all_reduce, algorithms: [multi_axis, ring_1d], sizes: [64 KiB, 1 MiB]}, {op: all_to_all, sizes: [1 MiB]}]";
    const auto with = k_board.exact(workload, "--set npu.ccu.presence=always");
    const auto without = k_board.exact(workload, "--set npu.ccu.presence=never");
    CHECK(with.at("digest") == without.at("digest"));
}

TEST_CASE("ccu: answers and times are the same bits in every run and times do not depend on seeds")
{
    const std::string workload = "[{op: all_reduce, algorithms: [ccu], sizes: [100004 B], types: [float32]}]";
    const auto first = k_board.exact(workload);
    CHECK(k_board.exact(workload).at("digest") == first.at("digest"));
    for (const char* more : {"--set seed=2", "--set seed=77", "--set data=off"})
        CHECK(k_board.time_us(workload, more) == first.at("results").at(0).at("time_us"));
    const auto in_trains = k_board.exact(workload, "--set 'burst=64 packets'"); // packet by packet all the same
    CHECK(in_trains.at("results") == first.at("results"));
    CHECK(in_trains.at("results").at(0).at("train_packets") == 1);
    CHECK_THAT(in_trains.at("warnings").dump(), Contains("burst") && Contains("for algorithms that cores drive"));
}

TEST_CASE("ccu: sums of random floats have the same bits whatever the timing")
{
    const auto answers = [](const std::string& algorithms, const std::string& more) {
        std::vector<std::string> all;
        const auto run = k_board.exact(fmt::format("[{{op: all_reduce, algorithms: [{}], sizes: [100004 B], types: [float32, float16, bfloat16], inputs: random}}]", algorithms), more);
        for (const auto& row : run.at("results"))
            all.push_back(row.at("answers").get<std::string>());
        return all;
    };
    const std::vector<std::string> first = answers("ccu, ccu_axes", "");
    REQUIRE(first.size() == 6);
    CHECK(first[0] != answers("ring_1d", "").at(0)); // another order has other bits
    for (const char* more : {"--set npu.hbm.load=0.9", "--set 'npu.ccu.clock=100 MHz'", "--set 'npu.ccu.reduce_rate=5 GB/s'", "--set npu.ccu.outstanding=1",
                             "--set 'ub.mac_latency=3 us'", "--set ub.paths=shortest"}) {
        INFO(more);
        CHECK(answers("ccu, ccu_axes", more) == first);
    }
    CHECK(answers("ccu, ccu_axes", "--set seed=2") != first);
}

TEST_CASE("ccu: a long all_reduce keeps within 3 % of what the links of a board carry")
{
    // V15: two shots of 360 MB over seven ports of 56 GB/s raw, 85 % of it payload: 1.89 ms.
    const double us = k_board.time_us("[{op: all_reduce, algorithms: [ccu], sizes: [360 MB]}]", "--set data=off");
    const double published_us = 2 * 360e6 / 8 / (0.85 * 56e3);
    CHECK(us / published_us == Approx(1).margin(0.03));
}

TEST_CASE("ccu: beside computation that uses the memory units are faster than cores that move everything twice")
{
    const auto us = [](const char* algorithm, const char* load) {
        return k_board.time_us(fmt::format("[{{op: all_reduce, algorithms: [{}], sizes: [16 MiB]}}]", algorithm), fmt::format("--set data=off --set npu.hbm.load={}", load));
    };
    CHECK(us("ccu", "0.8") < 1.05 * us("ccu", "0"));
    CHECK(us("multi_axis", "0.9") > 1.8 * us("ccu", "0.9"));
}

TEST_CASE("ccu: auto knows the units that a machine may have")
{
    const auto chosen = [](const char* more) {
        return k_board.exact("[{op: broadcast, algorithms: [auto], sizes: [4 MiB]}]", more).at("results").at(0).at("algorithm").get<std::string>();
    };
    CHECK_THAT(chosen("--set npu.ccu.presence=always"), Contains("ccu"));
    CHECK_THAT(chosen("--set npu.ccu.presence=used"), Contains("ccu"));
    CHECK_THAT(chosen("--set npu.ccu.presence=never"), !Contains("ccu"));
    CHECK_THAT(chosen("--set npu.ccu.presence=always --set npu.ccu.missions=1"),
               !Contains("ccu")); // too small for the programs
}

TEST_CASE("ccu: what a machine without units or with too small ones cannot do is said with the remedy")
{
    const auto refused = [](const std::string& more, int code) {
        const program_folder folder;
        CHECK(folder.weft(k_board.command("[{op: all_reduce, algorithms: [ccu], sizes: [4 KiB]}]", more)) == code);
        return text_of(folder.path() / "stderr");
    };
    CHECK_THAT(refused("--set npu.ccu.presence=never", 2), Contains("npu.ccu.presence"));
    CHECK_THAT(refused("--set npu.ccu.channels=3", 2),
               Contains("needs 7 channels") && Contains("npu.ccu.channels is 3; write 7 or more") && !Contains("ccu_axes needs"));
    CHECK_THAT(refused("--set npu.ccu.channels=3 --set mesh.boards=2 --set mesh.npus=4 --set mesh.backplane=true", 2),
               Contains("needs 7 channels") && Contains("ccu_axes needs 4"));
    // All that is too small at once.
    CHECK_THAT(refused("--set npu.ccu.slices=16 --set npu.ccu.check_entries=64 --set mesh.boards=2 --set mesh.backplane=true", 2),
               Contains("needs 580 check entries, but npu.ccu.check_entries is 64; write 580 or more") &&
                   Contains("needs 30 slices, but npu.ccu.slices is 16; write 30 or more"));
    CHECK_THAT(refused("--set npu.ccu.missions=1", 2), Contains("needs 2 missions, but npu.ccu.missions is 1; write 2 or more"));
    CHECK_THAT(refused("--set npu.ccu.loop_engines=1", 2), Contains("needs 2 loop engines, but npu.ccu.loop_engines is 1; write 2 or more"));
    // What is asked for is enough.
    k_board.exact(every_one("sizes: [64 KiB]"), "--set npu.ccu.slices=16 --set npu.ccu.check_entries=580 --set npu.ccu.missions=2 --set npu.ccu.loop_engines=2");
}

TEST_CASE("ccu: what the units of a process group cannot do is said before the run")
{
    const auto refused = [](const std::string& workload, const std::string& more) {
        const program_folder folder;
        CHECK(folder.weft(k_board.command(workload, more)) == 2);
        return text_of(folder.path() / "stderr");
    };
    const std::string racks = "--set mesh.boards=4 --set mesh.npus=5 --set mesh.rack_cols=2 --set mesh.backplane=true --set npu.ccu.loop_engines=5 "
                              "--set npu.ccu.check_entries=768";
    CHECK_THAT(refused("[{op: all_reduce, algorithms: [ccu_one_shot], sizes: [128 KiB], groups: [columns]}]", racks),
               Contains("workload.0.algorithms.0") && Contains("sums do not fit in CCU slices") && Contains("among ranks"));
    // Each division has registers of its own where cases follow each other on one machine.
    const std::string two = "[{op: all_gather, algorithms: [ccu], sizes: [4 KiB], groups: [\"0-3\"]}, "
                            "{op: all_gather, algorithms: [ccu], sizes: [4 KiB], groups: [\"4-7\"]}]";
    CHECK_THAT(refused(two, "--set npu.ccu.address_registers=1000 --set cases=continuous"),
               Contains("workload.1.algorithms.0") && Contains("address registers, but npu.ccu.address_registers is 1000; write ") &&
                   Contains("among ranks 4 to 7"));
    const std::string groups = "[{op: all_reduce, algorithms: [ccu, ccu_one_shot], sizes: [4 KiB], groups: [\"0-4\", \"5-7\"]}]";
    CHECK_THAT(refused(groups, "--set npu.ccu.channels=3"),
               Contains("workload.0.algorithms.0: is ccu, which cannot run among ranks 0 to 4: it needs 4 channels, one to each other NPU, but "
                        "npu.ccu.channels is 3; write 4 or more.") &&
                   Contains("workload.0.algorithms.1"));
    k_board.exact(groups, "--set npu.ccu.channels=4");
    CHECK_THAT(refused(groups, "--set npu.ccu.presence=never"), Contains("among ranks 0 to 4: npu.ccu.presence is never; write used or always."));
    // Groups of the same ranks are one division, and one of all ranks in their order is none.
    k_board.exact("[{op: all_gather, algorithms: [ccu], sizes: [4 KiB], groups: [\"0-3\"]}, {op: reduce_scatter, algorithms: [ccu], sizes: [4 KiB], "
                  "groups: [\"0,1,2,3\"]}]",
                  "--set npu.ccu.address_registers=1000 --set npu.ccu.general_registers=1000 --set cases=continuous");
    k_board.exact("[{op: all_gather, algorithms: [ccu], sizes: [4 KiB], groups: [\"0-7\"]}]",
                  "--set npu.ccu.address_registers=700 --set npu.ccu.general_registers=700");
}

TEST_CASE("ccu: what the units of a training step cannot do is said before the run")
{
    const auto refused = [](const std::string& step, const std::string& more) {
        const program_folder folder;
        CHECK(folder.weft(k_board.command("[]", fmt::format("--set 'training_step={{compute: 10 us, algorithm: {}}}' {}", step, more))) == 2);
        return text_of(folder.path() / "stderr");
    };
    const std::string one = "ccu, groups: [{bytes: 4 KiB}]";
    CHECK_THAT(refused(one, "--set npu.ccu.missions=1 --set npu.ccu.loop_engines=1"),
               Contains("training_step.algorithm: all_reduce by ccu of 4 KiB cannot run here: it needs 2 missions, but npu.ccu.missions is 1") &&
                   Contains("it needs 2 loop engines"));
    CHECK_THAT(refused("ccu_one_shot, groups: [{bytes: 4 KiB}], exchanges: [{bytes: 8 MiB}]", ""),
               Contains("all_reduce by ccu_one_shot of 8 MiB cannot run here: sums do not fit in CCU slices"));
    const program_folder folder;
    CHECK(folder.weft(k_board.command("[]", fmt::format("--set 'training_step={{compute: 10 us, algorithm: {}}}' --set npu.ccu.loop_engines=2", one))) == 0);
}

TEST_CASE("ccu: check says when the programs of a collective do not fit into a unit together")
{
    const auto said = [](const char* store) {
        const program_folder folder;
        CHECK(
            folder.weft(fmt::format(
                "check {} --set mesh.boards=8 --set mesh.backplane=true --set npu.ccu.instructions={} --set 'workload=[{{op: all_reduce, algorithms: [ccu_axes], "
                "sizes: [1 MiB]}}]'",
                k_board.file(), store)) == 0);
        return text_of(folder.path() / "stderr");
    };
    CHECK_THAT(said("300"),
               Contains("instructions together, but npu.ccu.instructions is 300") && Contains("within the time"));
    CHECK_THAT(said("32768"), !Contains("npu.ccu.instructions"));
}

TEST_CASE("ccu: a reduce takes no longer by more loop engines")
{
    // Sums on their way to the root would wait behind what all engines read there.
    const auto us = [](const char* size, const char* engines) {
        return k_board.time_us(fmt::format("[{{op: reduce, algorithms: [ccu], sizes: [{}]}}]", size),
                               fmt::format("--set data=off --set npu.ccu.loop_engines={}", engines));
    };
    for (const char* size : {"4 MiB", "8 MiB", "16 MiB", "64 MiB"}) {
        INFO(size);
        CHECK(us(size, "128") < 1.03 * us(size, "33"));
        CHECK(us(size, "128") < 1.01 * us(size, "65"));
    }
}

TEST_CASE("ccu: a reduce takes as many loop engines as a channel carries")
{
    const auto us = [](int outstanding, int engines) {
        return k_board.time_us("[{op: reduce, algorithms: [ccu], sizes: [8 MiB]}]",
                               fmt::format("--set data=off --set npu.ccu.outstanding={} --set npu.ccu.loop_engines={}", outstanding, engines));
    };
    for (const int outstanding : {8, 16, 32, 128}) {
        INFO(outstanding << " outstanding");
        const double all = us(outstanding, 200);
        for (const int fewer : {17, 33, 65})
            CHECK(all < 1.03 * us(outstanding, fewer));
    }
}

TEST_CASE("ccu: collectives are exact whatever a channel holds")
{
    for (const char* depth : {"1", "2", "7"})
        k_board.exact(every_one("sizes: [36 B, 100 kB]"), fmt::format("--set npu.ccu.queue_depth={}", depth));
    k_rack.exact("[{op: all_to_all, algorithms: [ccu, ccu_axes], sizes: [1 MiB]}]", "--set npu.ccu.queue_depth=1");
    const auto us = [](const char* depth) {
        return k_board.time_us("[{op: all_reduce, algorithms: [ccu], sizes: [16 MiB]}]", fmt::format("--set data=off --set npu.ccu.queue_depth={}", depth));
    };
    const double all = us("256");
    CHECK(us("4096") == all); // shipped microcode has less under way
    CHECK(us("4") > 1.5 * all);
}

TEST_CASE("ccu: shards that are longer by an element cost no time of their own")
{
    const auto us = [](const char* op, const char* size) {
        return k_rack.time_us(fmt::format("[{{op: {}, algorithms: [ccu_axes], sizes: [{}]}}]", op, size),
                              "--set data=off --set mesh.boards=2 --set mesh.npus=3");
    };
    for (const char* op : {"reduce_scatter", "all_gather"})
        for (const auto& [even, more] :
             {std::pair{"3 MiB", "3145732 B"}, std::pair{"96 KiB", "98308 B"}}) {
            INFO(op << " of " << more);
            CHECK(us(op, more) < 1.15 * us(op, even));
        }
}

TEST_CASE("ccu: a link that fails under way is named and nothing hangs")
{
    const program_folder folder;
    const int code = folder.weft(k_board.command("[{op: all_reduce, algorithms: [ccu], sizes: [16 MiB]}]",
                                                 "--set 'firmware_timeout=2 ms' --set 'faults.links=[{from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\", at: 100 us}]'"));
    const std::string said = text_of(folder.path() / "stderr");
    INFO(said);
    CHECK(code == 1);
    CHECK_THAT(said, Contains("npu(p0,r0,b0,0)") && Contains("CCU.MISSION_STATE"));
    // With end-to-end resends, and when it was broken before, it is exact.
    k_board.exact("[{op: all_reduce, algorithms: [ccu], sizes: [4 MiB]}]",
                  "--set ub.transport=rtp --set 'faults.links=[{from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\", at: 100 us}]'");
    k_board.exact("[{op: all_reduce, algorithms: [ccu], sizes: [4 MiB]}]", "--set 'faults.links=[{from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\"}]'");
}

TEST_CASE("ccu: a link that fails while microcode is written is gone around and that is said")
{
    const program_folder folder;
    REQUIRE(folder.weft(k_board.command("[{op: all_reduce, algorithms: [ccu], sizes: [1 MiB]}]",
                                        "--set 'faults.links=[{from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\", at: 3 us}]'")) == 0);
    const std::string said = text_of(folder.path() / "stderr");
    CHECK_THAT(said, Contains("went down at 3 us, and nothing was sent over it since: from ") && Contains(" on packets went around it.") &&
                         !Contains("no effect"));
}

TEST_CASE("ccu: training steps overlap collectives by units with computation")
{
    const auto steps = [](const char* overlap) {
        const program_folder folder;
        const int code = folder.weft(fmt::format("run {} --quiet --set 'workload=[]' --set 'training_step={{compute: 200 us, algorithm: ccu, overlap: {}, "
                                                 "groups: [{{bytes: 1 MiB, ready: 0.5}}, {{bytes: 64 KiB}}], steps: 2}}' --out out",
                                                 k_board.file(), overlap));
        INFO(text_of(folder.path() / "stderr"));
        REQUIRE(code == 0);
        return nlohmann::json::parse(text_of(folder.path() / "out" / "results.json")).at("training_step").at("steps");
    };
    const auto after = steps("none");
    const auto beside = steps("when_ready");
    for (const auto& all : {after, beside}) {
        REQUIRE(all.size() == 2);
        for (const auto& step : all)
            for (const auto& group : step.at("groups"))
                CHECK(group.at("wrong") == 0);
        // Microcode is written in the first step alone.
        CHECK(all.at(1).at("communication_us").get<double>() < 0.5 * all.at(0).at("communication_us").get<double>());
    }
    const auto exposed_us = [](const nlohmann::json& all) { return all.at(1).at("exposed_us").get<double>(); };
    CHECK(exposed_us(after) == after.at(1).at("communication_us").get<double>());
    // The long collective hides behind the second half of the computation, the short one has nothing to hide behind.
    CHECK(exposed_us(beside) == Approx(after.at(1).at("groups").at(1).at("time_us").get<double>()).epsilon(0.01));
}

TEST_CASE("ccu: nothing is faster than its bound where memory sets it")
{
    for (const char* rate : {"100 GB/s", "1 Gbps"}) {
        const auto results = k_board.exact("[{op: all_reduce, algorithms: [ccu, ccu_axes], sizes: [1 MiB]}, {op: reduce_scatter, algorithms: [ccu], sizes: [1 MiB]}, "
                                           "{op: all_gather, algorithms: [ccu], sizes: [1 MiB]}, {op: broadcast, algorithms: [ccu], sizes: [1 MiB]}, "
                                           "{op: all_to_all, algorithms: [ccu], sizes: [1 MiB]}]",
                                           fmt::format("--set 'npu.hbm.rate={}' --set data=off", rate));
        for (const auto& r : results.at("results")) {
            INFO(r.dump());
            CHECK(r.at("bound_share").get<double>() <= 1);
            CHECK(r.at("bound_share").get<double>() > 0.3);
        }
    }
}

TEST_CASE("ccu: rounds of more ranks than channels cost the same the second time")
{
    const std::string twice = "[{op: all_to_all, algorithms: [ccu], sizes: [64 KiB]}, {op: all_to_all, algorithms: [ccu], sizes: [64 KiB]}]";
    const auto r = k_board.exact(twice, "--set npu.ccu.channels=3 --set cases=continuous").at("results");
    CHECK(r.at(0).at("time_us").get<double>() < 1.1 * r.at(1).at("time_us").get<double>());
}
