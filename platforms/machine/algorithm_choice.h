// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// `algorithms: [auto]` and `training_step.algorithm: auto`: what is taken, when the machine of a file is known.
#pragma once

#include "platforms/workload/machine.h"
#include "platforms/workload/run_config.h"

#include <vector>

namespace weft {

/// Whether anything in `run` is left to the host to choose.
bool uses_auto(const run_config& run);

/// Fills the choices of all entries of `run` that are sound; returns those for which nothing on `machine` runs the collective.
std::vector<config_problem> choose_algorithms(run_config& run, const platform& machine);

} // namespace weft
