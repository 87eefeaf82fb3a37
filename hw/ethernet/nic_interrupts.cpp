// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/nic_interrupts.h"

#include "hw/abi/nic.h"

namespace weft {

/// Line of core `c`, which queues c, c + cores, c + 2 * cores ... share.
void nic_interrupts::update_line(std::size_t c)
{
    bool level = false;
    for (std::size_t q = c; q < queues_; q += cores_.size())
        level = level || (pending_ >> q & 1) != 0;
    if (level != lines_[c]) {
        lines_[c] = level;
        cores_[c]->set_irq(abi::k_irq_nic, level);
    }
}

} // namespace weft
