// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/arithmetic/float_formats.h"
#include "hw/arithmetic/reduce.h"
#include "tlm/check.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace weft;
using abi::element_type;
using abi::reduce_op;

namespace {

std::uint32_t load(element_type t, const std::uint8_t* p)
{
    std::uint32_t v = 0;
    std::memcpy(&v, p, abi::element_bytes(t)); // little-endian hosts
    return v;
}

/// One element through the vectorised function.
std::uint32_t reduce_one(element_type t, reduce_op op, std::uint32_t a, std::uint32_t b)
{
    std::uint8_t memory[4];
    std::uint8_t incoming[4];
    std::memcpy(memory, &a, 4);
    std::memcpy(incoming, &b, 4);
    reduce(t, op, memory, incoming, abi::element_bytes(t));
    return load(t, memory);
}

float as_float(element_type t, std::uint32_t bits)
{
    switch (t) {
    case element_type::float16: return float16_to_float32(static_cast<std::uint16_t>(bits));
    case element_type::bfloat16: return bfloat16_to_float32(static_cast<std::uint16_t>(bits));
    default: return float32_from_bits(bits);
    }
}

std::uint32_t as_bits(element_type t, float value)
{
    switch (t) {
    case element_type::float16: return float32_to_float16(value);
    case element_type::bfloat16: return float32_to_bfloat16(value);
    default: return std::isnan(value) ? k_float32_nan : float32_bits(value);
    }
}

/// The documented rules, one branch each.
std::uint32_t by_the_rules(element_type t, reduce_op op, std::uint32_t a, std::uint32_t b)
{
    if (op == reduce_op::none)
        return b;
    if (abi::is_integer(t)) {
        const auto number = [t](std::uint32_t v) -> std::int64_t {
            switch (t) {
            case element_type::int8: return static_cast<std::int8_t>(v);
            case element_type::uint8: return static_cast<std::uint8_t>(v);
            case element_type::int16: return static_cast<std::int16_t>(v);
            default: return static_cast<std::int32_t>(v);
            }
        };
        const std::int64_t x = number(a), y = number(b);
        const std::int64_t r = op == reduce_op::sum ? x + y : op == reduce_op::max ? std::max(x, y) : std::min(x, y);
        const std::uint64_t mask = (std::uint64_t{1} << 8 * abi::element_bytes(t)) - 1;
        return static_cast<std::uint32_t>(static_cast<std::uint64_t>(r) & mask);
    }
    const float x = as_float(t, a);
    const float y = as_float(t, b);
    if (op == reduce_op::sum) {
        // Double holds the sum of two float16 exactly, and of two bfloat16 or float32 well enough to round innocuously.
        const double sum = static_cast<double>(x) + static_cast<double>(y);
        return as_bits(t, static_cast<float>(sum));
    }
    if (std::isnan(x) || std::isnan(y))
        return std::isnan(x) && std::isnan(y) ? as_bits(t, x) : std::isnan(x) ? b : a;
    const bool a_is_less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
    return (op == reduce_op::max) == a_is_less ? b : a;
}

std::vector<std::uint32_t> interesting(element_type t)
{
    if (t == element_type::int32)
        return {0, 1, 2, 0x7fff'ffff, 0x8000'0000, 0x8000'0001, 0xffff'ffff, 0x1234'5678, 0xfedc'ba98};
    if (abi::is_integer(t) && abi::element_bytes(t) == 1)
        return {0, 1, 2, 0x7f, 0x80, 0x81, 0xff, 0x12, 0xfe};
    if (t == element_type::int16)
        return {0, 1, 2, 0x7fff, 0x8000, 0x8001, 0xffff, 0x1234, 0xfedc};
    if (t == element_type::float32)
        return {0,           0x8000'0000, 1,           0x8000'0001, 0x007f'ffff, 0x0080'0000, 0x3f80'0000,
                0xbf80'0000, 0x3380'0000, 0x3f80'0001, 0x7f7f'ffff, 0xff7f'ffff, 0x7f80'0000, 0xff80'0000,
                0x7f80'0001, 0x7fc0'0000, 0xffc1'2345, 0xffff'ffff, 0x4b80'0000, 0x3400'0000};
    const std::uint32_t infinity = t == element_type::float16 ? 0x7c00 : 0x7f80;
    const std::uint32_t one = t == element_type::float16 ? 0x3c00 : 0x3f80;
    const std::uint32_t least_normal = t == element_type::float16 ? 0x0400 : 0x0080;
    std::vector<std::uint32_t> all;
    for (const std::uint32_t v : {0u, 1u, 2u, least_normal - 1, least_normal, least_normal + 1, one - 1, one, one + 1,
                                  infinity - 1, infinity, infinity + 1, 0x7fffu, infinity | (infinity >> 1)}) {
        all.push_back(v);
        all.push_back(v | 0x8000u);
    }
    return all;
}

const element_type k_types[] = {element_type::int32, element_type::float32, element_type::float16, element_type::bfloat16,
                                element_type::int8,  element_type::uint8,   element_type::int16};
const reduce_op k_ops[] = {reduce_op::none, reduce_op::sum, reduce_op::max, reduce_op::min};

} // namespace

