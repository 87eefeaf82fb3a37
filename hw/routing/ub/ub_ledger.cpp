// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/ub/ub_topology.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace weft {

namespace {

using role = ub_place::role;

bool one_of(ub_channel c, ub_channel a, ub_channel b) { return c == a || c == b; }

} // namespace

ub_ledger ub_topology::ledger() const
{
    ub_ledger g;
    std::vector<std::uint32_t> lanes(routers(), 0), x(routers(), 0), y(routers(), 0), out(routers(), 0);
    std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> between_racks;
    std::map<std::pair<std::int32_t, std::int16_t>, std::uint32_t> leave_plane;
    std::vector<std::uint64_t> leave_rack(shape_.racks(), 0);
    std::uint64_t to_hrs = 0, to_racks = 0;
    for (const ub_link_plan& l : plan_.links) { // outgoing lanes: both directions of a link have as many
        const ub_place& from = places_[l.from];
        const ub_place& to = places_[l.to];
        lanes[l.from] += l.lanes;
        if (one_of(l.channel, ub_channel::x_plus, ub_channel::x_minus))
            x[l.from] += l.lanes;
        else if (one_of(l.channel, ub_channel::y_plus, ub_channel::y_minus))
            y[l.from] += l.lanes;
        else
            out[l.from] += l.lanes;
        const bool to_other_rack = from.rack >= 0 && to.rack >= 0 && from.rack != to.rack;
        if (to_other_rack)
            between_racks[{from.rack, to.rack}] += l.lanes;
        if (from.rack >= 0 && (to_other_rack || to.rack < 0)) {
            leave_plane[{from.rack, from.plane}] += l.lanes;
            leave_rack[static_cast<std::size_t>(from.rack)] += l.lanes;
            (to_other_rack ? to_racks : to_hrs) += l.lanes;
        }
    }
    std::uint32_t fullest_npu = 0, fullest_cpu = 0, fullest_lrs = 0, fullest_hrs = 0;
    for (std::uint32_t r = 0; r < routers(); ++r) {
        const auto keep = [&](std::uint32_t& most, std::uint32_t& who) {
            if (lanes[r] > most) {
                most = lanes[r];
                who = r;
            }
        };
        g.table_bytes_most =
            std::max<std::uint64_t>(g.table_bytes_most, plan_.routers[r].entries.size() * sizeof(abi::ub::table_entry));
        switch (places_[r].is) {
        case role::npu:
            ++g.npus;
            keep(g.lanes_per_npu, fullest_npu);
            break;
        case role::spare:
            ++g.spares;
            g.lanes_per_spare = std::max(g.lanes_per_spare, lanes[r]);
            break;
        case role::cpu:
            ++g.cpus;
            keep(g.lanes_per_cpu, fullest_cpu);
            break;
        case role::nic:
            ++g.nics;
            g.lanes_per_nic = std::max(g.lanes_per_nic, lanes[r]);
            break;
        case role::leaf:
            ++g.lrs;
            g.most_lanes_leaf = std::max(g.most_lanes_leaf, lanes[r]);
            keep(g.most_lanes_lrs, fullest_lrs);
            break;
        case role::spine:
            ++g.lrs;
            g.most_lanes_spine = std::max(g.most_lanes_spine, lanes[r]);
            keep(g.most_lanes_lrs, fullest_lrs);
            break;
        case role::hrs:
            ++g.hrs;
            keep(g.most_lanes_hrs, fullest_hrs);
            break;
        }
    }
    const auto npus = static_cast<std::uint32_t>(g.npus);
    g.ports_per_npu = plan_.routers[0].ports;
    g.lanes_x = x[0];
    g.lanes_y = y[0];
    g.lanes_backplane = out[0];
    g.share_rack = x[0] + y[0];
    g.share_inter_rack = static_cast<std::uint32_t>(to_racks / npus);
    g.share_hrs = static_cast<std::uint32_t>(to_hrs / npus);
    for (const auto& [pair, total] : between_racks)
        g.lanes_per_rack_link = std::max(g.lanes_per_rack_link, total);
    for (const auto& [plane, total] : leave_plane)
        g.export_per_plane = std::max(g.export_per_plane, total);
    for (const std::uint64_t total : leave_rack)
        g.export_per_rack = std::max(g.export_per_rack, static_cast<std::uint32_t>(total));
    if (shape_.rack == ub_rack_kind::full_mesh_2d && shape_.backplane) {
        g.planes = numbers_.planes;
        g.leaves_per_plane = numbers_.leaves / numbers_.planes;
        g.spines_per_plane = k_spines_per_plane;
    }
    g.table_bytes_npu = plan_.routers[0].entries.size() * sizeof(abi::ub::table_entry);
    g.flat_table_bytes = std::uint64_t{endpoints()} * sizeof(abi::ub::table_entry);

    g.violations = remarks_;
    const auto at_most = [&](const char* what, std::uint32_t most, std::uint32_t limit, std::uint32_t who) {
        if (most > limit)
            g.violations.push_back(fmt::format("{} uses x{} of x{}: {}", what, most, limit, plan_.routers[who].name));
    };
    at_most("an NPU", g.lanes_per_npu, k_npu_lanes, fullest_npu);
    at_most("a CPU", g.lanes_per_cpu, k_cpu_lanes, fullest_cpu);
    at_most("an LRS", g.most_lanes_lrs, k_lrs_lanes, fullest_lrs);
    at_most("an HRS", g.most_lanes_hrs, k_hrs_lanes, fullest_hrs);
    if (g.lanes_per_spare > k_npu_lanes)
        g.violations.push_back(fmt::format("a spare NPU uses x{} of x{}", g.lanes_per_spare, k_npu_lanes));
    return g;
}

std::string ub_ledger::text() const
{
    std::string t;
    t += fmt::format("Devices   {} NPU, {} spare NPU, {} CPU, {} NIC, {} LRS, {} HRS\n", npus, spares, cpus, nics, lrs,
                     hrs);
    t += fmt::format("NPU       x{} in {} ports: X x{}, Y x{}, to switches x{}\n", lanes_per_npu, ports_per_npu,
                     lanes_x, lanes_y, lanes_backplane);
    if (planes > 0)
        t += fmt::format(
            "Planes    {} backplanes a rack, each of {} leaf + {} spine LRS; fullest leaf x{}, spine x{}\n", planes,
            leaves_per_plane, spines_per_plane, most_lanes_leaf, most_lanes_spine);
    if (lrs > 0)
        t += fmt::format("Others    CPU x{}, spare NPU x{}, NIC x{}; fullest LRS x{}{}\n", lanes_per_cpu,
                         lanes_per_spare, lanes_per_nic, most_lanes_lrs,
                         hrs > 0 ? fmt::format(", HRS x{}", most_lanes_hrs) : "");
    if (export_per_rack > 0)
        t += fmt::format("Exports   x{} out of a rack, x{} out of a backplane; x{} from rack to rack\n",
                         export_per_rack, export_per_plane, lanes_per_rack_link);
    t += fmt::format("Shares    of an NPU: in the rack x{}, rack to rack x{}, HRS x{}\n", share_rack, share_inter_rack,
                     share_hrs);
    t += fmt::format("Tables    of an NPU: {} B by segments, {} B flat\n", table_bytes_npu, flat_table_bytes);
    for (const std::string& v : violations)
        t += "Violation " + v + "\n";
    return t;
}

} // namespace weft
