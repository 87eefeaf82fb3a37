// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole collectives on the machine without time: exact answers under random interleaving, and what happens when something
// breaks.
#include <catch2/catch.hpp>

#include "firmware/collectives/broadcast_trees.h"
#include "firmware/collectives/supports.h"
#include "testbenches/firmware/loopback_world.h"

using namespace weft;
using namespace weft::testing;
using abi::algorithm;
using abi::collective_op;
using abi::element_type;
using abi::reduce_op;

namespace {

abi::command make(collective_op op, algorithm algo, std::uint64_t count, std::uint64_t chunk_bytes)
{
    abi::command c;
    c.op = op;
    c.algo = algo;
    c.count = count;
    c.chunk_bytes = chunk_bytes;
    return c;
}

struct variant {
    collective_op op;
    algorithm algo;
};
constexpr variant k_variants[] = {
    {collective_op::all_reduce, algorithm::ring_1d},    {collective_op::all_reduce, algorithm::two_d},
    {collective_op::all_reduce, algorithm::row_pair},   {collective_op::reduce_scatter, algorithm::ring_1d},
    {collective_op::all_gather, algorithm::ring_1d},    {collective_op::broadcast, algorithm::mesh_tree},
    {collective_op::all_to_all, algorithm::direct},     {collective_op::all_reduce, algorithm::multi_axis},
    {collective_op::all_gather, algorithm::multi_axis}, {collective_op::reduce_scatter, algorithm::multi_axis},
    {collective_op::all_to_all, algorithm::two_phase},  {collective_op::reduce, algorithm::mesh_tree},
    {collective_op::reduce, algorithm::multi_axis},     {collective_op::all_to_all, algorithm::two_phase_one_path},
};

std::uint32_t expected_steps(const abi::command& c, std::uint32_t rows, std::uint32_t cols)
{
    const std::uint32_t n = rows * cols;
    const std::uint32_t r = c.transposed != 0 ? cols : rows;
    const std::uint32_t w = c.transposed != 0 ? rows : cols;
    if (c.count == 0 || n == 1)
        return 0;
    switch (c.algo) {
    case algorithm::ring_1d: return (c.op == collective_op::all_reduce ? 2 : 1) * (n - 1);
    case algorithm::two_d: return 2 * (rows - 1 + cols - 1);
    case algorithm::multi_axis:
        return (c.op == collective_op::all_reduce || c.op == collective_op::reduce ? 2 : 1) * (rows - 1 + cols - 1);
    case algorithm::row_pair: return 2 * (2 * w - 1 + r / 2 - 1);
    default: return ~0u; // not a ring
    }
}

/// run_all with the steps that each answer tells.
std::string run_counted(const world_options& options, const std::vector<abi::command>& commands, std::uint64_t* skew = nullptr,
                        std::uint64_t* waited = nullptr)
{
    world w(options);
    for (const abi::command& c : commands)
        w.add(c);
    std::string problems = run_to_end(w, commands.size());
    for (std::uint32_t r = 0; r < w.ranks(); ++r)
        for (std::size_t i = 0; i < w.responses(r).size(); ++i) {
            const std::uint32_t steps = expected_steps(commands[i], options.rows, options.cols);
            if (steps != ~0u && w.responses(r)[i].steps != steps)
                problems +=
                    "steps " + std::to_string(w.responses(r)[i].steps) + " instead of " + std::to_string(steps) + "; ";
            if (w.responses(r)[i].failed_peer != w.ranks())
                problems += "a peer is blamed; ";
        }
    if (skew != nullptr)
        *skew = std::max(*skew, w.max_skew());
    if (waited != nullptr)
        *waited = w.waited_in_engines();
    return problems;
}

bool fits(const world_options& o, const abi::command& c)
{
    const char* reason = nullptr;
    const world w(o);
    return firmware::supports(c.op, c.algo, w.table(), c.transposed != 0, &reason);
}

struct shape {
    std::uint32_t rows, cols;
};

} // namespace

