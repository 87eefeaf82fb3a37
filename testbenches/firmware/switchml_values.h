// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the workers of switchml_world.h add up, and whether the sums are right: int32 exactly, float32 within the bound of
// appendix E, n^2 * 2^e / 2^32, with e the exponent of the block, besides the rounding of the result itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "hw/abi/block_float.h"
#include "hw/abi/platform_table.h"
#include "testbenches/firmware/switchml_switch.h"

namespace weft::testing {

inline std::uint32_t bits_at(const unsigned char* from)
{
    std::uint32_t bits = 0;
    std::memcpy(&bits, from, sizeof bits);
    return bits;
}

inline float as_float(std::uint32_t bits)
{
    float x = 0;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

/// Element i of a worker.
inline std::uint32_t input_of(const switchml_options& o, const abi::command& c, std::uint32_t worker, std::uint64_t i)
{
    std::uint64_t h =
        (i + 1) * 0x9e3779b97f4a7c15ull + worker * 0xc2b2ae3d27d4eb4full + c.sequence * 0x165667b19e3779f9ull;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9ull;
    const auto bits = static_cast<std::uint32_t>(h ^ h >> 32);
    if (c.type != abi::element_type::float32 || o.wild_floats)
        return bits;
    // Magnitudes that change slowly from element to element, and differ between workers.
    const int power = static_cast<int>(i / 50 % 40) - 20 + static_cast<int>(worker % 3);
    const float x = std::ldexp(static_cast<float>(static_cast<std::int32_t>(bits)) / 2147483648.0f, power);
    std::uint32_t as_bits = 0;
    std::memcpy(&as_bits, &x, sizeof as_bits);
    return as_bits;
}

/// Elements of the result that are wrong. `worst` rises to the largest error as a share of its bound.
inline std::uint64_t wrong_sums(const switchml_options& o, const abi::command& c, const unsigned char* result,
                                double& worst)
{
    const std::uint32_t n = o.workers;
    const std::uint64_t block =
        o.elements_per_packet * (o.protocol == sml::transport::rdma ? std::uint64_t{o.packets_per_message} : 1);
    std::uint64_t wrong = 0;
    int exponent = 0;
    for (std::uint64_t i = 0; i < c.count; ++i) {
        if (c.type == abi::element_type::int32) {
            std::uint32_t sum = 0;
            for (std::uint32_t w = 0; w < n; ++w)
                sum += input_of(o, c, w, i);
            wrong += sum != bits_at(result + i * 4);
            continue;
        }
        if (o.wild_floats)
            continue;
        if (i % block == 0) {
            exponent = abi::k_min_exponent;
            for (std::uint64_t k = i; k < c.count && k < i + block; ++k)
                for (std::uint32_t w = 0; w < n; ++w)
                    exponent = std::max<int>(exponent, abi::exponent_of(input_of(o, c, w, k)));
        }
        double sum = 0;
        for (std::uint32_t w = 0; w < n; ++w)
            sum += static_cast<double>(as_float(input_of(o, c, w, i)));
        const double bound = std::ldexp(double(n) * n, exponent - 32) * (1 + 1e-6) + std::abs(sum) / (1 << 24);
        const double error = std::abs(static_cast<double>(as_float(bits_at(result + i * 4))) - sum);
        worst = std::max(worst, error / bound);
        wrong += !(error <= bound);
    }
    return wrong;
}

} // namespace weft::testing
