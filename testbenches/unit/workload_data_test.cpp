// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/arithmetic/float8.h"
#include "hw/arithmetic/float_formats.h"
#include "hw/arithmetic/reduce.h"
#include "hw/arithmetic/slice_reduction.h"
#include "platforms/workload/collective_data.h"
#include "platforms/workload/digest.h"
#include "tlm/check.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace weft;
using abi::algorithm;
using abi::collective_op;
using abi::element_type;
using abi::reduce_op;

namespace {

using bytes = std::vector<std::uint8_t>;
constexpr std::uint64_t k_seed = 42;
const element_type k_types[] = {element_type::int32, element_type::float32,      element_type::float16,      element_type::bfloat16, element_type::int8,
                                element_type::uint8, element_type::int16,        element_type::float8_e4m3,  element_type::float8_e5m2, element_type::hifloat8};
const element_type k_floats[] = {element_type::float32, element_type::float16, element_type::bfloat16, element_type::float8_e4m3, element_type::float8_e5m2, element_type::hifloat8};
const reduce_op k_reductions[] = {reduce_op::sum, reduce_op::max, reduce_op::min};

collective_case case_of(collective_op op, element_type t, reduce_op redop, std::uint64_t count,
                        data_style style = data_style::exact)
{
    auto c = make_case(op, algorithm::ring_1d, t, redop, count * abi::element_bytes(t));
    c.style = style;
    return c;
}

bytes input(const collective_case& c, std::uint32_t rank, std::uint32_t ranks)
{
    bytes data(c.size_bytes);
    generate(c, k_seed, rank, ranks, 0, data.data(), c.count);
    return data;
}

/// With the arithmetic of memories, or of a CCU where they have none.
void combine(const collective_case& c, bytes& into, const bytes& other)
{
    std::uint8_t* slices[] = {into.data(), const_cast<std::uint8_t*>(other.data())}; // the second one is only read
    if (abi::memory_reduces(c.type))
        reduce(c.type, c.redop, into.data(), other.data(), other.size());
    else
        reduce_slices(c.type, c.redop, slices, 2, other.size());
}

/// Reduce all ranks' inputs in a random binary tree over a random order of the ranks.
bytes reduce_in_some_order(const collective_case& c, std::uint32_t ranks, std::mt19937& random)
{
    std::vector<bytes> parts;
    for (std::uint32_t r = 0; r < ranks; ++r)
        parts.push_back(input(c, r, ranks));
    while (parts.size() > 1) {
        std::swap(parts.back(), parts[random() % parts.size()]);
        const bytes last = std::move(parts.back());
        parts.pop_back();
        combine(c, parts[random() % parts.size()], last);
    }
    return parts[0];
}

/// Result regions of all ranks, as a right implementation leaves them.
std::vector<bytes> right_answer(const collective_case& c, std::uint32_t ranks)
{
    std::mt19937 random(1);
    const std::size_t width = abi::element_bytes(c.type);
    std::vector<bytes> results(ranks);
    for (std::uint32_t r = 0; r < ranks; ++r) {
        auto& out = results[r];
        switch (c.op) {
        case collective_op::all_reduce:
        case collective_op::reduce: out = reduce_in_some_order(c, ranks, random); break;
        case collective_op::reduce_scatter: {
            const bytes all = reduce_in_some_order(c, ranks, random);
            const auto shard = abi::shard_of(c.count, ranks, r);
            out.assign(c.size_bytes, 0xee); // scratch
            std::copy_n(all.begin() + static_cast<long>(shard.first * width), shard.count * width,
                        out.begin() + static_cast<long>(shard.first * width));
            break;
        }
        case collective_op::all_gather:
            for (std::uint32_t s = 0; s < ranks; ++s) {
                const auto shard = abi::shard_of(c.count, ranks, s);
                bytes piece(shard.count * width);
                generate(c, k_seed, s, ranks, shard.first, piece.data(), shard.count);
                out.insert(out.end(), piece.begin(), piece.end());
            }
            break;
        case collective_op::broadcast: out = input(c, c.root, ranks); break;
        case collective_op::all_to_all:
            for (std::uint32_t s = 0; s < ranks; ++s) {
                const auto shard = abi::shard_of(c.count, ranks, r);
                const bytes all = input(c, s, ranks);
                out.insert(out.end(), all.begin() + static_cast<long>(shard.first * width),
                           all.begin() + static_cast<long>((shard.first + shard.count) * width));
            }
            break;
        case collective_op::dispatch:
        case collective_op::combine: break; // unit/token_lists_test, issues/experts_test
        }
    }
    return results;
}

/// Reader over vectors that answers in pieces of at most `piece` bytes.
memory_reader reader_of(const std::vector<bytes>& results, std::uint64_t piece = ~0ull)
{
    return [&results, piece](std::uint32_t rank, std::uint64_t offset, std::uint64_t max) {
        REQUIRE(offset + max <= results[rank].size());
        return memory_span{results[rank].data() + offset, std::min(max, piece)};
    };
}

double number(element_type t, const std::uint8_t* p)
{
    if (t == element_type::float8_e4m3)
        return static_cast<double>(e4m3_to_float32(*p));
    if (t == element_type::float8_e5m2)
        return static_cast<double>(e5m2_to_float32(*p));
    if (t == element_type::hifloat8)
        return static_cast<double>(hifloat8_to_float32(*p));
    std::uint16_t half = 0;
    float single = 0;
    std::memcpy(&half, p, 2);
    if (t == element_type::float16)
        return static_cast<double>(float16_to_float32(half));
    if (t == element_type::bfloat16)
        return static_cast<double>(bfloat16_to_float32(half));
    std::memcpy(&single, p, 4);
    return static_cast<double>(single);
}

int significant_bits(element_type t)
{
    switch (t) {
    case element_type::float32: return 24;
    case element_type::float16: return 11;
    case element_type::bfloat16: return 8;
    case element_type::float8_e5m2: return 3;
    default: return 4;
    }
}

} // namespace

