// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/abi/registers.h"
#include "tlm/check.h"
#include "tlm/reg_file.h"

#include <catch2/catch.hpp>

using namespace weft;
namespace dma = weft::abi::dma;

namespace {
std::uint64_t read(reg_file& regs, std::uint64_t offset, std::uint32_t bytes = 4)
{
    std::uint64_t value = 0;
    CHECK(regs.read(offset, bytes, value) == reg_status::ok);
    return value;
}
} // namespace

TEST_CASE("every register of the DMA table resets and reads back")
{
    reg_file regs("DMA", abi::k_dma_rows);
    for (const auto& row : abi::k_dma_rows) {
        for (std::uint32_t i = 0; i < row.count; ++i) {
            const std::uint64_t offset = row.offset + std::uint64_t{row.stride} * i;
            INFO(row.name << " " << i);
            CHECK(read(regs, offset, row.width_bits / 8) == row.reset);
            const bool writable = row.access != abi::reg_access::ro && row.access != abi::reg_access::rc;
            CHECK(regs.write(offset, row.width_bits / 8, 0x1234'5678'9abc'def0u) ==
                  (writable ? reg_status::ok : reg_status::read_only));
            const std::uint64_t stored = row.width_bits == 32 ? 0x9abc'def0u : 0x1234'5678'9abc'def0u;
            const bool keeps = row.access == abi::reg_access::rw || row.access == abi::reg_access::db;
            CHECK(read(regs, offset, row.width_bits / 8) == (keeps ? stored : row.reset));
        }
    }
    regs.reset();
    for (const auto& row : abi::k_dma_rows)
        for (std::uint32_t i = 0; i < row.count; ++i)
            CHECK(regs.at(row.offset + std::uint64_t{row.stride} * i) == row.reset);
}

TEST_CASE("elements of interleaved register arrays are told apart")
{
    reg_file regs("DMA", abi::k_dma_rows);
    for (std::uint32_t i = 0; i < dma::SEM_COUNT_count; ++i) {
        regs.at(dma::SEM_COUNT(i)) = 100 + i;
        CHECK(regs.write(dma::SEM_THRESHOLD(i), 4, 200 + i) == reg_status::ok);
    }
    for (std::uint32_t i = 0; i < dma::SEM_COUNT_count; ++i) {
        CHECK(read(regs, dma::SEM_COUNT(i)) == 100 + i);
        CHECK(read(regs, dma::SEM_THRESHOLD(i)) == 200 + i);
    }
}

TEST_CASE("wrong accesses are refused and change nothing")
{
    reg_file regs("DMA", abi::k_dma_rows);
    std::uint64_t value = 1;
    CHECK(regs.read(0x3c, 4, value) == reg_status::unknown_offset);
    CHECK(value == 0);
    CHECK(regs.read(dma::CONTROL + 2, 4, value) == reg_status::unknown_offset);
    CHECK(regs.read(dma::TAIL(dma::TAIL_count), 4, value) == reg_status::unknown_offset);
    CHECK(regs.read(dma::SEM_COUNT(dma::SEM_COUNT_count), 4, value) == reg_status::unknown_offset);
    CHECK(regs.read(~0ull, 4, value) == reg_status::unknown_offset);
    CHECK(regs.read(dma::CONTROL, 8, value) == reg_status::bad_width);
    CHECK(regs.read(dma::RING_BASE(3), 4, value) == reg_status::bad_width);
    CHECK(regs.read(dma::SEM_PENDING, 4, value) == reg_status::bad_width);
    CHECK(regs.write(dma::CONTROL, 8, 1) == reg_status::bad_width);
    CHECK(regs.write(dma::TYPE, 4, 1) == reg_status::read_only);
    CHECK(regs.at(dma::CONTROL) == 0);
    CHECK(regs.at(dma::TYPE) == dma::TYPE_reset);
    CHECK_THROWS_AS(regs.at(0x3c), bug);
    CHECK_THROWS_AS(regs.on_write(dma::TAIL(1), {}), bug);
}

TEST_CASE("write-one-to-clear and read-clears")
{
    reg_file regs("DMA", abi::k_dma_rows);
    regs.at(dma::ERROR) = 0b111;
    CHECK(regs.write(dma::ERROR, 4, 0b101) == reg_status::ok);
    CHECK(regs.at(dma::ERROR) == 0b010);

    regs.at(dma::SEM_PENDING) = 0x8000'0000'0000'0001;
    std::uint64_t value = 0;
    CHECK(regs.peek(dma::SEM_PENDING, 8, value) == reg_status::ok);
    CHECK(value == 0x8000'0000'0000'0001);
    CHECK(read(regs, dma::SEM_PENDING, 8) == 0x8000'0000'0000'0001);
    CHECK(read(regs, dma::SEM_PENDING, 8) == 0);
    CHECK(regs.poke(dma::QUEUES, 4, 4) == reg_status::ok);
    CHECK(read(regs, dma::QUEUES) == 4);
}

TEST_CASE("hooks get the index and see the new value")
{
    reg_file regs("DMA", abi::k_dma_rows);
    std::uint32_t rung_queue = 99;
    std::uint64_t rung_value = 0;
    std::uint64_t stored_at_hook = 0;
    regs.on_write(dma::TAIL(0), [&](std::uint32_t index, std::uint64_t value) {
        rung_queue = index;
        rung_value = value;
        stored_at_hook = regs.at(dma::TAIL(index));
    });
    CHECK(regs.write(dma::TAIL(3), 4, 17) == reg_status::ok);
    CHECK(rung_queue == 3);
    CHECK(rung_value == 17);
    CHECK(stored_at_hook == 17);

    std::uint64_t pending_at_hook = 1;
    regs.on_read(dma::SEM_PENDING, [&](std::uint32_t, std::uint64_t stored) {
        pending_at_hook = regs.at(dma::SEM_PENDING); // already cleared: the device may drop its interrupt
        return stored;
    });
    regs.at(dma::SEM_PENDING) = 5;
    CHECK(read(regs, dma::SEM_PENDING, 8) == 5);
    CHECK(pending_at_hook == 0);

    int cleared = 0;
    regs.on_write(dma::ERROR, [&](std::uint32_t, std::uint64_t value) { cleared = static_cast<int>(value); });
    regs.at(dma::ERROR) = 3;
    CHECK(regs.write(dma::ERROR, 4, 1) == reg_status::ok);
    CHECK(cleared == 1);
    CHECK(regs.write(dma::ERROR, 8, 2) == reg_status::bad_width);
    CHECK(cleared == 1);
}

TEST_CASE("registers have names")
{
    const reg_file regs("DMA", abi::k_dma_rows);
    CHECK(regs.name_of(dma::TAIL(3)) == "DMA.TAIL[3]");
    CHECK(regs.name_of(dma::CONTROL) == "DMA.CONTROL");
    CHECK(regs.name_of(dma::SEM_THRESHOLD(63)) == "DMA.SEM_THRESHOLD[63]");
    CHECK(regs.name_of(0x3c) == "DMA+0x3c");
    const reg_file box("MAILBOX", abi::k_mailbox_rows);
    CHECK(box.name_of(abi::mailbox::DONE) == "MAILBOX.DONE");
}

TEST_CASE("a table with overlapping or odd registers is a bug")
{
    using abi::reg_access;
    const abi::reg_row overlap[] = {{"A", 0, 0, 1, 64, reg_access::rw, 0, ""},
                                    {"B", 4, 0, 1, 32, reg_access::rw, 0, ""}};
    const abi::reg_row arrays[] = {{"A", 0, 8, 4, 32, reg_access::rw, 0, ""},
                                   {"B", 16, 4, 2, 32, reg_access::rw, 0, ""}};
    const abi::reg_row narrow[] = {{"A", 0, 0, 1, 16, reg_access::rw, 0, ""}};
    const abi::reg_row askew[] = {{"A", 4, 0, 1, 64, reg_access::rw, 0, ""}};
    const abi::reg_row no_stride[] = {{"A", 0, 0, 2, 32, reg_access::rw, 0, ""}};
    CHECK_THROWS_AS(reg_file("X", overlap), bug);
    CHECK_THROWS_AS(reg_file("X", arrays), bug);
    CHECK_THROWS_AS(reg_file("X", narrow), bug);
    CHECK_THROWS_AS(reg_file("X", askew), bug);
    CHECK_THROWS_AS(reg_file("X", no_stride), bug);
}
