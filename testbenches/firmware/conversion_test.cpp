// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversion of whole blocks against the word-by-word definitions of hw/abi/block_float.h, bit for bit.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "firmware/switchml/conversion.h"
#include "firmware/switchml/switchml_job.h"
#include "firmware/switchml/timers.h"
#include "hw/abi/switchml.h"

using namespace weft;
using namespace weft::firmware;

namespace {

constexpr std::uint32_t k_words = 256;

struct alignas(8) block {
    std::uint32_t words[k_words];
};

float float_of(std::uint32_t bits)
{
    float x = 0;
    std::memcpy(&x, &bits, 4);
    return x;
}

std::uint32_t bits_of(float x)
{
    std::uint32_t bits = 0;
    std::memcpy(&bits, &x, 4);
    return bits;
}

/// Random floats: 0 any bits, 1 below 2^exponent, 2 near 2^exponent, 3 special values.
block floats(unsigned kind, int exponent, std::mt19937& random)
{
    constexpr float k_infinity = std::numeric_limits<float>::infinity();
    const float special[] = {0.0f,   -0.0f,   k_infinity, -k_infinity, std::nanf(""),
                             1e-45f, -1e-40f, 3.4e38f,    -3.4e38f,    1.0f};
    block b;
    for (std::uint32_t& w : b.words) {
        const auto any = static_cast<std::uint32_t>(random());
        const float share = static_cast<float>(static_cast<std::int32_t>(any)) / 2147483904.0f; // below 1
        w = kind == 0   ? any
            : kind == 1 ? bits_of(std::ldexp(share, exponent))
            : kind == 2 ? bits_of(std::ldexp((any & 1) != 0 ? 1.0f : -1.0f, exponent)) - (any >> 8) % 3
                        : bits_of(special[any % 10]);
    }
    return b;
}

} // namespace

TEST_CASE("blocks are converted as their words are")
{
    std::mt19937 random(7);
    for (const int exponent : {-128, -126, -125, -97, -20, 0, 1, 30, 100, 126, 127})
        for (const std::uint32_t workers : {1u, 2u, 3u, 8u, 31u, 32u})
            for (unsigned kind = 0; kind < 4; ++kind) {
                const auto e = static_cast<std::int8_t>(exponent);
                const block in = floats(kind, exponent, random);
                const double scale = exponent < -126 ? 0 : abi::block_scale(e, workers);
                CHECK(scale_of(e, workers) == scale);
                block out = in;
                quantise_block(out.words, k_words, e, workers);
                std::int8_t largest = abi::k_min_exponent;
                INFO("exponent " << exponent << " workers " << workers << " kind " << kind);
                for (std::uint32_t i = 0; i < k_words; ++i) {
                    const auto q = static_cast<std::uint32_t>(abi::quantise(float_of(in.words[i]), scale, workers));
                    REQUIRE(out.words[i] == abi::switchml::swap32(q));
                    const std::int8_t own = abi::exponent_of(in.words[i]);
                    largest = own > largest ? own : largest;
                }
                REQUIRE(exponent_of_block(in.words, k_words) == largest);
                REQUIRE(exponent_of_block(in.words + 4, 4) <= largest);
                block back = floats(0, 0, random);
                const block sums = back;
                dequantise_block(back.words, k_words, e, workers);
                for (std::uint32_t i = 0; i < k_words; ++i) {
                    const auto sum = static_cast<std::int32_t>(abi::switchml::swap32(sums.words[i]));
                    REQUIRE(back.words[i] == bits_of(abi::dequantise(sum, scale)));
                }
            }
    block in = floats(0, 0, random);
    const block before = in;
    swap_block(in.words, k_words);
    for (std::uint32_t i = 0; i < k_words; ++i)
        REQUIRE(in.words[i] == abi::switchml::swap32(before.words[i]));
}

TEST_CASE("sums of the largest values of all workers stay within 32 bits")
{
    std::mt19937 random(11);
    for (std::uint32_t workers = 1; workers <= k_switchml_workers; ++workers)
        for (int exponent = -125; exponent <= 127; ++exponent) {
            const auto e = static_cast<std::int8_t>(exponent);
            const float largest = std::nextafter(std::ldexp(1.0f, exponent == 127 ? 126 : exponent), 0.0f);
            for (const double scale : {scale_of(e, workers), static_cast<double>(float_scale_of(e, workers))}) {
                const std::int64_t q = abi::quantise(largest, scale, 1); // no help by a limit
                REQUIRE(q * workers <= 2147483647);
                REQUIRE(static_cast<double>(float_scale_of(e, workers)) <= scale_of(e, workers));
            }
        }
}

TEST_CASE("timers end in the order in which they were started")
{
    std::mt19937 random(5);
    send_timers<32> timers;
    std::vector<std::uint32_t> running; // the plain way
    std::uint64_t now = 0;
    CHECK(timers.none());
    for (unsigned step = 0; step < 10'000; ++step) {
        const auto slot = static_cast<std::uint32_t>(random() % 32);
        const auto at = std::find(running.begin(), running.end(), slot);
        if (at != running.end()) {
            timers.stop(slot);
            running.erase(at);
        } else {
            timers.start(slot, now += random() % 3);
            running.push_back(slot);
            CHECK(timers.started_ns(slot) == now);
        }
        REQUIRE(timers.none() == running.empty());
        if (!running.empty())
            REQUIRE(timers.oldest() == running.front());
    }
}

TEST_CASE("the timeout doubles after 100 and then 200 and then 300 timeouts")
{
    retransmission_timeout t(1000, 100);
    for (unsigned i = 1; i <= 600; ++i) {
        t.on_timeout();
        CHECK(t.ns() == (i < 100 ? 1000u : i < 300 ? 2000u : i < 600 ? 4000u : 8000u));
    }
    retransmission_timeout constant(1000, 0);
    for (unsigned i = 0; i < 1000; ++i)
        constant.on_timeout();
    CHECK(constant.ns() == 1000);
    CHECK(constant.count() == 1000);
}
