// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What Sapio et al., "Scaling Distributed Machine Learning with In-Network Aggregation", NSDI 2021, publish, compared with the
// simulation. Inputs are the platform files of the folder and its dnn/, whose comments give the sources. One thing is
// calibrated and named: when gradients are ready.
#pragma once

#include "platforms/report/isolated_run.h"
#include "platforms/report/validation_report.h"

#include <functional>
#include <string>

namespace weft {

struct switchml_validation {
    std::string config_dir;    ///< holds the platform files
    bool sensitivities = true; ///< also the runs that nothing is judged by
    isolated_run isolated;
    std::function<void(const validation_row&)> on_row; ///< told as soon as a row is known
};

/// Throws user_error when a platform file cannot be used.
validation_report validate_switchml(const switchml_validation& how);

} // namespace weft
