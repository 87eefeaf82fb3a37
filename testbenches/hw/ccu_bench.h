// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// CCUs behind the UB controllers of a board, without chips: a memory each, and the bench in the place of the core.
#pragma once

#include "hw/abi/hal.h"
#include "hw/abi/registers.h"
#include "hw/ccu/ccu.h"
#include "hw/memory/hbm.h"
#include "tlm/mem_socket.h"
#include "hw/ub/ub_idle_port.h"
#include "hw/ub/ub_port_sharer.h"
#include "testbenches/hw/ub_bench.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace weft::testing {

/// Instructions, one call each. Fields that a case wants otherwise are set in the instruction that comes back.
struct microcode {
    using instruction = abi::ccu::instruction;
    using op = abi::ccu::op;
    std::vector<instruction> all;

    instruction& add(op code, std::initializer_list<std::uint16_t> r = {}, std::uint16_t channel = 0)
    {
        instruction i;
        i.code = code;
        std::size_t n = 0;
        for (const std::uint16_t v : r)
            i.r[n++] = v;
        i.channel = channel;
        const std::uint8_t c = static_cast<std::uint8_t>(code);
        if (c >= static_cast<std::uint8_t>(op::mem_to_ms))
            i.set_length(abi::ccu::k_no_length);
        all.push_back(i);
        return all.back();
    }
    instruction& load_a(std::uint16_t a, std::uint64_t value) { return immediate(op::load_a, a, value); }
    instruction& load_x(std::uint16_t x, std::uint64_t value) { return immediate(op::load_x, x, value); }
    instruction& immediate(op code, std::uint16_t r, std::uint64_t value)
    {
        instruction& i = add(code, {r});
        i.set_immediate(value);
        return i;
    }
    instruction& reduce(op code, abi::element_type type, std::initializer_list<std::uint16_t> slices)
    {
        instruction& i = add(code, slices);
        i.count = static_cast<std::uint8_t>(slices.size());
        i.type = static_cast<std::uint8_t>(type);
        return i;
    }
    instruction& wait(std::uint16_t entry, std::uint16_t mask)
    {
        instruction& i = add(op::clear_bits);
        return waits(i, entry, mask);
    }
    static instruction& waits(instruction& i, std::uint16_t entry, std::uint16_t mask, bool clear = true)
    {
        i.wait_entry = entry;
        i.wait_mask = mask;
        i.flags = clear ? abi::ccu::k_clears : 0;
        return i;
    }
    static instruction& sets(instruction& i, std::uint16_t entry, std::uint16_t mask)
    {
        i.set_entry = entry;
        i.set_mask = mask;
        return i;
    }
    std::uint16_t next() const { return static_cast<std::uint16_t>(all.size()); }
};

/// The CCUs of some NPUs, one on each die. Channel c of each leads to NPU c, by the direct link.
struct ccu_bench {
    struct core final : irq_if {
        void set_irq(std::uint32_t line, bool level) override { lines = level ? lines | line : lines & ~line; }
        std::uint32_t lines = 0;
    };
    struct npu final : sc_core::sc_module {
        npu(const sc_core::sc_module_name& name, ccu_bench& b, std::uint32_t rank, const ccu_config& config, bool carry_data)
            : sc_core::sc_module(name), window("window"), memory("memory", memory_config())
        {
            window.bind(memory.socket);
            ccu_fabric_view view;
            view.vl_count = k_ub_vls;
            view.port_rate = b.board.config.local_port_rate;
            view.format = b.board.config.format();
            view.carry_data = carry_data;
            for (std::uint32_t die = 0; die < 2; ++die) {
                const std::string n = std::to_string(die);
                view.die = die;
                view.ranks = static_cast<std::uint32_t>(b.board.plan.endpoint_router.size() - 1); // the last one is the CPU
                units.push_back(
                    std::make_unique<ccu>(("ccu" + n).c_str(), b.board.bench.time, b.board.bench.pool, irq, abi::k_irq_ccu << die, rank, config, view));
                units.back()->memory.bind(memory.port);
                cpus.push_back(std::make_unique<memory_initiator_socket>(("cpu" + n).c_str()));
                cpus.back()->bind(units.back()->registers);
                ub_io_controller& at = b.board.fabric->controller(rank, die);
                sharers.push_back(std::make_unique<ub_port_sharer>(("port" + n).c_str(), k_ub_vls, true, false));
                dma.push_back(std::make_unique<ub_idle_port>(("dma" + n).c_str(), k_ub_vls, 256u)); // its receive buffer is the unit's as well
                ub_port_sharer& port = *sharers.back();
                dma.back()->to_controller.bind(port.from_dma());
                port.to_dma().bind(dma.back()->from_controller);
                units.back()->to_fabric.bind(port.from_coprocessor());
                port.to_coprocessor().bind(units.back()->from_fabric);
                port.to_controller.bind(at.in);
                at.out.bind(port.from_controller);
            }
        }
        static hbm_config memory_config()
        {
            hbm_config c;
            c.capacity = data_size(16 << 20);
            c.rate = bandwidth(25'600'000'000'000);
            return c;
        }
        memory_initiator_socket window;
        hbm memory;
        core irq;
        std::vector<std::unique_ptr<ccu>> units;
        std::vector<std::unique_ptr<memory_initiator_socket>> cpus;
        std::vector<std::unique_ptr<ub_port_sharer>> sharers;
        std::vector<std::unique_ptr<ub_idle_port>> dma;
    };

