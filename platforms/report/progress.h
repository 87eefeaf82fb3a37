// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One line on a terminal that tells how far a run is: case, operation, size, percent, time. Nothing at all in a pipe.
// Shows host time only; the simulation never reads it.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace weft {

class progress {
public:
    using time_point = std::chrono::steady_clock::time_point;
    using clock_function = time_point (*)();

    /// On stderr, if that is a terminal and `quiet` is not set.
    static progress on_stderr(std::uint32_t cases, bool quiet = false);

    /// `width`: columns of the terminal; `now` is replaced in tests.
    progress(std::ostream& out, bool enabled, std::uint32_t cases, unsigned width = 80,
             clock_function now = std::chrono::steady_clock::now);
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;
    ~progress(); ///< finish()

    bool enabled() const { return enabled_; }
    /// Case `index` (from 0) begins; `label` as in "all_reduce ring_1d 64 MiB". `fraction` of it, or where several run
    /// at a time of all, is done.
    void begin_case(std::uint32_t index, const std::string& label, double fraction = 0);
    /// `fraction` of the current case is done, 0 to 1. May be called as often as one likes: it draws every 100 ms at
    /// most.
    void update(double fraction);
    /// Take the line away. Call before anything else is printed; drawing goes on at the next begin_case or update.
    void clear();
    /// Take the line away for good.
    void finish();

private:
    void draw(time_point now);
    /// ", 01:20 left" by the pace of this case, "" where too little of it is done.
    std::string time_left(time_point now) const;

    std::ostream& out_;
    bool enabled_;
    std::uint32_t cases_;
    unsigned width_;
    clock_function now_;
    time_point start_;
    time_point case_start_;
    double case_from_ = 0; ///< the fraction that it began with
    time_point last_draw_;
    bool drawn_once_ = false;
    bool visible_ = false;
    std::uint32_t index_ = 0;
    std::string label_;
    double fraction_ = 0;
};

} // namespace weft
