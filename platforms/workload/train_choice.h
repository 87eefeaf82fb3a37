// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How long trains may be (`burst:`): as long as a derived bound of their error allows on this machine, or as the user
// says. docs/adr/0003.
#pragma once

#include "hw/dma/dma.h"
#include "hw/memory/hbm.h"
#include "platforms/workload/collective_case.h"
#include "tlm/config_fields.h"
#include "tlm/units.h"

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// A buffer and the wires before and behind it, as a stream of full packets meets them.
struct train_hop {
    std::string buffer;             ///< "ici.buffer_per_vl = 16 KiB"
    std::uint64_t depth_packets = 0;
    std::uint64_t filled_ps = 0;    ///< one packet, by the wire into it
    std::uint64_t drained_ps = 0;   ///< one packet, by the wire or memory out of it whose rate differs most
    std::uint32_t trains = 8;       ///< that must fit where many streams share the buffer
    /// That must fit for a stream that has it for itself: one train leaves, the next one comes.
    std::uint32_t own_trains = 8;
    std::uint32_t paths = 1;        ///< that share the packets of a train: the buffer is one of as many
    /// 0: no stream needs all of it; else from the start of a packet that waits for nothing until its credit can be
    /// used again.
    std::uint64_t round_trip_ps = 0;
};

/// Buffers and shape of a machine, which limit the length of trains.
struct train_limits {
    std::vector<train_hop> hops;
    std::uint32_t packet_payload = 0; ///< bytes
    std::vector<std::uint32_t> sides; ///< of the mesh: their product are the ranks
    bool own_links = false;           ///< streams of rings over all ranks share neither local ports nor links
    bool detours = false;             ///< around failed chips or links, whose streams meet others at routers
    /// What failed is one region of chips inside a pair of rows (of columns), of three pairs of six chips at least,
    /// and the mesh has no wraps.
    bool one_pair_of_rows = false, one_pair_of_columns = false;
    bool gaps = false;                ///< NPUs have failed: lines are shorter, or lead to a spare NPU
    std::uint64_t packet_ps = 0;      ///< a full packet on a link
    std::uint64_t message_ps = 0;     ///< of a core, to make a message; 0: not known
    std::string single;               ///< why only single packets are simulated here; "" if trains are, too
    std::string no_bound;             ///< why nobody can tell how far trains are off; "" if a bound is known
};

struct train_choice {
    std::uint32_t packets = 1;       ///< of a train, at most; 1: single packets
    std::uint32_t trains_a_step = 0; ///< that a rank sends in a step of a collective, at least
    std::uint32_t paths = 1;         ///< that share a train, at most
    std::string reason;              ///< why it is no more: "ici.buffer_per_vl = 16 KiB sets the length"
    bool chosen = true;              ///< by `burst: auto`; else set
    std::string held;                ///< which buffer holds no more than `packets` of what was set; "" when all hold it
    train_limits limits;
};

/// Packets of a train of one collective, and what sets them.
struct case_trains {
    std::uint32_t packets = 1;
    std::string reason; ///< why no more: "steps of fewer than 3072 packets"
};

/// "trains of up to 8 packets in long messages, else single packets (auto: ici.buffer_per_vl = 16 KiB sets the
/// length)".
std::string text_of(const train_choice& choice);

case_trains trains_of(const train_choice& choice, const collective_case& c);
inline std::uint32_t train_of(const train_choice& choice, const collective_case& c) { return trains_of(choice, c).packets; }

/// Of the one of `cases`, of which there is one at least, with the longest trains.
case_trains longest_trains(const train_choice& choice, const std::vector<collective_case>& cases);

/// Derived bound of the error of trains of `packets`, as a share of the time of single packets; nothing where none is
/// known.
std::optional<double> train_error_bound(const train_choice& choice, const collective_case& c, std::uint32_t packets);

/// What a user who has set `burst` must know, of the cases of his file: a warning; "" when their times stay within the
/// stated error.
std::string train_warning(const train_choice& choice, packet_count burst, const std::vector<collective_case>& cases);

/// Whether trains of `packets` keep the wire into the buffer busy: their credits are back before it runs out of them.
bool train_streams(const train_hop& hop, std::uint32_t packets);

/// Buffers of a DMA engine between its memory and a port on which a packet takes `packet_ps`. `chip_key` and
/// `memory_key` name them as in the file ("chip", "chip.hbm"); `links` is the sum of the links of a chip in one
/// direction. `readers` streams share the read-ahead, each with the latency of the memory.
std::vector<train_hop> dma_hops(const dma_config& dma, const hbm_config& memory, const packet_format& format, std::uint64_t packet_ps,
                                bandwidth links, std::uint32_t paths, const std::string& chip_key, const std::string& memory_key,
                                std::uint32_t readers = 1);

/// Trains are for machines whose memory does not set the pace: `memory` serves what `links`, the sum of the links of a
/// chip in one direction, can ask of it, or nearly. They read what is sent, and read and write what is added to. Else a
/// sentence why not.
std::string memory_sets_the_pace(bandwidth memory, bandwidth links, const std::string& key, bool own_links = false);

/// Not a buffer: time and bytes of a train on a wire where a packet takes `packet_ps` are numbers of 32 bits.
train_hop longest_on_a_wire(std::uint64_t packet_ps, std::uint64_t wire_bytes);

/// What the machine allows, for `burst` as set, where 0 is auto.
train_choice choose_trains(packet_count burst, train_limits limits);

} // namespace weft
