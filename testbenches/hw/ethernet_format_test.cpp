// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversions of the NIC against hw/abi/block_float.h, bit for bit.
#include "hw/abi/block_float.h"
#include "hw/abi/switchml.h"
#include "hw/ethernet/nic_convert.h"
#include "platforms/workload/traffic.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <vector>

using namespace weft;

namespace {

std::vector<float> floats()
{
    std::vector<float> v{0.0f,        -0.0f,   1.0f,     -1.0f,         0.5f,           -0.5f, 1.5f, -1.5f,  FLT_MAX,
                         -FLT_MAX,    FLT_MIN, -FLT_MIN, INFINITY,      -INFINITY,      NAN,   -NAN, 1e-45f, -1e-45f,
                         0.49999997f, 2.5f,    -2.5f,    2147483648.0f, -2147483648.0f, 1e20f};
    traffic_random r(1);
    while (v.size() < 20'000) {
        const auto bits = static_cast<std::uint32_t>(r.next());
        float x;
        std::memcpy(&x, &bits, 4);
        v.push_back(x);
        v.push_back(static_cast<float>(static_cast<std::int32_t>(r.next() >> 32)) / 1048576.0f);
    }
    return v;
}
std::uint32_t bits_of(float x)
{
    std::uint32_t b;
    std::memcpy(&b, &x, 4);
    return b;
}

} // namespace

TEST_CASE("nic formats: quantised is block_float bit for bit")
{
    const std::vector<float> x = floats();
    std::vector<std::uint8_t> wire(x.size() * 4);
    std::vector<float> back(x.size());
    for (const auto workers : std::vector<std::uint16_t>{1, 2, 8, 32})
        for (const int exponent : {-126, -125, -100, -20, 0, 1, 3, 31, 100, 127}) {
            const double block = abi::block_scale(static_cast<std::int8_t>(exponent), workers);
            const auto scale = static_cast<float>(std::min(block, static_cast<double>(FLT_MAX)));
            const nic_conversion c{abi::nic_format::quantised, workers, scale};
            convert_to_wire(c, wire.data(), reinterpret_cast<const std::uint8_t*>(x.data()), wire.size());
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                const std::int32_t expected = abi::quantise(x[i], static_cast<double>(scale), workers);
                wrong += static_cast<std::int32_t>(abi::switchml::get32(&wire[i * 4])) != expected;
            }
            CHECK(wrong == 0);
            convert_from_wire(c, reinterpret_cast<std::uint8_t*>(back.data()), wire.data(), wire.size());
            for (std::size_t i = 0; i < x.size(); ++i) {
                const auto word = static_cast<std::int32_t>(abi::switchml::get32(&wire[i * 4]));
                wrong += bits_of(back[i]) != bits_of(abi::dequantise(word, static_cast<double>(scale)));
            }
            CHECK(wrong == 0);
        }
}

TEST_CASE("nic formats: swap32 and as_is")
{
    std::vector<std::uint8_t> from(1028), to(1028), again(1028);
    for (std::size_t i = 0; i < from.size(); ++i)
        from[i] = static_cast<std::uint8_t>(i * 7);
    const nic_conversion swap{abi::nic_format::swap32, 1, 1};
    convert_to_wire(swap, to.data(), from.data(), from.size());
    for (std::size_t i = 0; i < from.size(); i += 4)
        for (std::size_t k = 0; k < 4; ++k)
            REQUIRE(to[i + k] == from[i + 3 - k]);
    convert_from_wire(swap, again.data(), to.data(), to.size());
    CHECK(again == from);
    convert_to_wire({}, to.data(), from.data(), from.size());
    CHECK(to == from);
}

TEST_CASE("nic formats: the largest exponent is that of block_float")
{
    const std::vector<float> x = floats();
    for (std::size_t first = 0; first + 64 <= x.size(); first += 64) {
        std::int8_t expected = abi::k_min_exponent;
        for (std::size_t i = first; i < first + 64; ++i)
            expected = std::max(expected, abi::exponent_of(bits_of(x[i])));
        REQUIRE(largest_exponent(abi::k_min_exponent, reinterpret_cast<const std::uint8_t*>(&x[first]), 256) ==
                expected);
    }
}
