// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Path sets of UB-Mesh: what is in them, weights, headers, what failed links leave, and who is told of them.
#include "hw/routing/ub/ub_paths.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace weft;

namespace {

std::shared_ptr<const ub_topology> machine(std::uint32_t pods, std::uint32_t rows, std::uint32_t cols, bool hrs,
                                           std::uint32_t boards = 8, std::uint32_t npus = 8)
{
    ub_shape s;
    s.pods = pods;
    s.rack_rows = rows;
    s.rack_cols = cols;
    s.hrs = hrs;
    s.boards = boards;
    s.npus = npus;
    return std::make_shared<ub_topology>(s);
}

ub_paths paths_of(std::shared_ptr<const ub_topology> t, bool detour, bool borrow, bool tables_where_same = false)
{
    ub_path_options o;
    o.tables_where_same = tables_where_same;
    o.detour = detour;
    o.borrow = borrow;
    const ub_lane_rule rule = lane_rule_of(lane_word_for(t->shape()));
    return ub_paths(std::move(t), rule, o);
}

std::size_t count(const std::vector<ub_path>& set, ub_path_kind kind)
{
    return static_cast<std::size_t>(
        std::count_if(set.begin(), set.end(), [&](const ub_path& p) { return p.kind == kind; }));
}

/// Follows the header as routers do; the lane of every hop must be the one of the rule.
void check_header(const ub_paths& paths, std::uint32_t from, std::uint32_t to, const ub_path& p)
{
    const ub_topology& t = paths.topology();
    abi::ub::source_route header = p.route;
    std::uint32_t at = from;
    ub_channel in = ub_channel::local;
    std::uint8_t lane = 0;
    for (std::uint32_t hop = 0; hop < p.hops; ++hop) {
        std::uint32_t port = 0;
        const abi::ub::instruction i = abi::ub::decode_instruction(header.present_byte());
        const bool by_source = header.here();
        if (by_source) {
            port = i.port;
        } else {
            const auto e = look_up(t.table_of(at), t.address_of(to));
            REQUIRE(e.ways == 1);
            port = e.port;
        }
        const std::uint32_t l = t.out_link(at, port);
        REQUIRE(l == p.links[hop]);
        lane = paths.rule().next(in, lane, t.plan().links[l].channel);
        REQUIRE(lane < 2);
        if (by_source)
            REQUIRE(i.second_vl == (lane == 1));
        if (hop == 0)
            REQUIRE(p.first_lane == lane);
        in = t.plan().links[l].channel;
        at = t.plan().links[l].to;
        header = header.advanced();
    }
    REQUIRE(at == to);
    REQUIRE_FALSE(header.here());
}

} // namespace

TEST_CASE("shortest paths of a rack")
{
    const ub_paths paths = paths_of(machine(1, 1, 1, false), false, false);
    CHECK(paths.paths(0, 1, {}).size() == 1);
    CHECK(paths.paths(0, 8, {}).size() == 1);
    const auto diagonal = paths.paths(0, 9, {});
    REQUIRE(diagonal.size() == 2);
    CHECK(diagonal[0].weight == diagonal[1].weight);
    CHECK(paths.paths(0, paths.topology().cpu_router(0, 3), {}).size() == 16);
    CHECK(paths.paths(paths.topology().spare_router(0), 5, {}).size() == 16);
    CHECK(paths.paths(0, paths.topology().nic_router(0, 3), {}).size() == 2);
    CHECK(paths.paths(5, 5, {}).empty());
}

