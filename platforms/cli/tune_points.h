// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The points of `weft tune`: one collective of one size by one algorithm, on the machine of a file. What has a time is
// kept in a file of its own, so that a later call for the same point, by the same program, need not simulate it again.
#pragma once

#include "platforms/cli/cli.h"
#include "platforms/report/tuning_report.h"
#include "platforms/workload/run_config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

/// The platform file as it was when the command began: points are simulated minutes later.
struct tuned_source {
    std::string text;
    std::string name; ///< in messages
    platform_source source;

    /// `workload` in the place of that of the file.
    loaded_platform read(const std::string& workload) const;
};
/// Training steps and a table of an earlier call have no part in what is measured. Data are left out, unless `source`
/// sets `data`.
tuned_source read_source(platform_source source);

struct tune_point {
    std::size_t section = 0; ///< of the report, and the places in it
    std::size_t row = 0;
    std::size_t algorithm = 0;
    std::string name;     ///< "all_reduce by ring_1d, 64 KiB"
    std::string workload; ///< "[{op: all_reduce, ...}]"
    std::string file;     ///< name of the file that keeps its time, without folders
};

/// Simulates the point in a process of its own, which ends after `seconds` of host time, 0: never.
tuning_time simulate(const tuned_source& source, const tune_point& point, unsigned seconds);

/// Times by point, in files of a folder. What a file says counts only for the same digest of program, machine and
/// point.
class kept_points {
public:
    /// `run_digest`: of everything that a time depends on beside program and point (digest_of_run()).
    kept_points(std::string folder, const std::string& run_digest);
    /// Completes tune_point::file.
    std::string file_of(const tune_point& point, const std::string& stem) const;
    std::optional<std::uint64_t> time_ps(const tune_point& point) const;
    void keep(const tune_point& point, std::uint64_t time_ps) const;

private:
    std::string key_of(const tune_point& point) const;
    std::string folder_;
    std::string of_run_;
};

} // namespace weft::cli
