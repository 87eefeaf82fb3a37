// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sending side of a DMA engine: a staged packet goes when it has been read, its wire is idle and credits for it are
// there.
#pragma once

#include "hw/dma/dma_port.h"
#include "hw/dma/dma_receiver.h"
#include "hw/dma/dma_rings.h"
#include "hw/dma/dma_shared.h"
#include "hw/dma/dma_transfers.h"
#include "hw/dma/train_sizes.h"
#include "tlm/stats.h"

#include <cstdint>
#include <string>

namespace weft {

class alignas(64) dma_sender {
public:
    /// `ports`: as many as dma_fabric_view says.
    dma_sender(dma_shared& shared, dma_transfers& transfers, dma_port* ports, dma_rings& rings, dma_receiver& receiver)
        : shared_(shared), transfers_(transfers), ports_(ports), port_rate_(shared.view.port_rate),
          sizes_(shared.view.format), receiver_(receiver), rings_(rings)
    {
    }

    /// `port` sends to `fabric`.
    void connect(std::uint32_t port, link_fw_if* fabric);
    /// `port` has a new head, or one that lacks credits has got some: plans when it goes.
    void plan(std::uint32_t port);
    /// Event: the head of `port` starts on the wire, or goes to the own memory.
    void send(std::uint32_t port);

    /// For the stall report, a clause about queue `q`; "" when it does not wait here.
    std::string waits(std::uint32_t q) const;
    /// Nothing is staged, on a wire, or owed.
    bool settled(std::uint64_t now_ps) const;
    // For hints to the host's cache: the sender itself, and what send() will touch.
    void bring_near() const;
    void bring_near(std::uint32_t port) const;

    counter bytes_sent; ///< payload, local copies included
    /// In which the wires of all ports were busy, together, up to `now_ps`.
    std::uint64_t wire_time_ps(std::uint64_t now_ps) const;

private:
    void record_sent(std::uint32_t p, const packet& sent, const staged_packet& staged, std::uint32_t q) const;
    packet_ptr make_packet(const staged_packet& staged, const packet_target& to, const train_sizes::sizes& size) const;

    dma_shared& shared_;
    dma_transfers& transfers_;
    dma_port* const ports_;
    wire_rate port_rate_;
    train_sizes sizes_;
    dma_receiver& receiver_; // from here on, not for every packet
    dma_rings& rings_;
};

} // namespace weft
