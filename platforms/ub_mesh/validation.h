// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the UB-Mesh paper (arXiv 2503.20377) publishes, compared with topologies that are built, bills that are counted, and training
// steps composed of simulated collectives (validation_model.h). Inputs are the price file and the table of validation_model.cpp; two of
// them are fitted, on one bar of Fig. 17a, and named.
#pragma once

#include "platforms/report/isolated_run.h"
#include "platforms/report/validation_report.h"

#include <functional>
#include <string>

namespace weft {

struct ub_mesh_validation {
    std::string config_dir;    ///< holds prices.yaml
    bool sensitivities = true; ///< also the runs that nothing is judged by
    isolated_run isolated;
    std::function<void(const validation_row&)> on_row; ///< told as soon as a row is known
};

/// Throws user_error when the price file cannot be used.
validation_report validate_ub_mesh(const ub_mesh_validation& how);

} // namespace weft