TEST_CASE("names of cases go both ways", "[workload]")
{
    CHECK(std::string(name_of(collective_op::reduce_scatter)) == "reduce_scatter");
    CHECK(std::string(name_of(static_cast<algorithm>(77))) == "?");
    CHECK(value_of<element_type>("bfloat16") == element_type::bfloat16);
    CHECK(value_of<algorithm>("two_d") == algorithm::two_d);
    CHECK(value_of<data_style>("random") == data_style::random);
    CHECK_FALSE(value_of<reduce_op>("Sum").has_value());
    CHECK(std::size(enum_names<collective_op>::values) == abi::k_collective_ops);
    CHECK(std::size(enum_names<algorithm>::values) == abi::k_algorithms + 1); // and auto
    CHECK(std::size(enum_names<element_type>::values) == abi::k_element_types);
}

TEST_CASE("sizes and bandwidths follow nccl-tests", "[workload]")
{
    const auto c = make_case(collective_op::all_gather, algorithm::ring_1d, element_type::bfloat16, reduce_op::sum, 7);
    CHECK(c.count == 3);
    CHECK(c.size_bytes == 6);
    CHECK(c.redop == reduce_op::none);
    CHECK(bus_bandwidth_factor(collective_op::all_reduce, 4) == 1.5);
    CHECK(bus_bandwidth_factor(collective_op::all_gather, 4) == 0.75);
    CHECK(bus_bandwidth_factor(collective_op::reduce_scatter, 4) == 0.75);
    CHECK(bus_bandwidth_factor(collective_op::all_to_all, 4) == 0.75);
    CHECK(bus_bandwidth_factor(collective_op::broadcast, 4) == 1.0);
    CHECK(bus_bandwidth_factor(collective_op::reduce, 4) == 1.0);
    CHECK(algorithm_bandwidth_GBps(1000, 1'000'000) == Approx(1.0)); // 1000 B in 1 us
    CHECK(algorithm_bandwidth_GBps(1000, 0) == 0.0);
}

