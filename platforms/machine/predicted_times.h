// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What predictions (cost_model.h) tell of a configuration before it runs.
#pragma once

#include "platforms/config/yaml_document.h"
#include "platforms/workload/machine.h"

#include <vector>

namespace weft {

/// Warns where a rank is predicted to wait longer than firmware_timeout; by the bound (bounds.h) of collectives that
/// have no prediction. At this key, where the file has it, else at the size that takes so long.
void check_predicted_times(const platform& machine, const yaml_document& document, std::vector<problem>& problems);

} // namespace weft
