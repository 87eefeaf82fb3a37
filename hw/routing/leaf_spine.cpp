// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/leaf_spine.h"

#include <fmt/format.h>

namespace weft {

fabric_plan leaf_spine_plan(const leaf_spine_description& d)
{
    fabric_plan plan;
    for (std::uint32_t leaf = 0; leaf < d.leaves; ++leaf) {
        plan.routers.push_back({fmt::format("leaf({})", leaf), d.endpoints_per_leaf + d.spines});
        for (std::uint32_t port = 0; port < d.endpoints_per_leaf; ++port)
            plan.endpoints.push_back({leaf, port, 1, d.local});
    }
    for (std::uint32_t spine = 0; spine < d.spines; ++spine)
        plan.routers.push_back({fmt::format("spine({})", spine), d.leaves});
    for (std::uint32_t leaf = 0; leaf < d.leaves; ++leaf)
        for (std::uint32_t spine = 0; spine < d.spines; ++spine)
            plan.connect(leaf, d.endpoints_per_leaf + spine, d.leaves + spine, leaf, d.vls, d.wire);
    return plan;
}

} // namespace weft
