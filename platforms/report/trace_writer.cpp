// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/trace_writer.h"

#include "platforms/report/run_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace weft {

namespace {
constexpr std::uint32_t k_core = 1; ///< tid of a rank's core, above all tracks
constexpr std::uint32_t k_first_lane = 2;

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

void trace_writer::line(const std::string& json)
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

void trace_writer::slice(std::uint32_t number, std::uint64_t start_ps, std::uint64_t span_ps, const std::string& name,
                         const std::string& arguments)
{
    track& t = tracks_.at(number);
    std::uint32_t lane = 0;
    while (lane < t.busy_until_ps.size() && t.busy_until_ps[lane] > start_ps)
        ++lane;
    if (lane == k_most_lanes) {
        crowded_ += written_ == at_most_ ? 0 : 1;
        return mark(number, start_ps, name, fmt::format("{},\"dur_us\":{}", arguments, exact_us(span_ps)));
    }
    if (!take())
        return;
    if (lane == t.busy_until_ps.size())
        open_lane(t);
    t.busy_until_ps[lane] = start_ps + span_ps;
    line(fmt::format(R"({{"ph":"X","name":{},"ts":{},"dur":{},"pid":{},"tid":{},"args":{{{}}}}})",
                     nlohmann::json(name).dump(), exact_us(start_ps), exact_us(span_ps), t.process, t.first_lane + lane,
                     arguments));
}

void trace_writer::mark(std::uint32_t number, std::uint64_t time_ps, const std::string& name,
                        const std::string& arguments)
{
    if (!take())
        return;
    track& t = tracks_.at(number);
    if (t.busy_until_ps.empty())
        open_lane(t);
    line(fmt::format(R"({{"ph":"i","s":"t","name":{},"ts":{},"pid":{},"tid":{},"args":{{{}}}}})",
                     nlohmann::json(name).dump(), exact_us(time_ps), t.process, t.first_lane, arguments));
}

void trace_writer::name_cores(std::uint32_t ranks)
{
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        line(name_event("thread_name", rank, k_core, "core"));
}

bool trace_writer::begin_call(std::uint32_t rank, std::uint64_t time_ps, const std::string& function)
{
    if (!take())
        return false;
    line(fmt::format(R"({{"ph":"B","name":{},"ts":{},"pid":{},"tid":{}}})", nlohmann::json(function).dump(),
                     exact_us(time_ps), rank, k_core));
    return true;
}

void trace_writer::end_call(std::uint32_t rank, std::uint64_t time_ps)
{
    line(fmt::format(R"({{"ph":"E","ts":{},"pid":{},"tid":{}}})", exact_us(time_ps), rank, k_core));
}

void trace_writer::close()
{
    file_.write("\n]}\n");
    file_.commit();
}

} // namespace weft
