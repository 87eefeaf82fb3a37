// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives by collective communication units, on units without time: the real firmware, its microcode, and random order of all that can happen.
#include <catch2/catch.hpp>

#include "firmware/collectives/supports.h"
#include "testbenches/firmware/loopback_world.h"

using namespace weft;
using namespace weft::testing;
using abi::algorithm;
using abi::collective_op;
using abi::element_type;
using abi::reduce_op;

namespace {

abi::command make(collective_op op, algorithm algo, std::uint64_t count, element_type type = element_type::int32, reduce_op redop = reduce_op::sum,
                  std::uint32_t root = 0)
{
    abi::command c;
    c.op = op;
    c.algo = algo;
    c.count = count;
    c.type = type;
    c.redop = redop;
    c.root = root;
    return c;
}

world_options machine(const std::vector<std::uint32_t>& dims, std::uint32_t seed)
{
    world_options o;
    o.rows = 1;
    o.cols = 1;
    for (const std::uint32_t d : dims)
        o.cols *= d;
    o.dims = dims;
    o.ccus = true;
    o.seed = seed;
    o.buffer_bytes = 64 << 10;
    return o;
}

struct variant {
    collective_op op;
    algorithm algo;
};
constexpr variant k_flat[] = {
    {collective_op::all_reduce, algorithm::ccu}, {collective_op::reduce_scatter, algorithm::ccu},
    {collective_op::all_gather, algorithm::ccu}, {collective_op::broadcast, algorithm::ccu},
    {collective_op::all_to_all, algorithm::ccu}, {collective_op::all_reduce, algorithm::ccu_one_shot},
    {collective_op::reduce, algorithm::ccu},
};
constexpr variant k_axes[] = {
    {collective_op::all_reduce, algorithm::ccu_axes}, {collective_op::reduce_scatter, algorithm::ccu_axes},
    {collective_op::all_gather, algorithm::ccu_axes}, {collective_op::broadcast, algorithm::ccu_axes},
    {collective_op::reduce, algorithm::ccu_axes},     {collective_op::all_to_all, algorithm::ccu_axes},
};

constexpr element_type k_types[] = {element_type::int32, element_type::float32, element_type::float16, element_type::bfloat16};
constexpr reduce_op k_redops[] = {reduce_op::sum, reduce_op::max, reduce_op::min};

/// Back to back, in changing types, reductions and roots.
template <std::size_t n>
std::vector<abi::command> mix(const variant (&variants)[n], const std::vector<std::uint64_t>& counts, std::uint32_t ranks)
{
    std::vector<abi::command> all;
    for (const std::uint64_t count : counts)
        for (const variant& v : variants) {
            const auto k = static_cast<std::uint32_t>(all.size());
            all.push_back(make(v.op, v.algo, count, k_types[k % 4], k_redops[k / 4 % 3], k % ranks));
        }
    return all;
}

} // namespace

TEST_CASE("every collective of the CCUs is exact in groups of 2 to 17 ranks at every small count")
{
    std::uint32_t seed = 1;
    for (std::uint32_t n = 2; n <= 17; ++n) {
        const std::vector<std::uint64_t> counts = {1, n - 1, n, n + 1, 2 * n - 1, 2 * n, 97, 1009};
        INFO("ranks " << n);
        CHECK(run_all(machine({n}, seed++), mix(k_flat, counts, n)) == "");
    }
}

TEST_CASE("collectives of the CCUs go through steps of all engines whole slices and a last one")
{
    std::uint32_t seed = 100;
    for (const std::uint32_t n : {2u, 3u, 8u, 11u}) {
        world_options o = machine({n}, seed++);
        o.ccu.loop_engines = 4; // three whole slices at once
        o.buffer_bytes = 1 << 20;
        // Elements of a die's half of a shard: one slice; some; whole steps; steps, slices and a last one.
        std::vector<std::uint64_t> counts;
        for (const std::uint64_t half : {1024u, 2048u + 1, 3072u, 7 * 1024u + 513})
            counts.push_back(half * 2 * n);
        counts.push_back(counts.back() + n / 2);
        std::vector<abi::command> commands;
        for (const abi::command& c : mix({k_flat[0], k_flat[1], k_flat[2], k_flat[3], k_flat[4], k_flat[6]}, counts, n))
            commands.push_back(c);
        INFO("ranks " << n);
        CHECK(run_all(o, commands) == "");
    }
}

