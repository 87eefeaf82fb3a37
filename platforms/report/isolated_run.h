// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Simulations of a validation, each in a process of its own: a kernel can be elaborated once only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace weft {

/// Named figures of one simulation.
using run_figures = std::map<std::string, double>;
/// Runs a simulation in a process of its own.
using isolated_run = std::function<run_figures(const std::function<run_figures()>&)>;

inline std::optional<double> figure(const run_figures& figures, const std::string& name)
{
    const auto found = figures.find(name);
    return found == figures.end() ? std::nullopt : std::optional<double>(found->second);
}

} // namespace weft
