// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Ways of management packets, from any device to any device: the quickest ones at zero load that the rule of lanes
// admits and one header holds.
// Plain C++.
//
// A management packet has an instruction for every hop, so a header leads over six links at most. It begins at a
// control processor as a packet begins at a chip, on lane 0, also at a switch. Where the rule or the header end, and no
// other way is left, a control processor on the way takes the packet and sends it on with a header of its own, as if it
// began there.
#pragma once

#include "hw/routing/ub/ub_plan.h"
#include "hw/ub/ub_config.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace weft {

struct ub_management_way {
    std::uint32_t from = 0;                 ///< router
    std::vector<std::uint32_t> links;       ///< into ub_plan::links, in order; none: it begins where it ends
    std::vector<std::uint8_t> lanes;        ///< of each link
    std::vector<std::uint32_t> relays = {}; ///< places in `links` before which a control processor sends it on, rising

    /// The part from place `first` of `links` up to the next relay or the end: one header.
    std::uint32_t end_of_leg(std::uint32_t first) const
    {
        for (const std::uint32_t r : relays)
            if (r > first)
                return r;
        return static_cast<std::uint32_t>(links.size());
    }
};

class ub_management_ways {
public:
    /// What a link costs beside its time, ps: to keep to others while there are. k_never_ps: not over this one.
    using link_toll = std::function<std::uint64_t(std::uint32_t link)>;
    static std::uint64_t no_toll(std::uint32_t) { return 0; }
    using pair_of_ways = std::array<std::optional<ub_management_way>, 2>;

    /// `payload_bytes`: of a packet. Both must outlive this.
    ub_management_ways(const ub_plan& plan, const ub_config& config, std::uint64_t payload_bytes);

    /// From those of `from` that are nearest to each of `to`: the quickest way from the nearest, and from the second
    /// nearest, if any.
    std::vector<pair_of_ways> from_nearest_two(const std::vector<std::uint32_t>& from,
                                               const std::vector<std::uint32_t>& to, const link_toll& toll) const;
    /// The quickest from one of `from`, without relays while that costs no toll; nothing when none is left.
    std::optional<ub_management_way> quickest(const std::vector<std::uint32_t>& from, std::uint32_t to,
                                              const link_toll& toll) const;
    /// The same links the other way round.
    ub_management_way reverse_of(const ub_management_way& way) const;

    /// From control processor to control processor with nobody else on the wires: the last byte.
    std::uint64_t zero_load_ps(const ub_management_way& way) const;
    std::uint64_t wire_ps(std::uint32_t link) const;         ///< that a packet keeps a link busy
    const ub_plan& plan() const { return plan_; }

private:
    struct label {
        std::uint64_t ps;
        std::uint32_t link, origin, before; ///< before: label; k_none at the first link
        std::uint8_t lane, hops;
    };
    /// Calls reached(router, labels, index) for each label that is settled, the quickest first, until it says false.
    template <class Reached>
    void search(const std::vector<std::uint32_t>& from, std::uint32_t labels_each, const link_toll& toll,
                Reached&& reached) const;
    std::vector<std::optional<ub_management_way>>
    relayed(const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to, const link_toll& toll) const;
    ub_management_way over(std::uint32_t from, std::vector<std::uint32_t> links) const;
    std::uint64_t leg_ps(std::uint32_t from, const std::vector<std::uint32_t>& links) const;
    static ub_management_way way_of(const std::vector<label>& labels, std::uint32_t last);

    const ub_plan& plan_;
    const ub_config& config_;
    std::uint64_t payload_bytes_, wire_bytes_;
    std::vector<std::uint32_t> first_out_; ///< of each router, into out_
    std::vector<std::uint32_t> out_;       ///< links by the router that they leave, in the order of ports
    std::vector<std::uint64_t> hop_ps_;    ///< of each link, serialisation included
};

} // namespace weft
