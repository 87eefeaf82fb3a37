// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// DMAs behind UB controllers: messages over several paths at once complete whole and in the order in which they were
// sent.
#include "hw/abi/hal.h"
#include "hw/dma/dma.h"
#include "hw/memory/hbm.h"
#include "testbenches/hw/ub_bench.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;
namespace regs = weft::abi::dma;

namespace {

constexpr std::uint64_t k_rings = 0xc0000;

struct no_irq final : irq_if {
    void set_irq(std::uint32_t, bool) override {}
};

/// A DMA with its memory at endpoint `rank` of the board.
struct chip final : sc_core::sc_module {
    chip(const sc_core::sc_module_name& name, board_bench& b, std::uint32_t rank, bool in_order)
        : sc_core::sc_module(name), cpu("cpu"), window("window"), memory("memory", memory_config()),
          engine("dma", b.bench.time, b.bench.pool, irq, rank, 4, dma_config(), view(b, in_order))
    {
        cpu.bind(engine.registers);
        window.bind(memory.socket);
        engine.memory.bind(memory.port);
        for (std::uint32_t die = 0; die < 2; ++die) {
            engine.to_fabric(die).bind(b.fabric->controller(rank, die).in);
            b.fabric->controller(rank, die).out.bind(engine.from_fabric(die));
        }
    }
    static hbm_config memory_config()
    {
        hbm_config c;
        c.capacity = 1_MiB;
        return c;
    }
    static dma_fabric_view view(const board_bench& b, bool in_order)
    {
        dma_fabric_view v;
        v.ports = 2;
        v.vl_count = k_ub_vls;
        v.port_rate = b.config.local_port_rate;
        v.format = b.config.format();
        v.in_order = in_order;
        return v;
    }
    void write(std::uint64_t reg, std::uint64_t value, std::uint32_t bytes = 4)
    {
        std::uint64_t delay = 0;
        CHECK(cpu.write(reg, &value, bytes, delay) == ::tlm::TLM_OK_RESPONSE);
    }
    std::uint64_t read(std::uint64_t reg)
    {
        std::uint64_t value = 0, delay = 0;
        CHECK(cpu.read(reg, &value, 4, delay) == ::tlm::TLM_OK_RESPONSE);
        return value;
    }
    void enable()
    {
        for (std::uint32_t q = 0; q < 4; ++q) {
            write(regs::RING_BASE(q), k_rings + q * 4096, 8);
            write(regs::RING_ENTRIES(q), 64);
        }
        write(regs::CONTROL, 1);
    }
    void post(std::uint32_t queue, abi::dma_descriptor d)
    {
        std::uint32_t words[16];
        std::memcpy(words, &d, sizeof words);
        d.check = abi::check_word(words, offsetof(abi::dma_descriptor, check) / 4);
        memory.write_bytes(k_rings + queue * 4096 + (posted[queue]++ % 64) * 64, &d, sizeof d);
        write(regs::TAIL(queue), posted[queue]);
    }

    memory_initiator_socket cpu, window;
    no_irq irq;
    hbm memory;
    dma engine;
    std::uint32_t posted[4] = {};
};

/// 20 messages of 16 KiB, each followed by a notification to the same semaphore. At every count of the semaphore all
/// that was
/// sent before must be in memory. Returns at how many counts it was not.
std::size_t early_counts(const ub_config& c, bool in_order)
{
    board_bench b(4, c, true, {}, 2); // endpoints 0 and 1 are the DMAs
    chip sender("sender", b, 0, in_order), receiver("receiver", b, 1, in_order);
    constexpr std::uint32_t messages = 20, bytes = 16 << 10;
    std::vector<std::uint8_t> data(messages * bytes);
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<std::uint8_t>(i * 7 + (i >> 9) + 1);
    sender.memory.write_bytes(0, data.data(), data.size());
    b.bench.events.at(1'000, [&] {
        sender.enable();
        receiver.enable();
        for (std::uint32_t m = 0; m < messages; ++m) {
            abi::dma_descriptor d;
            d.source_offset = d.destination_offset = std::uint64_t{m} * bytes;
            d.bytes = bytes;
            d.destination_rank = 1;
            d.remote_semaphore = 5;
            sender.post(0, d);
            d.bytes = 0;
            sender.post(0, d);
        }
    });
    std::size_t early = 0, seen = 0;
    for (std::uint64_t t = 1; t < 4000; ++t)
        b.bench.events.at(t * 20'000, [&] {
            const auto count = static_cast<std::uint32_t>(receiver.read(regs::SEM_COUNT(5)));
            if (count == seen)
                return;
            seen = count;
            const std::uint32_t whole = (count + 1) / 2; // messages that the count promises
            std::vector<std::uint8_t> got(whole * bytes);
            receiver.memory.read_bytes(0, got.data(), got.size());
            early += std::memcmp(got.data(), data.data(), got.size()) != 0 ? 1 : 0;
        });
    b.bench.run();
    CHECK(seen == 2 * messages);
    CHECK(receiver.engine.messages_received.value() == 2 * messages);
    CHECK(receiver.engine.blocked_on() == "");
    CHECK(b.fabric->idle());
    CHECK(b.bench.first_audit == "");
    CHECK(b.bench.pool.leak_report() == "");
    std::vector<std::uint8_t> got(data.size());
    receiver.memory.read_bytes(0, got.data(), got.size());
    CHECK(got == data);
    return early;
}

} // namespace

