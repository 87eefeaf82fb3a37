// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which process groups of UB-Mesh exchange by all paths: those that have a part of a mesh.
#include "platforms/ub_mesh/ub_exchange_paths.h"

#include "hw/routing/ub/ub_paths.h"
#include "platforms/ub_mesh/ub_mesh.h"
#include "platforms/workload/process_groups.h"

#include <catch2/catch.hpp>

#include <set>

using namespace weft;

namespace {

/// Of all groups of `text`, in this machine with these paths.
std::vector<std::uint16_t> near(const ub_shape& shape, ub_path_use paths, const std::vector<std::string>& texts)
{
    ub_mesh_config config;
    config.mesh = shape;
    config.ub.paths = paths;
    const ub_routes routes(config);
    std::vector<abi::platform_table> all;
    for (std::uint32_t rank = 0; rank < config.ranks(); ++rank)
        all.push_back(config.rank_table(rank));
    const table_of_rank table_of = [&all](std::uint32_t rank) -> const abi::platform_table& { return all[rank]; };
    const named_groups groups = find_groups(texts, config.ranks(), table_of);
    REQUIRE(groups.problem.empty());
    std::vector<abi::platform_table> firsts;
    for (const rank_list& list : groups.lists)
        firsts.push_back(tables_of_group(list, table_of, 1).front());
    return near_ranks_of(routes.plan, routes.down, groups.lists, firsts); // rank i of a whole machine is router i
}

std::set<std::uint16_t> values(const std::vector<std::uint16_t>& near) { return {near.begin(), near.end()}; }

ub_shape slice_of_a_pod()
{
    ub_shape s;
    s.boards = 1;
    s.rack_rows = s.rack_cols = 4;
    s.hrs = true;
    s.backplane_lanes = s.rack_link_lanes = 16; // of one board
    return s;
}

using set = std::set<std::uint16_t>;

} // namespace

TEST_CASE("groups that fill their meshes exchange by shortest paths")
{
    const ub_shape slice = slice_of_a_pod();
    for (const ub_path_use paths : {ub_path_use::shortest, ub_path_use::detour}) {
        CAPTURE(name_of(paths));
        CHECK(values(near(slice, paths, {"blocks of 8"})) == set{abi::k_all_near}); // boards
        CHECK(values(near(slice, paths,
                          {
                              "dimension 0",
                          })) == set{abi::k_all_near});
        CHECK(values(near(slice, paths, {"blocks of 32"})) == set{abi::k_all_near}); // rows of four racks
    }
    CHECK(values(near(slice, ub_path_use::shortest, {"blocks of 16"})) == set{abi::k_all_near});
}

TEST_CASE("groups of two racks in a row of four exchange inside a board by shortest paths and between boards by all")
{
    const ub_shape slice = slice_of_a_pod();
    CHECK(values(near(slice, ub_path_use::detour, {"blocks of 16"})) == set{8});
    CHECK(values(near(slice, ub_path_use::borrow, {"blocks of 16"})) == set{8});
    CHECK(values(near(slice, ub_path_use::all, {"blocks of 16"})) == set{8});
    // Pairs of NPUs in neighbour racks: every message leaves the rack.
    std::vector<std::string> pairs;
    for (std::uint32_t r = 0; r < 128; r += 16)
        for (std::uint32_t i = r; i < r + 8; ++i)
            pairs.push_back(std::to_string(i) + "," + std::to_string(i + 8));
    CHECK(values(near(slice, ub_path_use::all, pairs)) == set{1});
}

TEST_CASE("a group of half a board exchanges by all paths when the other half idles and by shortest when both work")
{
    ub_shape board;
    board.boards = 1;
    CHECK(values(near(board, ub_path_use::all, {"0-3"})) == set{1});
    CHECK(values(near(board, ub_path_use::all, {"0,1", "2,3", "4,5", "6,7"})) == set{1});
    CHECK(values(near(board, ub_path_use::all, {"blocks of 8"})) == set{abi::k_all_near});
}

TEST_CASE("exchanges of very many pairs keep to shortest paths")
{
    ub_shape pod;
    pod.rack_rows = pod.rack_cols = 4;
    const ub_plan plan = ub_topology(pod, {}).plan();
    std::vector<std::uint32_t> all(1024);
    for (std::uint32_t i = 0; i < all.size(); ++i)
        all[i] = i;
    abi::platform_table table;
    table.dim_count = 1;
    table.dims[0] = 1024;
    CHECK(near_ranks_of(plan, {}, {all}, {table}) == std::vector<std::uint16_t>{abi::k_all_near});
}
