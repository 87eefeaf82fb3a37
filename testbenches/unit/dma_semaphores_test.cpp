// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/dma_semaphores.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace weft;
namespace regs = weft::abi::dma;

namespace {
struct line final : irq_if {
    void set_irq(std::uint32_t lines, bool level) override
    {
        CHECK(lines == abi::k_irq_dma);
        changes.push_back(level);
    }
    std::vector<bool> changes;
};

struct semaphore_bench {
    semaphore_bench() { write(regs::IRQ_ENABLE, 3); }
    std::uint64_t read(std::uint64_t reg, std::uint32_t bytes = 4)
    {
        std::uint64_t value = 0;
        CHECK(file.read(reg, bytes, value) == reg_status::ok);
        return value;
    }
    void write(std::uint64_t reg, std::uint64_t value) { CHECK(file.write(reg, 4, value) == reg_status::ok); }
    std::uint64_t pending() { return read(regs::SEM_PENDING, 8); }
    bool up() const { return !core.changes.empty() && core.changes.back(); }

    reg_file file{"DMA", abi::k_dma_rows};
    line core;
    dma_interrupt interrupt{file, core};
    dma_semaphores semaphores{file, interrupt};
};
} // namespace

TEST_CASE("a semaphore is pending once for each time that it is armed")
{
    semaphore_bench b;
    b.write(regs::SEM_THRESHOLD(5), 2);
    b.semaphores.count(5);
    CHECK_FALSE(b.up());
    b.semaphores.count(5);
    CHECK(b.up());
    CHECK(b.read(regs::IRQ_STATUS) == 1);
    CHECK(b.pending() == 1u << 5);
    CHECK_FALSE(b.up());
    CHECK(b.read(regs::IRQ_STATUS) == 0);
    b.semaphores.count(5); // above the threshold, but not armed
    CHECK_FALSE(b.up());
    b.write(regs::SEM_THRESHOLD(5), 3); // reached already
    CHECK(b.up());
    CHECK(b.core.changes == std::vector<bool>{true, false, true});
    CHECK(b.read(regs::SEM_COUNT(5)) == 3);
}

TEST_CASE("a threshold is reached while it lies less than half the range behind the count")
{
    semaphore_bench b;
    b.write(regs::SEM_THRESHOLD(0), 0xffff'ffffu); // one before 0
    CHECK(b.pending() == 1);
    b.write(regs::SEM_THRESHOLD(0), 0x8000'0001u);
    CHECK(b.pending() == 1);
    b.write(regs::SEM_THRESHOLD(0), 0x7fff'ffffu); // far ahead
    CHECK(b.pending() == 0);
}

TEST_CASE("only the bank that is shown is armed and its semaphores do not mix with those of others")
{
    semaphore_bench b;
    const std::uint32_t other = dma_semaphores::k_bank + 5;
    b.semaphores.count(other);
    CHECK(b.read(regs::SEM_COUNT(5)) == 0);
    b.write(regs::SEM_THRESHOLD(5), 1);
    b.semaphores.count(other);
    CHECK_FALSE(b.up());
    b.write(regs::SEM_BANK, 1);
    CHECK(b.read(regs::SEM_COUNT(5)) == 2);
    b.semaphores.count(5); // of bank 0, which has been left: disarmed
    CHECK_FALSE(b.up());
    b.write(regs::SEM_THRESHOLD(5), 2);
    CHECK(b.up());
    b.write(regs::SEM_BANK, regs::SEM_BANKS_reset); // does not exist
    CHECK(b.read(regs::SEM_BANK) == 1);
    CHECK(b.up());
    b.write(regs::SEM_BANK, 0); // clears what was pending
    CHECK_FALSE(b.up());
    CHECK(b.pending() == 0);
    CHECK(b.read(regs::SEM_COUNT(5)) == 1);
    b.semaphores.count(dma_semaphores::k_count - 1);
    b.write(regs::SEM_BANK, regs::SEM_BANKS_reset - 1);
    CHECK(b.read(regs::SEM_COUNT(dma_semaphores::k_bank - 1)) == 1);
    b.semaphores.reset();
    CHECK(b.read(regs::SEM_COUNT(5)) == 0);
}

TEST_CASE("the interrupt of a DMA names the queue of the first error and falls with the last one cleared")
{
    semaphore_bench b;
    b.interrupt.raise_error(3, k_dma_error_memory);
    b.interrupt.raise_error(4, k_dma_error_doorbell);
    CHECK(b.up());
    CHECK(b.read(regs::ERROR_QUEUE) == 3);
    CHECK(b.read(regs::ERROR) == (k_dma_error_memory | k_dma_error_doorbell));
    CHECK(b.read(regs::IRQ_STATUS) == 2);
    b.write(regs::ERROR, k_dma_error_memory);
    CHECK(b.up());
    b.write(regs::IRQ_ENABLE, 1);
    CHECK_FALSE(b.up());
    b.write(regs::IRQ_ENABLE, 2);
    CHECK(b.up());
    b.write(regs::ERROR, k_dma_error_doorbell);
    CHECK_FALSE(b.up());
}
