// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How long trains may be (`burst:`): as long as a derived bound of their error allows on this machine, or as the user says. docs/adr/0003.
#pragma once

#include "hw/dma/dma.h"
#include "platforms/workload/collective_case.h"
#include "tlm/config_fields.h"
#include "tlm/units.h"

#include <string>
#include <vector>

namespace weft {

/// A buffer and the wires before and behind it, as a stream of full packets meets them.
struct train_hop {
    std::string buffer;             ///< "ici.buffer_per_vl = 16 KiB"
    std::uint64_t depth_packets = 0;
    std::uint64_t filled_ps = 0;    ///< one packet, by the wire into it
    std::uint64_t drained_ps = 0;   ///< one packet, by the wire out of it whose rate differs most
    std::uint32_t trains = 8; ///< that fit: 2 for one stream: one train leaves, the next one comes; 8 where many share the buffer
    std::uint32_t paths = 1; ///< that share the packets of a train: the buffer is one of as many
    std::uint64_t round_trip_ps = 0; ///< 0: no stream needs all of it; else from the start of a packet that waits for nothing until its credit can be used again
};

struct train_choice {
    std::uint32_t packets = 1;        ///< of a train, at most; 1: single packets
    std::uint32_t trains_a_step = 0;  ///< that a rank sends in a step of a collective, at least; 0: no such limit
    std::uint32_t paths = 1;          ///< that share a train, at least
    bool own_links = false;           ///< no stream shares ports or links; else lengths are powers of two, for even shares of a DMA engine's slots
    std::uint32_t packet_payload = 0; ///< bytes
    std::vector<std::uint32_t> sides; ///< of the mesh: its product are the ranks
    std::string reason;      ///< why it is no more: "ici.buffer_per_vl = 16 KiB"
    bool chosen = true;      ///< by `burst: auto`; else set
    std::string told;        ///< a warning about what the user set; "" when there is none
};

/// "trains of up to 8 packets in long messages, else single packets (auto: ici.buffer_per_vl = 16 KiB)".
std::string text_of(const train_choice& choice);

/// Packets of a train of case `c`.
std::uint32_t train_of(const train_choice& choice, const collective_case& c);

/// Whether trains of `packets` keep the wire into the buffer busy: their credits are back before it runs out of them.
bool train_streams(const train_hop& hop, std::uint32_t packets);

/// Trains are for machines whose memory does not set the pace: `memory` serves three quarters of what `links`, the sum of the links of a
/// chip in one direction, can ask of it. They read what is sent, and read and write what is added to. Else a sentence why not.
std::string memory_sets_the_pace(bandwidth memory, bandwidth links, const std::string& key);

/// Not a buffer: time and bytes of a train on a wire where a packet takes `packet_ps` are numbers of 32 bits.
train_hop longest_on_a_wire(std::uint64_t packet_ps, std::uint64_t wire_bytes);

/// What the machine allows, for `burst` as set, where 0 is auto. `single`: why only single packets are simulated here; "" if trains are, too. `no_bound`: why
/// nobody can tell how far trains are off: auto takes single packets, and the user may set what he likes.
train_choice choose_trains(packet_count burst, const std::vector<train_hop>& hops, const dma_config& dma,
                           const packet_format& format, const std::string& dma_key, const std::string& single,
                           const std::string& no_bound = "");

} // namespace weft
