// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Process groups in a platform file: exact answers for every form of group, order and machine, and refusals with their place.
#include "testbenches/issues/program.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace {

using weft::testing::program_folder;
using weft::testing::text_of;

/// Times in us of a workload on a shipped machine; every answer is right, where there are data.
std::vector<double> exact(const std::string& file, const std::string& workload, const std::string& more = "")
{
    const program_folder folder;
    const std::string config = (std::filesystem::path(WEFT_SOURCE_DIR) / "configs" / file).string();
    const int code = folder.weft(fmt::format("run {} --set 'workload={}' {} --out out", config, workload, more));
    INFO(text_of(folder.path() / "stderr"));
    REQUIRE(code == 0);
    const nlohmann::json results = nlohmann::json::parse(text_of(folder.path() / "out" / "results.json"));
    std::vector<double> times;
    for (const auto& r : results.at("results")) {
        INFO(r.dump());
        CHECK((r.at("wrong") == 0 || more.find("data=off") != std::string::npos));
        times.push_back(r.at("time_us"));
    }
    CHECK(!times.empty());
    return times;
}

/// What `weft check` says of a workload that it refuses.
std::string refusal(const std::string& file, const std::string& workload)
{
    const program_folder folder;
    const std::string config = (std::filesystem::path(WEFT_SOURCE_DIR) / "configs" / file).string();
    CHECK(folder.weft(fmt::format("check {} --set 'workload={}'", config, workload)) == 2);
    return text_of(folder.path() / "stderr");
}

} // namespace

TEST_CASE("groups: every collective is exact in rows and columns and blocks and lists of any order", "[groups]")
{
    for (const char* groups : {"rows", "columns", "blocks of 8", "\"0,5,10,15\", \"3,1\", \"14,12,13\"", "\"15,0,7,8,1\", \"2-6\""}) {
        const std::string of = fmt::format("groups: [{}], sizes: [4 B, 52 B, 4100 B, 60 KiB]", groups);
        INFO(of);
        exact("tpu_v3/mesh_4x4.yaml",
              fmt::format("[{{op: all_reduce, algorithms: [multi_axis], {0}, types: [int32, bfloat16], chunk: 1 KiB}}, "
                          "{{op: reduce_scatter, algorithms: [multi_axis], {0}, chunk: 1 KiB}}, "
                          "{{op: all_gather, algorithms: [multi_axis], {0}, chunk: 1 KiB}}, {{op: all_to_all, {0}}}]",
                          of));
    }
}

TEST_CASE("groups: ranks outside of a group with a root do not ask for that root", "[groups]")
{
    for (const char* op : {"broadcast", "reduce"})
        for (const auto& [file, algorithms] : {std::pair("tpu_v3/mesh_4x4.yaml", "mesh_tree, auto"), {"ub_mesh/board_ccu.yaml", "mesh_tree, auto, ccu"}})
            exact(file, fmt::format("[{{op: {}, algorithms: [{}], sizes: [64 KiB], groups: [\"2,5\"], root: 1}}]", op, algorithms));
}

TEST_CASE("groups: divisions that follow each other without a reset do not mix their messages", "[groups]")
{
    // Ranks outside the groups are asked for nothing, not even for an algorithm that the whole mesh cannot run.
    exact("tpu_v3/mesh_8x8_failed_host.yaml", "[{op: all_gather, algorithms: [multi_axis], sizes: [4 KiB], groups: [\"0-3\", \"40-47\"]}]");
    exact("tpu_v3/mesh_4x4.yaml",
          "[{op: all_reduce, algorithms: [ring_1d, multi_axis], sizes: [4 B, 20 KiB]}, "
          "{op: all_reduce, algorithms: [multi_axis], sizes: [4 B, 20 KiB], groups: [rows]}, "
          "{op: all_gather, algorithms: [multi_axis], sizes: [20 KiB], groups: [columns]}, "
          "{op: all_to_all, sizes: [4 KiB], groups: [\"0-3,8-11\", \"15,14,13,12\"]}, "
          "{op: broadcast, sizes: [4 KiB], groups: [blocks of 8], root: 5}, "
          "{op: all_reduce, algorithms: [multi_axis], sizes: [20 KiB], groups: [rows]}, {op: all_to_all, sizes: [4 KiB]}]",
          "--set cases=continuous");
    for (const char* core : {"native", "rv64"})
        exact("ub_mesh/board.yaml",
              "[{op: all_reduce, algorithms: [ring_1d, multi_axis], sizes: [4 B, 20 KiB]}, "
              "{op: all_reduce, algorithms: [ring_1d, multi_axis, direct], sizes: [4 B, 20 KiB], groups: [\"0,2,4\", \"7,1\"]}, "
              "{op: all_to_all, sizes: [4 KiB], groups: [blocks of 4]}, {op: all_gather, algorithms: [direct], sizes: [20 KiB]}]",
              fmt::format("--set cases=continuous --set npu.core.model={}", core));
}

