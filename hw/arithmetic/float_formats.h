// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversions between IEEE 754 binary32 and the two 16-bit formats of ML machines, float16 (binary16: 1+5+10 bits) and
// bfloat16 (1+8+7 bits), on bit patterns and with integer selects only, so that loops over them vectorise with plain
// SSE2 and give the same bits on every machine (no F16C, no fused operations that could round differently).
//
// Widening is exact, subnormals included. Narrowing rounds to nearest, ties to even; overflow gives infinity; gradual
// underflow. Every NaN becomes the canonical quiet NaN (payload and sign are dropped): who propagates NaNs must not
// depend on which operand a processor prefers. Precondition: the default floating-point environment (nearest, no flush
// to zero).
#pragma once

#include <cstdint>
#include <cstring>

namespace weft {

inline constexpr std::uint32_t k_float32_nan = 0x7fc0'0000;
inline constexpr std::uint16_t k_float16_nan = 0x7e00;
inline constexpr std::uint16_t k_bfloat16_nan = 0x7fc0;

inline std::uint32_t float32_bits(float value)
{
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float float32_from_bits(std::uint32_t bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

/// True for the bit patterns of binary32 NaNs.
inline bool is_float32_nan(std::uint32_t bits)
{
    // Signed, because SSE2 has no unsigned comparison.
    return static_cast<std::int32_t>(bits & 0x7fff'ffffu) > 0x7f80'0000;
}

/// value < limit ? below : otherwise, for value and limit < 2^31. Written with a mask because a compiler that sees a
/// choice sinks the floating-point operation of one side into a branch, and then nothing vectorises.
inline std::uint32_t choose_below(std::uint32_t value, std::uint32_t limit, std::uint32_t below,
                                  std::uint32_t otherwise)
{
    const auto mask = static_cast<std::uint32_t>(static_cast<std::int32_t>(value - limit) >> 31);
    return otherwise ^ ((below ^ otherwise) & mask);
}

/// Exact, NaN payloads kept.
inline float bfloat16_to_float32(std::uint16_t bits)
{
    return float32_from_bits(static_cast<std::uint32_t>(bits) << 16);
}

inline std::uint16_t float32_to_bfloat16(float value)
{
    const std::uint32_t bits = float32_bits(value);
    // A carry out of the fraction moves to the next binade, and from the largest finite one to infinity: both are
    // right.
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return static_cast<std::uint16_t>(is_float32_nan(bits) ? k_bfloat16_nan : rounded);
}

/// Exact, NaN payloads kept.
inline float float16_to_float32(std::uint16_t bits)
{
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    const std::uint32_t magnitude = (bits & 0x7fffu) << 13;
    const std::uint32_t normal = magnitude + (112u << 23); // rebias: 127 - 15
    // Subnormal f * 2^-24: read it as the fraction of a number with exponent -14 and take the implicit one away again.
    const std::uint32_t subnormal =
        float32_bits(float32_from_bits(magnitude + (113u << 23)) - float32_from_bits(113u << 23));
    const std::uint32_t special = magnitude + (224u << 23); // infinity and NaN: exponent 31 -> 255
    const std::uint32_t finite = choose_below(magnitude, 1u << 23, subnormal, normal);
    return float32_from_bits(choose_below(magnitude, 31u << 23, finite, special) | sign);
}

inline std::uint16_t float32_to_float16(float value)
{
    const std::uint32_t bits = float32_bits(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fff'ffffu;
    // Rebias by -112 and round to nearest even at bit 13.
    const std::uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    // Below 2^-14: adding 0.5 leaves exactly 2^-24 as the last place, so the adder does the rounding.
    const std::uint32_t subnormal = float32_bits(float32_from_bits(magnitude) + 0.5f) - (126u << 23);
    const std::uint32_t finite = choose_below(magnitude, 113u << 23, subnormal, normal);
    // 2^16 and more is infinity; [65520, 2^16) carries into it by itself.
    const std::uint32_t number = choose_below(magnitude, 143u << 23, finite, 0x7c00u) | sign;
    return static_cast<std::uint16_t>(choose_below(magnitude, 0x7f80'0001u, number, k_float16_nan));
}

} // namespace weft
