// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Parser of the switch: bytes of a frame that is addressed to it, into the fields of a SwitchML packet; and the
// reasons why a frame is dropped. Plain C++.
#pragma once

#include "hw/abi/switchml.h"
#include "hw/tofino/aggregation_unit.h"
#include "tlm/packet.h"

namespace weft {

enum class drop_reason : std::uint8_t {
    none,
    bad_fcs,             ///< frame check sequence
    truncated,           ///< shorter than its headers say
    unknown_mac,         ///< foreign traffic to an address that no table entry has
    not_switchml,        ///< addressed to the switch, but neither of its protocols
    bad_ip_checksum,     //
    size_code,           ///< 32 and 128 words, codes that do not exist, wider than the job's
    wrong_length,        ///< payload is not what the size code says
    wrong_job,           ///< a job number, or an RDMA queue, that no job has
    not_worker,          ///< its sender is no worker of the job
    pool_index,          ///< slot outside of the job's pool
    rdma_opcode,         ///< not a write
    rdma_sequence,       ///< packet sequence number skipped: until the next first or only packet
    stale,               ///< stale_filter: older than the last packet of its sender in the slot
    ingress_simulated,   ///< drop simulator
    egress_simulated,    ///< drop simulator: a result with all its copies
    recirculation_queue, ///< queue of a recirculation port full
    egress_queue,        ///< queue of a front-panel port full
    job_removed,         ///< its job ended while it was in the switch
    wasted_harvest,      ///< read, but neither a completion nor an answer (64 words)
    count_
};
inline constexpr std::uint32_t k_drop_reasons = static_cast<std::uint32_t>(drop_reason::count_);

/// A SwitchML packet of either protocol.
struct switchml_packet {
    bool rdma = false;
    bool request = true; ///< to a SwitchML port; else from one: UDP answers of a parent switch
    bool has_data = false;
    bool last_of_message = true;
    packet_size size = packet_size::words256;
    std::uint32_t words = 0;
    std::uint32_t header_bytes = 0; ///< before the payload
    std::uint64_t source_mac = 0;
    std::uint32_t source_ip = 0;
    std::uint16_t source_port = 0;
    std::uint16_t destination_port = 0;
    abi::switchml::header header; ///< UDP; RDMA: exponents alone
    abi::switchml::bth bth;       ///< RDMA
    abi::switchml::reth reth;     ///< first and only packets
    std::uint32_t message = 0;    ///< immediate 31:16
};

/// `frame` has at least 14 bytes of payload. drop_reason::none: `to` is filled in.
drop_reason parse_switchml(const packet& frame, switchml_packet& to);

} // namespace weft
