// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Schedules as data: what planners make, without running it. That the answers are right: testbenches/firmware.
#include "platforms/workload/planned_schedule.h"

#include "firmware/collectives/mesh.h"
#include "firmware/collectives/supports.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <map>
#include <numeric>
#include <set>

using namespace weft;
using abi::algorithm;
using abi::collective_op;
using abi::dimension_kind;

namespace {

struct shape {
    const char* name;
    std::vector<std::uint32_t> dims;
    dimension_kind kind;
    std::vector<abi::failed_region> failed;
    std::uint32_t rate_mbps = 0; ///< of both links of a dimension

    std::vector<abi::platform_table> tables() const
    {
        abi::platform_table t;
        t.ranks = std::accumulate(dims.begin(), dims.end(), 1u, std::multiplies<>());
        t.dim_count = static_cast<std::uint32_t>(dims.size());
        for (std::size_t i = 0; i < dims.size(); ++i) {
            t.dims[i] = dims[i];
            t.kind[i] = kind;
            t.rate_mbps[i] = rate_mbps;
        }
        for (const abi::failed_region& f : failed) {
            t.failed[t.failed_regions++] = f;
            t.ranks -= f.rows * f.cols;
        }
        std::vector<abi::platform_table> all;
        for (t.rank = 0; t.rank < t.ranks; ++t.rank) {
            std::uint32_t rest = t.rank;
            for (std::size_t i = dims.size(); i-- > 0; rest /= dims[i])
                t.coord[i] = rest % dims[i];
            if (!failed.empty()) {
                const firmware::place at = firmware::place_of(firmware::mesh_of(t), t.rank);
                t.coord[0] = at.row;
                t.coord[1] = at.col;
            }
            all.push_back(t);
        }
        return all;
    }
};

collective_case case_of(collective_op op, algorithm algo, std::uint64_t elements, std::uint64_t chunk_bytes)
{
    collective_case c = make_case(op, algo, abi::element_type::int32, abi::reduce_op::sum, 4 * elements);
    c.chunk_bytes = chunk_bytes;
    return c;
}

std::string text(const shape& s, const collective_case& c, std::uint32_t rank)
{
    return text_of(plan_of(s.tables()[rank], c), 4);
}

} // namespace

TEST_CASE("a schedule by table: ring_1d", "[schedule]")
{
    const shape mesh{"2x2", {2, 2}, dimension_kind::line, {}};
    CHECK(text(mesh, case_of(collective_op::all_reduce, algorithm::ring_1d, 8, 1024), 0) ==
          R"(rank 0 at (0,0): 6 steps; first tells ranks 2, 1 that it is ready
  channel 0  reduce-scatter, ring of 4
    step   0  to rank 1    elements 3 to 3: 4 B
    step   1  to rank 1    elements 2 to 2: 4 B
    step   2  to rank 1    elements 1 to 1: 4 B
  channel 0  all-gather, ring of 4
    step   0  to rank 1    elements 0 to 0: 4 B
    step   1  to rank 1    elements 3 to 3: 4 B
    step   2  to rank 1    elements 2 to 2: 4 B
  channel 1  reduce-scatter, ring of 4
    step   0  to rank 2    elements 7 to 7: 4 B
    step   1  to rank 2    elements 6 to 6: 4 B
    step   2  to rank 2    elements 5 to 5: 4 B
  channel 1  all-gather, ring of 4
    step   0  to rank 2    elements 4 to 4: 4 B
    step   1  to rank 2    elements 7 to 7: 4 B
    step   2  to rank 2    elements 6 to 6: 4 B
)");
    CHECK(text(mesh, case_of(collective_op::reduce_scatter, algorithm::ring_1d, 8, 1024), 3) ==
          R"(rank 3 at (1,1): 3 steps; first tells ranks 1, 2 that it is ready
  channel 0  reduce-scatter, ring of 4, shards by rank
    step   0  to rank 2    elements 2 to 2: 4 B
    step   1  to rank 2    elements 0 to 0: 4 B
    step   2  to rank 2    elements 4 to 4: 4 B
  channel 1  reduce-scatter, ring of 4, shards by rank
    step   0  to rank 1    elements 5 to 5: 4 B
    step   1  to rank 1    elements 1 to 1: 4 B
    step   2  to rank 1    elements 3 to 3: 4 B
)");
    CHECK(text(mesh, case_of(collective_op::all_gather, algorithm::ring_1d, 3, 1024), 1) ==
          R"(rank 1 at (0,1): 3 steps; first tells ranks 0, 3 that it is ready
  channel 0  all-gather, ring of 4, shards by rank
    step   0  to rank 3    elements 1 to 1: 4 B
    step   1  to rank 3    elements 0 to 0: 4 B
    step   2  to rank 3    elements 2 to 2: 4 B
  channel 1  all-gather, ring of 4, shards by rank
)");
}

