// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Block floating point of SwitchML (section 4.6, appendix E): n workers agree on the exponent of the largest magnitude
// of a block, scale by (2^31 - 1) / (n * 2^exponent), round, and add integers.
//
// Cases the paper leaves open, and what is done here:
//   block maximum 0 or subnormal   exponent k_min_exponent; a block whose agreed exponent is k_min_exponent is sent as
//                                  zeros, and the result is zeros (an error below n * 2^-126)
//   maximum of 2^127 and above     exponent would be 128: saturates at 127; words saturate at +-(2^31 - 1) / n
//   infinity                       as the largest finite number
//   NaN                            counts as 0
//   scale beyond float             agreed exponents up to about -97 overflow float32 as a scale: the scale is kept as a
//                                  double, and as a float (nic_send_entry) it saturates at the largest one
#pragma once

#include "hw/abi/types.h"

namespace weft::abi {

inline constexpr std::int8_t k_min_exponent = -126;

constexpr std::uint32_t bits_of_magnitude(std::uint32_t float_bits) { return float_bits & 0x7fff'ffff; }

/// Exponent e with 2^e > |x| for the float whose bits are given: ((bits & 0x7f800000) >> 23) - 126, saturated (P4
/// client, quoted).
constexpr std::int8_t exponent_of(std::uint32_t float_bits)
{
    const std::uint32_t magnitude = bits_of_magnitude(float_bits);
    if (magnitude > 0x7f80'0000) // NaN
        return k_min_exponent;
    const int e = static_cast<int>(magnitude >> 23) - 126;
    return static_cast<std::int8_t>(e > 127 ? 127 : e);
}

/// 2^e as a double, -1022 <= e <= 1023.
constexpr double power_of_two(int e)
{
    double v = 1;
    for (; e > 0; --e)
        v *= 2;
    for (; e < 0; ++e)
        v /= 2;
    return v;
}

/// Factor of a block on whose exponent all `workers` agree; 0 for k_min_exponent: the block is zero.
constexpr double block_scale(std::int8_t exponent, std::uint32_t workers)
{
    return exponent == k_min_exponent ? 0.0 : 2147483647.0 / (workers * power_of_two(exponent));
}

/// Nearest integer, halves away from zero, within +-(2^31 - 1) / workers. NaN gives 0.
constexpr std::int32_t quantise(float x, double scale, std::uint32_t workers)
{
    const double limit = static_cast<double>(2147483647 / static_cast<std::int32_t>(workers));
    double v = static_cast<double>(x) * scale;
    if (!(v == v)) // NaN, or infinity times zero
        return 0;
    v = v > limit ? limit : v < -limit ? -limit : v;
    return static_cast<std::int32_t>(v < 0 ? v - 0.5 : v + 0.5);
}

constexpr float dequantise(std::int32_t sum, double scale)
{
    return scale == 0 ? 0.0f : static_cast<float>(static_cast<double>(sum) / scale);
}

} // namespace weft::abi
