// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Failed chips on larger meshes, what no ring can serve, and failed links; every position on 8x8 is swept in sweep/.
#include "testbenches/firmware/broken_mesh.h"
#include "testbenches/system/fault_sweep.h"

using namespace weft;
using namespace weft::test;
using abi::algorithm;
using abi::collective_op;

namespace {

tpu_v3_config without(std::uint32_t rows, std::uint32_t cols, const testing::regions& failed)
{
    tpu_v3_config config = pod(rows, cols);
    for (const abi::failed_region& f : failed)
        config.faults.regions.push_back({f.row, f.col, f.rows, f.cols});
    return config;
}

sweep_options small_payload(bool transposed)
{
    sweep_options options;
    options.bytes = 240;
    options.walk_bytes = 64;
    options.chunk = 32;
    options.lean = true;
    options.all_to_all = false;
    options.orientations = {transposed};
    return options;
}

/// Every position on 16x16, in one orientation each: a position is tried in one of them, its neighbour in the other.
void sweep_16(std::uint32_t rows, std::uint32_t cols, unsigned pods, unsigned row_pair, unsigned forward)
{
    sweep_counts n;
    for (const abi::failed_region& f : testing::all_regions(16, 16, 2))
        if (f.rows == rows && f.cols == cols && testing::in_one_piece({f}, 16, 16))
            sweep_pod(without(16, 16, {f}), n, small_payload((f.row + f.col) / 2 % 2 != 0));
    INFO(rows << "x" << cols);
    CHECK(n.pods == pods);
    CHECK(n.ring_1d == pods + (pods + 1) / 2);
    CHECK(n.broadcast == pods);
    CHECK(n.reduce == pods);
    CHECK(n.row_pair == row_pair);
    CHECK(n.row_pair_forward == forward);
}

} // namespace

TEST_CASE("16x16 without 2x2 everywhere") { sweep_16(2, 2, 64, 64, 64); }
TEST_CASE("16x16 without 4x2 everywhere") { sweep_16(4, 2, 56, 56, 56); }
TEST_CASE("16x16 without 2x4 everywhere") { sweep_16(2, 4, 56, 56, 56); }
TEST_CASE("16x16 without 4x4 everywhere") { sweep_16(4, 4, 49, 49, 49); }
TEST_CASE("16x16 without 6x2 to 16x2 everywhere")
{
    sweep_16(6, 2, 48, 40, 40);
    sweep_16(8, 2, 40, 32, 32);
    sweep_16(10, 2, 32, 16, 8);
    sweep_16(12, 2, 24, 12, 4);
    sweep_16(14, 2, 16, 8, 0);
    sweep_16(16, 2, 2, 1, 0);
}
TEST_CASE("16x16 without 2x6 to 2x16 everywhere")
{
    sweep_16(2, 6, 48, 40, 40);
    sweep_16(2, 8, 40, 32, 32);
    sweep_16(2, 10, 32, 16, 8);
    sweep_16(2, 12, 24, 12, 4);
    sweep_16(2, 14, 16, 8, 0);
    sweep_16(2, 16, 2, 1, 0);
}

TEST_CASE("pairs of regions on 16x32 drawn at random")
{
    // ring_1d runs around every pair that leaves one piece; the others are refused where no whole rows are near.
    std::mt19937 random(2207);
    sweep_counts n;
    while (n.pods < 16) {
        const testing::regions failed = testing::random_regions(random, 16, 32, 2, 2, 8);
        if (failed.size() == 2)
            sweep_pod(without(16, 32, failed), n, small_payload(n.pods % 2 != 0));
    }
    CHECK(n.ring_1d == 16 + 8);
    CHECK(n.broadcast == 16);
    CHECK(n.row_pair == 10);
    CHECK(n.row_pair_forward == 9);
}

TEST_CASE("broadcast and all_to_all run around odd regions and rings are refused")
{
    sweep_counts n;
    for (const testing::regions& failed :
         {testing::regions{testing::region(1, 1, 1, 1)}, testing::regions{testing::region(3, 2, 2, 3)},
          testing::regions{testing::region(0, 5, 3, 1)}, testing::regions{testing::region(5, 0, 1, 7)},
          testing::regions{testing::region(1, 2, 3, 3), testing::region(6, 6, 2, 1)}})
        for (const std::uint32_t cols : {8u, 9u})
            sweep_pod(without(8, cols, failed), n);
    CHECK(n.pods == 10);
    CHECK(n.all_to_all == 10);
    CHECK(n.broadcast >= 50);
    CHECK(n.broadcast <= 60);
    CHECK(n.ring_1d + n.row_pair + n.row_pair_forward == 0);
}

TEST_CASE("every failed link of 4x4 is routed around by every collective and with failed chips too")
{
    sweep_counts n;
    sweep_options options;
    options.bytes = options.walk_bytes = 400;
    for (std::uint32_t row = 0; row < 4; ++row)
        for (std::uint32_t col = 0; col < 4; ++col)
            for (unsigned d = 0; d < 4; ++d) {
                const auto direction = static_cast<mesh_direction>(d);
                const bool edge = (direction == mesh_direction::plus_x && col == 3) ||
                                  (direction == mesh_direction::minus_x && col == 0) ||
                                  (direction == mesh_direction::plus_y && row == 3) ||
                                  (direction == mesh_direction::minus_y && row == 0);
                if (edge)
                    continue;
                tpu_v3_config config = pod(4, 4);
                config.faults.links_down = {{row, col, direction}};
                sweep_pod(config, n, options);
                if (row % 2 != 0 || col % 2 == 0)
                    continue;
                config = without(8, 6, {testing::region(4, 2, 2, 2)});
                config.faults.links_down = {{row, col, direction}};
                sweep_pod(config, n, options);
            }
    CHECK(n.pods == 48 + 12);
    CHECK(n.ring_1d == 6 * n.pods);
    CHECK(n.row_pair == 2 * n.pods);
    CHECK(n.row_pair_forward == 2 * 12);
    CHECK(n.broadcast == 6 * n.pods);
    CHECK(n.reduce == n.broadcast);
    CHECK(n.all_to_all == n.pods);
}
