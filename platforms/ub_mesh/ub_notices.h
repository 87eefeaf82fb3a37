// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How the sources of a UB machine learn that a link is down (UB-Mesh, section 4.2, Fig. 12), and when.
//
//   direct      the ends of the link know, from precomputed routes, which sources use it, and tell just them:
//               failure + detection + way of the notice from the nearer end + notice_software + table_write
//   hop_by_hop  every device tells its neighbours, after its control plane has worked on it:
//               failure + detection + min over the ways of sum(wire + flood_per_hop) + flood_per_hop at the source + table_write
//
// Of a device that fails all neighbours know, and each tells its sources: the nearest neighbour stands for the nearer end.
// Who falls back to the link because others are down is told as well: ub_fall_backs.h.
// Notices are times, not packets: they are a cell each, on the management VL, and take the way of least latency at zero load.
// Source of the mechanisms: the paper (Q); of the times: assumed, see ub_faults_config.
#pragma once

#include "hw/ub/ub_config.h"
#include "platforms/ub_mesh/ub_faults.h"
#include "hw/routing/ub/ub_topology.h"

#include <cstdint>
#include <vector>

namespace weft {

struct ub_notice {
    std::uint32_t source;   ///< endpoint
    std::uint64_t after_ps; ///< from the failure until its controller uses other paths
};

/// What has failed: a link and its reverse, or a device with all of its links.
struct ub_failed_part {
    ub_failed_part(std::uint32_t link_number) : link(link_number) {} // so that a link may stand for itself
    static ub_failed_part of_device(std::uint32_t router)
    {
        ub_failed_part part(ub_topology::k_none);
        part.device = router;
        return part;
    }
    std::uint32_t link, device = ub_topology::k_none;
};

class ub_notices {
public:
    ub_notices(const ub_topology& topology, const ub_config& ub, const ub_faults_config& faults)
        : topology_(topology), ub_(ub), faults_(faults)
    {
    }

    /// Sources that use what has failed, in order, and when they stop. Empty with notification: none.
    std::vector<ub_notice> of(const ub_failed_part& part, const std::vector<std::uint32_t>& affected) const;
    /// From the failure until the farthest source of the machine could have left it; 0 with notification: none.
    std::uint64_t slowest_ps(const ub_failed_part& part) const;
    std::uint64_t detection_ps() const { return ub_.detection.value(); } ///< part of every notice's time
    /// The last of them; 0 when there are none.
    static std::uint64_t last_after_ps(const std::vector<ub_notice>& notices);

private:
    std::vector<std::uint64_t> ways_from_ends(const ub_failed_part& part, std::uint64_t work_per_hop_ps) const;

    const ub_topology& topology_;
    const ub_config& ub_;
    const ub_faults_config& faults_;
};

} // namespace weft
