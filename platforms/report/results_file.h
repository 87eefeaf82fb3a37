// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// results.json of a run, read again: what sweeps collect and comparisons pair. Its keys are told at
// platforms/report/run_report.h.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// A collective, or a training step (op "training_step", group "step 0"), which has no size and no bandwidths.
struct stored_row {
    std::string op, algorithm, group, type, redop;
    std::optional<std::uint64_t> size_bytes;
    std::optional<std::uint64_t> token_bytes, experts_per_token; ///< of dispatch and combine
    std::optional<double> expert_skew;
    double time_us = 0;
    std::optional<double> algbw_GBps, busbw_GBps, bound_us, bound_share;
    std::string bound_by;
    std::string limited_by; ///< "": not known
    std::string chosen_by;  ///< why `auto` has taken the algorithm; "": it was named
    std::optional<std::uint64_t> repeats;                   ///< none: run once
    std::optional<double> least_us, most_us, deviation_us; ///< of repeats, whose mean is time_us
    std::optional<std::uint64_t> wrong; ///< none: without data
    std::string answers; ///< digest of all answers; "": not checked
};

struct stored_stat {
    std::string name;
    double value = 0;
    std::string unit;
};

struct stored_results {
    std::string file; ///< where it was read
    std::string version, digest, failure;
    std::string checksum; ///< as the file has it; "": it has none
    bool changed = false; ///< since the run had written it
    std::optional<stored_row> failed; ///< the collective at which a run that failed stopped; it has no time
    double host_seconds = 0;
    std::vector<stored_row> rows;
    nlohmann::json config; ///< resolved
    std::vector<stored_stat> stats;

    /// Of checkpoints and host traffic; none: there were none, or without data.
    std::optional<std::uint64_t> wrong_bytes;

    std::uint64_t wrong() const;    ///< elements, of all rows
    /// "3 wrong elements, 8 wrong bytes of checkpoints and host traffic"; "": nothing is wrong.
    std::string wrong_text() const;
};

/// 16 hexadecimal digits over all that does not depend on the host, whatever the order of keys and the layout of the
/// file. results.json and activity.json hold their own in the key k_checksum, which does not count.
std::string checksum_of(const nlohmann::json& j);
inline constexpr const char* k_checksum = "checksum";
/// Whether this is not what the run has written: its checksum is missing or another one.
bool is_changed(const nlohmann::json& j);

/// Throws user_error: no such file, no JSON, not of a run.
stored_results read_results(const std::string& file);
/// The same of what is, or would be, in `file`.
stored_results results_of(const nlohmann::json& j, const std::string& file);

} // namespace weft
