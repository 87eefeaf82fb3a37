// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Racks 1D-FM-B of Fig. 16: X mesh; x32 of an NPU to switches; 16 LRS and 8 HRS a rack (quoted: printed, as in
// ub_topology.h). Ours: x4 of every NPU to each of the eight HRS, which join boards and racks; two LRS at each HRS (x32
// each) for the CPUs (x2 to every LRS), the spare NPU (x4 to every LRS) and NICs (two x4).
//
// Ports. NPU: X, HRS. HRS: NPUs, columns of racks, rows of racks, two LRS. LRS (a spine): HRS, CPUs, spare, NIC.
#include "hw/routing/ub/ub_generator.h"

#include <fmt/format.h>

namespace weft {

namespace {

class full_mesh_1d_b final : public ub_generator {
public:
    full_mesh_1d_b(const ub_shape& shape, const ub_cables& cables) : ub_generator(shape, cables)
    {
        numbers_.spines = k_lrs;
        numbers_.rack_hrs = k_hrs;
    }

private:
    static constexpr std::uint32_t k_lrs = 16, k_hrs = 8;
    // First ports. NPU:
    const std::uint32_t up_port_ = shape_.npus - 1;
    // HRS:
    const std::uint32_t rack_port_ = shape_.npus_per_rack(), lrs_port_ = rack_port_ + links_to_racks();
    // LRS, behind its HRS:
    static constexpr std::uint32_t k_cpu_port = 1;

    std::uint32_t spare_port() const { return k_cpu_port + numbers_.cpus; }
    std::uint32_t nic_port() const { return spare_port() + 1; }
    std::uint32_t hrs(std::uint32_t rack, std::uint32_t h) const { return numbers_.first_hrs + rack * k_hrs + h; }

    void build() override
    {
        add_npus(up_port_ + k_hrs, up_port_ + k_hrs / 2);
        add_side_nodes(k_lrs, k_lrs, 2);
        add_switches();
        for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack) {
            connect_boards(rack);
            for (std::uint32_t h = 0; h < k_hrs; ++h)
                for (std::uint32_t i = 0; i < shape_.npus_per_rack(); ++i)
                    connect_up(npu(rack, 0, 0) + i, up_port_ + h, hrs(rack, h), i, k_port_lanes);
            for (std::uint32_t s = 0; s < k_lrs; ++s)
                connect_lrs(rack, s);
        }
        connect_racks(numbers_.first_hrs, k_hrs, rack_port_, shape_.rack_link_lanes / k_hrs);
    }

    void add_switches()
    {
        numbers_.first_spine = next_router();
        for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack)
            for (std::uint32_t s = 0; s < k_lrs; ++s)
                add_switch(ub_device::lrs, role::spine, rack, s, fmt::format("lrs({},{})", rack_name(rack), s),
                           nic_port() + (has_nic(s) ? 1 : 0));
        numbers_.first_hrs = next_router();
        for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack)
            for (std::uint32_t h = 0; h < k_hrs; ++h)
                add_switch(ub_device::hrs, role::hrs, rack, h, fmt::format("hrs({},{})", rack_name(rack), h),
                           lrs_port_ + 2);
    }

    void connect_lrs(std::uint32_t rack, std::uint32_t s)
    {
        connect_spine(hrs(rack, s / 2), lrs_port_ + s % 2, spine(rack, s), 0, 32);
        connect_side_nodes(rack, s, k_cpu_port, 2);
    }

    // --- Tables. A NIC hangs on one HRS; what comes to another one changes it at an NPU.

    void make_table(std::uint32_t router, const ub_place& at, ub_table_maker& t) const override
    {
        switch (at.is) {
        case role::npu: npu_table(at, t); break;
        case role::spine: lrs_table(static_cast<std::uint32_t>(at.plane), t); break;
        case role::hrs: hrs_table(at, t); break;
        default: side_node_table(router, at, t); break;
        }
    }

    void npu_table(const ub_place& at, ub_table_maker& t) const
    {
        const abi::ub::table_entry up = ub_to_port(up_port_, k_hrs);
        ub_by_kind by_kind;
        by_kind.set_all(kind::spare_npu, 1, up).set_all(kind::cpu, numbers_.cpus, up);
        by_kind.set(kind::nic, numbers_.nics, [&](std::uint32_t j) { return ub_to_port(up_port_ + j); });
        t.step(segment::kind_and_unit, by_kind.entries, true).step(segment::rack, ub_entries(16, up));
        t.step(segment::board, ub_entries(shape_.boards, up));
        t.step(segment::unit, ub_mesh_entries(0, static_cast<std::uint32_t>(at.unit), shape_.npus));
    }

    void lrs_table(std::uint32_t s, ub_table_maker& t) const
    {
        const abi::ub::table_entry up = ub_to_port(0);
        ub_by_kind by_kind;
        by_kind.set_all(kind::npu, 8, up).set_all(kind::spare_npu, 1, ub_to_port(spare_port()));
        by_kind.set(kind::cpu, numbers_.cpus, [](std::uint32_t j) { return ub_to_port(k_cpu_port + j); });
        by_kind.set(kind::nic, numbers_.nics,
                    [&](std::uint32_t j) { return j == s / 2 ? ub_to_port(nic_port()) : up; });
        t.step(segment::rack, ub_entries(16, up)).step(segment::kind_and_unit, by_kind.entries, true);
    }

    void hrs_table(const ub_place& at, ub_table_maker& t) const
    {
        const std::uint32_t npus = shape_.npus_per_rack();
        const auto plane = static_cast<std::uint32_t>(at.plane);
        const abi::ub::table_entry side = ub_to_port(lrs_port_, 2);
        ub_by_kind by_kind;
        by_kind.set_all(kind::spare_npu, 1, side).set_all(kind::cpu, numbers_.cpus, side);
        by_kind.set(kind::nic, numbers_.nics,
                    [=](std::uint32_t j) { return j == plane ? side : ub_to_port(j % npus); });
        rack_hrs_table(at, rack_port_, by_kind, t);
    }
};

} // namespace

std::unique_ptr<ub_generator> ub_full_mesh_1d_b(const ub_shape& shape, const ub_cables& cables)
{
    return std::make_unique<full_mesh_1d_b>(shape, cables);
}

} // namespace weft
