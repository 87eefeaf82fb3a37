// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How long an all_reduce takes in switches that sum packet by packet (SwitchML), while nothing is lost.
#pragma once

#include "platforms/workload/cost_model.h"

namespace weft {

/// us; nothing where no switch sums such elements.
std::optional<double> by_switch_us(const abi::platform_table& table, const message_costs& costs, const collective_case& c);

} // namespace weft
