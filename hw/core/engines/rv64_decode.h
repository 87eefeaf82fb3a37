// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// As much decoding of RV64GC as an engine needs beside its own: lengths, widths of accesses, reads of counters. Pure
// C++.
#pragma once

#include <cstdint>

namespace weft::rv64 {

/// Bytes of the instruction that begins with these 16 bits: 2 or 4.
constexpr unsigned length_of(std::uint16_t first) { return (first & 3u) == 3u ? 4 : 2; }

/// Bytes that a load, store or atomic instruction accesses; 0 for every other instruction.
unsigned access_bytes(std::uint32_t instruction);

/// A read of a CSR that does not write it (csrr rd, csr): its number and rd; csr is 0 for every other instruction.
struct csr_read {
    unsigned csr = 0;
    unsigned rd = 0;
};
csr_read decode_csr_read(std::uint32_t instruction);

/// Where in memory an instruction reads or writes: [x(base) + offset, + bytes). `bytes` is 0 when it does neither.
struct memory_access {
    unsigned base = 0;
    std::int64_t offset = 0;
    unsigned bytes = 0;
    bool reads = false;
    bool writes = false;
};
memory_access decode_memory_access(std::uint32_t instruction);

/// Where an instruction goes on, by the calling convention: a link register (ra, t0) that is written makes a call,
/// one that is read makes a return. A branch counts as `next`: it stays in its function.
enum class flow : std::uint8_t { next, jump, call, function_return, trap_return };
flow decode_flow(std::uint32_t instruction);

} // namespace weft::rv64
