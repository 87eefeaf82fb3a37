// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The registers of a switch's pipes, as `switch.aggregator` says: aggregators.cpp, and models_only.cpp in weft_first.
#pragma once

#include "hw/tofino/tofino_switch.h"
#include "platforms/switchml/switchml.h"

namespace weft {

class pin_waves;

/// For switch `number` of the platform. Its pipes are drawn in `pins`, unless that is empty.
aggregation_factory aggregators(const switchml_switch_config& config, std::uint32_t number,
                                const std::shared_ptr<pin_waves>& pins);
/// A file of waves for all pipes of a machine; empty where `file` is "". Throws user_error where it cannot be written.
std::shared_ptr<pin_waves> make_pin_waves(const std::string& file);
/// Where the waves of a pipe of switch `number` go; "" when there are none.
inline std::string waves_file(const switchml_switch_config& config, std::uint32_t number, std::uint32_t pipe)
{
    return config.waves.empty() ? ""
                                : config.waves + "_" + std::to_string(number) + "_" + std::to_string(pipe) + ".fst";
}

/// Why this build cannot make them, as a sentence; "" when it can.
std::string aggregator_refusal(aggregator_kind kind, const tofino_config& chip);

} // namespace weft
