// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What Sapio et al., "Scaling Distributed Machine Learning with In-Network Aggregation", NSDI 2021, publish, compared
// with the simulation. Inputs are the platform files of the folder and its dnn/, whose comments give the sources. One
// thing is calibrated and named: when gradients are ready.
#pragma once

#include "platforms/report/validation_report.h"

namespace weft {

/// Throws user_error when a platform file cannot be used.
validation_report validate_switchml(const validation_settings& how);

} // namespace weft
