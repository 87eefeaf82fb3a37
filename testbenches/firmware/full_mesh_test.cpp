// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives on full meshes of one to six dimensions: the rings, exact answers under random interleaving with ranks, queues and
// streams that stand still, volumes, lost messages, and what is refused.
#include <catch2/catch.hpp>

#include "firmware/collectives/full_mesh.h"
#include "firmware/collectives/lane_choice.h"
#include "firmware/collectives/line_cycles.h"
#include "firmware/collectives/planner.h"
#include "firmware/collectives/supports.h"
#include "testbenches/firmware/loopback_world.h"

#include <set>

using namespace weft;
using namespace weft::firmware;
using namespace weft::testing;
using abi::algorithm;
using abi::collective_op;
using abi::element_type;
using abi::reduce_op;
using abi::status_code;
using sides = std::vector<std::uint32_t>;

namespace {

std::uint32_t product(const sides& dims)
{
    std::uint32_t n = 1;
    for (const std::uint32_t d : dims)
        n *= d;
    return n;
}

std::string to_text(const sides& dims)
{
    std::string s;
    for (const std::uint32_t d : dims)
        s += (s.empty() ? "" : "x") + std::to_string(d);
    return s;
}

abi::platform_table table_of(const sides& dims, std::uint32_t rank, abi::dimension_kind kind = abi::dimension_kind::full)
{
    abi::platform_table t;
    t.rank = rank;
    t.ranks = product(dims);
    t.dim_count = static_cast<std::uint32_t>(dims.size());
    for (std::size_t d = dims.size(); d-- > 0; rank /= dims[d]) {
        t.dims[d] = dims[d];
        t.coord[d] = rank % dims[d];
        t.kind[d] = kind;
    }
    return t;
}

std::uint32_t differing(const sides& dims, std::uint32_t a, std::uint32_t b)
{
    std::uint32_t n = 0;
    for (std::size_t d = dims.size(); d-- > 0; a /= dims[d], b /= dims[d])
        n += a % dims[d] != b % dims[d] ? 1 : 0;
    return n;
}

world_options full(const sides& dims, std::uint32_t seed)
{
    world_options o;
    o.dims = dims;
    o.rows = 1;
    o.cols = product(dims);
    o.seed = seed;
    return o;
}

struct variant {
    collective_op op;
    algorithm algo;
};
constexpr variant k_variants[] = {
    {collective_op::all_reduce, algorithm::ring_1d},    {collective_op::all_reduce, algorithm::hierarchical},
    {collective_op::all_reduce, algorithm::direct},     {collective_op::reduce_scatter, algorithm::ring_1d},
    {collective_op::reduce_scatter, algorithm::direct}, {collective_op::all_gather, algorithm::ring_1d},
    {collective_op::all_gather, algorithm::direct},     {collective_op::broadcast, algorithm::mesh_tree},
    {collective_op::all_to_all, algorithm::direct},     {collective_op::all_reduce, algorithm::multi_axis},
    {collective_op::all_gather, algorithm::multi_axis}, {collective_op::reduce_scatter, algorithm::multi_axis},
    {collective_op::reduce, algorithm::mesh_tree},      {collective_op::reduce, algorithm::multi_axis},
    {collective_op::all_reduce, algorithm::multi_ring},
};

abi::command make(variant v, std::uint64_t count, std::uint64_t chunk_bytes, std::uint32_t root = 0)
{
    abi::command c;
    c.op = v.op;
    c.algo = v.algo;
    c.count = count;
    c.chunk_bytes = chunk_bytes;
    c.root = root;
    return c;
}

std::string refusal(collective_op op, algorithm algo, const sides& dims, abi::dimension_kind kind = abi::dimension_kind::full)
{
    const char* why = nullptr;
    supports(op, algo, table_of(dims, 0, kind), false, &why);
    return why;
}

const std::vector<sides> k_shapes = {
    {8},       {2, 2},    {3, 3},       {3, 5},          {8, 8},       {3, 2},
    {1, 7, 1}, {2, 3, 2}, {3, 3, 3},    {5, 3, 2},       {3, 2, 2},    {4, 2, 3},
    {7, 3, 5}, {2, 4, 4}, {3, 1, 2, 3}, {2, 2, 2, 2, 2}, {3, 5, 3, 3}, {1, 2, 3, 1, 2, 2}};

} // namespace

