// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collective communication units on a board: what instructions do, when, and how tasks that go wrong end.
#include "testbenches/hw/ccu_bench.h"

#include <numeric>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;
namespace abi_ccu = weft::abi::ccu;
using abi::element_type;
using abi_ccu::op;
using abi_ccu::status;

namespace {

std::vector<std::int32_t> numbers(std::int32_t first, std::size_t count)
{
    std::vector<std::int32_t> v(count);
    std::iota(v.begin(), v.end(), first);
    return v;
}

} // namespace

TEST_CASE("ccu: slices are read from memory reduced in their order and written back")
{
    ccu_bench b(2);
    b.fill(0, 0, numbers(0, 1024));
    b.fill(0, 4096, numbers(1000, 1024));
    b.fill(0, 8192, numbers(-7, 1024));
    microcode c;
    c.load_a(0, 0);
    c.load_a(1, 4096);
    c.load_a(2, 8192);
    c.load_a(3, 65'536);
    for (std::uint16_t s = 0; s < 3; ++s)
        microcode::sets(c.add(op::mem_to_ms, {s, s}), 0, static_cast<std::uint16_t>(1u << s));
    microcode::sets(microcode::waits(c.reduce(op::reduce_add, element_type::int32, {0, 1, 2}), 0, 7), 0, 8);
    microcode::sets(microcode::waits(c.add(op::ms_to_mem, {3, 0}), 0, 8), 0, 16);
    c.wait(0, 16);
    b.begin(0, c);
    b.run();
    CHECK(b.state(0) == 2);
    CHECK(b.status(0) == 0);
    const auto sums = b.take<std::int32_t>(0, 65'536, 1024);
    for (std::int32_t i = 0; i < 1024; ++i)
        REQUIRE(sums[static_cast<std::size_t>(i)] == 3 * i + 993);
    CHECK(b.peek(0, 2, 0) == 0); // all bits were cleared
    CHECK(b.npus[0]->irq.lines == abi::k_irq_ccu);
    CHECK(b.unit(0).memory_read.value() == 3 * 4096);
    CHECK(b.unit(0).memory_written.value() == 4096);
    CHECK(b.unit(0).reduced_bytes.value() == 4096);
    b.write(0, abi_ccu::IRQ_PENDING, 1);
    CHECK(b.npus[0]->irq.lines == 0);
}

TEST_CASE("ccu: a task takes its start one cycle an instruction and 14 cycles from a set to a wait")
{
    ccu_bench b(2);
    microcode c;
    microcode::sets(c.add(op::set_bits), 5, 1); // issued at start, seen 14 cycles later
    c.wait(5, 1);                               // next instruction one cycle behind the wait
    microcode::sets(c.add(op::set_bits), 5, 2);
    c.wait(5, 2);
    b.begin(0, c);
    std::uint64_t ended_ps = 0;
    for (std::uint64_t ns = 2'000; ns < 2'100; ++ns)
        b.board.bench.events.at(ns * 1'000 + 500, [&, ns] {
            if (ended_ps == 0 && b.state(0) == 2)
                ended_ps = ns * 1'000;
        });
    b.run();
    // Launched at 1 ns, 20 ns in the register, task_start 2 us. Set at 2021, wait passes at 2035, set at 2036, wait passes at 2050, end at 2051.
    CHECK(ended_ps == 2'051'000);
}

TEST_CASE("ccu: local transfers and reductions take what memory SRAM and reduce unit take")
{
    ccu_config config;
    config.task_start = duration(0);
    ccu_bench b(2, config);
    microcode c;
    c.load_a(0, 0);
    microcode::sets(c.add(op::mem_to_ms, {0, 0}), 0, 1); // at 2 ns
    microcode::sets(microcode::waits(c.reduce(op::reduce_add, element_type::float32, {0, 1, 2, 3, 4, 5, 6, 7}), 0, 1), 0, 2);
    c.wait(0, 2);
    b.begin(0, c);
    std::uint64_t ended_ps = 0;
    for (std::uint64_t ns = 1; ns < 500; ++ns)
        b.board.bench.events.at(ns * 1'000 + 999, [&, ns] {
            if (ended_ps == 0 && b.state(0) == 2)
                ended_ps = ns * 1'000 + 999;
        });
    b.run();
    const std::uint64_t memory_ps = 120'000 + 1'280; // latency, 4 KiB at 3.2 TB/s
    const std::uint64_t reduce_ps = 64'000; // the SRAM reads 32 KiB at 512 GB/s: longer than 4 KiB at 160 GB/s
    const std::uint64_t expected = 22'000 + memory_ps + 14'000 + reduce_ps + 14'000 + 1'000;
    CHECK(ended_ps >= expected);
    CHECK(ended_ps < expected + 3'000);
}

TEST_CASE("ccu: peers read write and signal each other")
{
    ccu_bench b(3);
    b.fill(1, 4096, numbers(5, 1024));
    b.fill(0, 0, numbers(50, 300));
    microcode c;
    c.load_a(0, 4096);
    c.load_a(1, 0);
    c.load_a(2, 131'072);
    c.load_x(0, 0); // token
    c.load_x(1, 1200);
    c.load_x(2, 77);
    microcode::sets(c.add(op::remote_mem_to_ms, {3, 0, 0}, 1), 0, 1);               // from NPU 1
    microcode::sets(microcode::waits(c.add(op::ms_to_remote_mem, {2, 0, 3}, 2), 0, 1), 0, 2); // to NPU 2
    auto& w = microcode::sets(c.add(op::mem_to_remote_mem, {0, 0, 1}, 2), 0, 4);
    w.set_length(1); // 1200 B to 4096 of NPU 2
    auto& x = microcode::sets(microcode::waits(c.add(op::send_x, {9, 2, 12, 0x30}, 2), 0, 6), 0, 8);
    (void)x;
    auto& a = microcode::sets(c.add(op::send_a, {7, 2, 12, 0x40}, 2), 0, 16);
    (void)a;
    microcode::sets(c.add(op::send_bits, {0, 0, 12, 0x80}, 2), 0, 32);
    c.wait(0, 8 | 16 | 32);
    b.begin(0, c);
    b.run();
    CHECK(b.status(0) == 0);
    CHECK(b.take<std::int32_t>(2, 131'072, 1024) == numbers(5, 1024));
    CHECK(b.take<std::int32_t>(2, 4096, 300) == numbers(50, 300));
    CHECK(b.peek(2, 1, 9) == 77);
    CHECK(b.peek(2, 0, 7) == 131'072);
    CHECK(b.peek(2, 2, 12) == 0xf0);
    CHECK(b.unit(1).memory_read.value() == 4096);
    CHECK(b.unit(2).memory_written.value() == 4096 + 1200);
}

TEST_CASE("ccu: slices of peers are read written and told")
{
    ccu_bench b(2);
    b.fill(0, 0, numbers(1, 1024));
    microcode c;
    c.load_a(0, 0);
    c.load_a(1, 8192);
    microcode::sets(c.add(op::mem_to_ms, {0, 0}), 0, 1);
    microcode::sets(microcode::waits(c.add(op::ms_to_remote_ms, {20, 0, 3, 0x100}, 1), 0, 1), 0, 2); // slice 20 of NPU 1, then bits of its entry 3
    microcode::sets(microcode::waits(c.add(op::remote_ms_to_ms, {5, 20}, 1), 0, 2), 0, 4);
    microcode::sets(microcode::waits(c.add(op::remote_ms_to_mem, {1, 20}, 1), 0, 4), 0, 8);
    microcode::sets(microcode::waits(c.add(op::ms_to_ms, {6, 5}), 0, 8), 0, 16);
    c.wait(0, 16);
    b.begin(0, c);
    b.run();
    CHECK(b.status(0) == 0);
    CHECK(b.take<std::int32_t>(0, 8192, 1024) == numbers(1, 1024));
    CHECK(b.peek(1, 2, 3) == 0x100);
}

TEST_CASE("ccu: transfers between memories reduce on their way in segments")
{
    ccu_bench b(2);
    const std::size_t count = 100'003; // elements: odd, several segments
    std::vector<std::int32_t> mine = numbers(3, count), other = numbers(-5, count);
    b.fill(0, 0, mine);
    b.fill(1, 1 << 20, other);
    microcode c;
    c.load_a(0, 0);
    c.load_a(1, 1 << 20);
    c.load_a(2, 2 << 20);
    c.load_x(0, 0);
    c.load_x(1, count * 4);
    auto& w = microcode::sets(c.add(op::mem_to_remote_mem, {1, 0, 0}, 1), 0, 1); // NPU 1's += mine
    w.set_length(1);
    w.redop = static_cast<std::uint8_t>(abi::reduce_op::sum);
    auto& r = microcode::sets(microcode::waits(c.add(op::remote_mem_to_mem, {2, 1, 0}, 1), 0, 1), 0, 2);
    r.set_length(1);
    auto& l = microcode::sets(microcode::waits(c.add(op::mem_to_mem, {2, 0}), 0, 2), 0, 4);
    l.set_length(1);
    l.redop = static_cast<std::uint8_t>(abi::reduce_op::max);
    c.wait(0, 4);
    b.begin(0, c);
    b.run();
    CHECK(b.status(0) == 0);
    const auto sums = b.take<std::int32_t>(1, 1 << 20, count);
    const auto maxima = b.take<std::int32_t>(0, 2 << 20, count);
    for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(sums[i] == mine[i] + other[i]);
        REQUIRE(maxima[i] == std::max(mine[i], sums[i]));
    }
    CHECK(b.unit(1).memory_written.value() == count * 4);
    CHECK(b.unit(1).memory_read.value() == 2 * count * 4);     // read, modify, write; and the answer
    CHECK(b.unit(0).memory_read.value() == 3 * count * 4);     // sent; source and target of the local reduction
    CHECK(b.unit(0).memory_written.value() == 2 * count * 4);
}

TEST_CASE("ccu: loops of a group run in parallel with offsets of addresses slices and bits")
{
    ccu_bench b(4);
    constexpr std::uint32_t replicas = 3, iterations = 5;
    const std::size_t count = replicas * iterations * 1024;
    for (std::uint32_t n = 0; n < 4; ++n)
        b.fill(n, 0, numbers(static_cast<std::int32_t>(n * 100), count));
    microcode c;
    c.load_a(0, 0);
    c.load_a(1, 1 << 20);
    c.load_x(0, 0);
    c.load_x(1, abi_ccu::loop_parameter(iterations, replicas * 4096));
    c.load_x(2, abi_ccu::group_counts(0, replicas - 1));
    c.load_x(3, abi_ccu::group_offsets(4096, 4, 1));
    c.load_x(9, 1);
    c.load_x(10, 18); // behind the body
    c.add(op::group, {9, 2, 3}).count = 1;
    c.add(op::loop, {11, 17, 1});
    c.add(op::jump, {10, 9});
    microcode::sets(c.add(op::mem_to_ms, {0, 0}), 10, 1);
    for (std::uint16_t p = 1; p < 4; ++p)
        microcode::sets(c.add(op::remote_mem_to_ms, {p, 0, 0}, p), 10, static_cast<std::uint16_t>(1u << p));
    microcode::sets(microcode::waits(c.reduce(op::reduce_add, element_type::int32, {0, 1, 2, 3}), 10, 15), 10, 16);
    microcode::sets(microcode::waits(c.add(op::ms_to_mem, {1, 0}), 10, 16), 10, 32);
    c.wait(10, 32);
    b.begin(0, c);
    b.run();
    INFO(b.read(0, abi_ccu::MISSION_WHERE(0)));
    CHECK(b.status(0) == 0);
    const auto sums = b.take<std::int32_t>(0, 1 << 20, count);
    for (std::size_t i = 0; i < count; ++i)
        REQUIRE(sums[i] == static_cast<std::int32_t>(4 * i + 600));
    CHECK(b.unit(0).memory_written.value() == count * 4);
    CHECK(b.unit(0).memory_read.value() == count * 4);
    CHECK(b.unit(3).memory_read.value() == count * 4);
}

TEST_CASE("ccu: tasks that go wrong end with a status and where they stood")
{
    struct bad {
        const char* name;
        status code;
        std::uint32_t where;
        std::uint32_t detail;
        void (*make)(microcode&);
    };
    const bad all[] = {
        {"no such instruction", status::illegal_instruction, 0, 0x7f, [](microcode& c) { c.add(static_cast<op>(0x7f)); }},
        {"no such slice", status::local_operation, 1, 1536, [](microcode& c) { c.load_a(0, 0); c.add(op::mem_to_ms, {1536, 0}); }},
        {"no such address register", status::local_operation, 0, 3072, [](microcode& c) { c.load_a(3072, 0); }},
        {"no such general register", status::local_operation, 0, 4000, [](microcode& c) { c.add(op::add_xx, {1, 4000, 1}); }},
        {"no such entry", status::local_operation, 0, 1024, [](microcode& c) { c.wait(1024, 1); }},
        {"no such channel", status::local_operation, 0, 99, [](microcode& c) { c.add(op::send_bits, {0, 0, 1, 1}, 99); }},
        {"no length", status::local_operation, 1, 0, [](microcode& c) { c.load_x(0, 0); c.add(op::mem_to_ms, {1, 0}).set_length(0); }},
        {"a length beyond a slice", status::local_operation, 1, 4097, [](microcode& c) { c.load_x(0, 4097); c.add(op::mem_to_ms, {1, 0}).set_length(0); }},
        {"a reduction of one slice", status::illegal_instruction, 0, 1, [](microcode& c) { c.reduce(op::reduce_add, element_type::int32, {0}); }},
        {"largest of 8-bit floats", status::illegal_instruction, 0, 2, [](microcode& c) { c.reduce(op::reduce_max, element_type::hifloat8, {0, 1}); }},
        {"8-bit floats summed in memory", status::local_operation, 3, 7,
         [](microcode& c) {
             c.load_a(0, 0);
             c.load_a(1, 4096);
             c.load_x(0, 64);
             abi_ccu::instruction& i = c.add(op::mem_to_mem, {0, 1});
             i.set_length(0);
             i.type = static_cast<std::uint8_t>(element_type::float8_e4m3);
             i.redop = static_cast<std::uint8_t>(abi::reduce_op::sum);
         }},
        {"beyond the own memory", status::address, 1, (16u << 20) >> 12, [](microcode& c) { c.load_a(0, 16 << 20); c.add(op::mem_to_ms, {1, 0}); }},
        {"beyond the memory of the peer", status::address, 2, 1, [](microcode& c) {
             c.load_a(0, 16 << 20);
             c.load_x(0, 0);
             c.add(op::remote_mem_to_ms, {1, 0, 0}, 1);
         }},
        {"a wrong token", status::address, 2, 1, [](microcode& c) {
             c.load_a(0, 0);
             c.load_x(0, 1234);
             c.add(op::ms_to_remote_mem, {0, 0, 1}, 1);
         }},
        {"a slice that the peer lacks", status::remote_operation, 0, 1, [](microcode& c) { c.add(op::ms_to_remote_ms, {2000, 0, 0, 0}, 1); }},
        {"a register that the peer lacks", status::remote_operation, 0, 1, [](microcode& c) { c.add(op::send_x, {5000, 0, 1, 1}, 1); }},
        {"an entry that the peer lacks", status::remote_operation, 0, 1, [](microcode& c) { c.add(op::send_bits, {0, 0, 2000, 1}, 1); }},
        {"bits that nobody sets", status::time_out, 0, 7 << 16 | 3, [](microcode& c) { c.wait(7, 3); }},
        {"a loop without end", status::time_out, 0, 0, [](microcode& c) {
             c.load_x(0, 1);
             c.load_x(1, 5);
             c.add(op::jump, {0, 1}).set_immediate(6);
         }},
        {"a jump out of the task", status::illegal_instruction, 2, 77, [](microcode& c) {
             c.load_x(0, 77);
             c.load_x(1, 5);
             c.add(op::jump, {0, 1});
         }},
        {"an address of the peer that wraps", status::address, 3, 0xfffffff0, [](microcode& c) {
             c.load_a(0, (std::uint64_t{1} << 44) - 65'536);
             c.load_x(0, 0);
             c.load_x(1, 131'072);
             c.add(op::mem_to_remote_mem, {0, 0, 0}, 1).set_length(1);
         }},
        {"a reduction in memory that splits elements", status::address, 4, 0, [](microcode& c) {
             c.load_a(0, 2);
             c.load_a(1, 4096);
             c.load_x(0, 0);
             c.load_x(1, 400);
             auto& i = c.add(op::mem_to_remote_mem, {0, 0, 1}, 1);
             i.set_length(1);
             i.redop = 1;
         }},
        {"bits that a load would set", status::illegal_instruction, 0, 3, [](microcode& c) { microcode::sets(c.load_a(0, 0), 0, 1); }},
        {"a rank beyond the machine", status::local_operation, 0, 3, [](microcode& c) { c.add(op::send_bits, {0, 0, 1, 1}, 3); }},
        {"a group without loops", status::illegal_instruction, 2, 0, [](microcode& c) {
             c.load_x(0, 0);
             c.load_x(1, 0);
             c.add(op::group, {0, 0, 1}).count = 1;
         }},
    };
    ccu_bench b(2);
    b.fill(1, 0, numbers(9, 2048));
    std::uint64_t at_ps = 1'000;
    for (const bad& one : all) {
        microcode c;
        one.make(c);
        b.board.bench.events.at(at_ps, [&b, c] {
            b.set_channels(0);
            b.load(0, 100, c);
            b.launch(0, 0, 100, static_cast<std::uint32_t>(c.all.size()), 20);
        });
        b.board.bench.events.at(at_ps + 40'000'000, [&b, &one] {
            INFO(one.name);
            CHECK(b.state(0) == 2);
            CHECK(b.status(0) == static_cast<std::uint64_t>(one.code));
            if (one.code != status::time_out || one.detail != 0)
                CHECK(b.read(0, abi_ccu::MISSION_WHERE(0)) == 100 + one.where);
            CHECK(b.read(0, abi_ccu::MISSION_DETAIL(0)) == one.detail);
            CHECK(b.unit(0).idle());
        });
        at_ps += 50'000'000;
    }
    b.run();
    CHECK(b.take<std::int32_t>(1, 0, 2048) == numbers(9, 2048)); // nothing else was touched
}

TEST_CASE("ccu: a killed mission ends and another one goes on")
{
    ccu_bench b(2);
    microcode endless;
    endless.load_x(0, 1);
    endless.add(op::add_xx, {1, 1, 0});
    endless.add(op::jump, {0, 1}).set_immediate(0);
    microcode good;
    good.load_a(0, 0);
    good.load_a(1, 4096);
    for (int i = 0; i < 20; ++i) {
        microcode::sets(good.add(op::mem_to_ms, {0, 0}), 0, 1);
        microcode::sets(microcode::waits(good.add(op::ms_to_mem, {1, 0}), 0, 1), 0, 2);
        good.wait(0, 2);
    }
    b.fill(0, 0, numbers(4, 1024));
    b.begin(0, endless, 3, 0, 0);
    b.begin(0, good, 5, 50);
    b.board.bench.events.at(4'000'000, [&] { b.write(0, abi_ccu::MISSION_KILL, 3); });
    b.run();
    CHECK(b.status(0, 3) == static_cast<std::uint64_t>(status::control));
    CHECK(b.status(0, 5) == 0);
    CHECK(b.take<std::int32_t>(0, 4096, 1024) == numbers(4, 1024));
}

TEST_CASE("ccu: a mission that uses the slice of another one ends and the other one goes on")
{
    ccu_bench b(2);
    microcode first, second;
    first.load_a(0, 0);
    first.load_x(0, 0);
    microcode::sets(first.add(op::remote_mem_to_ms, {8, 0, 0}, 1), 0, 1); // takes a microsecond
    first.wait(0, 1);
    first.load_a(1, 4096);
    microcode::sets(first.add(op::ms_to_mem, {1, 8}), 0, 2);
    first.wait(0, 2);
    second.load_a(10, 8192);
    second.load_x(10, 0);
    for (int i = 0; i < 100; ++i)
        second.load_x(10, 0);
    second.add(op::mem_to_ms, {8, 10});
    b.fill(1, 0, numbers(6, 1024));
    b.begin(0, first, 0, 0);
    b.begin(0, second, 1, 200);
    b.run();
    CHECK(b.status(0, 0) == 0);
    CHECK(b.status(0, 1) == static_cast<std::uint64_t>(status::local_operation));
    CHECK(b.read(0, abi_ccu::MISSION_DETAIL(1)) == 8);
    CHECK(b.take<std::int32_t>(0, 4096, 1024) == numbers(6, 1024));
}

TEST_CASE("ccu: a slice is its mission's between two operations as well and free when the mission has ended")
{
    ccu_bench b(2);
    microcode first, second;
    first.load_a(0, 0);
    microcode::sets(first.add(op::mem_to_ms, {8, 0}), 0, 1);
    first.wait(0, 1);
    for (int i = 0; i < 500; ++i)
        first.load_x(0, 0); // nothing uses the slice now
    first.load_a(1, 4096);
    microcode::sets(first.add(op::ms_to_mem, {1, 8}), 0, 2);
    first.wait(0, 2);
    second.load_a(10, 8192);
    for (int i = 0; i < 100; ++i)
        second.load_x(10, 0);
    microcode::sets(second.add(op::mem_to_ms, {8, 10}), 4, 1);
    second.wait(4, 1);
    second.load_a(11, 12288);
    microcode::sets(second.add(op::ms_to_mem, {11, 8}), 4, 2);
    second.wait(4, 2);
    b.fill(0, 0, numbers(6, 1024));
    b.fill(0, 8192, numbers(100'000, 1024));
    b.begin(0, first, 0, 0);
    b.begin(0, second, 1, 1000);
    b.board.bench.events.at(100'000'000, [&] { b.launch(0, 1, 1000, static_cast<std::uint32_t>(second.all.size())); });
    b.run();
    CHECK(b.take<std::int32_t>(0, 4096, 1024) == numbers(6, 1024));
    CHECK(b.status(0, 0) == 0);
    CHECK(b.status(0, 1) == 0); // of the second launch, when the first mission was over
    CHECK(b.take<std::int32_t>(0, 12288, 1024) == numbers(100'000, 1024));
    CHECK(b.unit(0).failed_tasks.value() == 1);
}

TEST_CASE("ccu: a slice of a mission that timed out is free when its last answer has come")
{
    ub_config slow;
    slow.mac_latency = duration(20'000'000); // an answer of the peer takes more than 40 us
    ccu_bench b(2, {}, slow);
    microcode first, second;
    first.load_a(0, 0);
    first.load_x(0, 0);
    microcode::sets(first.add(op::remote_mem_to_ms, {8, 0, 0}, 1), 0, 1);
    first.wait(0, 1);
    second.load_a(10, 8192);
    microcode::sets(second.add(op::mem_to_ms, {8, 10}), 4, 1);
    second.wait(4, 1);
    const auto length = static_cast<std::uint32_t>(second.all.size());
    std::uint64_t under_way = 0, behind = 0;
    b.begin(0, first, 0, 0, 5);
    b.board.bench.events.at(10'000'000, [&] { b.load(0, 1000, second); b.launch(0, 1, 1000, length); });
    b.board.bench.events.at(20'000'000, [&] { under_way = b.status(0, 1); });
    b.board.bench.events.at(300'000'000, [&] { b.launch(0, 1, 1000, length); });
    b.board.bench.events.at(320'000'000, [&] { behind = b.status(0, 1); });
    b.run();
    CHECK(b.status(0, 0) == static_cast<std::uint64_t>(status::time_out));
    CHECK(under_way == static_cast<std::uint64_t>(status::local_operation));
    CHECK(behind == 0);
    CHECK(b.unit(0).failed_tasks.value() == 2);
}

TEST_CASE("ccu: keys sums without a number and writes that are refused")
{
    ccu_bench b(2);
    microcode c;
    c.load_a(0, 0);
    c.load_a(1, 4096);
    microcode::sets(c.add(op::mem_to_ms, {0, 0}), 0, 1);
    microcode::sets(c.add(op::mem_to_ms, {1, 1}), 0, 2);
    microcode::waits(c.reduce(op::reduce_add, element_type::float16, {0, 1}), 0, 3);
    b.fill(0, 0, std::vector<std::uint16_t>(2048, 0x7bff)); // 65504
    b.fill(0, 4096, std::vector<std::uint16_t>(2048, 0x7bff));
    b.board.bench.events.at(1'000, [&] {
        b.load(0, 0, c);
        b.write(0, abi_ccu::TASK_FLAGS, abi_ccu::k_task_strict_arithmetic);
        b.launch(0, 0, 0, 5);
        b.write(0, abi_ccu::KEY, 99);
        b.launch(0, 1, 0, 5);
        b.launch(0, 0, 0, 5);  // runs
        b.write(0, abi_ccu::CODE_INDEX, 3);
        b.write(0, abi_ccu::CODE_DATA, 0, 8); // under a task
        b.launch(0, 16, 0, 5); // no such mission
    });
    b.run();
    CHECK(b.status(0, 0) == static_cast<std::uint64_t>(status::arithmetic));
    CHECK(b.status(0, 1) == static_cast<std::uint64_t>(status::control));
    CHECK(b.read(0, abi_ccu::ERROR) == 1);
    CHECK((b.read(0, abi_ccu::IRQ_PENDING) >> 31) == 1);
    b.write(0, abi_ccu::ERROR, 1);
    CHECK(b.read(0, abi_ccu::IRQ_PENDING) == 3);
}

TEST_CASE("ccu: missions wait for loop engines that others use")
{
    ccu_config config;
    config.loop_engines = 3;
    ccu_bench b(2, config);
    b.fill(0, 0, numbers(0, 8192));
    const auto program = [](std::uint16_t slice, std::uint16_t entry, std::uint64_t to) {
        microcode c;
        c.load_a(slice, 0);
        c.load_a(static_cast<std::uint16_t>(slice + 1), to);
        const std::uint16_t x = slice;
        c.load_x(x, abi_ccu::loop_parameter(4, 8192));
        c.load_x(static_cast<std::uint16_t>(x + 1), abi_ccu::group_counts(0, 1));
        c.load_x(static_cast<std::uint16_t>(x + 2), abi_ccu::group_offsets(4096, 1, 1));
        c.load_x(static_cast<std::uint16_t>(x + 3), 1);
        c.load_x(static_cast<std::uint16_t>(x + 4), 13);
        c.add(op::group, {8, static_cast<std::uint16_t>(x + 1), static_cast<std::uint16_t>(x + 2)}).count = 1;
        c.add(op::loop, {10, 12, x});
        c.add(op::jump, {static_cast<std::uint16_t>(x + 4), static_cast<std::uint16_t>(x + 3)});
        microcode::sets(c.add(op::mem_to_ms, {slice, slice}), entry, 1);
        microcode::sets(microcode::waits(c.add(op::ms_to_mem, {static_cast<std::uint16_t>(slice + 1), slice}), entry, 1), entry, 2);
        c.wait(entry, 2);
        return c;
    };
    b.begin(0, program(0, 0, 1 << 20), 0, 0);
    b.begin(0, program(10, 10, 2 << 20), 1, 100);
    b.begin(0, program(20, 20, 3 << 20), 2, 200);
    b.run();
    for (std::uint32_t m = 0; m < 3; ++m) {
        INFO(m);
        CHECK(b.status(0, m) == 0);
        CHECK(b.take<std::int32_t>(0, (m + 1) << 20, 8192) == numbers(0, 8192));
    }
}

TEST_CASE("ccu: a group that wants all loop engines waits for those before it and no others")
{
    ccu_config config;
    config.loop_engines = 3;
    ccu_bench b(2, config);
    b.fill(0, 0, numbers(0, 8192));
    // Again and again, or once.
    const auto program = [](std::uint16_t first, std::uint32_t engines, std::uint64_t to, bool again) {
        microcode c;
        const auto x = [=](unsigned n) { return static_cast<std::uint16_t>(first + n); };
        c.load_a(x(0), 0);
        c.load_a(x(1), to);
        c.load_x(x(0), abi_ccu::loop_parameter(2, 0));
        c.load_x(x(1), abi_ccu::group_counts(0, engines - 1));
        c.load_x(x(2), abi_ccu::group_offsets(4096, 1, 1));
        c.load_x(x(3), 1);
        c.load_x(x(4), again ? 7 : 13);
        c.add(op::group, {9, x(1), x(2)}).count = 1;
        c.add(op::jump, {x(4), x(3)});
        c.add(op::loop, {10, 12, x(0)});
        microcode::sets(c.add(op::mem_to_ms, {x(0), x(0)}), x(0), 1);
        microcode::sets(microcode::waits(c.add(op::ms_to_mem, {x(1), x(0)}), x(0), 1), x(0), 2);
        c.wait(x(0), 2);
        return c;
    };
    // Two that take turns leave at most two engines free at a time.
    b.begin(0, program(0, 2, 1 << 20, true), 0, 0, 0);
    b.begin(0, program(10, 2, 2 << 20, true), 1, 100, 0);
    b.begin(0, program(20, 3, 3 << 20, false), 2, 200, 10);
    b.board.bench.events.at(20'000'000, [&] {
        CHECK(b.state(0, 0) == 1);
        CHECK(b.state(0, 1) == 1);
        for (const std::uint32_t m : {0u, 1u})
            b.write(0, abi_ccu::MISSION_KILL, m);
    });
    b.run();
    CHECK(b.status(0, 2) == 0);
    CHECK(b.take<std::int32_t>(0, 3 << 20, 3072) == numbers(0, 3072));
}

TEST_CASE("ccu: a group that is killed in the queue for engines lets the next one in")
{
    ccu_config config;
    config.loop_engines = 2;
    ccu_bench b(2, config);
    const auto program = [](std::uint16_t first, std::uint16_t waits_for) {
        microcode c;
        const auto x = [=](unsigned n) { return static_cast<std::uint16_t>(first + n); };
        c.load_x(x(0), abi_ccu::loop_parameter(1, 0));
        c.load_x(x(1), abi_ccu::group_counts(0, 1));
        c.load_x(x(2), abi_ccu::group_offsets(0, 0, 0));
        c.load_x(x(3), 1);
        c.load_x(x(4), 9);
        c.add(op::group, {7, x(1), x(2)}).count = 1;
        c.add(op::jump, {x(4), x(3)});
        c.add(op::loop, {8, 8, x(0)});
        microcode::waits(c.add(op::set_bits), waits_for, 1, false);
        return c;
    };
    b.begin(0, program(0, 40), 0, 0, 0); // holds both engines until bit 40 comes
    b.begin(0, program(10, 41), 1, 100, 0);
    b.begin(0, program(20, 42), 2, 200, 0);
    b.begin(0, program(30, 43), 3, 300, 0);
    const auto set = [](std::uint16_t entry) {
        microcode c;
        microcode::sets(c.add(op::set_bits), entry, 1);
        return c;
    };
    b.board.bench.events.at(5'000'000, [&] { b.write(0, abi_ccu::MISSION_KILL, 1); }); // the first one that waits
    for (const std::uint32_t k : {0u, 2u, 3u})
        b.board.bench.events.at(6'000'000 + k * 10'000'000, [&b, &set, k] {
            const microcode c = set(static_cast<std::uint16_t>(40 + k));
            b.load(0, 400 + k, c);
            b.launch(0, 8 + k, 400 + k, 1);
        });
    b.run();
    CHECK(b.status(0, 1) == static_cast<std::uint64_t>(status::control));
    for (const std::uint32_t m : {0u, 2u, 3u}) {
        INFO(m);
        CHECK(b.state(0, m) == 2);
        CHECK(b.status(0, m) == 0);
    }
}

TEST_CASE("ccu: a port gives each peer one packet in n whatever the others have to send")
{
    ub_config ub;
    ub.local_port_rate = bandwidth(400'000'000'000); // 50 GB/s, about that of one link behind it
    ccu_bench b(5, {}, ub);
    microcode floods, few;
    for (std::uint16_t peer = 1; peer <= 3; ++peer) {
        floods.load_a(0, 0);
        floods.load_x(0, 2 << 20);
        floods.add(op::mem_to_remote_mem, {0, 1, 0}, peer).set_length(0);
    }
    few.load_a(8, 4 << 20);
    few.load_x(8, 64 << 10);
    few.add(op::mem_to_remote_mem, {8, 9, 8}, 4).set_length(8);
    b.begin(0, floods, 0, 0);
    // 64 of 256 packets of 1 KiB and its headers: 5.6 us. Behind what the others have under way it would be 20 us.
    b.board.bench.events.at(5'000'000, [&] {
        b.load(0, 100, few);
        b.launch(0, 1, 100, 3, 9);
    });
    b.run();
    CHECK(b.status(0, 0) == 0);
    CHECK(b.status(0, 1) == 0);
}

TEST_CASE("ccu: microcode that is written is work but not for ever")
{
    ccu_config config;
    config.instructions = 100;
    ccu_bench b(2, config);
    microcode c;
    for (int i = 0; i < 40; ++i)
        c.load_x(0, 1);
    b.board.bench.events.at(1'000, [&] {
        const std::uint64_t before = b.unit(0).work();
        b.load(0, 0, c);
        CHECK(b.unit(0).work() == before + 40);
        for (int k = 0; k < 10; ++k)
            b.load(0, 0, c);
        CHECK(b.unit(0).work() == before + 100);
        b.launch(0, 0, 0, 40);
        b.load(0, 50, c);
        CHECK(b.unit(0).work() == before + 140);
    });
    b.run();
    CHECK(b.status(0) == 0);
}

TEST_CASE("ccu: a reset forgets microcode")
{
    ccu_bench b(1);
    microcode c;
    c.load_x(0, 1);
    b.begin(0, c);
    b.run();
    CHECK(b.status(0) == 0);
    b.unit(0).reset(0);
    b.board.bench.events.at(10'000'000'000, [&] { b.launch(0, 0, 0, 1); });
    b.run();
    CHECK(b.status(0) == static_cast<std::uint32_t>(status::illegal_instruction));
}

TEST_CASE("ccu: a mission that is killed while its loops run leaves nothing behind")
{
    ccu_bench b(3);
    b.fill(0, 0, numbers(0, 65'536));
    microcode c; // four engines write slices to NPU 1, for ever so long
    c.load_a(0, 0);
    c.load_x(0, 0);
    c.load_x(1, abi_ccu::loop_parameter(8'000, 0));
    c.load_x(2, abi_ccu::group_counts(0, 3));
    c.load_x(3, abi_ccu::group_offsets(4096, 1, 1));
    c.load_x(4, 1);
    c.load_x(5, 12);
    c.add(op::group, {8, 2, 3}).count = 1;
    c.add(op::loop, {10, 11, 1});
    c.add(op::jump, {5, 4});
    microcode::sets(c.add(op::mem_to_ms, {0, 0}), 20, 1);
    microcode::sets(microcode::waits(c.add(op::ms_to_remote_mem, {0, 0, 0}, 1), 20, 1), 20, 2);
    b.begin(0, c, 0, 0, 0);
    microcode again; // the same mission, slices and entries afterwards
    again.load_a(0, 0);
    again.load_a(1, 1 << 20);
    microcode::sets(again.add(op::mem_to_ms, {0, 0}), 20, 4);
    microcode::sets(microcode::waits(again.add(op::ms_to_mem, {1, 0}), 20, 4), 20, 8);
    again.wait(20, 8);
    b.board.bench.events.at(20'000'000, [&] { b.write(0, abi_ccu::MISSION_KILL, 0); });
    b.board.bench.events.at(40'000'000, [&] {
        CHECK(b.status(0) == static_cast<std::uint64_t>(status::control));
        CHECK(b.unit(0).idle());
        b.load(0, 100, again);
        b.launch(0, 0, 100, 5);
    });
    b.run();
    CHECK(b.status(0) == 0);
    CHECK(b.take<std::int32_t>(0, 1 << 20, 1024) == numbers(0, 1024));
    CHECK(b.take<std::int32_t>(1, 0, 1024) == numbers(0, 1024)); // what had been begun is whole
}

TEST_CASE("ccu: the slowest of port SRAM and outstanding operations sets the pace of reads from a peer")
{
    ccu_config config;
    config.task_start = duration(0);
    config.outstanding = 4; // 16 KiB in a round trip
    ccu_bench b(2, config);
    microcode c;
    constexpr std::uint16_t slices = 64;
    for (std::uint16_t s = 0; s < slices; ++s)
        c.load_a(s, std::uint64_t{s} * 4096);
    c.load_x(0, 0);
    for (std::uint16_t s = 0; s < slices; ++s)
        microcode::sets(c.add(op::remote_mem_to_ms, {s, s, 0}, 1), static_cast<std::uint16_t>(s / 16), static_cast<std::uint16_t>(1u << s % 16));
    for (std::uint16_t e = 0; e < slices / 16; ++e)
        c.wait(e, 0xffff);
    b.begin(0, c);
    std::uint64_t ended_ps = 0;
    for (std::uint64_t ns = 1; ns < 60'000; ns += 20)
        b.board.bench.events.at(ns * 1'000 + 999, [&, ns] {
            if (ended_ps == 0 && b.state(0) == 2)
                ended_ps = ns * 1'000;
        });
    b.run();
    REQUIRE(b.status(0) == 0);
    // A way: NPU, wire and cable, NPU: 175 + 75 + 175 ns; there and back, memory 120 ns and the packets of an operation at 420 Gb/s, three of which wait behind others.
    const double trip_us = 2 * (0.175 + 0.075 + 0.175) + 0.120 + 4 * 1100 * 8 / 420e3;
    const double least_us = slices / 4 * trip_us;
    CHECK(static_cast<double>(ended_ps) / 1e6 > least_us * 0.98);
    CHECK(static_cast<double>(ended_ps) / 1e6 < least_us * 1.35);
}

TEST_CASE("ccu: an interrupt of a task before is not taken for that of the next one and channels of lost peers can be set again")
{
    ccu_bench b(2);
    microcode waits, ends;
    waits.wait(9, 1);
    ends.load_a(0, 0);
    ends.load_x(0, 0);
    microcode::sets(ends.add(op::remote_mem_to_ms, {0, 0, 0}, 1), 3, 1);
    ends.wait(3, 1);
    b.board.bench.events.at(1'000, [&] {
        b.set_channels(0);
        b.write(0, abi_ccu::CHANNEL_INDEX, 5);
        b.write(0, abi_ccu::CHANNEL_PEER, 77); // no such rank
        CHECK(b.read(0, abi_ccu::ERROR) == 1);
        b.load(0, 0, waits);
        b.load(0, 50, ends);
        b.launch(0, 0, 0, 1, 0);
    });
    b.board.bench.events.at(5'000'000, [&] { b.write(0, abi_ccu::MISSION_KILL, 0); });
    b.board.bench.events.at(6'000'000, [&] {
        CHECK((b.read(0, abi_ccu::IRQ_PENDING) & 1) == 1);
        b.launch(0, 0, 50, 4);
        CHECK((b.read(0, abi_ccu::IRQ_PENDING) & 1) == 0);
    });
    b.board.bench.events.at(8'400'000, [&] { // its read is under way
        b.write(0, abi_ccu::CHANNEL_INDEX, 1);
        b.write(0, abi_ccu::CHANNEL_PEER, 0); // refused: a mission uses it
        b.write(0, abi_ccu::MISSION_KILL, 0);
        b.write(0, abi_ccu::CHANNEL_PEER, 1); // gives up what was under way
        b.launch(0, 1, 50, 4);
    });
    b.run();
    CHECK(b.status(0, 0) == static_cast<std::uint64_t>(status::control));
    CHECK(b.status(0, 1) == 0);
}
