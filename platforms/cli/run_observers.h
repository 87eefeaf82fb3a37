// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Who looks at a run while it runs: the progress bar, a debugger, a recorder of activity, the log, and -v.
#pragma once

#include "platforms/cli/run_log.h"
#include "platforms/debug/gdb_server.h"
#include "platforms/report/progress.h"
#include "platforms/workload/activity_recorder.h"
#include "platforms/workload/collective_runner.h"

#include <ctime>

namespace weft::cli {

/// Those that are nullptr are not there. All outlive it.
struct observers_of_run {
    progress& bar;
    gdb_server* debugger;
    activity_recorder* recorder;
    run_log* log;
    bool verbose; ///< lines on stderr
};

class run_observers final : public run_observer {
public:
    run_observers(machine& m, const observers_of_run& all) : machine_(m), all_(all) {}
    void on_begin(const collective_case& c) override;
    void on_end(std::uint64_t time_ps) override;
    void on_lost() override;
    void on_case(std::size_t index, std::size_t cases, const collective_case& c) override;
    void on_progress(double fraction) override;

private:
    void tell(const std::string& text) const;

    machine& machine_;
    observers_of_run all_;
    std::string name_; ///< of the collective that runs
    std::uint64_t began_ps_ = 0;
    std::clock_t began_ = 0; ///< CPU time
};

} // namespace weft::cli
