// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Firmware in which rank 1, or ranks 1 to 3 of 18, loop for ever; the number of ranks chooses how. The other ranks sleep; among
// 14 all answer once.
#include "hw/abi/hal.h"
#include "hw/abi/platform_table.h"
#include "hw/abi/registers.h"

using namespace weft;

extern "C" void weft_firmware_main(abi::hal& hal, std::uint64_t argument);

namespace {

constexpr std::uint64_t k_for_ever = ~std::uint64_t{0};

[[gnu::noinline]] void spin()
{
    for (;;)
        asm volatile("");
}

/// Reads of the clock call out of the program, and let hardly any simulated time pass.
[[gnu::noinline]] void watch_the_clock(abi::hal& hal)
{
    while (hal.now_ns() < k_for_ever) {
    }
}

/// Each write makes the DMA engine look at its queue: the machine is never without events.
[[gnu::noinline]] void ring_the_doorbell(abi::hal& hal)
{
    hal.write32(abi::k_dma_base + abi::dma::RING_ENTRIES(0), 16);
    while (hal.read32(abi::k_dma_base + abi::dma::HEAD(0)) == 0)
        hal.write32(abi::k_dma_base + abi::dma::TAIL(0), 0);
}

/// A command, and its answer.
void answer(abi::hal& hal)
{
    hal.wait_irq(abi::k_irq_mailbox, k_for_ever);
    abi::response r;
    r.sequence = hal.read32(abi::k_mailbox_base + abi::mailbox::COMMAND_SEQUENCE);
    hal.write32(abi::k_mailbox_base + abi::mailbox::COMMAND_ACK, r.sequence);
    hal.copy_out(abi::k_response_address, &r, sizeof r);
    hal.write32(abi::k_mailbox_base + abi::mailbox::DONE, r.sequence);
}

[[gnu::noinline]] void print_for_ever(abi::hal& hal)
{
    for (std::uint64_t turn = 0;; ++turn)
        hal.log("still here", turn);
}

} // namespace

void weft_firmware_main(abi::hal& hal, std::uint64_t)
{
    abi::platform_table table;
    hal.copy_in(&table, abi::k_platform_table_address, sizeof table);
    if (table.rank == 1 && table.ranks == 10)
        watch_the_clock(hal);
    if (table.rank == 1 && table.ranks == 22)
        spin();
    if (table.ranks == 14) {
        answer(hal);
        if (table.rank == 1)
            watch_the_clock(hal);
    }
    hal.wait_irq(abi::k_irq_mailbox, k_for_ever);
    if (table.rank >= 1 && table.rank <= 2 && table.ranks == 18)
        spin();
    if (table.rank == 1 && table.ranks == 8)
        ring_the_doorbell(hal);
    if (table.rank == 1 && table.ranks == 16)
        print_for_ever(hal);
    hal.wait_irq(abi::k_irq_dma, k_for_ever);
}
