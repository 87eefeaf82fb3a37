// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run has come to: the results of its collectives and training steps, or why it stopped; and the digest over all
// of it. Plain data.
#pragma once

#include "hw/abi/platform_table.h"
#include "platforms/workload/host_traffic.h"
#include "platforms/workload/training_step.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The job was interrupted and went on from its last checkpoint: the beginning of the collective or training step under
/// way.
struct job_restart {
    std::uint64_t at_ps = 0;      ///< when it was interrupted; may lie in the restart before
    std::uint64_t resumed_ps = 0; ///< when it went on
    std::uint64_t lost_ps = 0;    ///< work since the checkpoint, done again
    std::string text;             ///< a sentence
};

struct run_outcome {
    std::vector<case_result> cases;                   ///< completed ones, of `workload`
    std::vector<training_step_result> training_steps; ///< completed ones
    std::string failure;                              ///< why the run stopped early; "" when it did not
    int stop_signal = 0;                              ///< that asked for it; 0: none did
    std::optional<collective_case> failed_case;       ///< the collective that did not complete
    std::uint64_t failed_start_ps = 0;                ///< when it began
    std::vector<std::string> warnings;                ///< what was asked for and did not happen
    std::vector<job_restart> restarts;
    std::vector<checkpoint_result> checkpoints;       ///< and loads, in the order of their ends
    std::vector<host_stream_result> host_streams;
    std::uint64_t step_alone_ps = 0;                  ///< a training step without hosts beside it; 0: none was run
    /// Longest time that writing the microcode of a case took, before its own time.
    std::uint64_t microcode_ps = 0;
    std::uint32_t last_command = 0; ///< its number: of cases, and of what only prepares them
    std::uint64_t digest = 0;
    std::uint64_t simulated_time_ps = 0;
    double host_seconds = 0;
    double cpu_seconds = 0; ///< simulation only, without making and checking data
};

/// One more run of a case that is repeated: time_ps becomes the mean of all, rounded to the nearest ps.
void add_repeat(case_result& all, const case_result& r);

/// Over results, times, restarts and what hosts did; `answers` of all ranks, the last they gave, count when a
/// collective has failed.
std::uint64_t digest_of(const run_outcome& outcome, const std::vector<abi::response>& answers);

} // namespace weft