TEST_CASE("every collective is exact on every small mesh and count")
{
    std::uint32_t seed = 1;
    unsigned run = 0;
    for (const shape s : {shape{2, 2}, {2, 3}, {3, 2}, {4, 4}, {2, 8}, {5, 4}, {6, 3}, {1, 6}, {5, 1}, {3, 3}, {1, 1}})
        for (const bool transposed : {false, true})
            for (const variant v : k_variants) {
                const std::uint64_t n = std::uint64_t{s.rows} * s.cols;
                world_options o;
                o.rows = s.rows;
                o.cols = s.cols;
                o.seed = ++seed;
                o.wrap_rows = (seed & 1) != 0;
                o.wrap_cols = (seed & 2) != 0;
                o.queues = 1 + seed % 5;
                o.ports = 1 + seed % 3;
                o.ring_entries = 1u << seed % 6;
                std::vector<abi::command> commands;
                for (const std::uint64_t count :
                     {std::uint64_t{0}, std::uint64_t{1}, n - 1, n, n + 1, std::uint64_t{1000}, std::uint64_t{12345}}) {
                    abi::command c = make(v.op, v.algo, count, count < 100 ? 4 : count / 10);
                    c.transposed = transposed ? 1 : 0;
                    c.root = static_cast<std::uint32_t>(++run % n);
                    commands.push_back(c);
                }
                if (!fits(o, commands[0]))
                    continue;
                INFO(s.rows << "x" << s.cols << " op " << int(v.op) << " algo " << int(v.algo) << " seed " << seed);
                REQUIRE(run_counted(o, commands) == "");
            }
}

TEST_CASE("trees of tori are exact and wait in the DMA engine where queues and rings allow it")
{
    std::uint32_t seed = 300;
    for (const shape s : {shape{3, 3}, {4, 4}, {3, 5}, {5, 3}, {2, 6}, {6, 4}, {4, 7}})
        for (const collective_op op : {collective_op::broadcast, collective_op::reduce})
            for (const std::uint32_t queues : {3u, 4u, 8u})
                for (const std::uint32_t entries : {4u, 8u, 16u, 64u}) {
                    world_options o;
                    o.rows = s.rows;
                    o.cols = s.cols;
                    o.seed = ++seed;
                    o.wrap_rows = seed % 3 != 0;
                    o.wrap_cols = seed % 5 != 0;
                    o.queues = queues;
                    o.ports = 1 + seed % 2;
                    o.ring_entries = entries;
                    std::vector<abi::command> commands;
                    for (const std::uint64_t count : {std::uint64_t{5000}, std::uint64_t{12345}}) {
                        abi::command c = make(op, algorithm::mesh_tree, count, 256);
                        c.root = seed % (s.rows * s.cols);
                        c.transposed = seed / 2 % 2;
                        commands.push_back(c);
                    }
                    std::uint64_t waited = 0;
                    INFO(s.rows << "x" << s.cols << " op " << int(op) << " seed " << seed << ", " << queues << " queues of " << entries);
                    REQUIRE(run_counted(o, commands, nullptr, &waited) == "");
                    if (queues < 4 || firmware::tree_colours({s.rows, s.cols, o.wrap_rows, o.wrap_cols}) < 3)
                        CHECK(waited == 0);
                    else if (entries >= 16)
                        CHECK(waited > 0);
                }
}

TEST_CASE("large counts with all chunk sizes")
{
    std::uint32_t seed = 100;
    for (const shape s : {shape{2, 3}, {4, 4}})
        for (const variant v : k_variants)
            for (const std::uint64_t chunk : {std::uint64_t{60}, std::uint64_t{1024}, std::uint64_t{1 << 20}}) {
                world_options o;
                o.rows = s.rows;
                o.cols = s.cols;
                o.seed = ++seed;
                o.wrap_rows = o.wrap_cols = (seed & 1) != 0;
                o.ring_entries = 16;
                abi::command c = make(v.op, v.algo, 12345, chunk);
                c.root = seed % (s.rows * s.cols);
                INFO(s.rows << "x" << s.cols << " op " << int(v.op) << " algo " << int(v.algo) << " chunk " << chunk);
                REQUIRE(run_counted(o, {c}) == "");
            }
}

TEST_CASE("sixty four ranks")
{
    std::uint32_t seed = 200;
    for (const bool wrap : {false, true})
        for (const variant v : k_variants) {
            world_options o;
            o.rows = o.cols = 8;
            o.wrap_rows = o.wrap_cols = wrap;
            o.seed = ++seed;
            abi::command c = make(v.op, v.algo, 5003, 128);
            c.root = 27;
            INFO("op " << int(v.op) << " algo " << int(v.algo) << " wrap " << wrap);
            REQUIRE(run_counted(o, {c, c}) == "");
        }
}

TEST_CASE("every element type and reduction")
{
    std::uint32_t seed = 300;
    for (unsigned type = 0; type < k_types_in_memory; ++type)
        for (const reduce_op redop : {reduce_op::sum, reduce_op::max, reduce_op::min}) {
            world_options o;
            o.rows = 4;
            o.cols = 3;
            o.seed = ++seed;
            std::vector<abi::command> commands;
            for (const variant v : k_variants) {
                abi::command c = make(v.op, v.algo, 777, 50);
                c.type = static_cast<element_type>(type);
                c.redop = redop;
                c.root = seed % 12;
                commands.push_back(c);
            }
            INFO("type " << type << " redop " << int(redop));
            REQUIRE(run_counted(o, commands) == "");
        }
}

