// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One case of a run, to be run again by itself from the configuration that its results hold.
#pragma once

#include "platforms/cli/cli.h"
#include "platforms/report/results_file.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

class explained_case {
public:
    /// The case that `wanted` names, a number as in results.json or OP:ALGORITHM:SIZE; "": the largest of the first
    /// operation. `file`: the results. Throws user_error where the run has failed or has no such case.
    explained_case(const std::string& file, const std::string& wanted);

    /// The machine with this case alone, with data off; `settings` as of --set.
    loaded_platform machine(const std::vector<std::string>& settings = {}) const;
    const stored_row& row() const { return results_.rows[number_]; }
    std::string words() const; ///< "case 3, all_reduce ring_1d of 1 MiB int32"

private:
    std::size_t find(const std::string& wanted) const;
    nlohmann::json entry() const;
    loaded_platform read(std::vector<std::string> settings) const;

    stored_results results_;
    std::size_t number_ = 0;
    std::string workload_; ///< setting
};

/// In a process of its own: runs the case with a recorder and gives what path_text() needs of it, or {problem}.
/// `rank`: whose path; none: of the one that answers last.
nlohmann::ordered_json explained(const explained_case& c, const std::optional<std::uint32_t>& rank);
/// Likewise: the time of the case with `settings`, {time_ps}, or {problem, key} where the configuration is refused.
nlohmann::ordered_json timed(const explained_case& c, const std::vector<std::string>& settings);

} // namespace weft::cli