TEST_CASE("full mesh: the ring over all ranks closes and every step changes one coordinate")
{
    std::vector<sides> shapes = k_shapes;
    shapes.push_back({8, 4, 4, 8, 8});
    shapes.push_back({8, 4, 4, 64});
    for (const sides& dims : shapes) {
        const std::uint32_t n = product(dims);
        INFO(to_text(dims));
        for (const bool reversed : {false, true}) {
            const ring_id ring{ring_kind::whole, false, reversed};
            std::vector<bool> seen(n);
            bool good = true;
            for (std::uint32_t rank = 0; rank < n; ++rank) {
                const abi::platform_table t = table_of(dims, rank);
                const ring_view v = view_ring(t, ring);
                const std::uint32_t next = v.position + 1 == n ? 0 : v.position + 1;
                good = good && v.size == n && v.position < n && !seen[v.position];
                good = good && ring_member(t, ring, v.position) == rank && ring_member(t, ring, next) == v.successor;
                good = good && view_ring(table_of(dims, v.successor), ring).predecessor == rank;
                good = good && (n == 1 || differing(dims, rank, v.successor) == 1);
                seen[v.position] = true;
            }
            REQUIRE(good);
        }
    }
}

TEST_CASE("full mesh: rings of a line pass every rank once and share no link")
{
    for (std::uint32_t n = 2; n <= 65; ++n) {
        INFO(n << " ranks");
        std::set<std::pair<std::uint32_t, std::uint32_t>> links;
        bool good = true;
        for (std::uint32_t ring = 0; ring < line_rings(n); ++ring) {
            const line_cycle cycle(n, ring);
            std::set<std::uint32_t> seen;
            for (std::uint32_t position = 0; position < n; ++position) {
                const std::uint32_t at = cycle.coordinate(position);
                good = good && at < n && cycle.position(at) == position && seen.insert(at).second;
                good = good && links.insert({at, cycle.coordinate((position + 1) % n)}).second;
            }
        }
        CHECK(good);
        // All links of an odd line; of an even one each rank has one left.
        CHECK(links.size() == n * (n - 1 - (n % 2 == 0 && n > 2 ? 1 : 0)));
    }
}

TEST_CASE("full mesh: rings along a dimension are those of a torus where both exist")
{
    for (const sides& dims : {sides{6}, sides{4, 6}, sides{3, 5}})
        for (std::uint32_t rank = 0; rank < product(dims); ++rank)
            for (const bool reversed : {false, true})
                for (std::uint8_t i = 0; i < dims.size(); ++i) {
                    const abi::platform_table t = table_of(dims, rank, abi::dimension_kind::ring);
                    ring_id along{ring_kind::axis, false, reversed};
                    along.axis = i;
                    const ring_id line{ring_kind::line, i != 0, reversed};
                    const ring_view a = view_ring(t, along);
                    const ring_view b = view_ring(mesh_of(t), line, rank);
                    REQUIRE(ring_number(along) == ring_number(line));
                    REQUIRE((a.size == b.size && a.position == b.position && a.successor == b.successor &&
                             a.predecessor == b.predecessor));
                }
}

TEST_CASE("full mesh: every collective is exact on every shape and count")
{
    std::uint32_t seed = 0;
    for (const sides& dims : k_shapes) {
        const std::uint32_t n = product(dims);
        if (n > 64)
            continue;
        for (const variant v : k_variants) {
            std::vector<abi::command> commands;
            for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{n - 1},
                                              std::uint64_t{n + 1}, std::uint64_t{n > 40 ? 600u : 1500u}})
                commands.push_back(make(v, count, count < 100 ? 4 : count / 5, static_cast<std::uint32_t>(++seed % n)));
            commands.back().transposed = seed % 2;
            world_options o = full(dims, seed);
            o.queues = 1 + seed % 5;
            o.ring_entries = 1u << seed % 6;
            INFO(to_text(dims) << " op " << int(v.op) << " algo " << int(v.algo) << " seed " << seed);
            REQUIRE(run_all(o, commands) == "");
        }
    }
}

