// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Racks of the paper: NPUs in a 2-D full mesh, backplanes of leaf and spine LRS, racks joined by leaves (Z and alpha),
// pods by HRS; or, for the baseline of Fig. 18, racks joined by a Clos of HRS alone.
//
// Ports. NPU: X, planes, Y. Leaf: NPUs, columns of racks, rows of racks, HRS, spines. Spine: leaves, CPUs, spare, NIC.
// HRS: racks.
#include "hw/routing/ub/ub_generator.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

class full_mesh_2d final : public ub_generator {
public:
    full_mesh_2d(const ub_shape& shape, const ub_cables& cables) : ub_generator(shape, cables)
    {
        numbers_.planes = planes_;
        numbers_.leaves = planes_ * shape.boards;
        numbers_.spines = k_least_planes * k_spines_per_plane;
        numbers_.hrs = planes_ * hrs_per_leaf_ * (clos_of_racks_ ? 1 : shape.boards);
    }

private:
    const bool clos_of_racks_ = shape_.pod == ub_pod_kind::clos;
    const std::uint32_t planes_ = planes_of(shape_);
    const std::uint32_t leaves_ = planes_ * shape_.boards;
    const std::uint32_t up_lanes_ = shape_.backplane_lanes / planes_;        ///< NPU to leaf
    const std::uint32_t rack_links_ = clos_of_racks_ ? 0 : links_to_racks(); ///< of a leaf
    const std::uint32_t rack_lanes_ = std::max(1u, shape_.rack_link_lanes / leaves_);
    // Joined by Clos, the lanes that would go to other racks and to HRS go to HRS: x32 of a leaf in ports x4.
    const std::uint32_t hrs_per_leaf_ = clos_of_racks_ ? std::max(1u, shape_.npus* up_lanes_ / k_port_lanes)
                                        : shape_.hrs   ? k_hrs_per_leaf
                                                       : 0;
    const std::uint32_t hrs_lanes_ = clos_of_racks_ ? k_port_lanes : hrs_lanes_of(shape_);
    // First ports. NPU:
    const std::uint32_t plane_port_ = shape_.npus - 1, y_port_ = plane_port_ + planes_;
    // Leaf:
    const std::uint32_t rack_port_ = shape_.npus, hrs_port_ = rack_port_ + rack_links_,
                        spine_port_ = hrs_port_ + hrs_per_leaf_;
    // Spine, behind the leaves:
    const std::uint32_t cpu_port_ = shape_.boards;

    std::uint32_t leaf(std::uint32_t rack, std::uint32_t plane, std::uint32_t board) const
    {
        return numbers_.first_leaf + rack * leaves_ + plane * shape_.boards + board;
    }
    std::uint32_t spare_port() const { return cpu_port_ + numbers_.cpus; }
    std::uint32_t nic_port() const { return spare_port() + 1; }
    static bool has_spines(std::uint32_t plane) { return plane < k_least_planes; }

