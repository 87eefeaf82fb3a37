// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/dma_reader.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace weft {

void dma_reader::add(std::uint32_t index, std::uint32_t transfer)
{
    queue& q = queues_[index];
    const std::uint32_t port = shared_.port_of(index);
    if (q.transfers.empty()) {
        q.had = 0;
        q.reading = transfer;
        q.next_packet = 0;
    }
    q.transfers.push_back(transfer);
    ports_[port].ready_queues |= 1u << index;
    fill(port);
}

void dma_reader::drop(std::uint32_t q)
{
    queues_[q].transfers.clear();
    queues_[q].reading = k_none;
    ports_[shared_.port_of(q)].ready_queues &= ~(1u << q);
}

void dma_reader::fill(std::uint32_t p)
{
    dma_port& port = ports_[p];
    port.awaiting_room = false;
    std::uint64_t requests = port.ready_queues;
    while (port.staged.packets() < slots_) {
        const std::uint32_t index = choose_queue(port, requests);
        if (index == k_no_grant) {
            port.awaiting_room = port.ready_queues != 0;
            return;
        }
        queue& q = queues_[index];
        const std::uint32_t packets = transfers_.train_at(q.reading, q.next_packet);
        // A train waits for room: queues whose turns differ in length would get unequal shares of the wire.
        if (slots_ - port.staged.packets() < packets)
            return;
        if (!has_room(port, q)) {
            requests &= ~(std::uint64_t{1} << index);
            continue;
        }
        port.round_robin = index + 1;
        q.had = port.turn.grant(q.had, packets);
        read(p, index, packets);
        requests = port.ready_queues;
    }
}

/// Round robin over `requests`, by packets.
std::uint32_t dma_reader::choose_queue(const dma_port& port, std::uint64_t requests) const
{
    if (train_ == 1)
        return first_request(&requests, 1, port.round_robin);
    return fair_round_robin_over([=](std::uint32_t) { return requests; }, 1, port.round_robin, port.turn,
                                 [&](std::uint32_t q) { return queues_[q].had; }, [](std::uint32_t, bool) { return true; });
}

/// Whether there is room behind the port for the message that `q` reads next.
bool dma_reader::has_room(const dma_port& port, const queue& q) const
{
    const dma_transfer& t = transfers_[q.reading];
    return t.local || port.to_fabric->has_room(transfers_.rank_of(q.reading, q.next_packet), t.shortest_paths);
}

void dma_reader::read(std::uint32_t p, std::uint32_t index, std::uint32_t packets)
{
    dma_port& port = ports_[p];
    queue& q = queues_[index];
    const std::uint64_t now = shared_.time.now_ps();
    const packet_source from = transfers_.source_of(q.reading, q.next_packet, packets);
    staged_packet& slot = port.staged.push(packets);
    slot.ready_ps = now;
    slot.number = q.next_packet;
    slot.payload = nullptr;
    slot.payload_bytes = static_cast<std::uint32_t>(from.bytes);
    slot.transfer = q.reading & 0x7fff'ffffu;
    slot.local = from.local ? 1 : 0;
    if (from.bytes > 0) {
        slot.ready_ps = shared_.memory->charge(now, from.offset, from.bytes, memory_if::access::read);
        if (shared_.view.carry_data)
            slot.payload = payload_of(from);
    }
    q.next_packet += packets;
    if (q.next_packet == transfers_[q.reading].packets) {
        q.transfers.erase(q.transfers.begin());
        q.reading = q.transfers.empty() ? k_none : q.transfers.front();
        q.next_packet = 0;
        if (q.transfers.empty())
            port.ready_queues &= ~(1u << index);
        rings_.read_out(index);
    }
    if (port.staged.size() == 1)
        sender_.plan(p);
}

std::uint8_t* dma_reader::payload_of(const packet_source& from) const
{
    std::uint8_t* const payload = shared_.pool.take_payload(from.bytes);
    for (std::uint64_t done = 0; done < from.bytes;) {
        std::uint64_t got = 0;
        const std::uint8_t* const bytes =
            shared_.memory->span_for_read(from.offset + done, from.bytes - done, got);
        std::memcpy(payload + done, bytes, got);
        done += got;
    }
    return payload;
}

std::string dma_reader::waits(std::uint32_t index) const
{
    const queue& q = queues_[index];
    if (!ports_[shared_.port_of(index)].awaiting_room || q.reading == k_none)
        return "";
    return fmt::format(" and waits for room on the way to rank {}", transfers_.rank_of(q.reading, q.next_packet));
}

void dma_reader::reset()
{
    std::fill(queues_.begin(), queues_.end(), queue{});
    for (std::uint32_t p = 0; p < shared_.view.ports; ++p) {
        dma_port& port = ports_[p];
        port.round_robin = 0;
        port.ready_queues = 0;
        port.awaiting_room = false;
    }
}

} // namespace weft
