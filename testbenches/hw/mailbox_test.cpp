// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/chip/mailbox.h"
#include "tlm/check.h"

#include <catch2/catch.hpp>

#include <utility>
#include <vector>

using namespace weft;
namespace regs = weft::abi::mailbox;

namespace {
struct bench : sc_core::sc_module, irq_if, mailbox_listener {
    explicit bench(const sc_core::sc_module_name& name)
        : sc_core::sc_module(name), socket("socket"), box("box", mailbox_config{})
    {
        socket.bind(box.socket);
        box.connect_irq(*this);
        box.connect_host(*this, 7);
    }
    void set_irq(std::uint32_t lines, bool on) override
    {
        CHECK(lines == abi::k_irq_mailbox);
        level = on;
    }
    void on_done(std::uint32_t rank, std::uint32_t sequence) override
    {
        done.emplace_back(rank, sequence);
        if (post_next != 0)
            box.post(std::exchange(post_next, 0u));
    }
    std::uint32_t read(std::uint64_t offset)
    {
        std::uint32_t value = 0;
        CHECK(socket.read(offset, &value, 4, delay) == ::tlm::TLM_OK_RESPONSE);
        return value;
    }
    void write(std::uint64_t offset, std::uint32_t value)
    {
        CHECK(socket.write(offset, &value, 4, delay) == ::tlm::TLM_OK_RESPONSE);
    }
    memory_initiator_socket socket;
    mailbox box;
    std::uint64_t delay = 0;
    bool level = false;
    std::uint32_t post_next = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> done;
};
} // namespace

TEST_CASE("a command goes round: post interrupt ack done")
{
    bench b("bench");
    b.box.post(1); // before time starts
    CHECK(b.level);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    CHECK(b.read(regs::TYPE) == regs::TYPE_reset);
    CHECK(b.delay == 20'000);
    CHECK(b.read(regs::VERSION) == 1);
    CHECK(b.read(regs::COMMAND_SEQUENCE) == 1);
    b.write(regs::COMMAND_ACK, 0); // not this one
    CHECK(b.level);
    b.write(regs::COMMAND_ACK, 1);
    CHECK_FALSE(b.level);
    CHECK_FALSE(b.box.idle());
    b.write(regs::DONE, 1);
    CHECK(b.box.idle());
    REQUIRE(b.done.size() == 1);
    CHECK(b.done[0] == std::make_pair(7u, 1u));
    CHECK(b.box.stats.find("commands")->value() == 1);
    CHECK(b.box.stats.find("answers")->value() == 1);
}

TEST_CASE("the listener may post the next command")
{
    bench b("bench");
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    b.post_next = 2;
    b.box.post(1);
    b.write(regs::COMMAND_ACK, 1);
    b.write(regs::DONE, 1);
    CHECK(b.level);
    CHECK(b.read(regs::COMMAND_SEQUENCE) == 2);
    CHECK_FALSE(b.box.idle());
}

TEST_CASE("wrong answers and wrong posts do no harm")
{
    bench b("bench");
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    b.write(regs::DONE, 0);
    b.write(regs::DONE, 9);
    b.box.post(1);
    CHECK_THROWS_AS(b.box.post(2), bug);
    b.write(regs::COMMAND_ACK, 1);
    b.write(regs::DONE, 2);
    CHECK(b.done.empty());
    b.write(regs::DONE, 1);
    b.write(regs::DONE, 1); // once is enough
    CHECK(b.done.size() == 1);
    CHECK_THROWS_AS(b.box.post(1), bug);
    std::uint32_t value = 1;
    CHECK(b.socket.write(regs::COMMAND_SEQUENCE, &value, 4, b.delay) == ::tlm::TLM_COMMAND_ERROR_RESPONSE);
}
