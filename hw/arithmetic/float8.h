// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversions between IEEE 754 binary32 and the 8-bit floats of ML machines, on bit patterns.
//
//   e4m3      1+4+3 bits, no infinities, one NaN pattern a sign, largest 448 (Open Compute Project, OFP8)
//   e5m2      1+5+2 bits, as IEEE formats are (OFP8)
//   hifloat8  tapered: a prefix code says how many bits the exponent has (Luo and others, "Ascend HiFloat8 Format",
//             arXiv 2409.16626, recalled): prefix 11, 10, 01, 001, 0001: 4, 3, 2, 1, 0 bits of exponent, sign and
//             magnitude, its leading one is implied; the rest is fraction. 0000: fraction m of 1 to 7 stands for 2^(m -
//             23). 0x00 is zero, 0x80 NaN, 0x6f and 0xef infinities, largest 2^15.
//
// Narrowing rounds to nearest; e4m3 and e5m2 ties to even, hifloat8 ties away from zero. Too large: e4m3 NaN, the
// others infinity. All NaNs become one pattern.
#pragma once

#include <cstdint>

namespace weft {

inline constexpr std::uint8_t k_e4m3_nan = 0x7f, k_e5m2_nan = 0x7e, k_hifloat8_nan = 0x80;

float e4m3_to_float32(std::uint8_t bits);
float e5m2_to_float32(std::uint8_t bits);
float hifloat8_to_float32(std::uint8_t bits);
std::uint8_t float32_to_e4m3(float value);
std::uint8_t float32_to_e5m2(float value);
std::uint8_t float32_to_hifloat8(float value);

} // namespace weft
