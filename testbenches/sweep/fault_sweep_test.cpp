// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Every position of every shape of failed region on 8x8: all collectives that run there are exact, routing is proved.
// A test case per shape; ctest runs them side by side.
#include "testbenches/system/fault_sweep.h"

using namespace weft;
using namespace weft::test;

namespace {

void sweep(std::uint32_t rows, std::uint32_t cols, unsigned pods, unsigned row_pair, unsigned forward)
{
    const sweep_counts n = sweep_positions(8, rows, cols);
    CHECK(n.pods == pods);
    CHECK(n.ring_1d == 2 * 3 * pods);
    CHECK(n.broadcast == 2 * 3 * pods);
    CHECK(n.all_to_all == pods);
    CHECK(n.row_pair == row_pair); // of two orientations
    CHECK(n.row_pair_forward == forward);
}

} // namespace

TEST_CASE("8x8 without a board of 2x2 everywhere") { sweep(2, 2, 16, 32, 32); }
TEST_CASE("8x8 without 4x2 everywhere") { sweep(4, 2, 12, 24, 24); }
TEST_CASE("8x8 without 2x4 everywhere") { sweep(2, 4, 12, 24, 24); }
TEST_CASE("8x8 without 6x2 everywhere") { sweep(6, 2, 8, 8, 8); }
TEST_CASE("8x8 without 2x6 everywhere") { sweep(2, 6, 8, 8, 8); }
TEST_CASE("8x8 without 4x4 everywhere") { sweep(4, 4, 9, 18, 18); }
TEST_CASE("8x8 without 8x2 or 2x8 at an edge")
{
    sweep(8, 2, 2, 2, 0);
    sweep(2, 8, 2, 2, 0);
}
