// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Hints of the DMA engine to the host's cache: what the next packet that is sent or received will touch.
#include "hw/dma/dma.h"

#include <cstddef>

#pragma GCC diagnostic ignored "-Winvalid-offsetof" // GCC and Clang define it for classes with bases, too

namespace weft {

namespace {
constexpr std::size_t k_hot_bytes = 256;  // of an engine
constexpr std::size_t k_port_bytes = 128; // of a port
} // namespace

void dma::announce(std::uint32_t a, std::uint8_t kind, int stage) const
{
    static_assert(offsetof(dma, sink_) - offsetof(dma, bytes_sent) < k_hot_bytes,
                  "what every packet touches lies side by side");
    if (kind != k_send && kind != k_receive)
        return;
    if (stage == 0) {
        fetch_lines(&bytes_sent, k_hot_bytes); // and the members behind it
        if (kind == k_receive)
            fetch_lines(&pool_.at(a), sizeof(packet));
        return;
    }
    if (memory_hints_ != nullptr)
        memory_hints_->bring_near(0);
    if (kind == k_send) {
        announce_send(ports_[a]);
    } else if (!view_.in_order) {
        const packet& p = pool_.at(a);
        order_.bring_near(p.source, p.semaphore);
        fetch_line(ports_[p.destination_port].to_sender);
    }
}

void dma::announce_send(const port_state& side) const
{
    static_assert(offsetof(port_state, credits) < k_port_bytes, "what a packet of a port touches comes first");
    fetch_lines(&side, k_port_bytes);
    if (side.staged_count == 0)
        return;
    const staged_packet& head = side.head();
    const loaded& l = loaded_[head.descriptor];
    fetch_line(&l);
    if (head.local == 0 && side.fabric_hints != nullptr)
        side.fabric_hints->bring_near(l.destination_rank);
    fetch_line(&side.behind_head());
}

} // namespace weft