TEST_CASE("groups: native and rv64 cores agree in the times of groups", "[groups]")
{
    const char* const k_workload = "[{op: all_reduce, algorithms: [ring_1d, multi_axis], sizes: [4 B, 64 KiB], groups: [blocks of 4]}, "
                                   "{op: all_to_all, sizes: [64 KiB], groups: [\"0,5,3\", \"1,2\"]}]";
    const std::vector<double> native = exact("ub_mesh/board.yaml", k_workload, "--set npu.core.model=native");
    const std::vector<double> rv64 = exact("ub_mesh/board.yaml", k_workload, "--set npu.core.model=rv64");
    REQUIRE(native.size() == rv64.size());
    for (std::size_t i = 0; i < native.size(); ++i) {
        INFO("case " << i << ": " << native[i] << " us, rv64 " << rv64[i] << " us");
        CHECK(native[i] / rv64[i] > 0.95);
        CHECK(native[i] / rv64[i] < 1.05);
    }
}

TEST_CASE("groups: halves of a mesh that share no link take the time of one alone", "[groups]")
{
    const auto time = [](const std::string& groups) {
        return exact("tpu_v3/mesh_4x4.yaml",
                     fmt::format("[{{op: all_reduce, algorithms: [multi_axis], sizes: [1 MiB], groups: [{}]}}]", groups))[0];
    };
    CHECK(time("\"0-7\", \"8-15\"") == time("\"0-7\""));
}

TEST_CASE("groups: two that share links share their rate", "[groups]")
{
    // Ranks 0 and 2, 1 and 3 of a line: the links between 1 and 2 carry both, the others one.
    const auto time = [](const std::string& groups) {
        return exact("tpu_v3/mesh_4x4.yaml",
                     fmt::format("[{{op: all_to_all, sizes: [4 MiB], groups: [{}]}}]", groups), "--set data=off")[0];
    };
    const double alone = time("\"0,2\"");
    const double both = time("\"0,2\", \"1,3\"");
    CHECK(both > 1.8 * alone); // the own block is a local copy, which is not on a link
    CHECK(both < 2.1 * alone);
}

TEST_CASE("groups: what cannot be is refused with its place", "[groups]")
{
    using Catch::Contains;
    const auto of = [](const std::string& groups, const std::string& algorithm = "multi_axis") {
        return refusal("tpu_v3/mesh_4x4.yaml",
                       fmt::format("[{{op: all_reduce, algorithms: [{}], sizes: [4 KiB], groups: [{}]}}]", algorithm, groups));
    };
    CHECK_THAT(of("\"0-16\""), Contains("workload.0.groups.0: names rank 16, but the ranks of this machine are 0 to 15."));
    CHECK_THAT(of("\"0,1\", \"1,2\""), Contains("workload.0.groups.1: names rank 1, which is in \"0,1\" already"));
    CHECK_THAT(of("lines"), Contains("names no ranks; write rows, columns"));
    CHECK_THAT(of("\"0-2\"", "ring_1d"), Contains("workload.0.algorithms.0: is ring_1d, which cannot run among ranks 0 to 2"));
    CHECK_THAT(refusal("tpu_v3/mesh_4x4.yaml", "[{op: broadcast, sizes: [4 KiB], groups: [rows], root: 4}]"),
               Contains("workload.0.root: is 4, but the ranks of the group of ranks 0 to 3 are 0 to 3."));
    CHECK_THAT(refusal("switchml/rack_4x10g.yaml", "[{op: all_reduce, algorithms: [switchml], sizes: [4 KiB], groups: [\"0,1\"]}]"),
               Contains("sums for jobs, not for process groups"));
}
