// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Small integers as elements of any type, for memories that tests fill and check. Sums below 257 are exact in all that
// memories reduce; 8-bit floats are bytes that are moved.
#pragma once

#include <cstdint>
#include <cstring>

#include "hw/abi/platform_table.h"

namespace weft::testing {

/// The first types are those that memories reduce.
inline constexpr unsigned k_types_in_memory = abi::k_element_types - 3;
static_assert(abi::memory_reduces(static_cast<abi::element_type>(k_types_in_memory - 1)) && !abi::memory_reduces(static_cast<abi::element_type>(k_types_in_memory)));

/// A number in the range of an integer type, or of a byte.
inline std::int64_t wrapped(abi::element_type type, std::int64_t value)
{
    switch (type) {
    case abi::element_type::int32: return static_cast<std::int32_t>(static_cast<std::uint64_t>(value));
    case abi::element_type::int16: return static_cast<std::int16_t>(static_cast<std::uint64_t>(value));
    case abi::element_type::int8: return static_cast<std::int8_t>(static_cast<std::uint64_t>(value));
    default: return static_cast<std::uint8_t>(static_cast<std::uint64_t>(value));
    }
}
inline bool is_stored_as_integer(abi::element_type type) { return abi::is_integer(type) || abi::is_float8(type); }

inline void put_element(abi::element_type type, unsigned char* at, std::int64_t value)
{
    if (is_stored_as_integer(type)) {
        const auto v = static_cast<std::uint32_t>(value);
        std::memcpy(at, &v, abi::element_bytes(type)); // little-endian hosts
    } else if (type == abi::element_type::float16) {
        std::uint16_t bits = 0;
        if (value != 0) {
            int e = 0;
            while ((value >> (e + 1)) != 0)
                ++e;
            bits = static_cast<std::uint16_t>((e + 15) << 10 | (((value << 10) >> e) & 0x3ff));
        }
        std::memcpy(at, &bits, 2);
    } else {
        const float f = static_cast<float>(value);
        std::uint32_t bits = 0;
        std::memcpy(&bits, &f, 4);
        const auto high = static_cast<std::uint16_t>(bits >> 16);
        if (type == abi::element_type::float32)
            std::memcpy(at, &bits, 4);
        else
            std::memcpy(at, &high, 2);
    }
}

inline std::int64_t get_element(abi::element_type type, const unsigned char* at)
{
    std::uint32_t bits = 0;
    std::memcpy(&bits, at, abi::element_bytes(type));
    if (is_stored_as_integer(type))
        return wrapped(type, bits);
    if (type == abi::element_type::float16) {
        if (bits == 0)
            return 0;
        const int e = static_cast<int>(bits >> 10) - 15;
        return static_cast<std::int64_t>(((bits & 0x3ff) | 0x400) << (e > 0 ? e : 0)) >> 10;
    }
    if (type == abi::element_type::bfloat16)
        bits <<= 16;
    float f = 0;
    std::memcpy(&f, &bits, 4);
    return static_cast<std::int64_t>(f);
}

inline std::int64_t combine(abi::reduce_op op, abi::element_type type, std::int64_t a, std::int64_t b)
{
    switch (op) {
    case abi::reduce_op::none: return b;
    case abi::reduce_op::max: return a > b ? a : b;
    case abi::reduce_op::min: return a < b ? a : b;
    case abi::reduce_op::sum: break;
    }
    return abi::is_integer(type) ? wrapped(type, a + b) : a + b;
}

/// What `rank` brings to a command.
inline std::int64_t element_value(const abi::command& c, std::uint32_t rank, std::uint64_t i)
{
    std::uint64_t h =
        (i + 1) * 0x9e3779b97f4a7c15ull + rank * 0xc2b2ae3d27d4eb4full + c.sequence * 0x165667b19e3779f9ull;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9ull;
    h ^= h >> 32;
    if (is_stored_as_integer(c.type))
        return wrapped(c.type, static_cast<std::int64_t>(h));
    return static_cast<std::int64_t>(h % 4); // 64 ranks: sums below 257, exact in bfloat16
}

} // namespace weft::testing
