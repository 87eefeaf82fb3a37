// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver of the collective communication unit, access by access; the writer of microcode, instruction by instruction.
#include <catch2/catch.hpp>

#include "firmware/collectives/ccu_code.h"
#include "firmware/collectives/ccu_microcode.h"
#include "hw/abi/registers.h"
#include "testbenches/firmware/fake_hal.h"
#include "testbenches/support/instruction_store.h"

#include <string>

using namespace weft;
using namespace weft::firmware;
using namespace weft::testing;
using abi::status_code;
namespace regs = abi::ccu;

namespace {

constexpr std::uint64_t k_unit = abi::ccu::k_base + abi::ccu::k_die_stride; // of die 1
constexpr std::uint32_t k_die = 1, k_line = abi::k_irq_ccu << k_die;
using by_die = std::uint32_t[abi::ccu::k_dies];

void check_status(const abi::status& s, status_code code, const std::string& where, std::uint64_t detail)
{
    CHECK(s.code == code);
    CHECK(std::string(s.where) == where);
    CHECK(s.detail == detail);
}

void expect_instruction(fake_hal& hal, const abi::ccu::instruction& i)
{
    std::uint64_t words[abi::ccu::k_words_of_instruction];
    std::memcpy(words, &i, sizeof words);
    for (const std::uint64_t word : words)
        hal.expect_write64(k_unit + regs::CODE_DATA, word);
}

} // namespace

TEST_CASE("CCU driver: another device or version is refused")
{
    fake_hal hal;
    const ccu_driver unit(hal, k_die);
    hal.expect_read32(k_unit + regs::TYPE, 7);
    check_status(unit.probe(), status_code::wrong_device, "CCU.TYPE", 7);
    hal.expect_read32(k_unit + regs::TYPE, regs::TYPE_reset);
    hal.expect_read32(k_unit + regs::VERSION, 2);
    check_status(unit.probe(), status_code::wrong_version, "CCU.VERSION", 2);
    hal.expect_read32(k_unit + regs::TYPE, 0);
    hal.but_fails();
    check_status(unit.probe(), status_code::bus_error, "CCU.TYPE", k_unit + regs::TYPE);
    CHECK(hal.problems() == "");
}

TEST_CASE("CCU driver: a task is described and started; one that was not described whole is not")
{
    fake_hal hal;
    const ccu_driver unit(hal, k_die);
    ccu_task task;
    task.mission = 3;
    task.start = 10;
    task.count = 20;
    task.timeout_us = 30;
    task.key = 40;
    task.flags = 1;
    task.arguments = 2;
    task.argument[0] = 0x1'0000'0000;
    task.argument[1] = 5;
    for (const bool fails : {false, true}) {
        hal.expect_write32(k_unit + regs::TASK_MISSION, 3);
        hal.expect_write32(k_unit + regs::TASK_START, 10);
        hal.expect_write32(k_unit + regs::TASK_COUNT, 20);
        hal.expect_write32(k_unit + regs::TASK_TIMEOUT, 30);
        hal.expect_write32(k_unit + regs::TASK_KEY, 40);
        hal.expect_write32(k_unit + regs::TASK_FLAGS, 1);
        hal.expect_write64(k_unit + regs::TASK_ARGUMENT(0), 0x1'0000'0000);
        if (fails)
            hal.but_fails();
        hal.expect_write64(k_unit + regs::TASK_ARGUMENT(1), 5);
        if (!fails)
            hal.expect_write32(k_unit + regs::TASK_LAUNCH, 1);
        const abi::status s = unit.launch(task);
        if (fails)
            check_status(s, status_code::bus_error, "CCU.TASK_ARGUMENT", k_unit + regs::TASK_ARGUMENT(0));
        else
            CHECK(s.ok());
    }
    CHECK(hal.problems() == "");
}

TEST_CASE("CCU driver: it sleeps until a mission of a die has ended")
{
    fake_hal hal;
    hal.expect_wait_irq(3 * abi::k_irq_ccu, k_line);
    hal.expect_read32(k_unit + regs::IRQ_PENDING, 1u << 2 | 1u << 5); // 5 is nobody's
    hal.expect_write32(k_unit + regs::IRQ_PENDING, 1u << 2);
    const by_die running = {1, 1u << 2 | 1u << 3};
    by_die ended = {};
    CHECK(ccu_driver::wait(hal, running, 1000, ended).ok());
    CHECK(ended[0] == 0);
    CHECK(ended[1] == 1u << 2);
    CHECK(hal.last_timeout_ns() == 1000);
    CHECK(hal.problems() == "");
}

TEST_CASE("CCU driver: a mission that does not end is killed")
{
    fake_hal hal;
    hal.expect_wait_irq(k_line, 0);
    hal.expect_write32(k_unit + regs::MISSION_KILL, 2);
    const by_die running = {0, 1u << 2};
    by_die ended = {};
    check_status(ccu_driver::wait(hal, running, 1000, ended), status_code::timeout, "CCU.MISSION_STATE", std::uint64_t{k_die} << 40);
    CHECK(ended[1] == 0);
    CHECK(hal.problems() == "");
}

