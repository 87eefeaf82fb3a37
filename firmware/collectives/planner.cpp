// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which planner makes the schedule of a command.
#include "firmware/collectives/planner.h"

#include "firmware/collectives/planners.h"

namespace weft::firmware {

namespace {

void plan_rooted(ring_map& rings, const abi::command& command, schedule& out)
{
    const abi::platform_table& t = rings.table;
    if (full_mesh(t) && line_trees_pay(t, command))
        plan_line_trees(rings, command, out);
    else if (full_mesh(t))
        (abi::reduces(command.op) ? plan_fan_in : plan_fan_out)(rings, command, out);
    else if (t.dim_count > 2)
        plan_grid_tree(rings, command, out);
    else
        plan_mesh_trees(rings, command, out);
}

} // namespace

abi::status plan(ring_map& rings, block_tree& tree, const abi::command& command, schedule& out)
{
    if (command.op == abi::collective_op::broadcast) {
        plan_rooted(rings, command, out);
        return {};
    }
    switch (command.algo) {
    case abi::algorithm::multi_axis: plan_axes(rings, command, out); return {};
    case abi::algorithm::multi_ring: plan_multi_ring(rings, command, out); return {};
    case abi::algorithm::hierarchical: plan_hierarchical(rings, command, out); return {};
    case abi::algorithm::two_d: plan_two_d(rings, command, out); return {};
    case abi::algorithm::row_pair:
        if (rings.as_mesh.broken())
            plan_row_pair_around_failed_chips(rings, command, out, false);
        else
            plan_row_pair(rings, command, out);
        return {};
    case abi::algorithm::row_pair_forward: plan_row_pair_around_failed_chips(rings, command, out, true); return {};
    case abi::algorithm::mesh_tree: plan_rooted(rings, command, out); return {};
    default: return plan_ring_1d(rings, tree, command, out);
    }
}

} // namespace weft::firmware
