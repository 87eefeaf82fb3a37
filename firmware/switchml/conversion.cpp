// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Vectors of the compiler, four words at a time: what a host core does with its SSE units (Sapio et al., section 6.3)
// costs a fraction of the loop over words, and a core without such units does the same in order.
#include "firmware/switchml/conversion.h"

#include "hw/abi/switchml.h"

namespace weft::firmware {

namespace {

constexpr std::uint32_t k_lanes_of_vector = 4;

using words4 = std::uint32_t __attribute__((vector_size(16)));
using ints4 = std::int32_t __attribute__((vector_size(16)));
using floats4 = float __attribute__((vector_size(16)));
using pairs2 = std::uint64_t __attribute__((vector_size(16)));
using doubles4 = double __attribute__((vector_size(32)));

template <class To, class From> To as(From from)
{
    static_assert(sizeof(To) == sizeof(From), "same bits");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

words4 load(const std::uint32_t* from)
{
    words4 w;
    __builtin_memcpy(&w, __builtin_assume_aligned(from, 8), sizeof w);
    return w;
}

void store(std::uint32_t* to, words4 w) { __builtin_memcpy(__builtin_assume_aligned(to, 8), &w, sizeof w); }

constexpr std::uint64_t k_bytes = 0x00ff'00ff'00ff'00ffull;

/// With a mask of 0 all bytes become 0, at the same cost.
words4 swap(words4 w, std::uint64_t bytes = k_bytes)
{
    constexpr std::uint64_t k_halves = 0x0000'ffff'0000'ffffull;
    auto v = as<pairs2>(w);
    v = (v & bytes) << 8 | (v >> 8 & bytes);
    v = (v & k_halves) << 16 | (v >> 16 & k_halves);
    return as<words4>(v);
}

// Without branches, so that cost does not depend on the data.
std::uint64_t all_ones_if(bool is) { return 0 - static_cast<std::uint64_t>(is); }

/// scale_of() without the case of zeros.
double finite_scale(std::int8_t exponent, std::uint32_t workers)
{
    return 2147483647.0 / (workers * as<double>(static_cast<std::uint64_t>(1023 + exponent) << 52));
}

} // namespace

void swap_block(std::uint32_t* words, std::uint32_t count)
{
#ifdef __riscv // without instructions that swap bytes
    for (std::uint32_t i = 0; i < count; i += k_lanes_of_vector)
        store(words + i, swap(load(words + i)));
#else
    abi::switchml::swap_words(words, words, count * sizeof *words);
#endif
}

// Without branches, so that the cost does not depend on the data: the sign of a difference is the mask that takes the
// larger one.
std::int8_t exponent_of_block(const std::uint32_t* floats, std::uint32_t count)
{
    constexpr std::uint32_t k_zero =
        0x7fff'ffffu - 0x7f80'0000u; // what is added: NaN becomes negative, infinity the most
    std::int64_t most = k_zero;
#pragma GCC unroll 8
    for (const std::uint32_t *at = floats, *end = floats + count; at != end; ++at) {
        const auto magnitude = static_cast<std::int32_t>((*at & 0x7fff'ffffu) + k_zero);
        const std::int64_t less = most - magnitude;
        most -= less & (less >> 63);
    }
    return abi::exponent_of(static_cast<std::uint32_t>(most) - k_zero);
}

void quantise_block(std::uint32_t* words, std::uint32_t count, std::int8_t exponent, std::uint32_t workers)
{
    const double scale = scale_of(exponent, workers);
    // Below 2^exponent nothing can leave the range of the integers, and there are no NaN: 127 + exponent is the biased
    // exponent of that bound as a float.
    const std::int32_t bound = (127 + exponent) * (1 << 23);
    constexpr std::uint32_t k_sign = 1u << 31;
    constexpr std::uint32_t k_half = 0x3f00'0000; // 0.5
    for (std::uint32_t i = 0; i < count; i += k_lanes_of_vector) {
        const words4 w = load(words + i);
        const auto beyond = as<pairs2>(as<ints4>(w & 0x7fff'ffffu) >= bound);
        if ((beyond[0] | beyond[1]) != 0) {
            for (std::uint32_t k = i; k < i + k_lanes_of_vector; ++k)
                words[k] = abi::switchml::swap32(
                    static_cast<std::uint32_t>(abi::quantise(as<float>(words[k]), scale, workers)));
            continue;
        }
        const auto half = as<floats4>((w & k_sign) | k_half); // away from zero
        const doubles4 v =
            __builtin_convertvector(as<floats4>(w), doubles4) * scale + __builtin_convertvector(half, doubles4);
        store(words + i, swap(as<words4>(__builtin_convertvector(v, ints4))));
    }
}

void dequantise_block(std::uint32_t* words, std::uint32_t count, std::int8_t exponent, std::uint32_t workers)
{
    // A block of zeros takes as long as any other: a run without data has nothing else.
    const std::uint64_t some = all_ones_if(exponent > abi::k_min_exponent);
    const double scale = finite_scale(exponent, workers);
    for (std::uint32_t i = 0; i < count; i += k_lanes_of_vector) {
        const doubles4 v = __builtin_convertvector(as<ints4>(swap(load(words + i), k_bytes & some)), doubles4) / scale;
        store(words + i, as<words4>(__builtin_convertvector(v, floats4)));
    }
}

double scale_of(std::int8_t exponent, std::uint32_t workers)
{
    return as<double>(as<std::uint64_t>(finite_scale(exponent, workers)) & all_ones_if(exponent > abi::k_min_exponent));
}

float float_scale_of(std::int8_t exponent, std::uint32_t workers)
{
    constexpr float k_largest = 3.402823466e38f;
    const double scale = scale_of(exponent, workers);
    if (scale >= static_cast<double>(k_largest))
        return k_largest;
    const auto rounded = static_cast<float>(scale);
    return static_cast<double>(rounded) > scale ? as<float>(as<std::uint32_t>(rounded) - 1) : rounded;
}

} // namespace weft::firmware
