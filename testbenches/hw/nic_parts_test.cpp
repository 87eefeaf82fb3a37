// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Parts of the NIC alone: queue pairs, the receive buffer, interrupt lines.
#include "hw/abi/nic.h"
#include "hw/ethernet/nic_interrupts.h"
#include "hw/ethernet/nic_queue_pair.h"
#include "hw/ethernet/receive_buffer.h"

#include <catch2/catch.hpp>

using namespace weft;
namespace sml = abi::switchml;

namespace {

constexpr nic_conversion k_as_is{};
constexpr nic_conversion k_quantised{abi::nic_format::quantised, 4, 2.0f};

sml::reth to(std::uint64_t address, std::uint32_t length)
{
    sml::reth r;
    r.address = address;
    r.length = length;
    return r;
}

} // namespace

TEST_CASE("nic_queue_pair: sequence numbers have 24 bits")
{
    nic_queue_pair pair;
    pair.set_send_psn(0xff'ffff);
    CHECK(pair.take_send_psn() == 0xff'ffff);
    CHECK(pair.take_send_psn() == 0);
    REQUIRE(pair.begin(to(0, 512)));
    pair.saw(0xff'ffff);
    CHECK(pair.continues(0));
    CHECK_FALSE(pair.continues(1));
}

TEST_CASE("nic_queue_pair: a message is whole when all of its bytes came")
{
    nic_queue_pair pair;
    CHECK_FALSE(pair.continues(0)); // nothing has begun
    REQUIRE(pair.begin(to(0x1000, 600)));
    CHECK(pair.fits(256, false));
    pair.took(256);
    CHECK(pair.address() == 0x1100);
    CHECK_FALSE(pair.fits(345, true)); // beyond
    CHECK_FALSE(pair.fits(300, true)); // ends too early
    CHECK(pair.fits(344, true));
    CHECK(pair.give_up());
    CHECK_FALSE(pair.give_up()); // once
    CHECK(pair.broken() == 1);
    REQUIRE(pair.begin(to(0x1000, 4)));
    pair.end();
    CHECK(pair.broken() == 1); // had no room, say
    pair.whole();
    CHECK(pair.broken() == 0);
}

TEST_CASE("nic_queue_pair: an answer is converted as its write has said; two are remembered")
{
    nic_queue_pair pair;
    pair.expect(3, 0x100, k_quantised);
    CHECK(pair.queue() == 3);
    pair.expect(3, 0x200, k_as_is);
    REQUIRE(pair.begin(to(0x100, 64)));
    CHECK(pair.conversion().scale == 2.0f);
    CHECK_FALSE(pair.fits(62, false)); // no whole words
    REQUIRE(pair.begin(to(0x200, 64)));
    CHECK(pair.conversion().format == abi::nic_format::as_is);
    CHECK(pair.fits(62, false));

    pair.expect(3, 0x200, k_quantised); // sent again: 0x100 is still remembered
    CHECK(pair.begin(to(0x100, 64)));
    pair.expect(3, 0x300, k_quantised);
    CHECK_FALSE(pair.begin(to(0x100, 64))); // its scale is forgotten
    CHECK_FALSE(pair.receiving());
    nic_queue_pair plain;
    CHECK(plain.begin(to(0x100, 64))); // needs none
}

TEST_CASE("receive_buffer: bytes leave at their time")
{
    receive_buffer buffer(100);
    CHECK(buffer.fits(100, 0));
    CHECK_FALSE(buffer.fits(101, 0));
    buffer.hold(60, 10);
    buffer.hold(40, 20);
    CHECK_FALSE(buffer.fits(1, 9));
    CHECK(buffer.fits(60, 10));
    CHECK_FALSE(buffer.fits(61, 19));
    CHECK(buffer.fits(100, 20));
    buffer.hold(100, 30);
    buffer.clear();
    CHECK(buffer.fits(100, 20));
}

TEST_CASE("nic_interrupts: queues share the lines of cores")
{
    struct core_line final : irq_if {
        void set_irq(std::uint32_t line, bool level) override
        {
            CHECK(line == abi::k_irq_nic);
            high = level;
            ++changes;
        }
        bool high = false;
        int changes = 0;
    } first, second;
    std::uint64_t pending = 0;
    nic_interrupts interrupts({&first, &second}, 5, pending);
    interrupts.set(2);
    CHECK_FALSE(first.high); // until the line is updated
    interrupts.update(2);
    CHECK(first.high);
    interrupts.set(4); // of the same core
    interrupts.clear(2);
    interrupts.update(2);
    CHECK(first.high);
    CHECK(first.changes == 1);
    interrupts.set(3);
    interrupts.update_all();
    CHECK(second.high);
    CHECK(pending == 0b11000);
    interrupts.clear_all();
    interrupts.update_all();
    CHECK_FALSE(first.high);
    CHECK_FALSE(second.high);
    CHECK(interrupts.raised.value() == 3);
}
