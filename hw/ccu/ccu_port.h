// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sending side of a CCU: what transfers and answers ask to be sent goes packet by packet, one from each peer's queue in
// turn; data is read while read-ahead slots are free, and a packet starts when it has been read, the wire is idle and
// credits for it are there.
#pragma once

#include "hw/ccu/ccu_shared.h"
#include "tlm/arbiter.h"
#include "tlm/credit.h"
#include "tlm/flat_index.h"
#include "tlm/link_socket.h"
#include "tlm/slots.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace weft {

/// What is to be sent to one peer: packets with `bytes` of payload together, or one without any.
struct ccu_stream {
    enum class source : std::uint8_t { none, memory, slice };
    source from = source::none;
    std::uint8_t type = 0;
    std::uint8_t redop = 0;
    bool shortest_paths = false;
    std::uint64_t address = 0; ///< of the memory, or number of the slice
    std::uint32_t bytes = 0;
    std::uint32_t sent = 0; ///< of them
    std::uint64_t offset = 0;      ///< destination_offset of the first packet
    bool offset_grows = true;      ///< from packet to packet
    ccu_header header = {};
    std::uint32_t message = 0;
    std::uint32_t asked_bytes = 0; ///< of a request
    std::uint32_t entry_and_mask = 0;
    std::uint32_t next = 0xffff'ffff; ///< behind it to the same peer
};

class ccu_port {
public:
    explicit ccu_port(ccu_shared& shared);

    void connect(link_fw_if* fabric) { to_fabric_ = fabric; }
    /// `stream` to `peer`, behind those before it of its class.
    void send_to(std::uint32_t peer, const ccu_stream& stream);
    void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps);
    /// Event: the packet that was read first starts on the wire.
    void send();

    bool idle() const { return staged_.empty() && active_lanes_ == 0; }
    bool settled(std::uint64_t now_ps);
    std::string waits() const;
    void record_into(event_sink* sink) { sink_ = sink; }
    void reset();

    counter packets;
    counter bytes_sent; ///< payload
    accumulated_time wire_time; ///< the rest of the present packet included
    std::uint64_t wire_busy_until_ps() const { return wire_busy_until_ps_; }
    maximum most_queued; ///< segments, requests and answers that have not been sent

private:
    static constexpr std::uint32_t k_none = 0xffff'ffff;
    struct lane {
        std::uint32_t peer;
        bool answers;
        std::uint32_t first = k_none, last = k_none;
    };
    struct staged_packet {
        std::uint32_t packet;
        std::uint64_t ready_ps;
    };
    void fill();
    void stage(lane& l);
    void plan();
    void set_active(std::uint32_t lane, bool active);

    ccu_shared& shared_;
    wire_rate port_rate_;
    link_fw_if* to_fabric_ = nullptr;
    event_sink* sink_ = nullptr;
    flat_index lane_index_;
    std::vector<lane> lanes_;
    std::vector<std::uint64_t> active_; ///< bits
    std::uint32_t active_lanes_ = 0;
    std::uint32_t turn_ = 0;
    slots<ccu_stream> streams_;
    std::deque<staged_packet> staged_; ///< in the order of their reads
    std::uint64_t wire_busy_until_ps_ = 0;
    bool planned_ = false;
    bool awaiting_credit_ = false;
    bool awaiting_room_ = false;
    credit_counter credits_[2]; ///< of VL 0, of the VL of answers
    credit_pool credits_under_way_;
};

} // namespace weft
