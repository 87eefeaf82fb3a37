// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/core/engines/rv64_decode.h"

namespace weft::rv64 {

namespace {
constexpr std::uint32_t bits(std::uint32_t v, unsigned high, unsigned low)
{
    return (v >> low) & ((1u << (high - low + 1)) - 1u);
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

} // namespace weft::rv64