TEST_CASE("full mesh: every type and reduction mixed and back to back with ranks that stand still")
{
    const std::vector<sides> shapes = {{2, 2, 2},    {3, 3}, {2, 3},          {3, 2, 2},
                                       {2, 2, 2, 2}, {4, 4}, {2, 2, 2, 2, 2}, {5}};
    for (std::uint32_t seed = 1; seed <= 64; ++seed) {
        std::mt19937 engine(seed);
        const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
        const sides& dims = shapes[random() % shapes.size()];
        const std::uint32_t n = product(dims);
        world_options o = full(dims, seed);
        o.queues = 1 + random() % 5;
        o.ring_entries = 1u << random() % 5;
        o.ports = 1 + random() % 2;
        o.freeze_one_in = seed % 2 == 0 ? 3 : 0;
        o.spurious = seed % 4 == 1;
        std::vector<abi::command> commands;
        for (unsigned i = 0; i < 25; ++i) {
            abi::command c = make(k_variants[random() % std::size(k_variants)],
                                  random() % 3 == 0 ? random() % 200 : random() % 6, 4 + random() % 40, random() % n);
            if (dims.size() == 2 && random() % 6 == 0)
                c.algo = c.op == collective_op::all_reduce ? algorithm::two_d : c.algo;
            c.transposed = random() % 2;
            c.type = static_cast<element_type>(random() % k_types_in_memory);
            c.redop = static_cast<reduce_op>(1 + random() % 3);
            const char* why = nullptr;
            const world shape(o);
            if (supports(c.op, c.algo, shape.table(), c.transposed != 0, &why))
                commands.push_back(c);
        }
        INFO("seed " << seed << " " << to_text(dims));
        REQUIRE(commands.size() > 5);
        REQUIRE(run_all(o, commands) == "");
    }
}

TEST_CASE(
    "full mesh: all_to_all over two paths and over one with short rings and few queues and ranks that stand still")
{
    const std::vector<sides> shapes = {{2, 2}, {3, 3}, {2, 3}, {5, 2}, {1, 4, 3}, {8, 8}};
    const algorithm algorithms[] = {algorithm::two_phase, algorithm::two_phase_one_path, algorithm::direct};
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
        std::mt19937 engine(seed);
        const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
        const sides& dims = shapes[seed % shapes.size()];
        const std::uint32_t n = product(dims);
        world_options o = full(dims, seed);
        o.queues = 1 + random() % 6;
        o.ring_entries = 1u << random() % 7;
        o.ports = 1 + random() % 2;
        o.freeze_one_in = seed % 2 == 0 ? 3 : 0;
        o.spurious = seed % 4 == 1;
        std::vector<abi::command> commands;
        for (unsigned i = 0; i < 12; ++i) {
            abi::command c = make({collective_op::all_to_all, algorithms[random() % 3]},
                                  random() % 2 == 0 ? random() % (6 * n) : random() % (2 * n), 4);
            c.type = static_cast<element_type>(random() % abi::k_element_types);
            commands.push_back(c);
        }
        INFO("seed " << seed << " " << to_text(dims) << ", queues " << o.queues << ", entries " << o.ring_entries);
        REQUIRE(run_all(o, commands) == "");
    }
}

TEST_CASE("full mesh: losing any one message of two paths ends in a timeout")
{
    for (const algorithm by : {algorithm::two_phase, algorithm::two_phase_one_path})
        for (std::uint64_t n = 1;; ++n) {
            world_options o = full({2, 3}, 9);
            o.drop_message = n;
            world w(o);
            w.add(make({collective_op::all_to_all, by}, 40, 16));
            w.run();
            if (w.messages() < n)
                break;
            unsigned timeouts = 0;
            for (std::uint32_t r = 0; r < 6; ++r)
                timeouts += w.responses(r).at(0).code == status_code::timeout ? 1 : 0;
            INFO("algorithm " << int(by) << " message " << n);
            CHECK(timeouts > 0);
        }
}

