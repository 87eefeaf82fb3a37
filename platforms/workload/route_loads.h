// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What each link carries in a collective: the schedules of all ranks (planned_schedule.h) along the routes of this
// machine. Around chips and links that failed, dimensions and their rates say little of it.
#pragma once

#include "hw/routing/channel_dependency.h"
#include "platforms/workload/machine.h"

#include <cstdint>
#include <vector>

namespace weft {

/// Bytes of payload by link. Endpoints are ranks.
class route_loads {
public:
    /// Both are kept by reference. `payload_share`: of what wires carry.
    route_loads(const fabric_plan& plan, const routing_policy& policy, double payload_share);
    /// By the local port that serves `queue`, to that of the same number.
    void send(std::uint32_t queue, std::uint32_t from, std::uint32_t to, double bytes);
    /// By the first `ports` of them alike.
    void spread(std::uint32_t from, std::uint32_t to, double bytes, std::uint32_t ports = ~0u);
    bool all_work() const { return plan_.working_links() == plan_.links.size(); }
    /// us, of the link that takes longest.
    double busiest_us() const;

private:
    /// Calls see(link) along the way from a local port of an endpoint to another endpoint; as far as routes lead.
    template <class See> void walk(std::uint32_t port, std::uint32_t from, std::uint32_t to, See&& see) const;

    const fabric_plan& plan_;
    route_function next_;
    double payload_share_;
    std::vector<std::uint32_t> port_base_, out_links_;
    std::vector<double> bytes_; ///< by link
};

/// us, of the busiest link when all groups of `c` run at once; 0 where it is not known which messages ranks send, or of
/// so many ranks that counting takes more than about a second.
double busiest_link_us(const platform& machine, route_loads loads, const collective_case& c);

} // namespace weft
