// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft tune` has to say: for each kind of case a table of times by size and algorithm, where the fastest one
// changes, and what went wrong. Plain data, filled by whoever ran; nothing here knows about platforms or SystemC.
#pragma once

#include "platforms/report/run_report.h"
#include "platforms/report/tuning_plot.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// One algorithm at one size. Without a time, why: "refused", "failed" or "not run"; and the whole reason, "" for a
/// point that was not run.
struct tuning_time {
    std::optional<std::uint64_t> ps;
    std::string missing;
    std::string reason;
};

struct tuning_row {
    std::uint64_t size_bytes = 0;
    std::uint64_t count = 0;
    std::vector<tuning_time> times;     ///< by algorithm
    std::optional<std::size_t> fastest; ///< algorithm
    std::optional<std::size_t> next;    ///< the second fastest
    std::string predicted;              ///< what `auto` takes without a table; "" where nothing is predicted
};

struct tuning_range {
    std::uint64_t from_bytes = 0;
    std::uint64_t to_bytes = 0;
    std::size_t algorithm = 0;
};

struct tuning_crossover {
    double bytes = 0;
    double us = 0;
    std::size_t below = 0; ///< algorithm
    std::size_t above = 0;
};

/// Cases that differ in size and algorithm alone.
struct tuning_section {
    std::string op, type, redop;
    std::string how; ///< what else belongs to the cases: "groups: rows", "transposed"; "" for nothing
    std::vector<std::string> algorithms;
    std::vector<tuning_row> rows;
    std::vector<tuning_range> ranges;
    std::vector<tuning_crossover> crossovers;
    std::string plot_file; ///< "" when none is written
};

struct tuning_report {
    std::string version;
    std::string title; ///< "tpu_v3_mesh_4x4: 16 ranks"
    std::vector<std::string> warnings;
    std::vector<tuning_section> sections;
    std::size_t points = 0;   ///< all that were asked for
    std::size_t finished = 0; ///< that have a time
    std::size_t refused = 0;  ///< that the machine cannot run at a size which other algorithms do run
    std::size_t kept = 0;     ///< of those, from an earlier call
    std::string table_file;   ///< "" when none is written
    std::string machine_digest;
};

/// "int32, sum, groups rows"
std::string kind_of(const tuning_section& section);
/// "multi_axis below 68.4 KiB, two_d above": of the sizes that were measured.
std::string ranges_text(const tuning_section& section);

void print_tuning(std::ostream& out, const tuning_report& report, const table_style& style = {});

/// {version, machine, tables: [{op, type, redop, how, rows: [{size_bytes, count, time_us: {algorithm: us}, missing:
/// {algorithm: reason}, fastest, next, next_factor, predicted, predicted_factor}], ranges: [{from_bytes, to_bytes,
/// algorithm}], crossovers: [{bytes, us, below, above}], plot}], points, finished, kept, table}.
nlohmann::ordered_json to_json(const tuning_report& report);

tuning_plot plot_of(const tuning_section& section, const std::string& title);

} // namespace weft