TEST_CASE("full mesh: multi_axis with shards cut into a part for each lane")
{
    std::uint32_t seed = 0;
    for (const sides& dims : {sides{2, 2}, sides{3, 2}, sides{2, 2, 2}, sides{5}, sides{2, 3, 1, 2}})
        for (const collective_op op : {collective_op::reduce_scatter, collective_op::all_gather, collective_op::all_reduce})
            for (const std::uint64_t more : {0, 1, 7}) {
                const std::uint64_t count = std::uint64_t{product(dims)} * 2048 * 3 + more;
                world_options o = full(dims, ++seed);
                o.buffer_bytes = 4 * count + 64;
                o.queues = 1 + seed % 7;
                INFO(to_text(dims) << " op " << int(op) << " + " << more);
                REQUIRE(run_all(o, {make({op, algorithm::multi_axis}, count, more == 7 ? 3000 : 1 << 20),
                                    make({op, algorithm::multi_axis}, 5, 64)}) == "");
            }
}

TEST_CASE("full mesh: multi_axis with parts of lanes by rates is exact")
{
    std::uint32_t seed = 0;
    for (const sides& dims : {sides{2, 4}, sides{4, 3}, sides{3, 2}})
        for (const collective_op op :
             {collective_op::reduce_scatter, collective_op::all_gather, collective_op::all_reduce, collective_op::reduce})
            for (const std::uint64_t more : {0, 1, 7}) {
                const std::uint64_t count = std::uint64_t{product(dims)} * 4096 * 5 + more;
                world_options o = full(dims, ++seed);
                o.link_mbps = 1'000; // slow links: lanes pay early
                o.buffer_bytes = 4 * count + 64;
                o.queues = 1 + seed % 7;
                o.freeze_one_in = seed % 3 == 0 ? 3 : 0;
                INFO(to_text(dims) << " op " << int(op) << " + " << more);
                REQUIRE(run_all(o, {make({op, algorithm::multi_axis}, count, more == 7 ? 3000 : 1 << 20),
                                    make({op, algorithm::multi_axis}, 5, 64)}) == "");
            }
}

// Slow links, so that lanes pay for data whose shards are too short to be cut: they go to their ranks one by one.
TEST_CASE("full mesh: multi_axis with shards that move between ranks is exact")
{
    std::uint32_t seed = 0, gathers_that_move = 0;
    for (const sides& dims : {sides{2, 2, 2}, sides{3, 2, 2}, sides{4, 3, 2}, sides{2, 3, 1, 2}, sides{2, 2, 3, 2}, sides{5, 2, 3}, sides{2, 2, 2, 2, 2}})
        for (const collective_op op : {collective_op::reduce_scatter, collective_op::all_gather})
            for (const std::uint64_t more : {0, 1, 7}) {
                const std::uint64_t count = std::uint64_t{product(dims)} * 700 + more;
                world_options o = full(dims, ++seed);
                o.link_mbps = 1'000;
                o.buffer_bytes = 4 * count + 64;
                o.queues = 1 + seed % 7;
                o.ring_entries = 1u << (2 + seed % 4);
                o.freeze_one_in = seed % 3 == 0 ? 3 : 0;
                abi::platform_table table = table_of(dims, 0);
                for (std::size_t d = 0; d < dims.size(); ++d)
                    table.rate_mbps[d] = o.link_mbps * (dims[d] - 1);
                const bool moves = lane_choice(table, make({op, algorithm::multi_axis}, count, 1 << 20), 1 << 18).moves_shards;
                REQUIRE((moves || op == collective_op::all_gather)); // few long shards stay
                gathers_that_move += moves && op == collective_op::all_gather ? 1 : 0;
                const collective_op other = op == collective_op::all_gather ? collective_op::reduce_scatter : collective_op::all_gather;
                INFO(to_text(dims) << " op " << int(op) << " + " << more);
                // One behind the other, among others that use the same semaphores.
                REQUIRE(run_all(o, {make({op, algorithm::multi_axis}, count, 1 << 20), make({op, algorithm::multi_axis}, count - 3, 1 << 20),
                                    make({collective_op::all_reduce, algorithm::multi_ring}, count / 2, 3000),
                                    make({op, algorithm::multi_axis}, count - 100, 1 << 20), make({other, algorithm::multi_axis}, count, 64),
                                    make({op, algorithm::multi_axis}, count / 3, 1 << 20)}) == "");
            }
    CHECK(gathers_that_move > 0);
}

