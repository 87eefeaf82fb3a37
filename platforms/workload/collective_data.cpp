// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/collective_data.h"

#include "platforms/workload/digest.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace weft {
namespace {

// Everything here works on 32-bit integers ("values"); a format is only a way to write one down:
//   pattern   the value is the bit pattern itself (16-bit types: its low half)
//   number    the float value * 2^-fraction_bits, always exact in the type
// So the reference needs no floating-point arithmetic at all.

/// Elements made or compared at a time: values and reference of a block stay in the first-level cache, and the keys of
/// a rank are derived once per block.
constexpr std::uint64_t k_block_elements = 4096;

constexpr unsigned precision_bits(abi::element_type t) { return abi::row_of(t).precision; }

enum class value_kind { pattern, integer, fraction };

/// How the values of a case are drawn.
struct value_plan {
    value_kind kind = value_kind::pattern;
    std::uint32_t magnitude_mask = 0; ///< integer: |value| = 1 + (hash & mask)
    std::uint32_t turns = 1;          ///< integer: only ranks with (place + index) % turns == 0 are not zero
    unsigned fraction_bits = 0;       ///< fraction: value in [-2^f, 2^f)
    abi::element_type pattern_type = abi::element_type::int32; ///< pattern: int8, int16 and uint8 take the lowest bits
};

/// `ranks` are reduced with each other.
value_plan plan_of(const collective_case& c, std::uint32_t ranks)
{
    value_plan plan;
    if (!reduces(c.op) || abi::is_integer(c.type)) {
        plan.pattern_type = reduces(c.op) ? c.type : abi::element_type::int32;
        return plan;
    }
    const unsigned precision = precision_bits(c.type);
    if (c.style == data_style::random) {
        plan.kind = value_kind::fraction;
        plan.fraction_bits = precision;
        return plan;
    }
    plan.kind = value_kind::integer;
    std::uint32_t budget = 1u << precision; // for the sum of magnitudes of one element
    if (c.redop == abi::reduce_op::sum) {
        const std::uint32_t most = budget / 2; // non-zero ranks, so that |x| <= 2 at least
        plan.turns = (ranks + most - 1) / most;
        const std::uint32_t active = (ranks + plan.turns - 1) / plan.turns;
        budget /= active;
    }
    std::uint32_t largest = 1; // a power of two, for a mask instead of a division per element
    while (largest <= budget / 2)
        largest *= 2;
    plan.magnitude_mask = largest - 1;
    return plan;
}

/// Counter-based random stream of one rank: hash of (keys, index). Integer finaliser "lowbias32" (Wellons, "Prospecting
/// for hash functions", 2018) with a second key between its two multiplications, so that streams are no shifts of each
/// other.
struct stream {
    std::uint32_t key0 = 0;
    std::uint32_t key1 = 0;

