// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A fabric as a graph: routers with ports, directed links between ports, endpoints behind ports. What routing and its proofs
// look at; no rates, no time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

struct graph_router {
    std::string name;
    std::uint32_t ports = 0;
};

/// One direction of a link that works.
struct graph_link {
    std::uint32_t from = 0, from_port = 0;
    std::uint32_t to = 0, to_port = 0;
    std::uint32_t vls = 1;
};

/// Something that sends and receives, behind `ports` consecutive ports of a router.
struct graph_endpoint {
    std::uint32_t router = 0;
    std::uint32_t first_port = 0;
    std::uint32_t ports = 1;
};

struct fabric_graph {
    static constexpr std::uint32_t k_none = 0xffff'ffff;

    std::vector<graph_router> routers;
    std::vector<graph_link> links;
    std::vector<graph_endpoint> endpoints; ///< a destination is an index into this
    std::vector<std::string> port_names;   ///< of every router; "port7" where there is none

    /// First entry of a router in out_links(); one entry more than routers.
    std::vector<std::uint32_t> port_base() const;
    /// port_base()[router] + port -> link that leaves there, or k_none.
    std::vector<std::uint32_t> out_links() const;
    std::string port_name(std::uint32_t port) const;
    std::string link_name(std::uint32_t link) const; ///< "chip(0,1).+X"
    const std::string& endpoint_name(std::uint32_t endpoint) const { return routers[endpoints[endpoint].router].name; }
};

} // namespace weft
