// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Ways of management packets, from any device to any device: the quickest ones at zero load that the rule of lanes admits and one header holds.
// Plain C++.
//
// A management packet has an instruction for every hop, so a way has at most six links. It begins at a control processor as a packet begins at a
// chip, on lane 0, also at a switch: what the rule allows from there is a part of what the proof of the machine has looked at, or was asked
// anew for routers without chips (ub_routes).
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
    std::uint32_t from = 0;           ///< router
    std::vector<std::uint32_t> links; ///< into ub_plan::links, in order; none: it begins where it ends
    std::vector<std::uint8_t> lanes;  ///< of each link
};

class ub_management_ways {
public:
    /// What a link costs beside its time, ps: to keep to others while there are. k_never_ps: not over this one.
    using link_toll = std::function<std::uint64_t(std::uint32_t link)>;
    static std::uint64_t no_toll(std::uint32_t) { return 0; }
    using pair_of_ways = std::array<std::optional<ub_management_way>, 2>;

    /// `payload_bytes`: of a packet. Both must outlive this.
    ub_management_ways(const ub_plan& plan, const ub_config& config, std::uint64_t payload_bytes);

    /// From those of `from` that are nearest to each of `to`: the quickest way from the nearest, and from the second nearest, if any.
    std::vector<pair_of_ways> from_nearest_two(const std::vector<std::uint32_t>& from,
                                               const std::vector<std::uint32_t>& to, const link_toll& toll) const;
    /// The quickest from one of `from`; nothing when none is left.
    std::optional<ub_management_way> quickest(const std::vector<std::uint32_t>& from, std::uint32_t to,
                                              const link_toll& toll) const;
    /// The same links the other way round, if the rule admits that.
    std::optional<ub_management_way> reverse_of(const ub_management_way& way) const;

    /// From control processor to control processor with nobody else on the wires: the last byte.
    std::uint64_t zero_load_ps(const ub_management_way& way) const;
    std::uint64_t wire_bytes() const { return wire_bytes_; } ///< of a packet
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
    static ub_management_way way_of(const std::vector<label>& labels, std::uint32_t last);

    const ub_plan& plan_;
    const ub_config& config_;
    std::uint64_t payload_bytes_, wire_bytes_;
    std::vector<std::uint32_t> first_out_; ///< of each router, into out_
    std::vector<std::uint32_t> out_;       ///< links by the router that they leave, in the order of ports
    std::vector<std::uint64_t> hop_ps_;    ///< of each link, serialisation included
};

} // namespace weft
