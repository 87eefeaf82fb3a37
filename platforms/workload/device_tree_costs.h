// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How long a broadcast or a reduce along trees of devices takes (firmware/collectives/device_trees.cpp).
#pragma once

#include "platforms/workload/cost_model.h"

namespace weft {

double device_tree_us(const abi::platform_table& table, const message_costs& costs, const collective_case& c);

} // namespace weft