TEST_CASE("mixed collectives back to back with skewed ranks")
{
    std::uint64_t skew = 0;
    for (std::uint32_t seed = 1; seed <= 150; ++seed) {
        std::mt19937 engine(seed);
        const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
        const shape shapes[] = {{2, 2}, {4, 4}, {2, 4}, {4, 3}, {6, 2}};
        const shape s = shapes[random() % 5];
        world_options o;
        o.rows = s.rows;
        o.cols = s.cols;
        o.seed = seed;
        o.wrap_rows = random() % 2 != 0;
        o.wrap_cols = random() % 2 != 0;
        o.queues = 1 + random() % 5;
        o.ports = 1 + random() % 2;
        o.ring_entries = 1u << random() % 5;
        o.spurious = seed % 4 == 0;
        std::vector<abi::command> commands;
        for (unsigned i = 0; i < 25; ++i) {
            const variant v = k_variants[random() % std::size(k_variants)];
            // Few elements: many ranks have nothing to wait for and run ahead.
            abi::command c = make(v.op, v.algo, random() % 3 == 0 ? random() % 200 : random() % 4, 4 + random() % 40);
            c.transposed = random() % 2;
            c.root = random() % (s.rows * s.cols);
            if (fits(o, c))
                commands.push_back(c);
        }
        INFO("seed " << seed);
        REQUIRE(run_counted(o, commands, &skew) == "");
    }
    CHECK(skew >= 2); // ranks have been collectives apart
}

TEST_CASE("accesses per ring step stay few")
{
    // 2 x 2 ring, one chunk a step, no window, no full ring: what is left is the loop itself.
    world_options o;
    o.ring_entries = 64;
    const auto count_of = [&](unsigned collectives) {
        world w(o);
        for (unsigned i = 0; i < collectives; ++i)
            w.add(make(collective_op::all_reduce, algorithm::ring_1d, 4096, 1 << 20));
        w.run();
        REQUIRE(w.problems() == "");
        std::uint64_t sum = 0;
        for (const auto& [kind, n] : w.access_kinds())
            sum += n;
        return sum;
    };
    const std::uint64_t per_rank = (count_of(11) - count_of(1)) / 10 / 4;
    // Two channels of 6 steps: at most 4 accesses a step (threshold, pending, descriptor, tail), plus for the collective two
    // ready descriptors, doorbells, thresholds and pendings, two drains and five accesses of the mailbox.
    CHECK(per_rank <= 2 * 6 * 4 + 2 * 5 + 2 + 5);
}

TEST_CASE("refused commands harm nobody")
{
    world_options o;
    o.rows = 1;
    o.cols = 4;
    world w(o);
    w.add(make(collective_op::all_reduce, algorithm::ring_1d, 100, 64)); // 1 x 4 has no Hamiltonian ring
    abi::command c = make(collective_op::broadcast, algorithm::mesh_tree, 100, 64);
    c.root = 4;
    w.add(c);
    c = make(collective_op::all_reduce, algorithm::two_d, 100, 64);
    c.redop = reduce_op::none;
    w.add(c);
    w.add(make(collective_op::all_reduce, algorithm::two_d, 1ull << 62, 64));
    c = make(collective_op::all_reduce, algorithm::two_d, 100, 64);
    c.op = static_cast<collective_op>(9);
    w.add(c);
    w.add(make(collective_op::all_reduce, algorithm::two_d, 100, 64));
    w.run();
    const std::pair<abi::status_code, const char*> answers[] = {
        {abi::status_code::unsupported, "ring_1d needs an even number of rows or columns"}, // cut to the field
        {abi::status_code::bad_command, "command.root"},
        {abi::status_code::bad_command, "command.redop"},
        {abi::status_code::bad_command, "command.count"},
        {abi::status_code::bad_command, "command.op"},
        {abi::status_code::ok, ""},
    };
    for (std::uint32_t r = 0; r < 4; ++r) {
        REQUIRE(w.responses(r).size() == 6);
        for (std::size_t i = 0; i < 6; ++i) {
            CHECK(w.responses(r)[i].code == answers[i].first);
            CHECK(std::string(w.responses(r)[i].where) == answers[i].second);
        }
    }
    CHECK(w.problems().find("wrong elements") == std::string::npos);
}

