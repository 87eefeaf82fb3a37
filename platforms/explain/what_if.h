// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Changes of a configuration that are worth a run, for what a critical path is made of. Keys are found by their
// declared kinds, rates, times and sizes of buffers, and by the part of a machine that their section is about
// (config_part). Plain C++.
#pragma once

#include "platforms/config/config_dump.h"
#include "platforms/explain/critical_path.h"

#include <array>
#include <string>
#include <vector>

namespace weft {

struct what_if {
    std::string words;                 ///< "links twice as fast"
    std::vector<std::string> settings; ///< as of --set
    /// Keys that stay as they are: the value, or the machine with it, would be beyond what is legal.
    std::vector<std::string> left_out;
    /// Rates that have their limit there: links get twice the lanes instead.
    std::vector<std::string> by_lanes;
    double share = 0;     ///< of the path that it may shorten, 0 to 1
    bool busiest = false; ///< it speeds up the part that limited the run
};

/// The most promising first, at most `most`; none that could touch less than 2 % of the path, but for what speeds up
/// the part that limited the run by its busy share (`limit`, case_limits.h).
std::vector<what_if> promising_changes(const config_field& config,
                                       const std::array<std::uint64_t, k_path_causes>& by_cause, const std::string& limit = "",
                                       std::size_t most = 3);

} // namespace weft
