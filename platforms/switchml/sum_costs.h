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
/// What all slots of a worker take on its cable, or in the loop-back ports of the switch; 0: no formula covers it.
double pool_on_cable_us(const switchml_config& config);
/// Slots wait for each other on the cable for longer than the timeout: packets are sent again that nobody has lost.
bool resends_for_nothing(const switchml_config& config);

} // namespace weft