TEST_CASE("a bus error on any access is reported by its rank and ends")
{
    world_options o;
    o.ring_entries = 4;
    for (const variant v : k_variants) {
        abi::command c = make(v.op, v.algo, 40, 16);
        std::uint64_t last = 0;
        {
            world w(o);
            w.add(c);
            w.run();
            REQUIRE(w.problems() == "");
            last = w.accesses(1);
        }
        for (std::uint64_t n = 1; n <= last; ++n) {
            world_options broken = o;
            broken.fault_rank = 1;
            broken.fault_access = n;
            world w(broken);
            w.add(c);
            w.run();
            INFO("op " << int(v.op) << " algo " << int(v.algo) << " access " << n);
            const auto& answers = w.responses(1);
            // Only an error of the mailbox itself leaves the host without an answer.
            if (!answers.empty() && answers[0].code != abi::status_code::ok) {
                CHECK(answers[0].code == abi::status_code::bus_error);
                CHECK(answers[0].where[0] != '\0');
                CHECK(answers[0].detail != 0);
                CHECK(answers[0].sequence == 1);
            }
            for (const std::uint32_t r : {0u, 2u, 3u}) {
                REQUIRE(w.responses(r).size() == 1);
                const abi::status_code code = w.responses(r)[0].code;
                CHECK((code == abi::status_code::ok || code == abi::status_code::timeout));
            }
        }
    }
}

TEST_CASE("losing any one message ends in a timeout that names register and peer")
{
    world_options o;
    for (const variant v : k_variants) {
        abi::command c = make(v.op, v.algo, 40, 16);
        std::uint64_t last = 0;
        {
            world w(o);
            w.add(c);
            w.run();
            last = w.messages();
        }
        for (std::uint64_t n = 1; n <= last; ++n) {
            world_options broken = o;
            broken.drop_message = n;
            world w(broken);
            w.add(c);
            w.add(c);
            w.run();
            INFO("op " << int(v.op) << " algo " << int(v.algo) << " message " << n << ": " << w.problems());
            unsigned timeouts = 0;
            for (std::uint32_t r = 0; r < w.ranks(); ++r) {
                REQUIRE(w.responses(r).size() == 2);
                for (const abi::response& a : w.responses(r)) {
                    if (a.code == abi::status_code::timeout) {
                        ++timeouts;
                        CHECK(std::string(a.where) == "DMA.SEM_PENDING");
                        if (v.op != collective_op::all_to_all)
                            CHECK(a.failed_peer < w.ranks());
                    } else if (a.code != abi::status_code::ok) {
                        CHECK(std::string(a.where) == "an earlier collective failed; reset");
                    }
                }
            }
            CHECK(timeouts > 0);
        }
    }
    // Other ranks may well answer ok with wrong elements: semaphores count messages, they do not name them, so a rank takes
    // the next message for the lost one. The loss itself always leaves one rank waiting; the fabric is lossless by contract.
}

TEST_CASE("a rank that never starts is the peer that is named")
{
    world_options o;
    o.rows = 2;
    o.cols = 4;
    o.silent_ranks = 1; // rank 7
    world w(o);
    w.add(make(collective_op::all_reduce, algorithm::ring_1d, 100, 64));
    w.run();
    bool named = false;
    for (std::uint32_t r = 0; r < 7; ++r) {
        REQUIRE(w.responses(r).size() == 1);
        CHECK(w.responses(r)[0].code == abi::status_code::timeout);
        named = named || w.responses(r)[0].failed_peer == 7;
    }
    CHECK(named);
    CHECK(w.responses(7).empty());
}

TEST_CASE("a stuck doorbell is a timeout")
{
    world_options o;
    o.deaf_doorbells = true;
    world w(o);
    w.add(make(collective_op::all_reduce, algorithm::two_d, 100, 64));
    w.run();
    for (std::uint32_t r = 0; r < 4; ++r) {
        REQUIRE(w.responses(r).size() == 1);
        CHECK(w.responses(r)[0].code == abi::status_code::timeout);
        CHECK(std::string(w.responses(r)[0].where) == "DMA.SEM_PENDING");
    }
}

TEST_CASE("a damaged platform table is the answer to command 1")
{
    world_options o;
    world w(o);
    w.add(make(collective_op::all_reduce, algorithm::two_d, 100, 64));
    w.table_of(2).dims[1] = 77;
    w.run();
    REQUIRE(w.responses(2).size() == 1);
    CHECK(w.responses(2)[0].sequence == 1);
    CHECK(w.responses(2)[0].code == abi::status_code::corrupted);
    CHECK(std::string(w.responses(2)[0].where) == "table.check");
    CHECK(w.responses(0)[0].code == abi::status_code::timeout);
}