// From 192 KiB on a broadcast has a tree for each link of a rank.
TEST_CASE("full mesh: broadcasts and reduces by trees of all links are exact")
{
    std::uint32_t seed = 0;
    for (const sides& dims : {sides{3}, sides{8}, sides{2, 2}, sides{3, 2}, sides{1, 5, 1}, sides{4, 4}, sides{2, 3, 2}, sides{2, 2, 2, 2},
                              sides{2, 2, 2, 2, 2}})
        for (const collective_op op : {collective_op::broadcast, collective_op::reduce})
            for (const std::uint64_t more : {0, 1, 7}) {
                const std::uint64_t count = 49152 + more;
                const std::uint32_t n = product(dims);
                world_options o = full(dims, ++seed);
                o.buffer_bytes = 4 * 60000;
                o.queues = 1 + seed % 7;
                o.ports = 1 + seed % 2;
                o.ring_entries = 1u << seed % 6;
                o.freeze_one_in = seed % 3 == 0 ? 3 : 0;
                std::vector<abi::command> commands;
                for (std::uint32_t i = 0; i < 3; ++i) // of different roots, one behind the other
                    commands.push_back(make({op, algorithm::mesh_tree}, count, more == 7 ? 3000 : 1 << 20, (seed + 3 * i) % n));
                commands.push_back(make({op, algorithm::mesh_tree}, 5, 64, n - 1));
                commands.push_back(make({collective_op::all_reduce, algorithm::multi_axis}, 100, 64));
                commands.push_back(make({op, algorithm::mesh_tree}, 51000, 1000, n - 1));
                INFO(to_text(dims) << " op " << int(op) << " + " << more << " seed " << seed);
                REQUIRE(run_all(o, commands) == "");
            }
}

TEST_CASE("full mesh: trees of all links are exact in every type and reduction")
{
    for (std::uint8_t type = 0; type < k_types_in_memory; ++type)
        for (const reduce_op redop : {reduce_op::sum, reduce_op::max, reduce_op::min}) {
            world_options o = full({3, 4}, type + 1u);
            o.buffer_bytes = 4 * 100000;
            abi::command c = make({collective_op::reduce, algorithm::mesh_tree}, 99001, 2000, 7);
            c.type = static_cast<element_type>(type);
            c.redop = redop;
            REQUIRE(run_all(o, {c, c}) == "");
        }
}

TEST_CASE("full mesh: losing any one message of a tree of all links ends in a timeout")
{
    for (const collective_op op : {collective_op::broadcast, collective_op::reduce})
        for (std::uint64_t n = 1;; ++n) {
            world_options o = full({2, 3}, 9);
            o.buffer_bytes = 4 * 60000;
            o.drop_message = n;
            world w(o);
            w.add(make({op, algorithm::mesh_tree}, 49152, 60000, 2));
            w.run();
            if (w.messages() < n)
                break;
            unsigned timeouts = 0;
            for (std::uint32_t r = 0; r < 6; ++r) {
                REQUIRE(w.responses(r).size() == 1);
                timeouts += w.responses(r)[0].code == status_code::timeout ? 1 : 0;
            }
            INFO("op " << int(op) << " message " << n);
            CHECK(timeouts > 0);
        }
}

