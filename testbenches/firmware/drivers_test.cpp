// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The drivers on the strict fake: which accesses they make, and every way in which they fail.
#include <catch2/catch.hpp>

#include "firmware/drivers/dma_driver.h"
#include "firmware/drivers/mailbox_driver.h"
#include "firmware/main.h"
#include "hw/abi/registers.h"
#include "hw/abi/switchml.h"
#include "testbenches/firmware/fake_hal.h"

using namespace weft;
using namespace weft::firmware;
using abi::status_code;
using weft::testing::fake_hal;

namespace {

constexpr std::uint64_t k_dma = abi::k_dma_base;
constexpr std::uint64_t k_mbox = abi::k_mailbox_base;
constexpr std::uint32_t k_entries = 4;
constexpr std::uint64_t k_area = 0x10000;

abi::platform_table table_2x2()
{
    abi::platform_table t;
    t.ranks = 4;
    t.rank = 1;
    t.dim_count = 2;
    t.dims[0] = t.dims[1] = 2;
    t.coord[1] = 1;
    t.dma_queues = 2;
    t.dma_ports = 1;
    t.dma_ring_entries = k_entries;
    t.hbm_bytes = 1 << 20;
    t.dma_ring_area = t.hbm_base + k_area;
    t.check = abi::check_word(reinterpret_cast<const std::uint32_t*>(&t),
                              offsetof(abi::platform_table, check) / sizeof(std::uint32_t));
    return t;
}

void expect_probe(fake_hal& hal)
{
    hal.expect_read32(k_dma + abi::dma::TYPE, abi::dma::TYPE_reset);
    hal.expect_read32(k_dma + abi::dma::VERSION, 1);
    hal.expect_read32(k_dma + abi::dma::QUEUES, 8);
    hal.expect_read32(k_dma + abi::dma::SEMAPHORES, 64);
}

void expect_init(fake_hal& hal)
{
    for (std::uint32_t q = 0; q < 2; ++q) {
        hal.expect_write64(k_dma + abi::dma::RING_BASE(q), k_area + q * k_entries * 64);
        hal.expect_write32(k_dma + abi::dma::RING_ENTRIES(q), k_entries);
    }
    hal.expect_write32(k_dma + abi::dma::IRQ_ENABLE, 3);
    hal.expect_write32(k_dma + abi::dma::CONTROL, 1);
}

/// A started driver with 2 queues of 4 entries.
struct started {
    fake_hal hal;
    dma_driver dma{hal};
    started()
    {
        const abi::platform_table t = table_2x2();
        expect_probe(hal);
        expect_init(hal);
        REQUIRE(dma.probe(t, 57).ok());
        REQUIRE(dma.init(t).ok());
        REQUIRE(hal.problems() == "");
    }
    void expect_descriptor(std::uint32_t queue, std::uint32_t slot)
    {
        hal.expect_copy_out(abi::k_hbm_base + k_area + (queue * k_entries + slot) * 64, 64);
    }
    void fill(std::uint32_t queue)
    {
        for (std::uint32_t i = 0; i < k_entries; ++i) {
            abi::dma_descriptor d;
            expect_descriptor(queue, i);
            hal.expect_write32(k_dma + abi::dma::TAIL(queue), i + 1);
            REQUIRE(dma.post(queue, d, 100).ok());
        }
        REQUIRE(hal.problems() == "");
    }
};

void check_status(const abi::status& s, status_code code, const char* where, std::uint64_t detail)
{
    CHECK(s.code == code);
    CHECK(std::string(s.where) == where);
    CHECK(s.detail == detail);
}

} // namespace

