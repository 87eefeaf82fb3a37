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

/// Why this build cannot make them, as a sentence; "" when it can.
std::string aggregator_refusal(aggregator_kind kind, const tofino_config& chip);

} // namespace weft
