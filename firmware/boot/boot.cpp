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
void weft_burst(std::uint64_t bus_address, void* memory, std::uint32_t bytes_and_direction);
void weft_sleep();
[[noreturn]] void weft_halt(std::uint32_t code);
void weft_set_trap_state(weft::boot::trap_state* state);
// link.ld
extern const unsigned char __access_begin[];
extern const unsigned char __access_end[];
extern const unsigned char __burst_begin[]; // of weft_burst
extern const unsigned char __burst_end[];
// the driver
void weft_firmware_main(weft::abi::hal& hal, std::uint64_t argument);

[[noreturn]] void weft_boot(std::uint64_t argument);
std::uint64_t weft_trap(weft::boot::trap_state* state, std::uint64_t cause, std::uint64_t pc, std::uint64_t value);
}

namespace weft::boot {

namespace {

static_assert(abi::k_core_base == 0x0200'0000 && abi::core::HALT == 0x3c && abi::core::BURST_BUS == 0x40 &&
                  abi::core::BURST_MEMORY == 0x48 && abi::core::BURST_START == 0x50,
              "start.S knows these numbers");
static_assert(offsetof(trap_state, registers) == 0 && offsetof(trap_state, stack) == 256,
              "start.S knows these numbers");
static_assert(abi::k_program_memory_base == 0x10'0000 && abi::k_program_memory_bytes == 320 << 10,
              "link.ld knows these numbers");

constexpr std::uint64_t k_no_deadline = ~std::uint64_t{0};
/// Between the first two reads of a polled register; doubles. Both are the defaults of core.poll_interval and
/// poll_interval_max, 47 and 3200 cycles, at 940 MHz: keys of native cores.
constexpr std::uint64_t k_poll_interval_ns = 50;
constexpr std::uint64_t k_poll_interval_max_ns = 3400;
constexpr std::uint32_t k_burst_to_bus = 1u << 31;

// The control block: part of the core, so no access to it fails.
template <class Word> volatile Word& core_register(std::uint64_t offset)
{
    return *reinterpret_cast<volatile Word*>(abi::k_core_base + offset);
}
std::uint32_t pending_lines() { return core_register<std::uint32_t>(abi::core::IRQ_PENDING); }
void enable_lines(std::uint32_t lines) { core_register<std::uint32_t>(abi::core::IRQ_ENABLE) = lines; }
void set_timer_ns(std::uint64_t time) { core_register<std::uint64_t>(abi::core::TIMER_NS) = time; }
std::uint64_t time_ns() { return core_register<std::uint64_t>(abi::core::TIME_NS); }

std::uint64_t deadline_ns(std::uint64_t timeout_ns)
{
    const std::uint64_t now = time_ns();
    return timeout_ns >= k_no_deadline - now ? k_no_deadline : now + timeout_ns;
}

void put(char c) { core_register<std::uint32_t>(abi::core::CONSOLE) = static_cast<unsigned char>(c); }

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

void rv64_hal::copy_in(void* to, std::uint64_t from_address, std::uint32_t bytes)
{
    if (bytes == 0)
        return;
    weft_burst(from_address, to, bytes);
    asm volatile("" ::: "memory");
}

void rv64_hal::copy_out(std::uint64_t to_address, const void* from, std::uint32_t bytes)
{
    if (bytes != 0)
        weft_burst(to_address, const_cast<void*>(from), bytes | k_burst_to_bus);
}

std::uint32_t rv64_hal::wait_irq(std::uint32_t mask, std::uint64_t timeout_ns)
{
    std::uint32_t lines = pending_lines() & mask;
    if (lines != 0)
        return lines;
    const std::uint64_t deadline = deadline_ns(timeout_ns);
    enable_lines(mask);
    set_timer_ns(deadline);
    for (;;) {
        weft_sleep();
        lines = pending_lines() & mask;
        if (lines != 0 || time_ns() >= deadline)
            return lines;
    }
}

bool rv64_hal::poll_until(std::uint64_t address, std::uint32_t mask, std::uint32_t expected, std::uint64_t timeout_ns)
{
    const std::uint64_t deadline = deadline_ns(timeout_ns);
    enable_lines(0);
    std::uint64_t interval = k_poll_interval_ns;
    const std::uint32_t faults_before = traps_.faults;
    for (;;) {
        if ((weft_read32(address) & mask) == expected)
            return true;
        if (traps_.faults != faults_before)
            return false; // polling on would not make the device appear
        const std::uint64_t now = time_ns();
        if (now >= deadline)
            return false;
        set_timer_ns(now + interval);
        weft_sleep();
        interval = 2 * interval < k_poll_interval_max_ns ? 2 * interval : k_poll_interval_max_ns;
    }
}

void rv64_hal::spin(std::uint32_t work)
{
    enable_lines(0);
    set_timer_ns(time_ns() + work);
    weft_sleep();
}

std::uint64_t rv64_hal::now_ns() { return time_ns(); }

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
        // The store that starts a burst may have read from the bus; a2 tells.
        const bool of_burst =
            pc >= reinterpret_cast<std::uintptr_t>(__burst_begin) && pc < reinterpret_cast<std::uintptr_t>(__burst_end);
        const bool is_write = cause == 7 && (!of_burst || (state->registers[12] & boot::k_burst_to_bus) != 0);
        // The caller says more than the accessor: in its call, which ends in front of ra.
        boot::report(is_write ? "bus error on a write" : "bus error on a read", state->registers[1] - 1, value);
        state->fault = {true, is_write, value};
    }
    const unsigned first_byte = *reinterpret_cast<const volatile unsigned char*>(pc);
    return pc + ((first_byte & 3u) == 3u ? 4 : 2);
}
