// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/nic_sender.h"

#include "hw/abi/block_float.h"
#include "hw/ethernet/ethernet_frame.h"
#include "tlm/arbiter.h"
#include "tlm/memory_spans.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace weft {

namespace regs = abi::nic;
namespace sml = abi::switchml;

namespace {
constexpr std::uint32_t k_max_ring_entries = 1u << 16;

bool power_of_two(std::uint64_t v) { return v != 0 && (v & (v - 1)) == 0; }

bool sound_formats(const abi::nic_send_entry& e)
{
    const auto known = [](abi::nic_format f) { return f <= abi::nic_format::quantised; };
    if (!known(e.send_format) || !known(e.receive_format))
        return false;
    const bool words = e.send_format != abi::nic_format::as_is || e.what == abi::nic_send::measure;
    if (words && ((e.payload_bytes | e.payload_offset) & 3) != 0)
        return false;
    if (e.send_format != abi::nic_format::quantised && e.receive_format != abi::nic_format::quantised)
        return true;
    return e.workers != 0 && e.scale >= 0 && e.scale <= 3.4028235e38f; // false for NaN, too
}

bool sound(const abi::nic_send_entry& e, std::uint32_t queue_pairs)
{
    if (e.check != abi::check_of(e) || !sound_formats(e))
        return false;
    switch (e.what) {
    case abi::nic_send::frame:
        return e.header_bytes >= sml::k_ip && e.header_bytes <= abi::k_nic_inline_header_bytes &&
               e.payload_bytes <= k_max_frame_bytes - e.header_bytes;
    case abi::nic_send::write:
        return e.header_bytes == sml::k_header && e.queue_pair < queue_pairs &&
               (e.packet_payload_bytes == 256 || e.packet_payload_bytes == 1024);
    case abi::nic_send::measure: return true;
    }
    return false;
}
} // namespace

nic_sender::nic_sender(nic_shared& shared, std::vector<nic_queue_pair>& pairs, ethernet_transmitter& wire)
    : shared_(shared), pairs_(pairs), wire_(wire), rings_(shared.config.queues)
{
    for (std::uint32_t i = 0; i < shared.config.queues; ++i) {
        rings_[i].base = &shared.regs.at(regs::TX_BASE(i));
        rings_[i].entries = &shared.regs.at(regs::TX_ENTRIES(i));
        rings_[i].tail_register = &shared.regs.at(regs::TX_TAIL(i));
    }
}

void nic_sender::ring_doorbell(std::uint32_t index, std::uint32_t tail, std::uint64_t effect_ps)
{
    const std::uint64_t entries = index < rings_.size() ? *rings_[index].entries : 0;
    if (!power_of_two(entries) || entries > k_max_ring_entries) {
        shared_.raise_error(index, k_nic_error_doorbell);
        return;
    }
    send_ring& q = rings_[index];
    if (tail - head_at(index, shared_.now_ps()) > entries || static_cast<std::int32_t>(tail - q.posted) < 0) {
        shared_.raise_error(index, k_nic_error_doorbell);
        return;
    }
    q.posted = tail;
    q.doorbells.push(tail);
    shared_.schedule(std::max(effect_ps, shared_.now_ps()), nic_event_kind::doorbell, index);
}

void nic_sender::doorbell_arrived(std::uint32_t index)
{
    send_ring& q = rings_[index];
    q.tail = q.doorbells.front();
    q.doorbells.pop();
    start_fetch(index);
}

std::uint32_t nic_sender::head_at(std::uint32_t index, std::uint64_t at_ps)
{
    send_ring& q = rings_[index];
    while (!q.completes_at_ps.empty() && q.completes_at_ps.front() <= at_ps) {
        q.completes_at_ps.pop();
        ++q.head;
    }
    return q.head;
}

void nic_sender::start()
{
    for (std::uint32_t q = 0; q < rings_.size(); ++q)
        start_fetch(q);
}

/// Whatever happened to the queues, slots free themselves.
void nic_sender::slot_is_free()
{
    slot_event_ = false;
    read_ahead();
}

measured_block nic_sender::take_measured(std::uint32_t index)
{
    const measured_block m = rings_[index].measuring.front();
    rings_[index].measuring.pop();
    return m;
}

void nic_sender::forget()
{
    for (send_ring& q : rings_) {
        *q.tail_register = 0;
        q.posted = q.tail = q.fetched = q.fetching = q.finished = q.head = 0;
        q.doorbells.clear();
        q.ready.clear();
        q.completes_at_ps.clear();
        q.measuring.clear();
    }
    ready_queues_ = 0;
}

void nic_sender::reset()
{
    slots_.clear();
    round_robin_ = 0;
}

bool nic_sender::idle(std::uint32_t index) const
{
    const send_ring& q = rings_[index];
    return shared_.stopped(index) || (q.finished == q.posted && q.measuring.empty());
}

