// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How long a dispatch or combine takes (firmware/collectives/dispatch.cpp, combine.cpp): by the messages that a sample
// of the tokens makes, and the links that they load.
#pragma once

#include "platforms/workload/cost_model.h"

namespace weft {

double tokens_us(const abi::platform_table& table, const message_costs& costs, const collective_case& c);

} // namespace weft