TEST_CASE("tori and meshes of more dimensions: a tree of least depth and a ring over all ranks are exact")
{
    using kind = abi::dimension_kind;
    for (const sides& dims : {sides{4, 3, 2}, sides{3, 3, 3}, sides{2, 2, 2, 2}, sides{5, 1, 6}, sides{1, 4, 1}})
        for (const kind k : {kind::ring, kind::line}) {
            const std::uint32_t n = product(dims);
            world_options o = full(dims, n);
            o.kind = k;
            std::vector<abi::command> commands;
            for (const std::uint32_t root : {0u, n / 2, n - 1})
                for (const std::uint64_t count : {1ull, 77ull, 300ull})
                    for (const collective_op op : {collective_op::broadcast, collective_op::reduce})
                        commands.push_back(make({op, algorithm::mesh_tree}, count, 64, root));
            // Both use the ready semaphores of rings: one after the other.
            for (const collective_op op :
                 {collective_op::all_reduce, collective_op::all_gather, collective_op::reduce_scatter}) {
                commands.push_back(make({op, algorithm::multi_axis}, 300, 64));
                if (k == kind::ring)
                    commands.push_back(make({op, algorithm::ring_1d}, 300, 64));
                commands.push_back(make({collective_op::broadcast, algorithm::mesh_tree}, 50, 64, n - 1));
            }
            INFO(to_text(dims) << " kind " << int(k));
            REQUIRE(run_all(o, commands) == "");
        }
}

TEST_CASE("full mesh: volumes of trees of all links")
{
    for (const sides& dims : {sides{8}, sides{4, 4}, sides{2, 3, 4}}) {
        const std::uint32_t n = product(dims);
        const std::uint64_t count = 49152;
        world_options o = full(dims, n);
        o.buffer_bytes = 4 * count;
        world out(o), back(o);
        out.add(make({collective_op::broadcast, algorithm::mesh_tree}, count, 1 << 20, n / 2));
        back.add(make({collective_op::reduce, algorithm::mesh_tree}, count, 1 << 20, n / 2));
        out.run();
        back.run();
        REQUIRE(out.problems() == "");
        REQUIRE(back.problems() == "");
        for (std::uint32_t r = 0; r < n; ++r) { // the root sends everything once, and nobody gets anything twice
            CHECK(out.bytes_received(r) == (r == n / 2 ? 0 : count * 4));
            CHECK(out.bytes_sent(r) <= count * 4 + 4 * 64);
            CHECK(back.bytes_sent(r) == (r == n / 2 ? 0 : count * 4));
            CHECK(back.bytes_received(r) <= count * 4 + 4 * 64);
            CHECK(out.responses(r)[0].steps == dims.size() + 1);
        }
        CHECK(out.bytes_sent(n / 2) == count * 4);
        CHECK(back.bytes_received(n / 2) == count * 4);
    }
}

