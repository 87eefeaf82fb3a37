// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Points of a sweep, each simulated in a process of its own: a process elaborates one kernel. Several run at a time,
// with a progress bar, until all are done or a stop is requested.
#pragma once

#include "platforms/cli/cli.h"
#include "platforms/workload/run_outcome.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft::cli {

/// What a sweep does with point 0 to `count` - 1.
struct point_work {
    std::size_t count = 0;
    std::function<std::string(std::size_t)> name; ///< for the progress bar
    /// On a thread of its own, of which `jobs` run at a time: starts processes (run_isolated). Throws user_error when
    /// the host has none left.
    std::function<void(std::size_t)> run;
    /// One at a time, of a point that has been run: what users are told at once; "" for nothing.
    std::function<std::string(std::size_t)> finished;
};
/// Which points have been run: all, unless a stop was requested.
std::vector<bool> run_points(const point_work& work, unsigned jobs, bool quiet);

/// Whether users see a progress bar; else a command may tell of its points line by line.
bool has_progress_bar(bool quiet);

/// Builds what was read and runs it, in this process. Throws user_error when it cannot be used or fails, bug when an
/// invariant does not hold.
std::pair<std::unique_ptr<machine>, run_outcome> run_here(const loaded_platform& loaded);

/// "[{op: all_reduce, algorithms: [ring_1d, two_d], sizes: [4 KiB, 1 MiB]}]"
std::string workload_text(const std::vector<std::pair<std::string, std::string>>& collectives,
                          const std::vector<std::string>& sizes, const std::string& entry_keys);
/// `source` with other work: one case of one collective.
platform_source with_workload(platform_source source, const std::string& workload);
/// As one word of a shell.
std::string quoted_for_shell(const std::string& text);

/// Why each of `candidates`, pairs of operation and algorithm, cannot run on a machine; "" where it can. `size` and
/// `entry_keys` as for workload_text(). Throws user_error where the machine itself cannot be used, `what` it is.
std::vector<std::string> refusals_of(const std::function<loaded_platform(const std::string& workload)>& read,
                                     const std::vector<std::pair<std::string, std::string>>& candidates,
                                     const std::string& size, const std::string& entry_keys, const std::string& what);

} // namespace weft::cli
