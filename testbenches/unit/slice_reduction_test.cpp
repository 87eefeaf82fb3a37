// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// 8-bit floats, and reductions of several slices.
#include "hw/arithmetic/float8.h"
#include "hw/arithmetic/float_formats.h"
#include "hw/arithmetic/slice_reduction.h"
#include "tlm/check.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace weft;
using abi::element_type;
using abi::reduce_op;

namespace {

struct format {
    const char* name;
    float (*widen)(std::uint8_t);
    std::uint8_t (*narrow)(float);
    std::uint8_t nan;
};
const format k_formats[] = {{"e4m3", e4m3_to_float32, float32_to_e4m3, k_e4m3_nan},
                            {"e5m2", e5m2_to_float32, float32_to_e5m2, k_e5m2_nan},
                            {"hifloat8", hifloat8_to_float32, float32_to_hifloat8, k_hifloat8_nan}};

template <class T> std::vector<T> reduced(element_type type, reduce_op op, std::vector<std::vector<T>> slices, bool* unusual = nullptr)
{
    std::vector<std::uint8_t*> bytes;
    for (auto& s : slices)
        bytes.push_back(reinterpret_cast<std::uint8_t*>(s.data()));
    const bool u = reduce_slices(type, op, bytes.data(), static_cast<unsigned>(bytes.size()), slices[0].size() * sizeof(T));
    if (unusual != nullptr)
        *unusual = u;
    return slices[0];
}

} // namespace

TEST_CASE("8-bit floats survive a way through float32")
{
    for (const format& f : k_formats) {
        INFO(f.name);
        for (int b = 0; b < 256; ++b) {
            const auto bits = static_cast<std::uint8_t>(b);
            const float v = f.widen(bits);
            INFO(b);
            if (std::isnan(v))
                CHECK(f.narrow(v) == f.nan);
            else
                CHECK(f.narrow(v) == bits);
        }
    }
}

TEST_CASE("8-bit floats have the values of their definitions")
{
    CHECK(e4m3_to_float32(0x7e) == 448.0f);
    CHECK(e4m3_to_float32(0x01) == std::ldexp(1.0f, -9));
    CHECK(e4m3_to_float32(0x38) == 1.0f);
    CHECK(std::isnan(e4m3_to_float32(0xff)));
    CHECK(e5m2_to_float32(0x7b) == 57344.0f);
    CHECK(e5m2_to_float32(0x01) == std::ldexp(1.0f, -16));
    CHECK(std::isinf(e5m2_to_float32(0xfc)));
    CHECK(hifloat8_to_float32(0x08) == 1.0f);                    // prefix 0001
    CHECK(hifloat8_to_float32(0x0f) == 1.875f);
    CHECK(hifloat8_to_float32(0x10) == 2.0f);                    // 001, exponent +1
    CHECK(hifloat8_to_float32(0x18) == 0.5f);
    CHECK(hifloat8_to_float32(0x6e) == 32768.0f);                // largest
    CHECK(std::isinf(hifloat8_to_float32(0x6f)));
    CHECK(hifloat8_to_float32(0x7f) == 1.5f * std::ldexp(1.0f, -15));
    CHECK(hifloat8_to_float32(0x01) == std::ldexp(1.0f, -22));
    CHECK(std::isnan(hifloat8_to_float32(0x80)));
}

TEST_CASE("8-bit floats round to nearest and overflow as defined")
{
    CHECK(float32_to_e4m3(464.0f) == 0x7e);   // a tie between 448 and 480, to even
    CHECK(float32_to_e4m3(464.1f) == k_e4m3_nan);
    CHECK(float32_to_e4m3(-1.0625f) == 0xb8); // tie to even: 1
    CHECK(float32_to_e4m3(1.1875f) == 0x3a);  // tie to even: 1.25
    CHECK(float32_to_e5m2(61440.0f) == 0x7c); // a tie, to infinity
    CHECK(float32_to_e5m2(-0.0f) == 0x80);
    CHECK(float32_to_hifloat8(1.0625f) == 0x09); // tie away from zero
    CHECK(float32_to_hifloat8(-0.0f) == 0);      // 0x80 is no zero
    CHECK(float32_to_hifloat8(38000.0f) == 0x6e);
    CHECK(float32_to_hifloat8(40960.0f) == 0x6f); // a tie, away from zero
    CHECK(float32_to_hifloat8(-std::numeric_limits<float>::infinity()) == 0xef);
}

