// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the UB-Mesh paper (arXiv 2503.20377) publishes, compared with topologies that are built, bills that are counted,
// and training steps composed of simulated collectives (validation_model.h). Inputs are the price file and
// ub_step_model; what is fitted is named: two prices, the exposed share of a step, two constants of a curve.
#pragma once

#include "platforms/report/validation_report.h"

namespace weft {

/// Throws user_error when the price file cannot be used.
validation_report validate_ub_mesh(const validation_settings& how);

} // namespace weft
