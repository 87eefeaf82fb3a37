// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the firmware knows of a mesh with failed chips (mesh.h, block_tree.h, rings.h, donation.h), against the slow and
// obvious way to know it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <string>

#include "firmware/collectives/planner.h"
#include "firmware/collectives/supports.h"
#include "testbenches/firmware/broken_mesh.h"

using namespace weft;
using namespace weft::firmware;
using namespace weft::testing;

namespace {

mesh mesh_with(std::uint32_t rows, std::uint32_t cols, const regions& failed)
{
    return mesh_of(table_of(rows, cols, failed));
}

std::uint32_t links_between(place a, place b)
{
    const auto apart = [](std::uint32_t x, std::uint32_t y) { return x > y ? x - y : y - x; };
    return apart(a.row, b.row) + apart(a.col, b.col);
}

std::string text_of(const mesh& m)
{
    std::string text = std::to_string(m.rows) + "x" + std::to_string(m.cols);
    for (std::uint32_t i = 0; i < m.regions; ++i)
        text += " " + std::to_string(m.failed[i].rows) + "x" + std::to_string(m.failed[i].cols) + " at (" +
                std::to_string(m.failed[i].row) + "," + std::to_string(m.failed[i].col) + ")";
    return text;
}

/// Ranks, places and next chips of one mesh.
bool numbering_is_right(const mesh& m, const regions& failed)
{
    bool good = chips(m) == working_chips(failed, m.rows, m.cols);
    std::uint32_t rank = 0;
    for (std::uint32_t row = 0; row < m.rows + 2; ++row)
        for (std::uint32_t col = 0; col < m.cols + 2; ++col) {
            const bool there = row < m.rows && col < m.cols && !is_failed(failed, row, col);
            good = good && works(m, {row, col}) == there;
            if (!there)
                continue;
            good = good && rank_of(m, {row, col}) == rank && place_of(m, rank) == place{row, col};
            ++rank;
            for (std::uint32_t d = 0; d < 4; ++d) {
                constexpr std::int32_t k_down[] = {0, 0, -1, 1}, k_right[] = {-1, 1, 0, 0};
                place next{row, col}, found;
                do
                    next = {next.row + static_cast<std::uint32_t>(k_down[d]),
                            next.col + static_cast<std::uint32_t>(k_right[d])};
                while (next.row < m.rows && next.col < m.cols && is_failed(failed, next.row, next.col));
                const bool any = next.row < m.rows && next.col < m.cols;
                good = good && next_chip(m, {row, col}, static_cast<direction>(d), found) == any;
                good = good && (!any || found == next);
            }
        }
    return good && rank == chips(m);
}

/// Whole pairs and columns, and who serves the others.
bool pairs_are_right(const mesh& m, const regions& failed)
{
    if (m.rows % 2 != 0)
        return true; // not promised
    bool good = true;
    std::vector<std::uint32_t> whole;
    for (std::uint32_t pair = 0; pair < m.rows / 2; ++pair) {
        bool is_whole = true;
        for (std::uint32_t col = 0; col < m.cols; ++col)
            is_whole = is_whole && !is_failed(failed, 2 * pair, col) && !is_failed(failed, 2 * pair + 1, col);
        good = good && pair_is_whole(m, pair) == is_whole && whole_pairs_before(m, pair) == whole.size();
        if (is_whole) {
            good = good && nth_whole_pair(m, static_cast<std::uint32_t>(whole.size())) == pair;
            whole.push_back(pair);
        }
    }
    good = good && whole_pairs(m) == whole.size();

    std::vector<std::uint32_t> columns;
    for (std::uint32_t col = 0; col < m.cols; ++col) {
        bool is_whole = true;
        for (std::uint32_t row = 0; row < m.rows; ++row)
            is_whole = is_whole && !is_failed(failed, row, col);
        good = good && column_is_whole(m, col) == is_whole;
        if (is_whole)
            columns.push_back(col);
    }
    for (std::uint32_t col = 0; col < m.cols; ++col) {
        std::uint32_t found = 0;
        good = good && nearest_whole_column(m, col, found) == !columns.empty();
        const auto distance = [&](std::uint32_t c) {
            return c > col ? 2 * (c - col) : c == col ? 0 : 2 * (col - c) - 1;
        };
        for (const std::uint32_t c : columns)
            good = good && (c == found || distance(found) < distance(c));
    }
    for (std::uint32_t row = 0; row < m.rows / 2 * 2; ++row) {
        place target;
        std::uint32_t distance = 0;
        if (pair_is_whole(m, row / 2))
            continue;
        const bool any = forward_target(m, {row, 0}, target, distance);
        good = good && any == !whole.empty();
        std::uint32_t best = ~0u, ties = 0;
        for (const std::uint32_t pair : whole)
            for (const std::uint32_t to : {2 * pair, 2 * pair + 1}) {
                const std::uint32_t d = to > row ? to - row : row - to;
                ties = d < best ? 1 : ties + (d == best ? 1 : 0);
                best = std::min(best, d);
            }
        good = good && (!any || (distance == best && ties == 1 && target.col == 0 && pair_is_whole(m, target.row / 2) &&
                                 links_between(target, {row, 0}) == best));
    }
    return good;
}

/// Every chip has a way to the root along parents, each the next chip of its child, and children agree.
bool tree_is_right(const mesh& m, place root)
{
    place parent;
    if (tree_parent(m, root, root, parent))
        return false;
    for (std::uint32_t rank = 0; rank < chips(m); ++rank) {
        place at = place_of(m, rank);
        std::uint32_t left = m.rows + m.cols;
        while (!(at == root) && left-- != 0) {
            if (!tree_parent(m, root, at, parent) || !works(m, parent))
                return false;
            if ((parent.row == at.row) == (parent.col == at.col))
                return false;
            const direction to_child = parent.row == at.row
                                           ? (at.col > parent.col ? direction::east : direction::west)
                                           : (at.row > parent.row ? direction::south : direction::north);
            place child;
            if (!next_chip(m, parent, to_child, child) || !(child == at))
                return false;
            at = parent;
        }
        if (!(at == root))
            return false;
    }
    return true;
}

/// One walk over all chips along single links, and its inverse.
bool walk_is_right(const mesh& m)
{
    const std::uint32_t n = chips(m);
    const place start = place_of(m, 0);
    place at = start;
    std::uint32_t visited = 0;
    do {
        const place next = tree_successor(m, at);
        if (!works(m, next) || links_between(at, next) != 1 || !(tree_predecessor(m, next) == at))
            return false;
        at = next;
        ++visited;
    } while (!(at == start) && visited <= n);
    return visited == n;
}

bool all_walks_are_right(std::uint32_t rows, std::uint32_t cols, const regions& failed)
{
    for (const bool transposed : {false, true}) {
        mesh m = mesh_with(rows, cols, failed);
        block_tree tree;
        std::uint32_t visits = 0;
        if (!fits_blocks(m) || !build(tree, m, transposed, visits) || !tree.built || tree.transposed != transposed)
            return false;
        m.tree = tree.edges;
        if (!walk_is_right(m) || visits > 8 * rows * cols)
            return false;
        for (const bool reversed : {false, true}) {
            const ring_id ring{ring_kind::hamiltonian, transposed, reversed};
            for (std::uint32_t rank = 0; rank < chips(m); ++rank) {
                const ring_view v = view_ring(m, ring, rank);
                if (v.size != chips(m) || view_ring(m, ring, v.successor).predecessor != rank ||
                    view_ring(m, {ring_kind::hamiltonian, transposed, !reversed}, rank).successor != v.predecessor)
                    return false;
            }
        }
    }
    return true;
}

} // namespace

