// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// UB-Mesh as routers, links, addresses and linear tables: board, rack, pod, SuperPod, and the baselines of Fig. 16 and
// 18. Pure C++. Every number of the lane ledger is counted from the links that were made, never from the shape.
//
// Quoted (UB-Mesh, arXiv 2503.20377, table 3, Fig. 7, 8, 16, 18): NPU x72, CPU x32, LRS x72, HRS x512; 8 x 8 NPUs, 8
// CPUs, 8 NICs and a spare NPU a rack; x256 out of each of four backplanes, x128 from rack to rack; 36 LRS + 4 HRS a
// rack (1D-FM-A), 16 LRS + 8 HRS (1D-FM-B), 72 LRS (Clos). Derived, the one split that fits: an NPU has 7 X, 7 Y and
// 4 backplane ports x4; a backplane has 8 leaf and 4 spine LRS; leaf: 8 NPUs x4, 6 racks x4, 2 HRS x4, 4 spines x2;
// spine: 8 leaves x2, 8 CPUs x2, spare NPU x4. HRS (plane, board, k) has one x4 port a rack. Assumed: a leaf meets
// the leaf of the same plane and board of the other rack; NIC j has x4 to spines 2j and 2j + 1; backplanes beyond the
// fourth (more than x16 an NPU) have leaves only.
// What is ours in the baselines is said where they are built.
//
// A ub_generator for each kind of rack builds it; ports and tables are described there.
#pragma once

#include "hw/routing/ub/ub_generator.h"
#include "hw/routing/ub/ub_plan.h"
#include "hw/routing/ub/ub_shape.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// Lanes counted from the links (a link both ways is counted once, with its lanes).
struct ub_ledger {
    std::uint64_t npus = 0, spares = 0, cpus = 0, nics = 0, lrs = 0, hrs = 0;
    std::uint32_t leaves_per_plane = 0, spines_per_plane = 0, planes = 0; ///< of a 2d_fm rack
    std::uint32_t lanes_per_npu = 0;                                      ///< the most of any NPU
    std::uint32_t ports_per_npu = 0;
    std::uint32_t lanes_x = 0, lanes_y = 0, lanes_backplane = 0; ///< of one NPU; to switches: backplane
    std::uint32_t lanes_per_cpu = 0, lanes_per_spare = 0, lanes_per_nic = 0;
    std::uint32_t most_lanes_lrs = 0; ///< of the fullest LRS
    std::uint32_t most_lanes_leaf = 0, most_lanes_spine = 0;
    std::uint32_t most_lanes_hrs = 0;
    std::uint32_t lanes_per_rack_link = 0; ///< of one pair of racks
    std::uint32_t export_per_plane = 0;    ///< lanes that leave one backplane of a rack, to racks and HRS
    std::uint32_t export_per_rack = 0;
    // What an NPU's share of each level is (Fig. 7 prints x56, x12, x4).
    std::uint32_t share_rack = 0;        ///< X and Y lanes of an NPU
    std::uint32_t share_inter_rack = 0;  ///< lanes rack to rack / NPUs
    std::uint32_t share_hrs = 0;         ///< lanes to HRS of pods / NPUs
    std::uint64_t table_bytes_npu = 0;   ///< of one NPU, linear
    std::uint64_t table_bytes_most = 0;  ///< of the router with the largest table
    std::uint64_t flat_table_bytes = 0;  ///< of a flat table over all endpoints
    std::vector<std::string> violations; ///< sentences: what exceeds x72, x32, x512, or does not divide
    std::string text() const;            ///< lines for `weft check`
};

class ub_topology {
public:
    static constexpr std::uint32_t k_none = 0xffff'ffff;
    static constexpr std::uint32_t k_least_planes = ub_generator::k_least_planes,
                                   k_spines_per_plane = ub_generator::k_spines_per_plane;
    static constexpr std::uint32_t k_npu_lanes = 72, k_cpu_lanes = ub_generator::k_cpu_lanes, k_lrs_lanes = 72, k_hrs_lanes = 512;