TEST_CASE("full mesh: volumes and steps")
{
    for (const sides& dims : {sides{2, 2, 2}, sides{4, 4}, sides{2, 3, 4}}) {
        const std::uint32_t n = product(dims);
        const std::uint64_t count = 2 * n * 30;
        std::uint32_t around = 0;
        for (const std::uint32_t d : dims)
            around += d - 1;
        const auto lines = static_cast<std::uint32_t>(dims.size()); // ranks meet line by line
        for (const auto& [algo, steps] :
             {std::pair{algorithm::ring_1d, 2 * (n - 1)}, std::pair{algorithm::hierarchical, 2 * around},
              std::pair{algorithm::multi_ring, 2 * around}, std::pair{algorithm::direct, 2 * (n - 1) + lines}}) {
            world w(full(dims, n));
            w.add(make({collective_op::all_reduce, algo}, count, 64));
            w.run();
            INFO(to_text(dims) << " algo " << int(algo));
            REQUIRE(w.problems() == "");
            std::uint64_t sent = 0;
            for (std::uint32_t r = 0; r < n; ++r) {
                sent += w.bytes_sent(r);
                if (algo != algorithm::multi_ring) { // of which ranks have shards that differ by an element
                    CHECK(w.bytes_sent(r) == 2 * count * 4 * (n - 1) / n);
                    CHECK(w.bytes_received(r) == 2 * count * 4 * (n - 1) / n);
                }
                CHECK(w.responses(r)[0].steps == steps);
            }
            CHECK(sent == 2 * count * 4 * (n - 1));
        }
        world w(full(dims, n));
        w.add(make({collective_op::broadcast, algorithm::mesh_tree}, count, 64, n / 2));
        w.run();
        REQUIRE(w.problems() == "");
        CHECK(w.bytes_sent(n / 2) == around * count * 4); // once to every other rank of its lines
        for (std::uint32_t r = 0; r < n; ++r) {
            CHECK(w.bytes_received(r) == (r == n / 2 ? 0 : count * 4));
            CHECK(w.responses(r)[0].steps == dims.size());
        }
        world back(full(dims, n));
        back.add(make({collective_op::reduce, algorithm::mesh_tree}, count, 64, n / 2));
        back.run();
        REQUIRE(back.problems() == "");
        CHECK(back.bytes_received(n / 2) == around * count * 4);
        for (std::uint32_t r = 0; r < n; ++r) {
            CHECK(back.bytes_sent(r) == (r == n / 2 ? 0 : count * 4));
            CHECK(back.responses(r)[0].steps == dims.size());
        }
        world halves(full(dims, n)); // a reduce-scatter and what the root lacks
        halves.add(make({collective_op::reduce, algorithm::multi_axis}, count, 64, n / 2));
        halves.run();
        REQUIRE(halves.problems() == "");
        CHECK(halves.bytes_received(n / 2) == 2 * count * 4 * (n - 1) / n);
        CHECK(halves.bytes_sent(n / 2) == count * 4 * (n - 1) / n);
    }
}

TEST_CASE("full mesh: losing any one message ends in a timeout")
{
    for (const variant v : k_variants)
        for (std::uint64_t n = 1;; ++n) {
            world_options o = full({2, 3}, 9);
            o.drop_message = n;
            world w(o);
            w.add(make(v, 40, 16, 2));
            w.run();
            if (w.messages() < n)
                break;
            unsigned timeouts = 0;
            for (std::uint32_t r = 0; r < 6; ++r) {
                REQUIRE(w.responses(r).size() == 1);
                const abi::response& a = w.responses(r)[0];
                REQUIRE((a.code == status_code::ok || a.code == status_code::timeout));
                timeouts += a.code == status_code::timeout ? 1 : 0;
            }
            INFO("op " << int(v.op) << " algo " << int(v.algo) << " message " << n);
            CHECK(timeouts > 0);
        }
}

