// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Figures of simulations that have ended, in a file: a command that was interrupted goes on with them.
#pragma once

#include "platforms/report/isolated_run.h"

#include <cstddef>
#include <mutex>
#include <string>

namespace weft::cli {

class kept_runs {
public:
    /// Takes what `file` has of the same program (program_identity()); a file of another one is replaced by the first
    /// run that is kept. `run` simulates what the file does not have. "weft: ..." lines go to standard error.
    kept_runs(isolated_run run, std::string file);

    /// Figures of `simulation`: from the file, or simulated and then kept. Always simulated without `inputs`. May be
    /// called from several threads at once.
    run_figures operator()(const isolated_run::simulation& simulation, const std::string& inputs);

    std::size_t kept() const; ///< simulations in the file
    void remove_file();       ///< when the result is whole

private:
    void keep(const std::string& key, const run_figures& figures);

    const isolated_run run_;
    const std::string file_;
    mutable std::mutex guard_;
    std::map<std::string, run_figures> runs_; ///< by digest of their inputs
    bool can_write_ = true;
};

} // namespace weft::cli
