// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// An instruction-set simulator of one RV64GC hart, as the core model sees it. Pure C++: an engine knows neither
// SystemC nor time. It executes out of mapped memory, hands every other access to its host and counts instructions;
// interrupts, counters and time are the host's.
//
// Contract of an engine:
//   * run() executes instructions until one of the reasons of iss_stop holds; pc() is then the next instruction.
//   * A load or store outside mapped memory calls the host in program order, in the middle of run(). The host may take
//     its time (its thread may wait there). When the host refuses, the instruction is abandoned before it changes a
//     register and run() returns iss_stop::trap with the access fault.
//   * Exceptions are never entered by the engine: run() returns iss_stop::trap; the host calls enter_trap(), or ends.
//   * The counters (cycle, instret, time, and mhartid) are read from the host.
//   * What the host throws in a callback comes out of run().
#pragma once

#include <cstdint>
#include <memory>

namespace weft {

enum class iss_counter : std::uint8_t { cycle, time, instret, hart };

class iss_host {
public:
    /// An access of 1, 2, 4 or 8 bytes outside mapped memory. False: bus error.
    virtual bool iss_read(std::uint64_t address, unsigned bytes, std::uint64_t& value) = 0;
    virtual bool iss_write(std::uint64_t address, unsigned bytes, std::uint64_t value) = 0;
    virtual std::uint64_t iss_read_counter(iss_counter which) = 0;

protected:
    ~iss_host() = default;
};

/// Sees what a hart executes: debuggers, traces, coverage.
class iss_observer {
public:
    /// Before the instruction at `pc`, once for each that begins. Registers may be read and set; after set_pc() the
    /// instruction is not executed. May wait on the host, not in simulated time.
    virtual void on_instruction(std::uint64_t pc) = 0;
    /// A burst of the control block has read or written `bytes` of program memory.
    virtual void on_burst(std::uint64_t address, std::uint64_t bytes, bool is_write) = 0;

protected:
    ~iss_observer() = default;
};

enum class iss_stop : std::uint8_t {
    budget, ///< the instructions of run() are used up, or stop() was called
    wfi,    ///< a wfi was executed; pc() is behind it
    trap    ///< last_trap() says which; pc() is the instruction that caused it
};

/// An exception. `cause` and `value` are those of mcause and mtval.
struct iss_trap {
    std::uint64_t cause = 0;
    std::uint64_t pc = 0;
    std::uint64_t value = 0;
};

/// mcause of the exceptions that occur, and of interrupts (with the top bit).
namespace trap_cause {
inline constexpr std::uint64_t k_fetch_fault = 1;
inline constexpr std::uint64_t k_illegal_instruction = 2;
inline constexpr std::uint64_t k_breakpoint = 3;
inline constexpr std::uint64_t k_load_misaligned = 4;
inline constexpr std::uint64_t k_load_fault = 5;
inline constexpr std::uint64_t k_store_fault = 7;
inline constexpr std::uint64_t k_ecall = 11; ///< from machine mode, the only mode there is
inline constexpr std::uint64_t k_interrupt = 1ull << 63;
inline constexpr std::uint64_t k_timer_interrupt = k_interrupt | 7;
inline constexpr std::uint64_t k_external_interrupt = k_interrupt | 11;
} // namespace trap_cause

enum class iss_csr : std::uint8_t { mstatus, mie, mtvec, mepc, mcause, mtval, fcsr };

class iss {
public:
    virtual ~iss() = default;

    /// Memory of the hart: `host` has `bytes` bytes and outlives the engine; both ends are multiples of 4 KiB. Once.
    virtual void map_memory(std::uint64_t base, std::uint64_t bytes, std::uint8_t* host) = 0;
    /// The program has been written to mapped memory; to be called before the first run().
    virtual void program_loaded() = 0;

    /// Execute `instructions`, at least one.
    virtual iss_stop run(std::uint64_t instructions) = 0;
    /// In a callback: end run() before the next instruction.
    virtual void stop() = 0;
    virtual const iss_trap& last_trap() const = 0;
    /// Instructions executed so far; in a callback the current one counts already.
    virtual std::uint64_t retired() const = 0;

    /// Machine-mode trap entry: mepc, mcause, mtval, mstatus; goes on at mtvec.
    virtual void enter_trap(const iss_trap& trap) = 0;

    /// Only when asked is anything observed, and nothing paid for it otherwise. `observer` outlives the engine or is
    /// nullptr; between runs.
    virtual void observe(iss_observer* observer) = 0;
    /// Program memory as a debugger changes it: what has been translated of it is forgotten.
    virtual void patch_memory(std::uint64_t address, const void* from, std::uint64_t bytes) = 0;
    /// False in an access of iss_host: an instruction is half done, and nothing may be set.
    virtual bool between_instructions() const = 0;

    /// The next instruction; in an access the one that makes it.
    virtual std::uint64_t pc() const = 0;
    virtual void set_pc(std::uint64_t pc) = 0;
    virtual std::uint64_t reg(unsigned x) const = 0; ///< x0 to x31
    virtual void set_reg(unsigned x, std::uint64_t value) = 0;
    virtual std::uint64_t float_reg(unsigned f) const = 0; ///< f0 to f31, as bits
    virtual void set_float_reg(unsigned f, std::uint64_t value) = 0;
    virtual std::uint64_t csr(iss_csr which) const = 0;
    virtual void set_csr(iss_csr which, std::uint64_t value) = 0;
};

/// The engine of this build, calling `host`, which outlives it; nullptr in a build without one. hw/core/engines/.
std::unique_ptr<iss> make_iss(iss_host& host);
/// Its name, "" in a build without one.
const char* iss_engine_name();
/// Address space of the host that one engine reserves; little of it is ever used.
std::uint64_t iss_address_space_bytes();

} // namespace weft
