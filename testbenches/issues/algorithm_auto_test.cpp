// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `algorithms: [auto]`: what it takes against everything else that runs, simulated; what a user is told of it.
#include "testbenches/issues/program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fs = std::filesystem;

using weft::testing::program_folder;
using weft::testing::text_of;

namespace {

std::string shipped(const std::string& file) { return (fs::path(WEFT_SOURCE_DIR) / "configs" / file).string(); }

nlohmann::json results_of(const std::string& file, const std::string& workload, const std::string& more = "")
{
    const program_folder folder;
    REQUIRE(folder.weft(fmt::format("run {} --set data=off --set \"workload={}\" {} --out out", shipped(file), workload, more)) == 0);
    return nlohmann::json::parse(text_of(folder.path() / "out" / "results.json")).at("results");
}

struct machine_of_test {
    const char* file;
    const char* more;
    std::map<std::string, std::vector<std::string>> algorithms; ///< that run here, besides auto
};

const std::vector<machine_of_test> k_machines = {
    {"ub_mesh/board.yaml", "",
     {{"all_reduce", {"ring_1d", "two_d", "direct", "halving_doubling", "parameter_server", "hierarchical", "multi_axis", "multi_ring"}},
      {"reduce_scatter", {"ring_1d", "direct", "multi_axis"}}, {"all_gather", {"ring_1d", "direct", "multi_axis"}}}},
    {"ub_mesh/rack.yaml", "",
     {{"all_reduce", {"ring_1d", "two_d", "row_pair", "direct", "hierarchical", "multi_axis", "multi_ring"}},
      {"reduce_scatter", {"ring_1d", "direct", "multi_axis"}}, {"all_gather", {"ring_1d", "direct", "multi_axis"}}}},
    {"tpu_v3/mesh_8x8.yaml", "",
     {{"all_reduce", {"ring_1d", "two_d", "row_pair", "multi_axis"}}, {"reduce_scatter", {"ring_1d", "multi_axis"}},
      {"all_gather", {"ring_1d", "multi_axis"}}, {"all_to_all", {"direct", "two_phase"}}}},
    {"tpu_v3/mesh_8x8.yaml", "--set mesh.wrap=both",
     {{"all_reduce", {"ring_1d", "two_d", "row_pair", "direct", "hierarchical", "multi_axis"}},
      {"reduce_scatter", {"ring_1d", "direct", "multi_axis"}}, {"all_gather", {"ring_1d", "direct", "multi_axis"}},
      {"all_to_all", {"direct", "two_phase"}}}},
};

/// Where units compete with cores.
const std::vector<machine_of_test> k_with_units = {
    {"ub_mesh/board.yaml", "",
     {{"all_reduce", {"direct", "parameter_server", "multi_axis", "ccu"}}, {"reduce_scatter", {"direct", "multi_axis", "ccu"}},
      {"all_gather", {"direct", "multi_axis", "ccu"}}, {"broadcast", {"mesh_tree", "ccu"}}, {"reduce", {"mesh_tree", "multi_axis", "ccu"}},
      {"all_to_all", {"direct", "ccu"}}}},
    {"ub_mesh/rack.yaml", "",
     {{"all_reduce", {"multi_axis", "ccu", "ccu_axes"}}, {"reduce_scatter", {"direct", "multi_axis", "ccu", "ccu_axes"}},
      {"all_gather", {"direct", "multi_axis", "ccu", "ccu_axes"}}, {"broadcast", {"mesh_tree", "ccu", "ccu_axes"}},
      {"reduce", {"mesh_tree", "multi_axis", "ccu", "ccu_axes"}}, {"all_to_all", {"direct", "two_phase", "ccu", "ccu_axes"}}}},
};

/// The algorithm that auto takes is within 10 % of the best at every one of `sizes`.
void check_choices(const std::string& sizes, const std::vector<machine_of_test>& machines = k_machines)
{
    for (const machine_of_test& m : machines)
        for (const auto& [op, algorithms] : m.algorithms) {
            std::map<std::uint64_t, double> best, chosen;
            std::map<std::uint64_t, std::string> name;
            for (const std::string& algorithm : algorithms) // each by itself: the largest take minutes
                for (const auto& r : results_of(m.file, fmt::format("[{{op: {}, algorithms: [{}], sizes: [{}]}}]", op, algorithm, sizes), m.more)) {
                    const std::uint64_t size = r.at("size_bytes");
                    const double us = r.at("time_us");
                    best[size] = best.count(size) != 0 ? std::min(best[size], us) : us;
                }
            for (const auto& r : results_of(m.file, fmt::format("[{{op: {}, algorithms: [auto], sizes: [{}]}}]", op, sizes), m.more)) {
                chosen[r.at("size_bytes")] = r.at("time_us");
                name[r.at("size_bytes")] = r.at("algorithm");
            }
            REQUIRE(chosen.size() == best.size());
            for (const auto& [size, us] : chosen) {
                INFO(m.file << " " << m.more << ": " << op << " of " << size << " B by " << name[size] << ", " << us << " us");
                CHECK(us <= 1.1 * best[size]);
            }
        }
}

} // namespace

