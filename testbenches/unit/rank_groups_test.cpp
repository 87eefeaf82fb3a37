// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// All-reduces among groups of ranks: the division itself, the tiles of a mesh, inputs and check.
#include "firmware/collectives/supports.h"
#include "hw/arithmetic/reduce.h"
#include "platforms/tpu_v3/tiles.h"
#include "platforms/workload/collective_data.h"
#include "tlm/check.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace weft;
using abi::element_type;
using abi::reduce_op;
using Catch::Matchers::Contains;

namespace {

using bytes = std::vector<std::uint8_t>;
constexpr std::uint64_t k_seed = 42;
const element_type k_types[] = {element_type::int32, element_type::float32, element_type::float16,
                                element_type::bfloat16};

collective_case grouped(element_type t, reduce_op redop, std::uint64_t count, std::uint32_t ranks_per_group,
                        data_style style = data_style::exact)
{
    auto c =
        make_case(abi::collective_op::all_reduce, abi::algorithm::ring_1d, t, redop, count * abi::element_bytes(t));
    c.style = style;
    c.ranks_per_group = ranks_per_group;
    return c;
}

bytes input(const collective_case& c, std::uint32_t rank, const rank_groups& groups)
{
    bytes data(c.size_bytes);
    generate(c, k_seed, rank, groups, 0, data.data(), c.count);
    return data;
}

/// With the arithmetic of the DMA, member after member.
bytes reduced(const collective_case& c, const std::vector<std::uint32_t>& members, const rank_groups& groups)
{
    bytes sum = input(c, members[0], groups);
    for (std::size_t i = 1; i < members.size(); ++i)
        reduce(c.type, c.redop, sum.data(), input(c, members[i], groups).data(), sum.size());
    return sum;
}

std::vector<bytes> right_answer(const collective_case& c, const rank_groups& groups)
{
    std::vector<bytes> results;
    for (std::uint32_t rank = 0; rank < groups.ranks(); ++rank)
        results.push_back(reduced(c, groups.members(groups.group_of(rank)), groups));
    return results;
}

memory_reader reader_of(const std::vector<bytes>& results)
{
    return [&results](std::uint32_t rank, std::uint64_t offset, std::uint64_t max) {
        REQUIRE(offset + max <= results[rank].size());
        return memory_span{results[rank].data() + offset, max};
    };
}

mesh_description shape(std::uint32_t rows, std::uint32_t cols, std::vector<mesh_region> failed = {})
{
    mesh_description d;
    d.rows = rows;
    d.cols = cols;
    d.failed = std::move(failed);
    return d;
}

rank_groups tiles(const mesh_description& d, std::uint32_t n)
{
    const mesh m(d);
    return rank_groups(m.ranks(), tile_groups(m, n).members);
}

} // namespace

