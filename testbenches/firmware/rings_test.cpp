// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The logical rings of firmware/collectives/rings.h on every mesh up to 10 x 10.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <vector>

#include "firmware/collectives/planner.h"
#include "firmware/collectives/supports.h"

using namespace weft;
using namespace weft::firmware;

namespace {

std::uint32_t line_distance(std::uint32_t a, std::uint32_t b, std::uint32_t n, bool wrap)
{
    const std::uint32_t d = a > b ? a - b : b - a;
    return wrap && n - d < d ? n - d : d;
}

std::uint32_t distance(const mesh& m, std::uint32_t a, std::uint32_t b)
{
    return line_distance(a / m.cols, b / m.cols, m.rows, m.wrap_rows) +
           line_distance(a % m.cols, b % m.cols, m.cols, m.wrap_cols);
}

bool exists(const mesh& m, ring_id id)
{
    const std::uint32_t rows = id.transposed ? m.cols : m.rows;
    const std::uint32_t cols = id.transposed ? m.rows : m.cols;
    switch (id.kind) {
    case ring_kind::hamiltonian: return rows >= 2 && cols >= 2 && rows % 2 == 0;
    case ring_kind::line: return true;
    default: return rows % 2 == 0;
    }
}

abi::platform_table table_of(std::uint32_t rows, std::uint32_t cols)
{
    abi::platform_table t;
    t.ranks = rows * cols;
    t.dim_count = 2;
    t.dims[0] = rows;
    t.dims[1] = cols;
    return t;
}

} // namespace

TEST_CASE("every ring visits each of its members once and knows its neighbours")
{
    for (std::uint32_t rows = 1; rows <= 10; ++rows)
        for (std::uint32_t cols = 1; cols <= 10; ++cols)
            for (unsigned code = 0; code < 64; ++code) {
                const mesh m{rows, cols, (code & 16) != 0, (code & 32) != 0};
                const ring_id id{static_cast<ring_kind>(code >> 2 & 3), (code & 2) != 0, (code & 1) != 0};
                if (!exists(m, id))
                    continue;
                const std::uint32_t n = ring_size(m, id);
                bool good = ring_number(id) == (code & 15);
                for (std::uint32_t rank = 0; rank < rows * cols; ++rank) {
                    const ring_view v = view_ring(m, id, rank);
                    good = good && v.size == n && v.position < n && ring_member(m, id, rank, v.position) == rank;
                    good = good && view_ring(m, id, v.successor).predecessor == rank;
                    good = good && ring_position(m, id, v.successor) == (v.position + 1) % n;
                    std::uint32_t walked = 0;
                    std::uint32_t at = rank;
                    do {
                        at = view_ring(m, id, at).successor;
                        ++walked;
                    } while (at != rank && walked <= n);
                    good = good && walked == n;
                }
                INFO("rows " << rows << " cols " << cols << " code " << code);
                REQUIRE(good);
            }
}

TEST_CASE("ring neighbours are near on the mesh")
{
    for (std::uint32_t rows = 1; rows <= 10; ++rows)
        for (std::uint32_t cols = 1; cols <= 10; ++cols)
            for (unsigned code = 0; code < 64; ++code) {
                const mesh m{rows, cols, (code & 16) != 0, (code & 32) != 0};
                const ring_id id{static_cast<ring_kind>(code >> 2 & 3), (code & 2) != 0, (code & 1) != 0};
                if (!exists(m, id) || ring_size(m, id) < 2)
                    continue;
                const bool closed = (id.kind == ring_kind::line) != id.transposed ? m.wrap_cols : m.wrap_rows;
                // Figures 3 and 6: one link. Figure 4: up to two links on an open line, one on a closed one. Figure 7: rows
                // of one parity are two links apart, so twice that.
                std::uint32_t limit = 1;
                if (id.kind == ring_kind::line)
                    limit = closed ? 1 : 2;
                if (id.kind == ring_kind::alternate)
                    limit = closed ? 2 : 4;
                std::uint32_t longest = 0;
                for (std::uint32_t rank = 0; rank < rows * cols; ++rank)
                    longest = std::max(longest, distance(m, rank, view_ring(m, id, rank).successor));
                INFO("rows " << rows << " cols " << cols << " code " << code);
                REQUIRE(longest <= limit);
            }
}

TEST_CASE("line order of the paper's two dimensional scheme")
{
    const mesh m{1, 7, false, false};
    std::vector<std::uint32_t> order;
    for (std::uint32_t p = 0; p < 7; ++p)
        order.push_back(ring_member(m, {ring_kind::line, false, false}, 0, p));
    CHECK(order == std::vector<std::uint32_t>{0, 2, 4, 6, 5, 3, 1});
}

TEST_CASE("ranks of one alternate ring stand at one position of their pair rings")
{
    for (const bool transposed : {false, true})
        for (const bool reversed : {false, true}) {
            const mesh m{8, 6, false, false};
            const ring_id pair{ring_kind::pair, transposed, reversed};
            for (std::uint32_t rank = 0; rank < 48; ++rank) {
                const ring_view v = view_ring(m, {ring_kind::alternate, transposed, reversed}, rank);
                REQUIRE(ring_position(m, pair, rank) == ring_position(m, pair, v.successor));
            }
        }
}

TEST_CASE("refusals say what is needed")
{
    using abi::algorithm;
    using abi::collective_op;
    const char* reason = nullptr;
    CHECK_FALSE(supports(collective_op::all_reduce, algorithm::ring_1d, table_of(3, 5), false, &reason));
    CHECK(std::string(reason) == "ring_1d needs an even number of rows or columns and at least 2 of each");
    CHECK_FALSE(supports(collective_op::all_reduce, algorithm::ring_1d, table_of(1, 8), false, &reason));
    CHECK(supports(collective_op::all_reduce, algorithm::ring_1d, table_of(3, 4), false, &reason));
    CHECK(std::string(reason).empty());
    CHECK_FALSE(supports(collective_op::all_reduce, algorithm::row_pair, table_of(3, 4), false, &reason));
    CHECK(std::string(reason) == "row_pair needs an even number of rows");
    CHECK(supports(collective_op::all_reduce, algorithm::row_pair, table_of(3, 4), true, &reason));
    CHECK_FALSE(supports(collective_op::broadcast, algorithm::ring_1d, table_of(4, 4), false, &reason));
    CHECK(std::string(reason) == "broadcast runs by mesh_tree only");
    abi::platform_table cube = table_of(2, 2);
    cube.dim_count = 3;
    cube.dims[2] = 2;
    cube.ranks = 8;
    CHECK_FALSE(supports(collective_op::all_reduce, algorithm::two_d, cube, false, &reason));
    CHECK(std::string(reason) == "this algorithm needs a 2-D mesh");
    CHECK(supports(collective_op::all_to_all, algorithm::direct, cube, false, &reason));
    for (unsigned op = 0; op < abi::k_collective_ops; ++op)
        for (unsigned algo = 0; algo < abi::k_algorithms; ++algo)
            if (!supports(static_cast<collective_op>(op), static_cast<algorithm>(algo), table_of(4, 4), false, &reason))
                CHECK(std::string(reason).size() > 10);
}
