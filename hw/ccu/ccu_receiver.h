// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Receiving side of a CCU. It takes whatever comes: writes go to memory or slices, requests are answered from there,
// bits and registers are set. So no packet waits for another one, and requests and data may share a class of virtual
// lanes.
//
// Timing of a packet whose last byte came at t: the memory's or the SRAM's own; its buffer is free when these have
// taken the data, as at the DMA engine. A segment is acknowledged when its last byte is written.
#pragma once

#include "hw/ccu/ccu_transfers.h"

#include <cstdint>
#include <unordered_map>

namespace weft {

/// What the receiver asks of the unit.
class ccu_receiver_if {
public:
    /// Bits become visible at `at_ps`.
    virtual void set_bits_at(std::uint64_t at_ps, std::uint32_t entry, std::uint16_t mask) = 0;
    /// All bytes of the transfer are where they belong from `at_ps` on.
    virtual void transfer_done(std::uint32_t transfer, std::uint64_t at_ps) = 0;
    virtual void transfer_failed(std::uint32_t transfer, abi::ccu::status why, std::uint32_t detail) = 0;

protected:
    ~ccu_receiver_if() = default;
};

class ccu_receiver {
public:
    ccu_receiver(ccu_shared& shared, ccu_port& port, ccu_transfers& transfers, ccu_receiver_if& unit)
        : shared_(shared), port_(port), transfers_(transfers), unit_(unit)
    {
    }
    void connect(link_bw_if* fabric) { from_fabric_ = fabric; }

    /// The first byte of a packet comes after `delay_ps`.
    void expect(packet_ptr p, std::uint64_t delay_ps);
    /// Event: a packet is here whole.
    void take(packet_ptr p);
    /// Event: an answer is due.
    void answer(std::uint32_t number);

    bool idle() const { return expected_ == 0 && inbound_.empty() && answers_.in_use() == 0; }
    void record_into(event_sink* sink) { sink_ = sink; }
    void reset();

    counter packets;
    counter bytes_received; ///< payload
    counter refused;

private:
    /// A segment of which packets are missing.
    struct inbound {
        std::uint32_t left;
        std::uint32_t bytes = 0;
        std::uint64_t done_ps = 0;
        bool refused = false;
    };
    struct due_answer {
        std::uint32_t peer = 0;
        std::uint32_t message = 0;
        std::uint32_t bytes = 0;
        abi::ccu::status code = abi::ccu::status::ok;
        std::uint32_t entry_and_mask = 0;
        bool shortest_paths = false;
    };
    void write(const packet& p, const ccu_header& h, std::uint64_t now);
    void data(const packet& p, std::uint64_t now);
    void request(const packet& p, const ccu_header& h);
    void control(const packet& p, const ccu_header& h, std::uint64_t now);
    void finish_segment(const packet& p, const inbound& s, std::uint64_t now);
    void answer_at(std::uint64_t at_ps, const packet& to, std::uint32_t bytes, abi::ccu::status code, std::uint32_t entry_and_mask);
    void free_buffer(const packet& p, std::uint64_t after_ps) const { from_fabric_->credit(p.vl, p.cells, after_ps); }
    bool opens(std::uint64_t token_and_address, std::uint64_t bytes) const;

    ccu_shared& shared_;
    ccu_port& port_;
    ccu_transfers& transfers_;
    ccu_receiver_if& unit_;
    link_bw_if* from_fabric_ = nullptr;
    event_sink* sink_ = nullptr;
    std::unordered_map<std::uint64_t, inbound> inbound_; ///< looked up, never walked
    slots<due_answer> answers_; ///< due, and no further
    std::uint32_t expected_ = 0;
};

} // namespace weft