TEST_CASE("DMA on UB: packets go over all paths and messages complete whole and in order")
{
    CHECK(early_counts(ub_config{}, false) == 0);
}

TEST_CASE("DMA on UB: the same with the end-to-end transport")
{
    ub_config c;
    c.transport = ub_transport::rtp;
    CHECK(early_counts(c, false) == 0);
}

TEST_CASE("DMA on UB: a flow on one path needs no order at the target")
{
    ub_config c;
    c.spreading = ub_spreading::flow;
    CHECK(early_counts(c, true) == 0);
}

TEST_CASE("DMA on UB: without order at the target spread packets would count too early")
{
    CHECK(early_counts(ub_config{}, true) > 0);
}

TEST_CASE("DMA on UB: a slow port keeps back what goes by it and nothing else")
{
    // Two messages by one local port, to two neighbours. The link to the first one has a sixteenth of its rate. When a controller held
    // packets for all its ports without shares, both messages went at that rate.
    ub_config c;
    c.paths = ub_path_use::shortest;
    board_bench b(4, c, true, {}, 1);
    chip sender("sender", b, 0, false);
    const fabric_engine& engine = b.fabric->engine();
    const std::uint32_t slow = engine.out_link(0, b.links().port(0, 1)), fast = engine.out_link(0, b.links().port(0, 2));
    const bandwidth rate = engine.link_rate(fast);
    b.fabric->engine().degrade_link_at(slow, 1, bandwidth(rate.value() / 16));
    constexpr std::uint64_t start_ps = 1'000, bytes = 700 << 10; // more packets than a controller holds
    b.bench.events.at(start_ps, [&] {
        sender.enable();
        for (const std::uint32_t to : {1u, 2u}) {
            abi::dma_descriptor d;
            d.bytes = bytes;
            d.destination_rank = to;
            sender.post(2 * (to - 1), d);
        }
    });
    b.bench.run();
    const auto last = [&](std::uint32_t e) {
        std::uint64_t at = 0;
        for (const arrived& a : b.log(e))
            at = std::max(at, a.tail_ps);
        return at - start_ps;
    };
    REQUIRE(b.log(1).size() == bytes / 1024);
    REQUIRE(b.log(2).size() == bytes / 1024);
    const std::uint64_t wire_ps = wire_rate(rate).time_ps(c.format().wire_bytes_of_one(1024)) * (bytes / 1024);
    fmt::print("700 KiB by a slow and a fast port: {} and {} us, on the wire {} us\n", static_cast<double>(last(1)) / 1e6,
               static_cast<double>(last(2)) / 1e6, static_cast<double>(wire_ps) / 1e6);
    CHECK(last(2) > wire_ps);
    CHECK(last(2) < wire_ps + 1'500'000); // latencies: doorbell, fetch, memory, two controllers
    CHECK(last(1) > 16 * wire_ps);
    CHECK(last(1) < 16 * wire_ps + 1'500'000);
    CHECK(b.bench.pool.leak_report() == "");
}
