// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Paths of a UB machine from tables of the user, one a pair: the controller of the source stamps the ports and lanes of
// the tables on the way into the header.
#pragma once

#include "hw/routing/route_tables.h"
#include "hw/routing/ub/ub_paths.h"

#include <memory>

namespace weft {

/// `wired` (ub_fabric_plan) as the tables see it: with the two lanes of a message class as VLs, and links that are down
/// from the start marked.
fabric_plan lanes_of_a_class(fabric_plan wired, const std::vector<bool>& down);

class ub_table_paths final : public ub_path_source {
public:
    /// `rule`: by which routers choose lanes where a header leaves it to them.
    ub_table_paths(std::shared_ptr<const ub_topology> topology, const ub_lane_rule& rule,
                   std::shared_ptr<const table_routing> routing);
    /// The path of the tables; none where it passes a link that is down.
    std::vector<ub_path> paths(std::uint32_t from, std::uint32_t to, const std::vector<bool>& down) const override;
    /// The tables as they stand, of the fabric that they were read for.
    std::string text(const fabric_plan& lanes) const { return text_of_route_tables(lanes, routes_of(*routing_)); }
    /// A pair whose path no header holds, as a sentence; "" when all fit.
    std::string too_long() const;
    /// Endpoints whose path to some other one passes this link, ascending.
    std::vector<std::uint32_t> sources_over(std::uint32_t link) const;

private:
    /// Links and lanes of the way; false: the tables end before.
    bool walk(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& links,
              std::vector<std::uint8_t>& lanes) const;

    std::shared_ptr<const ub_topology> topology_;
    ub_lane_rule rule_;
    std::shared_ptr<const table_routing> routing_;
};

/// What address tables, of equal ways the first, and the rule of lanes say at every router: for tables to begin with.
route_function routes_of_address_tables(const ub_topology& topology, const ub_lane_rule& rule);

} // namespace weft