TEST_CASE("impossible cases are told in a sentence", "[workload]")
{
    auto c = case_of(collective_op::all_reduce, element_type::int32, reduce_op::sum, 4);
    CHECK(problem_of(c, 4).empty());
    c.redop = reduce_op::none;
    CHECK(problem_of(c, 4) == "all_reduce needs a reduction: sum, max or min");
    c = case_of(collective_op::broadcast, element_type::int32, reduce_op::none, 4);
    c.root = 4;
    CHECK(problem_of(c, 4) == "root 4 does not exist: ranks are 0 to 3");
    c = case_of(collective_op::broadcast, element_type::int32, reduce_op::none, 0);
    CHECK(problem_of(c, 4) == "broadcast of 0 B holds no element: one int32 takes 4 B");
    c.count = 3;
    CHECK_FALSE(problem_of(c, 4).empty());
    CHECK_THROWS_AS(result_checker(c, 1, 4), bug);
}

TEST_CASE("inputs are the same however they are cut and differ in everything that names them", "[workload]")
{
    const auto c = case_of(collective_op::all_reduce, element_type::int32, reduce_op::sum, 5000);
    const bytes whole = input(c, 3, 8);
    bytes pieces(whole.size());
    for (std::uint64_t i = 0, n = 1; i < c.count; i += n, n = std::min<std::uint64_t>(i % 977 + 1, c.count - i))
        generate(c, k_seed, 3, 8, i, &pieces[i * 4], n);
    CHECK(pieces == whole);

    auto same = c;
    same.algo = algorithm::two_d;
    same.transposed = true;
    CHECK(input(same, 3, 8) == whole);

    auto other_op = c;
    other_op.op = collective_op::reduce_scatter;
    auto other_redop = c;
    other_redop.redop = reduce_op::max;
    bytes other_seed(whole.size());
    generate(c, k_seed + 1, 3, 8, 0, other_seed.data(), c.count);
    for (const auto& other : {input(c, 2, 8), input(other_op, 3, 8), input(other_redop, 3, 8), other_seed}) {
        std::size_t equal = 0;
        for (std::size_t i = 0; i < c.count; ++i)
            equal += std::memcmp(&other[i * 4], &whole[i * 4], 4) == 0;
        CHECK(equal <= 1); // chance: 5000 / 2^32
    }
    // Beyond 2^32 elements the stream goes on and does not repeat.
    bytes across(64);
    bytes start(32);
    generate(c, k_seed, 3, 8, (1ull << 32) - 8, across.data(), 16);
    generate(c, k_seed, 3, 8, 1ull << 32, start.data(), 8);
    CHECK(std::equal(start.begin(), start.end(), across.begin() + 32));
    CHECK_FALSE(std::equal(start.begin(), start.end(), whole.begin()));
}

TEST_CASE("golden inputs", "[workload]")
{
    // These values are part of every result digest: a change here changes digests that users have kept.
    std::uint32_t v[2];
    generate(case_of(collective_op::all_reduce, element_type::int32, reduce_op::sum, 16), 1, 2, 4, 5,
             reinterpret_cast<std::uint8_t*>(v), 2);
    CHECK(v[0] == 0x1f4a4cb4u);
    CHECK(v[1] == 0x65f409f3u);
}

TEST_CASE("random int32 inputs use all their bits", "[workload]")
{
    const auto c = case_of(collective_op::all_reduce, element_type::int32, reduce_op::sum, 1 << 16);
    const bytes data = input(c, 0, 2);
    for (unsigned bit = 0; bit < 32; ++bit) {
        long ones = 0;
        long repeats = 0;
        for (std::size_t i = 0; i < c.count; ++i) {
            const int b = data[i * 4 + bit / 8] >> (bit % 8) & 1;
            ones += b;
            if (i > 0)
                repeats += b == (data[(i - 1) * 4 + bit / 8] >> (bit % 8) & 1);
        }
        CHECK(std::abs(ones - 32768) < 5 * 128); // five standard deviations
        CHECK(std::abs(repeats - 32768) < 5 * 128);
    }
}

