// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// When the sources of a UB machine have left what has failed: in closed form, with nobody else on the wires, and at
// most. ub_notices.h sends the packets; this tells what is to be expected of them, for waits, warnings and tests.
//
//   direct      detection + way of the notice from the nearer end + notice_software + table_write
//   hop_by_hop  detection + min over the ways of sum(flood_per_hop + hop) + flood_per_hop at the source + table_write
//
// A hop or a way is that of a packet from control processor to control processor (ub_management_ways). At most: at
// every link on the way the notice waits for a full packet that is being transmitted, with its control blocks, and for
// every other message of the same failures. That bound holds where links are as wide as they were built and without
// retries for bit errors, and while the notices that wait behind a link fit in its buffer; a notice that is lost on a
// second failure comes later, at most by repeats_ps().
#pragma once

#include "hw/routing/ub/ub_topology.h"
#include "hw/ub/ub_management_ways.h"
#include "hw/ub/ub_notice_config.h"

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
    bool is_device() const { return device != ub_topology::k_none; }
    std::uint32_t link, device = ub_topology::k_none;
    std::vector<std::uint32_t> links(const ub_plan& plan) const; ///< both directions, sorted
    /// Routers that see it: both ends of a link, the neighbours of a device; sorted.
    std::vector<std::uint32_t> ends(const ub_plan& plan) const;
};

class ub_notice_times {
public:
    /// `plan` has the rule of lanes; `down`: links that are down from the start, or empty. All must outlive this.
    ub_notice_times(const ub_plan& plan, const ub_config& ub, const ub_notice_config& notice,
                    const std::vector<bool>& down);

    /// Sources that use what has failed, in order, and when they stop, with nobody else on the wires. Empty with
    /// notification: none.
    std::vector<ub_notice> of(const ub_failed_part& part, const std::vector<std::uint32_t>& affected) const;
    /// The slowest of them at most, when `messages` other messages are under way.
    std::uint64_t at_most_ps(const ub_failed_part& part, const std::vector<std::uint32_t>& affected,
                             std::uint64_t messages) const;
    /// The same over all endpoints, with all messages of `failures` failures and repeats of what is lost: no source
    /// waits for longer.
    std::uint64_t patience_ps(const ub_failed_part& part, std::uint64_t failures) const;
    /// Direct: from the first try of a notice until the last one has been in vain.
    std::uint64_t repeats_ps() const;
    /// Direct: packets that tell `sources` of one failure when none is lost: a notice each, and acknowledgements to two
    /// ends.
    static std::uint64_t messages_for(std::uint64_t sources) { return 3 * sources; }

    /// All messages of `failures` failures, and of links that work again, that one of them may wait for.
    std::uint64_t messages_of(std::uint64_t failures, std::uint64_t sources) const;

    /// Work on a notice at its source, until other paths are in use.
    std::uint64_t work_ps() const;
    /// From a control processor to the next one.
    std::uint64_t hop_ps(std::uint32_t link) const
    {
        return ways_.zero_load_ps({ways_.plan().links[link].from, {link}, {0}});
    }
    const ub_management_ways& ways() const { return ways_; }
    /// The last of them; 0 when there are none.
    static std::uint64_t last_after_ps(const std::vector<ub_notice>& notices);

private:
    struct arrival {
        std::uint64_t ps;       ///< zero load, work of control processors included
        std::uint64_t load_ps;  ///< what full packets add, one a link
        std::uint64_t slots_ps; ///< what another message adds at most
    };
    std::vector<arrival> arrivals(const ub_failed_part& part, const std::vector<std::uint32_t>& sources) const;
    arrival over(const std::vector<std::uint32_t>& links) const;

    const ub_plan& plan_;
    const ub_config& ub_;
    const ub_notice_config& notice_;
    const std::vector<bool>& down_;
    ub_management_ways ways_;
};

} // namespace weft
