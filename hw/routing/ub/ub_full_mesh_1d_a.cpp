// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Racks 1D-FM-A of Fig. 16: X mesh; x16 of an NPU to LRS, x16 to HRS; 36 LRS and 4 HRS a rack (quoted: printed, as in
// ub_topology.h). Ours: four planes of an LRS for each column, which joins the NPUs of that column over all boards (Y
// by switch), x1 to every CPU (32 columns x1 = x32) and x4 to a ninth LRS of the plane, which serves the spare NPU
// (x16) and NICs (x8 each, two a plane). Each HRS has x4 to every NPU of the rack and a quarter of every link to
// another rack.
//
// Ports. NPU: X, planes, HRS. LRS of a column (a leaf): boards, CPUs, ninth LRS. Ninth LRS (a spine): columns, spare,
// NICs. HRS: NPUs, columns of racks, rows of racks. CPU: columns of four planes.
#include "hw/routing/ub/ub_generator.h"

#include <fmt/format.h>

namespace weft {

namespace {

class full_mesh_1d_a final : public ub_generator {
public:
    full_mesh_1d_a(const ub_shape& shape, const ub_cables& cables) : ub_generator(shape, cables)
    {
        numbers_.planes = numbers_.spines = k_planes;
        numbers_.leaves = k_planes * shape.npus;
        numbers_.rack_hrs = k_hrs;
    }

private:
    static constexpr std::uint32_t k_planes = k_least_planes, k_hrs = 4;
    // First ports. NPU:
    const std::uint32_t plane_port_ = shape_.npus - 1, hrs_port_ = plane_port_ + k_planes;
    // LRS of a column:
    const std::uint32_t cpu_port_ = shape_.boards, side_port_ = cpu_port_ + shape_.boards;
    // Ninth LRS:
    const std::uint32_t spare_port_ = shape_.npus, nic_port_ = spare_port_ + 1;

    std::uint32_t column_lrs(std::uint32_t rack, std::uint32_t plane, std::uint32_t column) const
    {
        return numbers_.first_leaf + rack * numbers_.leaves + plane * shape_.npus + column;
    }
    std::uint32_t hrs(std::uint32_t rack, std::uint32_t h) const { return numbers_.first_hrs + rack * k_hrs + h; }

    void build() override
    {
        add_npus(hrs_port_ + k_hrs, plane_port_ + (k_planes + k_hrs) / 2);
        add_side_nodes(k_planes, numbers_.leaves, 1);
        add_switches();
        for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack) {
            connect_boards(rack);
            for (std::uint32_t plane = 0; plane < k_planes; ++plane)
                connect_plane(rack, plane);
            for (std::uint32_t h = 0; h < k_hrs; ++h)
                for (std::uint32_t i = 0; i < shape_.npus_per_rack(); ++i)
                    connect_up(npu(rack, 0, 0) + i, hrs_port_ + h, hrs(rack, h), i, k_port_lanes);
        }
        connect_racks(numbers_.first_hrs, k_hrs, shape_.npus_per_rack(), shape_.rack_link_lanes / k_hrs);
    }

