// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/switchml/aggregators.h"

#include "hw/tofino/aggregation_model.h"
#include "tlm/check.h"
#ifdef WEFT_HAS_RTL
#include "rtl/shell/pin_waves.h"
#include "rtl/shell/rtl_aggregation.h"
#endif

namespace weft {

std::shared_ptr<pin_waves> make_pin_waves(const std::string& file)
{
#ifdef WEFT_HAS_RTL
    return file.empty() ? nullptr : std::make_shared<pin_waves>(file);
#else
    if (!file.empty())
        throw user_error(
            "--waves: this build has no writer of waves: it needs Verilator when weft is built (./weft build installs it).");
    return nullptr;
#endif
}

aggregation_factory aggregators(const switchml_switch_config& config, std::uint32_t number,
                                const std::shared_ptr<pin_waves>& pins)
{
    const aggregator_kind kind = config.aggregator;
    const std::uint32_t depth = config.chip.register_depth;
    return [kind, depth, config, number, pins](std::uint32_t pipe) -> std::unique_ptr<aggregation_unit> {
        static_cast<void>(pipe);
#ifdef WEFT_HAS_RTL
        rtl_aggregation_options options;
        options.waves = waves_file(config, number, pipe);
        if (pins)
            options.pins = {pins, pins->add_pipe("switch_" + std::to_string(number) + "_pipe_" + std::to_string(pipe))};
        if (kind == aggregator_kind::rtl)
            return std::make_unique<rtl_aggregation>(depth, options);
        if (kind == aggregator_kind::lockstep)
            return std::make_unique<lockstep_aggregation>(depth, options);
        if (pins)
            return std::make_unique<drawn_aggregation>(depth, options.pins);
#endif
        if (kind != aggregator_kind::model)
            throw bug("aggregators", 0, aggregator_refusal(kind, {}));
        return std::make_unique<aggregation_model>(depth);
    };
}

std::string aggregator_refusal(aggregator_kind kind, const tofino_config& chip)
{
    if (kind == aggregator_kind::model)
        return {};
#ifdef WEFT_HAS_RTL
    if (chip.register_depth != k_default_register_depth)
        return "the Verilog is built with registers of " + std::to_string(k_default_register_depth) +
               " entries; leave register_depth out or use aggregator: model";
    return {};
#else
    static_cast<void>(chip);
    return "this build has no RTL models: they need Verilator when weft is built (./weft build installs it)";
#endif
}

} // namespace weft