TEST_CASE("groups know their members and the places of these", "[groups]")
{
    const rank_groups g(std::vector<std::uint32_t>{1, 0, 1, 0, 2});
    CHECK(g.ranks() == 5);
    CHECK(g.groups() == 3);
    CHECK(g.members(0) == std::vector<std::uint32_t>{1, 3});
    CHECK(g.members(1) == std::vector<std::uint32_t>{0, 2});
    CHECK(g.place_of(2) == 1);
    CHECK(g.group_size_of(4) == 1);
    CHECK(rank_groups(7).groups() == 1);
    CHECK(rank_groups(7).group_size_of(3) == 7);
    CHECK_THROWS_AS(rank_groups(std::vector<std::uint32_t>{0, 2, 2}), bug); // no group 1
    CHECK_THROWS_AS(rank_groups(std::vector<std::uint32_t>{0, 0xffff'ffffu}), bug);
}

TEST_CASE("tiles are the squarest whose sides are powers of two", "[groups]")
{
    const auto is = [](std::uint32_t n, std::uint32_t rows, std::uint32_t cols) {
        const auto tile = tile_of(n);
        return tile && tile->rows == rows && tile->cols == cols;
    };
    CHECK((is(2, 2, 1) && is(4, 2, 2) && is(8, 4, 2) && is(16, 4, 4) && is(32, 8, 4) && is(1024, 32, 32)));
    for (const std::uint32_t n : {0u, 1u, 3u, 6u, 12u, 1023u})
        CHECK_FALSE(tile_of(n));
    CHECK(is(0x8000'0000u, 1u << 16, 1u << 15));
}

TEST_CASE("tiles divide a mesh and leave failed ones out", "[groups]")
{
    using lists = std::vector<std::vector<std::uint32_t>>;
    CHECK(tile_groups(mesh(shape(4, 4)), 4).members == lists{{0, 1, 4, 5}, {2, 3, 6, 7}, {8, 9, 12, 13}, {10, 11, 14, 15}});
    CHECK(tile_groups(mesh(shape(4, 2)), 2).members == lists{{0, 2}, {1, 3}, {4, 6}, {5, 7}});
    // Ranks count working chips only; so do groups.
    CHECK(tile_groups(mesh(shape(4, 4, {{0, 2, 2, 2}})), 4).members == lists{{0, 1, 2, 3}, {4, 5, 8, 9}, {6, 7, 10, 11}});
    // All chips are one group.
    CHECK(tile_groups(mesh(shape(4, 4, {{0, 2, 2, 2}})), 12).members == lists{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}});
}

TEST_CASE("numbers that are no tiles are refused with what would be right", "[groups]")
{
    CHECK(tile_refusal(shape(8, 8), 4).empty());
    CHECK_THAT(tile_refusal(shape(8, 8), 3), Contains("powers of two; write 2, 4, 8, 16 or 32, or remove this key"));
    CHECK_THAT(tile_refusal(shape(8, 8), 128), Contains("the mesh has 64 working chips"));
    CHECK_THAT(tile_refusal(shape(6, 6), 8), Contains("4x2") && Contains("6x6 mesh; write 2 or 4, or"));
    CHECK_THAT(tile_refusal(shape(1, 8), 2), Contains("1x8 mesh; remove this key"));
    // Regions may hold any number of tiles, and may not cut one.
    CHECK(tile_refusal(shape(8, 8, {{2, 2, 2, 2}, {4, 0, 4, 4}}), 4).empty());
    CHECK_THAT(tile_refusal(shape(8, 8, {{2, 2, 1, 2}, {3, 2, 1, 2}}), 4), Contains("faults.regions.0"));
    CHECK(tile_refusal(shape(8, 8), 32).empty()); // 8x4
    CHECK(tile_refusal(shape(8, 8), 64).empty());
    const std::string cut = tile_refusal(shape(8, 8, {{4, 4, 2, 2}, {1, 0, 2, 2}}), 4);
    CHECK_THAT(cut,
               Contains("faults.regions.1") && Contains("tile at (0,0) to (1,1)") && Contains("exchange over all"));
    CHECK_THAT(tile_refusal(shape(8, 8, {{4, 4, 2, 2}}), 8), Contains("(4,4) to (7,5)") && Contains("write 2 or 4"));
    CHECK_THROWS_AS(tile_groups(mesh(shape(8, 8)), 3), bug);
}

TEST_CASE("right answers of groups pass and are those of their own members", "[groups]")
{
    for (const mesh_description& d : {shape(4, 4), shape(4, 4, {{0, 2, 2, 2}})})
        for (const std::uint32_t n : {2u, 4u})
            for (const auto t : k_types)
                for (const auto redop : {reduce_op::sum, reduce_op::max, reduce_op::min})
                    for (const auto style : {data_style::exact, data_style::random})
                        for (const std::uint64_t count : {1ull, 7ull, 5000ull}) {
                            const rank_groups groups = tiles(d, n);
                            const auto c = grouped(t, redop, count, n, style);
                            const auto results = right_answer(c, groups);
                            const check_outcome all = check_result(c, k_seed, groups, reader_of(results));
                            INFO(name_of(t) << ' ' << name_of(redop) << ' ' << n << ' ' << count << ": "
                                            << to_string(all.first, t));
                            REQUIRE(all.wrong == 0);
                            REQUIRE(all.checked == groups.ranks() * count);
                            result_checker one_by_one(c, k_seed, groups);
                            for (std::uint32_t rank = groups.ranks(); rank-- > 0;)
                                one_by_one.check_rank(rank, reader_of(results));
                            REQUIRE(one_by_one.outcome().wrong == 0);
                            REQUIRE(one_by_one.outcome().digest == all.digest);
                        }
}

TEST_CASE("a wrong member of a group is seen", "[groups]")
{
    const rank_groups groups = tiles(shape(4, 4), 4);
    for (const auto t : k_types) {
        const auto c = grouped(t, reduce_op::sum, 100, 4);
        const auto good = right_answer(c, groups);
        const std::uint64_t digest = check_result(c, k_seed, groups, reader_of(good)).digest;
        // Every member of group 1 in turn replaced by every stranger.
        const std::vector<std::uint32_t> members = groups.members(1);
        for (std::size_t lost = 0; lost < members.size(); ++lost)
            for (std::uint32_t stranger = 0; stranger < groups.ranks(); ++stranger) {
                if (groups.group_of(stranger) == 1)
                    continue;
                std::vector<std::uint32_t> wrong_members = members;
                wrong_members[lost] = stranger;
                auto results = good;
                for (const std::uint32_t rank : members)
                    results[rank] = reduced(c, wrong_members, groups);
                const check_outcome bad = check_result(c, k_seed, groups, reader_of(results));
                CAPTURE(name_of(t), lost, stranger);
                REQUIRE(bad.wrong > 4 * 90); // bfloat16 sums have few bits: some agree by chance
                REQUIRE(bad.first.rank == members.front());
                REQUIRE(bad.digest != digest);
            }
        // The answer of another group, and of all ranks together.
        auto results = good;
        results[0] = good[2];
        CHECK(check_result(c, k_seed, groups, reader_of(results)).wrong >= 90);
        std::vector<std::uint32_t> everybody;
        for (std::uint32_t rank = 0; rank < groups.ranks(); ++rank)
            everybody.push_back(rank);
        results.assign(groups.ranks(), reduced(c, everybody, groups));
        CHECK(check_result(c, k_seed, groups, reader_of(results)).wrong > 16 * 90);
        // The same groups in other places: the checker believes the platform and nothing else.
        const rank_groups rows(std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3});
        CHECK(check_result(c, k_seed, rows, reader_of(good)).wrong > 16 * 90);
    }
}

TEST_CASE("exact float sums of large groups stay exact wherever their members stand", "[groups]")
{
    // 512 members of bfloat16 take turns; by rank in place of place, those of this group would all speak at once.
    constexpr std::uint32_t k_members = 512;
    std::vector<std::uint32_t> group_of;
    for (std::uint32_t rank = 0; rank < 4 * k_members; ++rank)
        group_of.push_back(rank % 4);
    const rank_groups groups(group_of);
    const auto c = grouped(element_type::bfloat16, reduce_op::sum, 64, k_members);
    const auto results = right_answer(c, groups);
    CHECK(check_result(c, k_seed, groups, reader_of(results)).wrong == 0);
    std::vector<int> speakers(c.count, 0);
    for (const std::uint32_t rank : groups.members(3)) {
        const bytes data = input(c, rank, groups);
        for (std::size_t i = 0; i < c.count; ++i)
            speakers[i] += data[2 * i] != 0 || data[2 * i + 1] != 0 ? 1 : 0;
    }
    CHECK(*std::max_element(speakers.begin(), speakers.end()) == 128);
    CHECK(*std::min_element(speakers.begin(), speakers.end()) == 128);
}

TEST_CASE("cases with impossible groups are told in a sentence", "[groups]")
{
    auto c = grouped(element_type::int32, reduce_op::sum, 4, 4);
    CHECK(problem_of(c, 16).empty());
    CHECK(problem_of(c, 18) == "all_reduce in groups of 4 leaves some of 18 ranks over");
    CHECK_THROWS_AS(result_checker(c, k_seed, 16), bug); // one group of 16 in place of groups of 4
    CHECK_THROWS_AS(result_checker(c, k_seed, rank_groups(std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1, 1, 1})), bug);
    c.op = abi::collective_op::reduce_scatter;
    CHECK_THAT(problem_of(c, 16), Contains("only all_reduce has groups"));
}
