// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Non-minimal routing around failed chips and links of a 2-D mesh (Kumar and Jouppi, Fig. 2), as tables for the ICI
// routers. Pairs whose dimension-order path works keep it; all others take a shortest way that the rule allows. Wrap
// links are not used: their datelines would need the VLs that detours need.
#pragma once

#include "hw/routing/channel_dependency.h"
#include "hw/routing/detour_table.h"
#include "hw/routing/mesh.h"

#include <optional>
#include <string>
#include <utility>

namespace weft {

/// What a packet may do. VL 0 is dimension order, X then Y. A packet that has to turn from Y back to X goes on on VL 1,
/// where two_sets lets it take the ports of `first` in any order and then, for good, the others; tree lets it go up and
/// then down a spanning order, which reaches all that is connected by links that work in both directions, and more
/// where links that work in one direction only allow an order. With one VL only there is the tree alone, and pairs that
/// no fault touches leave their dimension-order path.
struct detour_rule {
    enum kind_of { two_sets, tree, tree_only } kind = two_sets;
    std::uint8_t first = 1u << k_plus_x | 1u << k_minus_x; ///< 1 to 3 ports; this one: once more X then Y
    std::string text() const;                              ///< one line for `weft check`
};

struct detour_plan {
    detour_table table;
    detour_rule rule;
    bool complete = false;   ///< every pair has a route
    std::string unreachable; ///< "chip(0,0) cannot reach chip(1,1)" by the rule, when not
    std::uint64_t links = 0; ///< of all routes together
};

/// Tables for the mesh with `vls` VLs. Of the rules that serve all pairs, the one with the fewest links in all; the
/// first of equals, in the order X then Y, other sets of ports, tree.
detour_plan plan_detours(const mesh& m, std::uint32_t vls);
/// By this rule and no other.
detour_plan plan_detours_by(const mesh& m, const detour_rule& rule);

/// Two routers, from and to, between which there is no path at all over links that work, wrap links left out; none when
/// every router reaches every other.
std::optional<std::pair<std::uint32_t, std::uint32_t>> cut_off_pair(const mesh& m);
/// The same as "chip(0,0) cannot reach chip(1,1)", or "".
std::string pair_without_path(const mesh& m);

} // namespace weft
