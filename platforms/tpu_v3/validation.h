// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What Kumar and Jouppi publish about TPU-v3 meshes, compared with the simulation. Inputs are the platform files
// resnet50_512, resnet50_1024, bert_512 and bert_1024, whose comments give the sources. Nothing of the simulation is
// fitted here; the null models are, to what they are judged by.
#pragma once

#include "platforms/report/validation_report.h"

namespace weft {

/// Throws user_error when a platform file cannot be used.
validation_report validate_tpu_v3(const validation_settings& how);

} // namespace weft
