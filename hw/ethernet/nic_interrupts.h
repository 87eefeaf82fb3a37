// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Interrupt lines of a NIC: IRQ_PENDING has a bit a queue, and queue q raises the line of core q modulo the number of
// cores.
#pragma once

#include "tlm/irq_if.h"
#include "tlm/stats.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

class nic_interrupts {
public:
    /// `pending` is the register.
    nic_interrupts(std::vector<irq_if*> cores, std::uint32_t queues, std::uint64_t& pending)
        : cores_(std::move(cores)), lines_(cores_.size()), queues_(queues), pending_(pending)
    {
    }

    // The line follows when it is updated.
    void set(std::uint32_t q)
    {
        pending_ |= std::uint64_t{1} << q;
        ++raised;
    }
    void clear(std::uint32_t q) { pending_ &= ~(std::uint64_t{1} << q); }
    void clear_all() { pending_ = 0; }
    void update(std::uint32_t q) { update_line(q % cores_.size()); }
    void update_all()
    {
        for (std::size_t c = 0; c < cores_.size(); ++c)
            update_line(c);
    }

    std::size_t lines() const { return cores_.size(); }

    counter raised; ///< times that a queue set its bit

private:
    void update_line(std::size_t c);

    std::vector<irq_if*> cores_;
    std::vector<bool> lines_; ///< of the cores
    std::uint32_t queues_;
    std::uint64_t& pending_;
};

} // namespace weft