TEST_CASE("a schedule by table: two_d and row_pair", "[schedule]")
{
    const shape mesh{"2x4", {2, 4}, dimension_kind::line, {}};
    CHECK(text(mesh, case_of(collective_op::all_reduce, algorithm::two_d, 64, 8), 5) ==
          R"(rank 5 at (1,1): 8 steps; first tells ranks 7, 1 that it is ready
  channel 0  reduce-scatter, ring of 4
    step   0  to rank 4    elements 16 to 23: 32 B, 4 messages
    step   1  to rank 4    elements 8 to 15: 32 B, 4 messages
    step   2  to rank 4    elements 0 to 7: 32 B, 4 messages
  channel 0  reduce-scatter, ring of 2, inside its shard
    step   0  to rank 1    elements 24 to 27: 16 B, 2 messages
  channel 0  all-gather, ring of 2, inside its shard
    step   0  to rank 1    elements 28 to 31: 16 B, 2 messages
  channel 0  all-gather, ring of 4
    step   0  to rank 4    elements 24 to 31: 32 B, 4 messages
    step   1  to rank 4    elements 16 to 23: 32 B, 4 messages
    step   2  to rank 4    elements 8 to 15: 32 B, 4 messages
  channel 1  reduce-scatter, ring of 2
    step   0  to rank 1    elements 32 to 47: 64 B, 8 messages
  channel 1  reduce-scatter, ring of 4, inside its shard
    step   0  to rank 4    elements 56 to 59: 16 B, 2 messages
    step   1  to rank 4    elements 52 to 55: 16 B, 2 messages
    step   2  to rank 4    elements 48 to 51: 16 B, 2 messages
  channel 1  all-gather, ring of 4, inside its shard
    step   0  to rank 4    elements 60 to 63: 16 B, 2 messages
    step   1  to rank 4    elements 56 to 59: 16 B, 2 messages
    step   2  to rank 4    elements 52 to 55: 16 B, 2 messages
  channel 1  all-gather, ring of 2
    step   0  to rank 1    elements 48 to 63: 64 B, 8 messages
)");
    const shape tall{"4x2", {4, 2}, dimension_kind::line, {}};
    CHECK(text(tall, case_of(collective_op::all_reduce, algorithm::row_pair, 64, 1024), 5) ==
          R"(rank 5 at (2,1): 8 steps; first tells ranks 4, 1, 7, 1 that it is ready
  channel 0  reduce-scatter, ring of 4
    step   0  to rank 7    elements 0 to 7: 32 B
    step   1  to rank 7    elements 24 to 31: 32 B
    step   2  to rank 7    elements 16 to 23: 32 B
  channel 0  reduce-scatter, ring of 2, inside its shard
    step   0  to rank 1    elements 8 to 11: 16 B
  channel 0  all-gather, ring of 2, inside its shard
    step   0  to rank 1    elements 12 to 15: 16 B
  channel 0  all-gather, ring of 4
    step   0  to rank 7    elements 8 to 15: 32 B
    step   1  to rank 7    elements 0 to 7: 32 B
    step   2  to rank 7    elements 24 to 31: 32 B
  channel 1  reduce-scatter, ring of 4
    step   0  to rank 4    elements 48 to 55: 32 B
    step   1  to rank 4    elements 40 to 47: 32 B
    step   2  to rank 4    elements 32 to 39: 32 B
  channel 1  reduce-scatter, ring of 2, inside its shard
    step   0  to rank 1    elements 56 to 59: 16 B
  channel 1  all-gather, ring of 2, inside its shard
    step   0  to rank 1    elements 60 to 63: 16 B
  channel 1  all-gather, ring of 4
    step   0  to rank 4    elements 56 to 63: 32 B
    step   1  to rank 4    elements 48 to 55: 32 B
    step   2  to rank 4    elements 40 to 47: 32 B
)");
}

