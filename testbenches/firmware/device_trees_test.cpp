// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Trees over devices of firmware/collectives/device_trees.h: lines, meshes and tori of up to 4x5 devices, of two to
// eight ranks, up to four layers of them, from every device.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "firmware/collectives/device_trees.h"

using namespace weft;
using namespace weft::firmware;

namespace {

abi::platform_table machine(std::uint32_t layers, std::uint32_t rows, std::uint32_t cols, std::uint32_t per_device)
{
    abi::platform_table t;
    const auto add = [&](std::uint32_t size, bool always) {
        if (size == 1 && !always)
            return;
        t.dims[t.dim_count] = size;
        t.kind[t.dim_count++] = size >= 3 ? abi::dimension_kind::ring : size == 2 ? abi::dimension_kind::full : abi::dimension_kind::line;
    };
    add(layers, false);
    add(rows, true);
    add(cols, true);
    t.dims[t.dim_count] = per_device;
    t.kind[t.dim_count++] = abi::dimension_kind::full;
    t.ranks = layers * rows * cols * per_device;
    t.device_ranks = t.device_members = static_cast<std::uint8_t>(per_device);
    return t;
}

template <class F> void every_machine(F&& f)
{
    for (std::uint32_t layers = 1; layers <= 4; ++layers)
        for (std::uint32_t rows = 1; rows <= 4; ++rows)
            for (std::uint32_t cols = 1; cols <= 5; ++cols)
                for (const std::uint32_t per_device : {2u, 4u, 8u}) {
                    if (rows * cols * layers < 2 || (layers > 1 && per_device > 2))
                        continue;
                    INFO(layers << "x" << rows << "x" << cols << " devices of " << per_device);
                    const abi::platform_table table = machine(layers, rows, cols, per_device);
                    const device_map map(table);
                    f(map);
                }
}

} // namespace

TEST_CASE("trees reach every device once and use no link twice")
{
    every_machine([](const device_map& map) {
        for (std::uint32_t root = 0; root < map.devices; ++root) {
            const device_trees trees(map, root * map.per_device + root % map.per_device);
            std::set<std::pair<std::uint32_t, std::uint32_t>> links;
            std::uint32_t deepest = 0;
            for (std::uint32_t colour = 0; colour < trees.colours(); ++colour)
                for (std::uint32_t device = 0; device < map.devices; ++device) {
                    std::uint32_t at = device, depth = 0, children[device_trees::k_most_children];
                    for (; at != root; ++depth) {
                        const std::uint32_t parent = trees.parent(colour, at);
                        REQUIRE(parent < map.devices);
                        REQUIRE(depth < map.devices);
                        if (depth == 0)
                            CHECK(links.insert({parent, at}).second);
                        const std::uint32_t count = trees.children(colour, parent, children);
                        CHECK(std::count(children, children + count, at) == 1);
                        at = parent;
                    }
                    deepest = std::max(deepest, depth);
                }
            CHECK(links.size() == trees.colours() * (map.devices - 1));
            CHECK(deepest == trees.depth());
        }
    });
}

TEST_CASE("devices have as many children in a tree as a reduce has semaphores for")
{
    // reduce_plan::most_children()
    std::map<std::uint32_t, std::uint32_t> most;
    every_machine([&](const device_map& map) {
        for (std::uint32_t root = 0; root < map.devices; ++root) {
            const device_trees trees(map, root * map.per_device);
            for (std::uint32_t colour = 0; colour < trees.colours(); ++colour)
                for (std::uint32_t device = 0; device < map.devices; ++device) {
                    std::uint32_t children[device_trees::k_most_children];
                    most[trees.colours()] = std::max(most[trees.colours()], trees.children(colour, device, children));
                }
        }
    });
    CHECK(most.size() == 4);
    CHECK(most[4] == 2);
    CHECK(most[3] <= 3);
    CHECK(most[2] <= 4);
    CHECK(most[1] <= 4);
}

TEST_CASE("ranks of a torus share trees in equal parts and each has what comes to its half")
{
    const abi::platform_table table = machine(1, 4, 4, 4);
    const device_map map(table);
    for (std::uint32_t root = 0; root < map.ranks; ++root) {
        const device_trees trees(map, root);
        REQUIRE(trees.colours() == 4);
        for (std::uint32_t device = 0; device < map.devices; ++device)
            for (std::uint32_t turn = 0; turn < k_turns_of_tree; ++turn) {
                std::set<std::uint32_t> ranks;
                for (std::uint32_t colour = 0; colour < 4; ++colour) {
                    const std::uint32_t rank = trees.rank_on(colour, device, turn);
                    CHECK(rank / map.per_device == device);
                    ranks.insert(rank);
                    if (device == trees.root_device())
                        continue;
                    // Of a row, the neighbour with the higher number is at the second half.
                    const std::uint32_t parent = trees.parent(colour, device);
                    if (parent / 4 == device / 4)
                        CHECK(rank % 4 / 2 == (parent % 4 == (device % 4 + 1) % 4 ? 1u : 0u));
                }
                CHECK(ranks.size() == 4);
            }
    }
}

TEST_CASE("short data takes the tree of least depth and long data all of them")
{
    const abi::platform_table table = machine(1, 4, 4, 4);
    const device_map map(table);
    const auto colours_of = [&](std::uint64_t bytes, bool reduces) {
        device_trees trees(map, 5);
        const tree_shape shape = shape_of_trees(trees, bytes, reduces);
        CHECK(shape.slices <= bytes / k_short_slice_bytes / trees.colours() / shape.turns + 1);
        return trees.colours() * shape.turns;
    };
    CHECK(colours_of(4, false) == 1);
    CHECK(colours_of(4, true) == 1);
    CHECK(colours_of(256 << 10, false) == 1);
    CHECK(colours_of(1 << 20, false) == 4);
    CHECK(colours_of(64 << 20, false) == 8);
    CHECK(colours_of(1 << 20, true) == 8);
}
