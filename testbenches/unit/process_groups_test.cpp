// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Process groups: how a user names them, and what firmware is told of a group.
#include "platforms/workload/process_groups.h"

#include <catch2/catch.hpp>

using namespace weft;
using abi::dimension_kind;
using lists = std::vector<rank_list>;

namespace {

/// Tables of all ranks of a machine of these dimensions, the outermost first.
struct tables {
    explicit tables(const std::vector<std::uint32_t>& dims, dimension_kind kind = dimension_kind::line)
    {
        std::uint32_t ranks = 1;
        for (const std::uint32_t d : dims)
            ranks *= d;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            abi::platform_table& t = all.emplace_back();
            t.rank = rank;
            t.ranks = ranks;
            t.dim_count = static_cast<std::uint32_t>(dims.size());
            std::uint32_t rest = rank;
            for (std::size_t d = dims.size(); d-- > 0; rest /= dims[d]) {
                t.dims[d] = dims[d];
                t.coord[d] = rest % dims[d];
                t.kind[d] = kind;
                t.rate_mbps[d] = 840;
            }
        }
    }
    table_of_rank of() const
    {
        return [this](std::uint32_t rank) -> const abi::platform_table& { return all[rank]; };
    }
    named_groups find(const std::vector<std::string>& texts) const
    {
        return find_groups(texts, static_cast<std::uint32_t>(all.size()), of());
    }
    std::string problem(const std::string& text) const { return find({text}).problem; }
    std::vector<abi::platform_table> told(const rank_list& list) const { return tables_of_group(list, of(), 3); }

    std::vector<abi::platform_table> all;
};

std::vector<std::uint32_t> sizes(const abi::platform_table& t) { return {t.dims, t.dims + t.dim_count}; }

} // namespace

TEST_CASE("groups are named by dimension or by blocks or by their ranks", "[groups]")
{
    const tables mesh({2, 3});
    CHECK(mesh.find({"rows"}).lists == lists{{0, 1, 2}, {3, 4, 5}});
    CHECK(mesh.find({"dimension 0"}).lists == lists{{0, 1, 2}, {3, 4, 5}});
    CHECK(mesh.find({"columns"}).lists == lists{{0, 3}, {1, 4}, {2, 5}});
    CHECK(mesh.find({"dimensions 0 1"}).lists == lists{{0, 1, 2, 3, 4, 5}});
    CHECK(mesh.find({"blocks of 2"}).lists == lists{{0, 1}, {2, 3}, {4, 5}});
    CHECK(mesh.find({"5,0-2", "4"}).lists == lists{{5, 0, 1, 2}, {4}});
    CHECK(mesh.find({"0-4/2", "1-5/2"}).lists == lists{{0, 2, 4}, {1, 3, 5}});
    CHECK(tables({2, 2, 2}).find({"dimensions 0 2"}).lists == lists{{0, 1, 4, 5}, {2, 3, 6, 7}});
    CHECK(mesh.find({}).lists.empty());
}

TEST_CASE("groups that cannot be are told in a sentence with the entry", "[groups]")
{
    const tables mesh({2, 3});
    for (const char* text : {"row", "", "0-", "-3", "3-1", "0,,1", "0-4/0", "blocks of 0", "blocks of x", "dimension", "1 2", "0x3"})
        CHECK_THAT(mesh.problem(text), Catch::Contains("names no ranks; write rows, columns, \"dimension 0\""));
    CHECK(mesh.problem("0-6") == "names rank 6, but the ranks of this machine are 0 to 5.");
    CHECK(mesh.problem("0-4000000000") == "names rank 6, but the ranks of this machine are 0 to 5.");
    CHECK_THAT(mesh.problem("dimension 2"), Catch::Contains("have 2 dimensions"));
    CHECK_THAT(tables({4}).problem("columns"), Catch::Contains("have 1 dimension;"));
    CHECK_THAT(mesh.problem("blocks of 4"), Catch::Contains("leaves 2 of 6 ranks over"));
    CHECK(mesh.problem("1,1") == "names rank 1 twice.");
    const named_groups twice = mesh.find({"0,1", "2,1"});
    CHECK(twice.problem == "names rank 1, which is in \"0,1\" already; groups that run at once share no rank.");
    CHECK(twice.problem_at == 1);
}

TEST_CASE("the table of a group has the dimensions of the box that its list goes over", "[groups]")
{
    const tables mesh({4, 6});
    const std::vector<abi::platform_table> box = mesh.told({7, 8, 9, 13, 14, 15});
    REQUIRE(box.size() == 6);
    CHECK(sizes(box[4]) == std::vector<std::uint32_t>{2, 3});
    CHECK((box[4].kind[0] == dimension_kind::full && box[4].kind[1] == dimension_kind::line));
    CHECK((box[4].rank == 4 && box[4].ranks == 6 && box[4].coord[0] == 1 && box[4].coord[1] == 1));
    CHECK((box[4].rate_mbps[0] == 420 && box[4].rate_mbps[1] == 840)); // one link in place of two
    CHECK((box[4].semaphore_bank == 3 && box[4].members == abi::k_group_members_address));
    CHECK(sizes(mesh.told({1, 7, 13, 19})[0]) == std::vector<std::uint32_t>{4}); // a column
    // Another order, or no box: routing joins any two.
    for (const rank_list& list : {rank_list{8, 7, 9}, rank_list{0, 1, 6}, rank_list{0, 7}})
        CHECK(mesh.told(list)[0].kind[0] == dimension_kind::switched);
    CHECK(mesh.told({5}).front().dim_count == 0);
    // A ring of which some are left out is a line; of a full mesh the links to the others are left.
    CHECK(tables({6}, dimension_kind::ring).told({0, 1, 2, 3, 4, 5})[0].kind[0] == dimension_kind::ring);
    CHECK(tables({6}, dimension_kind::ring).told({0, 1, 2})[0].kind[0] == dimension_kind::line);
    CHECK(tables({8}, dimension_kind::full).told({0, 2, 4, 6})[0].rate_mbps[0] == 840 * 3 / 7);
}
