// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A folded Clos of two stages: endpoints at leaf switches, every leaf at every spine. Routers: leaves, then spines. Ports of a leaf:
// its endpoints, then the spines; of a spine: the leaves.
#pragma once

#include "hw/routing/fabric_plan.h"
#include "hw/routing/routing_policy.h"

namespace weft {

struct leaf_spine_description {
    std::uint32_t leaves = 0, spines = 0;
    std::uint32_t endpoints_per_leaf = 0;
    std::uint32_t vls = 1;
    fabric_link_params wire{};  ///< between leaf and spine, each direction
    fabric_link_params local{}; ///< between leaf and endpoint
};

fabric_plan leaf_spine_plan(const leaf_spine_description& d);

/// Up to the spine that the destination names, destination modulo spines, then down: one path a pair, and no turn from down to up.
class leaf_spine_routing final : public routing_policy {
public:
    explicit leaf_spine_routing(const leaf_spine_description& d)
        : leaves_(d.leaves), spines_(d.spines), per_leaf_(d.endpoints_per_leaf)
    {
    }
    route_decision route(std::uint32_t router, std::uint32_t, packet& p) const override
    {
        const std::uint32_t leaf = p.destination / per_leaf_;
        if (router >= leaves_)
            return {static_cast<std::uint16_t>(leaf), 0};
        if (router == leaf)
            return {static_cast<std::uint16_t>(p.destination % per_leaf_), 0};
        return {static_cast<std::uint16_t>(per_leaf_ + p.destination % spines_), 0};
    }

private:
    std::uint32_t leaves_, spines_, per_leaf_;
};

} // namespace weft
