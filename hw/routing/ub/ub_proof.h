// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Deadlock freedom of a UB-Mesh machine under a rule of lanes, before time zero. The channel-dependency graph (Dally
// and Seitz, as in hw/routing) of one message class: a node is the buffer of one lane behind one directed link; there
// is an edge for every turn at every router that the rule allows to a packet that can get there, on whatever way: more
// than all paths in use. Requests and responses have lanes of their own, so two such graphs stand side by side. Nothing
// is taken from the word of the rule: a rule that breaks its own argument is found out.
#pragma once

#include "hw/routing/channel_dependency.h"
#include "hw/routing/ub/ub_paths.h"

namespace weft {

/// Verdict deadlock_free or cycle; of `pairs` nothing is said. The cycle is a shortest one among those through the
/// first few thousand channels that lie on or before one.
/// `wired` is ub_fabric_plan(plan, config): what is built.
channel_proof prove_lanes(const ub_plan& plan, const fabric_plan& wired, const ub_lane_rule& rule);

/// Whether tables lead every source to a destination on lanes that the rule admits, by every choice among equal ways.
struct ub_table_check {
    std::uint64_t destinations = 0; ///< of the first and of the last rack, from all sources
    std::uint64_t states = 0;       ///< (link, lane) passed, over all destinations
    std::uint64_t refused = 0;      ///< turns that the rule refuses
    std::uint64_t lost = 0;         ///< routers where tables lead nowhere
    std::string text;
    explicit operator bool() const { return refused == 0 && lost == 0; }
};
ub_table_check check_tables(const ub_topology& topology, const ub_lane_rule& rule);

} // namespace weft
