// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What drivers of devices with rings of entries share.
#pragma once

#include "hw/abi/platform_table.h"

#include <cstddef>
#include <cstdint>

namespace weft::firmware {

inline constexpr std::uint32_t k_control_enable = 1u << 0; ///< CONTROL of a DMA engine or NIC

/// Interrupts in a row without any cause before the line is called broken: a level that nobody can lower would
/// otherwise keep the core busy for ever.
inline constexpr unsigned k_max_spurious = 64;

/// abi::check_word of an entry of a ring, without a copy of it.
template <class Entry> std::uint64_t check_of(const Entry& entry)
{
    constexpr std::size_t k_words = offsetof(Entry, check) / sizeof(std::uint32_t);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&entry);
    std::uint64_t h = abi::k_check_start;
#pragma GCC unroll 16
    for (std::size_t i = 0; i < k_words; ++i) {
        std::uint32_t word = 0;
        __builtin_memcpy(&word, __builtin_assume_aligned(bytes + sizeof word * i, sizeof word), sizeof word);
        h = abi::check_step(h, word);
    }
    return h;
}

} // namespace weft::firmware