    explicit ccu_bench(std::uint32_t count, const ccu_config& config = {}, const ub_config& ub = {}, bool carry_data = true)
        : board(count, ub, true, {}, count), npus()
    {
        for (std::uint32_t n = 0; n < count; ++n)
            npus.push_back(std::make_unique<npu>(("npu" + std::to_string(n)).c_str(), *this, n, config, carry_data));
    }
    ccu& unit(std::uint32_t n, std::uint32_t die = 0) { return *npus[n]->units[die]; }
    hbm& memory(std::uint32_t n) { return npus[n]->memory; }

    void write(std::uint32_t n, std::uint64_t reg, std::uint64_t value, std::uint32_t bytes = 4, std::uint32_t die = 0)
    {
        std::uint64_t delay_ps = 0;
        CHECK(npus[n]->cpus[die]->write(reg, &value, bytes, delay_ps) == ::tlm::TLM_OK_RESPONSE);
    }
    std::uint64_t read(std::uint32_t n, std::uint64_t reg, std::uint32_t bytes = 4, std::uint32_t die = 0)
    {
        std::uint64_t value = 0;
        std::uint64_t delay_ps = 0;
        CHECK(npus[n]->cpus[die]->read(reg, &value, bytes, delay_ps) == ::tlm::TLM_OK_RESPONSE);
        return value;
    }
    std::uint64_t peek(std::uint32_t n, std::uint32_t kind, std::uint32_t index, std::uint32_t die = 0)
    {
        write(n, abi::ccu::PEEK_KIND, kind, 4, die);
        write(n, abi::ccu::PEEK_INDEX, index, 4, die);
        return read(n, abi::ccu::PEEK, 8, die);
    }
    void set_channels(std::uint32_t n, std::uint32_t die = 0)
    {
        for (std::uint32_t c = 0; c < npus.size(); ++c) {
            write(n, abi::ccu::CHANNEL_INDEX, c, 4, die);
            write(n, abi::ccu::CHANNEL_PEER, c | abi::ccu::k_shortest_paths, 4, die);
        }
    }
    void load(std::uint32_t n, std::uint32_t at, const microcode& code, std::uint32_t die = 0)
    {
        write(n, abi::ccu::CODE_INDEX, at, 4, die);
        for (const abi::ccu::instruction& i : code.all) {
            std::uint64_t words[abi::ccu::k_words_of_instruction];
            std::memcpy(words, &i, sizeof words);
            for (const std::uint64_t w : words)
                write(n, abi::ccu::CODE_DATA, w, 8, die);
        }
    }
    void launch(std::uint32_t n, std::uint32_t mission, std::uint32_t start, std::uint32_t count, std::uint32_t timeout_us = 1000, std::uint32_t die = 0)
    {
        write(n, abi::ccu::TASK_MISSION, mission, 4, die);
        write(n, abi::ccu::TASK_START, start, 4, die);
        write(n, abi::ccu::TASK_COUNT, count, 4, die);
        write(n, abi::ccu::TASK_TIMEOUT, timeout_us, 4, die);
        write(n, abi::ccu::TASK_LAUNCH, 1, 4, die);
    }
    /// Loads and launches `code` on NPU `n` at time 1 ns, in `mission`.
    void begin(std::uint32_t n, const microcode& code, std::uint32_t mission = 0, std::uint32_t at = 0, std::uint32_t timeout_us = 1000)
    {
        board.bench.events.at(1'000 + mission, [=] {
            set_channels(n);
            load(n, at, code);
            launch(n, mission, at, static_cast<std::uint32_t>(code.all.size()), timeout_us);
        });
    }
    std::uint64_t status(std::uint32_t n, std::uint32_t mission = 0) { return read(n, abi::ccu::MISSION_STATUS(mission)); }
    std::uint64_t state(std::uint32_t n, std::uint32_t mission = 0) { return read(n, abi::ccu::MISSION_STATE(mission)); }

    void run()
    {
        board.bench.run();
        for (const auto& n : npus)
            for (const auto& u : n->units) {
                INFO(u->waits());
                CHECK(u->idle());
            }
        CHECK(board.bench.first_audit == "");
        CHECK(board.bench.pool.leak_report() == "");
    }
    template <class T> void fill(std::uint32_t n, std::uint64_t at, const std::vector<T>& values)
    {
        memory(n).write_bytes(at, values.data(), values.size() * sizeof(T));
    }
    template <class T> std::vector<T> take(std::uint32_t n, std::uint64_t at, std::size_t count)
    {
        std::vector<T> values(count);
        memory(n).read_bytes(at, values.data(), count * sizeof(T));
        return values;
    }

    board_bench board;
    std::vector<std::unique_ptr<npu>> npus;
};

} // namespace weft::testing
