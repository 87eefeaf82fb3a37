// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The proof of a UB topology with the wires of the default configuration, on which no turn depends.
#pragma once

#include "hw/routing/ub/ub_proof.h"
#include "hw/ub/ub_fabric_plan.h"

namespace weft::testing {

inline channel_proof prove_lanes_of(const ub_topology& topology, const ub_lane_rule& rule)
{
    return prove_lanes(topology.plan(), ub_fabric_plan(topology.plan(), ub_config{}), rule);
}

} // namespace weft::testing
