// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The hardware abstraction layer: everything firmware may ask of the core it runs on. Three bindings exist: the native
// core (TLM sockets and a cost table), the rv64 core (loads, stores and traps), and the strict fake of the unit tests.
//
// Semantics. Code runs in zero simulated time; time passes only inside these calls. Addresses are the chip's physical
// addresses (platform_table.h). Whoever waits says so, and for how long: the core is not busy then.
//
// Errors. A bus access that is answered with an error sets the sticky `fault()` record and returns 0; later accesses
// still go out. Drivers look at fault() after each group of accesses and report status_code::bus_error with its
// address.
#pragma once

#include "hw/abi/types.h"

namespace weft::abi {

/// Outcome of an operation of a driver: a code, the register or table that was being used, and one number about it.
struct status {
    status_code code = status_code::ok;
    const char* where = ""; ///< static text: "DMA.SEM_PENDING"
    std::uint64_t detail = 0;
    constexpr bool ok() const { return code == status_code::ok; }
};

/// First bus access that failed since clear_fault().
struct bus_fault {
    bool set = false;
    bool was_write = false;
    std::uint64_t address = 0;
};

/// Whose instructions a core is charged: the columns of firmware/costs.h.
enum class instruction_set : std::uint8_t { rv64gc, x86_sse, x86_avx2 };

class hal {
public:
    virtual std::uint32_t read32(std::uint64_t address) = 0;
    virtual void write32(std::uint64_t address, std::uint32_t value) = 0;
    virtual std::uint64_t read64(std::uint64_t address) = 0;
    virtual void write64(std::uint64_t address, std::uint64_t value) = 0;

    /// Copy between a firmware object and memory on the bus (core-local memory, HBM window). One bus transaction.
    virtual void copy_in(void* to, std::uint64_t from_address, std::uint32_t bytes) = 0;
    virtual void copy_out(std::uint64_t to_address, const void* from, std::uint32_t bytes) = 0;
    /// The same for a loop that works on memory where it lies: charged as x86, its loads and stores are among the
    /// instructions of compute(), and the core pays for the access alone. An rv64gc core copies all the same.
    virtual void stream_in(void* to, std::uint64_t from_address, std::uint32_t bytes) { copy_in(to, from_address, bytes); }
    virtual void stream_out(std::uint64_t to_address, const void* from, std::uint32_t bytes)
    {
        copy_out(to_address, from, bytes);
    }

    /// Sleep until an interrupt line of `mask` is pending. Returns the pending lines of `mask`, 0 when `timeout_ns`
    /// passed.
    /// Lines are levels: they stay pending until the device is served.
    virtual std::uint32_t wait_irq(std::uint32_t mask, std::uint64_t timeout_ns) = 0;
    /// Read the 32-bit register until (value & mask) == expected. False when `timeout_ns` passed.
    virtual bool poll_until(std::uint64_t address, std::uint32_t mask, std::uint32_t expected,
                            std::uint64_t timeout_ns) = 0;

    virtual void compute(std::uint32_t work) = 0; ///< charge this many instructions
    /// The time of as many instructions of a loop that looks until something has changed which no single register
    /// tells. The core waits meanwhile; one that executes its firmware sleeps for `work` ns.
    virtual void spin(std::uint32_t work) = 0;
    /// What those instructions are. A core that executes its firmware instead of being charged leaves it alone.
    virtual instruction_set charged_as() const { return instruction_set::rv64gc; }
    /// Charge `times` copies of `bytes`, at most k_hal_most_charged_bytes, from `address`; another engine moves the
    /// data. The first one takes as long as one takes now, the others what one takes at least. An RV64 core is not
    /// charged.
    virtual void charge_copies(std::uint64_t address, std::uint32_t bytes, std::uint64_t times)
    {
        static_cast<void>(address);
        static_cast<void>(bytes);
        static_cast<void>(times);
    }
    /// The same of stream_in().
    virtual void charge_streams(std::uint64_t address, std::uint32_t bytes, std::uint64_t times)
    {
        charge_copies(address, bytes, times);
    }
    virtual std::uint64_t now_ns() = 0;           ///< simulated time
    virtual void log(const char* text, std::uint64_t value) = 0;
    virtual bus_fault fault() const = 0;
    /// fault().set; a HAL may know it for less.
    virtual bool faulted() const { return fault().set; }
    virtual void clear_fault() = 0;

protected:
    ~hal() = default;
};

inline constexpr std::uint32_t k_hal_most_charged_bytes = 1024;

/// Instructions between two reads of poll_until() besides the interval, on an RV64 core (firmware/boot/boot.cpp).
inline constexpr std::uint32_t k_hal_poll_instructions = 15;

/// Interrupt lines of the core.
inline constexpr std::uint32_t k_irq_mailbox = 1u << 0;
inline constexpr std::uint32_t k_irq_dma = 1u << 1;
inline constexpr std::uint32_t k_irq_sync = 1u << 3; ///< 1 << 2 is that of the NIC (nic.h)
inline constexpr std::uint32_t k_irq_ccu = 1u << 4;  ///< of die 0; that of die d is 1 << (4 + d)

} // namespace weft::abi
