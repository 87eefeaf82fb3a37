// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/leaf_spine.h"

#include <fmt/format.h>

namespace weft {

fabric_plan leaf_spine_plan(const leaf_spine_description& d)
{
    fabric_plan plan;
    for (std::uint32_t m = 0; m < d.machines(); ++m) {
        plan.routers.push_back({fmt::format("nic({})", m), 2, d.nic_pipeline});
        plan.endpoints.push_back({m, leaf_spine_routing::k_to_machine, 1, d.local});
    }
    const std::uint32_t first_leaf = d.machines();
    for (std::uint32_t leaf = 0; leaf < d.leaves; ++leaf)
        plan.routers.push_back({fmt::format("leaf({})", leaf), d.machines_per_leaf + d.spines, d.switch_pipeline});
    for (std::uint32_t spine = 0; spine < d.spines; ++spine)
        plan.routers.push_back({fmt::format("spine({})", spine), d.leaves, d.switch_pipeline});
    for (std::uint32_t m = 0; m < d.machines(); ++m)
        plan.connect(m, leaf_spine_routing::k_to_leaf, first_leaf + m / d.machines_per_leaf, m % d.machines_per_leaf, d.vls, d.cable);
    for (std::uint32_t leaf = 0; leaf < d.leaves; ++leaf)
        for (std::uint32_t spine = 0; spine < d.spines; ++spine)
            plan.connect(first_leaf + leaf, d.machines_per_leaf + spine, first_leaf + d.leaves + spine, leaf, d.vls, d.uplink);
    return plan;
}

} // namespace weft
