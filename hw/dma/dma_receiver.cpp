// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/dma_receiver.h"

#include "hw/abi/descriptor.h"
#include "hw/arithmetic/reduce.h"
#include "tlm/memory_spans.h"
#include "tlm/step_sink.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

void dma_receiver::connect(std::uint32_t index, link_bw_if* sender)
{
    ports_[index].to_sender = sender;
    const std::uint64_t cells = shared_.config.receive_buffer.value() / shared_.view.format.cell_bytes();
    for (std::uint32_t vl = 0; vl < shared_.view.vl_count; ++vl)
        sender->credit(vl, static_cast<std::uint32_t>(cells), 0);
}

bool dma_receiver::idle() const
{
    return std::all_of(ports_.begin(), ports_.end(), [](const port& p) { return p.expected == 0; });
}

void dma_receiver::take(packet_ptr p)
{
    --ports_[p->destination_port].expected;
    write(std::move(p), true);
}

void dma_receiver::write(packet_ptr p, bool from_fabric)
{
    const std::uint64_t now = shared_.time.now_ps();
    if (!in_capacity(p->destination_offset, p->payload_bytes, shared_.memory_bytes)) {
        if (refused_.empty())
            refused_ = fmt::format("a packet of rank {} writes {} B to offset {:#x}; the memory has {:#x} B", p->source, p->payload_bytes, p->destination_offset,
                                   shared_.memory_bytes);
        interrupt_.raise_error(shared_.config.queues, k_dma_error_memory); // of no queue here
        if (from_fabric)
            ports_[p->destination_port].to_sender->credit(p->vl, p->cells, 0);
        return;
    }
    const bool plain = p->write_op == static_cast<std::uint8_t>(abi::reduce_op::none);
    // A notification without payload is ordered behind the writes before it: it asks the memory for nothing but its
    // turn.
    const std::uint64_t done =
        shared_.memory->charge(now, p->destination_offset, p->payload_bytes,
                               plain ? memory_if::access::write : memory_if::access::read_modify_write);
    if (p->payload != nullptr)
        write_payload(*p);
    bytes_received.add(p->payload_bytes);
    if (shared_.sink != nullptr) {
        shared_.sink->record(make_record(record_kind::message_accepted, now, done - now, shared_.rank, *p));
        if (step_sink* const steps = steps_of(shared_.sink))
            steps->accepted({step_packet::of(*p), now, done});
    }
    const auto completes = [&](std::uint64_t at_ps) {
        if (step_sink* const steps = steps_of(shared_.sink))
            steps->completes(at_ps, p->semaphore);
        complete(p->semaphore, at_ps);
    };
    if (from_fabric) // the buffer is free when the memory has taken the data: its queueing, not its latency
        ports_[p->destination_port].to_sender->credit(p->vl, p->cells, done - shared_.memory->latency_ps() - now);
    if (!shared_.view.in_order)
        order_.arrived(p->source, p->semaphore, p->semaphore_message, p->packet_count, p->message_packets, done,
                       completes);
    else if ((p->flags & k_last_of_message) != 0)
        completes(done);
}

void dma_receiver::write_payload(const packet& p)
{
    const auto op = static_cast<abi::reduce_op>(p.write_op);
    const auto type = static_cast<abi::element_type>(p.element);
    // `none` copies.
    write_spans(*shared_.memory, p.destination_offset, p.payload_bytes,
                [&](std::uint64_t done, std::uint8_t* to, std::uint64_t got) { reduce(type, op, to, p.payload + done, got); });
}

void dma_receiver::complete(std::uint32_t semaphore, std::uint64_t at_ps)
{
    ++messages_received;
    if (semaphore == abi::k_no_semaphore)
        return;
    const std::uint64_t order = make_order(event_class::memory, shared_.semaphore_actor(), semaphore_sequence_++);
    shared_.schedule(at_ps, order, dma_event::semaphore, semaphore);
}

std::string dma_receiver::waits() const
{
    if (order_.open() == 0)
        return "";
    return fmt::format("{} messages have not arrived whole, or wait for one before them", order_.open());
}

void dma_receiver::reset()
{
    for (port& p : ports_)
        p.sequence = 0;
    semaphore_sequence_ = 0;
    order_ = {};
    refused_.clear();
}

} // namespace weft
