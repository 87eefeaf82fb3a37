// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Receiving side of a DMA engine: what arrives is written or accumulated in memory, and a message that is whole counts
// there.
#pragma once

#include "hw/dma/dma_interrupt.h"
#include "hw/dma/dma_shared.h"
#include "hw/dma/message_order.h"
#include "tlm/link_socket.h"
#include "tlm/stats.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

class alignas(64) dma_receiver {
public:
    dma_receiver(dma_shared& shared, dma_interrupt& interrupt)
        : shared_(shared), interrupt_(interrupt), ports_(shared.view.ports)
    {
    }

    /// Whoever sends to `port` gets its receive buffer as credits.
    void connect(std::uint32_t port, link_bw_if* sender);
    /// Of a local port of the engine, which schedules take().
    struct port {
        link_bw_if* to_sender = nullptr; ///< what the socket is bound to, without its checks
        std::uint32_t sequence = 0;      ///< of packets
        std::uint32_t expected = 0;      ///< packets on their way from the port to take()
    };
    port& arrivals(std::uint32_t index) { return ports_[index]; }
    /// Event: a packet from the fabric is here whole.
    void take(packet_ptr p);
    /// A packet of the own engine, which has used no buffer.
    void take_local(packet_ptr p) { write(std::move(p), false); }

    bool idle() const;
    /// For the stall report; "" when no message is half here.
    std::string waits() const;
    /// The first write beyond the memory, as a clause; "" for none.
    const std::string& refused() const { return refused_; }
    void reset();
    // For hints to the host's cache: the receiver itself, and what take() of `p` will touch.
    void bring_near() const;
    void bring_near(const packet& p) const;

    counter bytes_received; ///< payload, local copies included
    counter messages_received;

private:
    void write(packet_ptr p, bool from_fabric);
    void write_payload(const packet& p);
    void complete(std::uint32_t semaphore, std::uint64_t at_ps);

    dma_shared& shared_;
    dma_interrupt& interrupt_;
    std::vector<port> ports_;
    std::uint32_t semaphore_sequence_ = 0;
    message_order order_; ///< only where packets overtake each other
    std::string refused_;
};

} // namespace weft
