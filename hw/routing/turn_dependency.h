// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Deadlock freedom of all that a rule of turns allows, whatever paths are in use. The channel-dependency graph as in
// channel_dependency.h, but for every turn at every router that the rule allows to a packet that can get there, on
// whatever way. Nothing is taken from the word of the rule: a rule that breaks its own argument is found out.
#pragma once

#include "hw/routing/channel_dependency.h"

#include <functional>

namespace weft {

struct turn_question {
    static constexpr std::uint32_t k_refused = 0xffff'ffff;
    std::uint32_t vls = 1; ///< of a link, of those that the rule knows: 0 to vls - 1
    /// VL behind `out_link` of a packet that stands in VL `vl` of `in_link`; k_refused. From an endpoint: in_link is
    /// fabric_plan::k_none, vl 0. Not asked for a turn back to where the packet came from.
    std::function<std::uint32_t(std::uint32_t in_link, std::uint32_t vl, std::uint32_t out_link)> next;
    /// How people know a link: "chip(0,0).+X".
    std::function<std::string(std::uint32_t link)> link_name;
    std::string channels{"channels"}; ///< what they are called
    std::string vl{"VL"};
};

/// Verdict deadlock_free or cycle; of `pairs` nothing is said. The cycle is a shortest one among those through the
/// first few thousand channels that lie on or before one. `plan` has links that work and endpoints.
channel_proof prove_turns(const fabric_plan& plan, const turn_question& question);

} // namespace weft