TEST_CASE("a schedule by table: hierarchical and mesh_tree", "[schedule]")
{
    const shape full{"3x2 full", {3, 2}, dimension_kind::full, {}};
    CHECK(text(full, case_of(collective_op::all_reduce, algorithm::hierarchical, 24, 1024), 4) ==
          R"(rank 4 at (2,0): 6 steps; first tells ranks 5, 2, 5, 0 that it is ready
  channel 0  reduce-scatter, ring of 2
    step   0  to rank 5    elements 6 to 11: 24 B
  channel 0  reduce-scatter, ring of 3, inside its shard
    step   0  to rank 0    elements 2 to 3: 8 B
    step   1  to rank 0    elements 0 to 1: 8 B
  channel 0  all-gather, ring of 3, inside its shard
    step   0  to rank 0    elements 4 to 5: 8 B
    step   1  to rank 0    elements 2 to 3: 8 B
  channel 0  all-gather, ring of 2
    step   0  to rank 5    elements 0 to 5: 24 B
  channel 1  reduce-scatter, ring of 2
    step   0  to rank 5    elements 18 to 23: 24 B
  channel 1  reduce-scatter, ring of 3, inside its shard
    step   0  to rank 2    elements 12 to 13: 8 B
    step   1  to rank 2    elements 16 to 17: 8 B
  channel 1  all-gather, ring of 3, inside its shard
    step   0  to rank 2    elements 14 to 15: 8 B
    step   1  to rank 2    elements 12 to 13: 8 B
  channel 1  all-gather, ring of 2
    step   0  to rank 5    elements 12 to 17: 24 B
)");
    CHECK(text(full, case_of(collective_op::broadcast, algorithm::mesh_tree, 6, 8), 0) == R"(rank 0 at (0,0): 2 steps
  channel 0  to all others of a line of 2
    step   0  to rank 1    elements 0 to 1: 8 B
    step   1  to rank 1    elements 2 to 3: 8 B
    step   2  to rank 1    elements 4 to 5: 8 B
  channel 1  to all others of a line of 3
    step   0  to rank 2    elements 0 to 1: 8 B
    step   1  to rank 4    elements 0 to 1: 8 B
    step   2  to rank 2    elements 2 to 3: 8 B
    step   3  to rank 4    elements 2 to 3: 8 B
    step   4  to rank 2    elements 4 to 5: 8 B
    step   5  to rank 4    elements 4 to 5: 8 B
)");
    const shape mesh{"2x3", {2, 3}, dimension_kind::line, {}};
    CHECK(text(mesh, case_of(collective_op::broadcast, algorithm::mesh_tree, 6, 1024), 0) == R"(rank 0 at (0,0): 3 steps
  channel 0  forwards what arrives
    step   0  to rank 1    elements 0 to 5: 24 B
  channel 1  forwards what arrives
    step   0  to rank 3    elements 0 to 5: 24 B
)");
    CHECK(text(mesh, case_of(collective_op::broadcast, algorithm::mesh_tree, 6, 1024), 2) ==
          R"(rank 2 at (0,2): 3 steps; first tells rank 1 that it is ready
  channel 0  forwards what arrives
    step   0  to rank 5    elements 0 to 5: 24 B
  channel 1  receives only
)");
}