TEST_CASE("dma probe tells what it found")
{
    const abi::platform_table t = table_2x2();
    fake_hal hal;
    dma_driver dma(hal);
    SECTION("another device")
    {
        hal.expect_read32(k_dma + abi::dma::TYPE, 0x12345678);
        check_status(dma.probe(t, 57), status_code::wrong_device, "DMA.TYPE", 0x12345678);
    }
    SECTION("another version")
    {
        hal.expect_read32(k_dma + abi::dma::TYPE, abi::dma::TYPE_reset);
        hal.expect_read32(k_dma + abi::dma::VERSION, 2);
        check_status(dma.probe(t, 57), status_code::wrong_version, "DMA.VERSION", 2);
    }
    SECTION("too few queues")
    {
        hal.expect_read32(k_dma + abi::dma::TYPE, abi::dma::TYPE_reset);
        hal.expect_read32(k_dma + abi::dma::VERSION, 1);
        hal.expect_read32(k_dma + abi::dma::QUEUES, 1);
        hal.expect_read32(k_dma + abi::dma::SEMAPHORES, 64);
        check_status(dma.probe(t, 57), status_code::unsupported, "DMA.QUEUES", 1);
    }
    SECTION("too few semaphores")
    {
        hal.expect_read32(k_dma + abi::dma::TYPE, abi::dma::TYPE_reset);
        hal.expect_read32(k_dma + abi::dma::VERSION, 1);
        hal.expect_read32(k_dma + abi::dma::QUEUES, 2);
        hal.expect_read32(k_dma + abi::dma::SEMAPHORES, 32);
        check_status(dma.probe(t, 57), status_code::unsupported, "DMA.SEMAPHORES", 32);
    }
    SECTION("no device at all")
    {
        hal.expect_read32(k_dma + abi::dma::TYPE, 0);
        hal.but_fails();
        check_status(dma.probe(t, 57), status_code::bus_error, "DMA.TYPE", k_dma + abi::dma::TYPE);
    }
    CHECK(hal.problems() == "");
}

TEST_CASE("dma init reports a bus error")
{
    const abi::platform_table t = table_2x2();
    fake_hal hal;
    dma_driver dma(hal);
    hal.expect_write64(k_dma + abi::dma::RING_BASE(0), k_area);
    hal.but_fails();
    hal.expect_write32(k_dma + abi::dma::RING_ENTRIES(0), k_entries);
    hal.expect_write64(k_dma + abi::dma::RING_BASE(1), k_area + k_entries * 64);
    hal.expect_write32(k_dma + abi::dma::RING_ENTRIES(1), k_entries);
    hal.expect_write32(k_dma + abi::dma::IRQ_ENABLE, 3);
    hal.expect_write32(k_dma + abi::dma::CONTROL, 1);
    check_status(dma.init(t), status_code::bus_error, "DMA.CONTROL", k_dma + abi::dma::RING_BASE(0));
    CHECK(hal.problems() == "");
}

TEST_CASE("a posted descriptor carries its check word")
{
    started s;
    abi::dma_descriptor d;
    d.source_offset = 0x1234;
    d.bytes = 64;
    d.destination_rank = 3;
    s.expect_descriptor(1, 0);
    s.hal.expect_write32(k_dma + abi::dma::TAIL(1), 1);
    CHECK(s.dma.post(1, d, 100).ok());
    CHECK(s.hal.problems() == "");
    abi::dma_descriptor seen;
    REQUIRE(s.hal.last_copied_out().size() == sizeof seen);
    std::memcpy(&seen, s.hal.last_copied_out().data(), sizeof seen);
    std::uint32_t words[14];
    std::memcpy(words, &seen, sizeof words);
    CHECK(seen.check == abi::check_word(words, 14));
    CHECK(seen.source_offset == 0x1234);
}

TEST_CASE("several descriptors share one doorbell")
{
    started s;
    abi::dma_descriptor d;
    s.expect_descriptor(0, 0);
    s.expect_descriptor(0, 1);
    s.hal.expect_write32(k_dma + abi::dma::TAIL(0), 2);
    CHECK(s.dma.enqueue(0, d, 100).ok());
    CHECK(s.dma.enqueue(0, d, 100).ok());
    s.dma.doorbell(0);
    s.dma.doorbell(0); // nothing new: no access
    CHECK(s.hal.problems() == "");
}

TEST_CASE("a descriptor that does not reach the ring is not announced")
{
    started s;
    abi::dma_descriptor d;
    s.expect_descriptor(0, 0);
    s.hal.but_fails();
    check_status(s.dma.post(0, d, 100), status_code::bus_error, "DMA.RING", abi::k_hbm_base + k_area);
    s.dma.doorbell(0);
    CHECK(s.hal.problems() == "");
}

