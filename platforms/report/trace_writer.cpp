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
// Neither is a format read, nor memory taken for a record: that is most of what a trace costs.
constexpr std::size_t k_text_bytes = 1 << 18; ///< that are handed to the system at a time

void append(std::string& to, std::uint64_t number)
{
    const fmt::format_int digits(number);
    to.append(digits.data(), digits.size());
}

/// As exact_us().
void append_us(std::string& to, std::uint64_t ps)
{
    constexpr unsigned k_digits = 6;
    append(to, ps / 1'000'000);
    std::uint64_t rest = ps % 1'000'000;
    if (rest == 0)
        return;
    char digits[1 + k_digits] = {'.'};
    for (unsigned i = k_digits; i > 0; --i, rest /= 10)
        digits[i] = static_cast<char>('0' + rest % 10);
    unsigned length = 1 + k_digits;
    while (digits[length - 1] == '0')
        --length;
    to.append(digits, length);
}

/// As a JSON string.
void append_quoted(std::string& to, const std::string& text)
{
    const bool plain =
        std::all_of(text.begin(), text.end(), [](char x) { return x >= ' ' && x < 0x7f && x != '"' && x != '\\'; });
    if (plain)
        ((to += '"') += text) += '"';
    else
        to += nlohmann::json(text).dump();
}

/// `,"pid":3,"tid":2`
void append_place(std::string& to, std::uint32_t process, std::uint32_t thread)
{
    append(to += ",\"pid\":", process);
    append(to += ",\"tid\":", thread);
}

std::string name_event(const char* what, std::uint32_t process, std::uint32_t thread, const std::string& name)
{
    return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, process, thread,
                       nlohmann::json(name).dump());
}
} // namespace

trace_writer::trace_writer(const std::string& path, std::uint64_t at_most) : file_(path), at_most_(at_most)
{
    file_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void trace_writer::begin_line(std::string_view head)
{
    if (text_.size() > k_text_bytes)
        hand_on();
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    text_ += head;
}

void trace_writer::line(std::string_view json) { begin_line(json); }

void trace_writer::hand_on()
{
    file_.write(text_);
    text_.clear();
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
        append_us(as_mark.arguments += ",\"dur_us\":", s.span_ps);
        return mark(as_mark);
    }
    if (!take())
        return;
    if (lane == t.busy_until_ps.size())
        open_lane(t);
    t.busy_until_ps[lane] = s.start_ps + s.span_ps;
    begin_line("{\"ph\":\"X\",\"name\":");
    append_quoted(text_, s.name);
    append_us(text_ += ",\"ts\":", s.start_ps);
    append_us(text_ += ",\"dur\":", s.span_ps);
    append_place(text_, t.process, t.first_lane + lane);
    ((text_ += ",\"args\":{") += s.arguments) += "}}";
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
    begin_line(first ? "{\"ph\":\"s\"" : last ? "{\"ph\":\"f\"" : "{\"ph\":\"t\"");
    append(text_ += ",\"cat\":\"message\",\"name\":\"message\",\"id\":", number);
    append_us(text_ += ",\"ts\":", s.start_ps);
    append_place(text_, process, lane);
    text_ += last ? ",\"bp\":\"e\"}" : "}";
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
    begin_line("{\"ph\":\"i\",\"s\":\"t\",\"name\":");
    append_quoted(text_, s.name);
    append_us(text_ += ",\"ts\":", s.start_ps);
    append_place(text_, t.process, t.first_lane);
    ((text_ += ",\"args\":{") += s.arguments) += "}}";
}

void trace_writer::name_core(std::uint32_t rank) { line(name_event("thread_name", rank, k_core, "core")); }

bool trace_writer::begin_call(std::uint32_t rank, std::uint64_t time_ps, const std::string& function)
{
    if (!take())
        return false;
    begin_line("{\"ph\":\"B\",\"name\":");
    append_quoted(text_, function);
    append_us(text_ += ",\"ts\":", time_ps);
    append_place(text_, rank, k_core);
    text_ += '}';
    return true;
}

void trace_writer::end_call(std::uint32_t rank, std::uint64_t time_ps)
{
    begin_line("{\"ph\":\"E\"");
    append_us(text_ += ",\"ts\":", time_ps);
    append_place(text_, rank, k_core);
    text_ += '}';
}

void trace_writer::close()
{
    text_ += "\n]}\n";
    hand_on();
    file_.commit();
}

} // namespace weft
