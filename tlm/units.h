// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Typed quantities. A raw number never travels between modules without a unit: either its type carries the unit
// (data_size, bandwidth, duration, frequency, ...) or its name does (`_bytes`, `_ps`).
//
// All quantities are exact unsigned integers in their base unit, so that nothing depends on floating-point rounding:
//   data_size  bytes     duration  picoseconds     bandwidth  bits per second     frequency  hertz
// Decimal prefixes (k M G T) are powers of 1000, binary ones (Ki Mi Gi Ti) powers of 1024. A bandwidth in "B/s" is
// bytes, one in "bps" or "b/s" is bits: 82 GB/s == 656 Gbps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

/// A time that never comes: "no timeout", "not armed".
inline constexpr std::uint64_t k_never_ps = ~std::uint64_t{0};

enum class quantity_kind { data_size, duration, bandwidth, frequency, packets, cycles };

/// Integer in the base unit of `Kind`; only equal kinds can be compared or added.
template <quantity_kind Kind> class quantity {
public:
    static constexpr quantity_kind kind = Kind;
    constexpr quantity() = default;
    constexpr explicit quantity(std::uint64_t base_units) : value_(base_units) {}
    constexpr std::uint64_t value() const { return value_; }
    friend constexpr bool operator==(quantity a, quantity b) { return a.value_ == b.value_; }
    friend constexpr bool operator!=(quantity a, quantity b) { return a.value_ != b.value_; }
    friend constexpr bool operator<(quantity a, quantity b) { return a.value_ < b.value_; }
    friend constexpr bool operator<=(quantity a, quantity b) { return a.value_ <= b.value_; }
    friend constexpr bool operator>(quantity a, quantity b) { return a.value_ > b.value_; }
    friend constexpr bool operator>=(quantity a, quantity b) { return a.value_ >= b.value_; }
    friend constexpr quantity operator+(quantity a, quantity b) { return quantity(a.value_ + b.value_); }

private:
    std::uint64_t value_ = 0;
};

using data_size = quantity<quantity_kind::data_size>; ///< bytes
using duration = quantity<quantity_kind::duration>;   ///< picoseconds
using bandwidth = quantity<quantity_kind::bandwidth>; ///< bits per second
using frequency = quantity<quantity_kind::frequency>; ///< hertz
using packet_count = quantity<quantity_kind::packets>; ///< 0 is written "auto"
using cycle_count = quantity<quantity_kind::cycles>;

namespace literals {
constexpr data_size operator""_B(unsigned long long v) { return data_size(v); }
constexpr data_size operator""_KiB(unsigned long long v) { return data_size(v << 10); }
constexpr data_size operator""_MiB(unsigned long long v) { return data_size(v << 20); }
constexpr data_size operator""_GiB(unsigned long long v) { return data_size(v << 30); }
constexpr duration operator""_ps(unsigned long long v) { return duration(v); }
constexpr duration operator""_ns(unsigned long long v) { return duration(v * 1000); }
constexpr duration operator""_us(unsigned long long v) { return duration(v * 1000000); }
constexpr duration operator""_ms(unsigned long long v) { return duration(v * 1000000000); }
constexpr bandwidth operator""_Gbps(unsigned long long v) { return bandwidth(v * 1000000000); }
constexpr bandwidth operator""_GBps(unsigned long long v) { return bandwidth(v * 8000000000); }
constexpr frequency operator""_MHz(unsigned long long v) { return frequency(v * 1000000); }
constexpr packet_count operator""_packets(unsigned long long v) { return packet_count(v); }
constexpr cycle_count operator""_cycles(unsigned long long v) { return cycle_count(v); }
} // namespace literals

/// Result of parsing a quantity: `ok`, or `error` with a sentence that names the legal units and an example.
struct parsed_quantity {
    bool ok = false;
    std::uint64_t value = 0; ///< in the base unit of the kind
    std::string error;
};

/// Parse "<decimal> <unit>" (the blank is optional) into the base unit of `kind`. Refuses a missing unit, a unit of
/// another kind, a negative number, a value that is no whole number of base units, and one beyond 64 bits.
parsed_quantity parse_quantity(quantity_kind kind, std::string_view text);

/// Shortest text with a unit that parses back to exactly `value`: "82 GB/s", "4 KiB", "1.5 us".
std::string format_quantity(quantity_kind kind, std::uint64_t value);

template <quantity_kind K> std::string to_string(quantity<K> q) { return format_quantity(K, q.value()); }

/// Three digits for a human eye, where the exact value would be a riddle: "57.4 ns", "1.05 MB", "4.71 kB", "256 B".
std::string rounded_text(duration d);
std::string rounded_text(data_size s);

/// "a size in B, KiB, MiB, GiB, TiB, kB, MB, GB or TB, for example \"4 KiB\"": what a user may write for this kind.
const char* legal_units(quantity_kind kind);

/// Serialisation arithmetic of one wire: bytes -> picoseconds as one multiplication, rounded to the nearest picosecond.
/// Relative error of the multiplier is below 2^-32; formula: t = bytes * 8e12 / bits_per_second.
class wire_rate {
public:
    wire_rate() = default;
    explicit wire_rate(bandwidth rate);
    std::uint64_t time_ps(std::uint64_t wire_bytes) const
    {
        return static_cast<std::uint64_t>((static_cast<uint128>(wire_bytes) * multiplier_ + (1ull << 31)) >> 32);
    }

private:
    __extension__ typedef unsigned __int128 uint128;
    std::uint64_t multiplier_ = 0; ///< picoseconds per byte, 32 fraction bits
};

/// Time of `cycles` of a clock, rounded to the nearest picosecond.
std::uint64_t cycles_to_ps(std::uint64_t cycles, frequency clock);

} // namespace weft
