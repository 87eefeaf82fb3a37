// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Hints of the DMA engine to the host's cache: what the next packet that is sent or received will touch.
#include "hw/dma/dma.h"

#include <cstddef>

#pragma GCC diagnostic ignored "-Winvalid-offsetof" // GCC and Clang define it for classes with bases, too

namespace weft {

namespace {
constexpr std::size_t k_line = 64;
}

void dma::announce(std::uint32_t number, std::uint8_t kind, int stage) const
{
    static_assert(offsetof(dma_shared, config) <= 2 * k_line, "what packets touch comes first");
    const auto event = static_cast<dma_event>(kind);
    if (event != dma_event::send && event != dma_event::receive)
        return;
    if (stage == 0) {
        fetch_lines(&shared_, 2 * k_line);
        if (event == dma_event::receive) {
            receiver_.bring_near();
            fetch_lines(&shared_.pool.at(number), sizeof(packet));
        } else {
            fetch_line(&transfers_);
            sender_.bring_near();
            reader_.bring_near();
        }
        return;
    }
    if (shared_.memory_hints != nullptr)
        shared_.memory_hints->bring_near(0);
    if (event == dma_event::send)
        sender_.bring_near(number);
    else
        receiver_.bring_near(shared_.pool.at(number));
}

void dma_reader::bring_near() const
{
    static_assert(offsetof(dma_reader, rings_) <= k_line, "what packets touch comes first");
    fetch_line(this);
}

void dma_sender::bring_near() const
{
    static_assert(offsetof(dma_sender, receiver_) <= k_line, "what packets touch comes first");
    fetch_line(this);
}

void dma_receiver::bring_near() const
{
    static_assert(offsetof(dma_receiver, order_) <= k_line, "what packets touch comes first");
    fetch_line(this);
}

void dma_sender::bring_near(std::uint32_t p) const
{
    static_assert(offsetof(dma_port, credits) < 2 * k_line, "what a packet of a port touches comes first");
    const dma_port& port = ports_[p];
    fetch_lines(&port, 2 * k_line);
    if (port.staged.empty())
        return;
    const staged_packet& head = port.staged.head();
    const dma_transfer& t = transfers_[head.transfer];
    fetch_line(&t);
    if (head.local == 0 && port.fabric_hints != nullptr)
        port.fabric_hints->bring_near(t.destination_rank);
    fetch_line(&port.staged.behind_head());
}

void dma_receiver::bring_near(const packet& p) const
{
    fetch_line(&ports_[p.destination_port]);
    if (shared_.view.in_order)
        return;
    order_.bring_near(p.source, p.semaphore);
    fetch_line(ports_[p.destination_port].to_sender);
}

} // namespace weft
