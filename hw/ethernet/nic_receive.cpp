// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Receiving half of the NIC: steering, rings, RDMA writes.
#include "hw/ethernet/ethernet_frame.h"
#include "hw/ethernet/ethernet_nic.h"

#include <algorithm>
#include <cstring>

namespace weft {

namespace sml = abi::switchml;

namespace {
constexpr std::uint32_t k_error_memory = 1u << 1;
constexpr std::uint64_t k_broadcast = 0xffff'ffff'ffff;
constexpr std::uint32_t k_completion_bytes = sizeof(abi::nic_completion);
constexpr std::uint32_t k_max_frame_bytes = abi::k_nic_receive_entry_bytes - k_completion_bytes;
} // namespace

void ethernet_nic::arrived(packet_ptr frame)
{
    --receiving_;
    ++frames_received;
    bytes_received.add(frame_bytes(*frame));
    if (!enabled_) {
        ++dropped_disabled;
        return;
    }
    const std::uint64_t held = frame->payload_bytes;
    if ((frame->flags & k_corrupted) != 0 || held < sml::k_ip || frame_bytes(*frame) > k_max_frame_bytes) {
        ++bad_frames;
        return;
    }
    const std::uint8_t* b = frame->payload;
    const std::uint64_t destination = sml::get48(b);
    if (destination != own_mac_ && destination != k_broadcast) {
        ++bad_frames;
        return;
    }
    const bool udp = sml::get16(b + 12) == sml::k_ether_type_ipv4 && held >= sml::k_header && b[sml::k_ip] == 0x45 &&
                     b[sml::k_ip + 9] == sml::k_protocol_udp;
    const std::uint32_t port = udp ? sml::get16(b + sml::k_udp + 2) : 0;
    if (udp && port == sml::k_udp_port_roce)
        receive_write(*frame);
    else
        receive_frame(udp ? (port & 15) % active_queues_ : 0, *frame);
}

bool ethernet_nic::fits_buffer(std::uint32_t bytes)
{
    const std::uint64_t now = time_.now_ps();
    while (!buffer_.empty() && buffer_.front().until_ps <= now) {
        buffered_bytes_ -= buffer_.front().bytes;
        buffer_.pop();
    }
    return buffered_bytes_ + bytes <= config_.receive_buffer.value();
}

bool ethernet_nic::has_room(const queue& q) const
{
    const std::uint64_t entries = *q.rx_entries;
    return entries != 0 && (entries & (entries - 1)) == 0 &&
           q.rx_given - static_cast<std::uint32_t>(*q.rx_tail) < entries;
}

std::uint64_t ethernet_nic::charge_write(std::uint64_t offset, std::uint32_t bytes)
{
    const std::uint64_t done = memory->charge(time_.now_ps(), offset, bytes, memory_if::access::write);
    buffer_.push({done - memory->latency_ps(), bytes});
    buffered_bytes_ += bytes;
    return done;
}

void ethernet_nic::write_memory(std::uint64_t offset, const void* from, std::uint64_t bytes)
{
    for (std::uint64_t done = 0, got = 0; done < bytes; done += got) {
        std::uint8_t* to = memory->span_for_write(offset + done, bytes - done, got);
        std::memcpy(to, static_cast<const std::uint8_t*>(from) + done, got);
    }
}

std::uint64_t ethernet_nic::next_receive_entry(const queue& q)
{
    return *q.rx_base + (q.rx_given & (*q.rx_entries - 1)) * abi::k_nic_receive_entry_bytes;
}

bool ethernet_nic::complete(std::uint32_t index, const abi::nic_completion& c, const packet* frame,
                            std::uint64_t done_ps)
{
    queue& q = queues_[index];
    const std::uint64_t offset = next_receive_entry(q);
    if (!in_memory(offset, abi::k_nic_receive_entry_bytes)) {
        raise_error(index, k_error_memory);
        return false;
    }
    write_memory(offset, &c, sizeof c);
    if (frame != nullptr)
        write_memory(offset + sizeof c, frame->payload, frame->payload_bytes);
    ++q.rx_given;
    ++writing_;
    schedule(done_ps + config_.host_latency.value(), k_written, index);
    return true;
}

void ethernet_nic::receive_frame(std::uint32_t index, const packet& frame)
{
    queue& q = queues_[index];
    const std::uint32_t bytes = frame_bytes(frame);
    if (q.stopped) {
        ++dropped_disabled;
        return;
    }
    if (!has_room(q) || !fits_buffer(bytes)) {
        ++no_room;
        return;
    }
    const std::uint64_t done_ps = charge_write(next_receive_entry(q), k_completion_bytes + bytes);
    note_received(frame, done_ps);
    complete(index, {abi::nic_event::frame, bytes, 0, 0}, &frame, done_ps);
}

void ethernet_nic::give_up(queue_pair& pair)
{
    if (pair.receiving) {
        ++broken_messages;
        ++pair.broken;
    }
    pair.receiving = false;
}

/// First packet of a message: where it goes and how it is converted. False: the message is dropped.
bool ethernet_nic::begin_message(queue_pair& pair, const std::uint8_t* from)
{
    const sml::reth reth = sml::decode_reth(from);
    give_up(pair); // whatever was left of the message before
    pair.receiving = true;
    pair.address = reth.address;
    pair.left_bytes = reth.length;
    const bool known_before = pair.before.set && pair.before.address == reth.address;
    const bool known = pair.latest.set && pair.latest.address == reth.address;
    pair.conversion = (!known && known_before ? pair.before : pair.latest).conversion;
    if (!known && !known_before && pair.conversion.format == abi::nic_format::quantised) {
        ++stale_messages;
        pair.receiving = false;
        return false;
    }
    if (!in_memory(reth.address, reth.length)) {
        raise_error(pair.queue, k_error_memory);
        give_up(pair);
        return false;
    }
    return true;
}

void ethernet_nic::receive_write(const packet& frame)
{
    const std::uint8_t* b = frame.payload;
    const std::uint64_t held = frame.payload_bytes;
    const auto op = held >= sml::k_header + sml::k_bth_bytes ? static_cast<sml::opcode>(b[sml::k_header])
                                                             : static_cast<sml::opcode>(0);
    const std::uint32_t udp_bytes = sml::get16(b + sml::k_udp + 4);
    const std::uint32_t headers = sml::roce_headers(op);
    const bool form = op >= sml::opcode::write_first && op <= sml::opcode::write_only_immediate && held >= headers &&
                      udp_bytes + sml::k_udp >= headers + sml::k_icrc_bytes &&
                      udp_bytes + sml::k_udp <= frame_bytes(frame);
    const sml::bth bth = form ? sml::decode_bth(b + sml::k_header) : sml::bth{};
    if (!form || bth.queue_pair >= config_.queue_pairs) {
        ++bad_frames;
        return;
    }
    queue_pair& pair = pairs_[bth.queue_pair];
    queue& q = queues_[pair.queue];
    if (q.stopped) {
        ++dropped_disabled;
        return;
    }
    const std::uint32_t payload = udp_bytes + sml::k_udp - headers - sml::k_icrc_bytes;
    const std::uint8_t* next = b + sml::k_header + sml::k_bth_bytes;
    if (sml::begins_message(op)) {
        if (!begin_message(pair, next))
            return;
        next += sml::k_reth_bytes;
    } else if (!pair.receiving || bth.psn != pair.next_psn) {
        ++dropped_packets;
        give_up(pair);
        return;
    }
    pair.next_psn = (bth.psn + 1) & sml::k_psn_mask;
    const bool ends = sml::ends_message(op);
    const bool words = pair.conversion.format == abi::nic_format::as_is || ((payload | pair.address) & 3) == 0;
    if (payload > pair.left_bytes || (ends && payload != pair.left_bytes) || !words) {
        ++bad_frames;
        give_up(pair);
        return;
    }
    const bool notify = ends && sml::has_immediate(op);
    const bool room = !notify || has_room(q);
    const std::uint32_t bytes = payload + (notify && room ? k_completion_bytes : 0);
    if (!fits_buffer(bytes)) {
        ++no_room;
        give_up(pair);
        return;
    }
    const std::uint64_t done_ps = charge_write(pair.address, bytes);
    note_received(frame, done_ps);
    if (held >= headers + payload)
        for (std::uint64_t done = 0, got = 0; done < payload; done += got) {
            std::uint8_t* to = memory->span_for_write(pair.address + done, payload - done, got);
            convert_from_wire(pair.conversion, to, b + headers + done, got);
        }
    pair.address += payload;
    pair.left_bytes -= payload;
    if (!ends)
        return;
    pair.receiving = false;
    if (!room) {
        ++no_room;
        return;
    }
    ++messages_received;
    pair.broken = 0;
    if (notify)
        complete(pair.queue, {abi::nic_event::message, 0, sml::get32(next), bth.queue_pair}, nullptr, done_ps);
}

} // namespace weft
