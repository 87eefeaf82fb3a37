// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Firmware for this host whose rank 2 loops among four ranks, and among six writes to an address that does not exist,
// and among eight throws.
#include "hw/abi/hal.h"
#include "hw/abi/platform_table.h"

using namespace weft;

namespace {

[[gnu::noinline]] void spin()
{
    for (volatile unsigned turns = 0;;)
        turns = turns + 1;
}

[[gnu::noinline]] void write_to(volatile int* address) { *address = 1; }

[[gnu::noinline]] void throw_it() { throw 1; }

} // namespace

extern "C" void weft_firmware_entry(abi::hal& hal, std::uint64_t)
{
    abi::platform_table table;
    hal.copy_in(&table, abi::k_platform_table_address, sizeof table);
    hal.wait_irq(abi::k_irq_mailbox, ~std::uint64_t{0});
    if (table.rank == 2 && table.ranks == 4)
        spin();
    if (table.rank == 2 && table.ranks == 6)
        write_to(nullptr);
    if (table.rank == 2 && table.ranks == 8)
        throw_it();
    hal.wait_irq(abi::k_irq_dma, ~std::uint64_t{0});
}
