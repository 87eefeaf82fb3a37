// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/ub_notices.h"

#include "hw/ub/ub_link.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace weft {

/// Time of a notice from the nearer end of the link, or the nearest neighbour of the device, to every router, over the links that are left.
std::vector<std::uint64_t> ub_notices::ways_from_ends(const ub_failed_part& part, std::uint64_t work_per_hop_ps) const
{
    const ub_plan& plan = topology_.plan();
    const std::uint64_t cell_bytes = ub_.cell_bytes();
    std::vector<std::uint64_t> at(plan.routers.size(), k_never_ps);
    using entry = std::pair<std::uint64_t, std::uint32_t>;
    std::priority_queue<entry, std::vector<entry>, std::greater<entry>> open;
    const auto knows = [&](std::uint32_t router) {
        at[router] = 0;
        open.push({0, router});
    };
    const bool whole = part.device != ub_topology::k_none;
    if (!whole) {
        knows(plan.links[part.link].from);
        knows(plan.links[part.link].to);
    }
    for (std::uint32_t port = 0; whole && port < topology_.ports(part.device); ++port)
        if (const std::uint32_t out = topology_.out_link(part.device, port); out != ub_topology::k_none)
            knows(plan.links[out].to);
    while (!open.empty()) {
        const auto [time_ps, router] = open.top();
        open.pop();
        if (time_ps != at[router])
            continue;
        for (std::uint32_t port = 0; port < topology_.ports(router); ++port) {
            const std::uint32_t out = topology_.out_link(router, port);
            if (out == ub_topology::k_none || out == part.link || topology_.reverse_of(out) == part.link)
                continue;
            const ub_link_plan& l = plan.links[out];
            if (l.to == part.device)
                continue;
            const std::uint64_t then_ps = time_ps + work_per_hop_ps + ub_wire(ub_, l.propagation).value() +
                                          wire_rate(ub_.link_rate(l.lanes)).time_ps(cell_bytes) +
                                          ub_pipeline(ub_, plan.routers[l.to].device).value();
            if (then_ps < at[l.to]) {
                at[l.to] = then_ps;
                open.push({then_ps, l.to});
            }
        }
    }
    return at;
}

std::vector<ub_notice> ub_notices::of(const ub_failed_part& part, const std::vector<std::uint32_t>& affected) const
{
    std::vector<ub_notice> all;
    if (faults_.notification == ub_notification::none)
        return all;
    const bool direct = faults_.notification == ub_notification::direct;
    const std::uint64_t per_hop_ps = direct ? 0 : faults_.flood_per_hop.value();
    const std::uint64_t at_source_ps = (direct ? faults_.notice_software : faults_.flood_per_hop).value();
    const std::vector<std::uint64_t> ways = ways_from_ends(part, per_hop_ps);
    for (const std::uint32_t source : affected) {
        const std::uint64_t way_ps = ways[topology_.plan().endpoint_router[source]];
        if (way_ps != k_never_ps)
            all.push_back({source, ub_.detection.value() + way_ps + at_source_ps + faults_.table_write.value()});
    }
    return all;
}

std::uint64_t ub_notices::slowest_ps(const ub_failed_part& part) const
{
    std::vector<std::uint32_t> everybody(topology_.endpoints());
    std::iota(everybody.begin(), everybody.end(), 0u);
    return last_after_ps(of(part, everybody));
}

std::uint64_t ub_notices::last_after_ps(const std::vector<ub_notice>& notices)
{
    std::uint64_t last = 0;
    for (const ub_notice& n : notices)
        last = std::max(last, n.after_ps);
    return last;
}

} // namespace weft
