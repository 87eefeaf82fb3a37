// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/ub/ub_topology.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace weft {

namespace {

using role = ub_place::role;

/// Port to coordinate `to` at one whose own coordinate `own` is left out.
std::uint32_t mesh_port(std::uint32_t own, std::uint32_t to) { return to < own ? to : to - 1; }

std::int8_t i8(std::uint32_t v) { return static_cast<std::int8_t>(v); }

} // namespace

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
        all.emplace_back("without back-planes there is one bare rack of kind 2d_fm, no HRS");
    if (s.pod == ub_pod_kind::clos && (s.pods > 1 || !s.hrs))
        all.emplace_back("racks joined by Clos need hrs: true and are one pod: one stage of HRS");
    if (s.pods > 1 && !s.hrs)
        all.emplace_back("several pods need hrs: true");
    if (s.racks() > 128)
        all.emplace_back("an HRS has 128 ports x4: at most 128 racks");
    if (s.x_lanes == 0 || s.y_lanes == 0 || (s.backplane && s.backplane_lanes < k_least_planes))
        all.emplace_back(
            "every X and Y link has at least one lane, every NPU at least one to each of four back-planes");
    return all;
}

ub_topology::ub_topology(const ub_shape& shape, const ub_cables& cables) : shape_(shape), cables_(cables)
{
    if (const auto why = problems(shape); !why.empty())
        throw std::invalid_argument("ub_topology: " + why.front());
    switch (shape.rack) {
    case ub_rack_kind::full_mesh_2d: build_full_mesh_2d(); break;
    case ub_rack_kind::full_mesh_1d_a: build_full_mesh_1d_a(); break;
    case ub_rack_kind::full_mesh_1d_b: build_full_mesh_1d_b(); break;
    case ub_rack_kind::clos: build_clos(); break;
    }
    index_ports();
    fill_tables();
}

std::uint32_t ub_topology::spare_router(std::uint32_t rack) const
{
    return shape_.backplane ? first_spare_ + rack : k_none;
}
std::uint32_t ub_topology::cpu_router(std::uint32_t rack, std::uint32_t j) const
{
    return first_cpu_ + rack * cpus_ + j;
}
std::uint32_t ub_topology::nic_router(std::uint32_t rack, std::uint32_t j) const
{
    return first_nic_ + rack * nics_ + j;
}
std::uint32_t ub_topology::leaf(std::uint32_t rack, std::uint32_t plane, std::uint32_t board) const
{
    return first_leaf_ + rack * leaves_ + plane * shape_.boards + board;
}
std::uint32_t ub_topology::spine(std::uint32_t rack, std::uint32_t s) const
{
    return first_spine_ + rack * spines_ + s;
}
std::uint32_t ub_topology::hrs(std::uint32_t h) const { return first_hrs_ + h; }

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

// --- Building blocks --------------------------------------------------------------------------------------------------

std::string ub_topology::rack_name(std::uint32_t rack) const
{
    return fmt::format("p{},r{}", rack / shape_.racks_per_pod(), rack % shape_.racks_per_pod());
}

std::uint32_t ub_topology::add_router(ub_device device, ub_place place, std::string name, std::uint32_t ports)
{
    ub_router_plan r;
    r.device = device;
    r.name = std::move(name);
    r.ports = static_cast<std::uint16_t>(ports);
    if (place.rack >= 0) {
        const auto rack = static_cast<std::uint32_t>(place.rack);
        place.pod = i8(rack / shape_.racks_per_pod());
        place.row = i8(rack % shape_.racks_per_pod() / shape_.rack_cols);
        place.col = i8(rack % shape_.rack_cols);
    }
    const auto segment = [](std::int8_t v) { return static_cast<std::uint8_t>(v < 0 ? 0 : v); };
    r.place.pod = segment(place.pod);
    r.place.rack = static_cast<std::uint8_t>(segment(place.row) * 4 + segment(place.col));
    r.place.board = segment(place.board);
    r.place.unit = segment(place.unit);
    switch (place.is) {
    case role::spare: r.place.kind = abi::ub::node_kind::spare_npu; break;
    case role::cpu: r.place.kind = abi::ub::node_kind::cpu; break;
    case role::nic: r.place.kind = abi::ub::node_kind::nic; break;
    default: r.place.kind = abi::ub::node_kind::npu; break;
    }
    plan_.routers.push_back(std::move(r));
    places_.push_back(place);
    return static_cast<std::uint32_t>(places_.size() - 1);
}

