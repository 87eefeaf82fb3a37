// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Deadlock analysis after Dally and Seitz: a channel is the buffer of one VL behind one directed link; a packet that
// holds a channel and wants the next one makes the next depend on it. If no circle of dependencies exists, and
// receivers take what arrives, no packet waits for ever. The graph is built from the routing function itself: every
// route from every port of every endpoint to every other endpoint is walked. General: knows no topology and no rule.
//
// A route depends on router, input port, VL and destination endpoint; the ports of one destination part at its own
// router. Endpoints without ports take no part.
// Work: per destination every (router, in_port, VL) that a route passes is asked once.
#pragma once

#include "hw/routing/fabric_plan.h"
#include "hw/routing/routing_policy.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

struct route_request {
    std::uint32_t router;
    std::uint32_t in_port, in_vl; ///< the buffer that the packet stands in; endpoints send on VL 0
    std::uint32_t destination;    ///< endpoint
    std::uint32_t destination_port;
};
struct route_step {
    std::uint32_t out_port;
    std::uint32_t vl; ///< of the buffer behind it
};
using route_function = std::function<route_step(const route_request&)>;

enum class route_verdict { deadlock_free, unreachable, livelock, cycle };

/// One channel of a cycle, and a pair whose packets hold it while they want the next one.
struct cycle_step {
    std::uint32_t link, vl;
    std::uint32_t source, destination;
};

struct channel_proof {
    route_verdict verdict = route_verdict::deadlock_free;
    std::uint64_t channels = 0;      ///< links x VLs of the fabric
    std::uint64_t used_channels = 0; ///< that some route passes
    std::uint64_t dependencies = 0;
    std::uint64_t pairs = 0;                                          ///< of endpoints, both orders
    std::uint32_t longest_route = 0;                                  ///< links
    std::vector<cycle_step> cycle;                                    ///< the shortest one
    std::uint64_t broken_pairs = 0;                                   ///< unreachable, or walking for ever
    std::vector<std::pair<std::uint32_t, std::uint32_t>> some_broken; ///< source, destination
    std::string text; ///< one line when all is well; else what is wrong, with names

    explicit operator bool() const { return verdict == route_verdict::deadlock_free; }
};

channel_proof prove_deadlock_free(const fabric_plan& plan, const route_function& route);

/// The routing function of a policy that takes packets, for the proof.
route_function routes_of(const routing_policy& policy);

} // namespace weft
