// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole chips on a mesh, with firmware of the test on their cores: the step of a ring as software sees it.
#include "firmware/drivers/dma_driver.h"
#include "hw/chip/chip.h"
#include "hw/ici/ici_fabric.h"
#include "tlm/timeline.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include <cstring>
#include <memory>

using namespace weft;
using namespace weft::literals;

namespace {

constexpr std::uint32_t k_steps = 10;
constexpr std::uint64_t k_no_timeout = ~std::uint64_t{0};

struct record {
    std::vector<std::uint64_t> woken_ns;
    std::uint32_t failures = 0;
};
record records[2]; // of the test's firmware; one test case is one process

/// Rank 0 and 1 pass one message to and fro; each wakes, reads SEM_PENDING, arms, posts one descriptor, sleeps.
template <std::uint32_t Rank> void ping_pong(abi::hal& hal, std::uint64_t bytes)
{
    record& r = records[Rank];
    abi::platform_table table;
    hal.copy_in(&table, abi::k_platform_table_address, sizeof table);
    firmware::dma_driver dma(hal);
    r.failures += !dma.probe(table, 4).ok() + !dma.init(table).ok() + (table.rank != Rank);
    hal.compute(100'000); // both are ready long before the first message
    for (std::uint32_t step = 1; step <= k_steps; ++step) {
        if (Rank == 1 || step > 1) {
            dma.arm(1, step - (Rank == 0 ? 1 : 0));
            std::uint64_t fired = 0;
            r.failures += !dma.wait(k_no_timeout, fired).ok();
            r.woken_ns.push_back(hal.now_ns());
        }
        abi::dma_descriptor d;
        d.source_offset = d.destination_offset = 0x1000;
        d.bytes = bytes;
        d.destination_rank = 1 - Rank;
        d.remote_semaphore = 1;
        d.redop = abi::reduce_op::sum;
        r.failures += !dma.post(0, d, k_no_timeout).ok();
    }
    r.failures += !dma.drain(1'000'000'000).ok();
}

struct two_chips {
    explicit two_chips(const chip_config& c, const ici_config& i) : ici("ici", time, pool, mesh(ici_mesh(i, 1, 2)), i)
    {
        time.set_run_ahead(true);
        dma_fabric_view view;
        view.ports = i.local_ports;
        view.vl_count = i.virtual_lanes;
        view.port_rate = i.local_port_rate;
        view.format = i.format();
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            abi::platform_table t;
            t.rank = rank;
            t.ranks = 2;
            t.dim_count = 2;
            t.dims[0] = 1;
            t.dims[1] = 2;
            t.coord[1] = rank;
            chips.push_back(std::make_unique<chip>(rank == 0 ? "chip0" : "chip1", time, pool, c, view, t));
            for (std::uint32_t p = 0; p < view.ports; ++p) {
                chips.back()->dma.to_fabric(p).bind(ici.router(rank).local_port(p).in);
                ici.router(rank).local_port(p).out.bind(chips.back()->dma.from_fabric(p));
            }
        }
    }
    timeline time{"timeline"};
    packet_pool pool;
    ici_fabric ici;
    std::vector<std::unique_ptr<chip>> chips;
};

chip_config small_chip()
{
    chip_config c;
    c.hbm.capacity = 16_MiB;
    return c;
}

} // namespace

TEST_CASE("a step of software takes the sum of the timing page")
{
    const chip_config c = small_chip();
    const ici_config i;
    constexpr std::uint64_t k_bytes = 4;
    two_chips m(c, i);
    m.chips[0]->core.load(ping_pong<0>, k_bytes);
    m.chips[1]->core.load(ping_pong<1>, k_bytes);
    sc_core::sc_start();
    for (record& r : records) {
        CHECK(r.failures == 0);
        CHECK(r.woken_ns.size() == k_steps - (&r == &records[0] ? 1 : 0));
    }
    for (auto& chip : m.chips) {
        CHECK(chip->core.finished());
        CHECK(chip->idle());
        CHECK(chip->dma.messages_received.value() == k_steps);
    }
    CHECK(m.pool.leak_report() == "");
    CHECK(m.ici.engine().audit() == "");

    const auto cycles = [&](const cycle_count n) { return static_cast<double>(cycles_to_ps(n.value(), c.core.clock)); };
    const double bus = static_cast<double>(c.bus.latency.value());
    const double dma_reg = static_cast<double>(c.dma.register_latency.value());
    const double memory = static_cast<double>(c.hbm.latency.value());
    const double per_byte = 8e12 / static_cast<double>(c.hbm.rate.value());
    // Between two wake-ups of the same message's way there: from woken_ns of one rank to woken_ns of the other.
    const double software = cycles(c.core.clock_read) +                                   // now_ns()
                            bus + memory + 64 * per_byte + cycles(c.core.mmio_overhead) + // descriptor into the ring
                            8 * cycles(c.core.copy_per_8_bytes) + bus + dma_reg;          // doorbell takes effect
    const double hardware = memory + 64 * per_byte + memory + k_bytes * per_byte +        // fetch, read
                            2 * static_cast<double>(i.pipeline_ps()) +
                            static_cast<double>(i.board_propagation.value()) +
                            static_cast<double>(wire_rate(i.link_rate).time_ps(i.format().wire_bytes(k_bytes))) +
                            memory + 2 * k_bytes * per_byte; // accumulate
    const double wake =
        cycles(c.core.irq_wake) + bus + dma_reg + cycles(c.core.mmio_overhead); // interrupt, SEM_PENDING
    const double expected_ns = (software + hardware + wake) / 1000;
    INFO("software " << software << " hardware " << hardware << " wake " << wake);
    for (std::uint32_t s = 1; s + 1 < k_steps; ++s) {
        const auto step = static_cast<double>(records[1].woken_ns[s] - records[0].woken_ns[s - 1]);
        CHECK(step == Approx(expected_ns).margin(1.01)); // the clock of the firmware counts whole nanoseconds
    }
    std::printf("step %.1f ns: software %.1f, hardware %.1f, wake %.1f\n", expected_ns, software / 1000,
                hardware / 1000, wake / 1000);
}

TEST_CASE("a chip writes a platform table that firmware accepts")
{
    two_chips m(small_chip(), ici_config{});
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        abi::platform_table t;
        m.chips[rank]->local.read_bytes(abi::k_platform_table_address, &t, sizeof t);
        std::uint32_t words[sizeof t / 4];
        std::memcpy(words, &t, sizeof t);
        CHECK(t.check == abi::check_word(words, offsetof(abi::platform_table, check) / 4));
        CHECK(t.magic == abi::k_platform_table_magic);
        CHECK(t.rank == rank);
        CHECK(t.ranks == 2);
        CHECK(t.dma_queues == 8);
        CHECK(t.dma_ports == 2);
        CHECK(t.hbm_bytes == 16 << 20);
        // The rings lie at the top of HBM and end with it.
        CHECK(t.dma_ring_area + std::uint64_t{t.dma_queues} * t.dma_ring_entries * 64 == t.hbm_base + t.hbm_bytes);
    }
}

