// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Firmware that loops for ever: the run ends, and says who, where, and at which register.
#include "hw/abi/registers.h"
#include "hw/core/host_watch.h"
#include "hw/core/iss.h"
#include "platforms/debug/code_places.h"
#include "platforms/workload/shipped_firmware.h"
#include "testbenches/issues/started_program.h"
#include "testbenches/support/child.h"
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::testing;

namespace {

void loops_without_a_call(abi::hal& hal, std::uint64_t)
{
    hal.wait_irq(abi::k_irq_mailbox, ~std::uint64_t{0});
    for (volatile unsigned turns = 0;;)
        turns = turns + 1;
}

void polls_a_register(abi::hal& hal, std::uint64_t)
{
    hal.wait_irq(abi::k_irq_mailbox, ~std::uint64_t{0});
    while (hal.read32(abi::k_dma_base + abi::dma::HEAD(3)) == 0) {
    }
}

void asks_only_for_faults(abi::hal& hal, std::uint64_t)
{
    hal.wait_irq(abi::k_irq_mailbox, ~std::uint64_t{0});
    while (!hal.faulted()) { // no simulated time passes in this call
    }
}

/// Its interrupt stays up, so it finds the same command again.
void never_acknowledges(abi::hal& hal, std::uint64_t)
{
    for (;;) {
        hal.wait_irq(abi::k_irq_mailbox, ~std::uint64_t{0});
        abi::response r;
        r.sequence = hal.read32(abi::k_mailbox_base + abi::mailbox::COMMAND_SEQUENCE);
        hal.copy_out(abi::k_response_address, &r, sizeof r);
        hal.write32(abi::k_mailbox_base + abi::mailbox::DONE, r.sequence);
    }
}

/// The shipped firmware, but that rank answers as soon as it has taken the command; what it answers later is not sent.
class early_hal final : public abi::hal {
public:
    explicit early_hal(abi::hal& below) : below_(below) {}
    std::uint32_t read32(std::uint64_t address) override { return below_.read32(address); }
    void write32(std::uint64_t address, std::uint32_t value) override
    {
        if (address == abi::k_mailbox_base + abi::mailbox::DONE)
            return;
        below_.write32(address, value);
        if (address != abi::k_mailbox_base + abi::mailbox::COMMAND_ACK)
            return;
        abi::response r;
        r.sequence = value;
        below_.copy_out(abi::k_response_address, &r, sizeof r);
        below_.write32(abi::k_mailbox_base + abi::mailbox::DONE, value);
    }
    std::uint64_t read64(std::uint64_t address) override { return below_.read64(address); }
    void write64(std::uint64_t address, std::uint64_t value) override { below_.write64(address, value); }
    void copy_in(void* to, std::uint64_t from, std::uint32_t bytes) override { below_.copy_in(to, from, bytes); }
    void copy_out(std::uint64_t to, const void* from, std::uint32_t bytes) override { below_.copy_out(to, from, bytes); }
    std::uint32_t wait_irq(std::uint32_t mask, std::uint64_t timeout_ns) override { return below_.wait_irq(mask, timeout_ns); }
    bool poll_until(std::uint64_t address, std::uint32_t mask, std::uint32_t expected, std::uint64_t timeout_ns) override
    {
        return below_.poll_until(address, mask, expected, timeout_ns);
    }
    void compute(std::uint32_t work) override { below_.compute(work); }
    void spin(std::uint32_t work) override { below_.spin(work); }
    std::uint64_t now_ns() override { return below_.now_ns(); }
    void log(const char* text, std::uint64_t value) override { below_.log(text, value); }
    abi::bus_fault fault() const override { return below_.fault(); }
    void clear_fault() override { below_.clear_fault(); }

private:
    abi::hal& below_;
};

void answers_at_once(abi::hal& hal, std::uint64_t argument)
{
    early_hal early(hal);
    shipped_firmware().entry(early, argument);
}

/// How a run ends in which rank 1 has this firmware.
std::string end_of(firmware_entry entry, std::uint32_t host_seconds)
{
    const child_output out = run_child([&] {
        tpu_v3_config config = weft::test::pod(2, 2);
        config.run.firmware_timeout = duration(1'000'000'000);
        config.run.workload = {
            weft::test::spec(abi::collective_op::all_reduce, {abi::algorithm::ring_1d}, {4096})};
        tpu_v3 machine(config, tpu_v3_routing(config), [&](std::uint32_t rank) {
            core_fitting fitting;
            fitting.entry = rank == 1 ? entry : nullptr;
            return fitting;
        });
        firmware_places places;
        collective_runner runner("host", machine, config.run, nullptr, &places);
        const host_watch watch(host_seconds);
        return runner.run().failure;
    });
    CHECK(out.ended);
    return out.bytes + out.thrown;
}

constexpr const char* k_endless = "platform: tpu_v3\nname: endless\nfirmware_timeout: 10 s\n"
                                  "chip: {core: {model: rv64, elf: " WEFT_RV64_PROGRAMS "/test_endless.elf}}\n"
                                  "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB]}]\n";

/// issues/rv64/loops.cpp; the number of ranks says which loop. Its cores are fast, so that little simulated time passes.
constexpr const char* k_loops =
    "platform: tpu_v3\nname: loops\ndata: off\nfirmware_timeout: 10 s\n"
    "chip: {core: {model: rv64, cpi: 0.01, clock: 100 GHz, elf: " WEFT_RV64_PROGRAMS "/test_loops.elf}}\n"
    "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [4 KiB]}]\n";
constexpr const char* k_boot_loop = "mesh={rows: 2, cols: 5}";

/// How many ranks the picture of the cores tells.
unsigned ranks_told(const std::string& text)
{
    unsigned ranks = 0;
    for (std::size_t at = text.find("\nthe core"); at != std::string::npos; at = text.find("\nthe core", at + 1)) {
        unsigned several = 1;
        std::sscanf(text.c_str() + at, "\nthe cores of %u ranks", &several);
        ranks += several;
    }
    return ranks;
}

bool has_engine() { return *iss_engine_name() != '\0'; }

} // namespace

TEST_CASE("native firmware that loops without a call is stopped and named")
{
    const std::string end = end_of(loops_without_a_call, 1);
    INFO(end);
    CHECK(has(end, "all_reduce ring_1d of 4096 B: the firmware stopped.\nrank 1, chip(0,1): the firmware has kept the host "
                   "busy for 1 s of CPU time"));
    CHECK(has(end, "loops_without_a_call"));
    CHECK(has(end, "pc issues_tests+0x"));
    CHECK(has(end, "the core of rank 1 has stopped"));
    CHECK(ranks_told(end) == 4);
}

TEST_CASE("native firmware whose calls take no simulated time is stopped and named")
{
    const std::string end = end_of(asks_only_for_faults, 1);
    INFO(end);
    CHECK(has(end, "rank 1, chip(0,1): the firmware has kept the host busy for 1 s of CPU time"));
}

TEST_CASE("native firmware that polls for ever ends after its bound with rank and register and function")
{
    const std::string end = end_of(polls_a_register, 0);
    INFO(end);
    CHECK(has(end, "did not complete. Firmware loops: since "));
    CHECK(has(end, "the core of rank 1 executes; its last access read DMA.HEAD(3) [pc issues_tests+0x"));
    CHECK(has(end, "polls_a_register"));
}

TEST_CASE("firmware that does not acknowledge its command is told so")
{
    const std::string end = end_of(never_acknowledges, 0);
    INFO(end);
    CHECK(has(end, "firmware does not acknowledge its command.\nrank 1, chip(0,1): answers one command over and over; it does not write MAILBOX.COMMAND_ACK"));
}

TEST_CASE("a rank that answers before its result is there fails the run with its time although the bytes are right at the end")
{
    const std::string end = end_of(answers_at_once, 0);
    INFO(end);
    CHECK(has(end, "all_reduce ring_1d of 4096 B: rank 1 answered at "));
    CHECK(has(end, "and bytes of its result came after that. Firmware rings MAILBOX.DONE when all of its result is there."));
}

TEST_CASE("rv64 firmware that loops without an access is stopped and named")
{
    if (!has_engine())
        return;
    started_program weft;
    weft.write("endless.yaml", k_endless);
    CHECK(weft.run({"run", "endless.yaml", "--set", "mesh={rows: 2, cols: 2}", "--host-timeout", "1", "--out", "out"}) ==
          1);
    INFO(weft.err());
    CHECK(has(weft.err(), "rank 1, chip(0,1): the firmware has executed for 1 s of host CPU time without an access outside"));
    CHECK(has(weft.err(), "issues/rv64/endless.cpp:"));
    CHECK(has(weft.err(), "spin_quietly"));
    CHECK(has(weft.results().at("failure"), "spin_quietly"));
}

TEST_CASE("rv64 firmware that polls for ever ends after its bound with rank and register and function")
{
    if (!has_engine())
        return;
    started_program weft;
    weft.write("endless.yaml", k_endless);
    CHECK(weft.run({"run", "endless.yaml", "--set", "mesh={rows: 2, cols: 4}", "--set", "firmware_timeout=1 ms", "--out",
                    "out"}) == 1);
    INFO(weft.err());
    CHECK(has(weft.err(), "the core of rank 1 executes; its last access read DMA.HEAD(3)"));
    CHECK(has(weft.err(), "issues/rv64/endless.cpp:"));
    CHECK(has(weft.err(), "poll_for_ever"));
}

TEST_CASE("rv64 firmware that rings a doorbell for ever is stopped and named although the machine has events")
{
    if (!has_engine())
        return;
    started_program weft;
    weft.write("loops.yaml", k_loops);
    CHECK(weft.run({"run", "loops.yaml", "--set", "mesh={rows: 2, cols: 4}", "--host-timeout", "1", "--out", "out"}) == 1);
    INFO(weft.err());
    CHECK(has(weft.err(), "all_reduce ring_1d of 4096 B: firmware loops: for 2 s of host CPU time (twice --host-timeout), from "));
    CHECK(has(weft.err(), "no packet and no byte of a DMA or NIC has moved, and 8 of 8 ranks have not answered."));
    CHECK((has(weft.err(), "the core of rank 1 executes; its last access read DMA.HEAD(0) [pc 0x") ||
           has(weft.err(), "the core of rank 1 executes; its last access wrote DMA.TAIL(0) [pc 0x")));
    CHECK(has(weft.err(), "issues/rv64/loops.cpp:"));
    CHECK(has(weft.err(), "ring_the_doorbell"));
    CHECK(ranks_told(weft.err()) == 8);
}

TEST_CASE("rv64 firmware that polls with a long firmware_timeout is stopped by host time")
{
    if (!has_engine())
        return;
    started_program weft;
    weft.write("endless.yaml", k_endless); // firmware_timeout: 10 s
    CHECK(weft.run({"run", "endless.yaml", "--set", "mesh={rows: 2, cols: 4}", "--host-timeout", "1", "--out", "out"}) ==
          1);
    INFO(weft.err());
    CHECK(has(weft.err(), "firmware loops: for 2 s of host CPU time"));
    CHECK(has(weft.err(), "the core of rank 1 executes; its last access read DMA.HEAD(3)"));
    CHECK(has(weft.err(), "poll_for_ever"));
}

TEST_CASE("of several rv64 cores that loop without an access the first ends the run")
{
    if (!has_engine())
        return;
    started_program weft;
    weft.write("loops.yaml", k_loops);
    CHECK(weft.run({"run", "loops.yaml", "--set", "mesh={rows: 2, cols: 9}", "--host-timeout", "1", "--out", "out"}) == 1);
    INFO(weft.err());
    // Ranks 1 and 2 loop in turns: both are near the bound when the first one is stopped, and then the other may not run
    // on. After 19 ticks one of them has its 10, before the 20 of the run; of three, none need have.
    const std::string stopped = "the firmware has executed for ";
    const std::size_t first = weft.err().find(stopped);
    REQUIRE(first != std::string::npos);
    CHECK(weft.err().find(stopped, first + 1) == std::string::npos);
}

TEST_CASE("a console that is written for ever makes a log of bounded size that says where it is cut")
{
    if (!has_engine())
        return;
    started_program weft;
    weft.write("loops.yaml", k_loops);
    CHECK(weft.run({"run", "loops.yaml", "--set", "mesh={rows: 2, cols: 8}", "--host-timeout", "3", "--out", "out"}) == 1);
    INFO(weft.err());
    INFO(weft.out());
    CHECK(has(weft.err(), "print_for_ever"));
    CHECK(std::filesystem::file_size(weft / "out/firmware.log") < (65 << 20));
    const std::string log = text_of(weft / "out/firmware.log");
    const std::string end = log.substr(log.size() - 100);
    CHECK(has(end, "\ncut here, at 64 MiB: "));
    CHECK(has(end, " more lines were not written\n"));
    CHECK(has(weft.out(), "cut here, at 64 MiB: "));
}

TEST_CASE("firmware that loops after its answer is stopped and the answer kept")
{
    if (!has_engine())
        return;
    started_program weft;
    weft.write("loops.yaml", k_loops);
    CHECK(weft.run({"run", "loops.yaml", "--set", "mesh={rows: 2, cols: 7}", "--set", "workload.0.sizes=[4 KiB, 8 KiB]",
                    "--host-timeout", "1", "--out", "out"}) == 1);
    INFO(weft.err());
    CHECK(has(weft.err(), "firmware loops: for 2 s of host CPU time"));
    CHECK(has(weft.err(), "after a collective that every rank has answered, and the machine has not come to rest."));
    CHECK(has(weft.err(), "the core of rank 1 executes"));
    CHECK(has(weft.err(), "watch_the_clock"));
    CHECK(weft.results().at("results").size() == 1);
}

TEST_CASE("ranks that loop while they boot are named by host time and time_limit and interruption")
{
    if (!has_engine())
        return;
    const auto told = [](started_program& weft, const std::string& why) {
        INFO(weft.err());
        CHECK(has(weft.err(), why));
        CHECK(has(weft.err(), ", while ranks boot: 1 of 10 do not wait for a command yet."));
        CHECK(has(weft.err(), "the core of rank 1 executes"));
        CHECK(has(weft.err(), "watch_the_clock"));
        CHECK(has(weft.err(), "the cores of 9 ranks (0, 2 to 9): each waits for a command"));
        CHECK_FALSE(has(weft.err(), "between two collectives"));
    };
    {
        started_program weft;
        weft.write("loops.yaml", k_loops);
        CHECK(weft.run({"run", "loops.yaml", "--set", k_boot_loop, "--host-timeout", "1", "--out", "out"}) == 1);
        told(weft, "the run failed: firmware loops: for 2 s of host CPU time");
    }
    {
        started_program weft;
        weft.write("loops.yaml", k_loops);
        CHECK(weft.run({"run", "loops.yaml", "--set", k_boot_loop, "--set", "time_limit=2 us", "--out", "out"}) == 1);
        told(weft, "the run failed: time_limit = 2 us of simulated time is over");
    }
    {
        started_program weft;
        weft.write("loops.yaml", k_loops);
        weft.write("out/results.json", "{}\n");
        weft.start({"run", "loops.yaml", "--set", k_boot_loop, "--host-timeout", "0", "--out", "out"});
        weft.until([&] { return weft.exists("out/results.previous.json"); });
        weft.let_work(0.5);
        weft.signal(SIGTERM);
        CHECK(weft.finish() == 143);
        told(weft, "the run was interrupted by SIGTERM at ");
    }
}

TEST_CASE("ranks that loop without an access while they boot are told as ranks that boot")
{
    if (!has_engine())
        return;
    started_program weft;
    weft.write("loops.yaml", k_loops);
    CHECK(weft.run({"run", "loops.yaml", "--set", "mesh={rows: 2, cols: 11}", "--set", "firmware_timeout=100 us", "--set",
                    "chip.core.cpi=1", "--set", "chip.core.clock=1 GHz", "--out", "out"}) == 1);
    INFO(weft.err());
    CHECK(has(weft.err(), "the run failed: firmware loops: since "));
    CHECK(has(weft.err(), ", while ranks boot: 1 of 22 do not wait for a command yet."));
    CHECK(has(weft.err(), "the core of rank 1 executes"));
    CHECK(has(weft.err(), "spin"));
    CHECK_FALSE(has(weft.err(), "all_reduce"));
}

TEST_CASE("an endless loop can be interrupted although its bound is off")
{
    if (!has_engine())
        return;
    started_program weft;
    weft.write("endless.yaml", k_endless);
    weft.write("out/results.json", "{}\n");
    weft.start({"run", "endless.yaml", "--set", "mesh={rows: 2, cols: 2}", "--host-timeout", "0", "--out", "out"});
    weft.until([&] { return weft.exists("out/results.previous.json"); });
    weft.let_work(0.3);
    weft.signal(SIGINT);
    CHECK(weft.finish() == 130);
    INFO(weft.err());
    CHECK(has(weft.err(), "the core of rank 1 executes"));
    CHECK(has(weft.err(), "spin_quietly"));
}

TEST_CASE("time_limit tells every rank and the simulated time that has passed")
{
    started_program weft;
    weft.write("limit.yaml", "platform: tpu_v3\nname: limit\ndata: off\nmesh: {rows: 4, cols: 4}\ntime_limit: 20 us\n"
                             "workload: [{op: all_reduce, algorithms: [ring_1d], sizes: [4 MiB]}]\n");
    CHECK(weft.run({"run", "limit.yaml", "--out", "out"}) == 1);
    INFO(weft.err());
    CHECK(has(weft.err(), "time_limit = 20 us of simulated time is over, and 16 of 16 ranks have not answered."));
    const std::uint64_t end_ps = weft.results().at("simulated_time_ps");
    CHECK(end_ps >= 20'000'000);
    CHECK(end_ps < 20'100'000);
    CHECK(ranks_told(weft.err()) == 16);
    CHECK(has(weft.err(), "weft::firmware::"));
}
