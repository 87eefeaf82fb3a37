// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Receiving half of the NIC: steering of frames to receive rings, RDMA writes without a copy, completions.
#pragma once

#include "hw/abi/nic.h"
#include "hw/ethernet/nic_interrupts.h"
#include "hw/ethernet/nic_queue_pair.h"
#include "hw/ethernet/nic_shared.h"
#include "hw/ethernet/receive_buffer.h"
#include "tlm/stats.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

class nic_receiver {
public:
    nic_receiver(nic_shared& shared, std::vector<nic_queue_pair>& pairs, nic_interrupts& interrupts,
                 std::uint64_t own_mac);

    // Registers
    std::uint32_t head(std::uint32_t q) const { return rings_[q].head; } ///< RX_HEAD
    void arm(std::uint32_t q, std::uint32_t at_head);
    void set_active_queues(std::uint32_t queues) { active_queues_ = queues; }

    // Events
    void arrived(packet_ptr frame);
    void written(std::uint32_t q);
    void measured(std::uint32_t q, std::int8_t exponent, std::uint32_t queue_pair);

    void forget(); ///< of all queues: heads, tails and what is armed
    void reset();  ///< and the buffer
    bool idle() const { return writing_ == 0; }
    /// "NIC queue 3 has a full receive ring: ..."; "" when it has room
    std::string waits_of_ring(std::uint32_t q) const;
    /// "NIC queue pair 7 waits for 64 bytes of a message, ..."; "" for none
    std::string waits_of_pair(std::size_t pair) const;
    /// "3 messages to 2 of its NIC queue pairs broke off: ..."; "" for none
    std::string broken_pairs() const;

    counter frames_received; ///< all that arrived, dropped ones included
    counter bytes_received;
    counter messages_received; ///< RDMA, whole
    counter broken_messages;   ///< RDMA, given up because a packet was missing or wrong
    counter dropped_packets;   ///< RDMA packets without the packet before them
    counter stale_messages;    ///< RDMA, for an address whose scale is forgotten
    counter bad_frames;        ///< RX_BAD
    counter no_room;           ///< RX_NO_ROOM
    counter dropped_disabled;  ///< received while disabled or for a stopped queue

private:
    struct receive_ring {
        std::uint64_t *base, *entries, *tail; ///< in the register file
        std::uint32_t given = 0;              ///< receive entries given to frames
        std::uint32_t head = 0;               ///< filled
        std::uint32_t armed_at = 0;
        bool armed = false;
    };

    void receive_frame(std::uint32_t q, const packet& frame);
    void receive_write(const packet& frame);
    bool begin_message(nic_queue_pair& pair, const std::uint8_t* reth);
    void give_up(nic_queue_pair& pair);
    bool has_room(const receive_ring& ring) const;
    static std::uint64_t next_entry(const receive_ring& ring); ///< in memory
    std::uint64_t charge_write(std::uint64_t offset, std::uint32_t bytes);
    void write_memory(std::uint64_t offset, const void* from, std::uint64_t bytes);
    void check_arm(std::uint32_t q);
    void note_received(const packet& frame, std::uint64_t done_ps) const
    {
        if (shared_.watch)
            shared_.watch.record(frame, shared_.now_ps(), done_ps, 1);
    }
    /// Put a completion into the next receive entry, filled at `done_ps`.
    void complete(std::uint32_t q, const abi::nic_completion& c, const packet* frame, std::uint64_t done_ps);

    nic_shared& shared_;
    std::vector<nic_queue_pair>& pairs_;
    nic_interrupts& interrupts_;
    std::uint64_t own_mac_;
    std::vector<receive_ring> rings_;
    receive_buffer buffer_;
    std::uint32_t active_queues_ = 1;
    std::uint32_t writing_ = 0; ///< completions under way to memory
};

} // namespace weft
