// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/switchml/aggregators.h"

#include "hw/tofino/aggregation_model.h"

namespace weft {

aggregation_factory aggregators(aggregator_kind kind, const tofino_config& chip)
{
    const std::uint32_t depth = chip.register_depth;
    (void)kind;
    return [depth](std::uint32_t) { return std::make_unique<aggregation_model>(depth); };
}

std::string aggregator_refusal(aggregator_kind kind)
{
    return kind == aggregator_kind::model ? ""
                                          : "this build has no RTL models; they need Verilator and WEFT_RTL=ON (./weft "
                                            "build installs and sets both)";
}

} // namespace weft