TEST_CASE("slices of integers wrap and have extremes")
{
    CHECK(reduced<std::int32_t>(element_type::int32, reduce_op::sum, {{2147483647, 1}, {1, 2}, {3, -9}}) == std::vector<std::int32_t>{-2147483645, -6});
    CHECK(reduced<std::int16_t>(element_type::int16, reduce_op::sum, {{32767}, {2}}) == std::vector<std::int16_t>{-32767});
    CHECK(reduced<std::int8_t>(element_type::int8, reduce_op::max, {{-128, 5}, {-1, 4}}) == std::vector<std::int8_t>{-1, 5});
    CHECK(reduced<std::uint8_t>(element_type::uint8, reduce_op::min, {{200, 7}, {100, 9}}) == std::vector<std::uint8_t>{100, 7});
    CHECK(reduced<std::uint8_t>(element_type::uint8, reduce_op::sum, {{200}, {100}}) == std::vector<std::uint8_t>{44});
}

TEST_CASE("slices of narrow floats are added in float32 and rounded once")
{
    // 2048 + 1 + 1 in float16: rounding after each step loses both ones.
    const std::uint16_t big = float32_to_float16(2048.0f), one = float32_to_float16(1.0f);
    CHECK(float16_to_float32(reduced<std::uint16_t>(element_type::float16, reduce_op::sum, {{big}, {one}, {one}})[0]) == 2050.0f);
    const std::uint16_t b = float32_to_bfloat16(256.0f), u = float32_to_bfloat16(1.0f);
    CHECK(bfloat16_to_float32(reduced<std::uint16_t>(element_type::bfloat16, reduce_op::sum, {{b}, {u}, {u}})[0]) == 258.0f);
    const std::uint8_t e = float32_to_e4m3(16.0f), f = float32_to_e4m3(1.0f);
    CHECK(e4m3_to_float32(reduced<std::uint8_t>(element_type::float8_e4m3, reduce_op::sum, {{e}, {f}, {f}})[0]) == 18.0f);
}

TEST_CASE("slices of floats tell what is no number and go in the order of the slices")
{
    bool unusual = false;
    const float inf = std::numeric_limits<float>::infinity();
    CHECK(reduced<float>(element_type::float32, reduce_op::sum, {{1.0f}, {2.0f}}, &unusual)[0] == 3.0f);
    CHECK_FALSE(unusual);
    CHECK(std::isnan(reduced<float>(element_type::float32, reduce_op::sum, {{inf}, {-inf}}, &unusual)[0]));
    CHECK(unusual);
    CHECK(reduced<float>(element_type::float32, reduce_op::sum, {{3e38f}, {3e38f}, {-3e38f}}, &unusual)[0] == inf);
    CHECK(unusual);
    CHECK(reduced<float>(element_type::float32, reduce_op::sum, {{3e38f}, {-3e38f}, {3e38f}}, &unusual)[0] == 3e38f); // another order
    CHECK_FALSE(unusual);
    CHECK(reduced<float>(element_type::float32, reduce_op::max, {{std::nanf("")}, {2.0f}, {1.0f}})[0] == 2.0f);
}

TEST_CASE("slices that cannot be reduced are a bug")
{
    CHECK_THROWS_AS(reduced<std::uint8_t>(element_type::hifloat8, reduce_op::max, {{1}, {2}}), bug);
    CHECK_THROWS_AS(reduced<std::uint8_t>(element_type::float16, reduce_op::sum, {{1}, {2}}), bug); // half an element
    CHECK_THROWS_AS(reduced<std::uint8_t>(element_type::uint8, reduce_op::sum, std::vector<std::vector<std::uint8_t>>(9, {1})), bug);
}