TEST_CASE("auto is within 10 % of the best algorithm on board and rack and mesh and torus: short buffers")
{
    check_choices("4 B, 4 KiB, 64 KiB, 1 MiB");
}

TEST_CASE("auto is within 10 % of the best algorithm on board and rack and mesh and torus: all sizes", "[slow]")
{
    check_choices("4 B, 16 B, 64 B, 256 B, 1 KiB, 4 KiB, 16 KiB, 64 KiB, 256 KiB, 1 MiB, 4 MiB, 16 MiB");
    check_choices("64 MiB, 256 MiB");
}

TEST_CASE("auto is within 10 % of the best of units and cores on board and rack")
{
    check_choices("1 KiB, 128 KiB, 2 MiB", k_with_units);
}

TEST_CASE("auto is within 10 % of the best of units and cores on board and rack: all sizes", "[slow]")
{
    check_choices("4 B, 16 KiB, 512 KiB, 1 MiB, 4 MiB, 8 MiB, 16 MiB, 64 MiB", k_with_units);
}

TEST_CASE("short buffers: by auto no collective takes longer than an all_reduce")
{
    std::string workload;
    for (const char* op : {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all"})
        workload += fmt::format("{}{{op: {}, algorithms: [auto], sizes: [4 KiB]}}", workload.empty() ? "" : ", ", op);
    for (const machine_of_test& m : k_machines) {
        const nlohmann::json all = results_of(m.file, "[" + workload + "]", m.more);
        REQUIRE(all.size() == 5);
        for (const auto& r : all) {
            INFO(m.file << " " << m.more << ": " << r.at("op"));
            CHECK(r.at("time_us").get<double>() <= all.at(0).at("time_us").get<double>());
        }
    }
}

TEST_CASE("auto says what it took and what would have been next")
{
    const program_folder folder;
    const std::string entry = "--set \"workload=[{op: all_reduce, algorithms: [auto], sizes: [4 KiB]}]\"";
    REQUIRE(folder.weft(fmt::format("check {} {}", shipped("ub_mesh/rack.yaml"), entry)) == 0);
    CHECK(text_of(folder.path() / "stdout").find("int32 of 4 KiB: ccu_axes, ") != std::string::npos);
    CHECK(text_of(folder.path() / "stdout").find(" us predicted; next ") != std::string::npos);
    REQUIRE(folder.weft(fmt::format("run {} {} --out out", shipped("ub_mesh/rack.yaml"), entry)) == 0);
    CHECK(text_of(folder.path() / "stdout").find("Chosen by auto   all_reduce of 4096 B by ccu_axes: ") != std::string::npos);
    const nlohmann::json row = nlohmann::json::parse(text_of(folder.path() / "out" / "results.json")).at("results").at(0);
    CHECK(row.at("algorithm") == "ccu_axes");
    CHECK(row.at("wrong") == 0);
    const nlohmann::json& predicted = row.at("predicted_us");
    CHECK(predicted.size() >= 4);
    for (const auto& [algorithm, us] : predicted.items())
        CHECK(us.get<double>() >= predicted.at("ccu_axes").get<double>());
}

TEST_CASE("auto follows the machine: slow cores choose fewer messages and fast links shorter ways")
{
    const auto taken = [](const char* file, const char* op, const char* size, const std::string& more) {
        return results_of(file, fmt::format("[{{op: {}, algorithms: [auto], sizes: [{}]}}]", op, size), more).at(0).at("algorithm").get<std::string>();
    };
    // All_to_all of 4 MiB on a mesh: two_phase makes four messages where direct makes one.
    CHECK(taken("tpu_v3/mesh_8x8.yaml", "all_to_all", "4 MiB", "") == "two_phase");
    CHECK(taken("tpu_v3/mesh_8x8.yaml", "all_to_all", "4 MiB", "--set chip.core.cpi=4") == "direct");
    // Shards of 128 KiB: what links carry counts on a rack whose lanes are slow, not what messages cost.
    CHECK(taken("ub_mesh/rack.yaml", "all_reduce", "8 MiB", "") == "ccu_axes");
    CHECK(taken("ub_mesh/rack.yaml", "all_reduce", "8 MiB", "--set \"ub.lane_rate=2 GB/s\"") == "multi_axis");
}

TEST_CASE("auto on other shapes: links to switches and short rings and middle sizes")
{
    const auto close = [](const char* file, const char* more, const char* op, const std::vector<std::string>& algorithms, const char* size) {
        double best = 1e18;
        for (const std::string& algorithm : algorithms)
            best = std::min(best, results_of(file, fmt::format("[{{op: {}, algorithms: [{}], sizes: [{}]}}]", op, algorithm, size), more).at(0).at("time_us").get<double>());
        const nlohmann::json chosen = results_of(file, fmt::format("[{{op: {}, algorithms: [auto], sizes: [{}]}}]", op, size), more).at(0);
        INFO(file << " " << more << ": " << op << " of " << size << " by " << chosen.at("algorithm") << ", " << chosen.at("time_us") << " us, best " << best);
        CHECK(chosen.at("time_us").get<double>() <= 1.1 * best);
    };
    close("ub_mesh/rack.yaml", "--set mesh.boards=1 --set mesh.npus=2", "reduce_scatter", {"direct", "multi_axis", "ring_1d"}, "16 MiB");
    close("ub_mesh/board.yaml", "", "all_reduce", {"direct", "multi_axis", "parameter_server"}, "1500000 B");
    close("tpu_v3/mesh_8x8.yaml", "--set mesh.wrap=both", "all_to_all", {"direct", "two_phase"}, "3 MiB");
    close("tpu_v3/mesh_4x4.yaml", "--set mesh.wrap=both", "reduce_scatter", {"direct", "multi_axis"}, "1 MiB");
    // Two NPUs of a line have one link between them, and a ring of all is as slow as its slowest link.
    const char* two_boards = "--set mesh.boards=2 --set data=off";
    close("ub_mesh/rack.yaml", two_boards, "all_reduce", {"ring_1d", "two_d", "multi_axis"}, "24 MiB");
    close("ub_mesh/rack.yaml", two_boards, "reduce_scatter", {"ring_1d", "direct", "multi_axis"}, "24 MiB");
    close("ub_mesh/rack.yaml", two_boards, "reduce", {"mesh_tree", "multi_axis", "ccu_axes"}, "4 KiB");
    close("ub_mesh/board.yaml", "", "reduce", {"mesh_tree", "multi_axis", "ccu"}, "128 KiB");
    close("ub_mesh/board.yaml", "", "reduce_scatter", {"direct", "multi_axis", "ccu"}, "1 MiB");
    // Of unlike dimensions the units of the two dies get in each other's way: 45.5 us, by multi_axis 36.9.
    close("ub_mesh/board.yaml", "--set mesh.boards=4", "all_reduce", {"multi_axis", "ccu_axes", "direct"}, "4 MiB");
    // Ranks say that they are ready before anything else, and links have their way: direct 9.9 us, multi_axis 11.1.
    close("ub_mesh/board.yaml", "--set mesh.boards=3 --set mesh.npus=5", "all_reduce", {"multi_axis", "direct"}, "4 B");
    // A reduce takes several trees of a torus from other sizes on than a broadcast.
    for (const char* size : {"4 B", "4 KiB", "48 KiB"})
        for (const char* shape : {"--set mesh.wrap=both", "--set mesh.wrap=both --set mesh.rows=5 --set mesh.cols=7"})
            close("tpu_v3/mesh_4x4.yaml", shape, "reduce", {"mesh_tree", "multi_axis"}, size);
    // Rings that are folded onto a line use each link both ways.
    close("tpu_v3/mesh_4x4.yaml", "--set mesh.rows=2 --set mesh.cols=5 --set data=off", "all_reduce", {"ring_1d", "two_d", "multi_axis"}, "6 MiB");
    close("tpu_v3/mesh_4x4.yaml", "--set mesh.rows=4 --set mesh.cols=6 --set mesh.wrap=cols --set data=off", "all_reduce", {"two_d", "multi_axis"}, "24 MiB");
    const char* small_torus = "--set mesh.rows=3 --set mesh.cols=3 --set mesh.wrap=both --set data=off";
    close("tpu_v3/mesh_4x4.yaml", small_torus, "all_reduce", {"direct", "two_d", "multi_axis"}, "2 MiB");
    close("tpu_v3/mesh_4x4.yaml", small_torus, "all_reduce", {"direct", "two_d", "multi_axis"}, "16 MiB");
}

TEST_CASE("auto takes a switch that sums where it is faster")
{
    // UDP, whose cores convert, and RDMA, whose NICs do; int32, and float32 with its exponents first.
    for (const char* file : {"switchml/rack_4x10g.yaml", "switchml/rack_8x100g_rdma.yaml"})
        for (const char* type : {"int32", "float32"}) {
            std::map<std::uint64_t, double> best;
            const std::string cases = fmt::format("types: [{}], sizes: [4 KiB, 64 KiB, 512 KiB, 4 MiB]}}]", type);
            for (const auto& r : results_of(file, "[{op: all_reduce, algorithms: [switchml, ring_1d, multi_axis], " + cases)) {
                const double us = r.at("time_us");
                double& least = best[r.at("size_bytes")];
                least = least == 0 ? us : std::min(least, us);
            }
            for (const auto& r : results_of(file, "[{op: all_reduce, algorithms: [auto], " + cases)) {
                const std::uint64_t size = r.at("size_bytes");
                INFO(file << ", " << type << ", " << size << " B by " << r.at("algorithm"));
                CHECK(r.at("time_us") <= 1.1 * best.at(size));
                CHECK((r.at("algorithm") == "switchml" || size < 4 << 20));
            }
        }
    // Not where it would wait for what is lost, nor for what a switch cannot add.
    const std::string large = "sizes: [4 MiB]}]";
    for (const auto& r : results_of("switchml/rack_4x10g.yaml", "[{op: all_reduce, algorithms: [auto], types: [int32, float16], " + large))
        CHECK((r.at("algorithm") == "switchml") == (r.at("type") == "int32"));
    for (const char* more : {"--set network.cable.impairments.loss=0.001", "--set job.jobs=2"})
        for (const auto& r : results_of("switchml/rack_4x10g.yaml", "[{op: all_reduce, algorithms: [auto], types: [int32], " + large, more))
            CHECK(r.at("algorithm") != "switchml");
}

TEST_CASE("auto in process groups and in training steps")
{
    const nlohmann::json rows = results_of("tpu_v3/mesh_8x8.yaml", "[{op: all_reduce, algorithms: [auto], sizes: [4 KiB], groups: [rows]}]");
    CHECK(rows.at(0).contains("predicted_us"));
    // Blocks of 2 of a 2x9 mesh: one of them stands across two rows, so that it has no rows and columns.
    const nlohmann::json pairs = results_of("tpu_v3/mesh_4x4.yaml", "[{op: all_reduce, algorithms: [auto], sizes: [4 KiB], groups: [blocks of 2]}]",
                                            "--set mesh.rows=2 --set mesh.cols=9");
    CHECK_FALSE(pairs.at(0).at("predicted_us").contains("two_d"));
    // Groups of one rank send nothing, by any algorithm.
    CHECK(results_of("tpu_v3/mesh_4x4.yaml", "[{op: all_reduce, algorithms: [auto], sizes: [4 KiB], groups: [columns]}]", "--set mesh.rows=1").size() == 1);
    const program_folder folder;
    REQUIRE(folder.weft(fmt::format("run {} --set \"workload=[]\" --set \"training_step={{compute: 100 us, algorithm: auto, groups: [{{name: g, elements: 1024}}]}}\" --out out",
                                    shipped("ub_mesh/board.yaml"))) == 0);
}

TEST_CASE("auto in process groups knows that detours bring less than all links of a rank")
{
    const auto close = [](const char* groups, const char* more) {
        const nlohmann::json rows = results_of("ub_mesh/rack.yaml", fmt::format("[{{op: all_reduce, algorithms: [auto, direct, multi_axis], sizes: [4 MiB], groups: [{}]}}]", groups),
                                               fmt::format("--set data=off {}", more));
        double best = 1e18;
        for (const nlohmann::json& row : rows)
            best = std::min(best, row.at("time_us").get<double>());
        INFO(groups << " " << more << ": " << rows.at(0).at("algorithm") << ", " << rows.at(0).at("time_us") << " us, best " << best);
        CHECK(rows.at(0).at("time_us").get<double>() <= 1.1 * best);
    };
    close("blocks of 32", "--set mesh.npus=4"); // all NPUs: nothing to borrow but planes
    close("blocks of 16", "");                  // pairs of boards
    close("rows", "--set mesh.npus=4");
}

TEST_CASE("predictions of multi_axis in groups of one dimension know that its lanes share the links")
{
    for (const char* groups : {"columns", "rows"}) {
        const nlohmann::json rows = results_of("ub_mesh/rack.yaml", fmt::format("[{{op: all_reduce, algorithms: [auto, multi_axis], sizes: [16 MiB], groups: [{}]}}]", groups),
                                               "--set data=off");
        const double predicted = rows.at(0).at("predicted_us").at("multi_axis").get<double>(), measured = rows.at(1).at("time_us").get<double>();
        INFO(groups << ": predicted " << predicted << " us, measured " << measured << " us");
        CHECK(predicted > 85.8); // 16 MiB x 2 x 7/8 over the seven links of a rank along its dimension
        CHECK(predicted > 0.85 * measured);
        CHECK(predicted < 1.15 * measured);
    }
}

// A lane begins its next exchange while the core still makes the messages of another one.
TEST_CASE("predictions of multi_axis on full meshes know that lanes overlap")
{
    const char* const k_meshes[] = {"", "--set mesh.boards=4", "--set mesh.boards=2 --set mesh.npus=2"};
    for (const char* mesh : k_meshes)
        for (const char* op : {"reduce_scatter", "all_gather", "all_reduce"})
            for (const char* size : {"4 KiB", "1 MiB", "2 MiB", "4 MiB", "16 MiB"}) {
                const nlohmann::json rows = results_of("ub_mesh/rack.yaml", fmt::format("[{{op: {}, algorithms: [auto, multi_axis], sizes: [{}]}}]", op, size), mesh);
                const double predicted = rows.at(0).at("predicted_us").at("multi_axis").get<double>(), measured = rows.at(1).at("time_us").get<double>();
                INFO(mesh << " " << op << " of " << size << ": predicted " << predicted << " us, measured " << measured << " us");
                CHECK(predicted > 0.88 * measured);
                CHECK(predicted < 1.05 * measured);
            }
}

TEST_CASE("auto where nothing is predicted names the remedy")
{
    const program_folder folder;
    CHECK(folder.weft(fmt::format("check {} --set \"workload=[{{op: all_to_all, algorithms: [auto], sizes: [64 KiB]}}]\"",
                                  shipped("tpu_v3/mesh_8x8_failed_host.yaml"))) == 0); // around failed chips, direct remains
    CHECK(folder.weft(fmt::format("check {} --set \"workload=[{{op: all_reduce, algorithms: [auto, autos], sizes: [64 KiB]}}]\"", shipped("tpu_v3/mesh_4x4.yaml"))) == 2);
    CHECK(text_of(folder.path() / "stderr").find("auto") != std::string::npos);
}

TEST_CASE("auto takes what fits into memory and says what it has passed over")
{
    const auto check = [](const std::string& workload, const std::string& more, int code) {
        const program_folder folder;
        REQUIRE(folder.weft(fmt::format("check {} --set \"workload={}\" {}", shipped("trainium/trn2.yaml"), workload, more)) == code);
        return text_of(folder.path() / (code == 0 ? "stdout" : "stderr"));
    };
    // 32 MiB in 64 MiB a rank: four sums of device_tree have no room, and RDH, which the documentation names, takes 7.
    const std::string small = "--set 'chip.hbm.capacity=256 MiB'";
    const std::string reduce = check("[{op: reduce, algorithms: [auto], sizes: [32 MiB]}]", small, 0);
    CHECK(reduce.find("32 MiB: mesh_tree, ") + reduce.find("32 MiB: multi_axis, ") != 2 * std::string::npos);
    CHECK(reduce.find("; device_tree needs 160 MiB of HBM per rank, more than there is") != std::string::npos);
    const std::string sums = check("[{op: all_reduce, algorithms: [auto], sizes: [24 MiB]}]", small, 0);
    CHECK(sums.find("24 MiB: kangaring, ") != std::string::npos);
    CHECK(sums.find("; rdh needs 192 MiB of HBM per rank, more than there is") != std::string::npos);
    const std::string fits = check("[{op: all_reduce, algorithms: [auto], sizes: [24 MiB]}]", "", 0);
    CHECK(fits.find("24 MiB: rdh, ") != std::string::npos);
    CHECK(fits.find("more than there is") == std::string::npos);
    const program_folder folder;
    REQUIRE(folder.weft(fmt::format("run {} --set \"workload=[{{op: reduce, algorithms: [auto], sizes: [6 MiB]}}]\" --set 'chip.hbm.capacity=64 MiB' --set "
                                    "node.rows=1 --set node.cols=2 --out out",
                                    shipped("trainium/trn2.yaml"))) == 0);
    const nlohmann::json row = nlohmann::json::parse(text_of(folder.path() / "out" / "results.json")).at("results").at(0);
    CHECK(row.at("algorithm") != "device_tree");
    CHECK(row.at("wrong") == 0);
}

TEST_CASE("a training step has room for what its algorithm has on its way")
{
    const auto code = [](const std::string& algorithm, const std::string& capacity) {
        const program_folder folder;
        const int got = folder.weft(fmt::format("check {} --set \"workload=[]\" --set \"training_step={{compute: 100 us, algorithm: {}, groups: [{{bytes: 40 MiB}}]}}\" "
                                                "--set 'chip.hbm.capacity={}'",
                                                shipped("trainium/trn2.yaml"), algorithm, capacity));
        const std::string text = text_of(folder.path() / "stderr");
        CHECK((text.find("need 80 MiB of HBM per rank for all_reduce of 40 MiB by kangaring") != std::string::npos) == (got == 2));
        return got;
    };
    CHECK(code("kangaring", "256 MiB") == 2); // it went on to end in an access beyond the memory
    CHECK(code("kangaring", "512 MiB") == 0);
    CHECK(code("auto", "256 MiB") == 0);
}
