// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A fabric before it is built: routers with ports, directed links between ports, endpoints behind ports. One object:
// routing is planned on it, deadlock freedom is proved of it (channel_dependency.h, turn_dependency.h), and hardware is
// built from it (hw/fabric/plan_fabric.h). Generators: grid.h, star.h, leaf_spine.h; append() makes mixtures of them.
#pragma once

#include "tlm/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// Retry of the link layer (hw/fabric/link_layer.h has its timing).
struct link_layer_params {
    double bit_error_rate = 0; ///< behind the FEC
    std::uint64_t seed = 1;
    std::uint32_t flit_bytes = 20;
    std::uint32_t block_flits = 32;
    duration request;           ///< 1 idle and 32 request blocks on the wire
    duration turnaround;        ///< sender: from the request to the first flit again
    duration acknowledge;       ///< receiver: from the last flit to the acknowledgement on the wire
    std::uint32_t retries = 15; ///< of one packet before the PHY is initialised anew
    std::uint32_t reinits = 4;  ///< of one packet before the link is given up
    duration reinit;
    std::uint32_t retry_buffer_cells = 0; ///< 0: never short
};

/// One direction of a wire, and the buffer at its end.
struct fabric_link_params {
    bandwidth rate;
    duration propagation;
    std::uint32_t depth_cells = 0; ///< buffer per VL at the receiving end
};

struct port_range {
    std::uint32_t first = 0, last = 0;
};

struct plan_router {
    std::string name;
    std::uint32_t ports = 0;
    std::optional<duration> pipeline{};     ///< where it is not that of the fabric
    std::vector<port_range> second_die{};   ///< ports in both directions that lie there; all others on the first
    std::vector<std::uint32_t> entries{};   ///< input ports where packets enter the fabric: relays go before them
};

/// One direction of a link.
struct plan_link {
    std::uint32_t from = 0, from_port = 0;
    std::uint32_t to = 0, to_port = 0;
    std::uint32_t vls = 1;
    fabric_link_params wire{};
    bool works = true; ///< false: it is down from the start, and routing knows
    std::optional<link_layer_params> retry{};
};

/// Something that sends and receives, behind `ports` consecutive ports of a router.
struct plan_endpoint {
    std::uint32_t router = 0;
    std::uint32_t first_port = 0;
    std::uint32_t ports = 1;
    fabric_link_params wire{}; ///< of each port, both directions
    std::string name{};        ///< where several stand at one router; else they are called as it is
};

/// A port behind which the fabric goes on elsewhere: in another simulation, an RTL model (plan_part.h makes them).
struct plan_gate {
    std::uint32_t router = 0, port = 0;
    fabric_link_params in{}, out{};
    bool works = true; ///< of what leaves
};

struct fabric_plan {
    static constexpr std::uint32_t k_none = 0xffff'ffff;

    std::vector<plan_router> routers;
    std::vector<plan_link> links;
    std::vector<plan_endpoint> endpoints;  ///< a destination is an index into this
    std::vector<plan_gate> gates;
    std::vector<std::string> port_names;   ///< of every router; "port7" where there is none

    /// First entry of a router in out_links(); one entry more than routers.
    std::vector<std::uint32_t> port_base() const;
    /// port_base()[router] + port -> link that leaves there and works, or k_none.
    std::vector<std::uint32_t> out_links() const;
    std::uint64_t working_links() const;
    std::string port_name(std::uint32_t port) const;
    std::string link_name(std::uint32_t link) const; ///< "chip(0,1).+X"
    const std::string& endpoint_name(std::uint32_t endpoint) const
    {
        const plan_endpoint& e = endpoints[endpoint];
        return e.name.empty() ? routers[e.router].name : e.name;
    }

    /// Both directions between port `a_port` of `a` and port `b_port` of `b`.
    void connect(std::uint32_t a, std::uint32_t a_port, std::uint32_t b, std::uint32_t b_port, std::uint32_t vls,
                 const fabric_link_params& wire);
    /// Adds all of `other`, whose routers are renumbered; returns the number of its first one. Ports keep the names of
    /// this plan.
    std::uint32_t append(const fabric_plan& other);
};

} // namespace weft