TEST_CASE("a program that the unit holds already is not written again")
{
    world_options o = machine({4}, 7);
    world w(o);
    for (int k = 0; k < 3; ++k) {
        w.add(make(collective_op::all_reduce, algorithm::ccu, 1000));
        w.add(make(collective_op::all_gather, algorithm::ccu, 77));
    }
    w.run();
    CHECK(w.problems() == "");
    world once(o);
    once.add(make(collective_op::all_reduce, algorithm::ccu, 1000));
    once.add(make(collective_op::all_gather, algorithm::ccu, 77));
    once.run();
    CHECK(once.ccus().instructions_written() == w.ccus().instructions_written());
    CHECK(w.ccus().tasks() == 3 * once.ccus().tasks());
}

TEST_CASE("microcode that a command has written before is all that the collective needs")
{
    for (const auto& [dims, v] : std::vector<std::pair<std::vector<std::uint32_t>, variant>>{{{4}, k_flat[0]},
                                                                                             {{4}, k_flat[4]},
                                                                                             {{2, 3}, k_axes[0]},
                                                                                             {{2, 3}, k_axes[1]},
                                                                                             {{2, 3}, k_axes[4]},
                                                                                             {{2, 3, 2}, k_axes[5]}}) {
        world before(machine(dims, 7)), both(machine(dims, 7));
        abi::command c = make(v.op, v.algo, 1003);
        c.only_prepares = 1;
        before.add(c);
        before.run();
        CHECK(before.ccus().tasks() == 0);
        CHECK(before.ccus().instructions_written() != 0);
        CHECK(before.responses(0).size() == 1);
        CHECK(before.responses(0)[0].code == abi::status_code::ok);
        both.add(c);
        c.only_prepares = 0;
        both.add(c);
        both.run();
        CHECK(both.ccus().instructions_written() == before.ccus().instructions_written());
        CHECK(both.ccus().tasks() != 0);
        CHECK(both.responses(0)[1].code == abi::status_code::ok);
    }
}

TEST_CASE("a full instruction store begins anew")
{
    world_options o = machine({4}, 9);
    o.ccu.instructions = 12 * 4 + 160;
    CHECK(run_all(o, mix(k_flat, {64, 65, 66}, 4)) == "");
}

TEST_CASE("sums of one shot stay in slices; what does not fit is refused alike")
{
    world_options o = machine({8}, 11);
    o.ccu.loop_engines = 6; // five slices
    o.buffer_bytes = 1 << 20;
    const std::uint64_t most = 2 * 5 * 1024;
    CHECK(run_all(o, {make(collective_op::all_reduce, algorithm::ccu_one_shot, most), make(collective_op::all_reduce, algorithm::ccu_one_shot, most - 1),
                      make(collective_op::all_reduce, algorithm::ccu_one_shot, most - 1500)}) == "");
    std::vector<abi::response> answers;
    run_all(o, {make(collective_op::all_reduce, algorithm::ccu_one_shot, most + 1), make(collective_op::all_reduce, algorithm::ccu, most + 1)}, &answers);
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].code == abi::status_code::unsupported);
    CHECK(answers[1].code == abi::status_code::ok);
}

TEST_CASE("large groups add in chains of slices")
{
    for (const std::uint32_t n : {33u, 64u}) {
        INFO("ranks " << n);
        CHECK(run_all(machine({n}, n), mix(k_flat, {1, n - 1, n + 1, 4 * n + 3}, n)) == "");
    }
    world_options o = machine({129}, 5);
    CHECK(run_all(o, mix({k_flat[0], k_flat[2], k_flat[3], k_flat[4], k_flat[6]}, {1000}, 129)) == "");
}

TEST_CASE("ccu_axes is exact in one to four dimensions")
{
    std::uint32_t seed = 300;
    const std::vector<std::vector<std::uint32_t>> shapes = {{2}, {5}, {2, 2}, {3, 2}, {2, 5}, {4, 4}, {1, 3}, {2, 1, 3}, {2, 2, 2}, {3, 2, 4}, {2, 3, 2, 2}, {17, 2}};
    for (const auto& dims : shapes) {
        world_options o = machine(dims, seed++);
        const std::uint32_t n = o.cols;
        INFO("shape " << dims.size() << " dimensions, " << n << " ranks");
        CHECK(run_all(o, mix(k_axes, {1, n - 1, n, n + 1, 2 * n - 1, 2 * n, 97, 1009}, n)) == "");
    }
}

TEST_CASE("ccu_axes exchanges pieces one after the other or side by side")
{
    std::uint32_t seed = 400;
    for (const std::uint32_t engines : {2u, 4u, 9u})
        for (const std::uint64_t bytes : {100u, 4096u, 2 * 4096u + 8}) { // of a die's half of a shard
            world_options o = machine({4, 3, 2}, seed++);
            o.ccu.loop_engines = engines;
            o.buffer_bytes = 2 << 20;
            const std::uint64_t count = bytes / 4 * 2 * 24;
            INFO("engines " << engines << ", " << bytes << " bytes");
            CHECK(run_all(o, mix(k_axes, {count, count + 13}, 24)) == "");
        }
}

