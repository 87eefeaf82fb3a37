// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ccu/ccu_receiver.h"

#include "tlm/step_sink.h"

#include <algorithm>
#include <cstring>

namespace weft {

using abi::ccu::op;
using abi::ccu::status;

void ccu_receiver::expect(packet_ptr p, std::uint64_t delay_ps)
{
    ++expected_;
    const std::uint64_t tail_ps = shared_.time.now_ps() + delay_ps + p->serialisation_ps;
    shared_.schedule(tail_ps, event_class::arrival, ccu_shared::k_arrivals, ccu_event::receive, p.release()->index);
}

void ccu_receiver::take(packet_ptr p)
{
    --expected_;
    const std::uint64_t now = shared_.time.now_ps();
    const ccu_header h = ccu_header::of(p->semaphore);
    ++packets;
    bytes_received.add(p->payload_bytes);
    if (sink_ != nullptr)
        sink_->record(make_record(record_kind::message_accepted, now, 0, shared_.rank, *p));
    if (step_sink* const steps = steps_of(sink_))
        steps->accepted({step_packet::of(*p), now, now});
    switch (h.kind) {
    case ccu_message::write_memory:
    case ccu_message::write_slice: return write(*p, h, now);
    case ccu_message::data: return data(*p, now);
    case ccu_message::read_memory:
    case ccu_message::read_slice:
        free_buffer(*p, 0);
        return request(*p, h);
    case ccu_message::acknowledge:
        free_buffer(*p, 0);
        if (const std::uint32_t number = transfers_.named(p->message); number != ccu_transfers::k_none) {
            if (h.code != status::ok)
                unit_.transfer_failed(number, h.code, p->source);
            if (transfers_.finished(number, p->message_packets))
                unit_.transfer_done(number, now);
        }
        return;
    default:
        free_buffer(*p, 0);
        return control(*p, h, now);
    }
}

bool ccu_receiver::opens(std::uint64_t offset, std::uint64_t bytes) const
{
    return token_of(offset) == shared_.token && in_capacity(address_of(offset), bytes, shared_.memory_bytes);
}

void ccu_receiver::write(const packet& p, const ccu_header& h, std::uint64_t now)
{
    const bool to_memory = h.kind == ccu_message::write_memory;
    const bool reduces = p.write_op != 0;
    const std::uint64_t slice = p.destination_offset >> 16;
    const std::uint64_t within = p.destination_offset & 0xffff;
    const bool whole_elements = !reduces || address_of(p.destination_offset) % abi::element_bytes(static_cast<abi::element_type>(p.element)) == 0;
    const bool allowed = to_memory ? opens(p.destination_offset, p.payload_bytes) && whole_elements
                                   : slice < shared_.slices.count() && within + p.payload_bytes <= abi::ccu::k_slice_bytes;
    std::uint64_t done = now;
    if (allowed && to_memory) {
        const std::uint64_t address = address_of(p.destination_offset);
        done = shared_.write_memory(now, address, p.payload_bytes, reduces);
        free_buffer(p, done - shared_.memory->latency_ps() - now);
        if (p.payload != nullptr)
            shared_.copy_to_memory(address, p.payload, p.payload_bytes, p.element, p.write_op);
    } else if (allowed) {
        done = shared_.slices.write(now, p.payload_bytes);
        free_buffer(p, done - now);
        if (p.payload != nullptr)
            std::memcpy(shared_.slices.bytes_of(static_cast<std::uint32_t>(slice)) + within, p.payload, p.payload_bytes);
    } else {
        free_buffer(p, 0);
    }
    inbound whole{1};
    if (p.message_packets > 1) {
        const std::uint64_t key = std::uint64_t{p.source} << 48 ^ std::uint64_t{p.message} << 16 ^ h.index;
        const auto [at, fresh] = inbound_.try_emplace(key, inbound{p.message_packets});
        inbound& s = at->second;
        s.bytes += p.payload_bytes;
        s.done_ps = std::max(s.done_ps, done);
        s.refused = s.refused || !allowed;
        if (--s.left != 0)
            return;
        whole = s;
        inbound_.erase(at);
    } else {
        whole.bytes = p.payload_bytes;
        whole.done_ps = done;
        whole.refused = !allowed;
    }
    finish_segment(p, whole, now);
}

void ccu_receiver::finish_segment(const packet& p, const inbound& s, std::uint64_t now)
{
    if (s.refused) {
        ++refused;
        const bool to_memory = ccu_header::of(p.semaphore).kind == ccu_message::write_memory;
        return answer_at(now, p, s.bytes, to_memory ? status::address : status::remote_operation, 0);
    }
    answer_at(s.done_ps, p, s.bytes, status::ok, p.semaphore_message);
}

/// Of the own transfer.
void ccu_receiver::data(const packet& p, std::uint64_t now)
{
    const std::uint32_t number = transfers_.named(p.message);
    if (number == ccu_transfers::k_none)
        return free_buffer(p, 0);
    ccu_transfer& t = transfers_.at(number);
    std::uint64_t done = now;
    const bool to_slice = t.code == op::remote_mem_to_ms || t.code == op::remote_ms_to_ms;
    if (to_slice) {
        done = shared_.slices.write(now, p.payload_bytes);
        free_buffer(p, done - now);
        if (p.payload != nullptr && !t.orphan)
            std::memcpy(shared_.slices.bytes_of(static_cast<std::uint32_t>(t.local)) + p.destination_offset, p.payload, p.payload_bytes);
    } else {
        const std::uint64_t address = t.local + p.destination_offset;
        done = shared_.write_memory(now, address, p.payload_bytes, t.redop != 0);
        free_buffer(p, done - shared_.memory->latency_ps() - now);
        if (p.payload != nullptr)
            shared_.copy_to_memory(address, p.payload, p.payload_bytes, t.type, t.redop);
    }
    t.done_ps = std::max(t.done_ps, done);
    if (transfers_.finished(number, p.payload_bytes))
        unit_.transfer_done(number, transfers_.at(number).done_ps);
}

void ccu_receiver::request(const packet& p, const ccu_header& h)
{
    const bool memory = h.kind == ccu_message::read_memory;
    const bool allowed = memory ? opens(p.destination_offset, p.message_packets)
                                : p.destination_offset < shared_.slices.count() && p.message_packets <= abi::ccu::k_slice_bytes;
    if (!allowed) {
        ++refused;
        return answer_at(shared_.time.now_ps(), p, p.message_packets, memory ? status::address : status::remote_operation, 0);
    }
    ccu_stream s;
    s.from = memory ? ccu_stream::source::memory : ccu_stream::source::slice;
    s.address = memory ? address_of(p.destination_offset) : p.destination_offset;
    s.bytes = p.message_packets;
    s.header.kind = ccu_message::data;
    s.message = p.message;
    s.offset = std::uint64_t{h.index} * shared_.config.segment.value();
    s.shortest_paths = (p.flags & k_shortest_paths) != 0;
    port_.send_to(p.source, s);
}

void ccu_receiver::control(const packet& p, const ccu_header& h, std::uint64_t now)
{
    bool allowed = true;
    if (h.kind == ccu_message::address_register) {
        allowed = h.index < shared_.address_registers.size();
        if (allowed)
            shared_.address_registers[h.index] = p.destination_offset;
    } else if (h.kind == ccu_message::general_register) {
        allowed = h.index < shared_.general_registers.size();
        if (allowed)
            shared_.general_registers[h.index] = p.destination_offset;
    }
    const std::uint32_t entry = p.semaphore_message >> 16;
    allowed = allowed && entry < shared_.config.check_entries;
    refused.add(allowed ? 0 : 1);
    answer_at(now, p, 0, allowed ? status::ok : status::remote_operation, allowed ? p.semaphore_message : 0);
}

void ccu_receiver::answer_at(std::uint64_t at_ps, const packet& to, std::uint32_t bytes, status code, std::uint32_t entry_and_mask)
{
    const due_answer a{to.source, to.message, bytes, code, entry_and_mask, (to.flags & k_shortest_paths) != 0};
    const std::uint32_t number = answers_.add(a);
    if (at_ps <= shared_.time.now_ps())
        return answer(number);
    shared_.schedule(at_ps, event_class::memory, ccu_shared::k_answers, ccu_event::segment_done, number);
}

void ccu_receiver::answer(std::uint32_t number)
{
    const due_answer a = answers_.take(number);
    if ((a.entry_and_mask & 0xffff) != 0) {
        const std::uint32_t entry = a.entry_and_mask >> 16;
        if (entry < shared_.config.check_entries)
            unit_.set_bits_at(shared_.time.now_ps() + shared_.check_bit_ps(), entry, static_cast<std::uint16_t>(a.entry_and_mask));
    }
    ccu_stream s;
    s.header.kind = ccu_message::acknowledge;
    s.header.code = a.code;
    s.message = a.message;
    s.asked_bytes = a.bytes;
    s.shortest_paths = a.shortest_paths;
    port_.send_to(a.peer, s);
}

void ccu_receiver::reset()
{
    inbound_.clear();
    answers_.clear();
}

} // namespace weft
