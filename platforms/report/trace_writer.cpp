// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/trace_writer.h"

#include "tlm/text_digits.h"

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

constexpr std::size_t k_most_us = k_most_digits + 7;

/// As exact_us().
char* put_us(char* to, std::uint64_t ps)
{
    constexpr unsigned k_digits = 6;
    to = put_number(to, ps / 1'000'000);
    auto rest = static_cast<std::uint32_t>(ps % 1'000'000);
    if (rest == 0)
        return to;
    *to = '.';
    for (unsigned i = k_digits; i > 0; --i, rest /= 10)
        to[i] = static_cast<char>('0' + rest % 10);
    unsigned length = 1 + k_digits;
    while (to[length - 1] == '0')
        --length;
    return to + length;
}

/// `,"pid":3,"tid":2`
char* put_place(char* to, std::uint32_t process, std::uint32_t thread)
{
    return put_number(put_text(put_number(put_text(to, ",\"pid\":"), process), ",\"tid\":"), thread);
}
/// Room for times and places of a record, with their names.
using record_text = char[2 * k_most_us + 3 * k_most_digits + 96];

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

bool trace_writer::take(std::uint64_t time_ps)
{
    if (written_ == at_most_) {
        if (dropped_++ == 0) { // whoever opens the file sees where it ends
            end_arrows();
            begin_line("{\"ph\":\"i\",\"s\":\"g\",\"name\":\"cut: later records are beyond --trace-limit\"");
            record_text text;
            text_.append(text, put_text(put_place(put_us(put_text(text, ",\"ts\":"), time_ps), 0, 0), "}"));
        }
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
        record_text text;
        as_mark.arguments.append(text, put_us(put_text(text, ",\"dur_us\":"), s.span_ps));
        return mark(as_mark);
    }
    if (!take(s.start_ps))
        return;
    if (lane == t.busy_until_ps.size())
        open_lane(t);
    t.busy_until_ps[lane] = s.start_ps + s.span_ps;
    begin_line("{\"ph\":\"X\",\"name\":");
    append_quoted(text_, s.name);
    record_text text;
    char* end = put_us(put_text(text, ",\"ts\":"), s.start_ps);
    end = put_us(put_text(end, ",\"dur\":"), s.span_ps);
    end = put_text(put_place(end, t.process, t.first_lane + lane), ",\"args\":{");
    (text_.append(text, end) += s.arguments) += "}}";
    if (s.flow != flow_step::none)
        step_arrow(s, t.process, t.first_lane + lane);
}

void trace_writer::step_arrow(const trace_slice& s, std::uint32_t process, std::uint32_t lane)
{
    const auto [known, first] = arrows_.try_emplace(s.flow_id);
    const bool last = s.flow == flow_step::ends;
    if (first) {
        if (last)
            arrows_.erase(known);
        else
            known->second = {0, s.start_ps, process, lane, false};
        return;
    }
    arrow& a = known->second;
    if (!a.begun)
        a.number = ++last_arrow_;
    write_step(a, a.begun ? 't' : 's');
    a = {a.number, s.start_ps, process, lane, true};
    if (last) {
        write_step(a, 'f');
        arrows_.erase(known);
    }
}

/// s begins an arrow, t goes on, f ends it; "e": at the slice around it, not at the next one.
void trace_writer::write_step(const arrow& a, char step)
{
    begin_line("{\"ph\":\"");
    text_ += step;
    record_text text;
    char* end = put_number(put_text(text, "\",\"cat\":\"message\",\"name\":\"message\",\"id\":"), a.number);
    end = put_place(put_us(put_text(end, ",\"ts\":"), a.at_ps), a.process, a.lane);
    text_.append(text, put_text(end, step == 'f' ? ",\"bp\":\"e\"}" : "}"));
}

void trace_writer::mark(const trace_slice& s)
{
    if (!take(s.start_ps))
        return;
    track& t = tracks_.at(s.track);
    if (t.busy_until_ps.empty())
        open_lane(t);
    begin_line("{\"ph\":\"i\",\"s\":\"t\",\"name\":");
    append_quoted(text_, s.name);
    record_text text;
    char* const end = put_place(put_us(put_text(text, ",\"ts\":"), s.start_ps), t.process, t.first_lane);
    (text_.append(text, put_text(end, ",\"args\":{")) += s.arguments) += "}}";
}

void trace_writer::name_core(std::uint32_t rank) { line(name_event("thread_name", rank, k_core, "core")); }

bool trace_writer::begin_call(std::uint32_t rank, std::uint64_t time_ps, const std::string& function)
{
    if (!take(time_ps))
        return false;
    begin_line("{\"ph\":\"B\",\"name\":");
    append_quoted(text_, function);
    record_text text;
    text_.append(text, put_text(put_place(put_us(put_text(text, ",\"ts\":"), time_ps), rank, k_core), "}"));
    return true;
}

void trace_writer::end_call(std::uint32_t rank, std::uint64_t time_ps)
{
    begin_line("{\"ph\":\"E\"");
    record_text text;
    text_.append(text, put_text(put_place(put_us(put_text(text, ",\"ts\":"), time_ps), rank, k_core), "}"));
}

/// At the last record that is there of each.
void trace_writer::end_arrows()
{
    std::vector<arrow> open; // the file is the same whatever the order of the hashes
    for (const auto& [id, a] : arrows_)
        if (a.begun)
            open.push_back(a);
    std::sort(open.begin(), open.end(), [](const arrow& a, const arrow& b) { return a.number < b.number; });
    for (const arrow& a : open)
        write_step(a, 'f');
    arrows_.clear();
}

void trace_writer::close()
{
    end_arrows();
    text_ += dropped_ == 0 ? "\n]}\n" : fmt::format("\n],\"otherData\":{{\"records beyond --trace-limit\":{}}}}}\n", dropped_);
    hand_on();
    file_.commit();
}

} // namespace weft
