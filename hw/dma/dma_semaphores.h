// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Semaphores of a DMA engine: they count messages until an armed threshold is reached. Registers show one bank of them
// at a time.
// Plain C++.
#pragma once

#include "hw/abi/registers.h"
#include "hw/dma/dma_interrupt.h"
#include "tlm/reg_file.h"

#include <array>
#include <cstdint>

namespace weft {

class dma_semaphores {
public:
    static constexpr std::uint32_t k_bank = abi::dma::SEM_COUNT_count; ///< semaphores
    static constexpr std::uint32_t k_count = k_bank * abi::dma::SEM_BANKS_reset;

    /// `interrupt` is told when SEM_PENDING has changed.
    dma_semaphores(reg_file& registers, dma_interrupt& interrupt);
    dma_semaphores(const dma_semaphores&) = delete;
    dma_semaphores& operator=(const dma_semaphores&) = delete;

    /// One message more for semaphore `s` < k_count, of whatever bank.
    void count(std::uint32_t s)
    {
        ++counts_[s];
        if (s - bank_ < k_bank) // unsigned: those of banks before it become large
            check(s - bank_);
    }
    std::uint32_t value(std::uint32_t s) const { return counts_[s]; }
    /// Whether `s` has counted to `target`, as a signed difference.
    bool reached(std::uint32_t s, std::uint32_t target) const { return static_cast<std::int32_t>(counts_[s] - target) >= 0; }
    /// As before the first message. Registers are reset by their owner.
    void reset();

private:
    void show(std::uint64_t bank);
    void arm(std::uint32_t s, std::uint32_t threshold);
    void check(std::uint32_t s);

    std::array<std::uint32_t, k_count> counts_{};
    std::array<std::uint32_t, k_bank> thresholds_{}; ///< of the bank that is shown, as what is armed
    std::uint32_t bank_ = 0;                         ///< its first semaphore
    std::uint64_t armed_ = 0;                        ///< one bit a semaphore
    reg_file& regs_;
    dma_interrupt& interrupt_;
};

} // namespace weft
