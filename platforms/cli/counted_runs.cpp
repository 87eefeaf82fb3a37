// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/cli/counted_runs.h"

#include <fmt/format.h>
#include <utility>

namespace weft::cli {

counted_runs::counted_runs(isolated_run run, clock::duration every, std::function<void(const std::string&)> tell)
    : run_(std::move(run)), every_(every), tell_(std::move(tell)), teller_([this] { tell_until_end(); })
{
}

counted_runs::~counted_runs()
{
    {
        const std::lock_guard<std::mutex> lock(guard_);
        end_ = true;
    }
    ended_.notify_all();
    teller_.join();
}

run_figures counted_runs::run(const isolated_run::simulation& simulation, const std::string& inputs)
{
    struct counts {
        counted_runs& of;
        explicit counts(counted_runs& c) : of(c)
        {
            const std::lock_guard<std::mutex> lock(of.guard_);
            ++of.under_way_;
        }
        ~counts() // after a failure, too
        {
            const std::lock_guard<std::mutex> lock(of.guard_);
            --of.under_way_;
            ++of.finished_;
        }
    } const counted(*this);
    return run_(simulation, inputs);
}

void counted_runs::tell_until_end()
{
    std::unique_lock<std::mutex> lock(guard_);
    while (!ended_.wait_for(lock, every_, [this] { return end_; })) {
        const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(clock::now() - began_).count();
        tell_(fmt::format("{} simulation{} finished, {} under way, {} minute{}", finished_, finished_ == 1 ? "" : "s",
                          under_way_, minutes, minutes == 1 ? "" : "s"));
    }
}

} // namespace weft::cli