TEST_CASE("a full ring")
{
    started s;
    s.fill(0);
    abi::dma_descriptor d;
    SECTION("has room after all when HEAD is read")
    {
        s.hal.expect_read32(k_dma + abi::dma::HEAD(0), 1);
        s.expect_descriptor(0, 0);
        CHECK(s.dma.enqueue(0, d, 100).ok());
    }
    SECTION("is waited for: HEAD crosses a multiple of the ring size")
    {
        s.hal.expect_read32(k_dma + abi::dma::HEAD(0), 0);
        s.hal.expect_poll(k_dma + abi::dma::HEAD(0), 4, 4, true);
        s.expect_descriptor(0, 0);
        CHECK(s.dma.enqueue(0, d, 100).ok());
        CHECK(s.hal.last_timeout_ns() == 100);
    }
    SECTION("stays full")
    {
        s.hal.expect_read32(k_dma + abi::dma::HEAD(0), 0);
        s.hal.expect_poll(k_dma + abi::dma::HEAD(0), 4, 4, false);
        s.hal.expect_read32(k_dma + abi::dma::ERROR, 0);
        check_status(s.dma.enqueue(0, d, 100), status_code::timeout, "DMA.HEAD", 0);
    }
    SECTION("stays full because the queue stopped")
    {
        s.hal.expect_read32(k_dma + abi::dma::HEAD(0), 0);
        s.hal.expect_poll(k_dma + abi::dma::HEAD(0), 4, 4, false);
        s.hal.expect_read32(k_dma + abi::dma::ERROR, 2);
        s.hal.expect_read32(k_dma + abi::dma::ERROR_QUEUE, 0);
        s.hal.expect_write32(k_dma + abi::dma::ERROR, 2);
        check_status(s.dma.enqueue(0, d, 100), status_code::device_error, "DMA.ERROR", 2);
    }
    SECTION("a bus error is not taken for room")
    {
        s.hal.expect_read32(k_dma + abi::dma::HEAD(0), 0);
        s.hal.but_fails();
        check_status(s.dma.enqueue(0, d, 100), status_code::bus_error, "DMA.HEAD", k_dma + abi::dma::HEAD(0));
    }
    CHECK(s.hal.problems() == "");
}

