// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// State of routers and links, as flat arrays of the structures here: what every hop touches lies apart from what only
// failures and reports ask for.
#pragma once

#include "hw/fabric/fabric_types.h"
#include "tlm/credit.h"
#include "tlm/link.h"
#include "tlm/vl_buffer.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft {

/// No link, router, port, queue or failure.
inline constexpr std::uint32_t k_no_part = 0xffff'ffff;

/// What is not usual about a link; 0 on the hot path.
enum link_special : std::uint8_t {
    k_fails = 1, ///< it has a failure that is not over
    k_hook = 2,
    k_layer = 4,    ///< it has retry
    k_new_rate = 8, ///< its rate is going to change
    k_dead = 16,    ///< declared down
    k_retry_buffer = 32,
    k_looked_at = 64 ///< somebody records what it carries
};

/// A directed link. Two cache lines: what the sender needs to start, and what flight and receiver need.
struct alignas(64) link_state {
    std::uint64_t busy_until_ps = 0;
    std::uint64_t wake_at_ps = k_never_ps; ///< earliest wake scheduled
    wire_rate rate;
    std::uint64_t busy_sum_ps = 0;
    std::uint64_t wire_bytes = 0;
    std::uint64_t packets = 0;
    std::uint32_t waiter_base = 0; ///< first word of the waiter mask
    std::uint32_t voq_base = 0;    ///< VOQ mode: first FIFO of this output, one per (VL, input port) of its router
    std::uint16_t waiter_words = 0;
    std::uint16_t waiters = 0;
    std::uint16_t round_robin = 0;
    std::uint16_t entry_round_robin = 0;

    std::uint32_t latency_ps = 0; ///< head: start of transmission to arbitration at the next router
    std::uint32_t sequence = 0;
    std::uint32_t feeding = k_no_part; ///< queue whose packet was last sent
    std::uint32_t router = k_no_part;  ///< sending router
    std::uint32_t to_router = k_no_part;
    std::uint32_t to_first_port = 0; ///< of to_router, into out_ports_
    std::uint32_t waiting_bytes = 0; ///< VOQ mode: in the FIFOs of this output
    std::uint32_t sending = k_no_part; ///< rank whose packet was last sent
    std::uint16_t to_port = 0;
    std::uint8_t special = 0;  ///< link_special
    std::uint8_t zone : 2;     ///< of its input port: 0: the router has one zone, else 1 or 2
    bool has_entries : 1;      ///< some inputs of its router are entries
    bool up : 1;
    bool to_edge : 1;
    bool from_edge : 1;
    std::uint16_t from_port = 0;        ///< of its sender
    std::uint16_t expected_bit = 0;     ///< of the waiter below
    std::uint32_t expected = k_no_part; ///< packet that may well be the next one to start, for hints: a guess
    std::uint32_t to_first_voq = 0;     ///< VOQ mode: first FIFO of to_router
    std::uint16_t ports = 0;            ///< of the sending router
    std::uint16_t to_ports = 0;         ///< of to_router
    /// 1 + the waiter that others of its VL pass, because they need fewer credits; 0: none.
    std::uint16_t short_of_credits = 0;
    std::uint8_t passed_by = 0;         ///< and how many have
    /// Transmissions of relays in a row (k_run_of_entries: of entries) while the others could go.
    std::uint8_t run = 0;
    fabric_edge_if* edge = nullptr;

    link_state() : zone(0), has_entries(false), up(true), to_edge(false), from_edge(false) {}
};
static_assert(sizeof(link_state) == 128);
static_assert(offsetof(link_state, rate) + sizeof(wire_rate) <= 64); // hints fetch it with the first line

/// One VL of a link, in a cache line: what its sender counts, and what the router behind it needs to send on from it.
/// The latter is the same for all VLs of a link; it stands here so that sending on need not touch the link behind.
struct alignas(64) queue_state {
    credit_counter credits;
    std::uint32_t return_ps = 0;  ///< credit: from the receiver back to the sender
    std::uint16_t waiter_bit = 0; ///< in the waiter masks of the router behind
    bool awaited = false;         ///< the sender waits for credits that are not yet under way
    bool from_edge = false;
};
static_assert(sizeof(queue_state) == 64);

/// The receiver's buffer of one VL of a link, read by one port. Not in VOQ mode.
struct buffer_state {
    std::uint64_t read_free_ps = 0; ///< the read port is streaming a packet until then
    vl_buffer fifo;
    std::uint32_t out_link = k_no_part; ///< where the read port streams to
    bool asked = false;                 ///< the head has asked for its output
};

/// An output as the router before it sees it.
struct out_port {
    // Marks beside the number of the link.
    static constexpr std::uint32_t k_slow_start = 1u << 31;  ///< the output may run dry: wait until the tail is near
    static constexpr std::uint32_t k_second_zone = 1u << 30; ///< it lies on the second die
    static constexpr std::uint32_t k_link_bits = k_second_zone - 1;

    wire_rate rate;
    std::uint32_t link = k_no_part; ///< with the marks
};

/// What a hop over a healthy link does not ask for.
struct link_cold {
    link_fault_if* hook = nullptr;
    std::uint32_t depth_cells = 0;
    std::uint64_t last_tail_ps = 0;    ///< of the last packet that a fault hook let through
    std::uint32_t failure = k_no_part; ///< the present or next one
    std::uint32_t layer = k_no_part;   ///< retry
    std::uint64_t next_rate_ps = k_never_ps;
    bandwidth rate;
};

struct router_state {
    std::uint32_t first_port = 0; ///< into arrays over ports of all routers
    std::uint32_t ports = 0;
    std::uint32_t first_voq = 0;
    std::string name;
    std::uint64_t pipeline_ps = 0;
    bool zoned = false;
};

} // namespace weft
