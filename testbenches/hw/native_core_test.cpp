// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Firmware of these tests reaches its bench through the entry's argument. Checks inside firmware are CHECKs: a REQUIRE
// that throws through the kernel would be reported twice.
#include "hw/bus/bus.h"
#include "hw/core/native_core.h"
#include "hw/memory/hbm.h"
#include "hw/memory/local_memory.h"
#include "tlm/check.h"
#include "tlm/timeline.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdio>
#include <malloc.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

using namespace weft;
using namespace weft::literals;
using Catch::Matchers::Contains;

namespace {
constexpr std::uint64_t k_dev = 0x1000'0000;
constexpr std::uint64_t k_hbm = 0x80'0000'0000;
constexpr std::uint64_t k_status = 0, k_scratch = 4, k_wide = 8;

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

/// A core with the usual things around it, and a clock of 1 GHz so that cycles are nanoseconds.
struct bench : sc_core::sc_module, core_log_sink {
    explicit bench(const sc_core::sc_module_name& name, notifier& wake, core_config config = nice_numbers())
        : sc_core::sc_module(name), core("core", config, wake), decoder("bus", bus_config{}), dev("dev"),
          local("local", local_memory_config{}), memory("hbm", hbm_config{})
    {
        core.socket.bind(decoder.socket);
        decoder.connect(dev.socket, {k_dev, 0x1000, "dev", 0});
        decoder.connect(local.socket, {0, 0x1'0000, "local", 0});
        decoder.connect(memory.socket, {k_hbm, memory.capacity_bytes(), "hbm", 0});
        core.connect_log(*this);
    }
    static core_config nice_numbers()
    {
        core_config c;
        c.clock = 1000_MHz;
        c.mmio_overhead = 80_cycles;
        c.irq_wake = 300_cycles;
        c.cpi = 1;
        c.wait_entry = 20_cycles;
        c.poll_interval = 50_cycles;
        c.poll_interval_max = c.poll_interval;
        return c;
    }
    void on_log(const char* who, std::uint64_t time_ps, const char* text, std::uint64_t value) override
    {
        lines.push_back(std::string(who) + ' ' + std::to_string(time_ps) + ' ' + text + ' ' + std::to_string(value));
    }
    void load(firmware_entry entry) { core.load(entry, reinterpret_cast<std::uintptr_t>(this)); }

    native_core core;
    bus decoder;
    device dev;
    local_memory local;
    hbm memory;
    std::vector<std::string> lines;
    std::vector<std::uint64_t> marks;
};
bench& of(std::uint64_t argument) { return *reinterpret_cast<bench*>(static_cast<std::uintptr_t>(argument)); }

/// Calls set_irq at given times from a timeline handler.
struct irq_driver final : timeline_client {
    irq_driver(timeline& t, native_core& c) : line(t), core(c), actor(t.register_actors(1)) {}
    void at(std::uint64_t time_ps, std::uint32_t lines, bool level)
    {
        line.schedule(time_ps, std::uint64_t{actor} << 32 | sequence++, *this, lines, level ? 1 : 0);
    }
    void on_event(std::uint32_t lines, std::uint8_t level) override { core.set_irq(lines, level != 0); }
    timeline& line;
    native_core& core;
    std::uint32_t actor;
    std::uint32_t sequence = 0;
};

constexpr std::uint64_t k_mmio_ns = 20 + 20 + 80; // bus + device + overhead
} // namespace

TEST_CASE("time passes in HAL calls by the cost table")
{
    kernel_notifier wake;
    bench b("bench", wake);
    b.load([](abi::hal& hal, std::uint64_t arg) {
        CHECK(hal.now_ns() == 0);
        CHECK(hal.now_ns() == 10); // reading the clock costs 10 cycles
        hal.compute(180);
        CHECK(hal.now_ns() == 200);
        CHECK(kernel_now_ps() == 0); // nothing has left the core
        hal.write32(k_dev + k_scratch, 5);
        CHECK(kernel_now_ps() == 210'000); // the access left at local time
        CHECK(hal.now_ns() == 210 + k_mmio_ns);
        CHECK(hal.read32(k_dev + k_scratch) == 5);
        CHECK(hal.now_ns() == 220 + 2 * k_mmio_ns);
        hal.write64(k_dev + k_wide, 0x1'0000'0002);
        CHECK(hal.read64(k_dev + k_wide) == 0x1'0000'0002);
        CHECK(hal.now_ns() == 230 + 4 * k_mmio_ns);
        const char text[] = "0123456789abcde";
        hal.copy_out(0x100, text, sizeof text);
        CHECK(hal.now_ns() == 240 + 4 * k_mmio_ns + 20 + 5 + 80 + 2);
        char back[sizeof text] = {};
        hal.copy_in(back, 0x100, sizeof back);
        CHECK(std::string(back) == text);
        const auto before = hal.now_ns();
        hal.copy_out(k_hbm + 64, text, 16);
        CHECK(hal.now_ns() - before == 10 + 20 + 120 + 80 + 2);
        hal.copy_out(0x100, text, 0); // nothing, for nothing
        hal.log("done", 42);
        CHECK_FALSE(hal.fault().set);
        CHECK(of(arg).core.blocked_on() == "runs");
    });
    CHECK(b.core.blocked_on() == "has not started");
    sc_core::sc_start();
    CHECK(b.core.finished());
    CHECK(b.core.mmio_reads.value() == 2);
    CHECK(b.core.mmio_writes.value() == 2);
    CHECK(b.core.bytes_copied.value() == 48);
    CHECK(b.core.busy_time.value() == kernel_now_ps());
    REQUIRE(b.lines.size() == 1);
    CHECK_THAT(b.lines[0], Contains("bench.core ") && Contains(" done 42"));
    CHECK_THAT(b.core.blocked_on(), Contains("firmware returned at"));
}

TEST_CASE("a core that only computes gives way in time")
{
    kernel_notifier wake;
    bench b("bench", wake);
    b.load([](abi::hal& hal, std::uint64_t) {
        while (hal.now_ns() < 100'000) {
        }
        hal.compute(0xffff'ffff);
        CHECK(hal.now_ns() / 1000 == (100'010 + 0xffff'ffffull) / 1000);
        CHECK(hal.wait_irq(1, 0) == 0);
        while (hal.now_ns() < 4'400'000'000)
            hal.wait_irq(1, 0); // not even this loop hangs the host
    });
    sc_core::sc_start(50, sc_core::SC_US);
    CHECK_FALSE(b.core.finished());
    CHECK(b.core.thread_switches.value() >= 49);
    sc_core::sc_start();
    CHECK(b.core.finished());
}

TEST_CASE("bus errors are sticky and read as zero")
{
    kernel_notifier wake;
    bench b("bench", wake);
    b.load([](abi::hal& hal, std::uint64_t) {
        CHECK(hal.read32(0x2000'0000) == 0);
        CHECK(hal.fault().set);
        CHECK_FALSE(hal.fault().was_write);
        CHECK(hal.fault().address == 0x2000'0000);
        hal.write32(k_dev + k_status, 1); // read only
        CHECK(hal.fault().address == 0x2000'0000);
        hal.clear_fault();
        CHECK_FALSE(hal.fault().set);
        hal.write32(k_dev + k_status, 1);
        CHECK(hal.fault().was_write);
        CHECK(hal.fault().address == k_dev + k_status);
        hal.clear_fault();
        char buffer[8] = {1, 1, 1, 1, 1, 1, 1, 1};
        hal.copy_in(buffer, 0xfffc, 8);
        CHECK(hal.fault().set);
        CHECK(buffer[0] == 0);
        hal.write32(k_dev + k_scratch, 3); // later accesses still go out
        CHECK(hal.read32(k_dev + k_scratch) == 3);
        hal.clear_fault();
        CHECK_FALSE(hal.poll_until(0x2000'0000, 1, 1, 1'000'000));
        CHECK(hal.fault().set);
        CHECK(hal.now_ns() < 10'000); // did not poll a dead address for a millisecond
    });
    sc_core::sc_start();
    CHECK(b.core.finished());
    CHECK(b.core.bus_faults.value() == 5);
}

namespace {
void check_wake_up(bool run_ahead)
{
    timeline line("timeline");
    line.set_run_ahead(run_ahead);
    bench b("bench", line);
    irq_driver irq(line, b.core);
    b.load([](abi::hal& hal, std::uint64_t arg) {
        CHECK(hal.wait_irq(3, ~0ull) == 2);
        of(arg).marks.push_back(hal.now_ns());
        CHECK(hal.wait_irq(3, 1000) == 2); // a level: still up, no sleep
        CHECK(hal.now_ns() == of(arg).marks[0] + 10 + 20);
        hal.compute(1000);
        CHECK(hal.wait_irq(1, 50'000) == 1); // rises at 20 us
        of(arg).marks.push_back(hal.now_ns());
    });
    irq.at(5'000'000, 4, true); // not in the mask
    irq.at(10'000'000, 2, true);
    irq.at(15'000'000, 2, false);
    irq.at(20'000'000, 1, true);
    sc_core::sc_start();
    CHECK(b.core.finished());
    REQUIRE(b.marks.size() == 2);
    CHECK(b.marks[0] == 10'000 + 300);
    CHECK(b.marks[1] == 20'000 + 300);
    CHECK(b.core.wakeups.value() == 2);
    CHECK(b.core.timeouts.value() == 0);
    CHECK(b.core.irq_lines() == 5);
}
} // namespace

TEST_CASE("an interrupt wakes the core after its wake-up cost") { check_wake_up(false); }

TEST_CASE("an interrupt from a timeline that runs ahead wakes the core at the same time") { check_wake_up(true); }

TEST_CASE("waits for interrupts run out exactly")
{
    timeline line("timeline");
    bench b("bench", line);
    irq_driver irq(line, b.core);
    b.load([](abi::hal& hal, std::uint64_t) {
        hal.compute(80);
        CHECK(hal.wait_irq(1, 900) == 0);
        CHECK(kernel_now_ps() == 1'000'000); // 80 + 20 to enter + 900
        CHECK(hal.wait_irq(1, 480) == 0);    // a later wait with a nearer end: 1000 + 10 ...
        CHECK(kernel_now_ps() == 1'500'000);
        // A short wait ended by an interrupt leaves a notification behind that must not end the next one.
        CHECK(hal.wait_irq(1, 10'000) == 1); // rises at 2 us
        CHECK(kernel_now_ps() == 2'300'000);
        hal.compute(980);
        CHECK(hal.wait_irq(2, 40'000) == 0);
        CHECK(kernel_now_ps() == 43'300'000);
        // The line rises before the end, the wake-up is over after it: the interrupt counts.
        CHECK(hal.wait_irq(4, 680) == 4); // rises at 43.9 us
        CHECK(kernel_now_ps() == 44'200'000);
        // The line falls before the core is awake: it sleeps on.
        CHECK(hal.wait_irq(8, 1'780) == 0);
        CHECK(kernel_now_ps() == 46'000'000);
    });
    irq.at(2'000'000, 1, true);
    irq.at(43'900'000, 4, true);
    irq.at(45'000'000, 8, true);
    irq.at(45'100'000, 8, false);
    sc_core::sc_start();
    CHECK(b.core.finished());
    CHECK(b.core.wakeups.value() == 2);
    CHECK(b.core.timeouts.value() == 4);
}

namespace {
void check_tie(bool run_ahead)
{
    timeline line("timeline");
    line.set_run_ahead(run_ahead);
    bench b("bench", line);
    irq_driver irq(line, b.core);
    b.load([](abi::hal& hal, std::uint64_t) {
        CHECK(hal.wait_irq(1, 980) == 1); // the end of the wait and the interrupt are both at 1 us
        CHECK(kernel_now_ps() == 1'300'000);
        CHECK(hal.wait_irq(2, 680) == 0); // 2 us; this line rises one picosecond late
        CHECK(kernel_now_ps() == 2'000'000);
    });
    irq.at(1'000'000, 1, true);
    irq.at(2'000'001, 2, true);
    sc_core::sc_start();
    CHECK(b.core.finished());
}
} // namespace

TEST_CASE("a line that rises exactly at the timeout wins") { check_tie(false); }

TEST_CASE("a line that rises exactly at the timeout wins also with run-ahead") { check_tie(true); }

TEST_CASE("a line that rises while the core is on its way to sleep keeps it awake")
{
    timeline line("timeline");
    bench b("bench", line);
    irq_driver irq(line, b.core);
    b.load([](abi::hal& hal, std::uint64_t) {
        hal.compute(480); // runs ahead of the kernel to 500 ns
        CHECK(hal.wait_irq(1, 10'000) == 1);
        CHECK(hal.now_ns() == 500);
    });
    irq.at(200'000, 1, true);
    sc_core::sc_start();
    CHECK(b.core.finished());
    CHECK(b.core.busy_time.value() == 510'000);
}

TEST_CASE("an interrupt before time zero is not lost")
{
    kernel_notifier wake;
    bench b("bench", wake);
    b.core.set_irq(1, true);
    b.load([](abi::hal& hal, std::uint64_t) {
        CHECK(hal.wait_irq(1, 1'000) == 1);
        CHECK(hal.now_ns() == 20);
    });
    sc_core::sc_start();
    CHECK(b.core.finished());
}

TEST_CASE("a parked core does not keep the simulation alive")
{
    timeline line("timeline");
    bench b("bench", line);
    irq_driver irq(line, b.core);
    b.load([](abi::hal& hal, std::uint64_t) {
        hal.wait_irq(1, 1'000'000'000); // one second, ended after 1 us
        hal.wait_irq(2, ~0ull);
    });
    irq.at(1'000'000, 1, true);
    sc_core::sc_start();
    CHECK_FALSE(b.core.finished());
    CHECK(b.core.idle());
    CHECK_FALSE(b.core.blocked());
    CHECK(kernel_now_ps() < 2'000'000);
    CHECK_THAT(b.core.blocked_on(), Contains("DMA") && Contains("never"));
}

TEST_CASE("a core is busy while it reads a polled register and idle between two reads")
{
    kernel_notifier wake;
    bench b("bench", wake);
    b.load([](abi::hal& hal, std::uint64_t) { CHECK_FALSE(hal.poll_until(k_dev + k_scratch, 0xff, 1, 100'000)); });
    std::uint64_t before = 0, idle_ps = 0;
    for (int i = 0; i < 20'000; ++i) { // also in the middle of intervals, of which nothing is counted ahead
        sc_core::sc_start(sc_core::sc_time(10, sc_core::SC_NS));
        const std::uint64_t spent = b.core.spent_on(work_kind::core, kernel_now_ps()).spent_ps;
        REQUIRE(spent >= before);
        REQUIRE(spent - before <= 10'000);
        idle_ps += 10'000 - (spent - before);
        before = spent;
    }
    REQUIRE(b.core.finished());
    CHECK(b.core.busy_time.value() == before);
    // A read takes 120 ns with its overhead, and 15 instructions go on to the next one, 50 ns of waiting later.
    const std::uint64_t reads = b.core.mmio_reads.value();
    CHECK(reads > 500);
    CHECK(b.core.busy_time.value() ==
          20'000 + reads * k_mmio_ns * 1000 + (reads - 1) * abi::k_hal_poll_instructions * 1000);
    CHECK(idle_ps == 200'000'000 - before);
}

TEST_CASE("a core that spins takes the time of its instructions and is not busy")
{
    kernel_notifier wake;
    bench b("bench", wake);
    b.load([](abi::hal& hal, std::uint64_t) {
        const std::uint64_t began_ns = hal.now_ns();
        hal.spin(5'000);
        const std::uint64_t took_ns = hal.now_ns() - began_ns;
        CHECK(took_ns >= 5'000);
        CHECK(took_ns < 5'000 + 100); // reading the clock
    });
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    REQUIRE(b.core.finished());
    CHECK(b.core.busy_time.value() < 200'000);
}

TEST_CASE("polling ends with the value or with the timeout")
{
    kernel_notifier wake;
    bench b("bench", wake);
    b.load([](abi::hal& hal, std::uint64_t arg) {
        CHECK(hal.poll_until(k_dev + k_scratch, 0xff, 0, 0)); // one read at least
        hal.write32(k_dev + k_scratch, 0x1200);
        CHECK(hal.poll_until(k_dev + k_scratch, 0xff00, 0x1200, 1'000));
        const auto begin = hal.now_ns();
        CHECK_FALSE(hal.poll_until(k_dev + k_scratch, 0xff, 1, 10'000));
        const auto span = hal.now_ns() - begin;
        CHECK(span >= 10'000);
        CHECK(span < 10'000 + 30 + 2 * (k_mmio_ns + 50));
        CHECK(hal.poll_until(k_dev + k_status, 1, 1, 1'000'000));
        of(arg).marks.push_back(hal.now_ns());
    });
    sc_core::sc_start(12, sc_core::SC_US);
    CHECK(b.core.blocked());
    CHECK_THAT(b.core.blocked_on(), Contains("polls 0x10000000") && Contains("timeout at"));
    sc_core::sc_start(13, sc_core::SC_US);
    b.dev.regs.at(k_status) = 1;
    sc_core::sc_start();
    REQUIRE(b.marks.size() == 1);
    CHECK(b.marks[0] > 25'000);
    CHECK(b.marks[0] < 25'000 + 2 * (k_mmio_ns + 50));
    CHECK(b.core.timeouts.value() == 1);
}

TEST_CASE("the stall report says what a sleeping core waits for")
{
    kernel_notifier wake;
    bench b("bench", wake);
    b.load([](abi::hal& hal, std::uint64_t) {
        hal.compute(980);
        hal.wait_irq(abi::k_irq_dma, 5'000'000);
    });
    sc_core::sc_start(2, sc_core::SC_US);
    CHECK(b.core.blocked());
    CHECK(b.core.blocked_on() == "sleeps until an interrupt of DMA, since 1.00 us, timeout at 5.00 ms");
}

TEST_CASE("the software of a ring step leaves room for the devices within one microsecond")
{
    timeline line("timeline");
    bench b("bench", line, core_config{});
    irq_driver irq(line, b.core);
    b.load([](abi::hal& hal, std::uint64_t arg) {
        // What a driver does per step: sleep, ask who woke it, read the count, arm the next threshold, write a
        // descriptor, ring the doorbell. The interrupt comes at 100 us.
        CHECK(hal.wait_irq(abi::k_irq_dma, 1'000'000) != 0);
        hal.read64(k_dev + k_wide);
        hal.read32(k_dev + k_status);
        hal.write32(k_dev + k_scratch, 1);
        const char descriptor[64] = {};
        hal.copy_out(k_hbm, descriptor, sizeof descriptor);
        of(arg).marks.push_back(kernel_now_ps());
        hal.write32(k_dev + k_scratch, 2);
        of(arg).marks.push_back(kernel_now_ps()); // the doorbell leaves the core
    });
    irq.at(100'000'000, abi::k_irq_dma, true);
    sc_core::sc_start();
    REQUIRE(b.marks.size() == 2);
    const auto step_ns = static_cast<double>(b.marks[1] - 100'000'000) / 1000.0;
    std::printf("ring step: %.0f ns from the interrupt to the doorbell\n", step_ns);
    // Fetch, two HBM accesses and the link take about 0.4 us; both together make the calibrated 1 us of
    // testbenches/system/collective_times_test.cpp.
    CHECK(step_ns > 300);
    CHECK(step_ns < 600);
}

TEST_CASE("firmware is loaded once and a core without it is idle")
{
    kernel_notifier wake;
    bench with("with", wake);
    bench without("without", wake);
    with.load([](abi::hal&, std::uint64_t) {});
    CHECK_THROWS_AS(with.load([](abi::hal&, std::uint64_t) {}), bug);
    CHECK_THROWS_AS(without.core.load(nullptr, 0), bug);
    sc_core::sc_start();
    CHECK(with.core.finished());
    CHECK(without.core.idle());
    CHECK(without.core.blocked_on() == "has no firmware");
}

TEST_CASE("a wrong core configuration is explained")
{
    CHECK(core_config{}.validate().empty());
    core_config c;
    c.clock = frequency(5);
    c.wait_entry = cycle_count(0);
    c.poll_interval = cycle_count(0);
    c.max_ahead = duration(1);
    c.stack = data_size(100);
    c.irq_wake = cycle_count(2'000'000);
    CHECK(c.validate().size() == 6);
}

namespace {
std::size_t resident_bytes()
{
    long pages = 0;
    long resident = 0;
    if (auto* f = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(f, "%ld %ld", &pages, &resident) != 2)
            resident = 0;
        std::fclose(f);
    }
    return static_cast<std::size_t>(resident) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}
} // namespace

TEST_CASE("parked cores are small and many cores wake one after the other")
{
    const std::size_t count = 1024;
    const std::uint32_t rounds = 20;
    timeline line("timeline");
    line.set_run_ahead(true);
    std::vector<std::unique_ptr<local_memory>> memories; // something to bind to; not counted
    for (std::size_t i = 0; i < count; ++i)
        memories.push_back(
            std::make_unique<local_memory>(sc_core::sc_gen_unique_name("memory"), local_memory_config{}));
    const auto heap_before = mallinfo2().uordblks + mallinfo2().hblkhd;
    const auto resident_before = resident_bytes();
    std::vector<std::unique_ptr<native_core>> cores;
    for (std::size_t i = 0; i < count; ++i) {
        cores.push_back(std::make_unique<native_core>(sc_core::sc_gen_unique_name("core"), core_config{}, line));
        cores[i]->load(
            [](abi::hal& hal, std::uint64_t) {
                for (;;) {
                    hal.wait_irq(1, 10'000'000'000);
                    for (std::uint32_t k = 0; k < 5; ++k)
                        hal.write32(0x100, k); // five accesses a step, as in a ring step
                }
            },
            0);
        cores[i]->socket.bind(memories[i]->socket);
    }
    const auto heap_each = (mallinfo2().uordblks + mallinfo2().hblkhd - heap_before) / count;
    sc_core::sc_start(1, sc_core::SC_US); // all asleep
    const auto resident_each = (resident_bytes() - resident_before) / count;
    std::printf("parked core: %zu bytes of heap, %zu bytes resident with its stack\n",
                static_cast<std::size_t>(heap_each), static_cast<std::size_t>(resident_each));
    CHECK(cores[0]->blocked());

    std::vector<std::unique_ptr<irq_driver>> irqs;
    for (auto& core : cores)
        irqs.push_back(std::make_unique<irq_driver>(line, *core));
    for (std::uint32_t r = 1; r <= rounds; ++r)
        for (std::size_t i = 0; i < count; ++i) {
            irqs[i]->at(r * 10'000'000ull + i * 1'000, 1, true);
            irqs[i]->at(r * 10'000'000ull + i * 1'000 + 400'000, 1, false);
        }
    const auto begin = std::chrono::steady_clock::now();
    sc_core::sc_start((rounds + 1) * 10.0, sc_core::SC_US);
    const std::chrono::duration<double, std::nano> span = std::chrono::steady_clock::now() - begin;
    std::uint64_t switches = 0;
    for (auto& core : cores) {
        CHECK(core->wakeups.value() == rounds);
        switches += core->thread_switches.value();
    }
    std::printf("1024 cores: %.0f ns of host time a step of five accesses, %.1f thread switches a step\n",
                span.count() / static_cast<double>(count * rounds),
                static_cast<double>(switches) / static_cast<double>(count * rounds));
    CHECK(heap_each < 100'000);
}

namespace {
const std::uint32_t k_accesses = 200'000;
}

TEST_CASE("an access costs little on the host")
{
    kernel_notifier wake;
    bench b("bench", wake);
    b.load([](abi::hal& hal, std::uint64_t) {
        for (std::uint32_t i = 0; i < k_accesses; ++i)
            hal.write32(k_dev + k_scratch, i);
    });
    const auto begin = std::chrono::steady_clock::now();
    sc_core::sc_start();
    const std::chrono::duration<double, std::nano> span = std::chrono::steady_clock::now() - begin;
    std::printf("MMIO write: %.0f ns of host time\n", span.count() / k_accesses);
    CHECK(b.dev.regs.at(k_scratch) == k_accesses - 1);
    CHECK(span.count() / k_accesses < 20'000); // generous: sanitizers and busy hosts
}
