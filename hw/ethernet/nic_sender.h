// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sending half of the NIC: send rings, prefetch of entries, read-ahead of payload, frames and packets of RDMA writes.
#pragma once

#include "hw/abi/nic.h"
#include "hw/ethernet/ethernet_transmitter.h"
#include "hw/ethernet/nic_queue_pair.h"
#include "hw/ethernet/nic_shared.h"
#include "hw/ethernet/ring_fifo.h"
#include "tlm/stats.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// Largest exponent of the floats of an entry.
struct measured_block {
    std::int8_t exponent;
    std::uint32_t queue_pair;
};

class nic_sender {
public:
    nic_sender(nic_shared& shared, std::vector<nic_queue_pair>& pairs, ethernet_transmitter& wire);

    // Registers
    void ring_doorbell(std::uint32_t q, std::uint32_t tail, std::uint64_t effect_ps);
    std::uint32_t head_at(std::uint32_t q, std::uint64_t at_ps); ///< TX_HEAD
    void start();                                                ///< what was posted while the NIC was disabled

    // Events
    void doorbell_arrived(std::uint32_t q);
    void fetched(std::uint32_t q);
    void slot_is_free();
    measured_block take_measured(std::uint32_t q);

    void forget(); ///< of all queues: entries, heads and tails
    void reset();  ///< and whose turn it is, and what is on the wire
    bool idle(std::uint32_t q) const;
    bool waits_for_slot() const { return slot_event_; }
    /// "NIC queue 3 has 2 entries left and waits for the wire"; "" for nothing.
    std::string waits_of(std::uint32_t q) const;
    std::size_t measuring(std::uint32_t q) const { return rings_[q].measuring.size(); }

    counter entries_sent;
    counter bad_entries;

private:
    /// The entry being sent and how far it is.
    struct send_job {
        abi::nic_send_entry e;
        std::uint32_t sent_bytes = 0;
    };
    struct send_ring {
        std::uint64_t *base, *entries, *tail_register; ///< in the register file
        std::uint32_t posted = 0;                      ///< last value of the doorbell
        std::uint32_t tail = 0;                        ///< the same, once it has crossed the bus
        std::uint32_t fetched = 0;                     ///< entries loaded
        std::uint32_t fetching = 0;                    ///< entries under way from memory
        std::uint32_t finished = 0; ///< entries all of whose frames have been read, though perhaps not yet left memory
        std::uint32_t head = 0;     ///< as TX_HEAD shows
        ring_fifo<std::uint32_t> doorbells;
        ring_fifo<send_job> ready;
        ring_fifo<std::uint64_t> completes_at_ps; ///< of finished entries that TX_HEAD does not yet show
        ring_fifo<measured_block> measuring;
    };

    void start_fetch(std::uint32_t q);
    bool accept(std::uint32_t q, const abi::nic_send_entry& e);
    void read_ahead();
    bool slot_free();
    void send_next(std::uint32_t q);
    std::uint64_t measure(std::uint32_t q, const abi::nic_send_entry& e);
    std::uint64_t send_frame(const abi::nic_send_entry& e);
    std::uint64_t send_packet(std::uint32_t q, send_job& job);
    std::uint64_t transmit(packet_ptr frame, std::uint32_t header_bytes, const abi::nic_send_entry& e,
                           std::uint64_t offset, std::uint32_t bytes);

    nic_shared& shared_;
    std::vector<nic_queue_pair>& pairs_;
    ethernet_transmitter& wire_;
    std::vector<send_ring> rings_;
    ring_fifo<std::uint64_t> slots_; ///< read-ahead: when the frames start on the wire
    std::uint64_t ready_queues_ = 0; ///< bit q: queue q has an entry loaded
    std::uint32_t round_robin_ = 0;
    bool slot_event_ = false;
};

} // namespace weft