TEST_CASE("waiting for a semaphore")
{
    started s;
    std::uint64_t fired = 0;
    s.hal.expect_write32(k_dma + abi::dma::SEM_THRESHOLD(5), 7);
    s.dma.arm(5, 7);
    s.dma.arm(5, 7); // armed already
    s.dma.arm(5, 9); // a later count changes nothing
    const std::uint64_t pending = k_dma + abi::dma::SEM_PENDING;
    SECTION("it fires")
    {
        s.hal.expect_wait_irq(abi::k_irq_dma, abi::k_irq_dma);
        s.hal.expect_read64(pending, 1ull << 5);
        CHECK(s.dma.wait(1000, fired).ok());
        CHECK(fired == 1ull << 5);
        CHECK(s.hal.last_timeout_ns() == 1000);
        s.hal.expect_write32(k_dma + abi::dma::SEM_THRESHOLD(5), 8); // disarmed: the next one is written
        s.dma.arm(5, 8);
    }
    SECTION("it is armed for an earlier count instead")
    {
        s.hal.expect_write32(k_dma + abi::dma::SEM_THRESHOLD(5), 3);
        s.dma.arm(5, 3);
    }
    SECTION("bits nobody armed are ignored")
    {
        s.hal.expect_wait_irq(abi::k_irq_dma, abi::k_irq_dma);
        s.hal.expect_read64(pending, 1ull << 9);
        s.hal.expect_read32(k_dma + abi::dma::ERROR, 0);
        s.hal.expect_wait_irq(abi::k_irq_dma, abi::k_irq_dma);
        s.hal.expect_read64(pending, 1ull << 5 | 1ull << 10);
        CHECK(s.dma.wait(1000, fired).ok());
        CHECK(fired == 1ull << 5);
    }
    SECTION("nothing comes")
    {
        s.hal.expect_wait_irq(abi::k_irq_dma, 0);
        s.hal.expect_read32(k_dma + abi::dma::ERROR, 0);
        check_status(s.dma.wait(1000, fired), status_code::timeout, "DMA.SEM_PENDING", 1ull << 5);
    }
    SECTION("spurious interrupts do not prolong the timeout for ever")
    {
        s.hal.expect_wait_irq(abi::k_irq_dma, abi::k_irq_dma);
        s.hal.expect_read64(pending, 0);
        s.hal.expect_read32(k_dma + abi::dma::ERROR, 0);
        s.hal.expect_wait_irq(abi::k_irq_dma, abi::k_irq_dma); // takes 10 ns on the fake
        s.hal.expect_read64(pending, 0);
        s.hal.expect_read32(k_dma + abi::dma::ERROR, 0);
        s.hal.expect_wait_irq(abi::k_irq_dma, 0);
        s.hal.expect_read32(k_dma + abi::dma::ERROR, 0);
        check_status(s.dma.wait(1000, fired), status_code::timeout, "DMA.SEM_PENDING", 1ull << 5);
        CHECK(s.hal.last_timeout_ns() == 990);
    }
    SECTION("an interrupt without a cause that stays up")
    {
        for (unsigned i = 0; i < 64; ++i) {
            s.hal.expect_wait_irq(abi::k_irq_dma, abi::k_irq_dma);
            s.hal.expect_read64(pending, 0);
            s.hal.expect_read32(k_dma + abi::dma::ERROR, 0);
        }
        s.hal.expect_read32(k_dma + abi::dma::IRQ_STATUS, 1);
        check_status(s.dma.wait(100000, fired), status_code::device_error, "DMA.IRQ_STATUS", 1);
    }
    SECTION("the device raises an error")
    {
        s.hal.expect_wait_irq(abi::k_irq_dma, abi::k_irq_dma);
        s.hal.expect_read64(pending, 0);
        s.hal.expect_read32(k_dma + abi::dma::ERROR, 1);
        s.hal.expect_read32(k_dma + abi::dma::ERROR_QUEUE, 1);
        s.hal.expect_write32(k_dma + abi::dma::ERROR, 1);
        check_status(s.dma.wait(1000, fired), status_code::device_error, "DMA.ERROR", 1 | 1ull << 32);
    }
    SECTION("bus error")
    {
        s.hal.expect_wait_irq(abi::k_irq_dma, abi::k_irq_dma);
        s.hal.expect_read64(pending, 0);
        s.hal.but_fails();
        check_status(s.dma.wait(1000, fired), status_code::bus_error, "DMA.SEM_PENDING", pending);
    }
    CHECK(s.hal.problems() == "");
}

TEST_CASE("drain waits for the queues that were used")
{
    started s;
    abi::dma_descriptor d;
    s.expect_descriptor(1, 0);
    CHECK(s.dma.enqueue(1, d, 100).ok());
    s.hal.expect_write32(k_dma + abi::dma::TAIL(1), 1); // drain rings the bell that is missing
    SECTION("done")
    {
        s.hal.expect_poll(k_dma + abi::dma::HEAD(1), 0xffffffff, 1, true);
        CHECK(s.dma.drain(500).ok());
        CHECK(s.dma.drain(500).ok()); // nothing left to wait for
        CHECK(s.hal.last_timeout_ns() == 500);
    }
    SECTION("stuck")
    {
        s.hal.expect_poll(k_dma + abi::dma::HEAD(1), 0xffffffff, 1, false);
        s.hal.expect_read32(k_dma + abi::dma::ERROR, 0);
        check_status(s.dma.drain(500), status_code::timeout, "DMA.HEAD", 1);
    }
    CHECK(s.hal.problems() == "");
}

TEST_CASE("mailbox probe tells what it found")
{
    fake_hal hal;
    mailbox_driver mailbox(hal);
    SECTION("another device")
    {
        hal.expect_read32(k_mbox + abi::mailbox::TYPE, 1);
        check_status(mailbox.probe(table_2x2()), status_code::wrong_device, "MAILBOX.TYPE", 1);
    }
    SECTION("another version")
    {
        hal.expect_read32(k_mbox + abi::mailbox::TYPE, abi::mailbox::TYPE_reset);
        hal.expect_read32(k_mbox + abi::mailbox::VERSION, 3);
        check_status(mailbox.probe(table_2x2()), status_code::wrong_version, "MAILBOX.VERSION", 3);
    }
    CHECK(hal.problems() == "");
}