TEST_CASE("exact float sums: magnitudes fit the significand and every rank and element takes part", "[workload]")
{
    for (const auto t : k_floats)
        for (const std::uint32_t ranks : {1u, 2u, 3u, 64u, 127u, 128u, 129u, 1000u, 1024u, 8192u}) {
            if (abi::is_float8(t) && ranks > 1024)
                continue; // the turn of some does not come in so few elements
            const auto c = case_of(collective_op::all_reduce, t, reduce_op::sum, 300);
            std::vector<double> sum_of_magnitudes(c.count, 0.0);
            std::vector<double> largest(c.count, 0.0);
            std::uint32_t silent_ranks = 0;
            bool integers = true;
            for (std::uint32_t r = 0; r < ranks; ++r) {
                const bytes data = input(c, r, ranks);
                bool speaks = false;
                for (std::size_t i = 0; i < c.count; ++i) {
                    const double v = number(t, &data[i * abi::element_bytes(t)]);
                    integers = integers && v == std::nearbyint(v) && !(v == 0 && std::signbit(v));
                    sum_of_magnitudes[i] += std::fabs(v);
                    largest[i] = std::max(largest[i], std::fabs(v));
                    speaks = speaks || v != 0;
                }
                silent_ranks += !speaks;
            }
            CAPTURE(static_cast<int>(t), ranks);
            // The whole proof: any partial sum is an integer of magnitude <= 2^p, and those are in the type.
            CHECK(integers);
            CHECK(*std::max_element(sum_of_magnitudes.begin(), sum_of_magnitudes.end()) <=
                  std::ldexp(1.0, significant_bits(t)));
            CHECK(*std::min_element(largest.begin(), largest.end()) >= 1);
            CHECK(silent_ranks == 0);
        }
}

TEST_CASE("exact float sums are the same in every order of association", "[workload]")
{
    std::mt19937 random(11);
    for (const auto t : k_floats) {
        // All orders of four ranks, left-leaning and balanced ...
        const auto small = case_of(collective_op::all_reduce, t, reduce_op::sum, 100);
        std::set<bytes> results;
        std::vector<std::uint32_t> order = {0, 1, 2, 3};
        do {
            bytes left = input(small, order[0], 4);
            for (unsigned i = 1; i < 4; ++i)
                combine(small, left, input(small, order[i], 4));
            results.insert(left);
            bytes a = input(small, order[0], 4);
            combine(small, a, input(small, order[1], 4));
            bytes b = input(small, order[2], 4);
            combine(small, b, input(small, order[3], 4));
            combine(small, a, b);
            results.insert(a);
        } while (std::next_permutation(order.begin(), order.end()));
        CHECK(results.size() == 1);
        // ... and random trees of many.
        for (const std::uint32_t ranks : {5u, 64u, 300u}) {
            results.clear();
            for (int trial = 0; trial < 10; ++trial)
                results.insert(reduce_in_some_order(small, ranks, random));
            CHECK(results.size() == 1);
        }
    }
}

TEST_CASE("right answers pass: every operation and type and awkward count", "[workload]")
{
    for (const auto op : {collective_op::all_reduce, collective_op::reduce_scatter, collective_op::all_gather,
                          collective_op::broadcast, collective_op::all_to_all, collective_op::reduce})
        for (const auto t : k_types)
            for (const auto redop : k_reductions)
                for (const auto style : {data_style::exact, data_style::random})
                    for (const std::uint64_t count : {1ull, 3ull, 7ull, 8ull, 1001ull, 9000ull}) {
                        constexpr std::uint32_t ranks = 5;
                        if (abi::reduces(op) && !abi::unit_reduces(t, redop))
                            continue;
                        auto c = case_of(op, t, redop, count, style);
                        if (abi::is_float8(t))
                            c.algo = algorithm::ccu;
                        c.root = 2;
                        const auto results = right_answer(c, ranks);
                        const auto all = check_result(c, k_seed, ranks, reader_of(results));
                        INFO(name_of(op) << ' ' << name_of(t) << ' ' << name_of(c.redop) << ' ' << name_of(style) << ' '
                                         << count << ": " << to_string(all.first, t));
                        REQUIRE(all.wrong == 0);
                        const bool whole = op == collective_op::all_reduce || op == collective_op::all_gather ||
                                           op == collective_op::broadcast;
                        REQUIRE(all.checked ==
                                (whole ? ranks * count : count * (op == collective_op::all_to_all ? 5 : 1)));
                        // Rank by rank and in other spans: the same outcome.
                        result_checker one_by_one(c, k_seed, ranks);
                        for (std::uint32_t r = ranks; r-- > 0;)
                            one_by_one.check_rank(r, reader_of(results, 1000));
                        REQUIRE(one_by_one.outcome().wrong == 0);
                        REQUIRE(one_by_one.outcome().digest == all.digest);
                    }
}

