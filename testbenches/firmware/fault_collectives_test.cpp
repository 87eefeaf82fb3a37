// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives on meshes with failed chips, on the machine without time: exact under every schedule that is tried.
#include <catch2/catch.hpp>

#include <set>
#include <string>

#include "firmware/collectives/mesh.h"
#include "firmware/collectives/supports.h"
#include "testbenches/firmware/broken_mesh.h"
#include "testbenches/firmware/loopback_world.h"

using namespace weft;
using namespace weft::testing;
using abi::algorithm;
using abi::collective_op;

namespace {

struct variant {
    collective_op op;
    algorithm algo;
};
constexpr variant k_variants[] = {
    {collective_op::all_reduce, algorithm::row_pair}, {collective_op::all_reduce, algorithm::row_pair_forward},
    {collective_op::all_reduce, algorithm::ring_1d},  {collective_op::reduce_scatter, algorithm::ring_1d},
    {collective_op::all_gather, algorithm::ring_1d},  {collective_op::broadcast, algorithm::mesh_tree},
    {collective_op::all_to_all, algorithm::direct},   {collective_op::reduce, algorithm::mesh_tree},
};

abi::command make(variant v, std::uint64_t count, std::uint64_t chunk_bytes, bool transposed = false)
{
    abi::command c;
    c.op = v.op;
    c.algo = v.algo;
    c.count = count;
    c.chunk_bytes = chunk_bytes;
    c.transposed = transposed ? 1 : 0;
    return c;
}

/// A command and who runs it; no groups: all ranks.
struct work {
    abi::command command;
    std::vector<rank_list> groups = {};
};

world_options mesh_with(std::uint32_t rows, std::uint32_t cols, const regions& failed, std::uint32_t seed)
{
    world_options o;
    o.rows = rows;
    o.cols = cols;
    o.failed = failed;
    o.seed = seed;
    o.buffer_bytes = 1 << 13;
    o.queues = 1 + seed % 5;
    o.ports = 1 + seed % 3;
    o.ring_entries = 1u << seed / 5 % 6;
    o.freeze_one_in = seed % 3 == 0 ? 0 : 4 + seed % 29;
    return o;
}

bool runs(const world_options& o, const abi::command& c)
{
    const char* reason = nullptr;
    const abi::platform_table table = table_of(o.rows, o.cols, o.failed);
    if (abi::has_root(c.op)) {
        const firmware::mesh m = firmware::mesh_of(table);
        const firmware::place root = firmware::place_of(m, c.root);
        return firmware::tree_reaches_all(table, root.row, root.col, c.transposed != 0);
    }
    return firmware::supports(c.op, c.algo, table, c.transposed != 0, &reason);
}

std::string text_of(const world_options& o)
{
    std::string text = std::to_string(o.rows) + "x" + std::to_string(o.cols) + " seed " + std::to_string(o.seed);
    for (const abi::failed_region& f : o.failed)
        text += " " + std::to_string(f.rows) + "x" + std::to_string(f.cols) + " at (" + std::to_string(f.row) + "," +
                std::to_string(f.col) + ")";
    return text;
}

std::string text_of(const std::vector<work>& commands)
{
    std::string text;
    for (const auto& [c, groups] : commands) {
        text += "op " + std::to_string(int(c.op)) + " algo " + std::to_string(int(c.algo)) + " count " +
                std::to_string(c.count) + " chunk " + std::to_string(c.chunk_bytes) + " root " +
                std::to_string(c.root) + (c.transposed != 0 ? " transposed" : "");
        for (const rank_list& list : groups)
            text += ", " + text_of_group(list);
        text += "; ";
    }
    return text;
}

constexpr variant k_in_groups[] = {
    {collective_op::all_reduce, algorithm::ring_1d},   {collective_op::reduce_scatter, algorithm::ring_1d},
    {collective_op::all_gather, algorithm::ring_1d},   {collective_op::all_reduce, algorithm::multi_axis},
    {collective_op::all_gather, algorithm::multi_axis}, {collective_op::reduce_scatter, algorithm::multi_axis},
    {collective_op::all_to_all, algorithm::direct},
};

/// Some ranks, in lists of random lengths and orders.
std::vector<rank_list> random_groups(std::mt19937& random, std::uint32_t ranks)
{
    rank_list all;
    for (std::uint32_t r = 0; r < ranks; ++r)
        all.push_back(r);
    if (random() % 2 != 0)
        std::shuffle(all.begin(), all.end(), random);
    std::vector<rank_list> lists;
    for (std::size_t at = random() % 3; at < all.size();) {
        const std::size_t size = std::min<std::size_t>(1 + random() % 9, all.size() - at);
        lists.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at), all.begin() + static_cast<std::ptrdiff_t>(at + size));
        at += size + random() % 2;
    }
    return lists;
}