TEST_CASE("taking a command")
{
    fake_hal hal;
    mailbox_driver mailbox(hal);
    abi::command stored;
    stored.sequence = 1;
    stored.count = 99;
    abi::command got;
    SECTION("after any number of timeouts")
    {
        hal.expect_wait_irq(abi::k_irq_mailbox, 0);
        hal.times(1000);
        hal.expect_wait_irq(abi::k_irq_mailbox, abi::k_irq_mailbox);
        hal.expect_read32(k_mbox + abi::mailbox::COMMAND_SEQUENCE, 1);
        hal.expect_copy_in(abi::k_command_address, stored);
        hal.expect_write32(k_mbox + abi::mailbox::COMMAND_ACK, 1);
        CHECK(mailbox.take(got).ok());
        CHECK(got.count == 99);
        CHECK(mailbox.next_sequence() == 2);
    }
    SECTION("that is another one than announced")
    {
        hal.expect_wait_irq(abi::k_irq_mailbox, abi::k_irq_mailbox);
        hal.expect_read32(k_mbox + abi::mailbox::COMMAND_SEQUENCE, 2);
        hal.expect_copy_in(abi::k_command_address, stored);
        hal.expect_write32(k_mbox + abi::mailbox::COMMAND_ACK, 2);
        check_status(mailbox.take(got), status_code::corrupted, "command.sequence", 1);
        CHECK(got.sequence == 2);
    }
    const auto expect_storm = [&](unsigned looks) {
        for (unsigned i = 0; i < looks; ++i) {
            hal.expect_wait_irq(abi::k_irq_mailbox, abi::k_irq_mailbox);
            hal.expect_read32(k_mbox + abi::mailbox::COMMAND_SEQUENCE, 0);
        }
    };
    SECTION("that comes late, while the interrupt line stays up")
    {
        expect_storm(64);
        for (unsigned i = 0; i < 100; ++i) { // nothing to answer: it looks again, once a microsecond
            hal.expect_copy_in(abi::k_command_address, std::uint32_t{0});
            hal.expect_wait_irq(0, 0);
            expect_storm(1);
        }
        hal.expect_copy_in(abi::k_command_address, std::uint32_t{1}); // stored, not announced yet
        hal.expect_wait_irq(0, 0);
        hal.expect_wait_irq(abi::k_irq_mailbox, abi::k_irq_mailbox);
        hal.expect_read32(k_mbox + abi::mailbox::COMMAND_SEQUENCE, 1);
        hal.expect_copy_in(abi::k_command_address, stored);
        hal.expect_write32(k_mbox + abi::mailbox::COMMAND_ACK, 1);
        CHECK(mailbox.take(got).ok());
        CHECK(got.count == 99);
    }
    SECTION("that the register never announces although the interrupt does")
    {
        expect_storm(64);
        hal.expect_copy_in(abi::k_command_address, std::uint32_t{1});
        hal.expect_wait_irq(0, 0);
        expect_storm(1);
        hal.expect_copy_in(abi::k_command_address, std::uint32_t{1});
        check_status(mailbox.take(got), status_code::device_error, "MAILBOX.COMMAND_SEQUENCE", 0);
        CHECK(got.sequence == 1);
    }
    SECTION("whose number cannot be read from the register")
    {
        hal.expect_wait_irq(abi::k_irq_mailbox, abi::k_irq_mailbox);
        hal.expect_read32(k_mbox + abi::mailbox::COMMAND_SEQUENCE, 0);
        hal.but_fails();
        for (int looks = 0; looks < 2; ++looks) {
            hal.expect_wait_irq(abi::k_irq_mailbox, abi::k_irq_mailbox);
            hal.expect_copy_in(abi::k_command_address, std::uint32_t{1});
            if (looks == 0)
                hal.expect_wait_irq(0, 0);
        }
        check_status(mailbox.take(got), status_code::bus_error, "MAILBOX.COMMAND_SEQUENCE",
                     k_mbox + abi::mailbox::COMMAND_SEQUENCE);
        CHECK(got.sequence == 1);
    }
    CHECK(hal.problems() == "");
}

TEST_CASE("answering writes the response before DONE")
{
    fake_hal hal;
    mailbox_driver mailbox(hal);
    abi::response r;
    r.sequence = 4;
    hal.expect_copy_out(abi::k_response_address, sizeof r);
    hal.expect_write32(k_mbox + abi::mailbox::DONE, 4);
    CHECK(mailbox.answer(r).ok());
    CHECK(hal.problems() == "");
}

