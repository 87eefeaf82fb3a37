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
/// Times, places and numbers of a record, with their names, and its head.
constexpr std::size_t k_most_of_record = 2 * k_most_us + 4 * k_most_digits + 256;

/// As exact_us().
char* put_us(char* to, std::uint64_t ps)
{
    to = put_number(to, ps / 1'000'000);
    const std::uint64_t rest = ps % 1'000'000;
    if (rest == 0)
        return to;
    *to++ = '.';
    to = put_pair(put_pair(put_pair(to, rest / 10'000), rest / 100 % 100), rest % 100);
    while (to[-1] == '0')
        --to;
    return to;
}

/// `,"pid":3,"tid":2`
char* put_place(char* to, std::uint32_t process, std::uint32_t thread)
{
    return put_number(put_text(put_number(put_text(to, ",\"pid\":"), process), ",\"tid\":"), thread);
}

/// Of a text as a JSON string: each byte may become "\u0000", or a mark for what is no UTF-8.
constexpr std::size_t most_quoted(std::size_t bytes) { return 6 * bytes + 2; }

/// As a JSON string.
char* put_quoted(char* to, const std::string& text)
{
    const bool plain =
        std::all_of(text.begin(), text.end(), [](char x) { return x >= ' ' && x < 0x7f && x != '"' && x != '\\'; });
    if (!plain)
        return put_text(to, nlohmann::json(text).dump());
    *to++ = '"';
    to = put_text(to, text);
    *to++ = '"';
    return to;
}

std::string name_event(const char* what, std::uint32_t process, std::uint32_t thread, const std::string& name)
{
    return fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, process, thread,
                       nlohmann::json(name).dump());
}
} // namespace

trace_writer::trace_writer(const std::string& path, std::uint64_t at_most) : file_(path), text_(k_text_bytes), at_most_(at_most)
{
    file_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

char* trace_writer::begin_line(std::string_view head, std::size_t more_bytes)
{
    const std::size_t room = head.size() + more_bytes + k_most_of_record;
    if (used_ + room > text_.size()) {
        hand_on();
        text_.resize(std::max(text_.size(), room));
    }
    char* const to = put_text(text_.data() + used_, first_ ? "\n" : ",\n");
    first_ = false;
    return put_text(to, head);
}

void trace_writer::line(std::string_view json) { end_line(begin_line(json)); }

void trace_writer::hand_on()
{
    file_.write({text_.data(), used_});
    used_ = 0;
}

bool trace_writer::take(std::uint64_t time_ps)
{
    if (written_ == at_most_) {
        if (dropped_++ == 0) { // whoever opens the file sees where it ends
            end_arrows();
            char* const to = begin_line("{\"ph\":\"i\",\"s\":\"g\",\"name\":\"cut: later records are beyond --trace-limit\",\"ts\":");
            end_line(put_text(put_place(put_us(to, time_ps), 0, 0), "}"));
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
    tracks_.push_back({process, k_first_lane + before * k_most_lanes, name, {}, {}});
    return static_cast<std::uint32_t>(tracks_.size() - 1);
}

void trace_writer::open_lane(track& t)
{
    const auto lane = static_cast<std::uint32_t>(t.busy_until_ps.size());
    t.busy_until_ps.push_back(0);
    char place[2 * k_most_digits + 32];
    t.places.emplace_back(place, put_place(place, t.process, t.first_lane + lane));
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
        char text[k_most_us + 32];
        as_mark.arguments.append(text, put_us(put_text(text, ",\"dur_us\":"), s.span_ps));
        return mark(as_mark);
    }
    if (!take(s.start_ps))
        return;
    if (lane == t.busy_until_ps.size())
        open_lane(t);
    t.busy_until_ps[lane] = s.start_ps + s.span_ps;
    char* to = begin_line("{\"ph\":\"X\",\"name\":", most_quoted(s.name.size()) + t.places[lane].size() + s.arguments.size());
    to = put_us(put_text(put_quoted(to, s.name), ",\"ts\":"), s.start_ps);
    to = put_us(put_text(to, ",\"dur\":"), s.span_ps);
    to = put_text(put_text(put_text(to, t.places[lane]), ",\"args\":{"), s.arguments);
    end_line(put_text(to, "}}"));
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
    // What began before was lost on its way: this is its copy, sent again.
    if (s.flow == flow_step::begins || s.start_ps < a.at_ps) {
        if (a.begun)
            write_step(a, 'f');
        a = {0, s.start_ps, process, lane, false};
        return;
    }
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
    char* to = begin_line("{\"ph\":\"");
    *to++ = step;
    to = put_number(put_text(to, "\",\"cat\":\"message\",\"name\":\"message\",\"id\":"), a.number);
    to = put_place(put_us(put_text(to, ",\"ts\":"), a.at_ps), a.process, a.lane);
    end_line(put_text(to, step == 'f' ? ",\"bp\":\"e\"}" : "}"));
}

void trace_writer::mark(const trace_slice& s)
{
    if (!take(s.start_ps))
        return;
    track& t = tracks_.at(s.track);
    if (t.busy_until_ps.empty())
        open_lane(t);
    char* to = begin_line("{\"ph\":\"i\",\"s\":\"t\",\"name\":", most_quoted(s.name.size()) + s.arguments.size());
    to = put_us(put_text(put_quoted(to, s.name), ",\"ts\":"), s.start_ps);
    to = put_text(put_text(put_place(to, t.process, t.first_lane), ",\"args\":{"), s.arguments);
    end_line(put_text(to, "}}"));
}

void trace_writer::name_core(std::uint32_t rank) { line(name_event("thread_name", rank, k_core, "core")); }

bool trace_writer::begin_call(std::uint32_t rank, std::uint64_t time_ps, const std::string& function)
{
    if (!take(time_ps))
        return false;
    char* const to = begin_line("{\"ph\":\"B\",\"name\":", most_quoted(function.size()));
    end_line(put_text(put_place(put_us(put_text(put_quoted(to, function), ",\"ts\":"), time_ps), rank, k_core), "}"));
    return true;
}

void trace_writer::end_call(std::uint32_t rank, std::uint64_t time_ps)
{
    char* const to = begin_line("{\"ph\":\"E\",\"ts\":");
    end_line(put_text(put_place(put_us(to, time_ps), rank, k_core), "}"));
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
    hand_on();
    file_.write(dropped_ == 0 ? "\n]}\n" : fmt::format("\n],\"otherData\":{{\"records beyond --trace-limit\":{}}}}}\n", dropped_));
    file_.commit();
}

} // namespace weft
