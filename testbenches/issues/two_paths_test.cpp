// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// two_phase on full meshes: an all_to_all over two paths with one relay each, against the same over one path.
#include "testbenches/issues/exact_runs.h"

using weft::testing::exact_runs;

namespace {

std::string exchange(const std::string& more)
{
    return fmt::format("[{{op: all_to_all, algorithms: [two_phase, two_phase_one_path], {}}}]", more);
}

/// Times in us, in this order.
std::vector<double> times(const exact_runs& machine, const std::string& more, const std::string& settings)
{
    std::vector<double> all;
    const nlohmann::json results = machine.exact(exchange(more), settings);
    for (const auto& r : results.at("results"))
        all.push_back(r.at("time_us"));
    return all;
}

} // namespace

TEST_CASE("two paths: exact over shapes and sizes and types and in groups")
{
    const exact_runs rack("ub_mesh/rack.yaml");
    const std::string few = "sizes: [4 B, 60 B, 64 B, 68 B, 124 B, 4096 B, 100004 B]";
    for (const char* shape : {"--set mesh.boards=2 --set mesh.npus=2", "--set mesh.boards=3 --set mesh.npus=5",
                              "--set mesh.boards=4 --set mesh.npus=4", "--set mesh.boards=7 --set mesh.npus=2"})
        rack.exact(exchange(few), shape);
    rack.exact(exchange("types: [float16], sizes: [2 B, 30 B, 62 B, 30002 B]"),
               "--set mesh.boards=3 --set mesh.npus=5");
    rack.exact(exchange("groups: [\"blocks of 16\"], sizes: [52 B, 30004 B]"),
               "--set mesh.rack_cols=2 --set mesh.boards=4 --set mesh.npus=4");
    // Rings too short for the messages of both phases, and fewer queues than neighbours.
    rack.exact(exchange(few), "--set mesh.boards=4 --set mesh.npus=4 --set npu.dma.ring_entries=4");
    rack.exact(exchange(few), "--set mesh.boards=4 --set mesh.npus=4 --set npu.dma.queues=4");
    rack.exact(exchange(few), "--set mesh.boards=4 --set mesh.npus=4 --set 'faults.links=[{from: \"npu(p0,r0,b0,0)\", "
                              "to: \"npu(p0,r0,b0,1)\"}]'");
}

TEST_CASE("two paths: one call after the other")
{
    exact_runs("ub_mesh/rack.yaml")
        .exact(exchange("sizes: [4 KiB, 20004 B, 4 KiB, 64 B]"),
               "--set mesh.boards=4 --set mesh.npus=4 --set cases=continuous");
}

TEST_CASE("two paths: RV64 cores give the same answers in the same time")
{
    const std::string shape = "--set mesh.boards=4 --set mesh.npus=4";
    const exact_runs rack("ub_mesh/rack.yaml");
    const std::vector<double> native = times(rack, "sizes: [4 KiB, 200004 B]", shape);
    const std::vector<double> rv64 = times(rack, "sizes: [4 KiB, 200004 B]", shape + " --set npu.core.model=rv64");
    REQUIRE(native.size() == rv64.size());
    for (std::size_t i = 0; i < native.size(); ++i)
        CHECK(rv64[i] == Approx(native[i]).epsilon(0.05));
}

TEST_CASE("two paths: at least 1.8 times as fast as one path on 4x4 and 8x8 NPUs")
{
    for (const char* shape : {"--set mesh.boards=4 --set mesh.npus=4", ""}) {
        const std::vector<double> us =
            times(exact_runs("ub_mesh/rack.yaml"), "sizes: [16 MiB]", fmt::format("--set data=off {}", shape));
        REQUIRE(us.size() == 2);
        INFO(shape << ": " << us[0] << " and " << us[1] << " us");
        CHECK(us[1] / us[0] >= 1.8);
        CHECK(us[1] / us[0] <= 2);
    }
}

TEST_CASE("one rank in each of four racks reaches most of its links to them")
{
    const nlohmann::json results =
        exact_runs("ub_mesh/rack.yaml")
            .exact("[{op: all_reduce, algorithms: [multi_axis], groups: [\"0,64,128,192\"], sizes: [64 MiB]}]",
                   "--set mesh.rack_cols=4 --set data=off");
    const double share = results.at("results").at(0).at("bound_share");
    INFO(results.at("results").at(0).dump());
    CHECK(share >= 0.95);
    CHECK(share <= 1);
}

TEST_CASE("an all_to_all of a rack is bounded by what a board's leaves have to spines")
{
    // 28 lanes of Y and four of 16 to planes; shortest paths take none of these.
    const exact_runs rack("ub_mesh/rack.yaml");
    const std::string workload = "[{op: all_to_all, algorithms: [direct], sizes: [1 MiB]}]";
    const auto share = [&](const char* paths) {
        return rack.exact(workload, fmt::format("--set data=off --set ub.paths={}", paths))
            .at("results")
            .at(0)
            .at("bound_share")
            .get<double>();
    };
    CHECK(share("all") / share("shortest") == Approx(28.0 / 32).epsilon(0.02));
}
