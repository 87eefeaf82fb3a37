// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Racks of Fig. 16 that are no 2-D full mesh. The paper prints the counts of switches and the lanes of an NPU (Q); which port goes
// where is our derivation, written beside each.
#include "hw/routing/ub/ub_topology.h"

#include <fmt/format.h>

namespace weft {

namespace {

using role = ub_place::role;

ub_place switch_of(role is, std::uint32_t rack, std::uint32_t plane)
{
    ub_place p;
    p.is = is;
    p.rack = static_cast<std::int32_t>(rack);
    p.plane = static_cast<std::int16_t>(plane);
    return p;
}

} // namespace

// 1D-FM-A: X mesh; x16 of an NPU to LRS, x16 to HRS; 36 LRS and 4 HRS a rack (Q). Ours: four planes of an LRS for each column,
// which joins the NPUs of that column over all boards (Y by switch), x1 to every CPU (32 columns x1 = x32) and x4 to a ninth LRS of the
// plane, which serves the spare NPU (x16) and NICs (x8 each, two a plane). Each HRS has x4 to every NPU of the rack and a quarter of
// every link to another rack.
void ub_topology::build_full_mesh_1d_a()
{
    const std::uint32_t n = shape_.npus, boards = shape_.boards, racks = shape_.racks(), x_ports = n - 1;
    planes_ = k_least_planes;
    leaves_ = planes_ * n;
    spines_ = planes_;
    rack_hrs_ = 4;
    add_endpoints(x_ports + planes_ + rack_hrs_, planes_, leaves_, 1);
    const std::uint32_t side_port = boards + boards; // behind NPUs and CPUs
    for (std::uint32_t rack = 0; rack < racks; ++rack)
        for (std::uint32_t p = 0; p < planes_; ++p)
            for (std::uint32_t c = 0; c < n; ++c) {
                ub_place at = switch_of(role::leaf, rack, p);
                at.unit = static_cast<std::int8_t>(c);
                add_router(ub_device::lrs, at, fmt::format("lrs({},{}.{})", rack_name(rack), p + 1, c + 1),
                           side_port + 1);
            }
    first_spine_ = static_cast<std::uint32_t>(places_.size());
    for (std::uint32_t rack = 0; rack < racks; ++rack)
        for (std::uint32_t p = 0; p < planes_; ++p)
            add_router(ub_device::lrs, switch_of(role::spine, rack, p),
                       fmt::format("lrs({},{}.side)", rack_name(rack), p + 1), n + 1 + (nics_ + 3 - p) / 4);
    first_hrs_ = static_cast<std::uint32_t>(places_.size());
    const std::uint32_t links_out = shape_.rack_cols - 1 + shape_.rack_rows - 1;
    for (std::uint32_t rack = 0; rack < racks; ++rack)
        for (std::uint32_t h = 0; h < rack_hrs_; ++h)
            add_router(ub_device::hrs, switch_of(role::hrs, rack, h), fmt::format("hrs({},{})", rack_name(rack), h),
                       shape_.npus_per_rack() + links_out);

    for (std::uint32_t rack = 0; rack < racks; ++rack) {
        connect_mesh(rack, false, 0);
        for (std::uint32_t p = 0; p < planes_; ++p) {
            for (std::uint32_t c = 0; c < n; ++c) {
                const std::uint32_t lrs = first_leaf_ + rack * leaves_ + p * n + c;
                for (std::uint32_t b = 0; b < boards; ++b)
                    connect((rack * boards + b) * n + c, x_ports + p, lrs, b, shape_.backplane_lanes / planes_,
                            ub_channel::up, ub_channel::down, cables_.backplane);
                for (std::uint32_t j = 0; j < cpus_; ++j)
                    connect(cpu_router(rack, j), c * planes_ + p, lrs, boards + j, 1, ub_channel::side_up,
                            ub_channel::side_down, cables_.backplane);
                connect(lrs, side_port, spine(rack, p), c, 4, ub_channel::spine_up, ub_channel::spine_down,
                        cables_.backplane);
            }
            connect(spare_router(rack), p, spine(rack, p), n, 16, ub_channel::side_up, ub_channel::side_down,
                    cables_.backplane);
            for (std::uint32_t j = p; j < nics_; j += planes_)
                connect(nic_router(rack, j), 0, spine(rack, p), n + 1 + j / planes_, 8, ub_channel::side_up,
                        ub_channel::side_down, cables_.backplane);
        }
        for (std::uint32_t h = 0; h < rack_hrs_; ++h)
            for (std::uint32_t i = 0; i < shape_.npus_per_rack(); ++i)
                connect(rack * shape_.npus_per_rack() + i, x_ports + planes_ + h, first_hrs_ + rack * rack_hrs_ + h, i,
                        k_port_lanes, ub_channel::up, ub_channel::down, cables_.backplane);
    }
    connect_racks(role::hrs, rack_hrs_, shape_.npus_per_rack(), shape_.rack_link_lanes / rack_hrs_);
}

// 1D-FM-B: X mesh; x32 of an NPU to switches; 16 LRS and 8 HRS a rack (Q). Ours: x4 of every NPU to each of the eight HRS, which join
// boards and racks; two LRS at each HRS (x32 each) for the CPUs (x2 to every LRS), the spare NPU (x4 to every LRS) and NICs (two x4).
void ub_topology::build_full_mesh_1d_b()
{
    const std::uint32_t n = shape_.npus, racks = shape_.racks(), x_ports = n - 1, all = shape_.npus_per_rack();
    spines_ = 16;
    rack_hrs_ = 8;
    add_endpoints(x_ports + rack_hrs_, spines_, spines_, 2);
    first_spine_ = static_cast<std::uint32_t>(places_.size());
    for (std::uint32_t rack = 0; rack < racks; ++rack)
        for (std::uint32_t s = 0; s < spines_; ++s)
            add_router(ub_device::lrs, switch_of(role::spine, rack, s), fmt::format("lrs({},{})", rack_name(rack), s),
                       1 + cpus_ + 1 + (s / 2 < nics_ ? 1 : 0));
    first_hrs_ = static_cast<std::uint32_t>(places_.size());
    const std::uint32_t links_out = shape_.rack_cols - 1 + shape_.rack_rows - 1;
    for (std::uint32_t rack = 0; rack < racks; ++rack)
        for (std::uint32_t h = 0; h < rack_hrs_; ++h)
            add_router(ub_device::hrs, switch_of(role::hrs, rack, h), fmt::format("hrs({},{})", rack_name(rack), h),
                       all + links_out + 2);
    for (std::uint32_t rack = 0; rack < racks; ++rack) {
        connect_mesh(rack, false, 0);
        for (std::uint32_t h = 0; h < rack_hrs_; ++h)
            for (std::uint32_t i = 0; i < all; ++i)
                connect(rack * all + i, x_ports + h, first_hrs_ + rack * rack_hrs_ + h, i, k_port_lanes, ub_channel::up,
                        ub_channel::down, cables_.backplane);
        for (std::uint32_t s = 0; s < spines_; ++s) {
            connect(first_hrs_ + rack * rack_hrs_ + s / 2, all + links_out + s % 2, spine(rack, s), 0, 32,
                    ub_channel::spine_up, ub_channel::spine_down, cables_.backplane);
            for (std::uint32_t j = 0; j < cpus_; ++j)
                connect(cpu_router(rack, j), s, spine(rack, s), 1 + j, 2, ub_channel::side_up, ub_channel::side_down,
                        cables_.backplane);
            connect(spare_router(rack), s, spine(rack, s), 1 + cpus_, k_port_lanes, ub_channel::side_up,
                    ub_channel::side_down, cables_.backplane);
            if (s / 2 < nics_)
                connect(nic_router(rack, s / 2), s % 2, spine(rack, s), 2 + cpus_, k_port_lanes, ub_channel::side_up,
                        ub_channel::side_down, cables_.backplane);
        }
    }
    connect_racks(role::hrs, rack_hrs_, all, shape_.rack_link_lanes / rack_hrs_);
}

// Clos: 72 LRS, no links between NPUs (Q). 8 + 10 LRS a back-plane do not make a two-stage Clos of x72 switches for 64 NPUs x72: two
// stages would need the lanes twice. Ours: one stage, every NPU x1 to each of the 72 LRS. 8 lanes of an LRS are left: LRS 0..31
// have x1 to every CPU (x32), LRS 32..39 x1 to every NIC (x8), LRS 40..71 x2 to the spare NPU (x64).
void ub_topology::build_clos()
{
    constexpr std::uint32_t k_lrs = 72, k_cpu_lrs = 32, k_nic_lrs = 8;
    const std::uint32_t all = shape_.npus_per_rack();
    leaves_ = k_lrs;
    add_endpoints(k_lrs, k_lrs - k_cpu_lrs - k_nic_lrs, k_cpu_lrs, k_nic_lrs);
    for (std::uint32_t i = 0; i < k_lrs; ++i)
        add_router(ub_device::lrs, switch_of(role::leaf, 0, i), fmt::format("lrs({},{})", rack_name(0), i),
                   all + (i < k_cpu_lrs + k_nic_lrs ? cpus_ : 1));
    first_spine_ = first_hrs_ = static_cast<std::uint32_t>(places_.size());
    for (std::uint32_t i = 0; i < k_lrs; ++i) {
        const std::uint32_t lrs = first_leaf_ + i;
        for (std::uint32_t rank = 0; rank < all; ++rank)
            connect(rank, i, lrs, rank, 1, ub_channel::up, ub_channel::down, cables_.backplane);
        if (i < k_cpu_lrs)
            for (std::uint32_t j = 0; j < cpus_; ++j)
                connect(cpu_router(0, j), i, lrs, all + j, 1, ub_channel::side_up, ub_channel::side_down,
                        cables_.backplane);
        else if (i < k_cpu_lrs + k_nic_lrs)
            for (std::uint32_t j = 0; j < nics_; ++j)
                connect(nic_router(0, j), i - k_cpu_lrs, lrs, all + j, 1, ub_channel::side_up, ub_channel::side_down,
                        cables_.backplane);
        else
            connect(spare_router(0), i - k_cpu_lrs - k_nic_lrs, lrs, all, 2, ub_channel::side_up, ub_channel::side_down,
                    cables_.backplane);
    }
}

} // namespace weft
