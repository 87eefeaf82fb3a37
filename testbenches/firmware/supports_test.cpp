// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which collective runs where on a mesh with failed chips, and the sentence of every refusal.
#include <catch2/catch.hpp>

#include <string>

#include "firmware/collectives/supports.h"
#include "testbenches/firmware/broken_mesh.h"

using namespace weft;
using namespace weft::firmware;
using namespace weft::testing;
using abi::algorithm;
using abi::collective_op;

namespace {

std::string refusal(algorithm algo, std::uint32_t rows, std::uint32_t cols, const regions& failed,
                    bool transposed = false, collective_op op = collective_op::all_reduce)
{
    const char* reason = nullptr;
    const bool runs = supports(op, algo, table_of(rows, cols, failed), transposed, &reason);
    REQUIRE(reason != nullptr);
    REQUIRE(runs == std::string(reason).empty());
    return reason;
}

constexpr const char* k_even_row_pair =
    "row_pair around failed chips needs an even number of rows and of columns, and failed regions of even size that "
    "start on even rows and columns";
constexpr const char* k_even_ring =
    "ring_1d around failed chips needs an even number of rows and of columns, and failed regions of even size that "
    "start on even rows and columns";

} // namespace

TEST_CASE("what a scheme needs around failed chips is said in one sentence")
{
    const regions board{region(2, 2, 2, 2)};
    for (const bool transposed : {false, true}) {
        CHECK(refusal(algorithm::ring_1d, 8, 8, board, transposed).empty());
        CHECK(refusal(algorithm::row_pair, 8, 8, board, transposed).empty());
        CHECK(refusal(algorithm::row_pair_forward, 8, 8, board, transposed).empty());
        CHECK(refusal(algorithm::two_d, 8, 8, board, transposed) == "two_d needs a mesh without failed chips");
        CHECK(refusal(algorithm::row_pair_forward, 8, 8, {}, transposed) ==
              "row_pair_forward differs from row_pair only where chips have failed, and none has: use row_pair");
        for (const regions& odd :
             {regions{region(1, 2, 2, 2)}, regions{region(2, 1, 2, 2)}, regions{region(2, 2, 1, 2)},
              regions{region(2, 2, 2, 1)}, regions{region(0, 0, 2, 2), region(5, 4, 2, 2)}}) {
            CHECK(refusal(algorithm::ring_1d, 8, 8, odd, transposed) == k_even_ring);
            CHECK(refusal(algorithm::row_pair, 8, 8, odd, transposed) == k_even_row_pair);
            CHECK(refusal(algorithm::row_pair_forward, 8, 8, odd, transposed) == k_even_row_pair);
            CHECK(refusal(algorithm::mesh_tree, 8, 8, odd, transposed, collective_op::broadcast).empty());
            CHECK(refusal(algorithm::direct, 8, 8, odd, transposed, collective_op::all_to_all).empty());
        }
        CHECK(refusal(algorithm::ring_1d, 8, 7, board, transposed) == k_even_ring);
        CHECK(refusal(algorithm::ring_1d, 130, 128, board, transposed) == k_even_ring); // more blocks than k_max_blocks
        CHECK(refusal(algorithm::ring_1d, 128, 128, board, transposed).empty());
        for (const collective_op op : {collective_op::reduce_scatter, collective_op::all_gather}) {
            CHECK(refusal(algorithm::ring_1d, 8, 8, board, transposed, op).empty());
            CHECK(refusal(algorithm::ring_1d, 8, 8, {region(1, 1, 2, 2)}, transposed, op) == k_even_ring);
        }
    }
}

TEST_CASE("row_pair needs whole pairs within reach in the orientation that was asked for")
{
    const regions tall{region(0, 2, 8, 2)}, wide{region(2, 0, 2, 8)};
    CHECK(refusal(algorithm::row_pair, 8, 8, tall) == "row_pair needs a pair of rows without failed chips");
    CHECK(refusal(algorithm::row_pair, 8, 8, tall, true).empty());
    CHECK(refusal(algorithm::row_pair, 8, 8, wide, true) ==
          "row_pair transposed needs a pair of columns without failed chips");
    const regions high{region(0, 2, 6, 2)}, long_{region(2, 0, 2, 6)};
    CHECK(refusal(algorithm::row_pair, 8, 8, high) ==
          "row_pair needs a row without failed chips in its pair within 4 rows of each row next to failed chips");
    CHECK(refusal(algorithm::row_pair, 8, 8, long_, true) ==
          "row_pair transposed needs a column without failed chips in its pair within 4 columns of each column next to "
          "failed chips");
    CHECK(refusal(algorithm::row_pair, 8, 8, high, true).empty());
    CHECK(refusal(algorithm::row_pair, 8, 8, long_).empty());
    CHECK(refusal(algorithm::row_pair, 8, 8, {region(0, 2, 4, 2)}).empty());
    CHECK(refusal(algorithm::row_pair, 12, 8, {region(2, 2, 8, 2)}).empty()); // four rows to each side
    // Whole pairs, but no whole column.
    CHECK(refusal(algorithm::row_pair_forward, 8, 8, long_).empty());
    CHECK(refusal(algorithm::row_pair_forward, 8, 8, {region(2, 0, 2, 4), region(6, 4, 2, 4)}) ==
          "row_pair_forward needs a column without failed chips");
    CHECK(refusal(algorithm::row_pair, 8, 8, {region(2, 0, 2, 4), region(6, 4, 2, 4)}).empty());
    CHECK(refusal(algorithm::row_pair_forward, 8, 24, {region(2, 0, 2, 10)}) ==
          "row_pair_forward lets a whole column serve at most 8 columns with failed chips");
    CHECK(refusal(algorithm::row_pair_forward, 8, 24, {region(2, 0, 2, 8)}).empty());
    CHECK(refusal(algorithm::row_pair_forward, 8, 24, {region(2, 4, 2, 16)}).empty()); // eight to each side
}

TEST_CASE("what supports() says around failed chips does not depend on rank and is stable under transposition")
{
    std::mt19937 random(13);
    unsigned pairs = 0, refused = 0;
    for (unsigned i = 0; i < 500; ++i) {
        const regions failed = random_regions(random, 16, 32, 2, 2, 8);
        regions turned;
        for (const abi::failed_region& f : failed)
            turned.push_back(region(f.col, f.row, f.cols, f.rows));
        for (const algorithm a : {algorithm::ring_1d, algorithm::row_pair, algorithm::row_pair_forward})
            for (const bool transposed : {false, true}) {
                const bool runs = refusal(a, 16, 32, failed, transposed).empty();
                REQUIRE(runs == refusal(a, 32, 16, turned, !transposed).empty());
                REQUIRE((runs || a != algorithm::ring_1d));
                if (a != algorithm::ring_1d)
                    ++(runs ? pairs : refused);
            }
    }
    CHECK(pairs > 500);
    CHECK(refused > 50);
}
