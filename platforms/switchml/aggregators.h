// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The registers of a switch's pipes, as `switch.aggregator` says.
#pragma once

#include "hw/tofino/tofino_switch.h"
#include "platforms/switchml/switchml.h"

namespace weft {

/// For switch `number` of the platform.
aggregation_factory aggregators(const switchml_switch_config& config, std::uint32_t number);
/// Where the waves of a pipe of switch `number` go; "" when there are none.
std::string waves_file(const switchml_switch_config& config, std::uint32_t number, std::uint32_t pipe);

/// Why this build cannot make them, as a sentence; "" when it can.
std::string aggregator_refusal(aggregator_kind kind, const tofino_config& chip);

} // namespace weft
