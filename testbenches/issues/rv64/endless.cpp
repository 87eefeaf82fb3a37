// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Firmware that never answers. Rank 1 loops: among four ranks without looking at anything, else polling a register; the others
// sleep.
#include "hw/abi/hal.h"
#include "hw/abi/platform_table.h"
#include "hw/abi/registers.h"

using namespace weft;

extern "C" void weft_firmware_main(abi::hal& hal, std::uint64_t argument);

[[gnu::noinline]] static void spin_quietly()
{
    for (;;)
        asm volatile("");
}

[[gnu::noinline]] static void poll_for_ever(abi::hal& hal)
{
    while (hal.read32(abi::k_dma_base + abi::dma::HEAD(3)) == 0) {
    }
}

void weft_firmware_main(abi::hal& hal, std::uint64_t)
{
    abi::platform_table table;
    hal.copy_in(&table, abi::k_platform_table_address, sizeof table);
    hal.wait_irq(abi::k_irq_mailbox, ~std::uint64_t{0});
    if (table.rank == 1 && table.ranks == 4)
        spin_quietly();
    else if (table.rank == 1)
        poll_for_ever(hal);
    hal.wait_irq(abi::k_irq_dma, ~std::uint64_t{0});
}