TEST_CASE("a schedule by table: multi_ring", "[schedule]")
{
    const shape full{"3 full", {3}, dimension_kind::full, {}};
    CHECK(text(full, case_of(collective_op::all_reduce, algorithm::multi_ring, 12, 1024), 1) ==
          R"(rank 1 at (1): 4 steps; first tells ranks 0, 2 that it is ready
  channel 0  reduce-scatter, ring of 3
    step   0  to rank 2    elements 2 to 3: 8 B
    step   1  to rank 2    elements 0 to 1: 8 B
  channel 0  all-gather, ring of 3
    step   0  to rank 2    elements 4 to 5: 8 B
    step   1  to rank 2    elements 2 to 3: 8 B
  channel 1  reduce-scatter, ring of 3
    step   0  to rank 0    elements 6 to 7: 8 B
    step   1  to rank 0    elements 10 to 11: 8 B
  channel 1  all-gather, ring of 3
    step   0  to rank 0    elements 8 to 9: 8 B
    step   1  to rank 0    elements 6 to 7: 8 B
)");
    // On 8x8 ranks with fast cores six rings of each dimension begin, and no two of them send by one link.
    const shape rack{"8x8 full", {8, 8}, dimension_kind::full, {}};
    for (const std::uint32_t rank : {0u, 27u, 63u}) {
        const planned_rank plan = plan_of(rack.tables()[rank], case_of(collective_op::all_reduce, algorithm::multi_ring, 1 << 20, 1 << 20));
        CHECK(plan.channels.size() == 12);
        std::set<std::uint32_t> neighbours;
        for (const planned_channel& c : plan.channels) {
            CHECK(c.passes.size() == 4);
            CHECK(neighbours.insert(c.passes.front().runs.front().to).second);
        }
    }
    // Where a core cannot keep up, few rings are left: of links of 50 Gb/s it can, of 8 KiB by one of 400 Gb/s it cannot.
    const auto rings = [](std::uint32_t rate_mbps, std::uint64_t elements) {
        const shape board{"8 full", {8}, dimension_kind::full, {}, rate_mbps};
        return plan_of(board.tables()[3], case_of(collective_op::all_reduce, algorithm::multi_ring, elements, 1 << 20)).channels.size();
    };
    CHECK(rings(350'000, 1 << 20) == 6);
    CHECK(rings(2'800'000, 16 << 10) == 1);
}

TEST_CASE("a schedule by table: mesh_tree in two colours", "[schedule]")
{
    const shape mesh{"2x3", {2, 3}, dimension_kind::line, {}, 50'000};
    const collective_case c = case_of(collective_op::broadcast, algorithm::mesh_tree, 8192, 8192);
    CHECK(text(mesh, c, 0) == R"(rank 0 at (0,0): 4 steps
  channel 0  forwards what arrives
    step   0  to rank 1    elements 0 to 4095: 16384 B, 2 messages
  channel 1  forwards what arrives
    step   0  to rank 3    elements 4096 to 8191: 16384 B, 2 messages
)");
    CHECK(text(mesh, c, 4) == R"(rank 4 at (1,1): 4 steps; first tells ranks 1, 3 that it is ready
  channel 0  forwards what arrives
    step   0  to rank 3    elements 0 to 4095: 16384 B, 2 messages
  channel 1  forwards what arrives
    step   0  to rank 5    elements 4096 to 8191: 16384 B, 2 messages
  channel 2  forwards what arrives
    step   0  to rank 1    elements 4096 to 8191: 16384 B, 2 messages
  channel 3  receives only
  channel 4  receives only
)");
    // A torus has four trees, of which each leaves the root by another link.
    const shape torus{"3x3 torus", {3, 3}, dimension_kind::ring, {}, 50'000};
    CHECK(text(torus, c, 0) == R"(rank 0 at (0,0): 3 steps
  channel 0  forwards what arrives, posted ahead
    step   0  to rank 1    elements 0 to 2047: 8192 B
  channel 1  forwards what arrives, posted ahead
    step   0  to rank 2    elements 2048 to 4095: 8192 B
  channel 2  forwards what arrives, posted ahead
    step   0  to rank 3    elements 4096 to 6143: 8192 B
  channel 3  forwards what arrives, posted ahead
    step   0  to rank 6    elements 6144 to 8191: 8192 B
)");
    // Cores leave the wait for what they send on to the DMA engine.
    CHECK(text(torus, c, 4) == R"(rank 4 at (1,1): 3 steps; first tells ranks 1, 5, 3, 7 that it is ready
  channel 0  forwards what arrives, posted ahead
    step   0  to rank 3    elements 0 to 2047: 8192 B
  channel 1  forwards what arrives, posted ahead
    step   0  to rank 5    elements 0 to 2047: 8192 B
  channel 2  forwards what arrives, posted ahead
    step   0  to rank 1    elements 4096 to 6143: 8192 B
  channel 3  forwards what arrives, posted ahead
    step   0  to rank 7    elements 4096 to 6143: 8192 B
  channel 4  receives only
  channel 5  receives only
  channel 6  receives only
  channel 7  receives only
)");
    collective_case sums = case_of(collective_op::reduce, algorithm::mesh_tree, 8192, 8192);
    CHECK(text(torus, sums, 1) == R"(rank 1 at (0,1): 3 steps; first tells ranks 2, 7, 4 that it is ready
  channel 0  receives only
  channel 1  receives only
  channel 2  receives only
  channel 3  sums to the parent, posted ahead
    step   0  to rank 0    elements 0 to 2047: 8192 B
  channel 4  sums to the parent, posted ahead
    step   0  to rank 2    elements 2048 to 4095: 8192 B
  channel 5  sums to the parent, posted ahead
    step   0  to rank 4    elements 4096 to 6143: 8192 B
  channel 6  sums to the parent, posted ahead
    step   0  to rank 7    elements 6144 to 8191: 8192 B
)");
}

TEST_CASE("a schedule by table: mesh_tree on a full mesh", "[schedule]")
{
    const shape mesh{"2x3", {2, 3}, dimension_kind::full, {}};
    collective_case c = case_of(collective_op::broadcast, algorithm::mesh_tree, 54000, 1 << 20);
    // Two trees through the neighbours in its row, one through that in its column.
    CHECK(text(mesh, c, 0) == R"(rank 0 at (0,0): 3 steps; first tells ranks 1, 2, 3 that it is ready
  channel 0  receives only
  channel 0  receives only
  channel 0  receives only
  channel 1  parts to the trees of neighbours
    step   0  to rank 1    elements 0 to 17999: 72000 B
    step   1  to rank 2    elements 18000 to 35999: 72000 B
  channel 2  parts to the trees of neighbours
    step   0  to rank 3    elements 36000 to 53999: 72000 B
)");
    CHECK(text(mesh, c, 4) == R"(rank 4 at (1,1): 3 steps; first tells ranks 3, 5, 1 that it is ready
  channel 0  receives only
  channel 0  receives only
  channel 0  receives only
  channel 1  own tree to its children
    step   0  to rank 5    elements 0 to 17999: 72000 B
    step   1  to rank 3    elements 0 to 17999: 72000 B
  channel 2  own tree to its children
    step   0  to rank 1    elements 36000 to 53999: 72000 B
)");
    c.op = collective_op::reduce;
    CHECK(text(mesh, c, 4) == R"(rank 4 at (1,1): 3 steps; first tells ranks 3, 5, 1 that it is ready
  channel 0  receives only
  channel 0  receives only
  channel 0  receives only
  channel 1  sums to the trees of others
    step   0  to rank 5    elements 18000 to 35999: 72000 B
  channel 2  own tree to its parent
    step   0  to rank 1    elements 0 to 17999: 72000 B
  channel 3  own tree to its parent
    step   0  to rank 3    elements 36000 to 53999: 72000 B
)");
}

TEST_CASE("trees of a full mesh share no link and send every part once", "[schedule]")
{
    for (const std::vector<std::uint32_t>& dims :
         std::vector<std::vector<std::uint32_t>>{{3}, {8}, {2, 2}, {2, 3}, {8, 8}, {1, 4}, {2, 3, 4}, {4, 3, 1, 2}, {2, 2, 2, 2}})
        for (const collective_op op : {collective_op::broadcast, collective_op::reduce})
            for (const std::uint64_t elements : {49152, 60011})
                for (const std::uint64_t chunk_bytes : {256, 1 << 20}) {
                    const shape s{"", dims, dimension_kind::full, {}};
                    const std::vector<abi::platform_table> tables = s.tables();
                    collective_case c = case_of(op, algorithm::mesh_tree, elements, chunk_bytes);
                    c.root = tables[0].ranks * 2 / 3;
                    std::vector<planned_rank> ranks;
                    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> of_link;
                    std::uint64_t all = 0;
                    for (const abi::platform_table& t : tables) {
                        ranks.push_back(plan_of(t, c));
                        for (const planned_channel& channel : ranks.back().channels)
                            for (const planned_pass& p : channel.passes)
                                for (const planned_run& r : p.runs) {
                                    of_link[{t.rank, r.to}] += r.range.count;
                                    all += r.range.count;
                                }
                    }
                    std::uint32_t trees = 0;
                    for (const std::uint32_t d : dims)
                        trees += d - 1;
                    INFO(fmt::format("{}, {} elements in chunks of {} B, {}", fmt::join(dims, "x"), elements, chunk_bytes, name_of(op)));
                    CHECK(unmatched(ranks) == "");
                    CHECK(all == elements * (tables[0].ranks - 1));
                    for (const auto& [link, carried] : of_link)
                        CHECK(carried <= (elements + trees - 1) / trees);
                }
}

TEST_CASE("a tree of a torus of three dimensions sends everything once to each rank", "[schedule]")
{
    for (const std::vector<std::uint32_t>& dims :
         std::vector<std::vector<std::uint32_t>>{{2, 3, 4}, {5, 1, 2}, {4, 4, 4}, {2, 2, 3, 2}})
        for (const dimension_kind kind : {dimension_kind::ring, dimension_kind::line})
            for (const collective_op op : {collective_op::broadcast, collective_op::reduce}) {
                const shape s{"", dims, kind, {}};
                collective_case c = case_of(op, algorithm::mesh_tree, 5000, 1024);
                c.root = s.tables()[0].ranks * 2 / 3;
                std::vector<planned_rank> ranks;
                std::uint64_t all = 0;
                for (const abi::platform_table& t : s.tables()) {
                    ranks.push_back(plan_of(t, c));
                    for (const planned_channel& channel : ranks.back().channels)
                        for (const planned_pass& p : channel.passes)
                            for (const planned_run& r : p.runs)
                                all += r.range.count;
                }
                std::uint32_t depth = 0;
                for (const std::uint32_t d : dims)
                    depth += d / 2;
                INFO(fmt::format("{}, {}", fmt::join(dims, "x"), name_of(op)));
                CHECK(unmatched(ranks) == "");
                CHECK(all == 5000u * (ranks.size() - 1));
                CHECK(ranks[0].steps == depth);
            }
}

TEST_CASE("multi_axis: a pair beside rings is a ring", "[schedule]")
{
    const auto passes = [](const std::vector<std::uint32_t>& dims, dimension_kind first, dimension_kind last) {
        const shape s{"", dims, last, {}};
        std::vector<abi::platform_table> tables = s.tables();
        std::vector<planned_rank> ranks;
        for (abi::platform_table& t : tables) {
            t.kind[0] = first;
            ranks.push_back(plan_of(t, case_of(collective_op::all_gather, algorithm::multi_axis, 4 << 20, 256 << 10)));
        }
        CHECK(unmatched(ranks) == "");
        std::string what;
        for (const planned_pass& p : ranks[0].channels[0].passes)
            what += p.what + "; ";
        return what;
    };
    CHECK(passes({2, 4}, dimension_kind::full, dimension_kind::ring).find("directly") == std::string::npos);
    CHECK(passes({2, 4}, dimension_kind::full, dimension_kind::line).find("directly") == std::string::npos);
    CHECK(passes({3, 4}, dimension_kind::full, dimension_kind::ring).find("directly") != std::string::npos);
    CHECK(passes({2, 4}, dimension_kind::full, dimension_kind::full).find("directly") != std::string::npos);
}

TEST_CASE("multi_axis: shards are cut for as many lanes as leave parts long enough", "[schedule]")
{
    const shape torus{"4x4x4", {4, 4, 4}, dimension_kind::ring, {}};
    const auto lanes = [&](std::uint64_t bytes) {
        return plan_of(torus.tables()[0], case_of(collective_op::all_gather, algorithm::multi_axis, bytes / 4, 256 << 10)).channels.size();
    };
    CHECK(lanes(16 << 20) == 6);
    CHECK(lanes(8 << 20) == 3);
    CHECK(lanes(4 << 20) == 2);
    CHECK(lanes(2 << 20) == 1);
}

// Links of a full mesh are alike, so that a rank can send more along the longer dimension.
TEST_CASE("multi_axis: lanes of unlike dimensions keep all links busy as long", "[schedule]")
{
    const auto busy = [](const std::vector<std::uint32_t>& dims, collective_op op, std::uint64_t elements) {
        std::vector<abi::platform_table> tables = shape{"", dims, dimension_kind::full, {}}.tables();
        std::vector<planned_rank> ranks;
        for (abi::platform_table& t : tables) {
            for (std::size_t d = 0; d < dims.size(); ++d)
                t.rate_mbps[d] = 200'000 * (dims[d] - 1);
            ranks.push_back(plan_of(t, case_of(op, algorithm::multi_axis, elements, 256 << 10)));
        }
        CHECK(unmatched(ranks) == "");
        std::vector<double> ns(dims.size(), 0);
        for (const planned_rank& rank : ranks)
            for (const planned_channel& c : rank.channels)
                for (const planned_pass& p : c.passes)
                    for (const planned_run& run : p.runs) {
                        const std::size_t from = std::size_t(&rank - ranks.data());
                        const std::size_t d = tables[from].coord[0] != tables[run.to].coord[0] ? 0 : 1;
                        ns[d] += static_cast<double>(run.range.count) * run.pieces / tables[0].rate_mbps[d];
                    }
        return ns[0] / ns[1];
    };
    for (const collective_op op : {collective_op::all_reduce, collective_op::reduce_scatter, collective_op::all_gather})
        for (const std::vector<std::uint32_t>& dims :
             {std::vector<std::uint32_t>{4, 8}, {8, 4}, {3, 5}, {5, 8}, {6, 8}, {2, 4}, {3, 8}, {7, 7}}) {
            INFO(dims[0] << "x" << dims[1] << " op " << int(op));
            for (const std::uint64_t more : {0, 1, 12345})
                CHECK(busy(dims, op, (16 << 20) + more) == Approx(1).epsilon(0.03));
        }
}

// As between racks of a pod, whose links to other racks would hold up those inside.
TEST_CASE("multi_axis: of four dimensions only fast ones begin lanes", "[schedule]")
{
    const auto lanes = [](std::uint32_t slow_mbps, std::uint64_t bytes) {
        const std::vector<std::uint32_t> dims{3, 3, 4, 4};
        std::vector<planned_rank> ranks;
        for (abi::platform_table& t : shape{"", dims, dimension_kind::full, {}}.tables()) {
            for (std::size_t d = 0; d < dims.size(); ++d)
                t.rate_mbps[d] = d < 2 ? slow_mbps : 1'200'000;
            ranks.push_back(plan_of(t, case_of(collective_op::all_reduce, algorithm::multi_axis, bytes / 4, 256 << 10)));
        }
        CHECK(unmatched(ranks) == "");
        return ranks[0].channels.size();
    };
    CHECK(lanes(300'000, 48 << 20) == 2);
    CHECK(lanes(300'000, 144 << 20) == 4); // two turns of each
    CHECK(lanes(700'000, 48 << 20) == 4);
}

TEST_CASE("multi_axis: a machine of five dimensions has as many lanes as there are semaphores", "[schedule]")
{
    std::vector<planned_rank> ranks;
    for (abi::platform_table& t : shape{"", {2, 2, 2, 2, 3}, dimension_kind::full, {}}.tables()) {
        for (std::size_t d = 0; d < 5; ++d)
            t.rate_mbps[d] = 400'000;
        ranks.push_back(plan_of(t, case_of(collective_op::all_reduce, algorithm::multi_axis, 48 << 18, 256 << 10)));
    }
    CHECK(unmatched(ranks) == "");
    CHECK(ranks[0].channels.size() == 3); // six semaphores each, of 20
}

TEST_CASE("multi_axis: short data of unlike dimensions has one lane or alike ones", "[schedule]")
{
    const auto lanes = [](std::vector<std::uint32_t> dims, std::uint64_t bytes) {
        abi::platform_table t = shape{"", dims, dimension_kind::full, {}}.tables()[0];
        for (std::size_t d = 0; d < dims.size(); ++d)
            t.rate_mbps[d] = 448'000 * (dims[d] - 1);
        const planned_rank rank = plan_of(t, case_of(collective_op::reduce_scatter, algorithm::multi_axis, bytes / 4, 256 << 10));
        std::vector<std::uint64_t> first;
        for (const planned_channel& c : rank.channels)
            first.push_back(c.passes[0].runs[0].range.count);
        return first;
    };
    CHECK(lanes({4, 8}, 2 << 20).size() == 1);
    CHECK(lanes({4, 8}, 4 << 20).size() == 2);
    const std::vector<std::uint64_t> alike = lanes({3, 5}, 15 << 16), unlike = lanes({3, 5}, 15 << 19);
    REQUIRE(alike.size() == 2); // both dimensions are fast
    CHECK(alike[0] == alike[1]);
    REQUIRE(unlike.size() == 4); // two of each dimension
    CHECK(unlike[0] * 2 == Approx(unlike[1]).epsilon(0.02)); // 2 and 4 links
}

TEST_CASE("multi_axis: one lane goes along fast dimensions first where slow ones would carry it all", "[schedule]")
{
    const shape pod{"4x4x4", {4, 4, 4}, dimension_kind::ring, {}};
    const auto first_pass = [&](std::uint64_t bytes, std::uint32_t outermost_mbps) {
        abi::platform_table t = pod.tables()[5];
        t.rate_mbps[0] = outermost_mbps;
        t.rate_mbps[1] = t.rate_mbps[2] = 400'000;
        return plan_of(t, case_of(collective_op::reduce_scatter, algorithm::multi_axis, bytes / 4, 256 << 10)).channels[0].passes[0].what;
    };
    CHECK(first_pass(1 << 20, 40'000).find("along dimension 2") == std::string::npos); // counted from the innermost
    CHECK(first_pass(1 << 20, 400'000).find("along dimension 2") != std::string::npos); // blocks lie side by side
    CHECK(first_pass(4 << 10, 40'000).find("along dimension 2") != std::string::npos);  // messages cost more
}

// Where each message would have many pieces, lanes go as in an all_reduce, and each shard once to its rank or from it.
TEST_CASE("multi_axis: shards move where blocks of them would have many pieces", "[schedule]")
{
    const auto plans = [](std::vector<std::uint32_t> dims, collective_op op, std::uint64_t count) {
        std::vector<planned_rank> ranks;
        for (abi::platform_table& t : shape{"", dims, dimension_kind::full, {}}.tables()) {
            for (std::size_t d = 0; d < dims.size(); ++d)
                t.rate_mbps[d] = (d < 2 ? 100'000u : 448'000u) * (dims[d] - 1);
            ranks.push_back(plan_of(t, case_of(op, algorithm::multi_axis, count, 256 << 10)));
        }
        CHECK(unmatched(ranks) == "");
        return ranks;
    };
    const auto moved = [](const std::vector<planned_rank>& ranks) {
        std::uint64_t elements = 0;
        for (const planned_rank& rank : ranks)
            for (const planned_channel& c : rank.channels)
                for (const planned_pass& p : c.passes)
                    for (const planned_run& run : p.runs)
                        elements += p.moves_shards ? run.range.count : 0;
        return elements;
    };
    for (const collective_op op : {collective_op::reduce_scatter, collective_op::all_gather})
        for (const std::vector<std::uint32_t>& dims : {std::vector<std::uint32_t>{4, 4, 4, 8}, {2, 3, 5, 7}, {2, 2, 2, 2, 3, 3}})
            for (const std::uint64_t more : {0, 1, 37, 95}) {
                const std::uint64_t count = (op == collective_op::all_gather ? 1 << 18 : 2 << 20) + more;
                std::uint64_t n = 1;
                for (const std::uint32_t d : dims)
                    n *= d;
                const std::uint64_t elements = moved(plans(dims, op, count));
                CHECK(elements > count / 2); // each at most once; those that stay are few
                CHECK(elements <= count);
                CHECK(moved(plans(dims, op, 5)) == 0);
            }
    CHECK(moved(plans({8, 8}, collective_op::reduce_scatter, 2 << 20)) == 0);
}

TEST_CASE("every rank is sent exactly the messages that it waits for", "[schedule]")
{
    const shape shapes[] = {
        {"2x2", {2, 2}, dimension_kind::line, {}},
        {"4x6", {4, 6}, dimension_kind::line, {}},
        {"3x4", {3, 4}, dimension_kind::line, {}},
        {"5x5", {5, 5}, dimension_kind::line, {}},
        {"1x7", {1, 7}, dimension_kind::line, {}},
        {"4x4 torus", {4, 4}, dimension_kind::ring, {}},
        {"3x5 torus", {3, 5}, dimension_kind::ring, {}},
        {"8x8 - 2x2", {8, 8}, dimension_kind::line, {{2, 4, 2, 2}}},
        {"8x12 - two", {8, 12}, dimension_kind::line, {{2, 4, 2, 2}, {6, 8, 2, 2}}},
        {"full 8", {8}, dimension_kind::full, {}},
        {"full 4x3", {4, 3}, dimension_kind::full, {}},
        {"full 2x3x4", {2, 3, 4}, dimension_kind::full, {}},
        {"switched 7", {7}, dimension_kind::switched, {}},
    };
    std::uint32_t planned = 0;
    for (const shape& s : shapes) {
        const std::vector<abi::platform_table> tables = s.tables();
        for (unsigned op = 0; op < abi::k_collective_ops; ++op)
            for (unsigned a = 0; a < abi::k_algorithms; ++a)
                for (const bool transposed : {false, true}) {
                    const auto algo = static_cast<algorithm>(a);
                    const char* why = "";
                    if (!has_schedule(tables[0], static_cast<abi::collective_op>(op), algo) ||
                        !firmware::supports(static_cast<collective_op>(op), algo, tables[0], transposed, &why))
                        continue;
                    for (const std::uint64_t elements : {1, 5, 97, 1024, 4099}) {
                        collective_case c = case_of(static_cast<collective_op>(op), algo, elements, 512);
                        c.transposed = transposed;
                        c.root = has_root(c.op) ? tables[0].ranks / 3 : 0;
                        INFO(s.name << ": " << name_of(c.op) << " by " << name_of(algo)
                                    << (transposed ? " transposed, " : ", ") << elements << " elements");
                        std::vector<planned_rank> ranks;
                        for (const abi::platform_table& t : tables)
                            ranks.push_back(plan_of(t, c));
                        CHECK(unmatched(ranks) == "");
                        ++planned;
                    }
                }
    }
    CHECK(planned > 200); // so many are supported; none is passed over in silence
}

TEST_CASE("a difference between what is sent and what is waited for has a place", "[schedule]")
{
    const shape mesh{"2x2", {2, 2}, dimension_kind::line, {}};
    std::vector<planned_rank> ranks;
    for (const abi::platform_table& t : mesh.tables())
        ranks.push_back(plan_of(t, case_of(collective_op::all_reduce, algorithm::ring_1d, 8, 1024)));
    const auto sound = ranks;
    auto& [semaphore, messages] = *ranks[2].received.begin();
    ++messages;
    CHECK(unmatched(ranks) == fmt::format("rank 2 waits for {} messages on semaphore {} and is sent {}", messages,
                                          semaphore, messages - 1));
    ranks = sound;
    const std::uint32_t lost = ranks[2].received.begin()->first;
    const std::uint64_t were = ranks[2].received.begin()->second;
    ranks[2].received.erase(lost);
    CHECK(unmatched(ranks) ==
          fmt::format("rank 2 is sent {} messages on semaphore {} that it does not wait for", were, lost));
    ranks = sound;
    ranks[1].sent[{9, 0}] = 1;
    CHECK(unmatched(ranks) == "rank 1 sends to rank 9, which does not exist");
}
