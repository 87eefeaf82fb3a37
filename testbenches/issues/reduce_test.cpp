// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// reduce to a root, from files, on every platform with cores that drive collectives: answers, what it costs beside the broadcast the other way, refusals.
#include "testbenches/issues/exact_runs.h"

using Catch::Contains;
using weft::testing::exact_runs;
using weft::testing::program_folder;
using weft::testing::text_of;

namespace {

std::string reduce_by(const char* algorithms, const std::string& more)
{
    return fmt::format("[{{op: reduce, algorithms: [{}], {}}}]", algorithms, more);
}

double time_us(const exact_runs& machine, const char* op, const char* algorithm, const char* size,
               const std::string& more = "")
{
    return machine.time_us(fmt::format("[{{op: {}, algorithms: [{}], sizes: [{}]}}]", op, algorithm, size),
                           "--set data=off " + more);
}

} // namespace

TEST_CASE("reduce: exact at every size by trees and in halves on meshes and tori")
{
    const exact_runs mesh("tpu_v3/mesh_4x4.yaml");
    for (const char* shape : {"", "--set mesh.wrap=both", "--set mesh.wrap=rows", "--set mesh.rows=3 --set mesh.cols=5",
                              "--set mesh.rows=1", "--set mesh.rows=2 --set mesh.cols=2"})
        for (const char* root : {"0", "3"})
            mesh.exact(reduce_by("mesh_tree, multi_axis",
                                 fmt::format("root: {}, sizes: [4 B, 20 B, 4 KiB, 70004 B, 1 MiB]", root)),
                       shape);
    mesh.exact(reduce_by("mesh_tree", "root: 5, transposed: true, chunk: 256 B, sizes: [70004 B]"));
}

TEST_CASE("reduce: every type and reduction is exact")
{
    const std::string all =
        "root: 2, sizes: [12 KiB], types: [int32, float32, float16, bfloat16], redops: [sum, max, min]";
    exact_runs("tpu_v3/mesh_4x4.yaml").exact(reduce_by("mesh_tree, multi_axis", all));
    exact_runs("ub_mesh/board.yaml").exact(reduce_by("mesh_tree, multi_axis", all));
}

TEST_CASE("reduce: exact on boards and racks and over racks of NPUs")
{
    const exact_runs board("ub_mesh/board.yaml"), rack("ub_mesh/rack.yaml");
    for (const char* npus : {"2", "3", "7", "8"})
        board.exact(reduce_by("mesh_tree, multi_axis", "root: 1, sizes: [4 B, 20 B, 36868 B, 1 MiB]"),
                    fmt::format("--set mesh.npus={}", npus));
    rack.exact(reduce_by("mesh_tree, multi_axis", "root: 27, sizes: [4 B, 260 B, 70004 B]"));
    rack.exact(reduce_by("mesh_tree, multi_axis", "root: 11, sizes: [4 B, 70004 B]"),
               "--set mesh.rack_cols=2 --set mesh.boards=2 --set mesh.npus=4");
}

TEST_CASE("reduce: exact around failed chips and failed links")
{
    exact_runs("tpu_v3/mesh_8x8_failed_host.yaml").exact(reduce_by("mesh_tree", "root: 7, sizes: [4 B, 70004 B]"));
    exact_runs("ub_mesh/board.yaml")
        .exact(reduce_by("mesh_tree, multi_axis", "sizes: [70004 B]"),
               "--set 'faults.links=[{from: \"npu(p0,r0,b0,0)\", to: \"npu(p0,r0,b0,1)\"}]'");
}

TEST_CASE("reduce: exact in process groups each with its root")
{
    exact_runs("tpu_v3/mesh_4x4.yaml")
        .exact(reduce_by("mesh_tree, multi_axis", "root: 2, groups: [rows], sizes: [4 B, 4100 B]"));
    exact_runs("ub_mesh/rack.yaml")
        .exact(reduce_by("mesh_tree, multi_axis, ccu", "root: 2, groups: [rows], sizes: [4 B, 4100 B]"),
               "--set mesh.boards=2 --set mesh.npus=4");
}

TEST_CASE("reduce: exact around switches and on machines of devices")
{
    exact_runs("switchml/rack_4x10g.yaml")
        .exact(reduce_by("mesh_tree, multi_axis", "root: 3, types: [float32], sizes: [4 B, 70004 B]"));
    exact_runs("trainium/trn2.yaml")
        .exact(reduce_by("multi_axis", "root: 3, sizes: [4 B, 70004 B]"), "--set chip.ranks=2");
}