void ub_topology::connect(std::uint32_t a, std::uint32_t a_port, std::uint32_t b, std::uint32_t b_port,
                          std::uint32_t lanes, ub_channel there, ub_channel back, duration propagation)
{
    ub_link_plan l;
    l.from = a;
    l.to = b;
    l.from_port = static_cast<std::uint16_t>(a_port);
    l.to_port = static_cast<std::uint16_t>(b_port);
    l.lanes = static_cast<std::uint8_t>(lanes);
    l.channel = there;
    l.propagation = propagation;
    plan_.links.push_back(l);
    std::swap(l.from, l.to);
    std::swap(l.from_port, l.to_port);
    l.channel = back;
    plan_.links.push_back(l);
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

/// X of every board, and Y with ports from y_first on.
void ub_topology::connect_mesh(std::uint32_t rack, bool with_y, std::uint32_t y_first)
{
    const std::uint32_t n = shape_.npus, first = rack * shape_.npus_per_rack();
    for (std::uint32_t y = 0; y < shape_.boards; ++y)
        for (std::uint32_t x = 0; x < n; ++x) {
            const std::uint32_t at = first + y * n + x;
            for (std::uint32_t to = x + 1; to < n; ++to)
                connect(at, mesh_port(x, to), at - x + to, mesh_port(to, x), shape_.x_lanes, ub_channel::x_plus,
                        ub_channel::x_minus, cables_.x);
            for (std::uint32_t to = y + 1; with_y && to < shape_.boards; ++to)
                connect(at, y_first + mesh_port(y, to), first + to * n + x, y_first + mesh_port(to, y), shape_.y_lanes,
                        ub_channel::y_plus, ub_channel::y_minus, cables_.y);
        }
}

/// Switch i of every rack with switch i of the racks of its row and column: columns from first_port on, then rows.
void ub_topology::connect_racks(role of, std::uint32_t per_rack, std::uint32_t first_port, std::uint32_t lanes)
{
    const std::uint32_t cols = shape_.rack_cols, rows = shape_.rack_rows;
    const auto at = [&](std::uint32_t rack, std::uint32_t i) {
        return (of == role::leaf ? first_leaf_ : first_hrs_) + rack * per_rack + i;
    };
    for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack) {
        const std::uint32_t in_pod = rack % shape_.racks_per_pod(), row = in_pod / cols, col = in_pod % cols;
        for (std::uint32_t i = 0; i < per_rack; ++i) {
            for (std::uint32_t to = col + 1; to < cols; ++to)
                connect(at(rack, i), first_port + mesh_port(col, to), at(rack - col + to, i),
                        first_port + mesh_port(to, col), lanes, ub_channel::z_plus, ub_channel::z_minus, cables_.z);
            for (std::uint32_t to = row + 1; to < rows; ++to)
                connect(at(rack, i), first_port + cols - 1 + mesh_port(row, to), at(rack + (to - row) * cols, i),
                        first_port + cols - 1 + mesh_port(to, row), lanes, ub_channel::alpha_plus,
                        ub_channel::alpha_minus, cables_.alpha);
        }
    }
}

