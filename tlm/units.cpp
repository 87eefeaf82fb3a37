// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tlm/units.h"

#include "tlm/check.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

namespace weft {

namespace {

__extension__ typedef unsigned __int128 uint128;

constexpr std::uint64_t k_max = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t k_ps_per_s = 1'000'000'000'000;
constexpr std::size_t k_longest_text = 100; // the exact value of any quantity in any unit is shorter

struct unit {
    quantity_kind kind;
    const char* name;
    std::uint64_t factor; // base units in one of this unit
    bool print = true;    // format_quantity may choose it
};

// Larger units first: at equal length format_quantity takes the first, and bytes win over bits.
constexpr unit k_units[] = {
    {quantity_kind::data_size, "TiB", 1ull << 40},
    {quantity_kind::data_size, "GiB", 1ull << 30},
    {quantity_kind::data_size, "MiB", 1ull << 20},
    {quantity_kind::data_size, "KiB", 1ull << 10},
    {quantity_kind::data_size, "TB", 1'000'000'000'000},
    {quantity_kind::data_size, "GB", 1'000'000'000},
    {quantity_kind::data_size, "MB", 1'000'000},
    {quantity_kind::data_size, "kB", 1'000},
    {quantity_kind::data_size, "B", 1},
    {quantity_kind::duration, "s", k_ps_per_s},
    {quantity_kind::duration, "ms", 1'000'000'000},
    {quantity_kind::duration, "us", 1'000'000},
    {quantity_kind::duration, "ns", 1'000},
    {quantity_kind::duration, "ps", 1},
    {quantity_kind::bandwidth, "TB/s", 8'000'000'000'000},
    {quantity_kind::bandwidth, "GB/s", 8'000'000'000},
    {quantity_kind::bandwidth, "MB/s", 8'000'000},
    {quantity_kind::bandwidth, "kB/s", 8'000},
    {quantity_kind::bandwidth, "B/s", 8},
    {quantity_kind::bandwidth, "Tbps", 1'000'000'000'000},
    {quantity_kind::bandwidth, "Gbps", 1'000'000'000},
    {quantity_kind::bandwidth, "Mbps", 1'000'000},
    {quantity_kind::bandwidth, "kbps", 1'000},
    {quantity_kind::bandwidth, "bps", 1},
    {quantity_kind::bandwidth, "Tb/s", 1'000'000'000'000, false},
    {quantity_kind::bandwidth, "Gb/s", 1'000'000'000, false},
    {quantity_kind::bandwidth, "Mb/s", 1'000'000, false},
    {quantity_kind::bandwidth, "kb/s", 1'000, false},
    {quantity_kind::bandwidth, "b/s", 1, false},
    {quantity_kind::bandwidth, "TiB/s", 8ull << 40},
    {quantity_kind::bandwidth, "GiB/s", 8ull << 30},
    {quantity_kind::bandwidth, "MiB/s", 8ull << 20},
    {quantity_kind::bandwidth, "KiB/s", 8ull << 10},
    {quantity_kind::frequency, "GHz", 1'000'000'000},
    {quantity_kind::frequency, "MHz", 1'000'000},
    {quantity_kind::frequency, "kHz", 1'000},
    {quantity_kind::frequency, "Hz", 1},
    {quantity_kind::packets, "packets", 1},
    {quantity_kind::packets, "packet", 1, false},
    {quantity_kind::cycles, "cycles", 1},
    {quantity_kind::cycles, "cycle", 1, false},
};

// What people write for a unit and we do not take, because it is ambiguous or a second spelling of the same thing.
struct other_spelling {
    quantity_kind kind;
    const char* written;
    const char* meant; // goes after "did you mean"
};
constexpr other_spelling k_other_spellings[] = {
    {quantity_kind::data_size, "KB", "'kB' (1000 bytes) or 'KiB' (1024 bytes)"},
    {quantity_kind::data_size, "kb", "'kB' (1000 bytes) or 'KiB' (1024 bytes)"},
    {quantity_kind::data_size, "K", "'kB' (1000 bytes) or 'KiB' (1024 bytes)"},
    {quantity_kind::data_size, "k", "'kB' (1000 bytes) or 'KiB' (1024 bytes)"},
    {quantity_kind::data_size, "M", "'MB' (1000^2 bytes) or 'MiB' (1024^2 bytes)"},
    {quantity_kind::data_size, "G", "'GB' (1000^3 bytes) or 'GiB' (1024^3 bytes)"},
    {quantity_kind::data_size, "T", "'TB' (1000^4 bytes) or 'TiB' (1024^4 bytes)"},
    {quantity_kind::data_size, "byte", "'B'"},
    {quantity_kind::data_size, "bytes", "'B'"},
    {quantity_kind::duration, "\xc2\xb5s", "'us'"}, // micro sign
    {quantity_kind::duration, "\xce\xbcs", "'us'"}, // Greek mu
    {quantity_kind::duration, "sec", "'s'"},
    {quantity_kind::duration, "second", "'s'"},
    {quantity_kind::duration, "seconds", "'s'"},
    {quantity_kind::bandwidth, "GBps", "'GB/s' (bytes) or 'Gbps' (bits)"},
    {quantity_kind::bandwidth, "MBps", "'MB/s' (bytes) or 'Mbps' (bits)"},
    {quantity_kind::bandwidth, "TBps", "'TB/s' (bytes) or 'Tbps' (bits)"},
    {quantity_kind::bandwidth, "Gbit/s", "'Gbps'"},
    {quantity_kind::bandwidth, "Mbit/s", "'Mbps'"},
    {quantity_kind::bandwidth, "Tbit/s", "'Tbps'"},
};

struct kind_name {
    const char* article_name; // "a bandwidth"
    const char* base;         // "bits per second"
    const char* legal;
};

const kind_name& names_of(quantity_kind kind)
{
    static constexpr kind_name k_size{"a size", "bytes",
                                      "a size in B, KiB, MiB, GiB, TiB, kB, MB, GB or TB, for example \"4 KiB\""};
    static constexpr kind_name k_time{"a time", "picoseconds", "a time in ps, ns, us, ms or s, for example \"1.5 us\""};
    static constexpr kind_name k_rate{
        "a bandwidth", "bits per second",
        "a bandwidth in bytes (B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s) or "
        "bits (bps, kbps, Mbps, Gbps, Tbps), for example \"82 GB/s\""};
    static constexpr kind_name k_clock{"a frequency", "hertz",
                                       "a frequency in Hz, kHz, MHz or GHz, for example \"940 MHz\""};
    static constexpr kind_name k_packets{"a number of packets", "packets",
                                         "a number of packets, for example \"16 packets\", or in burst auto"};
    static constexpr kind_name k_cycles{"a number of cycles", "cycles",
                                        "a number of cycles, for example \"400 cycles\""};
    switch (kind) {
    case quantity_kind::data_size: return k_size;
    case quantity_kind::duration: return k_time;
    case quantity_kind::bandwidth: return k_rate;
    case quantity_kind::frequency: return k_clock;
    case quantity_kind::packets: return k_packets;
    case quantity_kind::cycles: return k_cycles;
    }
    throw bug("units", 0, "unknown quantity kind");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_but_for_case(std::string_view a, std::string_view b)
{
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

/// The user's text as a message shows it: no control characters, no endless lines.
std::string shown(std::string_view text)
{
    std::string out;
    for (const char c : text.substr(0, 40))
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    if (text.size() > 40) {
        while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80)
            out.pop_back(); // do not cut a UTF-8 sequence in two
        if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0)
            out.pop_back();
        out += "...";
    }
    return "'" + out + "'";
}

parsed_quantity refuse(std::string why) { return {false, 0, std::move(why)}; }

const unit* find_unit(std::string_view name, std::optional<quantity_kind> kind)
{
    for (const auto& u : k_units)
        if (name == u.name && (!kind || u.kind == *kind))
            return &u;
    return nullptr;
}

/// "did you mean 'GB/s' or 'Gb/s'? " or nothing.
std::string did_you_mean(quantity_kind kind, std::string_view written)
{
    for (const auto& s : k_other_spellings)
        if (s.kind == kind && written == s.written)
            return fmt::format("did you mean {}? ", s.meant);
    std::string list;
    for (const auto& u : k_units) {
        if (u.kind != kind || !same_but_for_case(u.name, written))
            continue;
        const std::string_view name = u.name;
        if (!list.empty())
            list += " or ";
        list += fmt::format("'{}'", name);
        if (kind == quantity_kind::bandwidth)
            list += name.find('B') != std::string_view::npos ? " (bytes)" : " (bits)";
    }
    return list.empty() ? list : fmt::format("did you mean {}? ", list);
}

std::string wrong_unit(quantity_kind kind, std::string_view text, std::string_view written)
{
    const auto& wanted = names_of(kind);
    std::string why;
    if (const unit* other = find_unit(written, std::nullopt))
        why = fmt::format("{} is {}; ", shown(text), names_of(other->kind).article_name);
    else
        why = fmt::format("{} has the unknown unit {}; ", shown(text), shown(written));
    return why + did_you_mean(kind, written) + fmt::format("write {}", wanted.legal);
}

/// whole.fraction * factor, exactly, by schoolbook arithmetic on the decimal digits.
/// Empty `value` when it is beyond 64 bits; `whole_number` is false when a fraction of a base unit is left over.
struct scaled {
    std::optional<std::uint64_t> value;
    bool whole_number = true;
};

scaled scale(std::string_view whole, std::string_view fraction, std::uint64_t factor)
{
    scaled result;
    std::uint64_t carry = 0; // below `factor`
    for (std::size_t i = fraction.size(); i-- > 0;) {
        const uint128 t = static_cast<uint128>(fraction[i] - '0') * factor + carry;
        result.whole_number = result.whole_number && t % 10 == 0;
        carry = static_cast<std::uint64_t>(t / 10);
    }
    uint128 total = 0;
    for (const char c : whole) {
        total = total * 10 + static_cast<unsigned>(c - '0');
        if (total > k_max)
            return result;
    }
    total = total * factor + carry;
    if (total <= k_max)
        result.value = static_cast<std::uint64_t>(total);
    return result;
}

/// value / factor as a decimal; it ends because every factor is 2^a * 5^b.
std::string decimal(std::uint64_t value, std::uint64_t factor)
{
    std::string text = std::to_string(value / factor);
    uint128 rest = value % factor;
    if (rest != 0)
        text += '.';
    while (rest != 0) {
        rest *= 10;
        text += static_cast<char>('0' + static_cast<int>(rest / factor));
        rest %= factor;
    }
    return text;
}

} // namespace

const char* legal_units(quantity_kind kind) { return names_of(kind).legal; }

parsed_quantity parse_quantity(quantity_kind kind, std::string_view text)
{
    const auto& wanted = names_of(kind);
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    if (text.empty())
        return refuse(fmt::format("the value is empty; write {}", wanted.legal));
    if (kind == quantity_kind::packets && text == "auto")
        return {true, 0, {}};
    if (kind == quantity_kind::packets && text.size() == 4 &&
        std::equal(text.begin(), text.end(), "auto", [](char a, char b) { return lower(a) == b; }))
        return refuse(fmt::format("{} is written in small letters: auto", shown(text)));
    if (text.size() > k_longest_text)
        return refuse(fmt::format("{} is {} characters long; write {}", shown(text), text.size(), wanted.legal));
    if (text.front() == '-')
        return refuse(
            fmt::format("{} is negative, but {} cannot be; write {}", shown(text), wanted.article_name, wanted.legal));

    std::size_t at = 0;
    while (at < text.size() && is_digit(text[at]))
        ++at;
    const std::string_view whole = text.substr(0, at);
    if (whole.empty()) {
        if (text.front() == '.' && text.size() > 1 && is_digit(text[1]))
            return refuse(fmt::format("{} begins with a point; write a digit before it: '0{}'", shown(text), text));
        if (text.front() == '+')
            return refuse(fmt::format("{} begins with a sign; write it without: {}", shown(text), wanted.legal));
        return refuse(fmt::format("{} does not begin with a number; write {}", shown(text), wanted.legal));
    }
    std::string_view fraction;
    if (at < text.size() && text[at] == '.') {
        const std::size_t from = ++at;
        while (at < text.size() && is_digit(text[at]))
            ++at;
        fraction = text.substr(from, at - from);
        if (fraction.empty())
            return refuse(fmt::format("{} has no digit after its decimal point; write {}", shown(text), wanted.legal));
    }
    if (at < text.size() && (text[at] == ',' || text[at] == '_' || text[at] == '\''))
        return refuse(fmt::format("{} has '{}' inside its number; write digits with at most one decimal point, {}",
                                  shown(text), text[at], wanted.legal));
    if (whole.size() > 1 && whole.front() == '0')
        return refuse(fmt::format("{} has a leading zero, which some tools read as octal; write the number without it",
                                  shown(text)));
    const bool exponent = at + 1 < text.size() && lower(text[at]) == 'e' &&
                          (is_digit(text[at + 1]) || text[at + 1] == '-' || text[at + 1] == '+');
    const bool hexadecimal = at + 1 < text.size() && whole == "0" && lower(text[at]) == 'x';
    if (exponent || hexadecimal)
        return refuse(fmt::format("{} is written with {}; write a plain decimal number, {}", shown(text),
                                  exponent ? "an exponent" : "hexadecimal digits", wanted.legal));
    while (at < text.size() && text[at] == ' ')
        ++at;
    const std::string_view written = text.substr(at);
    if (written.empty())
        return refuse(fmt::format("{} has no unit; write {}", shown(text), wanted.legal));
    const unit* u = find_unit(written, kind);
    if (u == nullptr)
        return refuse(wrong_unit(kind, text, written));

    const scaled result = scale(whole, fraction, u->factor);
    if (!result.value)
        return refuse(fmt::format("{} is too large; the largest is {} {}", shown(text), k_max, wanted.base));
    if (!result.whole_number)
        return refuse(fmt::format("{} is not a whole number of {}, the smallest step of {}", shown(text), wanted.base,
                                  wanted.article_name));
    if (kind == quantity_kind::packets && *result.value == 0)
        return refuse(fmt::format("{} sends nothing; write \"1 packet\" or more, or in burst auto", shown(text)));
    return {true, *result.value, {}};
}

std::string format_quantity(quantity_kind kind, std::uint64_t value)
{
    if (value == 0 && kind == quantity_kind::packets)
        return "auto";
    if (value == 1 && kind == quantity_kind::packets)
        return "1 packet";
    if (value == 1 && kind == quantity_kind::cycles)
        return "1 cycle";
    std::string best;
    bool best_has_point = false;
    for (const auto& u : k_units) {
        if (u.kind != kind || !u.print)
            continue;
        const std::string number = decimal(value, u.factor);
        const bool has_point = number.find('.') != std::string::npos;
        const std::string text = number + " " + u.name;
        const bool shorter = text.size() < best.size();
        const bool plainer = text.size() == best.size() && best_has_point && !has_point;
        if (best.empty() || shorter || plainer) {
            best = text;
            best_has_point = has_point;
        }
    }
    return best;
}

namespace {
/// `value` base units in the largest of `names` (each 1000 times the one before) of which it is at least one.
std::string three_digits(std::uint64_t value, std::initializer_list<const char*> names)
{
    double number = static_cast<double>(value);
    auto name = names.begin();
    while (number >= 999.5 && name + 1 != names.end()) {
        number /= 1000;
        ++name;
    }
    const bool exact = name == names.begin();
    return fmt::format("{:.{}f} {}", number, exact || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2, *name);
}
} // namespace

std::string rounded_text(duration d) { return three_digits(d.value(), {"ps", "ns", "us", "ms", "s"}); }
std::string rounded_text(data_size s) { return three_digits(s.value(), {"B", "kB", "MB", "GB", "TB"}); }

wire_rate::wire_rate(bandwidth rate)
{
    if (rate.value() == 0)
        throw bug("wire_rate", 0, "a wire needs a rate above 0 bit/s");
    const uint128 scaled_time = static_cast<uint128>(8 * k_ps_per_s) << 32;
    const uint128 multiplier = (scaled_time + rate.value() / 2) / rate.value();
    if (multiplier > k_max)
        throw bug("wire_rate", 0,
                  fmt::format("a wire of {} bit/s is too slow to be timed in picoseconds", rate.value()));
    multiplier_ = static_cast<std::uint64_t>(multiplier);
}

std::uint64_t cycles_to_ps(std::uint64_t cycles, frequency clock)
{
    if (clock.value() == 0)
        throw bug("cycles_to_ps", 0, "a clock needs a frequency above 0 Hz");
    const uint128 ps = (static_cast<uint128>(cycles) * k_ps_per_s + clock.value() / 2) / clock.value();
    if (ps > k_max)
        throw bug("cycles_to_ps", 0,
                  fmt::format("{} cycles of {} Hz exceed 64 bits of picoseconds", cycles, clock.value()));
    return static_cast<std::uint64_t>(ps);
}

} // namespace weft