TEST_CASE("chips without work are idle and say nothing")
{
    two_chips m(small_chip(), ici_config{});
    sc_core::sc_start();
    CHECK(sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME);
    for (auto& chip : m.chips) {
        CHECK(chip->idle());
        for (const core_base* core : chip->cores())
            CHECK_FALSE(core->blocked());
    }
    std::set<const stat_group*> groups;
    std::size_t listed = 0;
    for (const component* c : m.time.components()) {
        INFO(c->stat_prefix());
        CHECK(c->waits() == "");
        for (const stat_group* g : c->stat_groups()) {
            groups.insert(g);
            ++listed;
        }
    }
    CHECK(groups.size() == listed); // nobody counts twice
    CHECK(listed == 2 * 6 + 1);     // core, bus, local memory, HBM, DMA and mailbox of each chip, and the fabric
}

TEST_CASE("a chip takes another memory and a guest from its platform")
{
    struct small_memory final : hbm { // as a platform may have it
        using hbm::hbm;
        std::uint64_t charge(std::uint64_t at_ps, std::uint64_t offset, std::uint64_t bytes, access kind) override
        {
            highest = std::max(highest, offset);
            return hbm::charge(at_ps, offset, bytes, kind);
        }
        std::uint64_t highest = 0;
    };
    struct lamp final : sc_core::sc_module, component {
        explicit lamp(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {}
        std::string stat_prefix() const override { return "lamp"; }
    };
    timeline time("timeline");
    packet_pool pool;
    const chip_config config = small_chip();
    abi::platform_table table;
    table.ranks = 1;
    chip_options options;
    options.memory = [&] { return std::make_unique<small_memory>("scratch", config.hbm); };
    options.guests.push_back([](chip&) { return std::make_unique<lamp>("lamp"); });
    options.tables.push_back({{0x2000, {1, 2, 3}}});
    dma_fabric_view view;
    view.ports = 0;
    view.port_rate = bandwidth(1'000'000'000);
    chip c("chip", time, pool, config, view, table, options);
    CHECK(dynamic_cast<small_memory*>(&c.memory) != nullptr);
    REQUIRE(c.guest<lamp>() != nullptr);
    CHECK(chip_of(*c.guest<lamp>()) == &c);
    CHECK(chip_of(static_cast<const component&>(c.memory)) == &c);
    CHECK(c.guest<small_memory>() == nullptr);
    std::uint8_t bytes[3] = {};
    c.local.read_bytes(0x2000, bytes, 3);
    CHECK((bytes[0] == 1 && bytes[2] == 3));
    c.reset(0); // the platform's tables are there again
    c.local.clear();
    c.reset(0);
    c.local.read_bytes(0x2000, bytes, 3);
    CHECK(bytes[1] == 2);
    CHECK(c.interrupts().size() == 1);
}