TEST_CASE("start up failures reach the host as the answer to command 1")
{
    fake_hal hal;
    abi::platform_table t = table_2x2();
    abi::response seen;
    const auto run = [&] {
        collective_main(hal, 1);
        CHECK(hal.problems() == "");
        REQUIRE(hal.last_copied_out().size() == sizeof seen);
        std::memcpy(&seen, hal.last_copied_out().data(), sizeof seen);
        CHECK(seen.sequence == 1);
    };
    const auto expect_table_and_mailbox = [&] {
        hal.expect_copy_in(abi::k_platform_table_address, t);
        hal.expect_read32(k_mbox + abi::mailbox::TYPE, abi::mailbox::TYPE_reset);
        hal.expect_read32(k_mbox + abi::mailbox::VERSION, 1);
    };
    const auto expect_answer = [&] { // not before there is something to answer
        const std::uint32_t stored[] = {0, 1, 1};
        for (int look = 0; look < 3; ++look) {
            hal.expect_wait_irq(abi::k_irq_mailbox, abi::k_irq_mailbox);
            hal.expect_copy_in(abi::k_command_address, stored[look]);
            if (look != 2)
                hal.expect_wait_irq(0, 0);
        }
        hal.expect_copy_out(abi::k_response_address, sizeof seen);
        hal.expect_write32(k_mbox + abi::mailbox::DONE, 1);
    };
    SECTION("wrong version of the dma")
    {
        expect_table_and_mailbox();
        hal.expect_copy_in(abi::switchml::k_table_address, abi::switchml::table{0});
        hal.expect_read32(k_dma + abi::dma::TYPE, abi::dma::TYPE_reset);
        hal.expect_read32(k_dma + abi::dma::VERSION, 2);
        expect_answer();
        run();
        CHECK(seen.code == status_code::wrong_version);
        CHECK(std::string(seen.where) == "DMA.VERSION");
        CHECK(seen.detail == 2);
    }
    SECTION("wrong magic")
    {
        t.magic = 7;
        expect_table_and_mailbox();
        expect_answer();
        run();
        CHECK(seen.code == status_code::corrupted);
        CHECK(std::string(seen.where) == "table.magic");
    }
    SECTION("wrong mailbox: its registers are left alone")
    {
        hal.expect_copy_in(abi::k_platform_table_address, t);
        hal.expect_read32(k_mbox + abi::mailbox::TYPE, 5);
        hal.expect_copy_out(abi::k_response_address, sizeof seen);
        run();
        CHECK(seen.code == status_code::wrong_device);
    }
    SECTION("a table whose fields contradict each other")
    {
        t.ranks = 5;
        t.check = abi::check_word(reinterpret_cast<const std::uint32_t*>(&t),
                                  offsetof(abi::platform_table, check) / sizeof(std::uint32_t));
        expect_table_and_mailbox();
        expect_answer();
        run();
        CHECK(std::string(seen.where) == "table.ranks");
    }
}

TEST_CASE("a command of no elements makes no fabric access")
{
    fake_hal hal;
    hal.expect_copy_in(abi::k_platform_table_address, table_2x2());
    hal.expect_read32(k_mbox + abi::mailbox::TYPE, abi::mailbox::TYPE_reset);
    hal.expect_read32(k_mbox + abi::mailbox::VERSION, 1);
    hal.expect_copy_in(abi::switchml::k_table_address, abi::switchml::table{0});
    expect_probe(hal);
    expect_init(hal);
    abi::command c;
    c.sequence = 1;
    c.chunk_bytes = 64;
    c.timeout_ns = 1000;
    hal.expect_wait_irq(abi::k_irq_mailbox, abi::k_irq_mailbox);
    hal.expect_read32(k_mbox + abi::mailbox::COMMAND_SEQUENCE, 1);
    hal.expect_copy_in(abi::k_command_address, c);
    hal.expect_write32(k_mbox + abi::mailbox::COMMAND_ACK, 1);
    hal.expect_copy_out(abi::k_response_address, sizeof(abi::response));
    hal.expect_write32(k_mbox + abi::mailbox::DONE, 1);
    collective_main(hal, 1);
    CHECK(hal.problems() == "");
}
