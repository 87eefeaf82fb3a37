// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/core/engines/rv64_decode.h"

namespace weft::rv64 {

namespace {
constexpr std::uint32_t bits(std::uint32_t v, unsigned high, unsigned low)
{
    return (v >> low) & ((1u << (high - low + 1)) - 1u);
}

constexpr std::int64_t sign_extended(std::uint32_t v, unsigned width)
{
    return static_cast<std::int64_t>(std::uint64_t{v} << (64 - width)) >> (64 - width);
}

constexpr bool is_link(unsigned reg) { return reg == 1 || reg == 5; }

constexpr unsigned k_sp = 2;

/// Offset of a compressed load or store. Accesses of 4 and 8 bytes scatter their bits differently.
std::uint32_t compressed_offset(std::uint32_t i, bool wide, bool by_sp, bool is_store)
{
    if (!by_sp)
        return bits(i, 12, 10) << 3 | (wide ? bits(i, 6, 5) << 6 : bits(i, 6, 6) << 2 | bits(i, 5, 5) << 6);
    if (is_store)
        return wide ? bits(i, 12, 10) << 3 | bits(i, 9, 7) << 6 : bits(i, 12, 9) << 2 | bits(i, 8, 7) << 6;
    return bits(i, 12, 12) << 5 |
           (wide ? bits(i, 6, 5) << 3 | bits(i, 4, 2) << 6 : bits(i, 6, 4) << 2 | bits(i, 3, 2) << 6);
}
} // namespace

unsigned access_bytes(std::uint32_t i)
{
    if (length_of(static_cast<std::uint16_t>(i)) == 2) {
        // Loads and stores of quadrant 0, and of quadrant 2 relative to the stack pointer, have the same functions.
        if (bits(i, 1, 0) == 1)
            return 0;
        switch (bits(i, 15, 13)) {
        case 2:
        case 6: return 4;
        case 1:
        case 3:
        case 5:
        case 7: return 8;
        default: return 0;
        }
    }
    switch (bits(i, 6, 0)) {
    case 0x03: // integer loads
    case 0x07: // floating-point loads
    case 0x23: // stores
    case 0x27:
    case 0x2f: // atomics
        return 1u << bits(i, 13, 12);
    default: return 0;
    }
}

csr_read decode_csr_read(std::uint32_t i)
{
    // csrrs, csrrc, csrrsi and csrrci of nothing: they only read.
    const unsigned funct = bits(i, 14, 12);
    const bool only_reads = (funct == 2 || funct == 3 || funct == 6 || funct == 7) && bits(i, 19, 15) == 0;
    if (bits(i, 6, 0) != 0x73 || !only_reads)
        return {};
    return {bits(i, 31, 20), bits(i, 11, 7)};
}

memory_access decode_memory_access(std::uint32_t i)
{
    const unsigned bytes = access_bytes(i);
    if (bytes == 0)
        return {};
    if (length_of(static_cast<std::uint16_t>(i)) == 2) {
        const bool by_sp = bits(i, 1, 0) == 2;
        const bool is_store = bits(i, 15, 15) != 0;
        const unsigned base = by_sp ? k_sp : 8 + bits(i, 9, 7);
        return {base, compressed_offset(i, bytes == 8, by_sp, is_store), bytes, !is_store, is_store};
    }
    const unsigned base = bits(i, 19, 15);
    switch (bits(i, 6, 0)) {
    case 0x03:
    case 0x07: return {base, sign_extended(bits(i, 31, 20), 12), bytes, true, false};
    case 0x23:
    case 0x27: return {base, sign_extended(bits(i, 31, 25) << 5 | bits(i, 11, 7), 12), bytes, false, true};
    default: { // atomics; lr only reads, sc only writes
        const unsigned function = bits(i, 31, 27);
        return {base, 0, bytes, function != 3, function != 2};
    }
    }
}

flow decode_flow(std::uint32_t i)
{
    if (length_of(static_cast<std::uint16_t>(i)) == 2) {
        const unsigned kind = bits(i, 15, 13) << 2 | bits(i, 1, 0);
        if (kind == (5u << 2 | 1u)) // c.j
            return flow::jump;
        const unsigned rs1 = bits(i, 11, 7);
        if (kind != (4u << 2 | 2u) || bits(i, 6, 2) != 0 || rs1 == 0)
            return flow::next;
        if (bits(i, 12, 12) != 0) // c.jalr
            return flow::call;
        return is_link(rs1) ? flow::function_return : flow::jump;
    }
    const unsigned rd = bits(i, 11, 7);
    switch (bits(i, 6, 0)) {
    case 0x6f: return is_link(rd) ? flow::call : flow::jump;
    case 0x67: return is_link(rd) ? flow::call : is_link(bits(i, 19, 15)) ? flow::function_return : flow::jump;
    case 0x73: return i == 0x3020'0073 ? flow::trap_return : flow::next;
    default: return flow::next;
    }
}

} // namespace weft::rv64
