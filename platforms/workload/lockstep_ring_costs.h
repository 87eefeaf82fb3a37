// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How long rings in lock-step take on the ladders of an IPU-POD, and over its gateways.
#pragma once

#include "platforms/workload/cost_model.h"

namespace weft {

/// us; nothing for replicas of more than two IPUs, whose links other groups share.
std::optional<double> lockstep_rings_us(const abi::platform_table& table, const message_costs& costs, const collective_case& c);

} // namespace weft