bool runs_in_groups(const world_options& o, const abi::command& c, const std::vector<rank_list>& lists)
{
    world w(o);
    const table_of_rank tables = [&w](std::uint32_t r) -> const abi::platform_table& { return w.table_of(r); };
    const char* reason = nullptr;
    return std::all_of(lists.begin(), lists.end(), [&](const rank_list& list) {
        return firmware::supports(c.op, c.algo, tables_of_group(list, tables, 1).front(), false, &reason);
    });
}

std::string run_all(const world_options& o, const std::vector<work>& commands, std::uint64_t* skew = nullptr)
{
    world w(o);
    for (const work& c : commands)
        w.add(c.command, c.groups);
    const std::string problems = run_to_end(w, commands.size());
    if (skew != nullptr)
        *skew = std::max(*skew, w.max_skew());
    return problems;
}

} // namespace

TEST_CASE("every collective is exact around every even region of 8x8")
{
    std::uint32_t seed = 0;
    unsigned pairs = 0, forwards = 0, walks = 0;
    for (const abi::failed_region& f : all_regions(8, 8, 2)) {
        if (!in_one_piece({f}, 8, 8) || working_chips({f}, 8, 8) < 8)
            continue;
        for (const bool transposed : {false, true}) {
            const world_options o = mesh_with(8, 8, {f}, ++seed);
            std::mt19937 random(seed);
            std::vector<work> commands;
            for (const variant v : k_variants) {
                abi::command c =
                    make(v, random() % 3 == 0 ? random() % 600 : random() % 41, 4 + random() % 60, transposed);
                c.root = static_cast<std::uint32_t>(random() % working_chips({f}, 8, 8));
                if (!runs(o, c))
                    continue;
                pairs += v.algo == algorithm::row_pair ? 1 : 0;
                forwards += v.algo == algorithm::row_pair_forward ? 1 : 0;
                walks += v.algo == algorithm::ring_1d ? 1 : 0;
                commands.push_back({c});
            }
            INFO(text_of(o) << " transposed " << transposed);
            REQUIRE(run_all(o, commands) == "");
        }
    }
    INFO(pairs << " row_pair, " << forwards << " row_pair_forward, " << walks << " ring_1d of " << seed);
    CHECK(walks == 3 * seed);
    CHECK(pairs >= 100);
    CHECK(forwards >= 80);
}

TEST_CASE("every count up to 40 with chunks of one element and of several")
{
    std::uint32_t seed = 1000;
    for (const regions& failed : {regions{region(2, 2, 2, 2)}, regions{region(0, 4, 4, 2)}, regions{region(2, 0, 2, 4)},
                                  regions{region(2, 2, 4, 2)}, regions{region(4, 0, 4, 2), region(4, 4, 4, 2)}})
        for (const variant v : k_variants) {
            std::vector<work> commands;
            const world_options o = mesh_with(8, 6, failed, ++seed);
            for (std::uint64_t count = 0; count <= 40; ++count) {
                abi::command c = make(v, count, count % 3 == 0 ? 4 : 4 + count % 17, count % 2 != 0);
                c.root = static_cast<std::uint32_t>(count % 32);
                if (runs(o, c))
                    commands.push_back({c});
            }
            INFO(text_of(o) << " op " << int(v.op) << " algo " << int(v.algo));
            REQUIRE(run_all(o, commands) == "");
        }
}

TEST_CASE("mixed collectives back to back on broken meshes with frozen ranks")
{
    std::uint64_t skew = 0;
    unsigned of[std::size(k_variants)] = {}, groups = 0;
    for (std::uint32_t seed = 1; seed <= 120; ++seed) {
        std::mt19937 random(seed);
        struct shape {
            std::uint32_t rows, cols;
        };
        constexpr shape k_shapes[] = {{4, 4}, {6, 4}, {8, 4}, {4, 8}, {8, 8}, {6, 10}, {10, 6}};
        const shape s = k_shapes[random() % std::size(k_shapes)];
        world_options o = mesh_with(s.rows, s.cols, random_regions(random, s.rows, s.cols, 3, 2, 4), seed);
        // Not with frozen ranks: a driver may give up on interrupts that do not stop while nothing else happens.
        o.spurious = seed % 3 == 0;
        std::vector<std::vector<rank_list>> divisions;
        for (unsigned i = 0; i < 3; ++i)
            divisions.push_back(random_groups(random, working_chips(o.failed, s.rows, s.cols)));
        std::vector<work> commands;
        for (unsigned i = 0; i < 24; ++i) {
            const std::uint64_t count = random() % 4 == 0   ? random() % 300
                                        : random() % 4 == 0 ? random() % 40
                                                            : random() % 5;
            if (random() % 4 == 0) {
                const std::vector<rank_list>& lists = divisions[random() % divisions.size()];
                const variant v = k_in_groups[random() % std::size(k_in_groups)];
                abi::command c = make(v, count, 4 + random() % 40);
                c.root = static_cast<std::uint32_t>(random());
                for (const rank_list& list : lists)
                    c.root = std::min(c.root, static_cast<std::uint32_t>(list.size()) - 1);
                if (runs_in_groups(o, c, lists)) {
                    commands.push_back({c, lists});
                    ++groups;
                }
                continue;
            }
            const std::size_t which = random() % std::size(k_variants);
            abi::command c = make(k_variants[which], count, 4 + random() % 40, random() % 2 != 0);
            c.root = static_cast<std::uint32_t>(random() % working_chips(o.failed, s.rows, s.cols));
            if (runs(o, c)) {
                commands.push_back({c});
                ++of[which];
            }
        }
        INFO(text_of(o) << ": " << text_of(commands));
        REQUIRE(run_all(o, commands, &skew) == "");
    }
    CHECK(skew >= 2);
    CHECK(groups >= 100);
    for (const unsigned n : of)
        CHECK(n >= 60);
}

