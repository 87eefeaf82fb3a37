// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/run_trace.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft::cli {

namespace {
constexpr std::uint32_t k_wires_process = 1'000'000; ///< ranks are below, other devices behind
}

void run_trace::check_filter() const
{
    if (processes_.empty() && !filter_.all())
        throw user_error(
            "--trace-ranks and --trace-links leave nothing to trace. Links are named as in `Busiest links` of a run, such as chip(0,1).+X.");
    if (const std::string text = filter_.text_of_no_link(links_); !text.empty())
        throw user_error(fmt::format(
            "--trace-links {}: no link or cable has this in its name. They are named as in `Busiest links` of a run, such as chip(0,1).+X.", text));
}

std::uint32_t run_trace::add_track(const component& owner, const std::string& name)
{
    std::uint32_t process = k_wires_process;
    std::string title = "links";
    if (const chip* const c = chip_of(owner); c != nullptr) {
        if (!filter_.shows_rank(c->rank()))
            return k_hidden;
        process = c->rank();
        title = fmt::format("rank {} {}", c->rank(), c->basename());
    } else if (owner.wires() != 0) {
        if (!filter_.shows_link(name))
            return k_hidden;
        if (!filter_.all())
            links_.insert(name);
    } else {
        title = owner.stat_prefix();
        const auto known =
            std::find_if(processes_.begin(), processes_.end(), [&](const auto& p) { return p.second == title; });
        const std::uint32_t last = processes_.empty() ? 0 : processes_.rbegin()->first;
        process = known != processes_.end() ? known->first : std::max(last, k_wires_process) + 1;
    }
    if (processes_.emplace(process, title).second)
        out_.name_process(process, title);
    return out_.add_track(process, name);
}

bool run_trace::takes(const trace_slice& s)
{
    if (s.track != k_hidden && filter_.shows(s))
        return true;
    ++filtered_;
    return false;
}

void run_trace::slice(const trace_slice& s)
{
    if (takes(s))
        out_.slice(s);
}

void run_trace::mark(const trace_slice& s)
{
    if (takes(s))
        out_.mark(s);
}

std::string run_trace::summary() const
{
    if (shows_nothing())
        return fmt::format("no records: the filter shows none of {}", filtered_);
    if (out_.written() + out_.dropped() == 0)
        return "no records: nothing moved over any link, cable or DMA engine";
    std::string text = fmt::format("{} record{}", out_.written(), out_.written() == 1 ? "" : "s");
    if (filtered_ > 0)
        text += fmt::format(" of {}", out_.written() + out_.dropped() + filtered_);
    if (out_.dropped() > 0)
        text += fmt::format(", {} more beyond --trace-limit", out_.dropped());
    if (out_.crowded() > 0)
        text += fmt::format(", {} of those written are marks: more than {} at a time on one track", out_.crowded(),
                            trace_writer::k_most_lanes);
    return text;
}

} // namespace weft::cli