/// NPUs by rank, then the spare NPU, CPUs and NICs of every rack: as many CPUs and NICs as boards (8 and 8; Q).
void ub_topology::add_endpoints(std::uint32_t npu_ports, std::uint32_t spare_ports, std::uint32_t cpu_ports,
                                std::uint32_t nic_ports)
{
    const std::uint32_t racks = shape_.racks();
    const auto add = [&](ub_device device, ub_place place, std::string name, std::uint32_t ports,
                         std::uint32_t second) {
        const std::uint32_t r = add_router(device, place, std::move(name), ports);
        plan_.routers[r].local_ports = device == ub_device::npu ? 2 : 1;
        if (device == ub_device::npu)
            plan_.routers[r].second_die_from = static_cast<std::uint16_t>(second);
        plan_.endpoint_router.push_back(r);
    };
    for (std::uint32_t rack = 0; rack < racks; ++rack)
        for (std::uint32_t y = 0; y < shape_.boards; ++y)
            for (std::uint32_t x = 0; x < shape_.npus; ++x) {
                ub_place p;
                p.rack = static_cast<std::int32_t>(rack);
                p.board = i8(y);
                p.unit = i8(x);
                const std::uint32_t mesh = shape_.rack == ub_rack_kind::clos ? 0 : shape_.npus - 1;
                const std::uint32_t y_ports = shape_.rack == ub_rack_kind::full_mesh_2d ? shape_.boards - 1 : 0;
                add(ub_device::npu, p, fmt::format("npu({},b{},{})", rack_name(rack), y, x), npu_ports,
                    mesh + (npu_ports - mesh - y_ports) / 2);
            }
    first_spare_ = first_cpu_ = first_nic_ = first_leaf_ = static_cast<std::uint32_t>(places_.size());
    if (!shape_.backplane)
        return;
    cpus_ = nics_ = shape_.boards;
    for (std::uint32_t rack = 0; rack < racks; ++rack) {
        ub_place p;
        p.is = role::spare;
        p.rack = static_cast<std::int32_t>(rack);
        add(ub_device::npu, p, fmt::format("spare({})", rack_name(rack)), spare_ports, spare_ports / 2);
    }
    const auto add_many = [&](ub_device device, role is, const char* name, std::uint32_t ports) {
        const auto first = static_cast<std::uint32_t>(places_.size());
        for (std::uint32_t rack = 0; rack < racks; ++rack)
            for (std::uint32_t j = 0; j < cpus_; ++j) {
                ub_place p;
                p.is = is;
                p.rack = static_cast<std::int32_t>(rack);
                p.unit = i8(j);
                add(device, p, fmt::format("{}({},{})", name, rack_name(rack), j), ports, 0);
                // No board is theirs; the segment spreads what comes from other racks over the leaves.
                plan_.routers.back().place.board = static_cast<std::uint8_t>(j);
            }
        return first;
    };
    first_cpu_ = add_many(ub_device::cpu, role::cpu, "cpu", cpu_ports);
    first_nic_ = add_many(ub_device::nic, role::nic, "nic", nic_ports);
    first_leaf_ = static_cast<std::uint32_t>(places_.size());
}

// --- The 2-D full mesh and what is built of it ------------------------------------------------------------------------

