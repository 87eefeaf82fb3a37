// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/arithmetic/float8.h"

#include "hw/arithmetic/float_formats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace weft {

namespace {

/// Of an IEEE-like format with `fraction` bits and exponents that are biased by `bias`; specials are the caller's.
float widen(std::uint8_t bits, int fraction, int bias)
{
    const int exponent = (bits & 0x7f) >> fraction;
    const int significand = bits & ((1 << fraction) - 1);
    const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(significand), 1 - bias - fraction)
                                          : std::ldexp(static_cast<float>(significand + (1 << fraction)), exponent - bias - fraction);
    return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

float decode_hifloat8(std::uint8_t bits)
{
    if (bits == k_hifloat8_nan)
        return float32_from_bits(k_float32_nan);
    const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
    const int rest = bits & 0x7f;
    if (rest == 0)
        return 0.0f;
    if (rest == 0x6f)
        return sign * std::numeric_limits<float>::infinity();
    if (rest < 0x08)
        return sign * std::ldexp(1.0f, rest - 23);
    // Prefix, exponent, fraction: 7 bits together.
    const int exponent_bits = rest >= 0x60 ? 4 : rest >= 0x40 ? 3 : rest >= 0x20 ? 2 : rest >= 0x10 ? 1 : 0;
    const int prefix_bits = exponent_bits >= 2 ? 2 : 4 - exponent_bits;
    const int fraction_bits = 7 - prefix_bits - exponent_bits;
    int exponent = 0;
    if (exponent_bits != 0) {
        const int field = rest >> fraction_bits & ((1 << exponent_bits) - 1);
        const int leading = 1 << (exponent_bits - 1);
        exponent = leading | (field & (leading - 1));
        if ((field & leading) != 0) // the bit in the place of the implied one is the sign
            exponent = -exponent;
    }
    const int fraction = rest & ((1 << fraction_bits) - 1);
    return sign * std::ldexp(1.0f + std::ldexp(static_cast<float>(fraction), -fraction_bits), exponent);
}

/// Nearest pattern, by search in the values of positive patterns in their order.
class ordered_format {
public:
    template <class Decode> ordered_format(Decode decode, bool ties_to_even, std::uint8_t beyond, float border)
        : even_(ties_to_even), beyond_(beyond), border_(border)
    {
        for (int b = 0; b < 0x80; ++b)
            if (const float v = decode(static_cast<std::uint8_t>(b)); std::isfinite(v))
                values_[count_++] = {v, static_cast<std::uint8_t>(b)};
        std::sort(values_.begin(), values_.begin() + count_, [](const entry& a, const entry& b) { return a.value < b.value; });
    }
    /// Of a magnitude that is a number.
    std::uint8_t nearest(float magnitude) const
    {
        const auto* const end = values_.data() + count_;
        const auto* const above = std::lower_bound(values_.data(), end, magnitude, [](const entry& e, float m) { return e.value < m; });
        if (above == end) {
            return magnitude < border_ || (even_ && magnitude == border_ && (end[-1].bits & 1) == 0) ? end[-1].bits : beyond_;
        }
        if (above->value == magnitude || above == values_.data())
            return above->bits;
        const entry& below = above[-1];
        const float to_below = magnitude - below.value;
        const float to_above = above->value - magnitude;
        if (to_below != to_above)
            return to_below < to_above ? below.bits : above->bits;
        return even_ && (below.bits & 1) == 0 ? below.bits : above->bits;
    }

private:
    struct entry {
        float value;
        std::uint8_t bits;
    };
    std::array<entry, 0x80> values_{};
    std::size_t count_ = 0;
    bool even_;
    std::uint8_t beyond_; ///< of what rounds to the pattern behind the largest number
    float border_;        ///< half way there
};

std::uint8_t narrow(const ordered_format& format, float value, std::uint8_t nan, bool signed_zero, std::uint8_t infinity)
{
    if (std::isnan(value))
        return nan;
    const std::uint8_t bits = std::isinf(value) ? infinity : format.nearest(std::fabs(value));
    if (bits == nan || !std::signbit(value) || (bits == 0 && !signed_zero))
        return bits;
    return static_cast<std::uint8_t>(bits | 0x80);
}

} // namespace

float e4m3_to_float32(std::uint8_t bits)
{
    return (bits & 0x7f) == 0x7f ? float32_from_bits(k_float32_nan) : widen(bits, 3, 7);
}

float e5m2_to_float32(std::uint8_t bits)
{
    if ((bits & 0x7f) > 0x7c)
        return float32_from_bits(k_float32_nan);
    if ((bits & 0x7f) == 0x7c)
        return (bits & 0x80) != 0 ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
    return widen(bits, 2, 15);
}

float hifloat8_to_float32(std::uint8_t bits) { return decode_hifloat8(bits); }

std::uint8_t float32_to_e4m3(float value)
{
    static const ordered_format format(e4m3_to_float32, true, k_e4m3_nan, 464.0f);
    return narrow(format, value, k_e4m3_nan, true, k_e4m3_nan);
}

std::uint8_t float32_to_e5m2(float value)
{
    static const ordered_format format(e5m2_to_float32, true, 0x7c, 61440.0f);
    return narrow(format, value, k_e5m2_nan, true, 0x7c);
}

std::uint8_t float32_to_hifloat8(float value)
{
    static const ordered_format format(hifloat8_to_float32, false, 0x6f, 40960.0f); // half way to 1.5 x 2^15
    return narrow(format, value, k_hifloat8_nan, false, 0x6f);
}

} // namespace weft
