// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Paths with latency: an idle neighbour is not reached over kilometre cables, and long messages still take all paths.
#include "testbenches/issues/exact_runs.h"

#include <catch2/catch.hpp>

#include <string>

using weft::testing::exact_runs;

namespace {
const exact_runs k_racks("ub_mesh/rack.yaml", "--set mesh.rack_rows=3 --set mesh.rack_cols=4 --set mesh.boards=4 --set mesh.npus=4 --set mesh.hrs=true");
const exact_runs k_board("ub_mesh/board.yaml");

double us(const exact_runs& machine, const std::string& size, const std::string& algorithm, const std::string& paths)
{
    return machine.time_us(fmt::format("[{{op: all_reduce, algorithms: [{}], sizes: [{}]}}]", algorithm, size), "--set data=off --set ub.paths=" + paths);
}
} // namespace

TEST_CASE("small messages between racks take what they take by shortest paths")
{
    for (const char* size : {"4 B", "4 KiB"})
        CHECK(us(k_racks, size, "hierarchical", "all") < 1.02 * us(k_racks, size, "hierarchical", "shortest"));
}

TEST_CASE("small messages on a board take the direct link and long ones all ways")
{
    CHECK(us(k_board, "4 KiB", "ring_1d", "all") < 1.01 * us(k_board, "4 KiB", "ring_1d", "shortest"));
    CHECK(us(k_board, "1 MiB", "ring_1d", "all") < 0.75 * us(k_board, "1 MiB", "ring_1d", "shortest"));
    CHECK(us(k_board, "16 MiB", "ring_1d", "all") < 0.55 * us(k_board, "16 MiB", "ring_1d", "shortest"));
}