namespace {

/// Answers of every rank to command `i` (from 0): the one status code and text they agree on, else "ranks disagree".
std::string answer(const world& w, std::size_t i)
{
    std::set<std::string> answers;
    for (std::uint32_t r = 0; r < w.ranks(); ++r)
        answers.insert(w.responses(r).size() <= i
                           ? "none"
                           : std::to_string(static_cast<int>(w.responses(r)[i].code)) + " " + w.responses(r)[i].where);
    std::string text;
    for (const std::string& a : answers)
        text += (text.empty() ? "" : " | ") + a;
    return text;
}

} // namespace

TEST_CASE("a broadcast or reduce whose tree has holes is refused by every rank and the next collectives run")
{
    // Chip (4,4) sees failed chips up its column to the root's row, and in its own row to the root's column.
    world_options o = mesh_with(8, 8, {region(2, 4, 2, 2), region(4, 2, 2, 2)}, 1);
    for (const bool transposed : {false, true}) {
        world w(o);
        for (const collective_op op : {collective_op::broadcast, collective_op::reduce}) {
            abi::command c = make({op, algorithm::mesh_tree}, 20, 16, transposed);
            c.root = 2 * 8 + 2;
            w.add(c);
            c.root = 0;
            w.add(c);
            c.root = 8 - 1;
            w.add(c);
        }
        w.add(make({collective_op::all_reduce, algorithm::ring_1d}, 20, 16, transposed));
        w.run();
        INFO(w.problems());
        CHECK(answer(w, 0) == "7 failed regions cut mesh_tree off from the root");
        CHECK(answer(w, 3) == "7 failed regions cut mesh_tree off from the root");
        for (const std::size_t i : {1, 2, 4, 5, 6})
            CHECK(answer(w, i) == "0 ");
        CHECK(w.problems().find("wrong") == std::string::npos);
    }
}

TEST_CASE("a split mesh is refused by every rank and what needs no walk runs")
{
    world_options o = mesh_with(8, 4, {region(2, 0, 2, 4)}, 2);
    world w(o);
    w.add(make({collective_op::all_reduce, algorithm::ring_1d}, 20, 16));
    w.add(make({collective_op::all_gather, algorithm::ring_1d}, 20, 16, true));
    w.add(make({collective_op::broadcast, algorithm::mesh_tree}, 20, 16));
    w.add(make({collective_op::all_to_all, algorithm::direct}, 50, 16));
    w.add(make({collective_op::all_reduce, algorithm::ring_1d}, 50, 16), {{1, 4, 0}, {2, 3}});
    w.run();
    CHECK(answer(w, 0) == "7 failed regions split the mesh");
    CHECK(answer(w, 1) == "7 failed regions split the mesh");
    for (std::size_t i = 2; i < 5; ++i)
        CHECK(answer(w, i) == "0 ");
}

TEST_CASE("losing a message around failed chips ends in a timeout that names a peer")
{
    world_options o = mesh_with(8, 4, {region(2, 0, 2, 2)}, 6);
    for (const algorithm a : {algorithm::ring_1d, algorithm::row_pair, algorithm::row_pair_forward}) {
        const abi::command c = make({collective_op::all_reduce, a}, 40, 16);
        std::uint64_t last = 0;
        {
            world w(o);
            w.add(c);
            w.run();
            REQUIRE(w.problems() == "");
            last = w.messages();
        }
        for (std::uint64_t n = 1; n <= last; n += 7) {
            world_options broken = o;
            broken.drop_message = n;
            world w(broken);
            w.add(c);
            w.run();
            INFO("algo " << int(a) << " message " << n << ": " << w.problems());
            unsigned timeouts = 0;
            bool named = true;
            for (std::uint32_t r = 0; r < w.ranks(); ++r) {
                REQUIRE(w.responses(r).size() == 1);
                const abi::response& answer = w.responses(r)[0];
                if (answer.code == abi::status_code::ok)
                    continue;
                ++timeouts;
                named = named && answer.code == abi::status_code::timeout && answer.failed_peer < w.ranks() &&
                        std::string(answer.where) == "DMA.SEM_PENDING";
            }
            CHECK(timeouts > 0);
            CHECK(named);
        }
    }
}
