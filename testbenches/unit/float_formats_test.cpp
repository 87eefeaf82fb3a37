// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Every one of the 65536 patterns of both 16-bit formats, and the rounding around every boundary between them, against
// a slow reference that knows nothing but the definition of the formats.
#include "hw/arithmetic/float_formats.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace weft;

namespace {

struct format {
    const char* name;
    int exponent_bits;
    int fraction_bits;
    std::uint16_t nan;
    float (*widen)(std::uint16_t);
    std::uint16_t (*narrow)(float);
};

const format k_formats[] = {
    {"float16", 5, 10, 0x7e00, float16_to_float32, float32_to_float16},
    {"bfloat16", 8, 7, 0x7fc0, bfloat16_to_float32, float32_to_bfloat16},
};

/// By definition: (-1)^s * 2^(e-bias) * 1.f, or 2^(1-bias) * 0.f.
double value_by_definition(const format& f, unsigned bits)
{
    const int bias = (1 << (f.exponent_bits - 1)) - 1;
    const int exponent = static_cast<int>(bits >> f.fraction_bits) & ((1 << f.exponent_bits) - 1);
    const double fraction = std::ldexp(static_cast<double>(bits & ((1u << f.fraction_bits) - 1)), -f.fraction_bits);
    double value = 0;
    if (exponent == (1 << f.exponent_bits) - 1)
        value = fraction > 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    else
        value = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
    return (bits & 0x8000u) != 0 ? -value : value;
}

/// Nearest pattern by search among all non-negative ones; ties to the even pattern; half a step beyond the largest:
/// infinity.
std::uint16_t narrow_by_search(const format& f, const std::vector<double>& ascending, float value)
{
    if (std::isnan(value))
        return f.nan;
    const unsigned sign = std::signbit(value) ? 0x8000u : 0u;
    const double magnitude = std::fabs(static_cast<double>(value));
    const auto above = std::lower_bound(ascending.begin(), ascending.end(), magnitude);
    if (above == ascending.end())
        return static_cast<std::uint16_t>(sign | (ascending.size() - 1));
    auto index = static_cast<unsigned>(above - ascending.begin());
    if (index > 0 && *above != magnitude) {
        const double to_upper = *above - magnitude;
        const double to_lower = magnitude - ascending[index - 1];
        if (to_lower < to_upper || (to_lower == to_upper && index % 2 == 1))
            --index;
    }
    return static_cast<std::uint16_t>(sign | index);
}

/// Values of patterns 0, 1, ... up to infinity, which for rounding stands where the next binade would begin.
std::vector<double> magnitudes(const format& f)
{
    std::vector<double> all;
    const unsigned infinity = ((1u << f.exponent_bits) - 1) << f.fraction_bits;
    for (unsigned bits = 0; bits < infinity; ++bits)
        all.push_back(value_by_definition(f, bits));
    all.push_back(2 * value_by_definition(f, infinity - (1u << f.fraction_bits)));
    return all;
}

} // namespace

TEST_CASE("16-bit floats widen to the value of their definition and narrow back", "[float_formats]")
{
    for (const auto& f : k_formats) {
        unsigned wrong = 0;
        for (unsigned bits = 0; bits < 65536; ++bits) {
            const auto pattern = static_cast<std::uint16_t>(bits);
            const float wide = f.widen(pattern);
            const double expected = value_by_definition(f, bits);
            if (std::isnan(expected)) {
                wrong += !std::isnan(wide) || f.narrow(wide) != f.nan;
                continue;
            }
            wrong += static_cast<double>(wide) != expected || std::signbit(wide) != std::signbit(expected);
            wrong += f.narrow(wide) != pattern;
        }
        INFO(f.name);
        CHECK(wrong == 0);
    }
}

TEST_CASE("narrowing rounds to nearest even on both sides of every boundary", "[float_formats]")
{
    for (const auto& f : k_formats) {
        const auto ascending = magnitudes(f);
        unsigned wrong = 0;
        const auto check = [&](float v) {
            wrong += f.narrow(v) != narrow_by_search(f, ascending, v);
            wrong += f.narrow(-v) != narrow_by_search(f, ascending, -v);
        };
        for (std::size_t i = 0; i + 1 < ascending.size(); ++i) {
            // A midpoint of bfloat16 needs 9 bits, of float16 12: a float32 holds it. Beyond its range there is
            // infinity.
            const auto middle = static_cast<float>((ascending[i] + ascending[i + 1]) / 2);
            check(middle);
            check(std::nextafterf(middle, 0.0f));
            check(std::nextafterf(middle, std::numeric_limits<float>::infinity()));
        }
        // And a stride through all of float32, subnormals, infinities and NaNs included.
        for (std::uint64_t bits = 0; bits < (1ull << 31); bits += 40'961)
            check(float32_from_bits(static_cast<std::uint32_t>(bits)));
        INFO(f.name);
        CHECK(wrong == 0);
    }
}

TEST_CASE("every NaN narrows to the canonical one", "[float_formats]")
{
    for (const std::uint32_t bits : {0x7f80'0001u, 0x7fc0'0000u, 0x7fff'ffffu, 0xff80'0001u, 0xffff'ffffu}) {
        CHECK(float32_to_float16(float32_from_bits(bits)) == k_float16_nan);
        CHECK(float32_to_bfloat16(float32_from_bits(bits)) == k_bfloat16_nan);
    }
}