std::string nic_sender::waits_of(std::uint32_t index) const
{
    const send_ring& q = rings_[index];
    const std::uint32_t entries = q.posted - q.finished;
    if (shared_.stopped(index))
        return fmt::format("NIC queue {} is stopped by an error with {} entries left", index, entries);
    if (entries == 0)
        return "";
    return fmt::format("NIC queue {} has {} entries left and waits for {}", index, entries,
                       !shared_.enabled                            ? "CONTROL to enable the NIC"
                       : q.ready.empty()                           ? "its entries from memory"
                       : slots_.size() < shared_.config.read_ahead ? "its turn"
                                                                   : "the wire");
}

void nic_sender::start_fetch(std::uint32_t index)
{
    send_ring& q = rings_[index];
    if (!shared_.enabled || shared_.stopped(index) || q.fetching != 0 || q.fetched == q.tail ||
        q.ready.size() >= shared_.config.prefetch)
        return;
    const auto entries = static_cast<std::uint32_t>(*q.entries);
    const std::uint32_t place = q.fetched & (entries - 1);
    // One access for what is posted, has room and lies in one piece.
    q.fetching = std::min(
        {q.tail - q.fetched, shared_.config.prefetch - static_cast<std::uint32_t>(q.ready.size()), entries - place});
    const std::uint64_t done =
        shared_.memory->charge(shared_.now_ps(), *q.base + std::uint64_t{place} * abi::k_nic_send_entry_bytes,
                               std::uint64_t{q.fetching} * abi::k_nic_send_entry_bytes, memory_if::access::read);
    shared_.schedule(done, nic_event_kind::fetched, index);
}

void nic_sender::fetched(std::uint32_t index)
{
    send_ring& q = rings_[index];
    const std::uint32_t count = q.fetching;
    q.fetching = 0;
    const auto entries = static_cast<std::uint32_t>(*q.entries);
    for (std::uint32_t i = 0; i < count && !shared_.stopped(index); ++i) {
        const std::uint64_t offset = *q.base + std::uint64_t{q.fetched & (entries - 1)} * abi::k_nic_send_entry_bytes;
        send_job job;
        auto* to = reinterpret_cast<std::uint8_t*>(&job.e);
        for (std::uint64_t done = 0, got = 0; done < sizeof job.e; done += got) {
            const std::uint8_t* from = shared_.memory->span_for_read(offset + done, sizeof job.e - done, got);
            if (from == nullptr || got == 0) {
                shared_.raise_error(index, k_nic_error_memory);
                return;
            }
            std::memcpy(to + done, from, got);
        }
        if (!accept(index, job.e))
            return;
        q.ready.push(job);
        ++q.fetched;
        ready_queues_ |= std::uint64_t{1} << index;
    }
    start_fetch(index);
    read_ahead();
}

bool nic_sender::accept(std::uint32_t index, const abi::nic_send_entry& e)
{
    const bool good = sound(e, shared_.config.queue_pairs);
    if (good && shared_.in_memory(e.payload_offset, e.payload_bytes))
        return true;
    ++bad_entries;
    shared_.raise_error(index, good ? k_nic_error_memory : k_nic_error_entry);
    return false;
}

bool nic_sender::slot_free()
{
    const std::uint64_t now = shared_.now_ps();
    while (!slots_.empty() && slots_.front() <= now)
        slots_.pop();
    return slots_.size() < shared_.config.read_ahead;
}

void nic_sender::read_ahead()
{
    for (;;) {
        const std::uint64_t ready = ready_queues_ & ~shared_.stopped();
        if (ready == 0)
            return;
        if (!slot_free()) {
            if (!slot_event_) {
                slot_event_ = true;
                shared_.schedule(slots_.front(), nic_event_kind::slot, 0);
            }
            return;
        }
        const std::uint32_t index = first_request(&ready, 1, round_robin_);
        round_robin_ = index + 1;
        send_next(index);
    }
}

void nic_sender::send_next(std::uint32_t index)
{
    send_ring& q = rings_[index];
    send_job& job = q.ready.front();
    std::uint64_t read_ps = 0;
    bool whole = true;
    switch (job.e.what) {
    case abi::nic_send::frame: read_ps = send_frame(job.e); break;
    case abi::nic_send::measure: read_ps = measure(index, job.e); break;
    case abi::nic_send::write:
        read_ps = send_packet(index, job);
        whole = job.sent_bytes == job.e.payload_bytes;
        break;
    }
    if (!whole)
        return;
    (void)head_at(index, shared_.now_ps()); // keeps the list short
    q.completes_at_ps.push(read_ps);
    ++q.finished;
    ++entries_sent;
    q.ready.pop();
    if (q.ready.empty())
        ready_queues_ &= ~(std::uint64_t{1} << index);
    start_fetch(index);
}

