// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The folder of a sweep on disk. Each point has one of its own:
//   point.json    its settings, its command, and the identity for which its results are valid
//   config.yaml   its whole configuration, each value with its source
//   results.json  of `weft run`: there when the point has ended
//   log.txt       what the run printed
// A point is finished when results.json is complete, of this identity and of this configuration, whoever ran it.
#pragma once

#include "platforms/cli/sweep_plan.h"
#include "platforms/firmware_bench/program_run.h"
#include "platforms/report/folder_lock.h"
#include "platforms/sweep/sweep_report.h"

#include <string>
#include <vector>

namespace weft::cli {

class sweep_folder {
public:
    /// Makes the folder. One program at a time: throws user_error when another one has it.
    sweep_folder(std::string dir, const sweep_plan& plan);
    sweep_folder(const sweep_folder&) = delete;
    sweep_folder& operator=(const sweep_folder&) = delete;

    const std::string& dir() const { return dir_; }
    std::string dir_of(std::size_t point) const;
    /// As arguments of this program: what users may start again.
    std::vector<std::string> command_of(std::size_t point) const;
    /// The same when the sweep starts it.
    std::vector<std::string> arguments_of(std::size_t point) const;
    /// Before a point is run: its files, and nothing that an earlier run has left in place of its results. Throws
    /// output_lost.
    void prepare(std::size_t point) const;
    /// After it: keeps what it printed, and why it failed, but of a run that was stopped with the sweep. Throws
    /// output_lost when the disk is full.
    void conclude(std::size_t point, const program_result& end) const;
    /// What stands in the folder of a point.
    swept_point read(std::size_t point) const;
    /// Folders of points that the sweep does not have any more.
    std::size_t strangers() const;

private:
    void note(std::size_t point, const std::string& reason) const;

    std::string dir_;
    const sweep_plan& plan_;
    folder_lock lock_;
};

} // namespace weft::cli
