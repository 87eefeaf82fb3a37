// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A folded Clos of two stages: machines at leaf switches, every leaf at every spine. Routers: the NICs of the machines
// (port 0 to the leaf, port 1 to the machine), then leaves, then spines. Ports of a leaf: its NICs, then the spines; of
// a spine: the leaves.
#pragma once

#include "hw/routing/fabric_plan.h"
#include "hw/routing/routing_policy.h"

namespace weft {

struct leaf_spine_description {
    std::uint32_t leaves = 0, spines = 0;
    std::uint32_t machines_per_leaf = 0;
    std::uint32_t vls = 1;
    fabric_link_params uplink{}; ///< between leaf and spine, each direction
    fabric_link_params cable{};  ///< between NIC and leaf
    fabric_link_params local{};  ///< between NIC and machine
    duration nic_pipeline{}, switch_pipeline{};

    std::uint32_t machines() const { return leaves * machines_per_leaf; }
};

fabric_plan leaf_spine_plan(const leaf_spine_description& d);

/// Up to the spine that the destination names, destination modulo spines, then down: one path a pair, and no turn from
/// down to up. What a machine sends to itself its leaf sends back.
class leaf_spine_routing final : public routing_policy {
public:
    static constexpr std::uint32_t k_to_leaf = 0;
    static constexpr std::uint32_t k_to_machine = 1;
    explicit leaf_spine_routing(const leaf_spine_description& d)
        : machines_(d.machines()), leaves_(d.leaves), spines_(d.spines), per_leaf_(d.machines_per_leaf)
    {
    }
    route_decision route(std::uint32_t router, std::uint32_t in_port, packet& p) const override
    {
        if (router < machines_)
            return {static_cast<std::uint16_t>(in_port == k_to_leaf ? k_to_machine : k_to_leaf), 0};
        const std::uint32_t leaf = p.destination / per_leaf_;
        if (router - machines_ >= leaves_)
            return {static_cast<std::uint16_t>(leaf), 0};
        if (router - machines_ == leaf)
            return {static_cast<std::uint16_t>(p.destination % per_leaf_), 0};
        return {static_cast<std::uint16_t>(per_leaf_ + p.destination % spines_), 0};
    }

private:
    std::uint32_t machines_, leaves_, spines_, per_leaf_;
};

} // namespace weft