void ub_topology::build_full_mesh_2d()
{
    const std::uint32_t n = shape_.npus, boards = shape_.boards, racks = shape_.racks();
    const std::uint32_t x_ports = n - 1, y_ports = boards - 1;
    if (!shape_.backplane) {
        add_endpoints(x_ports + y_ports, 0, 0, 0);
        connect_mesh(0, true, x_ports);
        return;
    }
    // More than x16 an NPU goes to more back-planes: an LRS has no lanes for wider links.
    planes_ = std::max(k_least_planes, shape_.backplane_lanes / 16 * k_least_planes);
    spines_ = k_least_planes * k_spines_per_plane;
    leaves_ = planes_ * boards;
    const bool clos = shape_.pod == ub_pod_kind::clos;
    const std::uint32_t up_lanes = shape_.backplane_lanes / planes_;
    const std::uint32_t links_out = clos ? 0 : shape_.rack_cols - 1 + shape_.rack_rows - 1;
    const std::uint32_t rack_lanes = std::max(1u, shape_.rack_link_lanes / leaves_);
    if (up_lanes * planes_ != shape_.backplane_lanes)
        remarks_.push_back(fmt::format("{} lanes of an NPU do not divide among {} back-planes: {} built",
                                       shape_.backplane_lanes, planes_, up_lanes * planes_));
    if (links_out > 0 && rack_lanes * leaves_ != shape_.rack_link_lanes)
        remarks_.push_back(fmt::format("x{} between two racks does not divide among {} leaf LRS: x{} built",
                                       shape_.rack_link_lanes, leaves_, rack_lanes * leaves_));
    // Joined by Clos, the lanes that would go to other racks and to HRS go to HRS: x32 of a leaf in ports x4.
    hrs_per_leaf_ = !shape_.hrs ? 0 : clos ? n * up_lanes / k_port_lanes : k_hrs_per_leaf;
    if (clos)
        hrs_per_leaf_ = std::max(1u, hrs_per_leaf_);
    add_endpoints(x_ports + planes_ + y_ports, spines_, spines_, 2);

    const std::uint32_t leaf_hrs = n + links_out, leaf_spine = leaf_hrs + hrs_per_leaf_;
    for (std::uint32_t rack = 0; rack < racks; ++rack)
        for (std::uint32_t p = 0; p < planes_; ++p)
            for (std::uint32_t b = 0; b < boards; ++b) {
                ub_place at;
                at.is = role::leaf;
                at.rack = static_cast<std::int32_t>(rack);
                at.plane = static_cast<std::int16_t>(p);
                at.board = i8(b);
                add_router(ub_device::lrs, at, fmt::format("leaf({},{}.{})", rack_name(rack), p + 1, b + 1),
                           leaf_spine + (p < k_least_planes ? k_spines_per_plane : 0));
            }
    first_spine_ = static_cast<std::uint32_t>(places_.size());
    for (std::uint32_t rack = 0; rack < racks; ++rack)
        for (std::uint32_t s = 0; s < spines_; ++s) {
            ub_place at;
            at.is = role::spine;
            at.rack = static_cast<std::int32_t>(rack);
            at.plane = static_cast<std::int16_t>(s / k_spines_per_plane);
            const std::uint32_t p = s / k_spines_per_plane, i = s % k_spines_per_plane;
            add_router(ub_device::lrs, at, fmt::format("spine({},{}.{})", rack_name(rack), p + 1, i + 1),
                       boards + cpus_ + 1 + (s / 2 < nics_ ? 1 : 0));
        }
    first_hrs_ = static_cast<std::uint32_t>(places_.size());
    hrs_ = clos ? planes_ * hrs_per_leaf_ : planes_ * boards * hrs_per_leaf_;
    for (std::uint32_t h = 0; h < hrs_; ++h) {
        ub_place at;
        at.is = role::hrs;
        at.plane = static_cast<std::int16_t>(h);
        add_router(ub_device::hrs, at, fmt::format("hrs({})", h), clos ? racks * boards : racks);
    }

    for (std::uint32_t rack = 0; rack < racks; ++rack) {
        connect_mesh(rack, true, x_ports + planes_);
        for (std::uint32_t p = 0; p < planes_; ++p)
            for (std::uint32_t b = 0; b < boards; ++b) {
                const std::uint32_t l = leaf(rack, p, b);
                for (std::uint32_t x = 0; x < n; ++x)
                    connect((rack * boards + b) * n + x, x_ports + p, l, x, up_lanes, ub_channel::up, ub_channel::down,
                            cables_.backplane);
                for (std::uint32_t k = 0; k < hrs_per_leaf_; ++k)
                    connect(l, leaf_hrs + k, hrs(clos ? p * hrs_per_leaf_ + k : (p * boards + b) * hrs_per_leaf_ + k),
                            clos ? rack * boards + b : rack, k_port_lanes, ub_channel::hrs_up, ub_channel::hrs_down,
                            cables_.hrs);
                for (std::uint32_t i = 0; p < k_least_planes && i < k_spines_per_plane; ++i)
                    connect(l, leaf_spine + i, spine(rack, p * k_spines_per_plane + i), b, 2, ub_channel::spine_up,
                            ub_channel::spine_down, cables_.backplane);
            }
        for (std::uint32_t s = 0; s < spines_; ++s) {
            for (std::uint32_t j = 0; j < cpus_; ++j)
                connect(cpu_router(rack, j), s, spine(rack, s), boards + j, k_cpu_lanes / spines_, ub_channel::side_up,
                        ub_channel::side_down, cables_.backplane);
            connect(spare_router(rack), s, spine(rack, s), boards + cpus_, k_port_lanes, ub_channel::side_up,
                    ub_channel::side_down, cables_.backplane);
            if (s / 2 < nics_)
                connect(nic_router(rack, s / 2), s % 2, spine(rack, s), boards + cpus_ + 1, k_port_lanes,
                        ub_channel::side_up, ub_channel::side_down, cables_.backplane);
        }
    }
    if (!clos)
        connect_racks(role::leaf, leaves_, n, rack_lanes);
}

} // namespace weft
