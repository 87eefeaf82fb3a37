// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/switchml/conversion.h"

#include "hw/abi/switchml.h"

namespace weft::firmware {

namespace {

std::uint64_t swap_pair(std::uint64_t v)
{
    v = (v & 0x00ff'00ff'00ff'00ffull) << 8 | (v >> 8 & 0x00ff'00ff'00ff'00ffull);
    return (v & 0x0000'ffff'0000'ffffull) << 16 | (v >> 16 & 0x0000'ffff'0000'ffffull);
}

} // namespace

void swap_block(std::uint32_t* words, std::uint32_t count)
{
    auto* bytes = static_cast<unsigned char*>(__builtin_assume_aligned(words, 8));
#pragma GCC unroll 4
    for (std::uint32_t i = 0; i < count / 2; ++i) {
        std::uint64_t pair = 0;
        __builtin_memcpy(&pair, __builtin_assume_aligned(bytes + sizeof pair * i, 8), sizeof pair);
        pair = swap_pair(pair);
        __builtin_memcpy(__builtin_assume_aligned(bytes + sizeof pair * i, 8), &pair, sizeof pair);
    }
}

std::int8_t exponent_of_block(const std::uint32_t* floats, std::uint32_t count)
{
    std::int32_t largest = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        auto magnitude = static_cast<std::int32_t>(abi::bits_of_magnitude(floats[i]));
        magnitude = magnitude > 0x7f80'0000 ? 0 : magnitude; // NaN counts as 0
        largest = magnitude > largest ? magnitude : largest;
    }
    return abi::exponent_of(static_cast<std::uint32_t>(largest));
}

void quantise_block(std::uint32_t* words, std::uint32_t count, double scale, std::uint32_t workers)
{
    for (std::uint32_t i = 0; i < count; ++i) {
        float x = 0;
        __builtin_memcpy(&x, &words[i], sizeof x);
        words[i] = abi::switchml::swap32(static_cast<std::uint32_t>(abi::quantise(x, scale, workers)));
    }
}

void dequantise_block(std::uint32_t* words, std::uint32_t count, double scale)
{
    for (std::uint32_t i = 0; i < count; ++i) {
        const float x = abi::dequantise(static_cast<std::int32_t>(abi::switchml::swap32(words[i])), scale);
        __builtin_memcpy(&words[i], &x, sizeof x);
    }
}

double scale_of(std::int8_t exponent, std::uint32_t workers)
{
    if (exponent <= abi::k_min_exponent)
        return 0;
    const std::uint64_t bits = static_cast<std::uint64_t>(1023 + exponent) << 52;
    double power = 0;
    __builtin_memcpy(&power, &bits, sizeof power);
    return 2147483647.0 / (workers * power);
}

float float_scale_of(std::int8_t exponent, std::uint32_t workers)
{
    constexpr float k_largest = 3.402823466e38f;
    const double scale = scale_of(exponent, workers);
    if (scale >= static_cast<double>(k_largest))
        return k_largest;
    auto rounded = static_cast<float>(scale);
    if (static_cast<double>(rounded) > scale) {
        std::uint32_t bits = 0;
        __builtin_memcpy(&bits, &rounded, sizeof bits);
        --bits; // the next float towards zero
        __builtin_memcpy(&rounded, &bits, sizeof bits);
    }
    return rounded;
}

} // namespace weft::firmware