TEST_CASE("flat collectives lines and process groups follow each other without taking signals of each other")
{
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        world_options o = machine({3, 4}, seed);
        o.freeze_one_in = 3;
        world w(o);
        std::mt19937 random(seed);
        const std::vector<rank_list> rows = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}, odd = {{0, 5, 10}, {1, 11}, {2, 3, 4, 6, 7}};
        std::size_t all = 0;
        for (int k = 0; k < 30; ++k) {
            const bool flat = random() % 2 == 0;
            const variant v = flat ? k_flat[random() % std::size(k_flat)] : k_axes[random() % std::size(k_axes)];
            const std::uint64_t count = random() % 200 + 1;
            const unsigned who = static_cast<unsigned>(random() % 3);
            const std::uint32_t root = who == 2 ? 0 : random() % 4; // some are alone then
            w.add(make(v.op, v.algo, count, k_types[random() % 4], k_redops[random() % 3], root), who == 0 ? std::vector<rank_list>{} : who == 1 ? rows : odd);
            ++all;
        }
        w.run();
        INFO("seed " << seed);
        CHECK(w.problems() == "");
        for (std::uint32_t r = 0; r < w.ranks(); ++r)
            CHECK(w.responses(r).size() == all);
    }
}

TEST_CASE("all_to_all of more ranks than channels goes in rounds")
{
    std::uint32_t seed = 600;
    for (const std::uint32_t n : {5u, 12u, 17u}) {
        world_options o = machine({n}, seed++);
        o.ccu.channels = 3;
        std::vector<abi::command> commands;
        for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{n - 1}, std::uint64_t{n}, std::uint64_t{n + 2}, std::uint64_t{1009}})
            commands.push_back(make(collective_op::all_to_all, algorithm::ccu, count));
        INFO("ranks " << n);
        CHECK(run_all(o, commands) == "");
    }
}

TEST_CASE("a unit that is too small is refused alike with a sentence")
{
    std::vector<abi::response> answers;
    world_options o = machine({4}, 1);
    const auto answer = [&](const world_options& with) {
        run_all(with, {make(collective_op::all_reduce, algorithm::ccu, 100)}, &answers);
        REQUIRE(answers.size() == 1);
        CHECK(answers[0].code == abi::status_code::unsupported);
        return std::string(answers[0].where);
    };
    world_options few = o;
    few.ccu.slices = 7;
    CHECK(answer(few).find("slices") != std::string::npos);
    few = o;
    few.ccu.loop_engines = 1;
    CHECK(answer(few).find("loop engines") != std::string::npos);
    few = o;
    few.ccu.address_registers = 500;
    CHECK(answer(few).find("address registers") != std::string::npos);
    few = o;
    few.ccu.general_registers = 500;
    CHECK(answer(few).find("general registers") != std::string::npos);
    few = o;
    few.ccu.check_entries = 500;
    CHECK(answer(few).find("check-bit entries") != std::string::npos);
    few = o;
    few.ccu.instructions = 100;
    CHECK(answer(few).find("instruction store") != std::string::npos);
    few = o;
    few.ccu.channels = 2;
    answer(few);
}

TEST_CASE("a rank that never comes is named")
{
    for (const auto& [dims, v] : std::vector<std::pair<std::vector<std::uint32_t>, variant>>{{{4}, k_flat[0]},
                                                                                             {{4}, k_flat[3]},
                                                                                             {{4}, k_flat[4]},
                                                                                             {{4}, k_flat[6]},
                                                                                             {{2, 4}, k_axes[0]},
                                                                                             {{2, 4}, k_axes[1]},
                                                                                             {{2, 4}, k_axes[4]},
                                                                                             {{2, 4}, k_axes[5]}}) {
        world_options o = machine(dims, 3);
        o.silent_ranks = 1;
        world w(o);
        w.add(make(v.op, v.algo, 100));
        w.run();
        const std::uint32_t last = o.cols - 1;
        REQUIRE(w.responses(last - 1).size() == 1);
        const abi::response r = w.responses(last - 1)[0]; // in a line with it
        CHECK(r.code == abi::status_code::timeout);
        CHECK(std::string(r.where) == "CCU.MISSION_STATE");
        CHECK(r.failed_peer == last);
        CHECK((r.detail & 0xff) == static_cast<std::uint64_t>(abi::ccu::status::time_out));
    }
}
