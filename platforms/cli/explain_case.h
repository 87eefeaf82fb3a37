// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One case of a run, to be run again by itself from the configuration that its results hold.
#pragma once

#include "platforms/cli/cli.h"
#include "platforms/explain/step_recorder.h"
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
    /// operation. `file`: the results, also of a run that did not end: what had ended can be explained. Throws
    /// user_error where there is no such case, or it had not ended.
    explained_case(const std::string& file, const std::string& wanted);

    /// The machine with this case alone, with data off; `settings` as of --set.
    loaded_platform machine(const std::vector<std::string>& settings = {}) const;
    /// Whether results.json is what the run has written.
    bool is_edited() const { return results_.changed; }
    /// What the changed machine does other than this case: "8 ranks in place of 16"; "": nothing, and times compare.
    std::string other_work(const loaded_platform& changed) const;
    /// What of the run may have given the case another time than it has alone: "for a case that was repeated".
    std::string why_time_differs() const;
    const stored_row& row() const { return results_.rows[number_]; }
    std::string words() const; ///< "case 3, all_reduce ring_1d of 1 MiB int32"
    /// Collectives of a run that did not end, in the order of `workload`.
    const std::vector<std::string>& unfinished() const { return unfinished_; }
    /// Why it did not, and which are missing: a sentence and a list; "": it did.
    std::string failure_text() const;

private:
    void find_unfinished();
    std::size_t find(const std::string& wanted) const;
    nlohmann::json entry() const;
    loaded_platform read(std::vector<std::string> settings) const;

    stored_results results_;
    std::vector<std::string> unfinished_;
    std::size_t number_ = 0;
    std::string workload_; ///< setting
};

/// In a process of its own: runs the case with a recorder and gives what path_text() needs of it, or {problem}.
/// `rank`: whose path; none: of the one that answers last. `steps_in_memory`: others go to a file.
nlohmann::ordered_json explained(const explained_case& c, const std::optional<std::uint32_t>& rank,
                                 std::size_t steps_in_memory = step_recorder::k_in_memory);
/// Likewise: the time of the case with `settings`, {time_ps}, or {problem, key} where the configuration is refused.
nlohmann::ordered_json timed(const explained_case& c, const std::vector<std::string>& settings);

} // namespace weft::cli
