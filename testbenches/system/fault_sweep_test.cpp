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

tpu_pod_config without(std::uint32_t rows, std::uint32_t cols, const testing::regions& failed)
{
    tpu_pod_config config = pod(rows, cols);
    for (const abi::failed_region& f : failed)
        config.faults.regions.push_back({f.row, f.col, f.rows, f.cols});
    return config;
}

/// One orientation each, in turn: a position is tried in one of them, its mirror image in the other.
sweep_counts sweep_16(std::uint32_t rows, std::uint32_t cols)
{
    sweep_counts counts;
    for (const abi::failed_region& f : testing::all_regions(16, 16, 2)) {
        if (f.rows != rows || f.cols != cols || !testing::in_one_piece({f}, 16, 16))
            continue;
        sweep_options options;
        options.bytes = 400;
        options.chunk = 32;
        options.lean = true;
        options.all_to_all = false;
        options.orientations = {(f.row + f.col) / 2 % 2 != 0};
        sweep_pod(without(16, 16, {f}), counts, options);
    }
    return counts;
}

} // namespace

TEST_CASE("16x16 without 2x2, everywhere")
{
    const sweep_counts n = sweep_16(2, 2);
    CHECK(n.pods == 64);
    CHECK(n.ring_1d == 64 + 32);
    CHECK(n.row_pair == 64);
    CHECK(n.row_pair_forward == 64);
    CHECK(n.broadcast == 64);
}
