// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a debugger may ask of the machine it looks at: threads with registers and memory. Pure C++, so that the
// protocol (rsp_commands.h) can be tested without a simulator.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

/// Numbers of registers, as target.xml gives them to gdb.
namespace debug_register {
inline constexpr unsigned k_x0 = 0;
inline constexpr unsigned k_pc = 32;
inline constexpr unsigned k_f0 = 33;
inline constexpr unsigned k_fflags = 65; ///< fflags, frm and fcsr have 4 bytes, all others 8
inline constexpr unsigned k_frm = 66;
inline constexpr unsigned k_fcsr = 67;
inline constexpr unsigned k_mstatus = 68; ///< then mie, mtvec, mepc, mcause, mtval
inline constexpr unsigned k_count = 74;
constexpr unsigned bytes(unsigned number) { return number >= k_fflags && number <= k_fcsr ? 4 : 8; }
} // namespace debug_register

enum class watch_kind : std::uint8_t { write, read, access };

/// Threads are counted from 0.
class debug_target {
public:
    virtual unsigned threads() const = 0;
    /// For people: name, and what it does now.
    virtual std::string describe(unsigned thread) const = 0;
    virtual std::uint64_t read_register(unsigned thread, unsigned number) = 0;
    /// False when the thread stands in the middle of an instruction.
    virtual bool write_register(unsigned thread, unsigned number, std::uint64_t value) = 0;
    /// As many bytes as can be read from `address` on, at most `bytes`.
    virtual std::string read_memory(unsigned thread, std::uint64_t address, std::uint64_t bytes) = 0;
    virtual bool write_memory(unsigned thread, std::uint64_t address, const std::string& bytes) = 0;
    /// For all threads. False when it cannot be watched.
    virtual bool set_breakpoint(std::uint64_t address, bool on) = 0;
    virtual bool set_watchpoint(watch_kind kind, std::uint64_t address, std::uint64_t bytes, bool on) = 0;
    /// The answer to `monitor TEXT`.
    virtual std::string monitor(const std::string& text) = 0;

protected:
    ~debug_target() = default;
};

} // namespace weft
