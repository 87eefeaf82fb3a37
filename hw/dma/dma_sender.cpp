// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/dma_sender.h"

#include "tlm/check.h"
#include "tlm/step_sink.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

void dma_sender::connect(std::uint32_t port, link_fw_if* fabric)
{
    ports_[port].to_fabric = fabric;
    ports_[port].fabric_hints = hints_of(fabric);
}

/// Credits arrive in order, so those under way tell the time; if they do not suffice, the next one to come asks again.
void dma_sender::plan(std::uint32_t p)
{
    dma_port& port = ports_[p];
    const staged_packet& head = port.staged.head();
    const std::uint64_t now = shared_.time.now_ps();
    std::uint64_t at_ps = std::max({head.ready_ps, port.wire_busy_until_ps, now});
    if (const std::uint32_t cells = sizes_.of(head.payload_bytes).cells;
        head.local == 0 && !port.credits.has(port.credits_under_way, now, cells)) {
        const std::uint64_t credit_ps = port.credits.when(port.credits_under_way, cells);
        port.awaiting_credit = credit_ps == k_never_ps;
        if (port.awaiting_credit)
            return;
        at_ps = std::max(at_ps, credit_ps);
    }
    port.awaiting_credit = false;
    shared_.schedule(at_ps, make_order(event_class::device, shared_.port_actor(p), 0), dma_event::send, p);
}

void dma_sender::send(std::uint32_t p)
{
    dma_port& port = ports_[p];
    const staged_packet head = port.staged.head();
    const std::uint64_t now = shared_.time.now_ps();
    const bool local = head.local != 0;
    const train_sizes::sizes size = sizes_.of(head.payload_bytes);
    // has() also takes in the credits that have come.
    if (!local && !port.credits.has(port.credits_under_way, now, size.cells))
        throw bug(shared_.name, now, fmt::format("local port {} sends before its credits have come", p));
    port.staged.pop(size.packets);
    const packet_target to = transfers_.target_of(head.transfer, head.number, size.packets);
    const std::uint32_t q = transfers_[head.transfer].queue;
    const std::uint32_t ring_entries = transfers_[head.transfer].ring_entries;
    packet_ptr packet = make_packet(head, to, size);
    if (to.last_of_transfer)
        transfers_.release(head.transfer);

    bytes_sent.add(head.payload_bytes);
    std::uint64_t end = now;
    if (shared_.sink != nullptr)
        record_sent(p, *packet, head, q);
    if (local) {
        receiver_.take_local(std::move(packet));
    } else {
        const std::uint64_t serialisation = port_rate_.time_ps(packet->wire_bytes);
        end = now + serialisation;
        port.wire_busy_until_ps = end;
        port.wire_time_ps += serialisation;
        packet->serialisation_ps = static_cast<std::uint32_t>(serialisation);
        port.credits.take(packet->cells);
        port.to_fabric->send(std::move(packet), 0);
    }
    if (to.last_of_transfer)
        rings_.sent(q, end, ring_entries);
    if (!port.staged.empty())
        plan(p);
}

/// `sent` of queue `q` starts on port `p` now.
void dma_sender::record_sent(std::uint32_t p, const packet& sent, const staged_packet& staged, std::uint32_t q) const
{
    const std::uint64_t now = shared_.time.now_ps();
    const std::uint64_t serialisation = staged.local != 0 ? 0 : port_rate_.time_ps(sent.wire_bytes);
    if (step_sink* const steps = steps_of(shared_.sink))
        steps->sent({step_packet::of(sent), now, staged.ready_ps, ports_[p].wire_busy_until_ps, staged.transfer,
                     static_cast<std::uint32_t>(serialisation), p});
    if (staged.local == 0)
        shared_.sink->record(make_record(record_kind::message_emitted, now, serialisation, shared_.rank, sent, q));
}

packet_ptr dma_sender::make_packet(const staged_packet& staged, const packet_target& to, const train_sizes::sizes& size) const
{
    const dma_transfer& t = transfers_[staged.transfer];
    packet_ptr p = shared_.pool.make();
    p->source = shared_.rank;
    p->destination = to.rank;
    p->destination_port = t.destination_port;
    p->payload_bytes = staged.payload_bytes;
    p->packet_count = size.packets;
    p->wire_bytes = size.wire_bytes;
    p->cells = size.cells;
    p->destination_offset = to.offset;
    p->write_op = t.redop;
    p->element = t.type;
    p->semaphore = to.semaphore;
    p->message = to.message;
    if (!shared_.view.in_order) {
        p->semaphore_message = to.semaphore_message;
        p->message_packets = t.message_packets;
    }
    p->born_ps = shared_.time.now_ps();
    if (staged.payload != nullptr)
        shared_.pool.adopt_payload(*p, staged.payload, staged.payload_bytes);
    if (t.shortest_paths)
        p->flags = k_shortest_paths;
    if (to.last_of_message)
        p->flags |= k_last_of_message;
    return p;
}

bool dma_sender::settled(std::uint64_t now_ps) const
{
    return std::all_of(ports_, ports_ + shared_.view.ports, [=](dma_port& p) {
        return p.staged.empty() && p.wire_busy_until_ps <= now_ps && p.credits.settled(p.credits_under_way, now_ps);
    });
}

std::uint64_t dma_sender::wire_time_ps(std::uint64_t now_ps) const
{
    std::uint64_t all_ps = 0;
    for (const dma_port* p = ports_; p != ports_ + shared_.view.ports; ++p)
        all_ps += p->wire_time_ps - (p->wire_busy_until_ps > now_ps ? p->wire_busy_until_ps - now_ps : 0);
    return all_ps;
}

std::string dma_sender::waits(std::uint32_t q) const
{
    const std::uint32_t p = shared_.port_of(q);
    const dma_port& port = ports_[p];
    if (!port.awaiting_credit)
        return "";
    const staged_packet& head = port.staged.head();
    const std::uint32_t sending = transfers_[head.transfer].queue;
    if (sending != q)
        return fmt::format(" behind queue {} of local port {}", sending, p);
    return fmt::format(" and waits for {} credits of local port {} VL 0 for a packet to rank {}",
                       sizes_.of(head.payload_bytes).cells, p, transfers_.rank_of(head.transfer, head.number));
}

} // namespace weft
