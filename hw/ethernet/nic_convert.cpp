// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/nic_convert.h"

#include "hw/abi/block_float.h"
#include "hw/abi/switchml.h"

#include <algorithm>
#include <cstring>

namespace weft {

namespace {
void swap_words(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes)
{
    const std::size_t pairs = bytes & ~std::size_t{7};
    abi::switchml::swap_words(to, from, pairs);
    if (bytes - pairs >= 4) {
        std::uint32_t word;
        std::memcpy(&word, from + pairs, 4);
        word = abi::switchml::swap32(word);
        std::memcpy(to + pairs, &word, 4);
    }
}
} // namespace

void convert_to_wire(const nic_conversion& c, std::uint8_t* to, const std::uint8_t* from, std::size_t bytes)
{
    switch (c.format) {
    case abi::nic_format::as_is: std::memcpy(to, from, bytes); break;
    case abi::nic_format::swap32: swap_words(to, from, bytes); break;
    case abi::nic_format::quantised: {
        const double scale = static_cast<double>(c.scale);
        const double limit = static_cast<double>(2147483647 / static_cast<std::int32_t>(c.workers));
        for (std::size_t i = 0; i + 4 <= bytes; i += 4) {
            // abi::quantise without its branches, which random signs would make expensive
            float x;
            std::memcpy(&x, from + i, 4);
            double v = static_cast<double>(x) * scale;
            v = v == v ? v : 0.0;
            v = v > limit ? limit : v;
            v = v < -limit ? -limit : v;
            v += __builtin_copysign(0.5, v);
            const std::uint32_t word = abi::switchml::swap32(static_cast<std::uint32_t>(static_cast<std::int32_t>(v)));
            std::memcpy(to + i, &word, 4);
        }
        break;
    }
    }
}

void convert_from_wire(const nic_conversion& c, std::uint8_t* to, const std::uint8_t* from, std::size_t bytes)
{
    switch (c.format) {
    case abi::nic_format::as_is: std::memcpy(to, from, bytes); break;
    case abi::nic_format::swap32: swap_words(to, from, bytes); break;
    case abi::nic_format::quantised: {
        if (c.scale == 0) {
            std::memset(to, 0, bytes);
            break;
        }
        const double scale = static_cast<double>(c.scale);
        for (std::size_t i = 0; i + 4 <= bytes; i += 4) {
            std::uint32_t word;
            std::memcpy(&word, from + i, 4);
            const auto sum = static_cast<std::int32_t>(abi::switchml::swap32(word));
            const float x = abi::dequantise(sum, scale);
            std::memcpy(to + i, &x, 4);
        }
        break;
    }
    }
}

std::int8_t largest_exponent(std::int8_t exponent, const std::uint8_t* from, std::size_t bytes)
{
    std::uint32_t largest = 0; // magnitudes order like integers; NaN counts as 0
    for (std::size_t i = 0; i + 4 <= bytes; i += 4) {
        std::uint32_t word;
        std::memcpy(&word, from + i, 4);
        word = abi::bits_of_magnitude(word);
        word = word > 0x7f80'0000 ? 0 : word;
        largest = std::max(largest, word);
    }
    return std::max(exponent, abi::exponent_of(largest));
}

} // namespace weft
