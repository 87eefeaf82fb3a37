// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Clos rack of Fig. 16: 72 LRS, no links between NPUs (quoted: printed, as in ub_topology.h). 8 + 10 LRS a backplane do
// not make a two-stage Clos of x72 switches for 64 NPUs x72: two stages would need the lanes twice. Ours: one stage,
// every NPU x1 to each of the 72 LRS. 8 lanes of an LRS are left: LRS 0..31 have x1 to every CPU (x32), LRS 32..39 x1
// to every NIC (x8), LRS 40..71 x2 to the spare NPU (x64).
//
// Ports. NPU: LRS. LRS (a leaf): NPUs, then CPUs, NICs or the spare NPU.
#include "hw/routing/ub/ub_generator.h"

#include <fmt/format.h>

namespace weft {

namespace {

class clos_rack final : public ub_generator {
public:
    clos_rack(const ub_shape& shape, const ub_cables& cables) : ub_generator(shape, cables) { numbers_.leaves = k_lrs; }

private:
    static constexpr std::uint32_t k_lrs = 72, k_cpu_lrs = 32, k_nic_lrs = 8, k_first_nic_lrs = k_cpu_lrs,
                                   k_first_spare_lrs = k_cpu_lrs + k_nic_lrs, k_spare_lrs = k_lrs - k_first_spare_lrs;
    const std::uint32_t npus_ = shape_.npus_per_rack(), side_port_ = npus_;

    static bool serves_cpus(std::uint32_t lrs) { return lrs < k_cpu_lrs; }
    static bool serves_nics(std::uint32_t lrs) { return lrs >= k_first_nic_lrs && lrs < k_first_spare_lrs; }
    static bool serves_spare(std::uint32_t lrs) { return lrs >= k_first_spare_lrs; }

    void build() override
    {
        add_npus(k_lrs, k_lrs / 2);
        add_side_nodes(k_spare_lrs, k_cpu_lrs, k_nic_lrs);
        for (std::uint32_t i = 0; i < k_lrs; ++i)
            add_switch(ub_device::lrs, role::leaf, 0, i, fmt::format("lrs({},{})", rack_name(0), i),
                       side_port_ + (serves_spare(i) ? 1 : numbers_.cpus));
        numbers_.first_spine = numbers_.first_hrs = next_router();
        for (std::uint32_t i = 0; i < k_lrs; ++i)
            connect_lrs(i);
    }

    void connect_lrs(std::uint32_t i)
    {
        const std::uint32_t lrs = numbers_.first_leaf + i;
        for (std::uint32_t rank = 0; rank < npus_; ++rank)
            connect_up(rank, i, lrs, rank, 1);
        if (serves_cpus(i))
            for (std::uint32_t j = 0; j < numbers_.cpus; ++j)
                connect_side(cpu(0, j), i, lrs, side_port_ + j, 1);
        else if (serves_nics(i))
            for (std::uint32_t j = 0; j < numbers_.nics; ++j)
                connect_side(nic(0, j), i - k_first_nic_lrs, lrs, side_port_ + j, 1);
        else
            connect_side(spare(0), i - k_first_spare_lrs, lrs, side_port_, 2);
    }

    // --- Tables. Where an LRS has no port to what is wanted, an NPU passes it on.

    void make_table(std::uint32_t router, const ub_place& at, ub_table_maker& t) const override
    {
        switch (at.is) {
        case role::npu: npu_table(t); break;
        case role::leaf: lrs_table(static_cast<std::uint32_t>(at.plane), t); break;
        default: side_node_table(over_all_ports(router), t); break;
        }
    }

    void npu_table(ub_table_maker& t) const
    {
        ub_by_kind by_kind;
        by_kind.set_all(kind::npu, 8, ub_to_port(0, k_lrs));
        by_kind.set_all(kind::spare_npu, 1, ub_to_port(k_first_spare_lrs, k_spare_lrs));
        by_kind.set_all(kind::cpu, numbers_.cpus, ub_to_port(0, k_cpu_lrs));
        by_kind.set_all(kind::nic, numbers_.nics, ub_to_port(k_first_nic_lrs, k_nic_lrs));
        t.step(segment::kind_and_unit, by_kind.entries).again(segment::board);
    }

    void lrs_table(std::uint32_t i, ub_table_maker& t) const
    {
        const auto here_or_npu = [this](bool here) {
            return [this, here](std::uint32_t j) { return ub_to_port(here ? side_port_ + j : j % npus_); };
        };
        ub_by_kind by_kind;
        by_kind.set_all(kind::spare_npu, 1, ub_to_port(serves_spare(i) ? side_port_ : 0));
        by_kind.set(kind::cpu, numbers_.cpus, here_or_npu(serves_cpus(i)));
        by_kind.set(kind::nic, numbers_.nics, here_or_npu(serves_nics(i)));
        t.step(segment::kind_and_unit, by_kind.entries, true).step(segment::board_and_unit, npus_by_place(0), true);
    }
};

} // namespace

std::unique_ptr<ub_generator> ub_clos_rack(const ub_shape& shape, const ub_cables& cables)
{
    return std::make_unique<clos_rack>(shape, cables);
}

} // namespace weft