std::uint64_t nic_sender::measure(std::uint32_t index, const abi::nic_send_entry& e)
{
    const std::uint64_t read_ps =
        shared_.memory->charge(shared_.now_ps(), e.payload_offset, e.payload_bytes, memory_if::access::read);
    std::int8_t exponent = shared_.carry_data ? abi::k_min_exponent : 0;
    if (shared_.carry_data)
        read_spans(*shared_.memory[0], e.payload_offset, e.payload_bytes,
                   [&](std::uint64_t, const std::uint8_t* from, std::uint64_t got) { exponent = largest_exponent(exponent, from, got); });
    rings_[index].measuring.push({exponent, e.queue_pair});
    shared_.schedule(read_ps, nic_event_kind::measured, index);
    return read_ps;
}

/// Reads `bytes` of payload behind the headers already in `frame`, and sends it; returns when they have left memory.
std::uint64_t nic_sender::transmit(packet_ptr frame, std::uint32_t header_bytes, const abi::nic_send_entry& e,
                                   std::uint64_t offset, std::uint32_t bytes)
{
    const std::uint64_t now = shared_.now_ps();
    std::uint64_t read_ps = now;
    if (bytes > 0) {
        read_ps = shared_.memory->charge(now, offset, bytes, memory_if::access::read);
        const nic_conversion conversion{e.send_format, e.workers, e.scale};
        if (shared_.carry_data)
            read_spans(*shared_.memory[0], offset, bytes, [&](std::uint64_t done, const std::uint8_t* from, std::uint64_t got) {
                convert_to_wire(conversion, frame->payload + header_bytes + done, from, got);
            });
    }
    frame->born_ps = now;
    if (shared_.watch) {
        const std::uint64_t last_byte_ps =
            std::max(read_ps, wire_.busy_until_ps()) + wire_.wire_time_ps(frame->wire_bytes);
        shared_.watch.record(*frame, now, last_byte_ps);
    }
    wire_.send(std::move(frame), now, read_ps);
    slots_.push(wire_.last_start_ps());
    return read_ps;
}

std::uint64_t nic_sender::send_frame(const abi::nic_send_entry& e)
{
    const std::uint32_t bytes = std::max(e.header_bytes + e.payload_bytes, k_min_frame_bytes);
    packet_ptr p = make_frame(shared_.pool, bytes, shared_.carry_data ? bytes : e.header_bytes);
    std::memcpy(p->payload, e.header, e.header_bytes);
    const std::uint32_t filled = e.header_bytes + e.payload_bytes;
    if (shared_.carry_data && filled < bytes)
        std::memset(p->payload + filled, 0, bytes - filled);
    return transmit(std::move(p), e.header_bytes, e, e.payload_offset, e.payload_bytes);
}

std::uint64_t nic_sender::send_packet(std::uint32_t index, send_job& job)
{
    const abi::nic_send_entry& e = job.e;
    nic_queue_pair& pair = pairs_[e.queue_pair];
    const bool first = job.sent_bytes == 0;
    if (first)
        pair.expect(index, e.remote_address, {e.receive_format, e.workers, e.scale});
    const std::uint32_t payload = std::min<std::uint32_t>(e.packet_payload_bytes, e.payload_bytes - job.sent_bytes);
    const bool last = job.sent_bytes + payload == e.payload_bytes;
    const sml::opcode op = first ? (last ? sml::opcode::write_only_immediate : sml::opcode::write_first)
                                 : (last ? sml::opcode::write_last_immediate : sml::opcode::write_middle);
    const std::uint32_t headers = sml::roce_headers(op);
    const std::uint32_t bytes = headers + payload + sml::k_icrc_bytes;
    packet_ptr p = make_frame(shared_.pool, bytes, shared_.carry_data ? bytes : headers);
    std::uint8_t* b = p->payload;
    std::memcpy(b, e.header, sml::k_header);
    sml::put16(b + sml::k_ip + 2, bytes - sml::k_ip);
    sml::put16(b + sml::k_ip + 10, 0);
    sml::put16(b + sml::k_ip + 10, sml::internet_checksum(b + sml::k_ip, 20));
    sml::put16(b + sml::k_udp + 4, bytes - sml::k_udp);
    sml::encode(sml::bth{op, e.remote_queue_pair, pair.take_send_psn()}, b + sml::k_header);
    std::uint8_t* next = b + sml::k_header + sml::k_bth_bytes;
    if (first) {
        sml::encode(sml::reth{e.remote_address, e.remote_key, e.payload_bytes}, next);
        next += sml::k_reth_bytes;
    }
    if (last)
        sml::put32(next, e.immediate);
    if (shared_.carry_data)
        std::memset(b + headers + payload, 0, sml::k_icrc_bytes);
    const std::uint64_t read_ps = transmit(std::move(p), headers, e, e.payload_offset + job.sent_bytes, payload);
    job.sent_bytes += payload;
    return read_ps;
}

} // namespace weft
