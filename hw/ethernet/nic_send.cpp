// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sending half of the NIC: entries, read-ahead, frames and packets.
#include "hw/abi/block_float.h"
#include "hw/ethernet/ethernet_frame.h"
#include "hw/ethernet/ethernet_nic.h"
#include "tlm/arbiter.h"

#include <algorithm>
#include <cstring>

namespace weft {

namespace sml = abi::switchml;

namespace {
constexpr std::uint32_t k_error_entry = 1u << 0;
constexpr std::uint32_t k_error_memory = 1u << 1;
/// A frame must fit a receive entry behind its completion.
constexpr std::uint32_t k_max_frame_bytes = abi::k_nic_receive_entry_bytes - sizeof(abi::nic_completion);

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
    std::uint32_t words[offsetof(abi::nic_send_entry, check) / 4];
    std::memcpy(words, &e, sizeof words);
    if (e.check != abi::check_word(words, sizeof words / 4) || !sound_formats(e))
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

void ethernet_nic::start_fetch(std::uint32_t index)
{
    queue& q = queues_[index];
    if (!enabled_ || q.stopped || q.fetching != 0 || q.fetched == q.tail || q.ready.size() >= config_.prefetch)
        return;
    const auto entries = static_cast<std::uint32_t>(*q.tx_entries);
    const std::uint32_t place = q.fetched & (entries - 1);
    // One access for what is posted, has room and lies in one piece.
    q.fetching =
        std::min({q.tail - q.fetched, config_.prefetch - static_cast<std::uint32_t>(q.ready.size()), entries - place});
    const std::uint64_t done = memory->charge(time_.now_ps(), *q.tx_base + std::uint64_t{place} * abi::k_nic_send_entry_bytes,
                                              std::uint64_t{q.fetching} * abi::k_nic_send_entry_bytes,
                                              memory_if::access::read);
    schedule(done, k_fetched, index);
}

void ethernet_nic::fetched(std::uint32_t index)
{
    queue& q = queues_[index];
    const std::uint32_t count = q.fetching;
    q.fetching = 0;
    const auto entries = static_cast<std::uint32_t>(*q.tx_entries);
    for (std::uint32_t i = 0; i < count && !q.stopped; ++i) {
        const std::uint64_t offset =
            *q.tx_base + std::uint64_t{q.fetched & (entries - 1)} * abi::k_nic_send_entry_bytes;
        send_job job;
        auto* to = reinterpret_cast<std::uint8_t*>(&job.e);
        for (std::uint64_t done = 0, got = 0; done < sizeof job.e; done += got) {
            const std::uint8_t* from = memory->span_for_read(offset + done, sizeof job.e - done, got);
            if (from == nullptr || got == 0) {
                raise_error(index, k_error_memory);
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

bool ethernet_nic::accept(std::uint32_t index, const abi::nic_send_entry& e)
{
    const bool good = sound(e, config_.queue_pairs);
    if (good && in_memory(e.payload_offset, e.payload_bytes))
        return true;
    ++bad_entries;
    raise_error(index, good ? k_error_memory : k_error_entry);
    return false;
}

bool ethernet_nic::slot_free()
{
    const std::uint64_t now = time_.now_ps();
    while (!slots_.empty() && slots_.front() <= now)
        slots_.pop();
    return slots_.size() < config_.read_ahead;
}

void ethernet_nic::read_ahead()
{
    while (ready_queues_ != 0) {
        if (!slot_free()) {
            if (!slot_event_) {
                slot_event_ = true;
                schedule(slots_.front(), k_slot, 0);
            }
            return;
        }
        const std::uint32_t index = round_robin(&ready_queues_, 1, round_robin_, [](std::uint32_t) { return true; });
        round_robin_ = index + 1;
        send_next(index);
    }
}

void ethernet_nic::send_next(std::uint32_t index)
{
    queue& q = queues_[index];
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
    (void)tx_head_at(q, time_.now_ps()); // keeps the list short
    q.completes_at_ps.push(read_ps);
    ++q.finished;
    ++entries_sent;
    q.ready.pop();
    if (q.ready.empty())
        ready_queues_ &= ~(std::uint64_t{1} << index);
    start_fetch(index);
}

std::uint64_t ethernet_nic::measure(std::uint32_t index, const abi::nic_send_entry& e)
{
    const std::uint64_t read_ps = memory->charge(time_.now_ps(), e.payload_offset, e.payload_bytes, memory_if::access::read);
    std::int8_t exponent = carry_data_ ? abi::k_min_exponent : 0;
    for (std::uint64_t done = 0, got = 0; carry_data_ && done < e.payload_bytes; done += got) {
        const std::uint8_t* from = memory->span_for_read(e.payload_offset + done, e.payload_bytes - done, got);
        exponent = largest_exponent(exponent, from, got);
    }
    queues_[index].measuring.push({exponent, e.queue_pair});
    schedule(read_ps, k_measured, index);
    return read_ps;
}

/// Reads `bytes` of payload behind the headers already in `frame`, and sends it; returns when they have left memory.
std::uint64_t ethernet_nic::transmit(packet_ptr frame, std::uint32_t header_bytes, const abi::nic_send_entry& e,
                                     std::uint64_t offset, std::uint32_t bytes)
{
    const std::uint64_t now = time_.now_ps();
    std::uint64_t read_ps = now;
    if (bytes > 0) {
        read_ps = memory->charge(now, offset, bytes, memory_if::access::read);
        const nic_conversion conversion{e.send_format, e.workers, e.scale};
        for (std::uint64_t done = 0, got = 0; carry_data_ && done < bytes; done += got) {
            const std::uint8_t* from = memory->span_for_read(offset + done, bytes - done, got);
            convert_to_wire(conversion, frame->payload + header_bytes + done, from, got);
        }
    }
    frame->born_ps = now;
    if (watch_) {
        const std::uint64_t last_byte_ps =
            std::max(read_ps, wire_.busy_until_ps()) + wire_.wire_time_ps(frame->wire_bytes);
        watch_.record(*frame, now, last_byte_ps);
    }
    wire_.send(std::move(frame), now, read_ps);
    slots_.push(wire_.last_start_ps());
    return read_ps;
}

std::uint64_t ethernet_nic::send_frame(const abi::nic_send_entry& e)
{
    const std::uint32_t bytes = std::max(e.header_bytes + e.payload_bytes, k_min_frame_bytes);
    packet_ptr p = make_frame(pool_, bytes, carry_data_ ? bytes : e.header_bytes);
    std::memcpy(p->payload, e.header, e.header_bytes);
    const std::uint32_t filled = e.header_bytes + e.payload_bytes;
    if (carry_data_ && filled < bytes)
        std::memset(p->payload + filled, 0, bytes - filled);
    return transmit(std::move(p), e.header_bytes, e, e.payload_offset, e.payload_bytes);
}

std::uint64_t ethernet_nic::send_packet(std::uint32_t index, send_job& job)
{
    const abi::nic_send_entry& e = job.e;
    queue_pair& pair = pairs_[e.queue_pair];
    const bool first = job.sent_bytes == 0;
    if (first) { // from now on an answer may come
        pair.queue = index;
        const expected_answer answer{e.remote_address, {e.receive_format, e.workers, e.scale}, true};
        if (!pair.latest.set || pair.latest.address != answer.address) // sent again: the same answer
            pair.before = pair.latest;
        pair.latest = answer;
    }
    const std::uint32_t payload = std::min<std::uint32_t>(e.packet_payload_bytes, e.payload_bytes - job.sent_bytes);
    const bool last = job.sent_bytes + payload == e.payload_bytes;
    const sml::opcode op = first ? (last ? sml::opcode::write_only_immediate : sml::opcode::write_first)
                                 : (last ? sml::opcode::write_last_immediate : sml::opcode::write_middle);
    const std::uint32_t headers = sml::roce_headers(op);
    const std::uint32_t bytes = headers + payload + sml::k_icrc_bytes;
    packet_ptr p = make_frame(pool_, bytes, carry_data_ ? bytes : headers);
    std::uint8_t* b = p->payload;
    std::memcpy(b, e.header, sml::k_header);
    sml::put16(b + sml::k_ip + 2, bytes - sml::k_ip);
    sml::put16(b + sml::k_ip + 10, 0);
    sml::put16(b + sml::k_ip + 10, sml::internet_checksum(b + sml::k_ip, 20));
    sml::put16(b + sml::k_udp + 4, bytes - sml::k_udp);
    sml::encode(sml::bth{op, e.remote_queue_pair, pair.send_psn}, b + sml::k_header);
    pair.send_psn = (pair.send_psn + 1) & sml::k_psn_mask;
    std::uint8_t* next = b + sml::k_header + sml::k_bth_bytes;
    if (first) {
        sml::encode(sml::reth{e.remote_address, e.remote_key, e.payload_bytes}, next);
        next += sml::k_reth_bytes;
    }
    if (last)
        sml::put32(next, e.immediate);
    if (carry_data_)
        std::memset(b + headers + payload, 0, sml::k_icrc_bytes);
    const std::uint64_t read_ps = transmit(std::move(p), headers, e, e.payload_offset + job.sent_bytes, payload);
    job.sent_bytes += payload;
    return read_ps;
}

} // namespace weft
