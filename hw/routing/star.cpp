// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/star.h"

#include <fmt/format.h>

namespace weft {

fabric_plan star_plan(const star_description& d)
{
    fabric_plan plan;
    for (std::uint32_t m = 0; m < d.machines; ++m) {
        plan.routers.push_back({fmt::format("nic({})", m), 2, d.nic_pipeline});
        plan.endpoints.push_back({m, star_routing::k_to_machine, 1, d.local});
    }
    plan.routers.push_back({"switch", d.machines, d.switch_pipeline});
    for (std::uint32_t m = 0; m < d.machines; ++m)
        plan.connect(m, star_routing::k_to_switch, d.machines, m, d.vls, d.wire);
    return plan;
}

} // namespace weft
