// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/arithmetic/reduce.h"

#include "hw/arithmetic/float_formats.h"
#include "tlm/check.h"

#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

namespace weft {
namespace {

// Each operation maps two bit patterns to one, without branches, so that the block loop below vectorises.

/// Wraps.
template <class Int> struct sum_integer {
    using bits = std::make_unsigned_t<Int>;
    static bits apply(bits a, bits b) { return static_cast<bits>(a + b); }
};

template <class Int, bool Max> struct extreme_integer {
    using bits = std::make_unsigned_t<Int>;
    static bits apply(bits a, bits b)
    {
        const bool first = Max ? static_cast<Int>(a) > static_cast<Int>(b) : static_cast<Int>(a) < static_cast<Int>(b);
        return first ? a : b;
    }
};

struct sum_float32 {
    using bits = std::uint32_t;
    static bits apply(bits a, bits b)
    {
        const bits s = float32_bits(float32_from_bits(a) + float32_from_bits(b));
        return is_float32_nan(s) ? k_float32_nan : s;
    }
};

struct sum_float16 {
    using bits = std::uint16_t;
    static bits apply(bits a, bits b) { return float32_to_float16(float16_to_float32(a) + float16_to_float32(b)); }
};

struct sum_bfloat16 {
    using bits = std::uint16_t;
    static bits apply(bits a, bits b) { return float32_to_bfloat16(bfloat16_to_float32(a) + bfloat16_to_float32(b)); }
};

/// max and min of any IEEE format: order the patterns as signed integers, NaNs beyond the end that loses.
template <class Signed, int Infinity, int Nan, bool Max> struct extreme_float {
    using bits = std::make_unsigned_t<Signed>;
    static constexpr Signed k_loser = Max ? std::numeric_limits<Signed>::min() : std::numeric_limits<Signed>::max();

    /// Involution between patterns and sign-ordered integers: negative numbers have their magnitude flipped.
    static Signed flip(Signed v)
    {
        constexpr int shift = static_cast<int>(sizeof(Signed)) * 8 - 1;
        return static_cast<Signed>(v ^ (static_cast<Signed>(v >> shift) & std::numeric_limits<Signed>::max()));
    }
    static Signed key(bits b)
    {
        const Signed v = static_cast<Signed>(b);
        const Signed magnitude = static_cast<Signed>(v & std::numeric_limits<Signed>::max());
        return magnitude > static_cast<Signed>(Infinity) ? k_loser : flip(v);
    }
    static bits apply(bits a, bits b)
    {
        const Signed ka = key(a);
        const Signed kb = key(b);
        const Signed k = Max ? (ka > kb ? ka : kb) : (ka < kb ? ka : kb);
        return static_cast<bits>(k == k_loser ? static_cast<Signed>(Nan) : flip(k));
    }
};
template <bool Max> using extreme_float32 = extreme_float<std::int32_t, 0x7f80'0000, 0x7fc0'0000, Max>;
template <bool Max> using extreme_float16 = extreme_float<std::int16_t, 0x7c00, k_float16_nan, Max>;
template <bool Max> using extreme_bfloat16 = extreme_float<std::int16_t, 0x7f80, k_bfloat16_nan, Max>;

/// One block of a fixed number of elements: a constant trip count and no aliasing are what GCC's -O2 wants to
/// vectorise.
template <class Op, std::size_t Elements>
void reduce_block(std::uint8_t* __restrict memory, const std::uint8_t* __restrict incoming)
{
    using bits = typename Op::bits;
    for (std::size_t i = 0; i < Elements; ++i) {
        bits a;
        bits b;
        std::memcpy(&a, memory + i * sizeof(bits), sizeof(bits)); // unaligned access
        std::memcpy(&b, incoming + i * sizeof(bits), sizeof(bits));
        a = Op::apply(a, b);
        std::memcpy(memory + i * sizeof(bits), &a, sizeof(bits));
    }
}

template <class Op> void reduce_all(std::uint8_t* memory, const std::uint8_t* incoming, std::size_t bytes)
{
    constexpr std::size_t k_block_elements = 64;
    constexpr std::size_t k_block_bytes = k_block_elements * sizeof(typename Op::bits);
    std::size_t done = 0;
    for (; bytes - done >= k_block_bytes; done += k_block_bytes)
        reduce_block<Op, k_block_elements>(memory + done, incoming + done);
    for (; done < bytes; done += sizeof(typename Op::bits))
        reduce_block<Op, 1>(memory + done, incoming + done);
}

using kernel = void (*)(std::uint8_t*, const std::uint8_t*, std::size_t);

template <class Int>
constexpr kernel k_integer[3] = {reduce_all<sum_integer<Int>>, reduce_all<extreme_integer<Int, true>>, reduce_all<extreme_integer<Int, false>>};
constexpr kernel k_float32[3] = {reduce_all<sum_float32>, reduce_all<extreme_float32<true>>, reduce_all<extreme_float32<false>>};
constexpr kernel k_float16[3] = {reduce_all<sum_float16>, reduce_all<extreme_float16<true>>, reduce_all<extreme_float16<false>>};
constexpr kernel k_bfloat16[3] = {reduce_all<sum_bfloat16>, reduce_all<extreme_bfloat16<true>>, reduce_all<extreme_bfloat16<false>>};

/// For sum, max, min; nullptr: memories do not reduce it.
const kernel* kernels_of(abi::element_type type)
{
    switch (type) {
    case abi::element_type::int32: return k_integer<std::int32_t>;
    case abi::element_type::int16: return k_integer<std::int16_t>;
    case abi::element_type::int8: return k_integer<std::int8_t>;
    case abi::element_type::uint8: return k_integer<std::uint8_t>;
    case abi::element_type::float32: return k_float32;
    case abi::element_type::float16: return k_float16;
    case abi::element_type::bfloat16: return k_bfloat16;
    case abi::element_type::float8_e4m3:
    case abi::element_type::float8_e5m2:
    case abi::element_type::hifloat8: break;
    }
    return nullptr;
}

} // namespace

void reduce(abi::element_type type, abi::reduce_op op, std::uint8_t* memory, const std::uint8_t* incoming,
            std::size_t bytes)
{
    const kernel* const kernels = kernels_of(type);
    const bool copies = op == abi::reduce_op::none;
    if ((kernels == nullptr && !copies) || op > abi::reduce_op::min)
        throw bug("reduce", 0,
                  "no reduction in memory of element type " + std::to_string(static_cast<unsigned>(type)) + " by operation " + std::to_string(static_cast<unsigned>(op)));
    if (bytes == 0)
        return;
    if (copies) {
        std::memcpy(memory, incoming, bytes);
        return;
    }
    if (bytes % abi::element_bytes(type) != 0)
        throw bug("reduce", 0,
                  std::to_string(bytes) + " bytes are no multiple of an element of " +
                      std::to_string(abi::element_bytes(type)) + " bytes");
    kernels[static_cast<unsigned>(op) - 1](memory, incoming, bytes);
}

} // namespace weft
