// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What is said of a run that hangs names the cause: worker and core, error bits, places in the source.
#include "hw/abi/registers.h"
#include "hw/core/address_text.h"
#include "hw/core/iss.h"
#include "platforms/debug/code_places.h"
#include "testbenches/hw/tofino_bench.h"
#include "testbenches/issues/started_program.h"
#include "testbenches/support/child.h"
#include "testbenches/support/small_machines.h"

using namespace weft;
using namespace weft::testing;

namespace {

udp_message packet_of(bool version)
{
    udp_message u;
    u.words = ramp(256, 1);
    u.version = version;
    return u;
}

/// Answers every command with an error word, as a driver does.
void reports_a_dma_error(abi::hal& hal, std::uint64_t)
{
    hal.wait_irq(abi::k_irq_mailbox, ~std::uint64_t{0});
    abi::response r;
    r.sequence = hal.read32(abi::k_mailbox_base + abi::mailbox::COMMAND_SEQUENCE);
    hal.write32(abi::k_mailbox_base + abi::mailbox::COMMAND_ACK, r.sequence);
    r.code = abi::status_code::device_error;
    r.detail = 0x6 | std::uint64_t{3} << 32;
    const char where[] = "DMA.ERROR";
    std::copy(std::begin(where), std::end(where), r.where);
    hal.copy_out(abi::k_response_address, &r, sizeof r);
    hal.write32(abi::k_mailbox_base + abi::mailbox::DONE, r.sequence);
}

/// Waits longer than the host looks on, by a timer of its own, and answers.
void answers_late(abi::hal& hal, std::uint64_t)
{
    hal.wait_irq(abi::k_irq_mailbox, ~std::uint64_t{0});
    abi::response r;
    r.sequence = hal.read32(abi::k_mailbox_base + abi::mailbox::COMMAND_SEQUENCE);
    hal.write32(abi::k_mailbox_base + abi::mailbox::COMMAND_ACK, r.sequence);
    hal.wait_irq(0, 300'000);
    hal.copy_out(abi::k_response_address, &r, sizeof r);
    hal.write32(abi::k_mailbox_base + abi::mailbox::DONE, r.sequence);
}

/// Announces an answer that it has never written.
void rings_done_alone(abi::hal& hal, std::uint64_t)
{
    hal.wait_irq(abi::k_irq_mailbox, ~std::uint64_t{0});
    const std::uint32_t sequence = hal.read32(abi::k_mailbox_base + abi::mailbox::COMMAND_SEQUENCE);
    hal.write32(abi::k_mailbox_base + abi::mailbox::COMMAND_ACK, sequence);
    hal.write32(abi::k_mailbox_base + abi::mailbox::DONE, sequence);
}

run_outcome outcome_with(firmware_entry entry)
{
    tpu_v3_config config = weft::test::pod(1, 2);
    config.run.data = data_mode::off;
    config.run.workload = {weft::test::spec(abi::collective_op::all_reduce, {abi::algorithm::ring_1d}, {4096})};
    tpu_v3 machine(config, tpu_v3_routing(config), [&](std::uint32_t) {
        core_fitting fitting;
        fitting.entry = entry;
        return fitting;
    });
    collective_runner runner("host", machine, config.run, nullptr);
    return runner.run();
}

/// What the program says of a run that fails.
std::string errors_of_run(const std::string& text)
{
    started_program weft;
    weft.write("a.yaml", text);
    CHECK(weft.run({"run", "a.yaml", "--out", "out"}) == 1);
    return weft.err();
}

} // namespace

TEST_CASE("a slot that has heard everybody and still waits says that a late packet was counted")
{
    tofino_config c;
    c.ports = 4;
    tofino_world w(c); // without the stale filter
    w.chip.add_job(w.job(3));
    w.send(1, 0, packet_of(false));
    w.send(2, 1, packet_of(false));
    w.send(3, 0, packet_of(true)); // of the use before, late: takes worker 0 out of set 0
    w.send(4, 0, packet_of(false));
    w.send(20, 2, packet_of(false));
    sc_core::sc_start();
    const std::string text = w.chip.blocked_on();
    INFO(text);
    CHECK_FALSE(has(text, "worker  of"));
    CHECK(has(text, "set 0 has heard all 3 workers, but counts 2 as missing: it has taken a late packet for a new one, which "
                    "stale_filter, now off, prevents"));
}

TEST_CASE("error words are decoded from the register table")
{
    CHECK(bits_text("DMA.ERROR", 0x6) == "memory error, bad doorbell");
    CHECK(bits_text("NIC.ERROR", 0x1) == "bad send entry");
    CHECK(bits_text("DMA.ERROR", 0x10) == "bit 4"); // the table does not know it
    CHECK(bits_text("DMA.HEAD", 0x6).empty());
    const child_output out = run_child([&] {
        tpu_v3_config config = weft::test::pod(1, 2);
        config.run.workload = {
            weft::test::spec(abi::collective_op::all_reduce, {abi::algorithm::ring_1d}, {4096})};
        tpu_v3 machine(config, tpu_v3_routing(config), [&](std::uint32_t) {
            core_fitting fitting;
            fitting.entry = reports_a_dma_error;
            return fitting;
        });
        collective_runner runner("host", machine, config.run, nullptr);
        return runner.run().failure;
    });
    INFO(out.bytes << out.thrown);
    CHECK(has(out.bytes, "rank 1, chip(0,1): the device reports an error in DMA.ERROR (memory error, bad doorbell, queue 3; "
                         "0x300000006)"));
}

TEST_CASE("firmware that waits by a timer of its own is not dead")
{
    const child_output out = run_child([] {
        const run_outcome o = outcome_with(answers_late);
        return o.failure + "|" + (o.warnings.empty() ? "" : o.warnings.front()) + "|" + std::to_string(o.cases.size());
    });
    INFO(out.bytes << out.thrown);
    CHECK(has(out.bytes, "nothing moved any more, until a wait of the firmware ran out"));
    CHECK(out.bytes.front() == '|');
    CHECK(out.bytes.back() == '1');
}

TEST_CASE("a rank that rings DONE without an answer is told as that")
{
    const child_output out = run_child([] { return outcome_with(rings_done_alone).failure; });
    INFO(out.bytes << out.thrown);
    CHECK(has(out.bytes, "rank 0, chip(0,0): rang DONE, but its answer is not in memory"));
}

TEST_CASE("messages that never arrive in order are named when RDMA gives up")
{
    const std::string errors =
        errors_of_run("platform: switchml\nname: rdma\nworkers: 2\nfirmware_timeout: 3 ms\ndata: off\n"
                      "job: {transport: rdma, slots: 64}\n"
                      "network: {cable: {impairments: {reordering: 0.5, reorder_delay: 50 us}}}\n"
                      "workload: [{op: all_reduce, algorithms: [switchml], sizes: [256 KiB]}]\n");
    INFO(errors);
    CHECK(has(errors, "of job 0 do not arrive whole and in order: "));
}

TEST_CASE("a worker of several cores is named with the core")
{
    const std::string errors = errors_of_run("platform: switchml\nname: gone\nworkers: 3\nfirmware_timeout: 3 ms\n"
                                             "network: {rate: 10 Gbps}\njob: {slots: 16}\nworker: {cores: 2}\n"
                                             "faults: {outages: [{worker: 1, from: 10 us}]}\n"
                                             "workload: [{op: all_reduce, algorithms: [switchml], sizes: [64 KiB]}]\n");
    INFO(errors);
    CHECK(has(errors, "rank 0, worker 0, core "));
    CHECK(has(errors, "job 0 waits for worker 1: it alone is missing in "));
    CHECK(has(errors, "its cable is down since 10 us (faults.outages)"));
}

TEST_CASE("errors of rv64 firmware have pc and function and line")
{
    if (*iss_engine_name() == '\0')
        return;
    started_program weft;
    weft.write("small.yaml", "platform: tpu_v3\nname: small\nmesh: {rows: 1, cols: 2}\n"
                             "workload: [{op: broadcast, algorithms: [mesh_tree], sizes: [4 B]}]\n");
    const auto run = [&](const std::string& elf) {
        return weft.run({"run", "small.yaml", "--out", "out", "--set", "chip.core.model=rv64", "--set",
                         "chip.core.elf=" WEFT_RV64_PROGRAMS "/" + elf});
    };
    CHECK(run("test_endings.elf") == 1);
    INFO(weft.err());
    CHECK(has(weft.err(), "stack overflow: the firmware writes 0xffff8 with sp 0xfffc0, below program memory, which begins "
                          "at 0x100000, at pc 0x10a"));
    CHECK(has(weft.err(), "endings.S:"));
    CHECK(run("test_hal_probe.elf") == 1);
    const std::string log = text_of(weft / "out/firmware.log");
    INFO(log);
    const std::size_t error = log.find("bus error on a write at pc 0x1");
    REQUIRE(error != std::string::npos);
    const std::string line = log.substr(error, log.find('\n', error) - error);
    CHECK(has(line, "hal_probe.cpp:"));
    CHECK(has(line, "weft_firmware_main"));
}
