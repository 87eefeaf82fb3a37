// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The HAL of an RV64 core as a driver sees it; what it finds goes to the console, which the bench reads.
#include "hw/abi/hal.h"

using weft::abi::hal;

extern "C" void weft_firmware_main(hal& h, std::uint64_t argument);

void weft_firmware_main(hal& h, std::uint64_t argument)
{
    constexpr std::uint64_t k_device = 0x1000'0000, k_nothing = 0x2000'0000, k_hbm = 0x80'0000'0000;
    h.log("argument", argument);
    if (argument == 1) // outside the HAL nobody expects a bus error
        *reinterpret_cast<volatile std::uint32_t*>(k_nothing + 4) = 1;
    h.write32(k_device + 4, 41);
    h.log("register", h.read32(k_device + 4) + 1);
    h.write64(k_device + 8, 0x1'0000'0002);
    h.log("wide", h.read64(k_device + 8));
    unsigned char out[72], in[72] = {};
    for (unsigned i = 0; i < sizeof out; ++i)
        out[i] = static_cast<unsigned char>(i + 1);
    const std::uint64_t before = h.now_ns();
    h.copy_out(k_hbm + 0x100, out, sizeof out);
    h.log("copy out ns", h.now_ns() - before);
    h.copy_in(in, k_hbm + 0x100, sizeof in);
    std::uint64_t sum = 0;
    for (const unsigned char c : in)
        sum += c;
    h.log("sum", sum);
    const std::uint64_t start = h.now_ns();
    h.log("lines", h.wait_irq(1, 5'000));
    h.log("timeout after us", (h.now_ns() - start) / 1000);
    h.log("lines", h.wait_irq(2, ~std::uint64_t{0}));
    h.log("met", h.poll_until(k_device, 0xff, 7, 100'000));
    h.log("not met", h.poll_until(k_device, 0xff, 9, 10'000));
    h.log("value", h.read32(k_nothing + 0x40));
    h.log("fault set", h.fault().set);
    h.log("fault address", h.fault().address);
    h.clear_fault();
    h.write64(k_nothing + 0x48, 1);
    h.log("fault write", h.fault().was_write);
    h.clear_fault();
    h.copy_in(in, k_nothing + 0x80, 8);
    h.log("fault address", h.fault().address);
    h.log("fault write", h.fault().was_write);
    h.log("not met", h.poll_until(k_nothing, 0xff, 9, ~std::uint64_t{0}));
}
