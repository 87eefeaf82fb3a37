// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A local port of a DMA engine, as a packet on its way out touches it: dma_reader fills its staged packets, dma_sender
// empties them.
#pragma once

#include "tlm/arbiter.h"
#include "tlm/cache_hints.h"
#include "tlm/credit.h"
#include "tlm/link_socket.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

/// A packet, or a train of full ones, between memory and wire. There are many, and most wait long: they become packets
/// when they are sent.
struct alignas(32) staged_packet {
    std::uint64_t ready_ps;     ///< when it has been read
    std::uint64_t number;       ///< of its first packet, in its transfer
    std::uint8_t* payload;      ///< nullptr with data off
    std::uint32_t payload_bytes;
    std::uint32_t transfer : 31;
    std::uint32_t local : 1; ///< to the own rank: it does not enter the fabric
};
static_assert(sizeof(staged_packet) == 32);

/// Staged packets in the order of their reads. A ring that grows: few trains wait where many packets would.
class staged_ring {
public:
    bool empty() const { return count_ == 0; }
    std::uint32_t size() const { return count_; }      ///< transactions
    std::uint32_t packets() const { return packets_; } ///< of all of them
    const staged_packet& head() const { return ring_[first_]; }
    const staged_packet& behind_head() const { return ring_[(first_ + 1) & (ring_.size() - 1)]; }

    /// Place for a transaction of `packets` at the end; its contents are old.
    staged_packet& push(std::uint32_t packets)
    {
        if (count_ == ring_.size())
            grow();
        packets_ += packets;
        return ring_[(first_ + count_++) & (ring_.size() - 1)];
    }
    /// The head, which is of `packets`, goes.
    void pop(std::uint32_t packets)
    {
        first_ = (first_ + 1) & static_cast<std::uint32_t>(ring_.size() - 1);
        --count_;
        packets_ -= packets;
    }

private:
    void grow()
    {
        std::vector<staged_packet> longer(2 * ring_.size());
        std::rotate_copy(ring_.begin(), ring_.begin() + first_, ring_.end(), longer.begin());
        ring_.swap(longer);
        first_ = 0;
    }

    std::vector<staged_packet> ring_ = std::vector<staged_packet>(8); ///< a power of two long
    std::uint32_t first_ = 0;
    std::uint32_t count_ = 0;
    std::uint32_t packets_ = 0;
};

struct alignas(64) dma_port {
    staged_ring staged;
    // Of the reader.
    std::uint32_t round_robin = 0;  ///< queue after the one last served
    std::uint32_t ready_queues = 0; ///< bit q: queue q has a transfer to read
    fair_turn turn;                 ///< with trains
    // Of the sender.
    std::uint64_t wire_busy_until_ps = 0;
    std::uint64_t wire_time_ps = 0; ///< in which the wire was or will be busy, by all packets so far
    link_fw_if* to_fabric = nullptr;         ///< what the socket is bound to, without its checks
    const use_hints* fabric_hints = nullptr; ///< of to_fabric
    bool awaiting_credit = false;            ///< the head cannot say when it goes
    bool awaiting_room = false;              ///< of the reader: no queue with work finds any behind the port
    credit_counter credits; ///< of VL 0: it sends on no other
    credit_pool credits_under_way;
};

} // namespace weft
