// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The planner of each algorithm, for plan() in planner.h. Each fills the empty schedule of this rank.
#pragma once

#include "firmware/collectives/ring_map.h"
#include "firmware/collectives/schedule.h"

namespace weft::firmware {

// plan_rings.cpp
void plan_two_d(ring_map& rings, const abi::command& command, schedule& out);
void plan_row_pair(ring_map& rings, const abi::command& command, schedule& out); ///< of a whole mesh
void plan_hierarchical(ring_map& rings, const abi::command& command, schedule& out);
/// `tree` is of the machine, and is built when first needed. `unsupported` where failed regions split the mesh.
abi::status plan_ring_1d(ring_map& rings, block_tree& tree, const abi::command& command, schedule& out);

// plan_failed_chips.cpp; `forwards_columns`: row_pair_forward
void plan_row_pair_around_failed_chips(ring_map& rings, const abi::command& command, schedule& out, bool forwards_columns);

// Broadcasts, and reduces by mesh_tree.
void plan_mesh_trees(ring_map& rings, const abi::command& command, schedule& out); ///< on rows and columns
void plan_grid_tree(ring_map& rings, const abi::command& command, schedule& out);  ///< on more dimensions
void plan_line_trees(ring_map& rings, const abi::command& command, schedule& out); ///< of long data on full meshes
/// Whether trees that share the data are faster on a full mesh than whole lines in turn.
bool line_trees_pay(const abi::platform_table& table, const abi::command& command);
void plan_fan_out(ring_map& rings, const abi::command& command, schedule& out); ///< whole lines in turn: a broadcast
void plan_fan_in(ring_map& rings, const abi::command& command, schedule& out);  ///< and a reduce

// plan_axes.cpp: multi_axis
void plan_axes(ring_map& rings, const abi::command& command, schedule& out);

void plan_multi_ring(ring_map& rings, const abi::command& command, schedule& out);

} // namespace weft::firmware