TEST_CASE("ranks and places and neighbours and pairs around every single region of small meshes")
{
    std::uint32_t seen = 0;
    for (std::uint32_t rows = 1; rows <= 7; ++rows)
        for (std::uint32_t cols = 1; cols <= 7; ++cols)
            for (const abi::failed_region& f : all_regions(rows, cols, 1)) {
                const mesh m = mesh_with(rows, cols, {f});
                INFO(text_of(m));
                REQUIRE(numbering_is_right(m, {f}));
                REQUIRE(pairs_are_right(m, {f}));
                REQUIRE(oriented(oriented(m, true), true).failed[0].row == f.row);
                REQUIRE(pairs_are_right(oriented(m, true), {region(f.col, f.row, f.cols, f.rows)}));
                ++seen;
            }
    CHECK(seen == 84 * 84 - 49); // rectangles of all meshes but the whole meshes
}

TEST_CASE("ranks and places and neighbours and pairs around random regions and odd ones too")
{
    std::mt19937 engine(3);
    const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
    for (unsigned i = 0; i < 300; ++i) {
        const std::uint32_t rows = 2 + random() % 15, cols = 2 + random() % 31;
        const regions failed = random_regions(engine, rows, cols, abi::k_max_failed_regions, 1, 5);
        const mesh m = mesh_with(rows, cols, failed);
        INFO(text_of(m));
        REQUIRE(numbering_is_right(m, failed));
        REQUIRE(pairs_are_right(m, failed));
    }
}

