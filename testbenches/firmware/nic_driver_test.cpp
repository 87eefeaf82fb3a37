// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver of the Ethernet NIC, access by access.
#include <catch2/catch.hpp>

#include "firmware/drivers/nic_driver.h"
#include "hw/abi/registers.h"
#include "testbenches/firmware/fake_hal.h"

using namespace weft;
using namespace weft::firmware;
using namespace weft::testing;
using abi::status_code;
namespace nic = abi::nic;

namespace {

constexpr std::uint64_t k_nic = abi::k_nic_base;
constexpr std::uint64_t k_area = abi::k_hbm_base + 0x10000;
constexpr std::uint32_t k_entries = 4;
// Queue 1 of 2.
constexpr std::uint64_t k_send_ring = k_area + k_entries * (128 + 2048);
constexpr std::uint64_t k_receive_ring = k_send_ring + k_entries * 128;

abi::switchml::table job()
{
    abi::switchml::table t;
    t.core = 1;
    t.cores = t.nic_queues = 2;
    t.nic_ring_entries = k_entries;
    t.nic_base = k_nic;
    t.nic_area = k_area;
    return t;
}

void check_status(const abi::status& s, status_code code, const std::string& where, std::uint64_t detail)
{
    CHECK(s.code == code);
    CHECK(std::string(s.where) == where);
    CHECK(s.detail == detail);
}

struct rig {
    fake_hal hal;
    nic_driver driver{hal};
    rig()
    {
        hal.expect_write64(k_nic + nic::TX_BASE(1), k_send_ring - abi::k_hbm_base);
        hal.expect_write32(k_nic + nic::TX_ENTRIES(1), k_entries);
        hal.expect_write64(k_nic + nic::RX_BASE(1), k_receive_ring - abi::k_hbm_base);
        hal.expect_write32(k_nic + nic::RX_ENTRIES(1), k_entries);
        hal.expect_write32(k_nic + nic::ACTIVE_QUEUES, 2);
        hal.expect_write32(k_nic + nic::CONTROL, 1);
        CHECK(driver.init(abi::platform_table{}, job()).ok());
        CHECK(hal.problems() == "");
    }
    void post(std::uint32_t slot)
    {
        hal.expect_copy_out(k_send_ring + slot * 128, 128);
        abi::nic_send_entry e;
        CHECK(driver.post(e, 1000).ok());
        std::uint32_t words[12];
        std::memcpy(words, hal.last_copied_out().data(), sizeof words);
        std::uint64_t check = 0;
        std::memcpy(&check, hal.last_copied_out().data() + sizeof words, sizeof check);
        CHECK(check == abi::check_word(words, 12));
    }
};

} // namespace

TEST_CASE("NIC: probe names what it refuses")
{
    fake_hal hal;
    nic_driver driver(hal);
    const auto expect = [&](std::uint32_t type, std::uint32_t version, std::uint32_t queues, std::uint32_t pairs) {
        hal.expect_read32(k_nic + nic::TYPE, type);
        if (type == nic::TYPE_reset)
            hal.expect_read32(k_nic + nic::VERSION, version);
        if (type == nic::TYPE_reset && version == 1) {
            hal.expect_read32(k_nic + nic::QUEUES, queues);
            hal.expect_read32(k_nic + nic::QUEUE_PAIRS, pairs);
        }
    };
    expect(nic::TYPE_reset, 1, 2, 8);
    CHECK(driver.probe(job(), 8).ok());
    expect(5, 1, 2, 8);
    check_status(driver.probe(job(), 8), status_code::wrong_device, "NIC.TYPE", 5);
    expect(nic::TYPE_reset, 2, 2, 8);
    check_status(driver.probe(job(), 8), status_code::wrong_version, "NIC.VERSION", 2);
    expect(nic::TYPE_reset, 1, 1, 8);
    check_status(driver.probe(job(), 8), status_code::unsupported, "NIC.QUEUES", 1);
    expect(nic::TYPE_reset, 1, 2, 7);
    check_status(driver.probe(job(), 8), status_code::unsupported, "NIC.QUEUE_PAIRS", 7);
    hal.expect_read32(k_nic + nic::TYPE, 0);
    hal.but_fails();
    check_status(driver.probe(job(), 8), status_code::bus_error, "NIC.TYPE", k_nic);
    CHECK(hal.problems() == "");
}