TEST_CASE("detours and ways through LRS and HRS are counted as the patterns say")
{
    const ub_paths paths = paths_of(machine(1, 4, 4, true), true, true);
    const auto row = paths.paths(0, 1, {});
    CHECK(count(row, ub_path_kind::shortest) == 1);
    CHECK(count(row, ub_path_kind::detour) == 6 + 4);
    CHECK(row[0].weight == 2 * row[1].weight);
    const std::uint32_t far = (5 * 8 + 0) * 8 + 3; // rack 5: other row and column, same board
    const auto racks = paths.paths(0, far, {});
    CHECK(count(racks, ub_path_kind::shortest) == 4 * 2);
    CHECK(count(racks, ub_path_kind::borrow) == 4 * 2);
    CHECK(count(racks, ub_path_kind::detour) <= 4 * 6 * 2);
    const auto boards = paths.paths(0, far + 8, {}); // another board: Y before or after
    CHECK(count(boards, ub_path_kind::shortest) == 2 * 4 * 2);
    CHECK(count(boards, ub_path_kind::borrow) == 2 * 4 * 2);
}

TEST_CASE("headers of all paths lead to the destination on the lanes of the rule")
{
    for (const auto& t : {machine(1, 1, 1, false), machine(2, 3, 2, true, 4, 4)}) {
        const ub_paths paths = paths_of(t, true, true);
        for (std::uint32_t from = 0; from < t->endpoints(); from += 7)
            for (std::uint32_t to = 0; to < t->endpoints(); to += 3) {
                if (from == to)
                    continue;
                const auto set = paths.paths(from, to, {});
                CAPTURE(t->plan().routers[from].name, t->plan().routers[to].name);
                REQUIRE_FALSE(set.empty());
                for (const ub_path& p : set)
                    check_header(paths, from, to, p);
            }
    }
}

TEST_CASE("headers that leave hops to tables name the same paths")
{
    for (const auto& t : {machine(1, 1, 1, false), machine(2, 3, 2, true, 4, 4)}) {
        const ub_paths all = paths_of(t, true, true), differing = paths_of(t, true, true, true);
        unsigned mixed = 0, by_tables = 0, by_instructions = 0;
        for (std::uint32_t from = 0; from < t->endpoints(); from += 7)
            for (std::uint32_t to = 0; to < t->endpoints(); to += 3) {
                const auto set = differing.paths(from, to, {}), same = all.paths(from, to, {});
                REQUIRE(set.size() == same.size());
                for (std::size_t i = 0; i < set.size(); ++i) {
                    REQUIRE(set[i].links == same[i].links);
                    REQUIRE(set[i].weight == same[i].weight);
                    check_header(differing, from, to, set[i]);
                    const auto named = static_cast<unsigned>(__builtin_popcount(set[i].route.bitmap()));
                    ++(named == 0 ? by_tables : named < set[i].hops ? mixed : by_instructions);
                }
            }
        CHECK(mixed > 100);
        CHECK(by_tables > 100);
    }
}

TEST_CASE("paths avoid links that are down and a search finds what patterns do not")
{
    const auto t = machine(1, 1, 1, false);
    const ub_paths paths = paths_of(t, false, false);
    std::vector<bool> down(t->plan().links.size(), false);
    const auto fail = [&](std::uint32_t from, std::uint32_t to) {
        const std::uint32_t l = t->link_between(from, to);
        down[l] = down[t->reverse_of(l)] = true;
    };
    fail(0, 1);
    const auto found = paths.paths(0, 1, down);
    CHECK(found.size() == 6 + 4); // by each other NPU of the board, by each leaf
    for (const ub_path& p : found) {
        CHECK(p.hops == 2);
        CHECK(std::none_of(p.links.begin(), p.links.end(), [&](std::uint32_t l) { return down[l]; }));
        check_header(paths, 0, 1, p);
    }
    CHECK(paths.paths(0, 9, down).size() == 1); // Y, X is left
    for (std::uint32_t to = 0; to < t->routers(); ++to)
        if (t->link_between(0, to) != ub_topology::k_none)
            fail(0, to);
    CHECK(paths.paths(0, 1, down).empty());
}