TEST_CASE("a broadcast tree reaches every chip around every single region from every root")
{
    for (const abi::failed_region& f : all_regions(6, 5, 1)) {
        if (!in_one_piece({f}, 6, 5))
            continue;
        const mesh m = mesh_with(6, 5, {f});
        const abi::platform_table table = table_of(6, 5, {f});
        INFO(text_of(m));
        for (std::uint32_t rank = 0; rank < chips(m); ++rank) {
            const place root = place_of(m, rank);
            REQUIRE(tree_is_right(m, root));
            REQUIRE(tree_is_right(oriented(m, true), oriented(root, true)));
            REQUIRE(tree_reaches_all(table, root.row, root.col, false));
            REQUIRE(tree_reaches_all(table, root.row, root.col, true));
        }
    }
}

TEST_CASE("a broadcast tree that does not reach every chip is known beforehand")
{
    std::mt19937 random(5);
    unsigned whole = 0, holed = 0;
    for (unsigned i = 0; i < 200; ++i) {
        const regions failed = random_regions(random, 8, 8, 4, 1, 4);
        const mesh m = mesh_with(8, 8, failed);
        const abi::platform_table table = table_of(8, 8, failed);
        for (std::uint32_t rank = 0; rank < chips(m); rank += 5)
            for (const bool transposed : {false, true}) {
                const place root = place_of(m, rank);
                const bool reaches = tree_reaches_all(table, root.row, root.col, transposed);
                INFO(text_of(m) << " root " << rank);
                REQUIRE(reaches == tree_is_right(oriented(m, transposed), oriented(root, transposed)));
                ++(reaches ? whole : holed);
            }
    }
    CHECK(whole > 2000);
    CHECK(holed > 20);
}

TEST_CASE("the walk visits every chip once around every even region of 8x8")
{
    for (const abi::failed_region& f : all_regions(8, 8, 2)) {
        INFO(text_of(mesh_with(8, 8, {f})));
        if (in_one_piece({f}, 8, 8))
            REQUIRE(all_walks_are_right(8, 8, {f}));
    }
    REQUIRE(all_walks_are_right(2, 2, {}));
    REQUIRE(all_walks_are_right(2, 12, {}));
    REQUIRE(all_walks_are_right(64, 64, {region(20, 20, 8, 4)}));
}

TEST_CASE("the walk visits every chip once around random regions of 16x32 and around L and U and spiral shapes")
{
    std::mt19937 random(7);
    for (unsigned i = 0; i < 200; ++i) {
        const regions failed = random_regions(random, 16, 32, abi::k_max_failed_regions, 2, 8);
        INFO(text_of(mesh_with(16, 32, failed)));
        REQUIRE(all_walks_are_right(16, 32, failed));
    }
    REQUIRE(all_walks_are_right(8, 8, {region(2, 2, 4, 2), region(4, 4, 2, 2)}));
    REQUIRE(all_walks_are_right(12, 12, {region(2, 2, 6, 2), region(6, 4, 2, 4), region(2, 8, 6, 2)}));
    // A spiral that is entered from below and ends in the middle: the tree needs several sweeps.
    REQUIRE(all_walks_are_right(
        16, 16,
        {region(2, 2, 2, 12), region(4, 12, 10, 2), region(12, 4, 2, 8), region(6, 4, 6, 2), region(6, 6, 2, 4)}));
}

TEST_CASE("a split mesh has no walk")
{
    for (const regions& failed :
         {regions{region(2, 0, 2, 8)}, regions{region(0, 4, 8, 2)}, regions{region(0, 2, 2, 2), region(2, 0, 2, 2)}}) {
        const mesh m = mesh_with(8, 8, failed);
        block_tree tree;
        std::uint32_t visits = 0;
        CHECK_FALSE(build(tree, m, false, visits));
        CHECK_FALSE(tree.built);
        CHECK_FALSE(build(tree, m, true, visits));
    }
}