    std::uint32_t at(std::uint32_t index) const
    {
        std::uint32_t x = index + key0;
        x = (x ^ (x >> 16)) * 0x7feb352du;
        x = ((x ^ (x >> 15)) + key1) * 0x846ca68bu;
        return x ^ (x >> 16);
    }
};

std::uint64_t key_of(const collective_case& c, std::uint64_t seed)
{
    std::uint64_t key = mix64(seed + 0x57454654ull);
    for (const std::uint64_t part :
         {static_cast<std::uint64_t>(c.op), static_cast<std::uint64_t>(c.type), static_cast<std::uint64_t>(c.redop),
          static_cast<std::uint64_t>(c.style), static_cast<std::uint64_t>(c.root), c.count})
        key = mix64(key ^ (part + 0x9e3779b97f4a7c15ull));
    return key;
}

stream stream_of(std::uint64_t case_key, std::uint32_t rank, std::uint32_t index_high)
{
    const std::uint64_t key = mix64(case_key ^ mix64((static_cast<std::uint64_t>(index_high) << 32 | rank) + 1));
    return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

template <class Draw> void fill(stream s, std::uint32_t first, std::int32_t* out, std::size_t n, Draw draw)
{
    for (std::size_t i = 0; i < n; ++i)
        out[i] = draw(s.at(first + static_cast<std::uint32_t>(i)));
}

/// Integers that are compared have the sign of their type.
void make_patterns(abi::element_type type, stream s, std::uint32_t low, std::int32_t* out, std::size_t n)
{
    switch (type) {
    case abi::element_type::int8: return fill(s, low, out, n, [](std::uint32_t h) { return std::int32_t{static_cast<std::int8_t>(h)}; });
    case abi::element_type::uint8: return fill(s, low, out, n, [](std::uint32_t h) { return std::int32_t{static_cast<std::uint8_t>(h)}; });
    case abi::element_type::int16: return fill(s, low, out, n, [](std::uint32_t h) { return std::int32_t{static_cast<std::int16_t>(h)}; });
    default: return fill(s, low, out, n, [](std::uint32_t h) { return static_cast<std::int32_t>(h); });
    }
}

/// Values of elements [first, first + n) of `rank`, the place-th among those that are reduced with each other.
void make_values(const value_plan& plan, std::uint64_t case_key, std::uint32_t rank, std::uint32_t place,
                 std::uint64_t first, std::int32_t* out, std::size_t n)
{
    while (n > 0) {
        // The keys hold the upper half of the index.
        const std::uint64_t to_wrap = (1ull << 32) - (first & 0xffff'ffffu);
        const auto run = static_cast<std::size_t>(std::min<std::uint64_t>(n, to_wrap));
        const stream s = stream_of(case_key, rank, static_cast<std::uint32_t>(first >> 32));
        const auto low = static_cast<std::uint32_t>(first);
        if (plan.kind == value_kind::pattern) {
            make_patterns(plan.pattern_type, s, low, out, run);
        } else if (plan.kind == value_kind::fraction) {
            const unsigned shift = 31 - plan.fraction_bits;
            fill(s, low, out, run, [shift](std::uint32_t h) { return static_cast<std::int32_t>(h) >> shift; });
        } else {
            const std::uint32_t mask = plan.magnitude_mask;
            fill(s, low, out, run, [mask](std::uint32_t h) {
                const auto magnitude = static_cast<std::int32_t>((h & mask) + 1);
                const std::int32_t sign = static_cast<std::int32_t>(h) >> 31; // 0 or -1
                return (magnitude ^ sign) - sign;
            });
            if (plan.turns > 1) {
                std::uint64_t phase = (first + place) % plan.turns;
                for (std::size_t i = 0; i < run; ++i) {
                    if (phase != 0)
                        out[i] = 0;
                    phase = phase + 1 == plan.turns ? 0 : phase + 1;
                }
            }
        }
        out += run;
        first += run;
        n -= run;
    }
}

/// Bit pattern of binary32 for value * scale; exact by construction of the plans.
std::uint32_t number_bits(std::int32_t value, float scale)
{
    const float f = static_cast<float>(value) * scale;
    std::uint32_t bits;
    std::memcpy(&bits, &f, sizeof bits);
    return bits;
}

template <class Bits, class Encode>
void write_elements(const std::int32_t* values, std::size_t n, std::uint8_t* out, Encode encode)
{
    for (std::size_t i = 0; i < n; ++i) {
        const Bits bits = encode(values[i]);
        std::memcpy(out + i * sizeof(Bits), &bits, sizeof(Bits));
    }
}

/// The number that an 8-bit float stands for.
double decode_float8(abi::element_type type, std::uint32_t bits)
{
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    const std::uint32_t m = bits & 0x7f;
    double magnitude = 0;
    if (type == abi::element_type::hifloat8) {
        if (m == 0)
            return bits == 0 ? 0 : nan;
        // The number of zeros before the first one tells how many bits the exponent has.
        const unsigned zeros = m >= 0x40 ? 0 : m >= 0x20 ? 1 : m >= 0x10 ? 2 : m >= 8 ? 3 : 4;
        const unsigned prefix = zeros == 0 ? 2 : zeros == 4 ? 4 : zeros + 1;
        const unsigned exponent_bits = zeros == 0 ? ((m & 0x20) != 0 ? 4 : 3) : zeros == 4 ? 0 : 3 - zeros;
        const unsigned fraction_bits = 7 - prefix - exponent_bits;
        const std::uint32_t fraction = m & ((1u << fraction_bits) - 1);
        int exponent = 0;
        if (exponent_bits > 0) {
            const std::uint32_t field = m >> fraction_bits & ((1u << exponent_bits) - 1);
            const auto sign = static_cast<int>(field >> (exponent_bits - 1));
            const auto size = static_cast<int>((field & ((1u << (exponent_bits - 1)) - 1)) | 1u << (exponent_bits - 1));
            exponent = sign != 0 ? -size : size;
        }
        magnitude = m == 0x6f    ? infinity
                    : zeros == 4 ? std::ldexp(1.0, static_cast<int>(m) - 23)
                                 : std::ldexp(1.0 + std::ldexp(fraction, -static_cast<int>(fraction_bits)), exponent);
    } else {
        const bool e4m3 = type == abi::element_type::float8_e4m3;
        const unsigned fraction_bits = e4m3 ? 3 : 2;
        const int bias = e4m3 ? 7 : 15;
        const std::uint32_t fraction = m & ((1u << fraction_bits) - 1), exponent = m >> fraction_bits;
        const double significand = fraction + (exponent != 0 ? std::ldexp(1.0, static_cast<int>(fraction_bits)) : 0.0);
        magnitude = std::ldexp(significand, static_cast<int>(exponent != 0 ? exponent : 1) - bias - static_cast<int>(fraction_bits));
        if (e4m3 ? m == 0x7f : exponent == 31)
            magnitude = e4m3 || fraction != 0 ? nan : infinity;
    }
    return bits >= 0x80 ? -magnitude : magnitude;
}

/// Of the values of a plan, whose numbers an 8-bit float holds exactly: patterns by value + 2^precision.
std::vector<std::uint8_t> float8_patterns(abi::element_type type, float scale)
{
    const int most = 1 << precision_bits(type);
    std::vector<std::uint8_t> patterns(static_cast<std::size_t>(2 * most + 1));
    for (std::uint32_t bits = 0; bits < 256; ++bits) {
        const double value = decode_float8(type, bits) / static_cast<double>(scale);
        if (std::fabs(value) <= most && value == std::floor(value) && !(bits != 0 && value == 0)) // not -0
            patterns[static_cast<std::size_t>(static_cast<int>(value) + most)] = static_cast<std::uint8_t>(bits);
    }
    return patterns;
}

/// Write values down in the element type.
void encode_values(const value_plan& plan, abi::element_type type, const std::int32_t* values, std::size_t n,
                   std::uint8_t* out)
{
    if (plan.kind == value_kind::pattern) {
        if (abi::element_bytes(type) == 4)
            std::memcpy(out, values, n * 4);
        else if (abi::element_bytes(type) == 1)
            write_elements<std::uint8_t>(values, n, out, [](std::int32_t v) { return static_cast<std::uint8_t>(v); });
        else
            write_elements<std::uint16_t>(values, n, out, [](std::int32_t v) { return static_cast<std::uint16_t>(v); });
        return;
    }
    const float scale = std::ldexp(1.0f, -static_cast<int>(plan.fraction_bits));
    switch (type) {
    case abi::element_type::float32:
        write_elements<std::uint32_t>(values, n, out, [scale](std::int32_t v) { return number_bits(v, scale); });
        break;
    case abi::element_type::bfloat16: // the upper half; the lower is zero for 8 significant bits
        write_elements<std::uint16_t>(values, n, out, [scale](std::int32_t v) {
            return static_cast<std::uint16_t>(number_bits(v, scale) >> 16);
        });
        break;
    case abi::element_type::float16: // 11 significant bits and never subnormal: cut the fraction and move the bias
        write_elements<std::uint16_t>(values, n, out, [scale](std::int32_t v) {
            const std::uint32_t b = number_bits(v, scale);
            const std::uint32_t moved = ((b & 0x7fff'ffffu) >> 13) - (112u << 10);
            return static_cast<std::uint16_t>(((b >> 16) & 0x8000u) | (v == 0 ? 0u : moved));
        });
        break;
    case abi::element_type::float8_e4m3:
    case abi::element_type::float8_e5m2:
    case abi::element_type::hifloat8: {
        const std::vector<std::uint8_t> patterns = float8_patterns(type, scale);
        const int most = 1 << precision_bits(type);
        write_elements<std::uint8_t>(values, n, out, [&](std::int32_t v) { return patterns[static_cast<std::size_t>(v + most)]; });
        break;
    }
    default: break; // integers are always patterns
    }
}

/// The number that a bit pattern stands for.
double decode(abi::element_type type, std::uint32_t bits)
{
    switch (type) {
    case abi::element_type::int32: return static_cast<std::int32_t>(bits);
    case abi::element_type::int16: return static_cast<std::int16_t>(bits);
    case abi::element_type::int8: return static_cast<std::int8_t>(bits);
    case abi::element_type::uint8: return static_cast<std::uint8_t>(bits);
    case abi::element_type::float8_e4m3:
    case abi::element_type::float8_e5m2:
    case abi::element_type::hifloat8: return decode_float8(type, bits);
    default: break;
    }
    if (type == abi::element_type::float16) {
        constexpr double unit = 1.0 / (1 << 24); // of subnormals and of the lowest binade
        const std::uint32_t exponent = (bits >> 10) & 31u;
        const std::uint32_t fraction = bits & 1023u;
        double magnitude =
            exponent == 0 ? fraction * unit : static_cast<double>((1024ull + fraction) << (exponent - 1)) * unit;
        if (exponent == 31)
            magnitude =
                fraction > 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
        return (bits & 0x8000u) != 0 ? -magnitude : magnitude;
    }
    if (type == abi::element_type::bfloat16)
        bits <<= 16;
    float f;
    std::memcpy(&f, &bits, sizeof f);
    return f;
}

std::uint32_t element_at(const std::uint8_t* data, std::size_t index, std::uint32_t bytes_per_element)
{
    if (bytes_per_element == 4) {
        std::uint32_t v;
        std::memcpy(&v, data + index * 4, 4);
        return v;
    }
    if (bytes_per_element == 1)
        return data[index];
    std::uint16_t v;
    std::memcpy(&v, data + index * 2, 2);
    return v;
}

} // namespace

namespace {

void generate_for(const value_plan& plan, const collective_case& c, std::uint64_t seed, std::uint32_t rank,
                  std::uint32_t place, std::uint64_t first_element, std::uint8_t* out, std::size_t elements)
{
    const std::uint64_t key = key_of(c, seed);
    std::int32_t values[1024];
    while (elements > 0) {
        const std::size_t n = std::min<std::size_t>(elements, std::size(values));
        make_values(plan, key, rank, place, first_element, values, n);
        encode_values(plan, c.type, values, n, out);
        out += n * abi::element_bytes(c.type);
        first_element += n;
        elements -= n;
    }
}

} // namespace

void generate(const collective_case& c, std::uint64_t seed, std::uint32_t rank, std::uint32_t ranks,
              std::uint64_t first_element, std::uint8_t* out, std::size_t elements)
{
    generate_for(plan_of(c, ranks), c, seed, rank, rank, first_element, out, elements);
}

void generate(const collective_case& c, std::uint64_t seed, std::uint32_t rank, const rank_groups& groups,
              std::uint64_t first_element, std::uint8_t* out, std::size_t elements)
{
    generate_for(plan_of(c, groups.group_size_of(rank)), c, seed, rank, groups.place_of(rank), first_element, out,
                 elements);
}

std::vector<std::uint64_t> token_numbers(const collective_case& c, const token_lists& lists, std::uint32_t place)
{
    std::vector<std::uint64_t> numbers;
    if (c.op == abi::collective_op::dispatch)
        for (const token_lists::placed_token& t : lists.own(place))
            numbers.push_back(t.token);
    else
        for (const token_lists::received_token& t : lists.received(place))
            numbers.push_back(std::uint64_t{t.source} * lists.tokens() + t.token);
    return numbers;
}

void generate_tokens(const collective_case& c, std::uint64_t seed, std::uint32_t rank, const rank_groups& groups,
                     const std::vector<std::uint64_t>& numbers, std::uint64_t first_element, std::uint8_t* out, std::size_t elements)
{
    const std::uint32_t width = abi::element_bytes(c.type);
    const std::uint64_t of_token = c.token_bytes / width;
    for (std::size_t done = 0; done < elements;) {
        const std::uint64_t at = first_element + done, within = at % of_token;
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(elements - done, of_token - within));
        generate(c, seed, rank, groups, numbers[static_cast<std::size_t>(at / of_token)] * of_token + within, out + done * width, n);
        done += n;
    }
}

std::vector<token_lists> lists_of_groups(const collective_case& c, std::uint64_t seed, const rank_groups& groups)
{
    std::vector<token_lists> lists;
    for (std::uint32_t group = 0; group < groups.groups() && abi::moves_tokens(c.op); ++group)
        lists.emplace_back(c, seed, group, static_cast<std::uint32_t>(groups.members(group).size()), groups.line_of(group));
    return lists;
}

std::string to_string(const wrong_element& w, abi::element_type type)
{
    const int digits = static_cast<int>(abi::element_bytes(type)) * 2;
    char text[200];
    if (w.tolerance > 0) // of a random sum: `expected` is a float32 whatever the type is
        std::snprintf(text, sizeof text, "rank %u, element %llu: expected %.9g +- %.3g, got 0x%0*x (%.9g)", w.rank,
                      static_cast<unsigned long long>(w.index), decode(abi::element_type::float32, w.expected),
                      w.tolerance, digits, w.got, decode(type, w.got));
    else
        std::snprintf(text, sizeof text, "rank %u, element %llu: expected 0x%0*x (%.10g), got 0x%0*x (%.10g)", w.rank,
                      static_cast<unsigned long long>(w.index), digits, w.expected, decode(type, w.expected), digits,
                      w.got, decode(type, w.got));
    return text;
}

result_checker::result_checker(const collective_case& c, std::uint64_t seed, std::uint32_t ranks)
    : result_checker(c, seed, rank_groups(ranks))
{
}

result_checker::result_checker(const collective_case& c, std::uint64_t seed, rank_groups groups)
    : case_(c), seed_(seed), groups_(std::move(groups)), ranks_(groups_.ranks())
{
    const std::string problem = problem_of(c, ranks_);
    if (!problem.empty())
        throw bug("result_checker", 0, problem);
    if (c.quantised_block != 0 && k_block_elements % c.quantised_block != 0)
        throw bug("result_checker", 0, std::to_string(c.quantised_block) + " elements share an exponent");
    for (std::uint32_t group = 0; group < groups_.groups() && !compares_bits(); ++group)
        if (groups_.members(group).size() > most_random_summands(c.type))
            throw bug("result_checker", 0, std::string("a sum of ") + std::to_string(groups_.members(group).size()) + " random " + name_of(c.type) + " cannot be checked");
    if (ranks_ > k_max_checked_ranks)
        throw bug("result_checker", 0, std::to_string(ranks_) + " ranks are more than can be checked");
    const std::uint32_t asked = c.ranks_per_group == 0 ? ranks_ : c.ranks_per_group;
    for (std::uint32_t group = 0; c.groups.empty() && group < groups_.groups(); ++group)
        if (groups_.members(group).size() != asked)
            throw bug("result_checker", 0,
                      "group " + std::to_string(group) + " has " + std::to_string(groups_.members(group).size()) +
                          " members in place of " + std::to_string(asked));
    tokens_ = lists_of_groups(case_, seed_, groups_);
    reference_.resize(k_block_elements * abi::element_bytes(c.type));
    gathered_.resize(reference_.size());
    values_.resize(k_block_elements);
    if (compares_bits()) {
        reduced_.resize(k_block_elements);
    } else {
        for (auto* v : {&sums_, &tolerances_})
            v->resize(k_block_elements);
        for (auto* v : {&totals_, &magnitudes_})
            v->resize(k_block_elements);
    }
}

bool result_checker::same_for_all_ranks() const
{
    return case_.op == abi::collective_op::all_reduce || case_.op == abi::collective_op::all_gather ||
           case_.op == abi::collective_op::broadcast;
}

/// Everything but sums of random floats, whose rounding depends on the order of the ranks.
bool result_checker::compares_bits() const
{
    return !(reduces(case_.op) && case_.redop == abi::reduce_op::sum && !abi::is_integer(case_.type) &&
             (case_.style == data_style::random || case_.quantised_block != 0));
}

void result_checker::check_all(const memory_reader& read)
{
    if (!same_for_all_ranks()) {
        for (std::uint32_t rank = 0; rank < ranks_; ++rank)
            if (groups_.takes_part(rank))
                check_rank(rank, read);
        return;
    }
    for (std::uint64_t first = 0; first < case_.count; first += k_block_elements) {
        const auto n = static_cast<std::size_t>(std::min(k_block_elements, case_.count - first));
        for (std::uint32_t group = 0; group < groups_.groups(); ++group) {
            make_reference(groups_.members(group).front(), first, n);
            for (const std::uint32_t rank : groups_.members(group))
                compare(rank, first, n, read);
        }
    }
}

/// Elements that are checked.
abi::element_range result_checker::range_of(std::uint32_t rank)
{
    const std::uint32_t place = groups_.place_of(rank);
    if (tokens_.empty())
        return result_range(case_, place, groups_.group_size_of(rank));
    const token_lists& lists = tokens_[groups_.group_of(rank)];
    const std::uint64_t of_token = case_.token_bytes / abi::element_bytes(case_.type);
    if (case_.op == abi::collective_op::combine)
        return {0, lists.own(place).size() * of_token};
    received_ = lists.received(place);
    return {0, received_.size() * of_token};
}

void result_checker::check_rank(std::uint32_t rank, const memory_reader& read)
{
    const abi::element_range range = range_of(rank);
    const std::uint64_t end = range.first + range.count;
    for (std::uint64_t first = range.first; first < end;) {
        // Cut at multiples of the block, as check_all does: the digest is one of blocks.
        const std::uint64_t block_end = std::min(end, (first / k_block_elements + 1) * k_block_elements);
        const auto n = static_cast<std::size_t>(block_end - first);
        make_reference(rank, first, n);
        compare(rank, first, n, read);
        first = block_end;
    }
}

void result_checker::make_reference(std::uint32_t rank, std::uint64_t first, std::size_t elements)
{
    switch (case_.op) {
    case abi::collective_op::all_reduce:
    case abi::collective_op::reduce_scatter:
    case abi::collective_op::reduce: make_reduction(groups_.members(groups_.group_of(rank)), first, elements); break;
    case abi::collective_op::all_gather: make_gather(groups_.members(groups_.group_of(rank)), first, elements); break;
    case abi::collective_op::broadcast:
        generate(case_, seed_, groups_.members(groups_.group_of(rank))[case_.root], groups_, first, reference_.data(), elements);
        break;
    case abi::collective_op::all_to_all: make_exchange(rank, first, elements); break;
    case abi::collective_op::dispatch:
    case abi::collective_op::combine: make_tokens(rank, first, elements); break;
    }
    reference_valid_ = compares_bits();
    if (reference_valid_) {
        digest64 d;
        d.update(reference_.data(), elements * abi::element_bytes(case_.type));
        reference_digest_ = d.value();
    }
}

/// The elements are `at` behind the beginning of the block.
void result_checker::make_reduction(const std::vector<std::uint32_t>& members, std::uint64_t first,
                                    std::size_t elements, std::size_t at)
{
    const auto summands = static_cast<std::uint32_t>(members.size());
    const value_plan plan = plan_of(case_, groups_.group_size_of(members.front())); // of all, as inputs are
    const std::uint64_t key = key_of(case_, seed_);
    const std::int32_t* v = values_.data();
    if (!compares_bits()) {
        std::fill_n(totals_.begin(), elements, 0);
        std::fill_n(magnitudes_.begin(), elements, 0);
        std::vector<std::int32_t> largest(case_.quantised_block != 0 ? k_block_elements / case_.quantised_block : 0);
        for (const std::uint32_t member : members) {
            make_values(plan, key, member, groups_.place_of(member), first, values_.data(), elements);
            for (std::size_t i = 0; i < elements; ++i) {
                totals_[i] += v[i];
                magnitudes_[i] += v[i] < 0 ? -v[i] : v[i];
            }
            if (case_.quantised_block != 0)
                for (std::size_t i = 0; i < elements; ++i) {
                    std::int32_t& m = largest[i / case_.quantised_block];
                    m = std::max(m, v[i] < 0 ? -v[i] : v[i]);
                }
        }
        // All of these are exact in a double: at most 15 + 24 bits, times a number of 15 bits.
        const double unit = std::ldexp(1.0, -static_cast<int>(plan.fraction_bits));
        const double roundoff = std::ldexp(1.0, -static_cast<int>(precision_bits(case_.type)));
        for (std::size_t i = 0; i < elements; ++i) {
            sums_[at + i] = static_cast<double>(totals_[i]) * unit;
            tolerances_[at + i] = (summands - 1) * roundoff * (static_cast<double>(magnitudes_[i]) * unit);
            if (case_.quantised_block != 0) {
                int exponent = 0; // largest = f * 2^exponent with f < 1
                std::frexp(largest[i / case_.quantised_block] * unit, &exponent);
                // (2^31 - 1) in place of 2^31 is what the factor covers.
                tolerances_[at + i] =
                    1.000001 * summands * summands * std::ldexp(1.0, exponent - 32) + roundoff * std::fabs(sums_[at + i]);
            }
        }
        return;
    }
    std::int32_t* r = reduced_.data();
    make_values(plan, key, members.front(), groups_.place_of(members.front()), first, r, elements);
    for (std::uint32_t n = 1; n < summands; ++n) {
        make_values(plan, key, members[n], groups_.place_of(members[n]), first, values_.data(), elements);
        switch (case_.redop) {
        case abi::reduce_op::sum: // unsigned: integers wrap, and sums of float integers stay small
            for (std::size_t i = 0; i < elements; ++i)
                r[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(r[i]) + static_cast<std::uint32_t>(v[i]));
            break;
        case abi::reduce_op::max:
            for (std::size_t i = 0; i < elements; ++i)
                r[i] = r[i] > v[i] ? r[i] : v[i];
            break;
        case abi::reduce_op::min:
            for (std::size_t i = 0; i < elements; ++i)
                r[i] = r[i] < v[i] ? r[i] : v[i];
            break;
        case abi::reduce_op::none: break; // refused by problem_of
        }
    }
    encode_values(plan, case_.type, r, elements, reference_.data() + at * abi::element_bytes(case_.type));
}

void result_checker::make_tokens(std::uint32_t rank, std::uint64_t first, std::size_t elements)
{
    const std::uint32_t width = abi::element_bytes(case_.type);
    const std::uint64_t of_token = case_.token_bytes / width;
    const std::uint32_t group = groups_.group_of(rank), place = groups_.place_of(rank);
    const token_lists& lists = tokens_[group];
    const std::vector<std::uint32_t>& ranks = groups_.members(group);
    for (std::size_t done = 0; done < elements;) {
        const auto number = static_cast<std::size_t>((first + done) / of_token);
        const std::uint64_t within = (first + done) % of_token;
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(elements - done, of_token - within));
        if (case_.op == abi::collective_op::dispatch) {
            const token_lists::received_token& t = received_[number];
            generate(case_, seed_, ranks[t.source], groups_, t.token * of_token + within, reference_.data() + done * width, n);
        } else {
            const token_lists::placed_token& t = lists.own(place)[number];
            std::vector<std::uint32_t> members = lists.members_of(place, t);
            for (std::uint32_t& m : members)
                m = ranks[m];
            make_reduction(members, (std::uint64_t{place} * lists.tokens() + t.token) * of_token + within, n, done);
        }
        done += n;
    }
}

void result_checker::make_gather(const std::vector<std::uint32_t>& members, std::uint64_t first, std::size_t elements)
{
    const auto ranks = static_cast<std::uint32_t>(members.size());
    const std::uint32_t width = abi::element_bytes(case_.type);
    // The owner of `first`: the first count % n shards hold one element more.
    const std::uint64_t base = case_.count / ranks;
    const std::uint64_t extra = case_.count % ranks;
    const std::uint64_t longer = extra * (base + 1);
    auto owner = static_cast<std::uint32_t>(first < longer ? first / (base + 1) : extra + (first - longer) / base);
    for (std::size_t done = 0; done < elements; ++owner) {
        const abi::element_range shard = abi::shard_of(case_.count, ranks, owner);
        const std::uint64_t left = shard.first + shard.count - (first + done);
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(elements - done, left));
        generate(case_, seed_, members[owner], groups_, first + done, reference_.data() + done * width, n);
        done += n;
    }
}

void result_checker::make_exchange(std::uint32_t rank, std::uint64_t first, std::size_t elements)
{
    const std::uint32_t width = abi::element_bytes(case_.type);
    const std::vector<std::uint32_t>& members = groups_.members(groups_.group_of(rank));
    const abi::element_range block =
        abi::shard_of(case_.count, static_cast<std::uint32_t>(members.size()), groups_.place_of(rank));
    for (std::size_t done = 0; done < elements;) {
        const std::uint32_t source = members[static_cast<std::size_t>((first + done) / block.count)];
        const std::uint64_t within = (first + done) % block.count;
        const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(elements - done, block.count - within));
        generate(case_, seed_, source, groups_, block.first + within, reference_.data() + done * width, n);
        done += n;
    }
}

