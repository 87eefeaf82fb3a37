// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// In place of aggregators.cpp where the Verilog models are left out: in weft_first.
#include "hw/tofino/aggregation_model.h"
#include "platforms/config/whole_program.h"
#include "platforms/switchml/aggregators.h"

namespace weft {

std::shared_ptr<pin_waves> make_pin_waves(const std::string& file)
{
    if (!file.empty())
        throw whole_program_needed("--waves");
    return nullptr;
}

aggregation_factory aggregators(const switchml_switch_config& config, std::uint32_t, const std::shared_ptr<pin_waves>&)
{
    return [depth = config.chip.register_depth](std::uint32_t) -> std::unique_ptr<aggregation_unit> {
        return std::make_unique<aggregation_model>(depth);
    };
}

std::string aggregator_refusal(aggregator_kind kind, const tofino_config&)
{
    if (kind != aggregator_kind::model)
        throw whole_program_needed("the Verilog of the aggregator");
    return {};
}

} // namespace weft