TEST_CASE("blocks need even meshes and even regions at even places")
{
    for (std::uint32_t rows = 1; rows <= 5; ++rows)
        for (std::uint32_t cols = 1; cols <= 5; ++cols)
            for (const abi::failed_region& f : all_regions(rows, cols, 1)) {
                const bool even = (rows | cols | f.row | f.col | f.rows | f.cols) % 2 == 0;
                REQUIRE(fits_blocks(mesh_with(rows, cols, {f})) == even);
            }
}

TEST_CASE("rings of tiles visit their tile along single links in both directions")
{
    for (const regions& failed :
         {regions{}, regions{region(4, 4, 4, 4)}, regions{region(0, 0, 4, 4), region(8, 4, 4, 8)}}) {
        const mesh m = mesh_with(16, 12, failed);
        for (std::uint32_t rank = 0; rank < chips(m); ++rank)
            for (const bool reversed : {false, true}) {
                const ring_id ring{ring_kind::tile, false, reversed};
                const place here = place_of(m, rank);
                std::set<std::uint32_t> members;
                std::uint32_t at = rank;
                for (std::uint32_t i = 0; i < 4; ++i) {
                    const ring_view v = view_ring(m, ring, at);
                    const place p = place_of(m, at);
                    REQUIRE(v.size == 4);
                    REQUIRE(links_between(p, place_of(m, v.successor)) == 1);
                    REQUIRE(view_ring(m, ring, v.successor).predecessor == at);
                    REQUIRE((p.row / 2 == here.row / 2 && p.col / 2 == here.col / 2));
                    REQUIRE(ring_member(m, ring, rank, v.position) == at);
                    members.insert(at);
                    at = v.successor;
                }
                REQUIRE(at == rank);
                REQUIRE(members.size() == 4);
            }
    }
}

TEST_CASE("rings of pairs and columns skip pairs with failed chips")
{
    std::mt19937 random(11);
    for (unsigned i = 0; i < 100; ++i) {
        const regions failed = random_regions(random, 12, 10, 3, 2, 4);
        const mesh m = mesh_with(12, 10, failed);
        INFO(text_of(m));
        for (unsigned code = 0; code < 4; ++code) {
            const bool transposed = (code & 1) != 0, reversed = (code & 2) != 0;
            const ring_id pair{ring_kind::pair, transposed, reversed};
            const ring_id column{ring_kind::alternate, transposed, reversed};
            const mesh o = oriented(m, transposed);
            for (std::uint32_t rank = 0; rank < chips(m); ++rank) {
                const place here = oriented(place_of(m, rank), transposed);
                if (!pair_is_whole(o, here.row / 2))
                    continue;
                const ring_view around = view_ring(m, pair, rank), down = view_ring(m, column, rank);
                REQUIRE(links_between(place_of(m, rank), place_of(m, around.successor)) == 1);
                REQUIRE(view_ring(m, pair, around.successor).predecessor == rank);
                REQUIRE(down.size == whole_pairs(o));
                const place next = oriented(place_of(m, down.successor), transposed);
                REQUIRE((next.col == here.col && next.row % 2 == here.row % 2 && pair_is_whole(o, next.row / 2)));
                REQUIRE(view_ring(m, column, down.successor).predecessor == rank);
                REQUIRE(ring_position(m, pair, down.successor) == around.position);
                // No further than two whole pairs on.
                const std::uint32_t a = whole_pairs_before(o, here.row / 2), b = whole_pairs_before(o, next.row / 2);
                REQUIRE((a > b ? a - b : b - a) <= 2);
            }
        }
    }
}

