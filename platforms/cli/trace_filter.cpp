// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/trace_filter.h"

#include "tlm/check.h"
#include "tlm/units.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft::cli {

namespace {

constexpr const char* k_window_form =
    "write two times with two dots between, such as \"10 us..20 us\", \"..1 ms\" or \"5 us..\".";

std::uint64_t time_of(const std::string& text, const trace_filter_texts& texts)
{
    const parsed_quantity time = parse_quantity(quantity_kind::duration, text);
    if (!time.error.empty())
        throw user_error(fmt::format("{}-window {}: {}; {}", texts.option, texts.window, time.error, k_window_form));
    return time.value;
}

std::string trimmed(const std::string& text)
{
    const auto first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

} // namespace

trace_filter::trace_filter(const trace_filter_texts& texts, std::uint32_t ranks, const table_of_rank& table_of)
    : links_(texts.links)
{
    if (!texts.ranks.empty()) {
        const named_groups named = find_groups(texts.ranks, ranks, table_of);
        if (!named.problem.empty())
            throw user_error(fmt::format("--trace-ranks {} {}", texts.ranks[named.problem_at], named.problem));
        ranks_.emplace(ranks);
        for (const rank_list& list : named.lists)
            for (const std::uint32_t rank : list)
                (*ranks_)[rank] = true;
    }
    if (texts.window.empty())
        return;
    const std::size_t dots = texts.window.find("..");
    if (dots == std::string::npos)
        throw user_error(fmt::format("{}-window {}: {}", texts.option, texts.window, k_window_form));
    const std::string from = trimmed(texts.window.substr(0, dots)), until = trimmed(texts.window.substr(dots + 2));
    from_ps_ = from.empty() ? 0 : time_of(from, texts);
    until_ps_ = until.empty() ? k_end : time_of(until, texts);
    if (from_ps_ >= until_ps_)
        throw user_error(
            fmt::format("{}-window {}: {}; {}", texts.option, texts.window,
                        from_ps_ == until_ps_ ? "ends where it begins, so nothing is in it" : "ends before it begins",
                        k_window_form));
}

bool trace_filter::shows_link(const std::string& name) const
{
    return links_.empty() || std::any_of(links_.begin(), links_.end(),
                                         [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

std::string trace_filter::text_of_no_link(const std::set<std::string>& shown) const
{
    const auto has_none = [&](const std::string& text) {
        return std::none_of(shown.begin(), shown.end(), [&](const std::string& name) { return name.find(text) != std::string::npos; });
    };
    const auto found = std::find_if(links_.begin(), links_.end(), has_none);
    return found == links_.end() ? "" : *found;
}

bool trace_filter::shows(const trace_slice& s) const
{
    if (s.start_ps >= until_ps_ || s.start_ps + s.span_ps < from_ps_)
        return false;
    if (s.control && ranks_)
        return false;
    const bool known = s.from != trace_slice::k_nobody || s.to != trace_slice::k_nobody;
    return !known || shows_rank(s.from) || shows_rank(s.to);
}

} // namespace weft::cli
