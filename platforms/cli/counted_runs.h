// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Says from time to time how many simulations are finished, where the rows that need them take long.
#pragma once

#include "platforms/report/isolated_run.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace weft::cli {

class counted_runs {
public:
    using clock = std::chrono::steady_clock;

    /// `tell` gets "3 simulations finished, 2 under way, 4 minutes" after each `every`, from a thread of its own, until
    /// this object ends. `run` runs a simulation; it may be called from several threads at once.
    counted_runs(isolated_run run, clock::duration every, std::function<void(const std::string&)> tell);
    ~counted_runs();
    counted_runs(const counted_runs&) = delete;
    counted_runs& operator=(const counted_runs&) = delete;

    run_figures run(const isolated_run::simulation& simulation, const std::string& inputs = {});

private:
    void tell_until_end();

    const isolated_run run_;
    const clock::duration every_;
    const std::function<void(const std::string&)> tell_;
    const clock::time_point began_ = clock::now();
    std::mutex guard_;
    std::condition_variable ended_;
    bool end_ = false;
    std::uint32_t finished_ = 0, under_way_ = 0;
    std::thread teller_; ///< last: it uses all others
};

} // namespace weft::cli