void result_checker::compare(std::uint32_t rank, std::uint64_t first, std::size_t elements, const memory_reader& read)
{
    const std::uint32_t width = abi::element_bytes(case_.type);
    const std::uint64_t bytes = elements * width;
    const std::uint8_t* data = nullptr;
    for (std::uint64_t done = 0; done < bytes;) {
        const memory_span span = read(rank, first * width + done, bytes - done);
        if (span.bytes == 0 || span.bytes > bytes - done)
            throw bug("result_checker", 0,
                      "reader of rank " + std::to_string(rank) + " answered " + std::to_string(span.bytes) +
                          " bytes at offset " + std::to_string(first * width + done));
        if (span.data != nullptr && span.bytes == bytes) {
            data = span.data;
            break;
        }
        if (span.data != nullptr)
            std::memcpy(gathered_.data() + done, span.data, span.bytes);
        else
            std::memset(gathered_.data() + done, 0, span.bytes);
        data = gathered_.data();
        done += span.bytes;
    }

    outcome_.checked += elements;
    std::uint64_t content = reference_digest_;
    if (!reference_valid_ || std::memcmp(data, reference_.data(), bytes) != 0) {
        digest64 d;
        d.update(data, bytes);
        content = d.value();
        const std::uint64_t wrong_before = outcome_.wrong;
        for (std::size_t i = 0; i < elements; ++i) {
            const std::uint32_t got = element_at(data, i, width);
            if (compares_bits()) {
                const std::uint32_t expected = element_at(reference_.data(), i, width);
                if (got != expected)
                    note_wrong({rank, first + i, expected, got, 0});
            } else if (!(std::fabs(decode(case_.type, got) - sums_[i]) <= tolerances_[i])) { // a NaN is wrong
                const auto nearest = static_cast<float>(sums_[i]);
                std::uint32_t expected;
                std::memcpy(&expected, &nearest, sizeof expected);
                note_wrong({rank, first + i, expected, got, tolerances_[i]});
            }
        }
        if (!compares_bits() && outcome_.wrong == wrong_before) {
            // The other ranks of an all-reduce mostly hold the same bits: compare those only.
            std::memcpy(reference_.data(), data, bytes);
            reference_digest_ = content;
            reference_valid_ = true;
        }
    }
    // A sum over blocks, each tied to its place: blocks may be checked in any order.
    outcome_.digest += mix64(content + mix64(first + mix64(rank + 1ull)));
}

void result_checker::note_wrong(const wrong_element& w)
{
    // Blocks are the outer loop where ranks share the reference; of one rank, the indices ascend.
    if (outcome_.wrong == 0 || w.rank < outcome_.first.rank)
        outcome_.first = w;
    ++outcome_.wrong;
}

check_outcome check_result(const collective_case& c, std::uint64_t seed, std::uint32_t ranks, const memory_reader& read)
{
    return check_result(c, seed, rank_groups(ranks), read);
}

check_outcome check_result(const collective_case& c, std::uint64_t seed, const rank_groups& groups,
                           const memory_reader& read)
{
    result_checker checker(c, seed, groups);
    checker.check_all(read);
    return checker.outcome();
}

} // namespace weft
