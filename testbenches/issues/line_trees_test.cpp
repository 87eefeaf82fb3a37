// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// mesh_tree on full meshes: a tree for each link of a rank. Answers over shapes, roots, groups and failures; native and
// RV64 cores; the share of the bound. And short shards of multi_axis, and predictions of direct exchanges.
#include "testbenches/issues/exact_runs.h"

using weft::testing::exact_runs;

namespace {

std::string by_trees(const char* op, const std::string& more)
{
    return fmt::format("[{{op: {}, algorithms: [mesh_tree], {}}}]", op, more);
}

double share(const exact_runs& machine, const char* op, const char* size)
{
    return machine.exact(by_trees(op, fmt::format("sizes: [{}]", size)), "--set data=off")
        .at("results")
        .at(0)
        .at("bound_share");
}

} // namespace

TEST_CASE("trees of all links: exact on boards and racks and rows of racks with any root")
{
    for (const char* op : {"broadcast", "reduce"}) {
        for (const char* npus : {"3", "5", "8"})
            exact_runs("ub_mesh/board.yaml")
                .exact(by_trees(op, "root: 2, sizes: [192 KiB, 196612 B, 1000004 B]"),
                       fmt::format("--set mesh.npus={}", npus));
        exact_runs("ub_mesh/rack.yaml")
            .exact(by_trees(op, "root: 11, sizes: [200004 B]"),
                   "--set mesh.rack_cols=2 --set mesh.boards=2 --set mesh.npus=4");
        exact_runs("ub_mesh/rack.yaml")
            .exact(by_trees(op, "root: 3, groups: [rows], sizes: [200004 B]"), "--set mesh.boards=3");
        exact_runs("ub_mesh/board.yaml")
            .exact(by_trees(op, "root: 1, sizes: [200004 B]"),
                   "--set 'faults.links=[{from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\"}]'");
    }
}

TEST_CASE("trees of all links: RV64 cores give the same answers")
{
    for (const char* op : {"broadcast", "reduce"}) {
        const std::string workload = by_trees(op, "root: 2, sizes: [200004 B, 1000004 B]");
        const exact_runs board("ub_mesh/board.yaml");
        const double native = board.time_us(workload, "");
        CHECK(board.time_us(workload, "--set npu.core.model=rv64") == Approx(native).epsilon(0.1));
    }
}

TEST_CASE("trees of all links: most of what the links of a root carry")
{
    const exact_runs board("ub_mesh/board.yaml");
    CHECK(share(board, "broadcast", "16 MiB") > 0.78);
    CHECK(share(board, "reduce", "16 MiB") > 0.74);
    CHECK(share(board, "broadcast", "64 MiB") > 0.9);
    CHECK(share(board, "reduce", "64 MiB") > 0.85);
}

TEST_CASE("multi_axis: a gather of longer shards along slow dimensions takes no less than one of shorter ones")
{
    const exact_runs pod("trainium/ultraserver_4x4x4.yaml");
    const auto us = [&](const char* op, const char* size) {
        return pod.time_us(fmt::format("[{{op: {}, algorithms: [multi_axis], sizes: [{}]}}]", op, size),
                           "--set data=off");
    };
    for (const char* op : {"all_gather", "reduce_scatter"})
        CHECK(us(op, "6 MiB") <= 1.05 * us(op, "8 MiB"));
    pod.exact(
        "[{op: all_gather, algorithms: [multi_axis], sizes: [2000004 B]}, {op: reduce_scatter, algorithms: [multi_axis], sizes: [2000004 B]}]");
}

TEST_CASE("auto takes the faster all_to_all on small meshes")
{
    for (const char* shape : {"", "--set mesh.rows=2 --set mesh.cols=8", "--set mesh.wrap=both"})
        for (const char* size : {"2 MiB", "8 MiB"}) {
            const auto rows =
                exact_runs("tpu_v3/mesh_4x4.yaml")
                    .exact(
                        fmt::format("[{{op: all_to_all, algorithms: [auto, direct, two_phase], sizes: [{}]}}]", size),
                        fmt::format("--set data=off {}", shape))
                    .at("results");
            INFO(shape << " " << size << ": " << rows.dump());
            CHECK(rows.at(0).at("time_us").get<double>() <=
                  1.1 * std::min(rows.at(1).at("time_us").get<double>(), rows.at(2).at("time_us").get<double>()));
        }
}

TEST_CASE("trees of all links: pieces are as long as a user says")
{
    const exact_runs board("ub_mesh/board.yaml");
    for (const char* op : {"broadcast", "reduce"}) {
        const auto us = [&](const char* chunk) {
            return board.time_us(by_trees(op, fmt::format("sizes: [1 MiB]{}", chunk)), "");
        };
        // A part of 1 MiB in seven trees has 146.3 KiB: one piece, one, two, and four.
        const double own = us(""), whole = us(", chunk: 160 KiB"), two = us(", chunk: 128 KiB"),
                     four = us(", chunk: 40 KiB");
        INFO(op << ": " << own << ", " << whole << ", " << two << ", " << four);
        CHECK(own == whole);
        CHECK(two != whole);
        CHECK(four != two);
    }
}

TEST_CASE("auto takes a reduce that is within a tenth of the best one")
{
    const auto check = [](const char* file, const char* settings, const char* algorithms, const char* size) {
        const auto rows =
            exact_runs(file)
                .exact(fmt::format("[{{op: reduce, algorithms: [auto, {}], sizes: [{}]}}]", algorithms, size),
                       fmt::format("--set data=off {}", settings))
                .at("results");
        double best = rows.at(0).at("time_us");
        for (std::size_t i = 1; i < rows.size(); ++i) {
            best = std::min(best, rows.at(i).at("time_us").get<double>());
            const double predicted = rows.at(0).at("predicted_us").at(rows.at(i).at("algorithm").get<std::string>());
            INFO(file << settings << " " << size << ": " << rows.at(i).dump() << " predicted " << predicted);
            CHECK(predicted == Approx(rows.at(i).at("time_us").get<double>()).epsilon(0.2));
        }
        INFO(file << settings << " " << size << ": " << rows.dump());
        CHECK(rows.at(0).at("time_us").get<double>() <= 1.1 * best);
    };
    for (const char* wrap : {"--set mesh.wrap=none", "--set mesh.wrap=both"})
        for (const char* size : {"192 KiB", "1 MiB", "2 MiB"})
            check("tpu_v3/mesh_8x8.yaml", wrap, "mesh_tree, multi_axis", size);
    for (const char* size : {"192 KiB", "2 MiB", "4 MiB"})
        check("ub_mesh/board.yaml", "", "mesh_tree, multi_axis, ccu", size);
}
