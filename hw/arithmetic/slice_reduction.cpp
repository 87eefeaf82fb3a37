// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/arithmetic/slice_reduction.h"

#include "hw/arithmetic/float8.h"
#include "hw/arithmetic/float_formats.h"
#include "hw/arithmetic/reduce.h"
#include "tlm/check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

namespace weft {

namespace {

template <class Bits> Bits load(const std::uint8_t* from, std::size_t i)
{
    Bits bits;
    std::memcpy(&bits, from + i * sizeof(Bits), sizeof(Bits)); // unaligned access
    return bits;
}

/// Sum in float32 of any narrower format.
template <class Bits, class Widen, class Narrow>
bool add_floats(std::uint8_t* const* slices, unsigned count, std::size_t bytes, Widen widen, Narrow narrow)
{
    constexpr std::size_t k_block = 64;
    bool unusual = false;
    for (std::size_t first = 0, elements = bytes / sizeof(Bits); first < elements; first += k_block) {
        float sums[k_block];
        const std::size_t n = std::min(k_block, elements - first);
        for (std::size_t i = 0; i < n; ++i)
            sums[i] = widen(load<Bits>(slices[0], first + i));
        for (unsigned s = 1; s < count; ++s)
            for (std::size_t i = 0; i < n; ++i)
                sums[i] += widen(load<Bits>(slices[s], first + i));
        for (std::size_t i = 0; i < n; ++i) {
            const Bits rounded = narrow(sums[i]);
            unusual = unusual || !std::isfinite(widen(rounded));
            std::memcpy(slices[0] + (first + i) * sizeof(Bits), &rounded, sizeof(Bits));
        }
    }
    return unusual;
}

bool add(abi::element_type type, std::uint8_t* const* slices, unsigned count, std::size_t bytes)
{
    switch (type) {
    case abi::element_type::float32: return add_floats<std::uint32_t>(slices, count, bytes, float32_from_bits, [](float v) {
        const std::uint32_t bits = float32_bits(v);
        return is_float32_nan(bits) ? k_float32_nan : bits;
    });
    case abi::element_type::float16: return add_floats<std::uint16_t>(slices, count, bytes, float16_to_float32, float32_to_float16);
    case abi::element_type::bfloat16: return add_floats<std::uint16_t>(slices, count, bytes, bfloat16_to_float32, float32_to_bfloat16);
    case abi::element_type::float8_e4m3: return add_floats<std::uint8_t>(slices, count, bytes, e4m3_to_float32, float32_to_e4m3);
    case abi::element_type::float8_e5m2: return add_floats<std::uint8_t>(slices, count, bytes, e5m2_to_float32, float32_to_e5m2);
    default: return add_floats<std::uint8_t>(slices, count, bytes, hifloat8_to_float32, float32_to_hifloat8);
    }
}

} // namespace

bool reduce_slices(abi::element_type type, abi::reduce_op op, std::uint8_t* const* slices, unsigned count, std::size_t bytes)
{
    if (count == 0 || count > abi::ccu::k_most_reduced || static_cast<unsigned>(type) >= abi::k_element_types || !abi::unit_reduces(type, op) ||
        bytes % abi::element_bytes(type) != 0)
        throw bug("reduce_slices", 0,
                  std::to_string(count) + " slices of " + std::to_string(bytes) + " B, type " + std::to_string(static_cast<unsigned>(type)) + ", operation " +
                      std::to_string(static_cast<unsigned>(op)));
    if (op == abi::reduce_op::sum && !abi::is_integer(type))
        return add(type, slices, count, bytes);
    for (unsigned s = 1; s < count; ++s)
        reduce(type, op, slices[0], slices[s], bytes);
    return false;
}

} // namespace weft