TEST_CASE("NIC: entries go into the ring and one doorbell tells of them all")
{
    rig r;
    r.post(0);
    r.post(1);
    r.hal.expect_write32(k_nic + nic::TX_TAIL(1), 2);
    CHECK(r.driver.doorbell().ok());
    CHECK(r.driver.doorbell().ok()); // nothing new, no access
    r.post(2);
    r.post(3);
    abi::nic_send_entry e;
    SECTION("a full ring is looked at, and waited for by the bit that flips")
    {
        r.hal.expect_write32(k_nic + nic::TX_TAIL(1), 4);
        r.hal.expect_read32(k_nic + nic::TX_HEAD(1), 0);
        r.hal.expect_poll(k_nic + nic::TX_HEAD(1), 4, 4, true);
        r.hal.expect_copy_out(k_send_ring, 128);
        CHECK(r.driver.post(e, 1000).ok());
        CHECK(r.hal.last_timeout_ns() == 1000);
    }
    SECTION("a full ring that has moved on is not waited for")
    {
        r.hal.expect_write32(k_nic + nic::TX_TAIL(1), 4);
        r.hal.expect_read32(k_nic + nic::TX_HEAD(1), 1);
        r.hal.expect_copy_out(k_send_ring, 128);
        CHECK(r.driver.post(e, 1000).ok());
    }
    SECTION("no way out of a full ring")
    {
        const bool error = GENERATE(false, true);
        r.hal.expect_write32(k_nic + nic::TX_TAIL(1), 4);
        r.hal.expect_read32(k_nic + nic::TX_HEAD(1), 0);
        r.hal.expect_poll(k_nic + nic::TX_HEAD(1), 4, 4, false);
        r.hal.expect_read32(k_nic + nic::ERROR, error ? 2 : 0);
        if (error) {
            r.hal.expect_read32(k_nic + nic::ERROR_QUEUE, 1);
            r.hal.expect_write32(k_nic + nic::ERROR, 2);
            check_status(r.driver.post(e, 1000), status_code::device_error, "NIC.ERROR", 2 | 1ull << 32);
        } else {
            check_status(r.driver.post(e, 1000), status_code::timeout, "NIC.TX_HEAD", 1);
        }
    }
    CHECK(r.hal.problems() == "");
}

TEST_CASE("NIC: an entry that did not reach the ring is never announced")
{
    rig r;
    abi::nic_send_entry e;
    r.hal.expect_copy_out(k_send_ring, 128);
    r.hal.but_fails();
    check_status(r.driver.post(e, 1000), status_code::bus_error, "NIC.TX_RING", k_send_ring);
    CHECK(r.driver.doorbell().ok());
    CHECK(r.hal.problems() == "");
}

TEST_CASE("NIC: completions are taken in bursts after one look")
{
    rig r;
    std::uint32_t news = 0;
    r.hal.expect_read32(k_nic + nic::RX_HEAD(1), 3);
    CHECK(r.driver.look(news).ok());
    CHECK(news == 3);
    abi::nic_completion c;
    for (std::uint32_t i = 0; i < 3; ++i) {
        abi::nic_completion sent;
        sent.immediate = 100 + i;
        r.hal.expect_copy_in(k_receive_ring + i * 2048, sent);
        CHECK(r.driver.look(news).ok()); // no access while some are left
        CHECK(news == 3 - i);
        r.driver.take(&c, sizeof c);
        CHECK(c.immediate == 100 + i);
    }
    r.hal.expect_write32(k_nic + nic::RX_TAIL(1), 3);
    CHECK(r.driver.release().ok());
    CHECK(r.driver.release().ok());
    r.hal.expect_read32(k_nic + nic::RX_HEAD(1), 8); // five more, of which the ring holds four
    check_status(r.driver.look(news), status_code::device_error, "NIC.RX_HEAD", 8);
    CHECK(r.hal.problems() == "");
}

TEST_CASE("NIC: waiting arms the next entry and ends by news or by time or by a line that lies")
{
    rig r;
    r.hal.expect_write32(k_nic + nic::RX_ARM(1), 1);
    SECTION("news")
    {
        r.hal.expect_wait_irq(abi::k_irq_nic, abi::k_irq_nic);
        r.hal.expect_read32(k_nic + nic::RX_HEAD(1), 1);
        CHECK(r.driver.wait(777).ok());
        CHECK(r.hal.last_timeout_ns() == 777);
    }
    SECTION("time")
    {
        r.hal.expect_wait_irq(abi::k_irq_nic, 0);
        CHECK(r.driver.wait(777).ok());
    }
    SECTION("nothing, again and again")
    {
        for (unsigned i = 0; i < 64; ++i) {
            if (i != 0)
                r.hal.expect_write32(k_nic + nic::RX_ARM(1), 1);
            r.hal.expect_wait_irq(abi::k_irq_nic, abi::k_irq_nic);
            r.hal.expect_read32(k_nic + nic::RX_HEAD(1), 0);
            r.hal.expect_read32(k_nic + nic::IRQ_PENDING, 2);
            const abi::status s = r.driver.wait(777);
            if (i < 63)
                CHECK(s.ok());
            else
                check_status(s, status_code::device_error, "NIC.IRQ_PENDING", 2);
        }
    }
    CHECK(r.hal.problems() == "");
}

TEST_CASE("NIC: an error of another core's queue is that core's")
{
    rig r;
    r.hal.expect_read32(k_nic + nic::ERROR, 1);
    r.hal.expect_read32(k_nic + nic::ERROR_QUEUE, 0);
    CHECK(r.driver.take_error().ok());
    CHECK(r.hal.problems() == "");
}
