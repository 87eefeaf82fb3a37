// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The queue of a channel of a CCU: how many transfers it holds, who gets the next place, that each place comes back.
#include "testbenches/hw/ccu_bench.h"

#include <numeric>

using namespace weft;
using namespace weft::testing;
namespace abi_ccu = weft::abi::ccu;
using abi_ccu::op;
using abi_ccu::status;
using Catch::Contains;

namespace {

constexpr std::uint16_t k_slices = 64;

ccu_config with_depth(std::uint32_t depth)
{
    ccu_config config;
    config.task_start = duration(0);
    config.queue_depth = depth;
    return config;
}

/// Reads all slices from NPU 1 at once.
microcode reads()
{
    microcode c;
    for (std::uint16_t s = 0; s < k_slices; ++s)
        c.load_a(s, std::uint64_t{s} * 4096);
    c.load_x(0, 0);
    for (std::uint16_t s = 0; s < k_slices; ++s)
        microcode::sets(c.add(op::remote_mem_to_ms, {s, s, 0}, 1), static_cast<std::uint16_t>(s / 16), static_cast<std::uint16_t>(1u << s % 16));
    for (std::uint16_t e = 0; e < k_slices / 16; ++e)
        c.wait(e, 0xffff);
    return c;
}

/// `count` times a bit to NPU 1, one after the other without a wait.
microcode bits(std::uint16_t count)
{
    microcode c;
    for (std::uint16_t i = 0; i < count; ++i)
        c.add(op::send_bits, {0, 0, 100, 1}, 1);
    return c;
}

/// When mission `m` of NPU 0 was first seen to have ended.
struct end_watch {
    end_watch(ccu_bench& bench, std::uint32_t m)
    {
        for (std::uint64_t ns = 1; ns < 200'000; ns += 20)
            bench.board.bench.events.at(ns * 1'000 + 999, [this, &bench, ns, m] {
                if (us == 0 && bench.state(0, m) == 2)
                    us = static_cast<double>(ns) / 1000;
            });
    }
    double us = 0;
};

// NPU, wire and cable, NPU, there and back.
constexpr double k_way_us = 2 * (0.175 + 0.075 + 0.175);

} // namespace

TEST_CASE("ccu: the depth of a channel's queue bounds what it has under way")
{
    ccu_bench b(2, with_depth(4)); // far below the 64 operations of npu.ccu.outstanding
    b.fill(1, 0, std::vector<std::int32_t>(k_slices * 1024, 7));
    b.begin(0, reads());
    const end_watch ended(b, 0);
    std::string waits;
    b.board.bench.events.at(5'000'000, [&] { waits = b.unit(0).waits(); });
    b.run();
    REQUIRE(b.status(0) == 0);
    // Memory 120 ns, and the packets of an operation at 420 Gb/s, three of which wait behind others.
    const double least_us = k_slices / 4 * (k_way_us + 0.120 + 4 * 1100 * 8 / 420e3);
    CHECK(ended.us > least_us * 0.98);
    CHECK(ended.us < least_us * 1.35);
    CHECK_THAT(waits, Contains("mission 0 waits at instruction") && Contains("remote_mem_to_ms") && Contains("for a place in the queue of channel 1"));
}

TEST_CASE("ccu: a queue that is deep enough costs no time")
{
    ccu_bench b(2, with_depth(k_slices));
    b.begin(0, reads());
    const end_watch ended(b, 0);
    b.run();
    REQUIRE(b.status(0) == 0);
    CHECK(ended.us < 2 * k_way_us + 0.120 + k_slices * 4 * 1100 * 8 / 420e3 * 1.2);
}

TEST_CASE("ccu: a mission that sends much keeps no other one off a channel")
{
    ccu_bench b(2, with_depth(1));
    b.begin(0, bits(100), 0, 0);
    b.begin(0, bits(1), 1, 200);
    b.begin(0, bits(3), 2, 300);
    const end_watch much(b, 0), one(b, 1), three(b, 2);
    b.run();
    for (std::uint32_t m = 0; m < 3; ++m)
        CHECK(b.status(0, m) == 0);
    CHECK(much.us > 104 * k_way_us);
    CHECK(one.us < 4 * k_way_us);
    CHECK(three.us < 10 * k_way_us);
}

TEST_CASE("ccu: a mission that is killed while it waits for a place lets the next one in")
{
    ccu_bench b(2, with_depth(1));
    microcode last = bits(2);
    b.begin(0, bits(40), 0, 0);
    b.begin(0, bits(40), 1, 100);
    b.begin(0, last, 2, 200);
    b.board.bench.events.at(4'000'000, [&] {
        b.write(0, abi_ccu::MISSION_KILL, 0);
        b.write(0, abi_ccu::MISSION_KILL, 1);
    });
    const end_watch ended(b, 2);
    b.run();
    CHECK(b.status(0, 0) == static_cast<std::uint64_t>(status::control));
    CHECK(b.status(0, 1) == static_cast<std::uint64_t>(status::control));
    CHECK(b.status(0, 2) == 0);
    CHECK(ended.us < 4 + 4 * k_way_us);
}

TEST_CASE("ccu: a channel that is set while bits are on their way gives each place back once")
{
    ccu_config config = with_depth(1);
    config.check_bit_cycles = cycle_count(10'000); // 10 us from the answer to its bits
    ccu_bench b(2, config);
    microcode one, other;
    for (microcode* const c : {&one, &other}) {
        const std::uint16_t n = c == &one ? 0 : 1;
        c->load_a(n, 0);
        c->load_x(n, 0);
        microcode::sets(c->add(op::remote_mem_to_ms, {n, n, n}, 1), n, 1);
        microcode::sets(c->add(op::remote_mem_to_ms, {static_cast<std::uint16_t>(n + 2), n, n}, 1), n, 2);
        c->wait(n, 3);
    }
    b.begin(0, one);
    b.board.bench.events.at(6'000'000, [&] { // both reads have come, no bit is seen
        b.write(0, abi_ccu::MISSION_KILL, 0);
        b.write(0, abi_ccu::CHANNEL_INDEX, 1);
        b.write(0, abi_ccu::CHANNEL_PEER, 1);
        CHECK(b.read(0, abi_ccu::ERROR) == 0);
    });
    b.board.bench.events.at(60'000'000, [&] {
        b.load(0, 100, one);
        b.load(0, 200, other);
        b.launch(0, 0, 100, 5);
        b.launch(0, 1, 200, 5);
    });
    b.run();
    CHECK(b.status(0, 0) == 0);
    CHECK(b.status(0, 1) == 0);
}
