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

using abi::ccu::element;

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

template <class Int, class Combine> void combine_integers(std::uint8_t* const* slices, unsigned count, std::size_t bytes, Combine combine)
{
    for (std::size_t i = 0; i < bytes / sizeof(Int); ++i) {
        Int all = load<Int>(slices[0], i);
        for (unsigned s = 1; s < count; ++s)
            all = static_cast<Int>(combine(all, load<Int>(slices[s], i)));
        std::memcpy(slices[0] + i * sizeof(Int), &all, sizeof(Int));
    }
}

template <class Int> void reduce_integers(abi::reduce_op op, std::uint8_t* const* slices, unsigned count, std::size_t bytes)
{
    if (op == abi::reduce_op::sum)
        combine_integers<Int>(slices, count, bytes, [](Int a, Int b) { return static_cast<unsigned>(a) + static_cast<unsigned>(b); });
    else if (op == abi::reduce_op::max)
        combine_integers<Int>(slices, count, bytes, [](Int a, Int b) { return std::max(a, b); });
    else
        combine_integers<Int>(slices, count, bytes, [](Int a, Int b) { return std::min(a, b); });
}

bool add(element type, std::uint8_t* const* slices, unsigned count, std::size_t bytes)
{
    switch (type) {
    case element::float32: return add_floats<std::uint32_t>(slices, count, bytes, float32_from_bits, [](float v) {
        const std::uint32_t bits = float32_bits(v);
        return is_float32_nan(bits) ? k_float32_nan : bits;
    });
    case element::float16: return add_floats<std::uint16_t>(slices, count, bytes, float16_to_float32, float32_to_float16);
    case element::bfloat16: return add_floats<std::uint16_t>(slices, count, bytes, bfloat16_to_float32, float32_to_bfloat16);
    case element::float8_e4m3: return add_floats<std::uint8_t>(slices, count, bytes, e4m3_to_float32, float32_to_e4m3);
    case element::float8_e5m2: return add_floats<std::uint8_t>(slices, count, bytes, e5m2_to_float32, float32_to_e5m2);
    default: return add_floats<std::uint8_t>(slices, count, bytes, hifloat8_to_float32, float32_to_hifloat8);
    }
}

} // namespace

bool reduce_slices(element type, abi::reduce_op op, std::uint8_t* const* slices, unsigned count, std::size_t bytes)
{
    if (count == 0 || count > abi::ccu::k_most_reduced || static_cast<unsigned>(type) >= abi::ccu::k_elements || !can_reduce(type, op) ||
        bytes % abi::ccu::bytes_of(type) != 0)
        throw bug("reduce_slices", 0,
                  std::to_string(count) + " slices of " + std::to_string(bytes) + " B, type " + std::to_string(static_cast<unsigned>(type)) + ", operation " +
                      std::to_string(static_cast<unsigned>(op)));
    switch (type) {
    case element::int32: reduce_integers<std::int32_t>(op, slices, count, bytes); return false;
    case element::int16: reduce_integers<std::int16_t>(op, slices, count, bytes); return false;
    case element::int8: reduce_integers<std::int8_t>(op, slices, count, bytes); return false;
    case element::uint8: reduce_integers<std::uint8_t>(op, slices, count, bytes); return false;
    default: break;
    }
    if (op == abi::reduce_op::sum)
        return add(type, slices, count, bytes);
    for (unsigned s = 1; s < count; ++s)
        reduce(static_cast<abi::element_type>(type), op, slices[0], slices[s], bytes);
    return false;
}

void reduce_in_memory(element type, abi::reduce_op op, std::uint8_t* memory, const std::uint8_t* incoming, std::size_t bytes)
{
    std::uint8_t* both[] = {memory, const_cast<std::uint8_t*>(incoming)}; // the second one is only read
    reduce_slices(type, op, both, 2, bytes);
}

} // namespace weft
