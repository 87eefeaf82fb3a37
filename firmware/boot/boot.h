// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Firmware on an RV64 core: the HAL over its control block (hw/abi/core_regs.def), and the trap state. A driver needs
// nothing of this: it defines
//
//     extern "C" void weft_firmware_main(weft::abi::hal& hal, std::uint64_t argument);
//
// and is linked with this folder by the CMake function weft_firmware (cmake/firmware.cmake). When it returns, the
// core halts.
#pragma once

#include "hw/abi/hal.h"

namespace weft::boot {

inline constexpr std::uint32_t k_trap_stack_bytes = 1024;

/// Where a trap saves the registers, and what it found. Lives on the stack of weft_boot(); start.S knows the first
/// two.
struct trap_state {
    std::uint64_t registers[32] = {};
    std::uint64_t stack = 0; ///< top of `stack_memory`
    abi::bus_fault fault;
    std::uint32_t faults = 0; ///< bus errors so far
    alignas(16) unsigned char stack_memory[k_trap_stack_bytes];
};

/// Core time is charged by the instructions themselves, so compute() does nothing.
class rv64_hal final : public abi::hal {
public:
    explicit rv64_hal(trap_state& traps) : traps_(traps) {}

    std::uint32_t read32(std::uint64_t address) override;
    void write32(std::uint64_t address, std::uint32_t value) override;
    std::uint64_t read64(std::uint64_t address) override;
    void write64(std::uint64_t address, std::uint64_t value) override;
    void copy_in(void* to, std::uint64_t from_address, std::uint32_t bytes) override;
    void copy_out(std::uint64_t to_address, const void* from, std::uint32_t bytes) override;
    std::uint32_t wait_irq(std::uint32_t mask, std::uint64_t timeout_ns) override;
    bool poll_until(std::uint64_t address, std::uint32_t mask, std::uint32_t expected,
                    std::uint64_t timeout_ns) override;
    void compute(std::uint32_t) override {}
    void spin(std::uint32_t work) override;
    std::uint64_t now_ns() override;
    void log(const char* text, std::uint64_t value) override;
    abi::bus_fault fault() const override { return traps_.fault; }
    bool faulted() const override { return traps_.fault.set; }
    void clear_fault() override { traps_.fault = {}; }

private:
    trap_state& traps_;
};

} // namespace weft::boot
