// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/nic_receiver.h"

#include "hw/ethernet/ethernet_frame.h"
#include "tlm/memory_spans.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace regs = abi::nic;
namespace sml = abi::switchml;

namespace {
constexpr std::uint64_t k_broadcast = 0xffff'ffff'ffff;
constexpr std::uint32_t k_completion_bytes = sizeof(abi::nic_completion);
} // namespace

nic_receiver::nic_receiver(nic_shared& shared, std::vector<nic_queue_pair>& pairs, nic_interrupts& interrupts,
                           std::uint64_t own_mac)
    : shared_(shared), pairs_(pairs), interrupts_(interrupts), own_mac_(own_mac), rings_(shared.config.queues),
      buffer_(shared.config.receive_buffer.value())
{
    for (std::uint32_t i = 0; i < shared.config.queues; ++i) {
        rings_[i].base = &shared.regs.at(regs::RX_BASE(i));
        rings_[i].entries = &shared.regs.at(regs::RX_ENTRIES(i));
        rings_[i].tail = &shared.regs.at(regs::RX_TAIL(i));
    }
}

void nic_receiver::arm(std::uint32_t q, std::uint32_t at_head)
{
    interrupts_.clear(q);
    rings_[q].armed_at = at_head;
    rings_[q].armed = true;
    check_arm(q);
    interrupts_.update(q);
}

void nic_receiver::check_arm(std::uint32_t index)
{
    receive_ring& q = rings_[index];
    if (!q.armed || static_cast<std::int32_t>(q.head - q.armed_at) < 0)
        return;
    q.armed = false;
    interrupts_.set(index);
}

void nic_receiver::written(std::uint32_t index)
{
    --writing_;
    ++rings_[index].head;
    if (rings_[index].armed) {
        check_arm(index);
        interrupts_.update(index);
    }
}

void nic_receiver::measured(std::uint32_t index, std::int8_t exponent, std::uint32_t queue_pair)
{
    const abi::nic_completion c{abi::nic_event::measured, 0, static_cast<std::uint32_t>(std::int32_t{exponent}),
                                queue_pair};
    const receive_ring& q = rings_[index];
    if (!has_room(q)) {
        ++no_room;
        return;
    }
    complete(index, c, nullptr, charge_write(next_entry(q), sizeof c));
}

void nic_receiver::forget()
{
    for (receive_ring& q : rings_) {
        *q.tail = 0;
        q.given = q.head = q.armed_at = 0;
        q.armed = false;
    }
    writing_ = 0;
}

void nic_receiver::reset()
{
    buffer_.clear();
    active_queues_ = 1;
}

std::string nic_receiver::waits_of_ring(std::uint32_t index) const
{
    const receive_ring& q = rings_[index];
    if (q.given == 0 || has_room(q))
        return "";
    return fmt::format("NIC queue {} has a full receive ring: {} entries filled, {} taken", index, q.given,
                       static_cast<std::uint32_t>(*q.tail));
}

std::string nic_receiver::waits_of_pair(std::size_t i) const
{
    if (!pairs_[i].receiving())
        return "";
    return fmt::format("NIC queue pair {} waits for {} bytes of a message, PSN {}", i, pairs_[i].left_bytes(),
                       pairs_[i].next_psn());
}

std::string nic_receiver::broken_pairs() const
{
    std::uint32_t broken = 0;
    std::size_t pairs = 0;
    for (const nic_queue_pair& pair : pairs_) {
        broken += pair.broken();
        pairs += pair.broken() != 0 ? 1 : 0;
    }
    if (broken == 0)
        return "";
    return fmt::format("{} messages to {} of its NIC queue pairs broke off: they did not arrive whole and in order",
                       broken, pairs);
}

