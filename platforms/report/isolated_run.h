// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Simulations of a validation, each in a process of its own: a kernel can be elaborated once only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/// Named figures of one simulation.
using run_figures = std::map<std::string, double>;
/// Runs a simulation in a process of its own.
class isolated_run {
public:
    using simulation = std::function<run_figures()>;
    using runner = std::function<run_figures(const simulation& run, const std::string& inputs)>;

    isolated_run() = default;
    isolated_run(runner by) : by_(std::move(by)) {}
    /// `inputs` is all that the figures depend on beside the program: with them an earlier call's may be taken.
    /// "": simulated in any case.
    run_figures operator()(const simulation& run, const std::string& inputs = {}) const { return by_(run, inputs); }

private:
    runner by_;
};

/// Calls each of `jobs`, as many at once as the host has cores. Rethrows what one has thrown; then no other begins.
void run_at_once(const std::vector<std::function<void()>>& jobs);

inline std::optional<double> figure(const run_figures& figures, const std::string& name)
{
    const auto found = figures.find(name);
    return found == figures.end() ? std::nullopt : std::optional<double>(found->second);
}

} // namespace weft
