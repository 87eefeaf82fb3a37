// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Table-driven routing of the ICI, for a mesh in which something has failed (docs/10_routing.md). One byte per router
// and destination holds four output ports of two bits, one for each state that a packet can arrive in: fresh or late,
// on VL 0 or on VL 1. On VL 0 a packet is late when it has turned into the Y dimension; what late means on VL 1 is one
// bit per input port. VL rule: VL 0 as long as the way is X before Y; a packet that turns from Y back to X goes on, and
// stays, on VL 1.
#pragma once

#include "hw/routing/routing_policy.h"
#include "hw/routing/mesh_ports.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

/// What is loaded into the routers. Routers and destinations are ranks.
struct detour_table {
    std::uint32_t destinations = 0;
    std::uint32_t vl_count = 2;     ///< VLs that the routes use: 1 or 2
    std::vector<std::uint8_t> next; ///< [router * destinations + destination]: port of state s in bits 2s, 2s + 1
    std::vector<std::uint8_t> late; ///< [router]: bit vl * 4 + in_port

    std::uint32_t state_of(std::uint32_t router, std::uint32_t in_port, std::uint32_t vl) const
    {
        return in_port >= k_first_local ? 0 : 2 * vl + (late[router] >> (vl * 4 + in_port) & 1u);
    }
    std::uint8_t vl_after(std::uint32_t state, std::uint32_t out_port) const
    {
        return vl_count == 1 || state == 0 || (state == 1 && out_port >= k_plus_y) ? 0 : 1;
    }
};

class detour_policy final : public routing_policy {
public:
    explicit detour_policy(detour_table table) : table_(std::move(table)) {}

    route_decision route(std::uint32_t router, std::uint32_t in_port, packet& p) const override
    {
        if (router == p.destination)
            return {static_cast<std::uint16_t>(k_first_local + p.destination_port), 0};
        const std::uint32_t state = table_.state_of(router, in_port, p.vl);
        const std::uint32_t entry = table_.next[std::size_t{router} * table_.destinations + p.destination];
        const std::uint32_t port = entry >> (2 * state) & 3u;
        return {static_cast<std::uint16_t>(port), table_.vl_after(state, port)};
    }
    const detour_table& table() const { return table_; }

private:
    detour_table table_;
};

} // namespace weft
