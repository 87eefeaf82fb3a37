// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/trace_writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace weft {

namespace {

constexpr std::uint32_t k_core = 1; ///< tid of a rank's core, above all tracks
constexpr std::uint32_t k_first_lane = 2;

// A run writes millions of records: what is common goes without a library of JSON.

/// As exact_us().
struct us {
    std::uint64_t ps;
};
/// A JSON string.
struct quoted {
    const std::string& text;
};

std::string name_event(const char* what, std::uint32_t process, std::uint32_t thread, const std::string& name)
{
    return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, process, thread,
                       nlohmann::json(name).dump());
}
} // namespace

} // namespace weft

template <> struct fmt::formatter<weft::us> {
    constexpr auto parse(format_parse_context& c) { return c.begin(); }
    template <class Context> auto format(const weft::us& t, Context& c) const
    {
        const std::uint64_t rest = t.ps % 1'000'000;
        if (rest == 0)
            return fmt::format_to(c.out(), "{}", t.ps / 1'000'000);
        std::uint64_t digits = rest;
        int width = 6;
        for (; digits % 10 == 0; digits /= 10)
            --width;
        return fmt::format_to(c.out(), "{}.{:0{}}", t.ps / 1'000'000, digits, width);
    }
};
template <> struct fmt::formatter<weft::quoted> {
    constexpr auto parse(format_parse_context& c) { return c.begin(); }
    template <class Context> auto format(const weft::quoted& q, Context& c) const
    {
        const bool plain = std::all_of(q.text.begin(), q.text.end(),
                                       [](char x) { return x >= ' ' && x < 0x7f && x != '"' && x != '\\'; });
        return plain ? fmt::format_to(c.out(), "\"{}\"", q.text)
                     : fmt::format_to(c.out(), "{}", nlohmann::json(q.text).dump());
    }
};

namespace weft {

trace_writer::trace_writer(const std::string& path, std::uint64_t at_most) : file_(path), at_most_(at_most)
{
    file_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void trace_writer::line(std::string_view json)
{
    file_.write(first_ ? "\n" : ",\n");
    first_ = false;
    file_.write(json);
}

bool trace_writer::take()
{
    if (written_ == at_most_) {
        ++dropped_;
        return false;
    }
    ++written_;
    return true;
}

void trace_writer::name_process(std::uint32_t process, const std::string& name)
{
    line(name_event("process_name", process, 0, name));
}

std::uint32_t trace_writer::add_track(std::uint32_t process, const std::string& name)
{
    const std::uint32_t before = tracks_of_process_[process]++;
    tracks_.push_back({process, k_first_lane + before * k_most_lanes, name, {}});
    return static_cast<std::uint32_t>(tracks_.size() - 1);
}

void trace_writer::open_lane(track& t)
{
    const auto lane = static_cast<std::uint32_t>(t.busy_until_ps.size());
    t.busy_until_ps.push_back(0);
    line(name_event("thread_name", t.process, t.first_lane + lane,
                    lane == 0 ? t.name : fmt::format("{}, lane {}", t.name, lane + 1)));
}

void trace_writer::slice(const trace_slice& s)
{
    track& t = tracks_.at(s.track);
    std::uint32_t lane = 0;
    while (lane < t.busy_until_ps.size() && t.busy_until_ps[lane] > s.start_ps)
        ++lane;
    if (lane == k_most_lanes) {
        crowded_ += written_ == at_most_ ? 0 : 1;
        trace_slice as_mark = s;
        as_mark.arguments += fmt::format(",\"dur_us\":{}", us{s.span_ps});
        return mark(as_mark);
    }
    if (!take())
        return;
    if (lane == t.busy_until_ps.size())
        open_lane(t);
    t.busy_until_ps[lane] = s.start_ps + s.span_ps;
    line(fmt::format(R"({{"ph":"X","name":{},"ts":{},"dur":{},"pid":{},"tid":{},"args":{{{}}}}})", quoted{s.name},
                     us{s.start_ps}, us{s.span_ps}, t.process, t.first_lane + lane, s.arguments));
    if (s.flow != flow_step::none)
        step_arrow(s, t.process, t.first_lane + lane);
}

// s begins an arrow, t goes on, f ends it; "e": at the slice around it, not at the next one.
void trace_writer::step_arrow(const trace_slice& s, std::uint32_t process, std::uint32_t lane)
{
    const auto known = arrows_.find(s.flow_id);
    const bool first = known == arrows_.end();
    if (first && s.flow == flow_step::ends)
        return;
    const std::uint64_t number = first ? arrows_.emplace(s.flow_id, ++last_arrow_).first->second : known->second;
    const bool last = s.flow == flow_step::ends;
    line(fmt::format(R"({{"ph":"{}","cat":"message","name":"message","id":{},"ts":{},"pid":{},"tid":{}{}}})",
                     first  ? "s"
                     : last ? "f"
                            : "t",
                     number, us{s.start_ps}, process, lane, last ? R"(,"bp":"e")" : ""));
    if (last)
        arrows_.erase(known);
}

void trace_writer::mark(const trace_slice& s)
{
    if (!take())
        return;
    track& t = tracks_.at(s.track);
    if (t.busy_until_ps.empty())
        open_lane(t);
    line(fmt::format(R"({{"ph":"i","s":"t","name":{},"ts":{},"pid":{},"tid":{},"args":{{{}}}}})", quoted{s.name},
                     us{s.start_ps}, t.process, t.first_lane, s.arguments));
}

void trace_writer::name_core(std::uint32_t rank) { line(name_event("thread_name", rank, k_core, "core")); }

bool trace_writer::begin_call(std::uint32_t rank, std::uint64_t time_ps, const std::string& function)
{
    if (!take())
        return false;
    line(fmt::format(R"({{"ph":"B","name":{},"ts":{},"pid":{},"tid":{}}})", quoted{function}, us{time_ps}, rank,
                     k_core));
    return true;
}

void trace_writer::end_call(std::uint32_t rank, std::uint64_t time_ps)
{
    line(fmt::format(R"({{"ph":"E","ts":{},"pid":{},"tid":{}}})", us{time_ps}, rank, k_core));
}

void trace_writer::close()
{
    file_.write("\n]}\n");
    file_.commit();
}

} // namespace weft