TEST_CASE("reduce follows its rules on every pair of special values", "[reduce]")
{
    for (const auto t : k_types)
        for (const auto op : k_ops)
            for (const auto a : interesting(t))
                for (const auto b : interesting(t)) {
                    const auto expected = by_the_rules(t, op, a, b);
                    const auto got = reduce_one(t, op, a, b);
                    if (got != expected) {
                        CAPTURE(static_cast<int>(t), static_cast<int>(op), a, b);
                        CHECK(got == expected);
                    }
                }
    // By hand, so that the rules themselves are held.
    CHECK(reduce_one(element_type::int32, reduce_op::sum, 0x7fff'ffff, 1) == 0x8000'0000);
    CHECK(reduce_one(element_type::int32, reduce_op::max, 0xffff'ffff, 1) == 1);
    CHECK(reduce_one(element_type::float32, reduce_op::max, 0x7fc0'0000, 0xff80'0000) ==
          0xff80'0000);                                                                      // number over NaN
    CHECK(reduce_one(element_type::float32, reduce_op::min, 0, 0x8000'0000) == 0x8000'0000); // -0 < +0
    CHECK(reduce_one(element_type::float32, reduce_op::sum, 0x7f80'0000, 0xff80'0000) == 0x7fc0'0000); // inf - inf
    CHECK(reduce_one(element_type::float32, reduce_op::sum, 0xffc1'2345, 0) == 0x7fc0'0000);           // canonical NaN
    CHECK(reduce_one(element_type::float16, reduce_op::sum, 0x7bff, 0x4c00) == 0x7c00);  // 65504 + 16 = inf
    CHECK(reduce_one(element_type::float16, reduce_op::sum, 0x0001, 0x03ff) == 0x0400);  // subnormals add up
    CHECK(reduce_one(element_type::bfloat16, reduce_op::sum, 0x4380, 0x3f80) == 0x4380); // 256 + 1: tie to even
    CHECK(reduce_one(element_type::bfloat16, reduce_op::sum, 0x4381, 0x3f80) == 0x4382); // 258 + 1: tie to even
}

TEST_CASE("reduce at any length and alignment equals element by element and touches nothing else", "[reduce]")
{
    std::mt19937 random(7);
    for (const auto t : k_types)
        for (const auto op : k_ops)
            for (const std::size_t elements : {0u, 1u, 2u, 63u, 64u, 65u, 127u, 300u})
                for (const std::size_t shift : {0u, 1u, 3u}) {
                    const std::size_t width = abi::element_bytes(t);
                    const std::size_t bytes = elements * width;
                    std::vector<std::uint8_t> memory(bytes + 64);
                    std::vector<std::uint8_t> incoming(bytes + 64);
                    for (auto& v : memory)
                        v = static_cast<std::uint8_t>(random());
                    for (auto& v : incoming)
                        v = static_cast<std::uint8_t>(random());
                    auto expected = memory;
                    const std::size_t other_shift = 2 * shift % 5;
                    for (std::size_t i = 0; i < elements; ++i) {
                        const auto r = by_the_rules(t, op, load(t, &memory[16 + shift + i * width]),
                                                    load(t, &incoming[16 + other_shift + i * width]));
                        std::memcpy(&expected[16 + shift + i * width], &r, width);
                    }
                    reduce(t, op, &memory[16 + shift], &incoming[16 + other_shift], bytes);
                    CAPTURE(static_cast<int>(t), static_cast<int>(op), elements, shift);
                    REQUIRE(memory == expected);
                }
}

TEST_CASE("16-bit sums are rounded once", "[reduce]")
{
    // Against exact arithmetic: all pairs of a sample that covers every exponent. float16: the double sum is exact, and
    // narrowing it through float32 would be the double rounding that is to be excluded, so round it by its own grid
    // here.
    unsigned wrong = 0;
    for (std::uint32_t a = 0; a < 0x7c00; a += 37)
        for (std::uint32_t b = 0; b < 0x10000; b += 41) {
            if ((b & 0x7c00u) == 0x7c00u)
                continue;
            const double exact = static_cast<double>(as_float(element_type::float16, a)) +
                                 static_cast<double>(as_float(element_type::float16, b));
            const int exponent = std::max(exact == 0 ? -14 : std::ilogb(exact), -14);
            const double grid = std::ldexp(1.0, exponent - 10);
            double rounded = std::nearbyint(exact / grid) * grid;
            if (std::fabs(rounded) >= 65536)
                rounded = std::copysign(std::numeric_limits<double>::infinity(), rounded);
            const auto got = reduce_one(element_type::float16, reduce_op::sum, a, b);
            wrong += static_cast<double>(as_float(element_type::float16, got)) != rounded;
        }
    CHECK(wrong == 0);
}

TEST_CASE("max and min do not depend on the order of the ranks", "[reduce]")
{
    for (const auto t : {element_type::float32, element_type::float16, element_type::bfloat16})
        for (const auto op : {reduce_op::max, reduce_op::min}) {
            const auto v = interesting(t);
            unsigned differences = 0;
            for (const auto a : v)
                for (const auto b : v) {
                    // Two equal-looking NaNs become the canonical one, so even those commute.
                    differences += reduce_one(t, op, a, b) != reduce_one(t, op, b, a);
                    for (const auto c : v)
                        differences += reduce_one(t, op, reduce_one(t, op, a, b), c) !=
                                       reduce_one(t, op, a, reduce_one(t, op, b, c));
                }
            CHECK(differences == 0);
        }
}

TEST_CASE("reduce refuses what no DMA may ask", "[reduce]")
{
    std::array<std::uint8_t, 8> memory{};
    const std::array<std::uint8_t, 8> incoming{};
    CHECK_THROWS_AS(reduce(element_type::int32, reduce_op::sum, memory.data(), incoming.data(), 6), bug);
    CHECK_THROWS_AS(reduce(element_type::bfloat16, reduce_op::max, memory.data(), incoming.data(), 7), bug);
    CHECK_THROWS_AS(reduce(static_cast<element_type>(abi::k_element_types), reduce_op::sum, memory.data(), incoming.data(), 4), bug);
    CHECK_THROWS_AS(reduce(element_type::int32, static_cast<reduce_op>(4), memory.data(), incoming.data(), 4), bug);
    CHECK_NOTHROW(reduce(element_type::int32, reduce_op::none, memory.data(), incoming.data(), 7));
    CHECK_NOTHROW(reduce(element_type::int32, reduce_op::sum, nullptr, nullptr, 0));
}