void nic_receiver::arrived(packet_ptr frame)
{
    ++frames_received;
    bytes_received.add(frame_bytes(*frame));
    if (!shared_.enabled) {
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

bool nic_receiver::has_room(const receive_ring& q) const
{
    const std::uint64_t entries = *q.entries;
    return entries != 0 && (entries & (entries - 1)) == 0 && q.given - static_cast<std::uint32_t>(*q.tail) < entries;
}

std::uint64_t nic_receiver::charge_write(std::uint64_t offset, std::uint32_t bytes)
{
    const std::uint64_t done = shared_.memory->charge(shared_.now_ps(), offset, bytes, memory_if::access::write);
    buffer_.hold(bytes, done - shared_.memory->latency_ps());
    return done;
}

void nic_receiver::write_memory(std::uint64_t offset, const void* from, std::uint64_t bytes)
{
    copy_to(*shared_.memory[0], offset, static_cast<const std::uint8_t*>(from), bytes);
}

std::uint64_t nic_receiver::next_entry(const receive_ring& q)
{
    return *q.base + (q.given & (*q.entries - 1)) * abi::k_nic_receive_entry_bytes;
}

void nic_receiver::complete(std::uint32_t index, const abi::nic_completion& c, const packet* frame,
                            std::uint64_t done_ps)
{
    receive_ring& q = rings_[index];
    const std::uint64_t offset = next_entry(q);
    if (!shared_.in_memory(offset, abi::k_nic_receive_entry_bytes)) {
        shared_.raise_error(index, k_nic_error_memory);
        return;
    }
    write_memory(offset, &c, sizeof c);
    if (frame != nullptr)
        write_memory(offset + sizeof c, frame->payload, frame->payload_bytes);
    ++q.given;
    ++writing_;
    shared_.schedule(done_ps + shared_.config.host_latency.value(), nic_event_kind::written, index);
}

void nic_receiver::receive_frame(std::uint32_t index, const packet& frame)
{
    receive_ring& q = rings_[index];
    const std::uint32_t bytes = frame_bytes(frame);
    if (shared_.stopped(index)) {
        ++dropped_disabled;
        return;
    }
    if (!has_room(q) || !buffer_.fits(bytes, shared_.now_ps())) {
        ++no_room;
        return;
    }
    const std::uint64_t done_ps = charge_write(next_entry(q), k_completion_bytes + bytes);
    note_received(frame, done_ps);
    complete(index, {abi::nic_event::frame, bytes, 0, 0}, &frame, done_ps);
}

void nic_receiver::give_up(nic_queue_pair& pair)
{
    if (pair.give_up())
        ++broken_messages;
}

/// First packet of a message. False: the message is dropped.
bool nic_receiver::begin_message(nic_queue_pair& pair, const std::uint8_t* from)
{
    const sml::reth reth = sml::decode_reth(from);
    give_up(pair); // whatever was left of the message before
    if (!pair.begin(reth)) {
        ++stale_messages;
        return false;
    }
    if (!shared_.in_memory(reth.address, reth.length)) {
        shared_.raise_error(pair.queue(), k_nic_error_memory);
        give_up(pair);
        return false;
    }
    return true;
}

void nic_receiver::receive_write(const packet& frame)
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
    if (!form || bth.queue_pair >= shared_.config.queue_pairs) {
        ++bad_frames;
        return;
    }
    nic_queue_pair& pair = pairs_[bth.queue_pair];
    const receive_ring& q = rings_[pair.queue()];
    if (shared_.stopped(pair.queue())) {
        ++dropped_disabled;
        return;
    }
    const std::uint32_t payload = udp_bytes + sml::k_udp - headers - sml::k_icrc_bytes;
    const std::uint8_t* next = b + sml::k_header + sml::k_bth_bytes;
    if (sml::begins_message(op)) {
        if (!begin_message(pair, next))
            return;
        next += sml::k_reth_bytes;
    } else if (!pair.continues(bth.psn)) {
        ++dropped_packets;
        give_up(pair);
        return;
    }
    pair.saw(bth.psn);
    const bool ends = sml::ends_message(op);
    if (!pair.fits(payload, ends)) {
        ++bad_frames;
        give_up(pair);
        return;
    }
    const bool notify = ends && sml::has_immediate(op);
    const bool room = !notify || has_room(q);
    const std::uint32_t bytes = payload + (notify && room ? k_completion_bytes : 0);
    if (!buffer_.fits(bytes, shared_.now_ps())) {
        ++no_room;
        give_up(pair);
        return;
    }
    const std::uint64_t done_ps = charge_write(pair.address(), bytes);
    note_received(frame, done_ps);
    if (held >= headers + payload)
        write_spans(*shared_.memory[0], pair.address(), payload, [&](std::uint64_t done, std::uint8_t* to, std::uint64_t got) {
            convert_from_wire(pair.conversion(), to, b + headers + done, got);
        });
    pair.took(payload);
    if (!ends)
        return;
    pair.end();
    if (!room) {
        ++no_room;
        return;
    }
    ++messages_received;
    pair.whole();
    if (notify)
        complete(pair.queue(), {abi::nic_event::message, 0, sml::get32(next), bth.queue_pair}, nullptr, done_ps);
}

} // namespace weft