TEST_CASE("CCU driver: a refused write is reported and interrupts without a cause end")
{
    fake_hal hal;
    const by_die running = {0, 1};
    by_die ended = {};
    hal.expect_wait_irq(k_line, k_line);
    hal.expect_read32(k_unit + regs::IRQ_PENDING, 1u << 31);
    hal.expect_read32(k_unit + regs::ERROR, 1);
    hal.expect_write32(k_unit + regs::ERROR, 1);
    check_status(ccu_driver::wait(hal, running, 1000, ended), status_code::device_error, "CCU.ERROR", 1 | std::uint64_t{k_die} << 40);
    for (int i = 0; i < 64; ++i) {
        hal.expect_wait_irq(k_line, k_line);
        hal.expect_read32(k_unit + regs::IRQ_PENDING, 0);
    }
    check_status(ccu_driver::wait(hal, running, 1000, ended), status_code::device_error, "CCU.IRQ_PENDING", 0);
    CHECK(hal.problems() == "");
}

TEST_CASE("CCU driver: status of a mission where it ended and on which die")
{
    fake_hal hal;
    const ccu_driver unit(hal, k_die);
    hal.expect_read32(k_unit + regs::MISSION_STATUS(1), 0);
    CHECK(unit.outcome(1).status.ok());
    for (const abi::ccu::status code : {abi::ccu::status::address, abi::ccu::status::time_out}) {
        hal.expect_read32(k_unit + regs::MISSION_STATUS(1), static_cast<std::uint32_t>(code));
        hal.expect_read32(k_unit + regs::MISSION_WHERE(1), 77);
        hal.expect_read32(k_unit + regs::MISSION_DETAIL(1), 99);
        const ccu_outcome o = unit.outcome(1);
        const bool late = code == abi::ccu::status::time_out;
        check_status(o.status, late ? status_code::timeout : status_code::device_error, late ? "CCU.MISSION_STATE" : "CCU.MISSION_STATUS",
                     static_cast<std::uint64_t>(code) | 77u << 8 | std::uint64_t{k_die} << 40);
        CHECK(o.detail == 99);
    }
    CHECK(hal.problems() == "");
}

TEST_CASE("CCU driver: channels")
{
    fake_hal hal;
    const ccu_driver unit(hal, k_die);
    hal.expect_write32(k_unit + regs::CHANNEL_INDEX, 5);
    hal.expect_write32(k_unit + regs::CHANNEL_PEER, 9 | abi::ccu::k_shortest_paths);
    CHECK(unit.set_channel(5, 9 | abi::ccu::k_shortest_paths).ok());
    hal.expect_write32(k_unit + regs::CHANNEL_INDEX, 6);
    hal.expect_write32(k_unit + regs::CHANNEL_PEER, 10);
    CHECK(unit.set_channel(6, 10).ok());
    hal.expect_write32(k_unit + regs::CLEAR_ENTRIES, 3 | 4 << 16);
    CHECK(unit.clear_entries(3, 4).ok());
    CHECK(hal.problems() == "");
}

TEST_CASE("CCU code: instructions go into the store in their order and a label that was not known is written anew")
{
    fake_hal hal;
    const ccu_driver unit(hal, k_die);
    abi::ccu::instruction load, jump, wait;
    load.code = abi::ccu::op::load_x;
    load.r[0] = 4;
    jump.code = abi::ccu::op::jump;
    jump.r[0] = jump.r[1] = 4;
    jump.set_immediate(~0ull);
    wait.code = abi::ccu::op::clear_bits;
    wait.flags = abi::ccu::k_clears;
    hal.expect_write32(k_unit + regs::CODE_INDEX, 100);
    expect_instruction(hal, load);
    expect_instruction(hal, jump);
    wait.wait_entry = 7;
    wait.wait_mask = 0xffff & ~8;
    expect_instruction(hal, wait);
    wait.wait_entry = 8;
    wait.wait_mask = 3;
    expect_instruction(hal, wait);
    hal.expect_write32(k_unit + regs::CODE_INDEX, 100);
    load.set_immediate(4);
    expect_instruction(hal, load);
    hal.expect_write32(k_unit + regs::CODE_INDEX, 104);
    ccu_code code(unit, 100);
    const std::uint32_t ahead = code.jump_ahead(4);
    code.await(7, 18, 3);
    code.land(ahead, 4);
    CHECK(code.here() == 4);
    CHECK(hal.problems() == "");
}

TEST_CASE("CCU microcode: programs are no longer than said in groups of all sizes")
{
    const ccu_capacities c{32768, 16, 200, 3072, 3072, 1024, 1536, 128, 64};
    for (const ccu_kind kind : {ccu_kind::reduce, ccu_kind::reduce_all, ccu_kind::gather, ccu_kind::spread, ccu_kind::one_shot, ccu_kind::exchange, ccu_kind::blocks, ccu_kind::copy})
        for (const std::uint32_t n : {2u, 3u, 8u, 9u, 15u, 16u, 17u, 64u, 128u}) {
            for (const bool pieces : {false, true}) {
                ccu_job job;
                job.kind = kind;
                job.by_pieces = pieces && kind < ccu_kind::one_shot;
                job.redop = abi::reduce_op::sum;
                job.group.size = kind == ccu_kind::copy ? 0 : n;
                job.group.at = 1;
                job.arguments = 13;
                instruction_store hal;
                const ccu_driver unit(hal, 0);
                ccu_code code(unit, 0);
                const ccu_shape shape = shape_of(kind, job.group.size, c);
                write_program(code, job, shape);
                INFO("kind " << static_cast<int>(kind) << ", " << n << " ranks");
                CHECK(code.here() <= most_instructions(job.group.size));
                CHECK(shape.engines > 0);
                CHECK((shape.engines + 1) * shape.slices <= c.slices);
                CHECK(k_ccu_engine_entries + (shape.engines + 1) * shape.entries <= k_ccu_usable_entries);
            }
        }
}