TEST_CASE("full mesh: what runs and what is refused")
{
    for (const sides& dims : {sides{8}, sides{3, 3}, sides{8, 8}, sides{4, 4, 8, 8}, sides{8, 4, 4, 8, 8}})
        for (const variant v : k_variants)
            CHECK(refusal(v.op, v.algo, dims).empty());
    for (const sides& dims : {sides{3, 5}, sides{1, 8, 1, 8}})
        CHECK(refusal(collective_op::all_to_all, algorithm::two_phase, dims).empty());
    for (const sides& dims : {sides{8}, sides{2, 3, 4}})
        CHECK(refusal(collective_op::all_to_all, algorithm::two_phase, dims) ==
              "two_phase needs a mesh or torus of rows and columns, or a full mesh of two dimensions");
    CHECK(refusal(collective_op::all_reduce, algorithm::two_d, {8, 8}).empty());
    CHECK(refusal(collective_op::all_reduce, algorithm::two_d, {2, 8, 8}) == "this algorithm needs a 2-D mesh");
    CHECK(refusal(collective_op::all_reduce, algorithm::row_pair, {2, 8, 8}) == "this algorithm needs a 2-D mesh");
    CHECK(refusal(collective_op::all_reduce, algorithm::ring_1d, {2, 8, 8}, abi::dimension_kind::line) ==
          "ring_1d needs at most two dimensions, or a ring or a full mesh in every dimension");
    CHECK(refusal(collective_op::all_reduce, algorithm::ring_1d, {3, 3}, abi::dimension_kind::line) ==
          "ring_1d needs an even number of rows or columns and at least 2 of each");
    for (const sides& dims : {sides{5}, sides{3, 3}, sides{2, 8, 8}, sides{1, 4, 1}})
        CHECK(refusal(collective_op::all_reduce, algorithm::ring_1d, dims, abi::dimension_kind::ring).empty());
    for (const abi::dimension_kind kind : {abi::dimension_kind::ring, abi::dimension_kind::line}) {
        CHECK(refusal(collective_op::broadcast, algorithm::mesh_tree, {2, 8, 8}, kind).empty());
        CHECK(refusal(collective_op::reduce, algorithm::mesh_tree, {1, 2, 3, 1, 2, 2}, kind).empty());
        CHECK(refusal(collective_op::reduce, algorithm::mesh_tree, {2, 2, 2, 2, 2}, kind) ==
              "mesh_tree needs at most four dimensions, or a full mesh in every dimension");
    }
    CHECK(refusal(collective_op::all_reduce, algorithm::hierarchical, {4, 4, 4}, abi::dimension_kind::ring).empty());
    // A ring is no switch.
    CHECK(refusal(collective_op::all_reduce, algorithm::halving_doubling, {8}, abi::dimension_kind::ring) ==
          "halving_doubling needs a switched network or one full mesh");
    CHECK(refusal(collective_op::all_reduce, algorithm::halving_doubling, {8}, abi::dimension_kind::switched).empty());
    CHECK(refusal(collective_op::all_reduce, algorithm::halving_doubling, {8}, abi::dimension_kind::full).empty());
    CHECK(refusal(collective_op::all_reduce, algorithm::halving_doubling, {2, 8}, abi::dimension_kind::full) ==
          "halving_doubling needs a switched network or one full mesh");
    CHECK(refusal(collective_op::all_reduce, algorithm::hierarchical, {8, 8}, abi::dimension_kind::ring).empty());
    CHECK(refusal(collective_op::all_reduce, algorithm::hierarchical, {8, 8}, abi::dimension_kind::line) ==
          "hierarchical needs every dimension to be a ring or a full mesh, and no failed chips");
    CHECK(refusal(collective_op::all_reduce, algorithm::direct, {8, 8}, abi::dimension_kind::line) ==
          "direct, except for all_to_all, dispatch and combine, needs every dimension to be a ring or a full mesh, and no failed chips");
    CHECK(refusal(collective_op::all_gather, algorithm::direct, {16384}).empty());
    CHECK(refusal(collective_op::all_gather, algorithm::direct, {3, 8192}) ==
          "direct is limited to 16384 ranks: its barrier has 14 semaphores");
    CHECK(refusal(collective_op::all_reduce, algorithm::multi_ring, {8, 3, 4}).empty());
    CHECK(refusal(collective_op::all_reduce, algorithm::multi_ring, {8, 8}, abi::dimension_kind::ring) ==
          "multi_ring needs a full mesh in every dimension, and no failed chips");
    CHECK(refusal(collective_op::all_gather, algorithm::hierarchical, {8, 8}) ==
          "all_gather runs by ring_1d, direct or multi_axis");
    CHECK(refusal(collective_op::broadcast, algorithm::hierarchical, {8, 8}) == "broadcast runs by mesh_tree only");
    abi::platform_table broken = table_of({8, 8}, 0);
    broken.failed_regions = 1;
    broken.failed[0] = {2, 2, 2, 2};
    const char* why = nullptr;
    CHECK_FALSE(supports(collective_op::all_reduce, algorithm::hierarchical, broken, false, &why));
    CHECK(std::string(why) == "hierarchical needs every dimension to be a ring or a full mesh, and no failed chips");
}
