// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `algorithms: [auto]` and `training_step.algorithm: auto`: what is taken, when the machine of a file is known.
#pragma once

#include "platforms/machine/workload_checks.h"
#include "platforms/workload/machine.h"
#include "platforms/workload/run_config.h"
#include "platforms/workload/tuning_table.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// What `auto` takes on `machine` without a table; nothing where there is no range of the maker and no prediction.
std::optional<abi::algorithm> choice_without_table(const platform& machine, const collective_case& c);

/// Names of algorithms that no machine with these traits (abi::traits, of a class of machines) can run.
std::vector<std::string> algorithms_for_others(std::uint32_t traits);

/// Fills the choices of all entries of `run` that are sound; returns those for which nothing on `machine` runs the
/// collective. `tuned` is the table that `run.tuning` names, or nullptr; where it has a case, it decides.
/// `limits`: of the machine, which say why no algorithm runs.
std::vector<config_problem> choose_algorithms(run_config& run, const platform& machine, const tuning_table* tuned,
                                              const workload_limits& limits);

} // namespace weft
