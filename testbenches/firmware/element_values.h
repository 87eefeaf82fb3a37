// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Small integers as elements of any type, for memories that tests fill and check. Sums below 257 are exact in all.
#pragma once

#include <cstdint>
#include <cstring>

#include "hw/abi/platform_table.h"

namespace weft::testing {

inline void put_element(abi::element_type type, unsigned char* at, std::int64_t value)
{
    if (type == abi::element_type::int32) {
        const auto v = static_cast<std::uint32_t>(value);
        std::memcpy(at, &v, 4);
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
    if (type == abi::element_type::int32)
        return static_cast<std::int32_t>(bits);
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
    return type == abi::element_type::int32 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(a + b)) : a + b;
}

/// What `rank` brings to a command.
inline std::int64_t element_value(const abi::command& c, std::uint32_t rank, std::uint64_t i)
{
    std::uint64_t h =
        (i + 1) * 0x9e3779b97f4a7c15ull + rank * 0xc2b2ae3d27d4eb4full + c.sequence * 0x165667b19e3779f9ull;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9ull;
    h ^= h >> 32;
    if (c.type == abi::element_type::int32)
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(h));
    return static_cast<std::int64_t>(h % 4); // 64 ranks: sums below 257, exact in bfloat16
}

} // namespace weft::testing
