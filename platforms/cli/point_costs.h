// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the points of a sweep take of the host: so that what remains can be told, and those that need much memory wait.
#pragma once

#include "platforms/cli/point_runs.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace weft::cli {

struct point_costs {
    std::function<double(std::size_t)> seconds; ///< of each point, about; only their ratios count
    std::function<std::uint64_t(std::size_t)> memory_bytes;
    std::uint64_t memory_of_all = 0; ///< that points may take together; one that needs more by itself runs alone
};
/// run_points(), where a point waits until it fits beside those that run, and the progress bar tells about how long the
/// rest takes.
std::vector<bool> run_points(const point_work& work, const point_costs& costs, unsigned jobs, bool quiet);

} // namespace weft::cli