TEST_CASE("weights raise the throughput of adversarial permutations as path counting predicts")
{
    const auto t = machine(1, 4, 4, true);
    const auto lanes_a_pair = [&](bool detour, bool borrow, auto&& partner) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
        for (std::uint32_t i = 0; i < 1024; ++i)
            pairs.emplace_back(i, partner(i));
        const auto loads = link_loads(paths_of(t, detour, borrow), pairs);
        return 1 / *std::max_element(loads.begin(), loads.end());
    };
    const auto next_npu = [](std::uint32_t i) { return i / 8 * 8 + (i + 1) % 8; };
    CHECK(lanes_a_pair(false, false, next_npu) == Approx(4));
    CHECK(lanes_a_pair(true, false, next_npu) == Approx(4 + 6 * 4 / 2.0 + 4 * 4)); // direct, by X, by LRS
    const auto next_board = [](std::uint32_t i) { return i / 64 * 64 + (i + 8) % 64; };
    CHECK(lanes_a_pair(true, false, next_board) == Approx(4 + 6 * 4 / 2.0 + 16 * 2 / 8.0)); // direct, by Y, by spines
    const auto next_rack = [](std::uint32_t i) { return i / 256 * 256 + (i + 64) % 256; };
    CHECK(lanes_a_pair(false, false, next_rack) == Approx(128 / 64.0));
    CHECK(lanes_a_pair(true, false, next_rack) == Approx(128 / 64.0 + 2 * 128 / 64.0 / 2));
    CHECK(lanes_a_pair(false, true, next_rack) == Approx(128 / 64.0 + 256 / 64.0));
    CHECK(lanes_a_pair(true, true, next_rack) == Approx(128 / 64.0 + 2 * 128 / 64.0 / 2 + 256 / 64.0));
}

TEST_CASE("a rack with failed links joins every pair that is still connected")
{
    const auto t = machine(1, 1, 1, false);
    const ub_paths paths = paths_of(t, false, false);
    std::uint32_t random = 12345;
    for (std::uint32_t run = 0; run < 8; ++run) {
        std::vector<bool> down(t->plan().links.size(), false);
        for (std::uint32_t i = 0; i < 1u << run; ++i) {
            random = random * 1664525u + 1013904223u;
            const auto l = static_cast<std::uint32_t>((random >> 8) % down.size());
            down[l] = down[t->reverse_of(l)] = true;
        }
        std::uint32_t refused = 0;
        for (std::uint32_t from = run % 3; from < t->endpoints(); from += 3) {
            const auto hops = t->hops_from(from, down);
            for (std::uint32_t to = 0; to < t->endpoints(); ++to)
                if (to != from && hops[to] != ub_topology::k_none)
                    refused += paths.paths(from, to, down).empty() ? 1 : 0;
        }
        CAPTURE(run);
        CHECK(refused == 0);
    }
}

TEST_CASE("affected sources are those that have a shortest path over the link")
{
    for (const auto& t : {machine(1, 1, 1, false, 4, 4), machine(2, 2, 2, true, 2, 3)}) {
        const ub_paths paths = paths_of(t, false, false);
        const auto links = t->plan().links.size();
        std::vector<std::set<std::uint32_t>> users(links);
        for (std::uint32_t from = 0; from < t->endpoints(); ++from)
            for (std::uint32_t to = 0; to < t->endpoints(); ++to)
                if (from != to)
                    paths.each_path(from, to, paths.patterns(from, to, false, false),
                                    [&](const ub_pattern&, const std::uint32_t* way, std::uint32_t n) {
                                        for (std::uint32_t i = 0; i < n; ++i)
                                            users[way[i]].insert(from);
                                    });
        for (std::uint32_t l = 0; l < links; ++l) {
            const auto told = paths.affected_sources(l);
            CAPTURE(l, name_of(t->plan().links[l].channel), t->plan().routers[t->plan().links[l].from].name);
            REQUIRE(std::vector<std::uint32_t>(users[l].begin(), users[l].end()) == told);
        }
    }
}
