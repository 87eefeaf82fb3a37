// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The RV64 core on small assembled programs (testbenches/hw/rv64), which leave their results in local memory from 0x2000.
// The clock is 1 GHz and cpi 1, so that cycles and instructions are nanoseconds.
#ifdef WEFT_RV64_PROGRAMS

#include "hw/abi/platform_table.h"
#include "hw/bus/bus.h"
#include "hw/core/rv64_core.h"
#include "hw/memory/hbm.h"
#include "hw/memory/local_memory.h"
#include "tlm/check.h"
#include "tlm/timeline.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <vector>

using namespace weft;
using namespace weft::literals;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t k_dev = 0x1000'0000;
constexpr std::uint64_t k_hbm = 0x80'0000'0000;
constexpr std::uint64_t k_results = 0x2000;
constexpr std::uint64_t k_mmio_ns = 20 + 20 + 80; // bus + device + overhead

const reg_row_view k_rows[] = {
    {"STATUS", 0, 0, 1, 32, reg_rights::ro, 0, "Set by the bench"},
    {"SCRATCH", 4, 0, 1, 32, reg_rights::rw, 0, "For tests"},
    {"WIDE", 8, 0, 1, 64, reg_rights::rw, 0, "For tests"},
};
struct device : sc_core::sc_module {
    explicit device(const sc_core::sc_module_name& name)
        : sc_core::sc_module(name), regs("TEST", k_rows), socket("socket", regs, 20_ns)
    {
    }
    reg_file regs;
    mmio_target_socket socket;
};

struct bench : sc_core::sc_module, core_log_sink, timeline_client {
    bench(const sc_core::sc_module_name& name, const char* program, std::uint64_t argument = 0,
          core_config config = nice_numbers())
        : sc_core::sc_module(name), core("core", config, time, 7), decoder("bus", bus_config{}), dev("dev"),
          local("local", local_memory_config{}), memory("hbm", hbm_config{}), actor(time.register_actors(1))
    {
        core.socket.bind(decoder.socket);
        decoder.connect(dev.socket, {k_dev, 0x1000, "dev", 0});
        decoder.connect(local.socket, {0, 0x1'0000, "local", 0});
        decoder.connect(memory.socket, {k_hbm, memory.capacity_bytes(), "hbm", 0});
        core.connect_log(*this);
        core.load(read_elf_file(std::string(WEFT_RV64_PROGRAMS) + "/" + program + ".elf"), argument);
    }
    static core_config nice_numbers()
    {
        core_config c;
        c.model = core_model::rv64;
        c.clock = 1000_MHz;
        c.mmio_overhead = 80_cycles;
        c.irq_wake = 300_cycles;
        c.cpi = 1;
        return c;
    }
    void on_log(const char*, std::uint64_t, const char*, std::uint64_t) override {}
    void on_console(const char* who, std::uint64_t time_ps, const std::string& line) override
    {
        CHECK(std::string(who) == "bench.core");
        times_ps.push_back(time_ps);
        lines.push_back(line);
    }
    /// Drives interrupt lines from a timeline handler.
    void at(std::uint64_t time_ps, std::uint32_t mask, bool level)
    {
        time.schedule(time_ps, std::uint64_t{actor} << 32 | sequence++, *this, mask, level ? 1 : 0);
    }
    void on_event(std::uint32_t mask, std::uint8_t level) override { core.set_irq(mask, level != 0); }
    std::uint64_t result(unsigned i) const
    {
        std::uint64_t value = 0;
        local.read_bytes(k_results + 8 * i, &value, sizeof value);
        return value;
    }
    void run() { sc_core::sc_start(); }

    timeline time{"timeline"};
    rv64_core core;
    bus decoder;
    device dev;
    local_memory local;
    hbm memory;
    std::uint32_t actor;
    std::uint32_t sequence = 0;
    std::vector<std::string> lines;
    std::vector<std::uint64_t> times_ps;
};

} // namespace

TEST_CASE("an rv64 core computes")
{
    bench b("bench", "test_arithmetic", 12345);
    b.run();
    REQUIRE(b.core.failure() == "");
    CHECK(b.core.finished());
    const std::uint64_t product = 1000000007ull * 998244353ull;
    CHECK(b.result(0) == 7);
    CHECK(b.result(1) == abi::k_platform_table_address);
    CHECK(b.result(2) == 12345);
    CHECK(b.result(3) == product);
    CHECK(b.result(4) == static_cast<std::uint64_t>(static_cast<unsigned __int128>(product) * 1000000007u >> 64));
    CHECK(b.result(5) == 1000000007);
    CHECK(b.result(6) == static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(product) % 998244353}));
    CHECK(b.result(7) == 37);
    CHECK(b.result(8) == 43);
    double quotient = 0;
    const std::uint64_t bits = b.result(9);
    std::memcpy(&quotient, &bits, sizeof quotient);
    CHECK(quotient == 3.0 / 7.0);
    CHECK(b.result(10) == 499500);
    CHECK(b.core.mmio_writes.value() == 11); // an access of 8 bytes is one
    CHECK(b.core.traps.value() == 0);
}

