// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A SwitchML packet inside the switch, between its first pass and its end. Plain data: the tables of the jobs fill in
// whose it is, the passes what the registers say, the deparser reads both.
#pragma once

#include "hw/tofino/aggregation_unit.h"
#include "hw/tofino/switchml_parser.h"
#include "tlm/packet.h"

#include <cstdint>

namespace weft {

/// What becomes of a packet after its last pass.
enum class packet_fate : std::uint8_t { none, multicast, unicast, up, from_above };

struct tofino_packet {
    packet_ptr frame;
    std::uint8_t* words = nullptr; ///< in the frame, network order; nullptr with data off
    switchml_packet fields;
    bool submitted = false; ///< to an aggregation unit, with `ticket`
    std::uint64_t ticket = 0;
    std::uint64_t arrived_ps = 0;
    std::uint32_t job = 0;
    std::uint32_t generation = 0;
    std::uint32_t map_result = 0;
    std::uint32_t queue = 0;    ///< RDMA
    std::uint32_t position = 0; ///< RDMA: in its message
    std::uint32_t next_free = 0;
    std::uint16_t pool_index = 0; ///< in the registers
    std::uint16_t slot = 0;       ///< in the packet
    std::uint16_t ingress_port = 0;
    bool version = false;
    pass_type type = pass_type::consume0;
    std::uint8_t worker = 0;
    std::uint8_t count = 0;
    std::uint8_t pipe = 0;
    bool egress_drop = false;
    packet_fate end = packet_fate::none;
    std::int8_t exponent0 = 0; ///< of the packet, then of the result
    std::int8_t exponent1 = 0;
};

} // namespace weft
