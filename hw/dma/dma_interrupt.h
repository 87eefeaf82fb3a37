// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Interrupt line of a DMA engine: high while IRQ_STATUS & IRQ_ENABLE is not zero. Plain C++.
#pragma once

#include "hw/abi/hal.h"
#include "hw/abi/registers.h"
#include "tlm/irq_if.h"
#include "tlm/reg_file.h"

#include <cstdint>

namespace weft {

// Bits of ERROR
inline constexpr std::uint32_t k_dma_error_descriptor = 1u << 0;
inline constexpr std::uint32_t k_dma_error_memory = 1u << 1;
inline constexpr std::uint32_t k_dma_error_doorbell = 1u << 2;

class dma_interrupt {
public:
    dma_interrupt(reg_file& registers, irq_if& core) : regs_(registers), core_(core)
    {
        regs_.on_write(abi::dma::IRQ_ENABLE, [this](std::uint32_t, std::uint64_t) { update(); });
        regs_.on_write(abi::dma::ERROR, [this](std::uint32_t, std::uint64_t) { update(); });
        regs_.on_read(abi::dma::IRQ_STATUS, [this](std::uint32_t, std::uint64_t) { return status(); });
    }
    dma_interrupt(const dma_interrupt&) = delete;
    dma_interrupt& operator=(const dma_interrupt&) = delete;

    /// `bits` of ERROR, met by `queue`; the number of queues stands for none of them.
    void raise_error(std::uint32_t queue, std::uint32_t bits)
    {
        if (regs_.at(abi::dma::ERROR) == 0)
            regs_.at(abi::dma::ERROR_QUEUE) = queue;
        regs_.at(abi::dma::ERROR) |= bits;
        update();
    }
    /// A register that IRQ_STATUS shows may have changed: the line follows.
    void update()
    {
        const bool level = (status() & regs_.at(abi::dma::IRQ_ENABLE)) != 0;
        if (level != level_) {
            level_ = level;
            core_.set_irq(abi::k_irq_dma, level);
        }
    }

private:
    static constexpr std::uint64_t k_status_semaphores = 1u << 0;
    static constexpr std::uint64_t k_status_error = 1u << 1;

    std::uint64_t status() const
    {
        return (regs_.at(abi::dma::SEM_PENDING) != 0 ? k_status_semaphores : 0) |
               (regs_.at(abi::dma::ERROR) != 0 ? k_status_error : 0);
    }

    reg_file& regs_;
    irq_if& core_;
    bool level_ = false;
};

} // namespace weft
