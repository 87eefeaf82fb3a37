// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Two DMAs with their memories on a 1x2 mesh; registers are accessed by the test's script.
#pragma once

#include "hw/abi/hal.h"
#include "hw/dma/dma.h"
#include "hw/arithmetic/reduce.h"
#include "hw/ici/ici_fabric.h"
#include "hw/memory/hbm.h"
#include "testbenches/hw/fabric_bench.h"
#include <catch2/catch.hpp>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

namespace weft::testing::dma_pair {

using namespace weft::literals;
namespace regs = weft::abi::dma;

constexpr std::uint64_t k_rings = 0xc0000; ///< descriptor rings, 64 KiB apart from nothing else

struct irq_log final : irq_if {
    explicit irq_log(const timeline& t) : time(t) {}
    void set_irq(std::uint32_t, bool level) override
    {
        up = level;
        (level ? rises : falls).push_back(time.now_ps());
    }
    const timeline& time;
    bool up = false;
    std::vector<std::uint64_t> rises, falls;
};

struct knobs {
    dma_config dma;
    hbm_config memory;
    ici_config ici;
    bool data = true;
    std::uint32_t burst = 1;
    knobs()
    {
        memory.capacity = 1_MiB;
        memory.rate = 400_GBps;
        memory.latency = 100_ns;
        dma.ring_entries = 64;
    }
};

struct node final : sc_core::sc_module {
    node(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const knobs& k, std::uint32_t rank)
        : sc_core::sc_module(name), cpu("cpu"), window("window"), irq(time), memory("memory", k.memory),
          engine("dma", time, pool, irq, rank, 2, k.dma, view(k)), entries(k.dma.ring_entries)
    {
        cpu.bind(engine.registers);
        window.bind(memory.socket); // unused, but a socket must be bound
        engine.memory.bind(memory.port);
    }
    static dma_fabric_view view(const knobs& k)
    {
        dma_fabric_view v;
        v.ports = k.ici.local_ports;
        v.vl_count = k.ici.virtual_lanes;
        v.port_rate = k.ici.local_port_rate;
        v.format = k.ici.format();
        v.train = k.burst;
        v.carry_data = k.data;
        return v;
    }
    std::uint64_t read(std::uint64_t reg, std::uint32_t bytes = 4)
    {
        std::uint64_t value = 0, delay = 0;
        CHECK(cpu.read(reg, &value, bytes, delay) == ::tlm::TLM_OK_RESPONSE);
        return value;
    }
    void write(std::uint64_t reg, std::uint64_t value, std::uint32_t bytes = 4)
    {
        std::uint64_t delay = 0;
        CHECK(cpu.write(reg, &value, bytes, delay) == ::tlm::TLM_OK_RESPONSE);
    }
    void enable()
    {
        for (std::uint32_t q = 0; q < 8; ++q) {
            write(regs::RING_BASE(q), k_rings + q * 4096, 8);
            write(regs::RING_ENTRIES(q), entries);
        }
        write(regs::IRQ_ENABLE, 3);
        write(regs::CONTROL, 1);
    }
    void put(std::uint32_t queue, abi::dma_descriptor d, bool good_check = true)
    {
        std::uint32_t words[16];
        std::memcpy(words, &d, sizeof words);
        d.check = abi::check_word(words, offsetof(abi::dma_descriptor, check) / 4) + (good_check ? 0 : 1);
        memory.write_bytes(k_rings + queue * 4096 + (posted[queue]++ % entries) * 64, &d, sizeof d);
    }
    void ring(std::uint32_t queue) { write(regs::TAIL(queue), posted[queue]); }
    void post(std::uint32_t queue, const abi::dma_descriptor& d)
    {
        put(queue, d);
        ring(queue);
    }

    memory_initiator_socket cpu, window;
    irq_log irq;
    hbm memory;
    dma engine;
    std::uint32_t entries;
    std::array<std::uint32_t, 16> posted{};
};

inline abi::dma_descriptor message(std::uint64_t from, std::uint64_t to, std::uint64_t bytes, std::uint32_t rank,
                            std::uint32_t semaphore = abi::k_no_semaphore)
{
    abi::dma_descriptor d;
    d.source_offset = from;
    d.destination_offset = to;
    d.bytes = bytes;
    d.destination_rank = rank;
    d.remote_semaphore = semaphore;
    return d;
}

struct pair_bench {
    pair_bench(timeline& t, packet_pool& pool, const knobs& k)
        : ici(sc_core::sc_gen_unique_name("ici"), t, pool, mesh(ici_mesh(k.ici, 1, 2)), k.ici),
          a(sc_core::sc_gen_unique_name("a"), t, pool, k, 0), b(sc_core::sc_gen_unique_name("b"), t, pool, k, 1)
    {
        for (node* n : {&a, &b})
            for (std::uint32_t p = 0; p < k.ici.local_ports; ++p) {
                n->engine.to_fabric(p).bind(ici.router(n == &a ? 0 : 1).local_port(p).in);
                ici.router(n == &a ? 0 : 1).local_port(p).out.bind(n->engine.from_fabric(p));
            }
    }
    ici_fabric ici;
    node a, b;
};

struct world {
    timeline time{"timeline"};
    packet_pool pool;
    script events{time};
    std::vector<std::unique_ptr<pair_bench>> pairs;
    pair_bench& add(const knobs& k)
    {
        pairs.push_back(std::make_unique<pair_bench>(time, pool, k));
        return *pairs.back();
    }
    void run()
    {
        sc_core::sc_start();
        CHECK(pool.leak_report() == "");
        for (auto& p : pairs) {
            CHECK(p->ici.engine().audit() == "");
            CHECK(p->ici.engine().packets_inside() == 0);
            CHECK(p->a.engine.idle());
            CHECK(p->b.engine.idle());
        }
    }
};

inline std::vector<std::uint8_t> pattern(std::size_t bytes, std::uint64_t seed)
{
    traffic_random r(seed);
    std::vector<std::uint8_t> p(bytes);
    for (auto& b : p)
        b = static_cast<std::uint8_t>(r.next());
    return p;
}
inline std::vector<std::uint8_t> contents(const hbm& m, std::uint64_t offset, std::uint64_t bytes)
{
    std::vector<std::uint8_t> v(bytes);
    m.read_bytes(offset, v.data(), bytes);
    return v;
}
constexpr std::uint64_t k_go = 10'000'000;

} // namespace weft::testing::dma_pair
