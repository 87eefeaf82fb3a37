// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// UB-Mesh as routers, links, addresses and linear tables: board, rack, pod, SuperPod, and the baselines of Fig. 16 and 18. Pure
// C++. Every number of the lane ledger is counted from the links that were made, never from the shape, and asserted.
#pragma once

#include "hw/ub/ub_plan.h"
#include "platforms/topology/fabric_graph.h"
#include "platforms/ub_mesh/ub_shape.h"

#include <string>
#include <vector>

namespace weft {

/// Lanes counted from the links (a link both ways is counted once, with its lanes).
struct ub_ledger {
    std::uint64_t npus = 0, spares = 0, cpus = 0, nics = 0, lrs = 0, hrs = 0;
    std::uint32_t lanes_per_npu = 0;     ///< the most of any NPU
    std::uint32_t lanes_x = 0, lanes_y = 0, lanes_backplane = 0; ///< of one NPU
    std::uint32_t lanes_per_cpu = 0;
    std::uint32_t most_lanes_lrs = 0;    ///< of the fullest LRS
    std::uint32_t most_lanes_hrs = 0;
    std::uint32_t lanes_per_rack_link = 0; ///< of one pair of racks
    std::uint32_t export_per_plane = 0;  ///< lanes that leave one back-plane of a rack
    std::uint32_t export_per_rack = 0;
    std::uint64_t table_bytes_npu = 0;   ///< of one NPU, linear
    std::uint64_t flat_table_bytes = 0;  ///< of a flat table over all NPUs
    std::vector<std::string> violations; ///< what exceeds x72, x32, x512 or differs from a printed figure: "" sentences
    std::string text() const;            ///< lines for `weft check`
};

class ub_topology {
public:
    static constexpr std::uint32_t k_none = 0xffff'ffff;
    explicit ub_topology(const ub_shape& shape, const ub_cables& cables = {});

    const ub_shape& shape() const;
    /// Routers, links, tables, endpoints: NPUs by rank, then spare NPUs by rack, CPUs, NICs. Without lanes rule and paths.
    const ub_plan& plan() const;
    fabric_graph graph() const; ///< the same as a graph, k_ub_lanes_per_class VLs a link
    ub_ledger ledger() const;

    // rank = ((pod * racks per pod + rack) * boards + board) * npus + npu; racks are numbered over all pods where said so.
    std::uint32_t npu_router(std::uint32_t rank) const;
    std::uint32_t spare_router(std::uint32_t rack_of_all) const; ///< k_none where there is none
    std::uint32_t leaf(std::uint32_t rack_of_all, std::uint32_t plane, std::uint32_t board) const;
    abi::ub::address address_of(std::uint32_t rank) const;
    std::uint32_t rank_of(const abi::ub::address& a) const; ///< of an NPU
    /// Links from router to router (several in a switched rack), k_none/empty where there is none.
    std::uint32_t link_between(std::uint32_t from, std::uint32_t to) const;
    std::uint32_t reverse_of(std::uint32_t link) const;
};

} // namespace weft
