// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What Kumar and Jouppi publish about TPU-v3 meshes, compared with the simulation. Inputs are the platform files
// resnet50_512, resnet50_1024, bert_512 and bert_1024, whose comments give the sources. Nothing of the simulation is fitted here; the null
// models are, to what they are judged by.
#pragma once

#include "platforms/report/isolated_run.h"
#include "platforms/report/validation_report.h"

#include <functional>
#include <string>

namespace weft {

struct tpu_v3_validation {
    std::string config_dir;    ///< holds the platform files
    bool sensitivities = true; ///< also the runs that nothing is judged by
    isolated_run isolated;
    std::function<void(const validation_row&)> on_row; ///< told as soon as a row is known
};

/// Throws user_error when a platform file cannot be used.
validation_report validate_tpu_v3(const tpu_v3_validation& how);

} // namespace weft
