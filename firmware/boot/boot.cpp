// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/boot/boot.h"

#include "hw/abi/platform_table.h"
#include "hw/abi/registers.h"

extern "C" {
// start.S
std::uint32_t weft_read32(std::uint64_t address);
std::uint64_t weft_read64(std::uint64_t address);
void weft_write32(std::uint64_t address, std::uint32_t value);
void weft_write64(std::uint64_t address, std::uint64_t value);
void weft_sleep();
[[noreturn]] void weft_halt(std::uint32_t code);
void weft_set_trap_state(weft::boot::trap_state* state);
// link.ld
extern const unsigned char __access_begin[];
extern const unsigned char __access_end[];
// the driver
void weft_firmware_main(weft::abi::hal& hal, std::uint64_t argument);

[[noreturn]] void weft_boot(std::uint64_t argument);
std::uint64_t weft_trap(weft::boot::trap_state* state, std::uint64_t cause, std::uint64_t pc, std::uint64_t value);
}

namespace weft::boot {

namespace {

static_assert(abi::k_core_base == 0x0200'0000 && abi::core::HALT == 0x3c, "start.S knows these numbers");
static_assert(offsetof(trap_state, registers) == 0 && offsetof(trap_state, stack) == 256,
              "start.S knows these numbers");
static_assert(abi::k_program_memory_base == 0x10'0000 && abi::k_program_memory_bytes == 256 << 10,
              "link.ld knows these numbers");

constexpr std::uint64_t k_no_deadline = ~std::uint64_t{0};
constexpr std::uint64_t k_poll_interval_ns = 50; ///< between the first two reads of a polled register; doubles
constexpr std::uint64_t k_poll_interval_max_ns = 3400;
constexpr std::uint32_t k_burst_to_bus = 1u << 31;
constexpr std::uint32_t k_burst_from_bus = 0;

constexpr std::uint64_t reg(std::uint64_t offset) { return abi::k_core_base + offset; }

void put(char c) { weft_write32(reg(abi::core::CONSOLE), static_cast<unsigned char>(c)); }

void put(const char* text)
{
    for (; *text != '\0'; ++text)
        put(*text);
}

void put_decimal(std::uint64_t value)
{
    char digits[20];
    unsigned n = 0;
    do {
        digits[n++] = static_cast<char>('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (n != 0)
        put(digits[--n]);
}

void put_hex(std::uint64_t value)
{
    put("0x");
    int shift = 60;
    while (shift > 0 && (value >> shift) == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        put("0123456789abcdef"[(value >> shift) & 15]);
}

const char* name_of(std::uint64_t cause)
{
    switch (cause) {
    case 1: return "instruction access fault";
    case 2: return "illegal instruction";
    case 3: return "breakpoint";
    case 5: return "load access fault";
    case 7: return "store access fault";
    case 11: return "environment call";
    default: return "trap";
    }
}

void report(const char* what, std::uint64_t pc, std::uint64_t value)
{
    put(what);
    put(" at pc ");
    put_hex(pc);
    put(", address ");
    put_hex(value);
    put('\n');
}

} // namespace

std::uint32_t rv64_hal::read32(std::uint64_t address) { return weft_read32(address); }
void rv64_hal::write32(std::uint64_t address, std::uint32_t value) { weft_write32(address, value); }
std::uint64_t rv64_hal::read64(std::uint64_t address) { return weft_read64(address); }
void rv64_hal::write64(std::uint64_t address, std::uint64_t value) { weft_write64(address, value); }

void rv64_hal::burst(std::uint64_t bus_address, const void* memory, std::uint32_t bytes, std::uint32_t direction)
{
    if (bytes == 0)
        return;
    weft_write64(reg(abi::core::BURST_BUS), bus_address);
    weft_write64(reg(abi::core::BURST_MEMORY), reinterpret_cast<std::uintptr_t>(memory));
    traps_.reading_burst = direction == k_burst_from_bus;
    asm volatile("" ::: "memory"); // the burst reads and writes what the compiler may hold in registers
    weft_write32(reg(abi::core::BURST_START), bytes | direction);
    asm volatile("" ::: "memory");
    traps_.reading_burst = false;
}

void rv64_hal::copy_in(void* to, std::uint64_t from_address, std::uint32_t bytes)
{
    burst(from_address, to, bytes, k_burst_from_bus);
}

void rv64_hal::copy_out(std::uint64_t to_address, const void* from, std::uint32_t bytes)
{
    burst(to_address, from, bytes, k_burst_to_bus);
}

std::uint64_t rv64_hal::deadline_ns(std::uint64_t timeout_ns)
{
    const std::uint64_t now = now_ns();
    return timeout_ns >= k_no_deadline - now ? k_no_deadline : now + timeout_ns;
}

std::uint32_t rv64_hal::wait_irq(std::uint32_t mask, std::uint64_t timeout_ns)
{
    std::uint32_t lines = weft_read32(reg(abi::core::IRQ_PENDING)) & mask;
    if (lines != 0)
        return lines;
    const std::uint64_t deadline = deadline_ns(timeout_ns);
    weft_write32(reg(abi::core::IRQ_ENABLE), mask);
    weft_write64(reg(abi::core::TIMER_NS), deadline);
    for (;;) {
        weft_sleep();
        lines = weft_read32(reg(abi::core::IRQ_PENDING)) & mask;
        if (lines != 0 || now_ns() >= deadline)
            return lines;
    }
}

bool rv64_hal::poll_until(std::uint64_t address, std::uint32_t mask, std::uint32_t expected, std::uint64_t timeout_ns)
{
    const std::uint64_t deadline = deadline_ns(timeout_ns);
    weft_write32(reg(abi::core::IRQ_ENABLE), 0);
    std::uint64_t interval = k_poll_interval_ns;
    const std::uint32_t faults_before = traps_.faults;
    for (;;) {
        if ((weft_read32(address) & mask) == expected)
            return true;
        if (traps_.faults != faults_before)
            return false; // polling on would not make the device appear
        const std::uint64_t now = now_ns();
        if (now >= deadline)
            return false;
        weft_write64(reg(abi::core::TIMER_NS), now + interval);
        weft_sleep();
        interval = 2 * interval < k_poll_interval_max_ns ? 2 * interval : k_poll_interval_max_ns;
    }
}

std::uint64_t rv64_hal::now_ns() { return weft_read64(reg(abi::core::TIME_NS)); }

void rv64_hal::log(const char* text, std::uint64_t value)
{
    put(text);
    put(' ');
    put_decimal(value);
    put('\n');
}

} // namespace weft::boot

using namespace weft;

void weft_boot(std::uint64_t argument)
{
    boot::trap_state traps;
    traps.stack = reinterpret_cast<std::uintptr_t>(traps.stack_memory) + boot::k_trap_stack_bytes;
    weft_set_trap_state(&traps);
    boot::rv64_hal hal(traps);
    weft_firmware_main(hal, argument);
    weft_halt(0);
}

std::uint64_t weft_trap(boot::trap_state* state, std::uint64_t cause, std::uint64_t pc, std::uint64_t value)
{
    const bool access = cause == 5 || cause == 7;
    const bool of_hal =
        pc >= reinterpret_cast<std::uintptr_t>(__access_begin) && pc < reinterpret_cast<std::uintptr_t>(__access_end);
    if (!access || !of_hal) {
        boot::report(boot::name_of(cause), pc, value);
        weft_halt(static_cast<std::uint32_t>(cause) + 1); // 0 would mean that all is well
    }
    ++state->faults;
    if (!state->fault.set) {
        const bool is_write = cause == 7 && !state->reading_burst;
        // The caller, in ra, says more than the accessor.
        boot::report(is_write ? "bus error on a write" : "bus error on a read", state->registers[1], value);
        state->fault = {true, is_write, value};
    }
    const unsigned first_byte = *reinterpret_cast<const volatile unsigned char*>(pc);
    return pc + ((first_byte & 3u) == 3u ? 4 : 2);
}
