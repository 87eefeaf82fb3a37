// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace weft {
namespace {

constexpr auto k_min_interval = std::chrono::milliseconds(100);
constexpr int k_bar_columns = 20;

} // namespace

progress progress::on_stderr(std::uint32_t cases, bool quiet)
{
    const char* term = std::getenv("TERM");
    const bool dumb = term == nullptr || std::string_view(term) == "dumb"; // knows no "erase line"
    unsigned width = 80;
    winsize size = {};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    return progress(std::cerr, !quiet && !dumb && ::isatty(STDERR_FILENO) == 1, cases, width);
}

progress::progress(std::ostream& out, bool enabled, std::uint32_t cases, unsigned width, clock_function now)
    : out_(out), enabled_(enabled), cases_(cases), width_(width), now_(now), start_(now()), case_start_(start_)
{
}

progress::~progress() { finish(); }

void progress::begin_case(std::uint32_t index, const std::string& label, double fraction)
{
    if (!enabled_)
        return;
    index_ = index;
    label_ = label;
    case_start_ = now_();
    case_from_ = fraction > 0 ? std::min(fraction, 1.0) : 0;
    update(fraction);
}

void progress::update(double fraction)
{
    if (!enabled_)
        return;
    fraction_ = fraction > 0 ? std::min(fraction, 1.0) : 0; // also a NaN is 0
    const time_point now = now_();
    if (drawn_once_ && now - last_draw_ < k_min_interval)
        return;
    draw(now);
}

std::string progress::time_left(time_point now) const
{
    constexpr double k_least_s = 2, k_least_done = 0.02;
    const double spent = std::chrono::duration<double>(now - case_start_).count();
    const double done = fraction_ - case_from_;
    if (spent < k_least_s || done < k_least_done || fraction_ >= 1)
        return {};
    const auto left = static_cast<std::int64_t>(std::ceil(spent * (1 - fraction_) / done));
    return fmt::format(", {:02}:{:02} left", left / 60, left % 60);
}

void progress::draw(time_point now)
{
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
    const int full = static_cast<int>(fraction_ * k_bar_columns);
    std::string line =
        fmt::format("[{}/{}] [{:=<{}}{:<{}}] {:3}% {:02}:{:02}{}  {}", index_ + 1, cases_, "", full, "",
                    k_bar_columns - full, static_cast<int>(fraction_ * 100), seconds / 60, seconds % 60, time_left(now), label_);
    // A line that wraps could not be erased again.
    if (width_ > 0 && line.size() >= width_)
        line.resize(width_ - 1);
    out_ << '\r' << line << "\x1b[K" << std::flush;
    last_draw_ = now;
    drawn_once_ = true;
    visible_ = true;
}

void progress::clear()
{
    if (visible_)
        out_ << "\r\x1b[K" << std::flush;
    visible_ = false;
}

void progress::finish()
{
    clear();
    enabled_ = false;
}

} // namespace weft
