// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The points of a sweep file on its platform: every point is read and checked before one runs, and what is wrong is
// told with the line of the sweep file. Nothing here simulates or writes.
#pragma once

#include "platforms/cli/cli.h"
#include "platforms/sweep/sweep_report.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace weft::cli {

struct planned_point {
    std::string name;       ///< "ici.router_latency=47 cycles, mesh.rows=2": its settings
    std::string folder;     ///< below that of the sweep; follows from `name` alone
    platform_source source; ///< for `weft run`
    std::vector<sweep_cell> cells;
    std::string config_text; ///< resolved, with the source of each value
    nlohmann::json config;   ///< as in results.json
    std::string identity; ///< digest of program, configuration and the files that it names: what results are valid for
    std::uint64_t memory_bytes = 0; ///< of the host, about
    double seconds = 0;             ///< of the host, about
    std::string refusal;            ///< why it cannot run; "": it can
};

struct sweep_plan {
    std::vector<sweep_column> columns;
    std::vector<planned_point> points;
    std::vector<std::string> common; ///< settings of all points: those of the file, then those of the command line
    std::vector<std::string> inputs; ///< files that points read
    std::string messages;            ///< warnings and errors, for stderr
    std::size_t refused = 0;         ///< points
};

/// `overrides` and `seed` of the command line come after `sweep.set` and before the values of a point. Throws
/// user_error where a setting of the command line is swept, or two points write the same file.
sweep_plan plan_sweep(const sweep_file& file, const std::vector<std::string>& overrides,
                      std::optional<std::uint64_t> seed);

} // namespace weft::cli
