// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the schedule of a command for one rank, by the planner of its algorithm (planners.h).
#pragma once

#include "firmware/collectives/ring_map.h"
#include "firmware/collectives/schedule.h"

namespace weft::firmware {

/// Fills the empty schedule `out`. The command has been checked and has elements. `tree` is of the machine, and is
/// built when first needed. `unsupported` where failed regions split the mesh.
abi::status plan(ring_map& rings, block_tree& tree, const abi::command& command, schedule& out);

} // namespace weft::firmware
