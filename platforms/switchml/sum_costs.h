// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a sum in the switches costs a worker of this file, for the prediction of algorithm switchml.
#pragma once

#include "platforms/switchml/switchml.h"
#include "platforms/workload/cost_model.h"

namespace weft {

/// Nothing where a timeout can come into it, because frames are lost, damaged or late, and where jobs share the switch:
/// each sums among its own workers then, other algorithms among all.
std::optional<switch_sum_costs> sum_costs_of(const switchml_config& config);

} // namespace weft
