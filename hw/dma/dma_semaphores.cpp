// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/dma_semaphores.h"

namespace weft {

dma_semaphores::dma_semaphores(reg_file& registers, dma_interrupt& interrupt) : regs_(registers), interrupt_(interrupt)
{
    regs_.on_read(abi::dma::SEM_PENDING, [this](std::uint32_t, std::uint64_t stored) {
        interrupt_.update();
        return stored;
    });
    regs_.on_read(abi::dma::SEM_COUNT(0),
                  [this](std::uint32_t s, std::uint64_t) -> std::uint64_t { return counts_[bank_ + s]; });
    regs_.on_write(abi::dma::SEM_BANK, [this](std::uint32_t, std::uint64_t value) { show(value); });
    regs_.on_write(abi::dma::SEM_THRESHOLD(0),
                   [this](std::uint32_t s, std::uint64_t value) { arm(s, static_cast<std::uint32_t>(value)); });
}

void dma_semaphores::show(std::uint64_t bank)
{
    if (bank >= abi::dma::SEM_BANKS_reset || bank * k_bank == bank_) {
        regs_.at(abi::dma::SEM_BANK) = bank_ / k_bank;
        return;
    }
    bank_ = static_cast<std::uint32_t>(bank) * k_bank;
    armed_ = 0;
    regs_.at(abi::dma::SEM_PENDING) = 0;
    interrupt_.update();
}

void dma_semaphores::arm(std::uint32_t s, std::uint32_t threshold)
{
    thresholds_[s] = threshold;
    armed_ |= std::uint64_t{1} << s;
    check(s);
}

/// Semaphore `s` of the bank that is shown: when it is armed and has reached its threshold, it is pending and no longer
/// armed.
void dma_semaphores::check(std::uint32_t s)
{
    const std::uint64_t bit = std::uint64_t{1} << s;
    if ((armed_ & bit) == 0 || static_cast<std::int32_t>(counts_[bank_ + s] - thresholds_[s]) < 0)
        return;
    armed_ &= ~bit;
    regs_.at(abi::dma::SEM_PENDING) |= bit;
    interrupt_.update();
}

void dma_semaphores::reset()
{
    counts_.fill(0);
    thresholds_.fill(0);
    bank_ = 0;
    armed_ = 0;
}

} // namespace weft