TEST_CASE("every kind of ring has a semaphore of its own")
{
    std::set<std::uint32_t> seen;
    std::uint32_t rings = 0;
    for (unsigned code = 0; code < 16; ++code, ++rings)
        seen.insert(
            ready_semaphore(ring_number({static_cast<ring_kind>(code >> 2), (code & 2) != 0, (code & 1) != 0})));
    for (const bool reversed : {false, true}) {
        seen.insert(ready_semaphore(ring_number({ring_kind::tile, false, reversed})));
        ++rings;
    }
    CHECK(rings == k_ring_numbers);
    CHECK(seen.size() == k_ring_numbers);
    for (const std::uint32_t s : seen)
        CHECK(((s >= k_sem_ready && s < k_sem_tree_ready) || (s >= k_sem_tile_ready && s < k_semaphores)));
    std::set<std::uint32_t> donors;
    for (std::uint32_t lane = 0; lane < 2; ++lane)
        for (std::uint32_t slot = 0; slot < k_max_donors; ++slot)
            donors.insert(donor_semaphore(lane, slot));
    CHECK(donors.size() == 2 * k_max_donors);
    CHECK(*donors.begin() > data_semaphore(1, data_kind::outer_gather));
    CHECK(*donors.rbegin() < k_sem_ready);
}

TEST_CASE("units of a donation partition the range and are made in the order in which they are sent")
{
    for (const std::uint64_t count : {0ull, 1ull, 2ull, 3ull, 4ull, 5ull, 31ull, 40ull, 1000ull, 12345ull})
        for (const std::uint64_t chunk : {1ull, 2ull, 3ull, 7ull, 64ull, 1000ull, 1ull << 40}) {
            const donation d = make_donation(count, chunk);
            INFO(count << " elements, chunks of " << chunk);
            REQUIRE(d.rounds >= 1);
            REQUIRE(d.rounds == std::max<std::uint64_t>(1, (count + 4 * chunk - 1) / (4 * chunk)));
            bool good = true;
            std::uint64_t next = 0;
            for (std::uint32_t u = 0; u < d.units(); ++u) {
                const abi::element_range r = d.unit(u);
                good = good && r.first == next && r.count <= chunk;
                for (std::uint64_t e = r.first; e < r.first + r.count; ++e)
                    good = good && d.unit_of(e) == u;
                next = r.first + r.count;
            }
            REQUIRE((good && next == count));

            for (const std::uint32_t size : {2u, 4u, 6u, 16u, 64u})
                for (std::uint32_t position = 0; position < size; ++position)
                    for (std::uint32_t owner = 0; owner < k_tile_chips; ++owner) {
                        const std::uint32_t first = first_round_unit(d, owner, position, size);
                        std::vector<std::uint32_t> made;
                        for (std::uint32_t round = 0; round < d.rounds; ++round) {
                            made.push_back(unit_in_round(d, owner, first, round));
                            good = good && made.back() < d.units() && made.back() % k_tile_chips == owner &&
                                   round_of_unit(d, first, made.back()) == round;
                        }
                        // Falling from `first`, once around.
                        std::uint32_t wraps = 0;
                        for (std::size_t i = 1; i < made.size(); ++i)
                            wraps += made[i] > made[i - 1] ? 1 : 0;
                        good = good && made[0] == first && wraps <= 1 &&
                               std::set<std::uint32_t>(made.begin(), made.end()).size() == d.rounds;
                        // What the receiver's first shard needs comes before anything else.
                        const abi::element_range shard =
                            abi::shard_of(count, size, position == 0 ? size - 1 : position - 1);
                        bool needed = true;
                        for (const std::uint32_t u : made) {
                            const abi::element_range r = d.unit(u);
                            const bool needs = r.count != 0 && shard.count != 0 &&
                                               r.first < shard.first + shard.count && r.first + r.count > shard.first;
                            good = good && (needed || !needs);
                            needed = needs;
                        }
                    }
            REQUIRE(good);
        }
}

TEST_CASE("donations of more elements than 32 bits count")
{
    const std::uint64_t count = (1ull << 33) + 12345;
    const donation d = make_donation(count, 1 << 16);
    CHECK(d.rounds == (count + (1 << 18) - 1) / (1 << 18));
    for (const std::uint64_t e : {std::uint64_t{0}, std::uint64_t{1} << 32, count / 3, count - 1}) {
        const abi::element_range r = d.unit(d.unit_of(e));
        CHECK((e >= r.first && e < r.first + r.count && r.count <= 1 << 16));
        const std::uint32_t shard = shard_index(count, 62, e);
        const abi::element_range s = abi::shard_of(count, 62, shard);
        CHECK((e >= s.first && e < s.first + s.count));
    }
    CHECK(first_round_unit(d, 3, 0, 64) < d.units());
}
