// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Errors of transport in bursts against single packets: arithmetic, bounds, and the page that shows them. Simulates
// nothing.
//
//   error = time with bursts / time with single packets - 1
//   bounds: sizes of 64 KiB and more: 2 %; below: 5 %, or 1 us, whichever is more
#pragma once

#include "platforms/cli/burst_points.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::cli {

/// One collective of a run.
struct timed_collective {
    std::string op;
    std::string algorithm;
    std::uint64_t size_bytes = 0;
    std::uint64_t time_ps = 0;
    std::uint64_t wrong = 0;       ///< elements
    std::uint64_t data_digest = 0; ///< of the answers; 0 with data: off
    std::uint32_t train = 1;       ///< packets of a train, at most
};

/// One run of a point.
struct burst_run {
    std::vector<timed_collective> collectives;
    double cpu_s = 0;
    std::string failure; ///< "" when it completed
};
std::string to_text(const burst_run& run); ///< for a pipe
burst_run burst_run_from(const std::string& text);

struct burst_point_result {
    sweep_point point;
    platform_source source; ///< without `burst`
    burst_run single;       ///< packets
    burst_run tested;
    std::size_t left_out = 0; ///< collectives that were not run: both runs would send single packets
};

/// What is wrong with a point besides times: a run that failed, answers that differ. "" when nothing is.
std::string complaint_of(const burst_point_result& result);

double error_percent(std::uint64_t single_ps, std::uint64_t tested_ps);
/// The error in units of its bound: above 1 the bound is broken.
double share_of_bound(std::uint64_t size_bytes, std::uint64_t single_ps, std::uint64_t tested_ps);
/// The smallest of `sorted` values that a share `q` of them does not exceed. 0 of nothing.
double quantile(const std::vector<double>& sorted, double q);

struct burst_error {
    const burst_point_result* result = nullptr;
    timed_collective what; ///< with single packets
    std::uint64_t tested_ps = 0;
    std::uint32_t train = 1; ///< under test
    double percent = 0;
    double of_bound = 0;
};
/// Of all collectives of all points without a complaint, in the order of the points.
std::vector<burst_error> errors_of(const std::vector<burst_point_result>& results);

struct burst_summary {
    std::string command; ///< "weft bursts --sample 60"
    std::string version;
    std::string burst; ///< under test
    std::size_t planned_points = 0;
    std::vector<burst_point_result> results;
    bool in_trains = false; ///< what goes in single packets was left out
};
bool holds(const burst_summary& summary); ///< every planned point, every bound
std::string head_of(const burst_summary& summary);
/// "docs/18_burst_error.md".
std::string to_markdown(const burst_summary& summary);
/// That runs the collective of `e` alone.
std::string command_of(const burst_error& e, const std::string& burst);

} // namespace weft::cli
