// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// As much decoding of RV64GC as an engine needs that does not tell where in a basic block it is: lengths, loads and
// stores, reads of counters. Pure C++.
#pragma once

#include <cstdint>
#include <functional>

namespace weft::rv64 {

/// Bytes of the instruction that begins with these 16 bits: 2 or 4.
constexpr unsigned length_of(std::uint16_t first) { return (first & 3u) == 3u ? 4 : 2; }

/// A load, store or atomic instruction; `bytes` is 0 for every other instruction.
struct memory_access {
    unsigned bytes = 0;
    bool reads = false; ///< an atomic one may do both
    bool writes = false;
    unsigned base = 0; ///< register of the address
    std::int64_t offset = 0;
};
memory_access decode_access(std::uint32_t instruction);

/// The integer register that the instruction writes, 0 for none. May name one for an instruction that writes a
/// floating-point register.
unsigned written_register(std::uint32_t instruction);
/// Whether it adds to the register that it writes: a pointer that moves on, not another one.
bool adds_in_place(std::uint32_t instruction);

/// A read of a counter CSR (csrr rd, csr): the CSR's number and rd; csr is 0 for every other instruction.
struct csr_read {
    unsigned csr = 0;
    unsigned rd = 0;
};
csr_read decode_csr_read(std::uint32_t instruction);

/// Instructions in `bytes` bytes of code.
std::uint32_t count_instructions(const std::uint8_t* code, std::uint32_t bytes);

/// Finds, in the basic block `code` of `bytes` bytes, the instruction at or after `from` that accesses `address`, given
/// the registers as they are now. Of 4 bytes it may also be the first half of an access of 8. Returns its offset, or `bytes`
/// when there is none.
///
/// Several may look right. The first is taken, but passed over when its address register is loaded anew before the next that
/// looks right: then it was executed before, with another address (ld a5,0(a5); ld a4,0(a5)). This is a guess only where
/// code points a register from memory at a device and back within one basic block.
std::uint32_t find_access(const std::uint8_t* code, std::uint32_t bytes, std::uint32_t from, std::uint64_t address,
                          unsigned access_bytes, bool is_write, const std::function<std::uint64_t(unsigned)>& reg);

} // namespace weft::rv64
