// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Machines at one switch. Routers 0 to machines - 1 are their NICs (port 0 to the switch, port 1 to the machine), the
// last router is the switch (port m to NIC m). What a machine sends to itself the switch sends back.
#pragma once

#include "hw/routing/fabric_plan.h"
#include "hw/routing/routing_policy.h"

namespace weft {

struct star_description {
    std::uint32_t machines = 0;
    std::uint32_t vls = 1;
    fabric_link_params wire{};  ///< between NIC and switch, each direction
    fabric_link_params local{}; ///< between NIC and machine
    duration nic_pipeline{}, switch_pipeline{};
};

fabric_plan star_plan(const star_description& d);

/// To the destination's port.
class star_routing final : public routing_policy {
public:
    static constexpr std::uint32_t k_to_switch = 0;
    static constexpr std::uint32_t k_to_machine = 1;
    explicit star_routing(std::uint32_t machines) : machines_(machines) {}
    route_decision route(std::uint32_t router, std::uint32_t in_port, packet& p) const override
    {
        if (router == machines_)
            return {static_cast<std::uint16_t>(p.destination), 0};
        return {static_cast<std::uint16_t>(in_port == k_to_switch ? k_to_machine : k_to_switch), 0};
    }

private:
    std::uint32_t machines_;
};

} // namespace weft
