// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Quantities: exact parsing, the shortest text back, and the two conversions that time every packet.
#include "tlm/check.h"
#include "tlm/units.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>

using namespace weft;
using namespace weft::literals;

namespace {

constexpr quantity_kind k_kinds[] = {quantity_kind::data_size, quantity_kind::duration, quantity_kind::bandwidth,
                                     quantity_kind::frequency, quantity_kind::packets,  quantity_kind::cycles};

std::uint64_t value_of(quantity_kind kind, const std::string& text)
{
    const auto parsed = parse_quantity(kind, text);
    INFO(text << " -> " << parsed.error);
    REQUIRE(parsed.ok);
    return parsed.value;
}

std::string error_of(quantity_kind kind, const std::string& text)
{
    const auto parsed = parse_quantity(kind, text);
    INFO(text << " -> " << parsed.value);
    REQUIRE_FALSE(parsed.ok);
    REQUIRE(parsed.value == 0);
    return parsed.error;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("a wire takes bytes times eight over bits per second", "[units][fast]")
{
    // 82 GB/s: 1 byte = 12.195 ps, 4 KiB = 49,951.22 ps.
    CHECK(wire_rate(82_GBps).time_ps(4096) == 49951);
    CHECK(wire_rate(100_Gbps).time_ps(1500) == 120000);
    CHECK(wire_rate(1_Gbps).time_ps(1) == 8000);
    CHECK(wire_rate(82_GBps).time_ps(0) == 0);
    // One gigabyte: 8e18 / 656e9 = 12,195,121.95 ns, still right to the picosecond's relative 2^-32.
    CHECK(std::abs(static_cast<double>(wire_rate(82_GBps).time_ps(1'000'000'000)) - 8e21 / 656e9) < 8e21 / 656e9 / 4e9);
}

TEST_CASE("wire time stays within 2^-32 of the formula for every rate up to 16 Tb/s", "[units][fast]")
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t rate = 2000 + random() % 16'000'000'000'000ull;
        const std::uint64_t bytes = random() % (i % 2 == 0 ? 1'000'000ull : 1'000'000'000'000ull);
        const long double exact = 8e12L * static_cast<long double>(bytes) / static_cast<long double>(rate);
        if (exact > 1e18L)
            continue;
        const auto got = static_cast<long double>(wire_rate(bandwidth(rate)).time_ps(bytes));
        REQUIRE(std::fabs(got - exact) <= 0.5L + exact / 4294967296.0L);
    }
}

TEST_CASE("cycles become picoseconds with correct rounding", "[units][fast]")
{
    CHECK(cycles_to_ps(940, 940_MHz) == 1'000'000);
    CHECK(cycles_to_ps(1, 940_MHz) == 1064); // 1063.83
    CHECK(cycles_to_ps(3, frequency(1'000'000'000'000)) == 3);
    CHECK(cycles_to_ps(0, 1_MHz) == 0);
    CHECK(cycles_to_ps(std::numeric_limits<std::uint64_t>::max(), frequency(1'000'000'000'000)) ==
          std::numeric_limits<std::uint64_t>::max());
    CHECK_THROWS_AS(cycles_to_ps(1, frequency(0)), bug);
    CHECK_THROWS_AS(cycles_to_ps(std::numeric_limits<std::uint64_t>::max(), 1_MHz), bug);
    CHECK_THROWS_AS(wire_rate(bandwidth(0)), bug);
    CHECK_THROWS_AS(wire_rate(bandwidth(1)), bug);
}

TEST_CASE("bytes and bits per second agree", "[units][fast]")
{
    CHECK(value_of(quantity_kind::bandwidth, "82 GB/s") == 656'000'000'000);
    CHECK(value_of(quantity_kind::bandwidth, "656 Gbps") == 656'000'000'000);
    CHECK(value_of(quantity_kind::bandwidth, "656 Gb/s") == 656'000'000'000);
    CHECK(value_of(quantity_kind::bandwidth, "1 GiB/s") == 8ull << 30);
    CHECK(bandwidth(value_of(quantity_kind::bandwidth, "82 GB/s")) == 82_GBps);
}

TEST_CASE("quantities are parsed exactly", "[units][fast]")
{
    CHECK(value_of(quantity_kind::data_size, "4 KiB") == 4096);
    CHECK(value_of(quantity_kind::data_size, "4KiB") == 4096);
    CHECK(value_of(quantity_kind::data_size, "4  KiB ") == 4096);
    CHECK(value_of(quantity_kind::data_size, "102.4 MB") == 102'400'000);
    CHECK(value_of(quantity_kind::data_size, "0.5 KiB") == 512);
    CHECK(value_of(quantity_kind::data_size, "0 B") == 0);
    CHECK(value_of(quantity_kind::data_size, "18446744073709551615 B") == std::numeric_limits<std::uint64_t>::max());
    CHECK(value_of(quantity_kind::data_size, "0.0000000000009094947017729282379150390625 TiB") == 1);
    CHECK(value_of(quantity_kind::duration, "1 us") == 1'000'000);
    CHECK(value_of(quantity_kind::duration, "1.5 us") == 1'500'000);
    CHECK(value_of(quantity_kind::duration, "1.50 us") == 1'500'000);
    CHECK(value_of(quantity_kind::duration, "0.3 ns") == 300);
    CHECK(value_of(quantity_kind::duration, "18446744.073709551615 s") == std::numeric_limits<std::uint64_t>::max());
    CHECK(value_of(quantity_kind::frequency, "940 MHz") == 940'000'000);
    CHECK(value_of(quantity_kind::packets, "16 packets") == 16);
    CHECK(value_of(quantity_kind::packets, "1 packet") == 1);
    CHECK(value_of(quantity_kind::cycles, "400 cycles") == 400);
}

TEST_CASE("what is no quantity is refused with a sentence", "[units][fast]")
{
    using k = quantity_kind;
    CHECK(error_of(k::bandwidth, "82").find("'82' has no unit; write a bandwidth") == 0);
    CHECK(error_of(k::bandwidth, "82 GHz").find("'82 GHz' is a frequency; write a bandwidth") == 0);
    CHECK(has(error_of(k::data_size, "4 us"), "'4 us' is a time; write a size"));
    CHECK(has(error_of(k::bandwidth, "82 GB"), "is a size; write a bandwidth"));
    CHECK(has(error_of(k::cycles, "3 packets"), "is a number of packets; write a number of cycles"));
    CHECK(has(error_of(k::data_size, "-4 KiB"), "is negative"));
    CHECK(has(error_of(k::data_size, "0.3 B"), "is not a whole number of bytes"));
    CHECK(has(error_of(k::duration, "0.0001 ns"), "is not a whole number of picoseconds"));
    CHECK(has(error_of(k::packets, "1.5 packets"), "is not a whole number of packets"));
    CHECK(has(error_of(k::data_size, "18446744073709551616 B"), "too large"));
    CHECK(has(error_of(k::data_size, "99999999999999999999999999999999999999999999 B"), "too large"));
    CHECK(has(error_of(k::data_size, "340282366920938463463374607431768211456 B"), "too large")); // 2^128
    CHECK(has(error_of(k::bandwidth, "99999999 TB/s"), "too large"));
    CHECK(has(error_of(k::data_size, "010 B"), "leading zero"));
    CHECK(has(error_of(k::data_size, "00.5 KiB"), "leading zero"));
    CHECK(has(error_of(k::data_size, "nan"), "does not begin with a number"));
    CHECK(has(error_of(k::data_size, "inf B"), "does not begin with a number"));
    CHECK(has(error_of(k::data_size, ""), "is empty"));
    CHECK(has(error_of(k::data_size, "   "), "is empty"));
    CHECK(has(error_of(k::data_size, "1e9 B"), "exponent"));
    CHECK(has(error_of(k::data_size, "0x10 B"), "hexadecimal"));
    CHECK(has(error_of(k::duration, "1,5 us"), "',' inside its number"));
    CHECK(has(error_of(k::data_size, "1_000 B"), "'_' inside its number"));
    CHECK(has(error_of(k::duration, ".5 us"), "'0.5 us'"));
    CHECK(has(error_of(k::duration, "5. us"), "no digit after"));
    CHECK(has(error_of(k::duration, "+5 us"), "sign"));
    CHECK(has(error_of(k::duration, "5 us 3"), "unknown unit 'us 3'"));
    CHECK(has(error_of(k::duration, "1.5.5 us"), "unknown unit"));
    CHECK(has(error_of(k::data_size, std::string(5000, '9') + " B"), "5002 characters"));
    CHECK(has(error_of(k::data_size, std::string("4\0KiB", 6)), "unknown unit"));
}

TEST_CASE("a unit in the wrong case brings a suggestion", "[units][fast]")
{
    using k = quantity_kind;
    CHECK(has(error_of(k::bandwidth, "82 gb/s"), "did you mean 'GB/s' (bytes) or 'Gb/s' (bits)?"));
    CHECK(has(error_of(k::data_size, "4 kib"), "did you mean 'KiB'?"));
    CHECK(has(error_of(k::data_size, "4 KB"), "did you mean 'kB' (1000 bytes) or 'KiB' (1024 bytes)?"));
    CHECK(has(error_of(k::frequency, "940 mhz"), "did you mean 'MHz'?"));
    CHECK(has(error_of(k::duration, "3 US"), "did you mean 'us'?"));
    CHECK(has(error_of(k::duration, "3 \xc2\xb5s"), "did you mean 'us'?"));
    CHECK(has(error_of(k::bandwidth, "82 GBps"), "'GB/s' (bytes) or 'Gbps' (bits)"));
    CHECK(has(error_of(k::packets, "16 Packets"), "did you mean 'packets'?"));
}

TEST_CASE("the printed form is the short one that people write", "[units][fast]")
{
    CHECK(to_string(82_GBps) == "82 GB/s");
    CHECK(to_string(100_Gbps) == "100 Gbps");
    CHECK(to_string(4_KiB) == "4 KiB");
    CHECK(to_string(data_size(1000)) == "1 kB");
    CHECK(to_string(data_size(4097)) == "4097 B");
    CHECK(to_string(32_GiB) == "32 GiB");
    CHECK(to_string(duration(1'500'000)) == "1.5 us");
    CHECK(to_string(100_ns) == "100 ns");
    CHECK(to_string(940_MHz) == "940 MHz");
    CHECK(to_string(16_packets) == "16 packets");
    CHECK(to_string(1_packets) == "1 packet");
    CHECK(to_string(1_cycles) == "1 cycle");
    CHECK(to_string(data_size(0)) == "0 B");
}

TEST_CASE("printing and parsing are inverse for random values", "[units][fast]")
{
    std::mt19937_64 random(7);
    for (const auto kind : k_kinds) {
        for (int i = 0; i < 5000; ++i) {
            std::uint64_t value = random() >> (random() % 64);
            if (i % 3 == 0)
                value = (value % 10000) * (random() % 2 == 0 ? 1'000'000ull : 1ull << 20);
            const std::string text = format_quantity(kind, value);
            const auto back = parse_quantity(kind, text);
            INFO(text << " " << back.error);
            REQUIRE(back.ok);
            REQUIRE(back.value == value);
            REQUIRE(text.size() <= std::to_string(value).size() + 8);
        }
        const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
        CHECK(value_of(kind, format_quantity(kind, largest)) == largest);
    }
}

TEST_CASE("random text never parses into something that prints differently", "[units][fast]")
{
    std::mt19937 random(3);
    const std::string alphabet = "0123456789.. kKMGTiBbps/szHu-+_e,xcyle";
    int accepted = 0;
    for (int i = 0; i < 200000; ++i) {
        std::string text;
        for (std::size_t n = random() % 9; n > 0; --n)
            text += alphabet[random() % alphabet.size()];
        for (const auto kind : k_kinds) {
            const auto parsed = parse_quantity(kind, text);
            if (parsed.ok) {
                ++accepted;
                REQUIRE(parse_quantity(kind, format_quantity(kind, parsed.value)).value == parsed.value);
            } else {
                REQUIRE_FALSE(parsed.error.empty());
            }
        }
    }
    CHECK(accepted > 100);
}
