// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tlm/config_fields.h"

#include <fmt/format.h>

namespace weft {

namespace {

std::string shown(std::uint64_t value, std::optional<quantity_kind> kind)
{
    return kind ? format_quantity(*kind, value) : std::to_string(value);
}

bool is_within(std::uint64_t value, const field_limits& l)
{
    if (l.choices != 0) {
        for (std::size_t i = 0; i < l.choices; ++i)
            if (value == l.one_of[i])
                return true;
        return false;
    }
    return value >= l.least && value <= l.most && value % l.multiple == 0 &&
           (!l.power_of_two || (value != 0 && (value & (value - 1)) == 0));
}

/// A rate that is shown in bytes beside limits in bits, in bits too; else nothing.
std::string in_bits(std::uint64_t value, std::optional<quantity_kind> kind, const std::string& legal)
{
    constexpr std::uint64_t k_giga = 1'000'000'000;
    if (kind != quantity_kind::bandwidth || value % k_giga != 0)
        return "";
    const std::string text = shown(value, kind);
    const auto ends_with = [](const std::string& all, const std::string& end) {
        return all.size() >= end.size() && all.compare(all.size() - end.size(), end.size(), end) == 0;
    };
    return ends_with(text, "B/s") && ends_with(legal, "bps") ? fmt::format(" ({} Gbps)", value / k_giga) : "";
}

} // namespace

std::string text_of(const field_limits& l, std::optional<quantity_kind> kind)
{
    constexpr std::uint64_t k_endless = ~std::uint64_t{0};
    if (l.bounds_real())
        return fmt::format("{} to {}", l.least_real, l.most_real);
    if (!l.bounds_whole())
        return "";
    std::string text;
    if (l.choices != 0) {
        for (std::size_t i = 0; i < l.choices; ++i)
            text += (i == 0 ? "" : i + 1 == l.choices ? " or " : ", ") + shown(l.one_of[i], kind);
        return text;
    }
    if (l.power_of_two)
        text = "a power of two from ";
    if (l.most == k_endless)
        text += "at least " + shown(l.least, kind);
    else if (l.least == 0 && kind)
        text += "at most " + shown(l.most, kind);
    else
        text += shown(l.least, kind) + " to " + shown(l.most, kind);
    if (l.multiple != 1)
        text += " and a multiple of " + shown(l.multiple, kind);
    return text;
}

void check_limits(const std::string& key, std::uint64_t value, std::optional<quantity_kind> kind,
                  const field_limits& limits, std::vector<config_problem>& problems)
{
    if (limits.bounds_whole() && !is_within(value, limits)) {
        const std::string legal = text_of(limits, kind);
        problems.push_back({severity::error, key,
                            fmt::format("is {}{}, must be {}{}.", shown(value, kind), in_bits(value, kind, legal), legal,
                                        limits.reason)});
    }
}

void check_limits(const std::string& key, double value, const field_limits& limits,
                  std::vector<config_problem>& problems)
{
    if (limits.bounds_real() && !(value >= limits.least_real && value <= limits.most_real))
        problems.push_back({severity::error, key,
                            fmt::format("is {}, must be {}{}.", value, text_of(limits, std::nullopt), limits.reason)});
}

} // namespace weft