    /// Why a shape cannot be built at all (too wide for the address, a baseline with several pods, ...). Lanes that do
    /// not fit are no reason: they are violations of the ledger.
    static std::vector<std::string> problems(const ub_shape& shape);
    /// Throws std::invalid_argument with the first of problems().
    explicit ub_topology(const ub_shape& shape, const ub_cables& cables = {});

    const ub_shape& shape() const { return shape_; }
    /// Routers, links, tables, endpoints: NPUs by rank, then spare NPUs by rack, CPUs, NICs. Without lane rule and
    /// paths. Endpoint i is router i. Links come in pairs, one direction each.
    const ub_plan& plan() const { return plan_; }
    ub_ledger ledger() const;

    std::uint32_t routers() const { return static_cast<std::uint32_t>(plan_.routers.size()); }
    std::uint32_t endpoints() const { return static_cast<std::uint32_t>(plan_.endpoint_router.size()); }
    std::uint32_t planes() const { return numbers_.planes; }
    std::uint32_t spines_per_rack() const { return numbers_.spines; }
    std::uint32_t cpus_per_rack() const { return numbers_.cpus; }
    std::uint32_t nics_per_rack() const { return numbers_.nics; }

    // rank = ((pod * racks per pod + rack) * boards + board) * npus + npu; racks are numbered over all pods where said
    // so.
    std::uint32_t npu_router(std::uint32_t rank) const { return rank; }
    std::uint32_t spare_router(std::uint32_t rack_of_all) const; ///< k_none where there is none
    std::uint32_t cpu_router(std::uint32_t rack_of_all, std::uint32_t j) const;
    std::uint32_t nic_router(std::uint32_t rack_of_all, std::uint32_t j) const;
    std::uint32_t leaf(std::uint32_t rack_of_all, std::uint32_t plane, std::uint32_t board) const; ///< of a 2d_fm rack
    std::uint32_t spine(std::uint32_t rack_of_all, std::uint32_t s) const; ///< s = plane * 4 + i
    std::uint32_t
    hrs(std::uint32_t h) const; ///< of 2d_fm racks: (plane * boards + board) * 2 + k; Clos pods: plane * 8 + k
    const abi::ub::address& address_of(std::uint32_t router) const { return plan_.routers[router].place; }
    std::uint32_t rank_of(const abi::ub::address& a) const; ///< of an NPU; k_none where there is none
    const ub_place& place_of(std::uint32_t router) const { return places_[router]; }

    /// First link from router to router, k_none where there is none.
    std::uint32_t link_between(std::uint32_t from, std::uint32_t to) const;
    std::uint32_t reverse_of(std::uint32_t link) const { return link ^ 1u; }
    std::uint32_t out_link(std::uint32_t router, std::uint32_t port) const
    {
        return out_links_[port_base_[router] + port];
    }
    /// The link that comes in through a port.
    std::uint32_t in_link(std::uint32_t router, std::uint32_t port) const
    {
        const std::uint32_t out = out_link(router, port);
        return out == k_none ? k_none : out ^ 1u;
    }
    std::uint32_t ports(std::uint32_t router) const { return plan_.routers[router].ports; }
    abi::ub::table_view table_of(std::uint32_t router) const;
    /// Links from router to everywhere (k_none: not reachable), over links not marked in `down`, and what may pass on:
    /// endpoints relay too. For the time that a flood takes.
    std::vector<std::uint32_t> hops_from(std::uint32_t router, const std::vector<bool>& down = {}) const;

private:
    void index_ports();

    ub_shape shape_;
    ub_plan plan_;
    std::vector<ub_place> places_; ///< of routers
    std::vector<std::string> remarks_; ///< violations seen while building
    ub_numbering numbers_;
    std::vector<std::uint32_t> port_base_, out_links_;
};

} // namespace weft
