// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Read-ahead of a DMA engine: it takes the queues of a port in turn and reads their packets from memory, while slots
// are free.
#pragma once

#include "hw/dma/dma_port.h"
#include "hw/dma/dma_rings.h"
#include "hw/dma/dma_semaphores.h"
#include "hw/dma/dma_sender.h"
#include "hw/dma/dma_shared.h"
#include "hw/dma/dma_transfers.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace weft {

class alignas(64) dma_reader {
public:
    /// `ports`: as many as dma_fabric_view says.
    dma_reader(dma_shared& shared, const dma_transfers& transfers, dma_port* ports, dma_rings& rings, dma_sender& sender, const dma_semaphores& semaphores)
        : shared_(shared), transfers_(transfers), ports_(ports), sender_(sender), queues_(shared.config.queues),
          slots_(shared.config.read_ahead), train_(shared.view.train), rings_(rings), semaphores_(semaphores),
          message_until_ps_(shared.config.engine.queue_rate.value() != 0 ? shared.config.queues : 0),
          counted_at_(shared.config.engine.wake.value() != 0 ? dma_semaphores::k_count : 0)
    {
    }

    /// Packets of a train, at most, from now on.
    void set_train(std::uint32_t packets) { train_ = packets; }
    std::uint32_t train() const { return train_; }
    /// Since reset(): how long the engines of queue `q` have moved bytes. With `q` the number of queues: all of them.
    std::uint64_t moved_ps(std::uint32_t q, std::uint64_t now_ps) const;

    /// Transfer `transfer` of queue `q` is to be read, behind those before it.
    void add(std::uint32_t q, std::uint32_t transfer);
    /// Nothing more of queue `q` is read.
    void drop(std::uint32_t q);
    /// A message more for semaphore `s`: queues may have waited for it.
    void counted(std::uint32_t s);
    /// Event: queue `q`, which was woken, begins.
    void start(std::uint32_t q);
    /// Reads what the slots of `port` have room for. To be called when one becomes free, and with credits where
    /// dma_port::awaiting_room.
    void fill(std::uint32_t port);

    /// For the stall report, a clause about queue `q`; "" when it does not wait here.
    std::string waits(std::uint32_t q) const;
    void reset();
    void bring_near() const; ///< the reader itself, for hints to the host's cache

private:
    static constexpr std::uint32_t k_none = 0xffff'ffff;
    struct alignas(64) queue {
        std::uint32_t reading = k_none;     ///< first of `transfers`, beside it: every packet asks
        std::uint64_t next_packet = 0;      ///< of that one
        std::uint64_t had = 0;              ///< packets, as in fair_turn
        std::uint64_t engine_busy_until_ps = 0; ///< only where an engine has a rate of its own
        std::uint64_t engine_busy_ps = 0;       ///< up to then
        std::vector<std::uint32_t> transfers; ///< not wholly read, oldest first
    };
    static_assert(sizeof(queue) == 64); // a line for each packet that is read
    std::uint32_t choose_queue(const dma_port& port, std::uint64_t requests) const;
    bool has_room(const dma_port& port, const queue& q) const;
    void read(std::uint32_t port, std::uint32_t q, std::uint32_t packets);
    bool may_begin(std::uint32_t transfer) const;
    void new_head(std::uint32_t q);
    void wake(std::uint32_t s);
    void read_elements(dma_port& port, queue& q, const packet_source& from, std::uint32_t packets);
    std::uint64_t through_engine(queue& q, std::uint64_t within, std::uint64_t bytes, std::uint64_t times);
    std::uint64_t begins_at(std::uint32_t transfer) const;
    void wake_at(std::uint32_t q, std::uint64_t at_ps);
    std::uint8_t* payload_of(memory_if& memory, std::uint64_t offset, std::uint64_t bytes) const;
    std::uint8_t* reduced(const transfer_elements& all, std::uint64_t within, std::uint64_t bytes) const;

    dma_shared& shared_;
    const dma_transfers& transfers_;
    dma_port* const ports_;
    dma_sender& sender_;
    std::vector<queue> queues_;
    std::uint32_t slots_; ///< packets of a port
    std::uint32_t train_;
    dma_rings& rings_; // not for every packet
    const dma_semaphores& semaphores_;
    std::uint32_t waiting_ = 0; ///< bit q: what queue q reads next waits for a semaphore
    std::uint32_t woken_ = 0;   ///< bit q: it has waited long enough, and start() will come
    std::uint64_t engines_busy_until_ps_ = 0; ///< of all queues
    std::uint64_t engines_busy_ps_ = 0;
    /// Of each queue, where engines have rates: until when those of the message that is read are busy.
    std::vector<std::uint64_t> message_until_ps_;
    static constexpr std::uint32_t k_counts_known = 8;
    /// By semaphore and count; only where `wake` is not zero.
    std::vector<std::array<std::uint64_t, k_counts_known>> counted_at_;
};

} // namespace weft
