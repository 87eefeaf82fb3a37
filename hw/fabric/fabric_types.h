// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a fabric engine and its surroundings tell each other: configuration, the edge of a fabric, failures, waiting
// heads.
#pragma once

#include "hw/fabric/link_control.h"
#include "hw/routing/fabric_plan.h"
#include "tlm/packet.h"
#include "tlm/units.h"

#include <cstdint>
#include <optional>

namespace weft {

/// Where a fabric meets the outside: the shell that owns the sockets.
class fabric_edge_if {
public:
    virtual void deliver(packet_ptr p, std::uint64_t delay_ps) = 0;
    /// Cells of a packet that came in here are free: it leaves its buffer for `out_link`.
    virtual void return_credit(std::uint32_t vl, std::uint32_t cells, std::uint32_t out_link, std::uint64_t delay_ps) = 0;

protected:
    ~fabric_edge_if() = default;
};

/// Told when a link is declared down, and when it works again after that. May inject packets and plan failures.
class link_listener_if {
public:
    virtual void link_down(std::uint32_t link, std::uint64_t now_ps) = 0;
    virtual void link_up(std::uint32_t link, std::uint64_t now_ps) = 0;

protected:
    ~link_listener_if() = default;
};

/// Knows what people call the ports of a router.
class port_namer_if {
public:
    virtual std::string port_name(std::uint32_t router, std::uint32_t port) const = 0;

protected:
    ~port_namer_if() = default;
};

struct fabric_config {
    std::uint32_t vl_count = 1;
    duration pipeline;       ///< head of a packet: from the input pins of a router to its arbitration
    bool cut_through = true; ///< false: store-and-forward
    bool voq = false;        ///< one FIFO per output in every input buffer, instead of one for all
    /// Of a router on two dies: on top of the pipeline where input and output are on different ones.
    duration zone_crossing{};
    /// VLs from here on go before all others at every output; what is being transmitted is not interrupted. Their FIFOs
    /// take turns by input port, the lowest first. 64: none do.
    std::uint32_t urgent_from_vl = 64;
    duration table_lookup{}; ///< on top of the pipeline where routing says that it looked a hop up
    /// From the failure of a link to its declaration: what waits for it then is dropped. Not set: waits for ever.
    std::optional<duration> dead_link_detection{};
    /// Credits and acknowledgements of links between routers take wire time. Not set: they take none.
    std::optional<link_control_params> control{};
};

/// A link that was told to go down or was given up, and what has come of it.
struct link_failure {
    std::uint32_t link = 0;
    std::uint64_t at_ps = 0;
    std::uint64_t lost_packets = 0; ///< cut while they were transmitted, or dropped because they wanted the dead link
    std::uint32_t waiting = 0;      ///< heads that wait for the link, while it is down
    bool affected = false;          ///< something was cut, or wanted to start and could not
    bool exhausted = false;         ///< given up after the last retry
    std::uint64_t declared_ps = k_never_ps; ///< since when its packets are dropped
    std::uint64_t restored_ps = k_never_ps; ///< when it works, or is to work, again
};

/// A head packet that cannot go on, for the wait-for picture.
struct blocked_head {
    std::uint32_t router;
    std::uint32_t in_port, in_vl;
    std::uint32_t out_port, out_vl;
    std::uint32_t out_link;
    std::uint32_t packet; ///< pool index
    std::uint32_t credits_needed, credits_available;
    bool link_down;
    std::uint64_t waiting_since_ps; ///< when its tail was in the buffer
    std::uint64_t down_at_ps;       ///< of the link; k_never_ps: it has no time to fail
};

} // namespace weft
