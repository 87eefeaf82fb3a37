// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How long a collective takes by collective communication units (hw/ccu).
#pragma once

#include "platforms/workload/cost_model.h"

namespace weft {

/// us; nothing where the units have no room for its program.
std::optional<double> by_units_us(const abi::platform_table& table, const message_costs& costs, const collective_case& c);

} // namespace weft
