// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/ub/ub_topology.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace weft {

std::vector<std::string> ub_topology::problems(const ub_shape& s)
{
    std::vector<std::string> all;
    const auto most = [&](const char* what, std::uint32_t value, std::uint32_t limit) {
        if (value < 1 || value > limit)
            all.push_back(
                fmt::format("{} must be 1 to {} to fit the segments of an address, not {}", what, limit, value));
    };
    most("pods", s.pods, 8);
    most("rack rows", s.rack_rows, 4);
    most("rack columns", s.rack_cols, 4);
    most("boards", s.boards, 8);
    most("NPUs of a board", s.npus, 8);
    if (!all.empty())
        return all;
    if (s.ranks() < 2)
        all.emplace_back("one NPU alone has no fabric");
    const bool mesh_rack = s.rack == ub_rack_kind::full_mesh_2d;
    if (!mesh_rack && (s.pods > 1 || s.hrs || s.pod != ub_pod_kind::full_mesh_2d))
        all.emplace_back(
            "the baselines of a rack (1d_fm_a, 1d_fm_b, clos) are built up to one pod, without HRS of pods");
    if (s.rack == ub_rack_kind::clos && s.racks() > 1)
        all.emplace_back("a Clos rack has no lanes left for other racks: 72 LRS x64 for its NPUs");
    if (!s.backplane && (s.racks() > 1 || s.hrs || !mesh_rack))
        all.emplace_back("without backplanes there is one bare rack of kind 2d_fm, no HRS");
    if (s.pod == ub_pod_kind::clos && (s.pods > 1 || !s.hrs))
        all.emplace_back("racks joined by Clos need hrs: true and are one pod: one stage of HRS");
    if (s.pods > 1 && !s.hrs)
        all.emplace_back("several pods need hrs: true");
    if (s.racks() > 128)
        all.emplace_back("an HRS has 128 ports x4: at most 128 racks");
    if (s.x_lanes == 0 || s.y_lanes == 0 || (s.backplane && s.backplane_lanes < k_least_planes))
        all.emplace_back(
            "every X and Y link has at least one lane, every NPU at least one to each of four backplanes");
    return all;
}

ub_topology::ub_topology(const ub_shape& shape, const ub_cables& cables) : shape_(shape)
{
    if (const auto why = problems(shape); !why.empty())
        throw std::invalid_argument("ub_topology: " + why.front());
    ub_parts parts = ub_generator_for(shape, cables)->make();
    plan_ = std::move(parts.plan);
    places_ = std::move(parts.places);
    remarks_ = std::move(parts.remarks);
    numbers_ = parts.numbers;
    index_ports();
}

void ub_topology::index_ports()
{
    port_base_.assign(1, 0);
    for (const ub_router_plan& r : plan_.routers)
        port_base_.push_back(port_base_.back() + r.ports);
    out_links_.assign(port_base_.back(), k_none);
    for (std::size_t l = 0; l < plan_.links.size(); ++l) {
        std::uint32_t& slot = out_links_[port_base_[plan_.links[l].from] + plan_.links[l].from_port];
        if (slot != k_none)
            throw std::logic_error("ub_topology: two links at one port of " + plan_.routers[plan_.links[l].from].name);
        slot = static_cast<std::uint32_t>(l);
    }
}

std::uint32_t ub_topology::spare_router(std::uint32_t rack) const
{
    return shape_.backplane ? numbers_.first_spare + rack : k_none;
}
std::uint32_t ub_topology::cpu_router(std::uint32_t rack, std::uint32_t j) const
{
    return numbers_.first_cpu + rack * numbers_.cpus + j;
}
std::uint32_t ub_topology::nic_router(std::uint32_t rack, std::uint32_t j) const
{
    return numbers_.first_nic + rack * numbers_.nics + j;
}
std::uint32_t ub_topology::leaf(std::uint32_t rack, std::uint32_t plane, std::uint32_t board) const
{
    return numbers_.first_leaf + rack * numbers_.leaves + plane * shape_.boards + board;
}
std::uint32_t ub_topology::spine(std::uint32_t rack, std::uint32_t s) const
{
    return numbers_.first_spine + rack * numbers_.spines + s;
}
std::uint32_t ub_topology::hrs(std::uint32_t h) const { return numbers_.first_hrs + h; }

std::uint32_t ub_topology::rank_of(const abi::ub::address& a) const
{
    const std::uint32_t row = a.rack / 4u, col = a.rack % 4u;
    if (a.kind != abi::ub::node_kind::npu || a.pod >= shape_.pods || row >= shape_.rack_rows ||
        col >= shape_.rack_cols || a.board >= shape_.boards || a.unit >= shape_.npus)
        return k_none;
    return (((a.pod * shape_.rack_rows + row) * shape_.rack_cols + col) * shape_.boards + a.board) * shape_.npus +
           a.unit;
}

std::uint32_t ub_topology::link_between(std::uint32_t from, std::uint32_t to) const
{
    for (std::uint32_t i = port_base_[from]; i < port_base_[from + 1]; ++i)
        if (out_links_[i] != k_none && plan_.links[out_links_[i]].to == to)
            return out_links_[i];
    return k_none;
}

abi::ub::table_view ub_topology::table_of(std::uint32_t router) const
{
    const ub_router_plan& r = plan_.routers[router];
    const auto& steps = plan_.tables[r.table].steps;
    return {steps.data(), static_cast<unsigned>(steps.size()), r.entries.data(), r.place};
}

std::vector<std::uint32_t> ub_topology::hops_from(std::uint32_t router, const std::vector<bool>& down) const
{
    std::vector<std::uint32_t> hops(routers(), k_none);
    std::vector<std::uint32_t> queue{router};
    hops[router] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i)
        for (std::uint32_t p = port_base_[queue[i]]; p < port_base_[queue[i] + 1]; ++p) {
            const std::uint32_t l = out_links_[p];
            if (l == k_none || (l < down.size() && down[l]))
                continue;
            const std::uint32_t to = plan_.links[l].to;
            if (hops[to] != k_none)
                continue;
            hops[to] = hops[queue[i]] + 1;
            queue.push_back(to);
        }
    return hops;
}

} // namespace weft