TEST_CASE("exceptions of an rv64 core are traps with pc and address")
{
    bench b("bench", "test_traps");
    b.run();
    REQUIRE(b.core.failure() == "");
    unsigned at = 0;
    const auto trap = [&](std::uint64_t cause, std::uint64_t value) {
        INFO("trap at result " << at);
        const std::uint64_t pc = b.result(at + 1);
        CHECK(b.result(at) == cause);
        CHECK(b.result(at + 2) == value);
        at += 3;
        return pc;
    };
    std::uint64_t pc = trap(trap_cause::k_load_fault, 0x2000'0010);
    CHECK(b.result(at++) == 77); // the register of the load is as it was
    CHECK(b.result(at++) == pc);
    pc = trap(trap_cause::k_store_fault, 0x2000'0018);
    CHECK(b.result(at++) == 1);
    CHECK(b.result(at++) == pc);
    pc = trap(trap_cause::k_load_fault, abi::k_core_base + 0x10);
    CHECK(b.result(at++) == 1);
    CHECK(b.result(at++) == pc + 8); // a load and a li behind it
    pc = trap(trap_cause::k_illegal_instruction, 0);
    CHECK(b.result(at++) == pc);
    pc = trap(trap_cause::k_ecall, 0);
    CHECK(b.result(at++) == pc);
    pc = trap(trap_cause::k_breakpoint, b.result(at + 1)); // mtval is the pc
    CHECK(b.result(at++) == pc);
    CHECK(trap(trap_cause::k_fetch_fault, 0x2000) == 0x2000);
    ++at;
    CHECK(trap(trap_cause::k_fetch_fault, 0xffff'ffff'8000'0000) == 0xffff'ffff'8000'0000);
    ++at;
    pc = trap(trap_cause::k_store_fault, 0x2000'0000); // the bus address of the burst
    CHECK(b.result(at++) == pc);
    CHECK((b.result(at) & 0x1888) == 0x80);
    CHECK(b.core.traps.value() == 9);
    CHECK(b.core.bus_faults.value() == 3);
}

TEST_CASE("an rv64 core pays for instructions and for accesses")
{
    bench b("bench", "test_timing");
    b.run();
    REQUIRE(b.core.failure() == "");
    CHECK(b.result(0) == 4001); // from one rdtime to the next
    CHECK(b.result(1) == k_mmio_ns + 2);
    CHECK(b.result(2) == 2 * k_mmio_ns + 3);
    CHECK(b.result(3) == 1); // 1 GHz: a cycle is a nanosecond
    CHECK(b.result(4) == 1);
    CHECK(b.result(5) == 4033);
    CHECK(b.result(6) == 7);
    // All of it: instructions at 1 ns and accesses; HALT is one of the former.
    const std::uint64_t accesses_ns = 3 * k_mmio_ns + 7 * (20 + 5 + 80);
    CHECK(kernel_now_ps() / 1000 == b.core.instructions.value() + accesses_ns);
    CHECK(b.core.thread_switches.value() < 20); // a quantum of 1 us, and the accesses
}

TEST_CASE("cpi and clock of an rv64 core")
{
    core_config config = bench::nice_numbers();
    config.cpi = 2.5;
    config.clock = 500_MHz;
    config.mmio_overhead = 0_cycles;
    bench b("bench", "test_timing", 0, config);
    b.run();
    CHECK(b.result(0) == 20005);
    CHECK(b.result(1) == 40 + 10);
}

TEST_CASE("an rv64 core waits for lines and for its timer and takes interrupts")
{
    bench b("bench", "test_waiting");
    b.at(10'000'000, 2, true);
    b.at(40'000'000, 4, true);
    b.run();
    REQUIRE(b.core.failure() == "");
    CHECK(b.result(0) >= 10'300); // 300 cycles to wake up
    CHECK(b.result(0) <= 10'305);
    CHECK(b.result(1) == 2);
    CHECK(b.result(2) < 10); // at once
    CHECK(b.result(3) >= 20'000);
    CHECK(b.result(3) <= 20'005);
    CHECK(b.result(4) == trap_cause::k_timer_interrupt);
    CHECK(b.result(5) >= 30'000);
    CHECK(b.result(5) <= 31'010); // within a quantum
    CHECK(b.result(6) == trap_cause::k_external_interrupt);
    CHECK(b.result(7) >= 40'000);
    CHECK(b.result(7) <= 41'010);
    CHECK(b.core.wakeups.value() == 1);
    CHECK(b.core.timeouts.value() == 1);
    CHECK(b.core.interrupts.value() == 2);
}

/// Runs test_endings, which must end badly, and returns what is said of it.
static std::string how_it_ends(std::uint64_t argument)
{
    bench b("bench", "test_endings", argument);
    b.run();
    CHECK_FALSE(b.core.finished());
    CHECK_THAT(b.core.blocked_on(), Contains(b.core.failure()));
    CHECK(b.core.idle());
    CHECK(b.core.at_rest(0));
    return b.core.failure();
}

TEST_CASE("an rv64 core whose stack overflows")
{
    CHECK_THAT(how_it_ends(0), Contains("stack overflow") && Contains("writes 0xffff8 with sp 0xfffc0"));
}

TEST_CASE("an rv64 core whose firmware stops itself")
{
    CHECK(how_it_ends(1) == "the firmware stopped itself with code 42; its last line is 'no'.");
}

TEST_CASE("an rv64 core whose handler of exceptions stops the firmware without a word")
{
    CHECK_THAT(how_it_ends(6), Catch::StartsWith("the firmware stopped itself with code 6; its last exception: load access fault at pc 0x1"));
}

TEST_CASE("an rv64 core with a bus error and no handler")
{
    CHECK_THAT(how_it_ends(2), Contains("load access fault") && Contains("no trap handler"));
}

TEST_CASE("an rv64 core whose trap handler is broken") { CHECK_THAT(how_it_ends(3), Contains("trap handler itself")); }

TEST_CASE("an rv64 core with a frame larger than all stacks")
{
    CHECK_THAT(how_it_ends(4), Contains("stack overflow"));
}

TEST_CASE("an rv64 core that sleeps for good lets the simulation end")
{
    bench b("bench", "test_endings", 5);
    b.run();
    CHECK(b.core.failure() == "");
    CHECK_FALSE(b.core.finished());
    CHECK_FALSE(b.core.blocked());
    CHECK(b.core.idle());
    CHECK(b.core.waits_for() == "sleeps");
    CHECK(kernel_now_ps() == 0);
}

TEST_CASE("the hal of an rv64 core")
{
    bench b("bench", "test_hal_probe", 99);
    b.dev.regs.at(0) = 7;
    b.at(50'000'000, 2, true);
    b.run();
    REQUIRE(b.core.failure() == "");
    CHECK(b.core.finished());
    const std::vector<std::string> expected = {"argument 99",
                                               "register 42",
                                               "wide 4294967298",
                                               "copy out ns 0",
                                               "sum 2628",
                                               "lines 0",
                                               "timeout after us 5",
                                               "lines 2",
                                               "met 1",
                                               "not met 0",
                                               "bus error on a read at pc ",
                                               "value 0",
                                               "fault set 1",
                                               "fault address 536870976",
                                               "bus error on a write at pc ",
                                               "fault write 1",
                                               "bus error on a read at pc ",
                                               "fault address " + std::to_string(0x2000'0080),
                                               "fault write 0",
                                               "not met 0"};
    REQUIRE(b.lines.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO(i);
        if (expected[i].find("copy out") == 0) {
            // One transaction of 72 bytes: bus, HBM, overhead, and a cycle per 8 bytes; then the instructions around it.
            const std::uint64_t ns = std::stoull(b.lines[i].substr(12));
            CHECK(ns > 20 + 120 + 80 + 9);
            CHECK(ns < 20 + 120 + 80 + 9 + 60);
        } else {
            CHECK_THAT(b.lines[i], Catch::StartsWith(expected[i]));
        }
    }
    CHECK_THAT(b.lines[10], Catch::EndsWith("address 0x20000040"));
    for (std::size_t i = 1; i < b.times_ps.size(); ++i)
        CHECK(b.times_ps[i] > b.times_ps[i - 1]);
}

TEST_CASE("a bus error outside the hal of an rv64 core ends the firmware")
{
    bench b("bench", "test_hal_probe", 1);
    b.run();
    CHECK_THAT(
        b.core.failure(),
        Catch::StartsWith("the firmware stopped itself with code 8; its last line is 'store access fault at pc 0x1"));
    CHECK_THAT(b.core.failure(), Catch::EndsWith(", address 0x20000004'."));
}

TEST_CASE("a simulation may end while an rv64 core waits for the bus")
{
    bench b("bench", "test_hal_probe", 99);
    for (unsigned i = 1; i < 100; ++i)
        sc_core::sc_start(sc_time_from_ps(17'001)); // not all of these stops are in the middle of an access
    CHECK_FALSE(b.core.finished());
}

#endif