TEST_CASE("reduce: bus bandwidth is size over time")
{
    const auto row =
        exact_runs("ub_mesh/board.yaml").exact(reduce_by("multi_axis", "sizes: [1 MiB]")).at("results").at(0);
    CHECK(row.at("busbw_GBps") == row.at("algbw_GBps"));
    CHECK(row.at("bound_share").get<double>() < 1);
}

TEST_CASE("reduce: by trees it takes as long as the broadcast the other way")
{
    const exact_runs mesh("tpu_v3/mesh_8x8.yaml");
    for (const char* wrap : {"none", "both"}) {
        const std::string more = fmt::format("--set mesh.wrap={} --set 'burst=1 packet'", wrap);
        CHECK(time_us(mesh, "reduce", "mesh_tree", "4 MiB", more) ==
              Approx(time_us(mesh, "broadcast", "mesh_tree", "4 MiB", more)).epsilon(0.1));
    }
}

// On a torus of 16x16 chips 12 KiB took 23.2 us by one tree and 16 KiB 12.6 us by several.
TEST_CASE("trees: fewer bytes take no longer by one tree or by several")
{
    const exact_runs mesh("tpu_v3/mesh_4x4.yaml");
    for (const char* shape : {"--set mesh.rows=16 --set mesh.cols=16 --set mesh.wrap=both", "--set mesh.wrap=both", "",
                              "--set mesh.rows=3 --set mesh.cols=3 --set mesh.wrap=both",
                              "--set mesh.rows=1 --set mesh.cols=8 --set mesh.wrap=cols",
                              "--set mesh.rows=4 --set mesh.cols=8 --set mesh.wrap=rows"})
        for (const char* op : {"broadcast", "reduce"}) {
            const nlohmann::json rows =
                mesh.exact(fmt::format("[{{op: {}, algorithms: [mesh_tree], sizes: [4 B, 1 KiB, 4 KiB, 8 KiB, 12 KiB, 16 KiB, 24 KiB, 32 KiB, 48 KiB, 64 KiB, 96 KiB]}}]", op),
                           shape).at("results");
            for (std::size_t i = 1; i < rows.size(); ++i) {
                INFO(shape << " " << op << " " << rows.at(i));
                CHECK(rows.at(i).at("time_us").get<double>() > 0.97 * rows.at(i - 1).at("time_us").get<double>());
            }
        }
}

// From 16 to 24 MiB, where a DMA ring is full, it took twice as long: the core saw no arrivals until half of it was free.
TEST_CASE("reduce: by trees it is no slower where a DMA ring is full")
{
    const exact_runs mesh("tpu_v3/mesh_4x4.yaml");
    const nlohmann::json rows = mesh.exact("[{op: reduce, algorithms: [mesh_tree], sizes: [16 MiB, 24 MiB, 64 MiB]}]", "--set data=off").at("results");
    const double share = rows.at(0).at("bound_share").get<double>();
    CHECK(rows.at(1).at("bound_share").get<double>() > share);
    CHECK(rows.at(2).at("bound_share").get<double>() > 0.85);
}

TEST_CASE("reduce: by units it is within the broadcast's share of its bound")
{
    const exact_runs board("ub_mesh/board_ccu.yaml");
    const auto share = [&](const char* op) {
        return board.exact(fmt::format("[{{op: {}, algorithms: [ccu], sizes: [64 MiB]}}]", op), "--set data=off")
            .at("results")
            .at(0)
            .at("bound_share")
            .get<double>();
    };
    CHECK(share("reduce") > 0.8);
    CHECK(share("reduce") > 0.93 * share("broadcast"));
}

TEST_CASE("reduce: what cannot run is refused with the remedy")
{
    const auto refused = [](const exact_runs& machine, const std::string& workload) {
        const program_folder folder;
        CHECK(folder.weft(machine.command(workload, "")) == 2);
        return text_of(folder.path() / "stderr");
    };
    const exact_runs board("ub_mesh/board.yaml");
    CHECK_THAT(refused(board, reduce_by("mesh_tree", "root: 8, sizes: [4 KiB]")),
               Contains("root: is 8, but the ranks of"));
    CHECK_THAT(refused(board, reduce_by("ring_1d", "sizes: [4 KiB]")), Contains("reduce runs by mesh_tree"));
}