TEST_CASE("any single flipped bit of an exact result is one wrong element", "[workload]")
{
    for (const auto op : {collective_op::all_reduce, collective_op::all_to_all, collective_op::reduce_scatter})
        for (const auto t : k_types) {
            constexpr std::uint32_t ranks = 3;
            auto c = case_of(op, t, reduce_op::sum, 7);
            c.algo = algorithm::ccu; // sums any type
            auto results = right_answer(c, ranks);
            const auto good = check_result(c, k_seed, ranks, reader_of(results));
            REQUIRE(good.wrong == 0);
            const std::size_t width = abi::element_bytes(t);
            for (std::uint32_t r = 0; r < ranks; ++r) {
                const auto range = result_range(c, r, ranks);
                for (std::size_t bit = range.first * width * 8; bit < (range.first + range.count) * width * 8; ++bit) {
                    results[r][bit / 8] = static_cast<std::uint8_t>(results[r][bit / 8] ^ (1u << (bit % 8)));
                    const auto bad = check_result(c, k_seed, ranks, reader_of(results));
                    CAPTURE(static_cast<int>(t), r, bit);
                    REQUIRE(bad.wrong == 1);
                    REQUIRE(bad.first.rank == r);
                    REQUIRE(bad.first.index == bit / 8 / width);
                    REQUIRE((bad.first.got ^ bad.first.expected) == 1u << (bit % (8 * width)));
                    REQUIRE(bad.digest != good.digest);
                    results[r][bit / 8] = static_cast<std::uint8_t>(results[r][bit / 8] ^ (1u << (bit % 8)));
                }
            }
        }
}