    void add_switches()
    {
        for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack)
            for (std::uint32_t plane = 0; plane < k_planes; ++plane)
                for (std::uint32_t column = 0; column < shape_.npus; ++column) {
                    ub_place at;
                    at.is = role::leaf;
                    at.rack = static_cast<std::int32_t>(rack);
                    at.plane = static_cast<std::int16_t>(plane);
                    at.unit = static_cast<std::int8_t>(column);
                    add_router(ub_device::lrs, at, fmt::format("lrs({},{}.{})", rack_name(rack), plane + 1, column + 1),
                               side_port_ + 1);
                }
        numbers_.first_spine = next_router();
        for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack)
            for (std::uint32_t plane = 0; plane < k_planes; ++plane)
                add_switch(ub_device::lrs, role::spine, rack, plane,
                           fmt::format("lrs({},{}.side)", rack_name(rack), plane + 1),
                           nic_port_ + (numbers_.nics + 3 - plane) / 4);
        numbers_.first_hrs = next_router();
        for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack)
            for (std::uint32_t h = 0; h < k_hrs; ++h)
                add_switch(ub_device::hrs, role::hrs, rack, h, fmt::format("hrs({},{})", rack_name(rack), h),
                           shape_.npus_per_rack() + links_to_racks());
    }

    void connect_plane(std::uint32_t rack, std::uint32_t plane)
    {
        for (std::uint32_t column = 0; column < shape_.npus; ++column) {
            const std::uint32_t lrs = column_lrs(rack, plane, column);
            for (std::uint32_t board = 0; board < shape_.boards; ++board)
                connect_up(npu(rack, board, column), plane_port_ + plane, lrs, board,
                           shape_.backplane_lanes / k_planes);
            for (std::uint32_t j = 0; j < numbers_.cpus; ++j)
                connect_side(cpu(rack, j), column * k_planes + plane, lrs, cpu_port_ + j, 1);
            connect_spine(lrs, side_port_, spine(rack, plane), column, 4);
        }
        connect_side(spare(rack), plane, spine(rack, plane), spare_port_, 16);
        for (std::uint32_t j = plane; j < numbers_.nics; j += k_planes)
            connect_side(nic(rack, j), 0, spine(rack, plane), nic_port_ + j / k_planes, 8);
    }

    // --- Tables. A NIC hangs on one plane; what comes to another one changes the plane at an NPU.

    void make_table(std::uint32_t router, const ub_place& at, ub_table_maker& t) const override
    {
        switch (at.is) {
        case role::npu: npu_table(at, t); break;
        case role::leaf: column_table(static_cast<std::uint32_t>(at.plane), t); break;
        case role::spine: ninth_table(static_cast<std::uint32_t>(at.plane), t); break;
        case role::hrs: hrs_table(at, t); break;
        default: {
            ub_by_kind by_kind = over_all_ports(router);
            if (at.is == role::cpu)
                by_kind.set(kind::npu, shape_.npus, [](std::uint32_t u) { return ub_to_port(u * k_planes, k_planes); });
            if (at.is != role::nic)
                by_kind.set(kind::nic, numbers_.nics, [](std::uint32_t j) { return ub_to_port(j % k_planes); });
            side_node_table(by_kind, t);
            break;
        }
        }
    }

    void npu_table(const ub_place& at, ub_table_maker& t) const
    {
        const abi::ub::table_entry lrs = ub_to_port(plane_port_, k_planes);
        ub_by_kind by_kind;
        by_kind.set_all(kind::spare_npu, 1, lrs).set_all(kind::cpu, numbers_.cpus, lrs);
        by_kind.set(kind::nic, numbers_.nics, [&](std::uint32_t j) { return ub_to_port(plane_port_ + j % k_planes); });
        t.step(segment::rack, ub_entries(16, ub_to_port(hrs_port_, k_hrs)));
        t.step(segment::kind_and_unit, by_kind.entries, true);
        t.step(segment::unit, ub_mesh_entries(0, static_cast<std::uint32_t>(at.unit), shape_.npus));
        t.step(segment::board, ub_entries(shape_.boards, lrs));
    }

    void column_table(std::uint32_t plane, ub_table_maker& t) const
    {
        const ub_entries boards = ub_row_of_ports(8, shape_.boards);
        ub_by_kind by_kind;
        by_kind.set_all(kind::spare_npu, 1, ub_to_port(side_port_));
        by_kind.set(kind::cpu, numbers_.cpus, [&](std::uint32_t j) { return ub_to_port(cpu_port_ + j); });
        by_kind.set(kind::nic, numbers_.nics, [&](std::uint32_t j) {
            return ub_to_port(j % k_planes == plane ? side_port_ : j % shape_.boards);
        });
        t.step(segment::board, boards, false, segment::rack).step(segment::kind_and_unit, by_kind.entries, true);
        t.step(segment::board, boards, true);
    }

    void ninth_table(std::uint32_t plane, ub_table_maker& t) const
    {
        const ub_entries columns = ub_row_of_ports(8, shape_.npus);
        ub_by_kind by_kind;
        by_kind.set_all(kind::spare_npu, 1, ub_to_port(spare_port_));
        by_kind.set(kind::cpu, numbers_.cpus, [&](std::uint32_t j) { return ub_to_port(j % shape_.npus); });
        by_kind.set(kind::nic, numbers_.nics, [&](std::uint32_t j) {
            return ub_to_port(j % k_planes == plane ? nic_port_ + j / k_planes : j % shape_.npus);
        });
        t.step(segment::unit, columns, false, segment::rack).step(segment::kind_and_unit, by_kind.entries, true);
        t.step(segment::unit, columns, true);
    }

    void hrs_table(const ub_place& at, ub_table_maker& t) const
    {
        const std::uint32_t npus = shape_.npus_per_rack();
        ub_by_kind by_kind;
        by_kind.set_all(kind::spare_npu, 1, ub_to_port(static_cast<std::uint32_t>(at.plane) % npus));
        by_kind.set(kind::cpu, numbers_.cpus, [=](std::uint32_t j) { return ub_to_port(j % npus); });
        by_kind.set(kind::nic, numbers_.nics, [=](std::uint32_t j) { return ub_to_port(j % npus); });
        rack_hrs_table(at, npus, by_kind, t);
    }
};

} // namespace

std::unique_ptr<ub_generator> ub_full_mesh_1d_a(const ub_shape& shape, const ub_cables& cables)
{
    return std::make_unique<full_mesh_1d_a>(shape, cables);
}

} // namespace weft
