// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/config/quantity_pattern.h"

#include "tlm/check.h"

#include <fmt/format.h>

#include <limits>
#include <utility>
#include <vector>

namespace weft {

namespace {

constexpr std::size_t k_places = 5;

struct unit {
    std::string pattern;
    std::uint64_t factor; ///< base units
};

std::vector<unit> units_of(quantity_kind kind)
{
    constexpr std::uint64_t k = 1000, Ki = 1024;
    std::vector<unit> all;
    const auto decimal = [&](const char* name, std::uint64_t factor, const char* prefixes) {
        all.push_back({name, factor});
        for (; *prefixes != '\0'; ++prefixes)
            all.push_back({*prefixes + std::string(name), factor *= k});
    };
    const auto binary = [&](const char* name, std::uint64_t factor) {
        for (const char* prefix = "KMGT"; *prefix != '\0'; ++prefix)
            all.push_back({*prefix + std::string("i") + name, factor *= Ki});
    };
    switch (kind) {
    case quantity_kind::data_size:
        decimal("B", 1, "kMGT");
        binary("B", 1);
        break;
    case quantity_kind::duration: all = {{"ps", 1}, {"ns", k}, {"us", k * k}, {"ms", k * k * k}, {"s", k * k * k * k}}; break;
    case quantity_kind::bandwidth:
        decimal("(?:b/s|bps)", 1, "kMGT");
        decimal("B/s", 8, "kMGT");
        binary("B/s", 8);
        break;
    case quantity_kind::frequency: decimal("Hz", 1, "kMG"); break;
    case quantity_kind::packets: all = {{"packets?", 1}}; break;
    case quantity_kind::cycles: all = {{"cycles?", 1}}; break;
    }
    if (all.empty())
        throw bug("config", 0, "unknown quantity kind");
    return all;
}

/// value / factor in decimal digits.
struct decimal_text {
    std::string whole;
    std::string fraction; ///< without zeros at its end
    bool cut = false;     ///< the fraction goes on
};

decimal_text divide(std::uint64_t value, std::uint64_t factor)
{
    decimal_text d{std::to_string(value / factor), "", false};
    std::uint64_t rest = value % factor;
    while (rest != 0 && d.fraction.size() < k_places) {
        rest *= 10; // below 10 x 8 TiB
        d.fraction += static_cast<char>('0' + rest / factor);
        rest %= factor;
    }
    d.cut = rest != 0;
    if (!d.cut)
        d.fraction.erase(d.fraction.find_last_not_of('0') + 1);
    return d;
}

std::string digits_below(char digit) { return digit == '1' ? "0" : fmt::format("[0-{}]", static_cast<char>(digit - 1)); }

std::string any_digits(std::size_t count) { return count == 0 ? "" : count == 1 ? "[0-9]" : fmt::format("[0-9]{{{}}}", count); }

/// Whole numbers below `bound`; "" when there is none.
std::string whole_below(const std::string& bound)
{
    if (bound == "0")
        return "";
    std::string all = "0";
    if (bound.size() == 2)
        all = "[0-9]";
    else if (bound.size() > 2)
        all += fmt::format("|[1-9][0-9]{{0,{}}}", bound.size() - 2);
    for (std::size_t i = 0; i < bound.size(); ++i) {
        const char least = i == 0 ? '1' : '0';
        if (bound[i] > least)
            all += "|" + bound.substr(0, i) +
                   (bound[i] - 1 == least ? std::string(1, least) : fmt::format("[{}-{}]", least, static_cast<char>(bound[i] - 1))) +
                   any_digits(bound.size() - i - 1);
    }
    return all;
}

/// Digits behind a point that are at most those of `d`.
std::string fraction_at_most(const decimal_text& d, std::size_t from = 0)
{
    if (from == d.fraction.size())
        return d.cut ? "[0-9]*" : "0*";
    const char digit = d.fraction[from];
    const std::string rest = fraction_at_most(d, from + 1);
    const std::string same = digit + (from + 1 == d.fraction.size() ? rest : "(?:" + rest + ")?");
    return digit == '0' ? same : fmt::format("(?:{}[0-9]*|{})", digits_below(digit), same);
}

/// Digits behind a point that are below those of `d`, which is not cut here and has some; "" when there are none.
std::string fraction_below(const std::string& fraction, std::size_t from = 0)
{
    const char digit = fraction[from];
    std::string all = digit == '0' ? "" : digits_below(digit) + "[0-9]*";
    if (from + 1 < fraction.size())
        all += (all.empty() ? "" : "|") + std::string(1, digit) + "(?:" + fraction_below(fraction, from + 1) + ")?";
    return all;
}

std::string number_at_most(const decimal_text& d)
{
    const std::string below = whole_below(d.whole);
    const std::string fraction = d.fraction.empty() && !d.cut ? "0+" : fraction_at_most(d);
    return (below.empty() ? "" : fmt::format("(?:{})(?:\\.[0-9]+)?|", below)) +
           fmt::format("{}(?:\\.{})?", d.whole, d.fraction.empty() && d.cut ? "[0-9]+" : fraction);
}

/// Numbers below `d`, and zero.
std::string number_below(const decimal_text& d)
{
    const std::string below = whole_below(d.whole);
    std::string fraction = d.fraction;
    fraction.erase(fraction.find_last_not_of('0') + 1);
    if (below.empty() && fraction.empty())
        return "0(?:\\.0+)?";
    std::string all = below.empty() ? "" : fmt::format("(?:{})(?:\\.[0-9]+)?", below);
    if (!fraction.empty())
        all += (all.empty() ? "" : "|") + d.whole + fmt::format("(?:\\.(?:{}))?", fraction_below(fraction));
    return all;
}

} // namespace

std::string quantity_pattern(quantity_kind kind, std::uint64_t least, std::uint64_t most)
{
    const bool bounded = most != std::numeric_limits<std::uint64_t>::max();
    const bool can_be_auto = kind == quantity_kind::packets && least == 0;
    if (can_be_auto)
        least = 1; // "0 packets" is refused
    std::string all;
    for (const unit& u : units_of(kind)) {
        const std::string number =
            bounded ? "(?:" + number_at_most(divide(most, u.factor)) + ")" : "(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?";
        const std::string not_below =
            least == 0 ? "" : "(?!(?:" + number_below(divide(least, u.factor)) + ") *" + u.pattern + ")";
        all += (all.empty() ? "" : "|") + not_below + number + " *" + u.pattern;
    }
    if (can_be_auto)
        all += "|auto";
    return "^ *(?:" + all + ") *$";
}

} // namespace weft