TEST_CASE("the first wrong element is that of the lowest rank", "[workload]")
{
    const auto c = case_of(collective_op::all_reduce, element_type::int32, reduce_op::sum, 10'000);
    auto results = right_answer(c, 3);
    for (const auto& [rank, index] : {std::pair{1, 7}, std::pair{0, 9000}, std::pair{0, 9001}, std::pair{2, 0}})
        results[static_cast<std::size_t>(rank)][static_cast<std::size_t>(index) * 4] ^= 1;
    const auto outcome = check_result(c, k_seed, 3, reader_of(results));
    CHECK(outcome.wrong == 4);
    CHECK(outcome.first.rank == 0);
    CHECK(outcome.first.index == 9000);
}

TEST_CASE("8-bit floats: random sums are checked among few ranks and refused among many", "[workload]")
{
    std::mt19937 random(6);
    for (const auto& [t, ranks] : {std::pair{element_type::float8_e4m3, 16u}, std::pair{element_type::float8_e5m2, 8u}, std::pair{element_type::hifloat8, 16u}}) {
        auto c = case_of(collective_op::all_reduce, t, reduce_op::sum, 3000, data_style::random);
        c.algo = algorithm::ccu;
        std::vector<bytes> results(ranks, reduce_in_some_order(c, ranks, random));
        CHECK(check_result(c, k_seed, ranks, reader_of(results)).wrong == 0);
        CHECK_THROWS_AS(result_checker(c, 1, ranks + 1), bug);
        c.algo = algorithm::direct;
        CHECK(problem_of(c, ranks) == std::string("direct cannot sum ") + name_of(t) +
                                          ": memories reduce no 8-bit floats; collective communication units do, on ub_mesh (ccu, ccu_one_shot, ccu_axes)");
        c.redop = reduce_op::max;
        CHECK(problem_of(c, ranks) == std::string("max of ") + name_of(t) + " does not exist: nothing compares 8-bit floats, adders of CCUs sum them");
    }
}

TEST_CASE("a missing or doubled contribution of one rank is seen", "[workload]")
{
    for (const auto t : k_types)
        for (const auto style : {data_style::exact, data_style::random}) {
            constexpr std::uint32_t ranks = 4;
            auto c = case_of(collective_op::all_reduce, t, reduce_op::sum, 100, style);
            c.algo = algorithm::ccu; // sums any type
            if (abi::is_float8(t) && style == data_style::random)
                continue; // the bound allows nearly anything
            auto results = right_answer(c, ranks);
            combine(c, results[2], input(c, 1, ranks));
            const auto outcome = check_result(c, k_seed, ranks, reader_of(results));
            // Within the error bound of bfloat16 small contributions may hide; most must not.
            // A byte is 0 now and then.
            const bool often = abi::is_integer(t) ? abi::element_bytes(t) > 1 : style == data_style::exact;
            CHECK(outcome.wrong >= (often ? 100 : 90));
            CHECK(outcome.first.rank == 2);
        }
}

TEST_CASE("random sums: the bound accepts every order and refuses what lies outside and NaN", "[workload]")
{
    std::mt19937 random(5);
    for (const auto t : {element_type::float32, element_type::float16, element_type::bfloat16}) {
        constexpr std::uint32_t ranks = 40;
        const auto c = case_of(collective_op::all_reduce, t, reduce_op::sum, 300, data_style::random);
        std::set<bytes> seen;
        for (int trial = 0; trial < 5; ++trial) {
            std::vector<bytes> results;
            for (std::uint32_t r = 0; r < ranks; ++r)
                results.push_back(trial == 0 || r == 0 ? reduce_in_some_order(c, ranks, random) : results[0]);
            seen.insert(results[0]);
            CHECK(check_result(c, k_seed, ranks, reader_of(results)).wrong == 0);
        }
        CHECK(seen.size() > 1); // rounding did happen, or the test would show nothing

        std::vector<bytes> results(ranks, reduce_in_some_order(c, ranks, random));
        const std::size_t width = abi::element_bytes(t);
        double magnitudes = 0;
        double sum = 0;
        for (std::uint32_t r = 0; r < ranks; ++r) {
            const double v = number(t, &input(c, r, ranks)[9 * width]);
            REQUIRE(std::fabs(v) <= 1);
            sum += v;
            magnitudes += std::fabs(v);
        }
        const double tolerance = (ranks - 1) * std::ldexp(1.0, -significant_bits(t)) * magnitudes;
        const auto put = [&](float v) {
            const std::uint32_t bits = t == element_type::float32   ? float32_bits(v)
                                       : t == element_type::float16 ? float32_to_float16(v)
                                                                    : float32_to_bfloat16(v);
            std::memcpy(&results[7][9 * width], &bits, width);
            return check_result(c, k_seed, ranks, reader_of(results));
        };
        CHECK(put(static_cast<float>(sum + 0.9 * tolerance)).wrong == 0);
        const auto outside = put(static_cast<float>(sum + 1.2 * tolerance));
        CHECK(outside.wrong == 1);
        CHECK(outside.first.index == 9);
        CHECK(outside.first.tolerance == Approx(tolerance));
        CHECK(put(std::nanf("")).wrong == 1);
        // The same wrong bits in every rank are wrong in every rank: nothing that failed may become the reference.
        std::fill(results.begin(), results.end(), bytes(results[7]));
        CHECK(check_result(c, k_seed, ranks, reader_of(results)).wrong == ranks);
    }
}

TEST_CASE("memory that was never written counts as zeros", "[workload]")
{
    const auto c = case_of(collective_op::broadcast, element_type::int32, reduce_op::none, 10'000);
    const auto outcome = check_result(c, k_seed, 2, [](std::uint32_t, std::uint64_t, std::uint64_t max) {
        return memory_span{nullptr, max};
    });
    CHECK(outcome.wrong == 20'000);
    CHECK(to_string(outcome.first, c.type).find("rank 0, element 0: expected 0x") == 0);
    CHECK_THROWS_AS(check_result(c, k_seed, 2, [](auto...) { return memory_span{}; }), bug);
}

TEST_CASE("wrong elements are told with their numbers", "[workload]")
{
    CHECK(to_string(wrong_element{3, 17, 0x3f80'0000, 0, 0}, element_type::float32) ==
          "rank 3, element 17: expected 0x3f800000 (1), got 0x00000000 (0)");
    CHECK(to_string(wrong_element{0, 1, 0xffff'ffff, 5, 0}, element_type::int32) ==
          "rank 0, element 1: expected 0xffffffff (-1), got 0x00000005 (5)");
    CHECK(to_string(wrong_element{0, 1, 0xc000, 0x3c00, 0}, element_type::float16) ==
          "rank 0, element 1: expected 0xc000 (-2), got 0x3c00 (1)");
    CHECK(to_string(wrong_element{0, 1, 0x3f80'0000, 0x4000, 0.5}, element_type::bfloat16) ==
          "rank 0, element 1: expected 1 +- 0.5, got 0x4000 (2)");
}

TEST_CASE("the digest is stable and does not depend on how the stream is cut", "[workload]")
{
    CHECK(digest64().value() == 0x499d03955257aef1ull);
    bytes data(1000);
    std::iota(data.begin(), data.end(), std::uint8_t{0});
    digest64 whole;
    whole.update(data.data(), data.size());
    CHECK(whole.value() == 0x3cd5b91624bd8373ull);
    for (const std::size_t piece : {1u, 7u, 31u, 32u, 33u, 999u}) {
        digest64 d;
        for (std::size_t i = 0; i < data.size(); i += piece)
            d.update(&data[i], std::min(piece, data.size() - i));
        CHECK(d.value() == whole.value());
    }
    digest64 words;
    words.update_u64(0x0706050403020100ull);
    digest64 same;
    same.update(data.data(), 8);
    CHECK(words.value() == same.value());

    // Every single bit, the length, and the order of stripes count.
    std::set<std::uint64_t> values = {whole.value()};
    for (std::size_t bit = 0; bit < data.size() * 8; ++bit) {
        data[bit / 8] = static_cast<std::uint8_t>(data[bit / 8] ^ (1u << (bit % 8)));
        digest64 d;
        d.update(data.data(), data.size());
        values.insert(d.value());
        data[bit / 8] = static_cast<std::uint8_t>(data[bit / 8] ^ (1u << (bit % 8)));
    }
    const bytes zeros(200);
    for (std::size_t n = 0; n <= zeros.size(); ++n) {
        digest64 d;
        d.update(zeros.data(), n);
        values.insert(d.value());
    }
    std::swap_ranges(data.begin(), data.begin() + 32, data.begin() + 64);
    digest64 swapped;
    swapped.update(data.data(), data.size());
    values.insert(swapped.value());
    CHECK(values.size() == 1 + 8000 + 201 + 1);
}

TEST_CASE("golden digest of a checked case is the same for all algorithms", "[workload]")
{
    auto c = case_of(collective_op::all_reduce, element_type::float32, reduce_op::sum, 5000);
    const auto results = right_answer(c, 4);
    const auto ring = check_result(c, k_seed, 4, reader_of(results));
    c.algo = algorithm::two_d;
    const auto two_d = check_result(c, k_seed, 4, reader_of(results));
    CHECK(ring.digest == two_d.digest);
    CHECK(ring.digest == 0x7868e4dc0f4f1362ull);
}
