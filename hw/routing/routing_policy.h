// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a packet goes next: the replaceable part of a router. Plain C++, no state that changes with traffic.
#pragma once

#include "tlm/packet.h"

namespace weft {

struct route_decision {
    std::uint16_t out_port = 0;
    std::uint8_t vl = 0; ///< VL of the buffer behind that port
    /// In a table of the router, where others go by what the packet says: takes fabric_config::table_lookup.
    bool looked_up = false;
};

class routing_policy {
public:
    virtual ~routing_policy() = default;
    /// Decision for `p` that stands in the buffer of `in_port` (p.vl tells the VL) of `router`. Asked once for every
    /// buffer that a packet enters; may advance its route header and nothing else.
    virtual route_decision route(std::uint32_t router, std::uint32_t in_port, packet& p) const = 0;
};

} // namespace weft
