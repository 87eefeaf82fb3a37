// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/core/engines/rv64_decode.h"

#include <cstring>

namespace weft::rv64 {

namespace {

constexpr std::uint32_t bits(std::uint32_t v, unsigned high, unsigned low)
{
    return (v >> low) & ((1u << (high - low + 1)) - 1u);
}

constexpr std::int64_t sign_extended(std::uint32_t v, unsigned width)
{
    const std::uint32_t sign = 1u << (width - 1);
    return static_cast<std::int64_t>(v ^ sign) - static_cast<std::int64_t>(sign);
}

std::uint32_t fetch(const std::uint8_t* code, std::uint32_t at, std::uint32_t bytes)
{
    std::uint32_t instruction = 0;
    std::memcpy(&instruction, code + at, at + 4 <= bytes ? 4 : 2);
    return instruction;
}

memory_access load(unsigned bytes, unsigned base, std::int64_t offset) { return {bytes, true, false, base, offset}; }
memory_access store(unsigned bytes, unsigned base, std::int64_t offset) { return {bytes, false, true, base, offset}; }

/// Quadrant 0: base register and offset in the instruction; quadrant 2: relative to the stack pointer.
memory_access decode_compressed(std::uint32_t i)
{
    const unsigned funct = bits(i, 15, 13);
    if (bits(i, 1, 0) == 0) {
        const unsigned base = 8 + bits(i, 9, 7);
        const auto words = std::int64_t{bits(i, 5, 5) << 6 | bits(i, 12, 10) << 3 | bits(i, 6, 6) << 2};
        const auto doubles = std::int64_t{bits(i, 6, 5) << 6 | bits(i, 12, 10) << 3};
        switch (funct) {
        case 1:
        case 3: return load(8, base, doubles);
        case 2: return load(4, base, words);
        case 5:
        case 7: return store(8, base, doubles);
        case 6: return store(4, base, words);
        default: return {};
        }
    }
    if (bits(i, 1, 0) == 2) {
        constexpr unsigned k_sp = 2;
        switch (funct) {
        case 1:
        case 3: return load(8, k_sp, bits(i, 4, 2) << 6 | bits(i, 12, 12) << 5 | bits(i, 6, 5) << 3);
        case 2: return load(4, k_sp, bits(i, 3, 2) << 6 | bits(i, 12, 12) << 5 | bits(i, 6, 4) << 2);
        case 5:
        case 7: return store(8, k_sp, bits(i, 9, 7) << 6 | bits(i, 12, 10) << 3);
        case 6: return store(4, k_sp, bits(i, 8, 7) << 6 | bits(i, 12, 9) << 2);
        default: return {};
        }
    }
    return {};
}

} // namespace

memory_access decode_access(std::uint32_t i)
{
    if (length_of(static_cast<std::uint16_t>(i)) == 2)
        return decode_compressed(i & 0xffffu);
    const unsigned base = bits(i, 19, 15);
    const unsigned width = 1u << bits(i, 13, 12);
    switch (bits(i, 6, 0)) {
    case 0x03: // integer loads
    case 0x07: // floating-point loads
        return load(width, base, sign_extended(bits(i, 31, 20), 12));
    case 0x23:
    case 0x27: return store(width, base, sign_extended(bits(i, 31, 25) << 5 | bits(i, 11, 7), 12));
    case 0x2f: { // atomics: lr reads, sc writes, the others do both
        const unsigned operation = bits(i, 31, 27);
        return {width, operation != 3, operation != 2, base, 0};
    }
    default: return {};
    }
}

unsigned written_register(std::uint32_t i)
{
    if (length_of(static_cast<std::uint16_t>(i)) == 4) {
        const unsigned opcode = bits(i, 6, 0);
        const bool none = opcode == 0x23 || opcode == 0x27 || opcode == 0x63 || opcode == 0x0f;
        return none ? 0 : bits(i, 11, 7);
    }
    const unsigned funct = bits(i, 15, 13);
    switch (bits(i, 1, 0)) {
    case 0: return funct <= 3 ? 8 + bits(i, 4, 2) : 0;
    case 1:
        if (funct <= 3)
            return bits(i, 11, 7);
        return funct == 4 ? 8 + bits(i, 9, 7) : 0;
    default:
        if (funct <= 3)
            return bits(i, 11, 7);
        // c.mv and c.add write rd; c.jr and c.ebreak nothing; c.jalr the link register, and ends the block anyway.
        return funct == 4 && bits(i, 6, 2) != 0 ? bits(i, 11, 7) : 0;
    }
}

bool adds_in_place(std::uint32_t i)
{
    if (length_of(static_cast<std::uint16_t>(i)) == 4) {
        const bool addi = bits(i, 6, 0) == 0x13 && bits(i, 14, 12) == 0;
        const bool add = bits(i, 6, 0) == 0x33 && bits(i, 14, 12) == 0; // and sub
        return (addi || add) && bits(i, 19, 15) == bits(i, 11, 7);
    }
    const unsigned funct = bits(i, 15, 13);
    const bool c_addi = bits(i, 1, 0) == 1 && funct == 0;
    const bool c_addi16sp = bits(i, 1, 0) == 1 && funct == 3 && bits(i, 11, 7) == 2;
    const bool c_add = bits(i, 1, 0) == 2 && funct == 4 && bits(i, 12, 12) == 1 && bits(i, 6, 2) != 0;
    return c_addi || c_addi16sp || c_add;
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

std::uint32_t count_instructions(const std::uint8_t* code, std::uint32_t bytes)
{
    std::uint32_t count = 0;
    for (std::uint32_t at = 0; at + 2 <= bytes; ++count)
        at += (code[at] & 3u) == 3u ? 4 : 2;
    return count;
}

std::uint32_t find_access(const std::uint8_t* code, std::uint32_t bytes, std::uint32_t from, std::uint64_t address,
                          unsigned access_bytes, bool is_write, const std::function<std::uint64_t(unsigned)>& reg)
{
    std::uint32_t found = bytes;
    unsigned base = 0;
    bool base_changed = false;
    for (std::uint32_t at = from; at + 2 <= bytes;) {
        const std::uint32_t instruction = fetch(code, at, bytes);
        const memory_access access = decode_access(instruction);
        const bool as_wide = access.bytes == access_bytes || (access.bytes == 8 && access_bytes == 4);
        const bool fits = as_wide && (is_write ? access.writes : access.reads) &&
                          reg(access.base) + static_cast<std::uint64_t>(access.offset) == address;
        if (fits && (found == bytes || base_changed)) {
            found = at;
            base = access.base;
            base_changed = false;
        }
        if (found != bytes && base != 0 && written_register(instruction) == base && !adds_in_place(instruction))
            base_changed = true;
        at += length_of(static_cast<std::uint16_t>(instruction));
    }
    return found;
}

} // namespace weft::rv64
