// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Points of a sweep, or of a tuning, as one Slurm job array. Every node runs commands of this program in the same
// folders, which all must share.
#pragma once

#include "platforms/firmware_bench/program_run.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace weft::cli {

struct slurm_options {
    std::string sbatch;     ///< further options of sbatch, as words of a shell
    unsigned at_a_time = 0; ///< tasks; 0: as many as Slurm starts
    unsigned timeout_s = 0; ///< of a point; 0: any
};

/// What the tasks do.
struct slurm_work {
    std::string dir; ///< scripts and logs go into <dir>/slurm
    /// Arguments of this program.
    std::function<std::vector<std::string>(std::size_t point)> command_of;
    std::function<void(std::size_t point)> prepare; ///< before anything is submitted; may be empty
};

/// --engine, --sbatch and --memory, of everything that runs points.
void add_engine_options(CLI::App& command, std::string& engine, std::string& sbatch, std::string& memory);
/// Throws user_error for options that do not go together.
void check_engine(const std::string& engine, const std::string& sbatch, const std::string& memory);
/// Throws user_error where this host has no sbatch.
void require_slurm();

/// Submits `points`, waits until the array has ended, and calls `ended` once for each point that has, in any order. At
/// a stop request the array is cancelled. Throws user_error when Slurm refuses or loses the array.
void run_slurm_array(const slurm_work& work, const std::vector<std::size_t>& points, const slurm_options& options,
                     const std::function<void(std::size_t point, const program_result& end)>& ended);

} // namespace weft::cli