    void build() override
    {
        note_uneven_lanes();
        add_npus(y_port_ + shape_.boards - 1, plane_port_ + planes_ / 2);
        add_side_nodes(numbers_.spines, numbers_.spines, 2);
        add_leaves();
        add_spines();
        add_hrs();
        for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack) {
            connect_boards_and_columns(rack, y_port_);
            for (std::uint32_t plane = 0; plane < planes_; ++plane)
                for (std::uint32_t board = 0; board < shape_.boards; ++board)
                    connect_leaf(rack, plane, board);
            for (std::uint32_t s = 0; s < numbers_.spines; ++s)
                connect_side_nodes(rack, s, cpu_port_, k_cpu_lanes / numbers_.spines);
        }
        if (!clos_of_racks_)
            connect_racks(numbers_.first_leaf, leaves_, rack_port_, rack_lanes_);
    }

    void note_uneven_lanes()
    {
        if (up_lanes_ * planes_ != shape_.backplane_lanes)
            parts_.remarks.push_back(fmt::format("{} lanes of an NPU do not divide among {} backplanes: {} built",
                                                 shape_.backplane_lanes, planes_, up_lanes_ * planes_));
        if (rack_links_ > 0 && rack_lanes_ * leaves_ != shape_.rack_link_lanes)
            parts_.remarks.push_back(fmt::format("x{} between two racks does not divide among {} leaf LRS: x{} built",
                                                 shape_.rack_link_lanes, leaves_, rack_lanes_ * leaves_));
    }

    void add_leaves()
    {
        for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack)
            for (std::uint32_t plane = 0; plane < planes_; ++plane)
                for (std::uint32_t board = 0; board < shape_.boards; ++board) {
                    ub_place at;
                    at.is = role::leaf;
                    at.rack = static_cast<std::int32_t>(rack);
                    at.plane = static_cast<std::int16_t>(plane);
                    at.board = static_cast<std::int8_t>(board);
                    add_router(ub_device::lrs, at, fmt::format("leaf({},{}.{})", rack_name(rack), plane + 1, board + 1),
                               spine_port_ + (has_spines(plane) ? k_spines_per_plane : 0));
                }
    }
    void add_spines()
    {
        numbers_.first_spine = next_router();
        for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack)
            for (std::uint32_t s = 0; s < numbers_.spines; ++s) {
                const std::uint32_t plane = s / k_spines_per_plane, i = s % k_spines_per_plane;
                add_switch(ub_device::lrs, role::spine, rack, plane,
                           fmt::format("spine({},{}.{})", rack_name(rack), plane + 1, i + 1),
                           nic_port() + (has_nic(s) ? 1 : 0));
            }
    }
    void add_hrs()
    {
        numbers_.first_hrs = next_router();
        for (std::uint32_t h = 0; h < numbers_.hrs; ++h) {
            ub_place at;
            at.is = role::hrs;
            at.plane = static_cast<std::int16_t>(h);
            add_router(ub_device::hrs, at, fmt::format("hrs({})", h),
                       clos_of_racks_ ? shape_.racks() * shape_.boards : shape_.racks());
        }
    }

    void connect_leaf(std::uint32_t rack, std::uint32_t plane, std::uint32_t board)
    {
        const std::uint32_t l = leaf(rack, plane, board);
        for (std::uint32_t unit = 0; unit < shape_.npus; ++unit)
            connect_up(npu(rack, board, unit), plane_port_ + plane, l, unit, up_lanes_);
        // HRS of this leaf: for all boards of the plane together in a Clos, for the board alone between pods.
        const std::uint32_t group = clos_of_racks_ ? plane : plane * shape_.boards + board;
        for (std::uint32_t k = 0; k < hrs_per_leaf_; ++k)
            connect(l, hrs_port_ + k, numbers_.first_hrs + group * hrs_per_leaf_ + k,
                    clos_of_racks_ ? rack * shape_.boards + board : rack, hrs_lanes_, ub_channel::hrs_up,
                    ub_channel::hrs_down, cables_.hrs);
        for (std::uint32_t i = 0; has_spines(plane) && i < k_spines_per_plane; ++i)
            connect_spine(l, spine_port_ + i, spine(rack, plane * k_spines_per_plane + i), board, 2);
    }

    // --- Tables

    void make_table(std::uint32_t router, const ub_place& at, ub_table_maker& t) const override
    {
        switch (at.is) {
        case role::npu: npu_table(at, t); break;
        case role::leaf: leaf_table(at, t); break;
        case role::spine: spine_table((router - numbers_.first_spine) % numbers_.spines, t); break;
        case role::hrs: hrs_table(t); break;
        default: side_node_table(router, at, t); break;
        }
    }

    void npu_table(const ub_place& at, ub_table_maker& t) const
    {
        const abi::ub::table_entry up = ub_to_port(plane_port_, planes_);
        const abi::ub::table_entry to_spines = ub_to_port(plane_port_, k_least_planes);
        ub_by_kind by_kind;
        by_kind.set_all(kind::spare_npu, 1, to_spines).set_all(kind::cpu, numbers_.cpus, to_spines);
        by_kind.set(kind::nic, numbers_.nics, [&](std::uint32_t j) { return ub_to_port(plane_port_ + j / 2); });
        t.step(segment::kind_and_unit, by_kind.entries, true);
        if (shape_.pods > 1)
            t.step(segment::pod, ub_entries(8, up));
        if (shape_.racks_per_pod() > 1)
            t.step(segment::rack, ub_entries(16, up));
        t.step(segment::unit, ub_mesh_entries(0, static_cast<std::uint32_t>(at.unit), shape_.npus));
        t.step(segment::board, ub_mesh_entries(y_port_, static_cast<std::uint32_t>(at.board), shape_.boards));
    }

    void leaf_table(const ub_place& at, ub_table_maker& t) const
    {
        const auto plane = static_cast<std::uint32_t>(at.plane), board = static_cast<std::uint32_t>(at.board);
        const std::uint32_t npus = shape_.npus;
        if (shape_.pods > 1)
            t.step(segment::pod, ub_entries(8, ub_to_port(hrs_port_, hrs_per_leaf_)));
        if (clos_of_racks_)
            t.step(segment::rack, ub_entries(16, ub_to_port(hrs_port_, hrs_per_leaf_)));
        else if (shape_.racks_per_pod() > 1)
            t.step(segment::rack, racks_from(at, rack_port_));
        const abi::ub::table_entry up =
            has_spines(plane) ? ub_to_port(spine_port_, k_spines_per_plane) : ub_to_port(board % npus);
        ub_by_kind by_kind;
        by_kind.set_all(kind::spare_npu, 1, up).set_all(kind::cpu, numbers_.cpus, up);
        by_kind.set(kind::nic, numbers_.nics, [&](std::uint32_t j) {
            return j / 2 == plane ? ub_to_port(spine_port_ + 2 * j % k_spines_per_plane, 2) : ub_to_port(j % npus);
        });
        t.step(segment::kind_and_unit, by_kind.entries, true);
        t.step(segment::unit, ub_row_of_ports(npus, npus), true);
    }

    void spine_table(std::uint32_t s, ub_table_maker& t) const
    {
        const ub_entries leaves = ub_row_of_ports(8, shape_.boards);
        ub_by_kind by_kind;
        by_kind.set_all(kind::spare_npu, 1, ub_to_port(spare_port()));
        by_kind.set(kind::cpu, numbers_.cpus, [&](std::uint32_t j) { return ub_to_port(cpu_port_ + j); });
        by_kind.set(kind::nic, numbers_.nics,
                    [&](std::uint32_t j) { return ub_to_port(j == s / 2 ? nic_port() : j % shape_.boards); });
        t.step(segment::board, leaves, false, segment::pod_and_rack);
        t.step(segment::kind_and_unit, by_kind.entries, true).step(segment::board, leaves, true);
    }

    void hrs_table(ub_table_maker& t) const
    {
        ub_entries e(128);
        for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack) {
            const std::uint32_t in_pod = rack % shape_.racks_per_pod();
            const std::uint32_t place = in_pod / shape_.rack_cols * 4 + in_pod % shape_.rack_cols;
            if (clos_of_racks_)
                for (std::uint32_t y = 0; y < shape_.boards; ++y)
                    e[place * 8 + y] = ub_to_port(rack * shape_.boards + y);
            else
                e[rack / shape_.racks_per_pod() * 16 + place] = ub_to_port(rack);
        }
        t.step(clos_of_racks_ ? segment::rack_and_board : segment::pod_and_rack, e, true);
    }
};

} // namespace

std::unique_ptr<ub_generator> ub_full_mesh_2d(const ub_shape& shape, const ub_cables& cables)
{
    return std::make_unique<full_mesh_2d>(shape, cables);
}

} // namespace weft
