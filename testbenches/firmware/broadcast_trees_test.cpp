// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The trees of firmware/collectives/broadcast_trees.h on every mesh and torus up to 8 x 8, from every root.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <vector>

#include "firmware/collectives/broadcast_trees.h"

using namespace weft;
using namespace weft::firmware;

namespace {

constexpr direction k_all[] = {direction::west, direction::east, direction::north, direction::south};

std::uint32_t fewest_links(const mesh& m)
{
    std::uint32_t fewest = 4;
    for (std::uint32_t row = 0; row < m.rows; ++row)
        for (std::uint32_t col = 0; col < m.cols; ++col) {
            place found;
            const auto links = std::count_if(std::begin(k_all), std::end(k_all), [&](direction d) {
                return linked_chip(m, {row, col}, d, found);
            });
            fewest = std::min(fewest, static_cast<std::uint32_t>(links));
        }
    return fewest;
}

template <class F> void every_mesh(F&& f)
{
    for (std::uint32_t rows = 1; rows <= 8; ++rows)
        for (std::uint32_t cols = 1; cols <= 8; ++cols)
            for (unsigned wraps = 0; wraps < 4; ++wraps)
                if (rows * cols > 1)
                    f(mesh{rows, cols, (wraps & 1) != 0, (wraps & 2) != 0});
}

} // namespace

TEST_CASE("a mesh has as many trees as its chip with the fewest links has links")
{
    every_mesh([](const mesh& m) {
        INFO(m.rows << "x" << m.cols << (m.wrap_rows ? ", columns close" : "") << (m.wrap_cols ? ", rows close" : ""));
        CHECK(tree_colours(m) == fewest_links(m));
    });
    CHECK(tree_colours({1, 8}) == 1);
    CHECK(tree_colours({8, 8}) == 2);
    CHECK(tree_colours({8, 8, true, false}) == 3);
    CHECK(tree_colours({8, 8, true, true}) == 4);
    CHECK(tree_colours({8, 2, true, true}) == 3); // two chips are joined once
}

TEST_CASE("every tree reaches all chips and no two use the same link in the same direction")
{
    const torus_trees kind = GENERATE(torus_trees::shallow, torus_trees::even);
    every_mesh([kind](const mesh& m) {
        for (const std::uint32_t colours : std::set<std::uint32_t>{1, tree_colours(m)})
            for (std::uint32_t r = 0; r < m.rows * m.cols; ++r) {
                const place root{r / m.cols, r % m.cols};
                std::set<std::pair<std::uint32_t, std::uint32_t>> links; // from the rank, in the direction
                std::uint32_t deepest = 0;
                for (std::uint32_t colour = 0; colour < colours; ++colour)
                    for (std::uint32_t rank = 0; rank < m.rows * m.cols; ++rank) {
                        place at{rank / m.cols, rank % m.cols};
                        std::uint32_t depth = 0;
                        for (; !(at == root); ++depth) {
                            place parent;
                            const direction d = parent_direction(m, root, colours, colour, at, kind);
                            REQUIRE(linked_chip(m, at, d, parent));
                            if (depth == 0)
                                REQUIRE(links.insert({rank_of(m, parent), static_cast<std::uint32_t>(opposite(d))}).second);
                            REQUIRE(depth < m.rows * m.cols);
                            at = parent;
                        }
                        deepest = std::max(deepest, depth);
                    }
                INFO(m.rows << "x" << m.cols << " wraps " << m.wrap_rows << m.wrap_cols << ", root " << r << ", " << colours << " trees");
                REQUIRE(deepest == tree_depth(m, root, colours, kind));
            }
    });
}

TEST_CASE("one tree has the least depth over wrap links as well")
{
    CHECK(tree_depth({8, 8}, {0, 0}, 1) == 14);
    CHECK(tree_depth({8, 8}, {3, 4}, 1) == 8);
    CHECK(tree_depth({8, 8, true, true}, {0, 0}, 1) == 8);
    CHECK(tree_depth({8, 8}, {0, 0}, 2) == 14);
    CHECK(tree_depth({8, 8, true, true}, {0, 0}, 4) == 11);
    CHECK(tree_depth({8, 8, true, true}, {0, 0}, 4, torus_trees::even) == 15);
    CHECK(tree_depth({3, 8, true, true}, {1, 5}, 4) == 8);
    CHECK(tree_depth({7, 5, true, true}, {0, 0}, 4) == 8);
    CHECK(tree_depth({1, 8}, {0, 2}, 1) == 5);
}
