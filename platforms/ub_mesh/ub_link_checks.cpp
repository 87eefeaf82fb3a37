// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What links of UB-Mesh cannot do: delays that the fabric has no room for, buffers that do not cover a round trip.
#include "platforms/machine/machine_checks.h"
#include "platforms/ub_mesh/ub_mesh.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

void ub_mesh_config::check_delays(std::vector<config_problem>& p) const
{
    const ub_topology topology(mesh, cables);
    const ub_plan& plan = topology.plan();
    const packet_format format = ub.format();
    const std::uint64_t wire_bytes = format.wire_bytes_of_one(format.max_payload_bytes);
    std::uint32_t narrowest = ub_topology::k_npu_lanes;
    duration longest;
    for (const ub_link_plan& l : plan.links) {
        narrowest = std::min<std::uint32_t>(narrowest, l.lanes);
        longest = std::max(longest, l.propagation);
    }
    for (const ub_link_fault_config& f : faults.links)
        narrowest = std::min(narrowest, f.lanes.value_or(narrowest));
    check_packet_time("ub.lane_rate", ub.link_rate(narrowest), wire_bytes, p);
    check_packet_time("ub.local_port_rate", ub.local_port_rate, wire_bytes, p);
    for (const auto& [key, latency] : {std::pair{"ub.npu_latency", ub.npu_latency}, std::pair{"ub.cpu_latency", ub.cpu_latency},
                                       std::pair{"ub.nic_latency", ub.nic_latency}, std::pair{"ub.lrs_latency", ub.lrs_latency}, std::pair{"ub.hrs_latency", ub.hrs_latency}})
        check_hop_time(key, "with the longest cable, ub.mac_latency, ub.die_crossing and ub.table_lookup", latency + longest + ub.mac_latency + ub.die_crossing + ub.table_lookup, p);
}

void ub_mesh_config::check_link_buffers(std::vector<config_problem>& p) const
{
    if (ub.buffers_cover_round_trip)
        return;
    const ub_topology topology(mesh, cables);
    const ub_plan& plan = topology.plan();
    const ub_link_plan* worst = nullptr;
    double least = 1;
    for (const ub_link_plan& l : plan.links) {
        const double share = ub_reachable_share(ub, l.lanes, l.propagation, plan.routers[l.to].device);
        if (share >= least)
            continue;
        least = share;
        worst = &l;
    }
    if (worst == nullptr)
        return;
    const std::uint64_t back_ps =
        ub_round_trip_ps(ub, worst->lanes, worst->propagation, plan.routers[worst->to].device);
    p.push_back(
        {severity::warning, "ub.buffer_per_vl",
         fmt::format(
             "is {}, and buffers_cover_round_trip is false: a credit of the link from {} to {} is back after {}, so "
             "one VL reaches at most {:.3g} % of its rate; a larger buffer or buffers_cover_round_trip: true avoids it.",
             to_string(ub.buffer_per_vl), plan.routers[worst->from].name, plan.routers[worst->to].name,
             rounded_text(duration(back_ps)), 100 * least)});
}

} // namespace weft
