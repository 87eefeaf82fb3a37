// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ccu/ccu_port.h"

#include "tlm/step_sink.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace weft {

namespace {
/// Segments of one message to one peer are one work.
std::uint64_t work_of(std::uint32_t peer, std::uint32_t message, bool answers)
{
    return std::uint64_t{peer} << 33 | std::uint64_t{answers ? 1u : 0u} << 32 | message;
}
bool answers_request(std::uint32_t header_bits)
{
    const ccu_message kind = ccu_header::of(header_bits).kind;
    return kind == ccu_message::acknowledge || kind == ccu_message::data;
}
} // namespace

ccu_port::ccu_port(ccu_shared& shared) : shared_(shared), port_rate_(shared.view.port_rate) {}

void ccu_port::send_to(std::uint32_t peer, const ccu_stream& stream)
{
    const bool answers = stream.header.kind == ccu_message::acknowledge;
    const std::uint32_t index = lane_index_.insert(std::uint64_t{peer} * 2 + (answers ? 1 : 0));
    if (index == lanes_.size()) {
        lanes_.push_back({peer, answers});
        active_.resize((lanes_.size() + 63) / 64, 0);
    }
    if (step_sink* const steps = steps_of(sink_)) {
        const bool answer = answers_request(stream.header.bits());
        steps->posted({shared_.time.now_ps(), work_of(peer, stream.message, answer), 0, 0, answer});
    }
    const std::uint32_t s = streams_.add(stream);
    most_queued.record(streams_.in_use());
    lane& l = lanes_[index];
    (l.last == k_none ? l.first : streams_[l.last].next) = s;
    l.last = s;
    if (l.first == s)
        set_active(index, true);
    fill();
}

void ccu_port::set_active(std::uint32_t index, bool active)
{
    active_[index / 64] ^= std::uint64_t{1} << (index % 64);
    active_lanes_ += active ? 1 : 0u - 1u;
}

/// Takes packets from the lanes in turn while there is room in front of the wire.
void ccu_port::fill()
{
    awaiting_room_ = false;
    while (active_lanes_ != 0 && staged_.size() < shared_.config.read_ahead) {
        const std::uint32_t granted =
            round_robin(active_.data(), static_cast<std::uint32_t>(active_.size()), turn_, [this](std::uint32_t i) {
                const lane& l = lanes_[i];
                return l.answers || to_fabric_->has_room(l.peer, streams_[l.first].shortest_paths);
            });
        if (granted == k_no_grant) {
            awaiting_room_ = true;
            return;
        }
        turn_ = granted + 1;
        stage(lanes_[granted]);
        if (lanes_[granted].first == k_none)
            set_active(granted, false);
    }
}

void ccu_port::stage(lane& l)
{
    ccu_stream& s = streams_[l.first];
    const std::uint64_t now = shared_.time.now_ps();
    const packet_format& format = shared_.view.format;
    const std::uint32_t bytes = std::min(s.bytes - s.sent, format.max_payload_bytes);
    packet_ptr p = shared_.pool.make();
    p->source = shared_.rank;
    p->destination = l.peer;
    p->vl = static_cast<std::uint8_t>(l.answers ? shared_.view.answer_vl : 0);
    p->flags = static_cast<std::uint8_t>(k_for_coprocessor | (s.shortest_paths ? k_shortest_paths : 0));
    p->destination_port = static_cast<std::uint8_t>(shared_.view.die);
    p->payload_bytes = bytes;
    p->wire_bytes = static_cast<std::uint32_t>(format.wire_bytes(bytes));
    p->cells = static_cast<std::uint32_t>(format.cells(bytes));
    p->destination_offset = s.offset + (s.offset_grows ? s.sent : 0);
    p->write_op = s.redop;
    p->element = s.type;
    p->semaphore = s.header.bits();
    p->message = s.message;
    p->message_packets = s.from == ccu_stream::source::none ? s.asked_bytes : format.packets_for(s.bytes);
    p->semaphore_message = s.entry_and_mask;
    std::uint64_t ready_ps = now;
    if (s.from == ccu_stream::source::memory)
        ready_ps = shared_.read_memory(now, s.address + s.sent, bytes);
    else if (s.from == ccu_stream::source::slice)
        ready_ps = shared_.slices.read(now, bytes);
    if (bytes != 0 && shared_.view.carry_data) {
        shared_.pool.add_payload(*p, bytes);
        if (s.from == ccu_stream::source::memory)
            shared_.copy_from_memory(s.address + s.sent, p->payload, bytes);
        else
            std::memcpy(p->payload, shared_.slices.bytes_of(static_cast<std::uint32_t>(s.address)) + s.sent, bytes);
    }
    s.sent += bytes;
    if (s.sent == s.bytes) {
        p->flags |= k_last_of_message;
        streams_.release(l.first);
        l.first = s.next;
        if (l.first == k_none)
            l.last = k_none;
    }
    if (step_sink* const steps = steps_of(sink_))
        steps->reads(now, 0);
    staged_.push_back({p.release()->index, ready_ps});
    if (!planned_ && !awaiting_credit_)
        plan();
}

void ccu_port::plan()
{
    const staged_packet& head = staged_.front();
    const packet& p = shared_.pool.at(head.packet);
    const std::uint64_t now = shared_.time.now_ps();
    std::uint64_t at_ps = std::max({head.ready_ps, wire_busy_until_ps_, now});
    credit_counter& credits = credits_[p.vl == 0 ? 0 : 1];
    if (!credits.has(credits_under_way_, now, p.cells)) {
        const std::uint64_t credit_ps = credits.when(credits_under_way_, p.cells);
        awaiting_credit_ = credit_ps == k_never_ps;
        if (awaiting_credit_)
            return;
        at_ps = std::max(at_ps, credit_ps);
    }
    awaiting_credit_ = false;
    planned_ = true;
    shared_.schedule(at_ps, event_class::device, ccu_shared::k_sends, ccu_event::send, 0);
}

void ccu_port::send()
{
    planned_ = false;
    packet_ptr p(&shared_.pool.at(staged_.front().packet));
    const std::uint64_t now = shared_.time.now_ps();
    credit_counter& credits = credits_[p->vl == 0 ? 0 : 1];
    if (!credits.has(credits_under_way_, now, p->cells))
        throw bug(shared_.name, now, "a packet goes before its credits have come");
    const std::uint64_t ready_ps = staged_.front().ready_ps;
    staged_.pop_front();
    credits.take(p->cells);
    const std::uint64_t serialisation = port_rate_.time_ps(p->wire_bytes);
    if (step_sink* const steps = steps_of(sink_))
        steps->sent({step_packet::of(*p), now, ready_ps, wire_busy_until_ps_, work_of(p->destination, p->message, answers_request(p->semaphore)),
                     static_cast<std::uint32_t>(serialisation), 0});
    wire_busy_until_ps_ = now + serialisation;
    wire_time.add_ps(serialisation);
    p->serialisation_ps = static_cast<std::uint32_t>(serialisation);
    p->born_ps = now;
    ++packets;
    bytes_sent.add(p->payload_bytes);
    if (sink_ != nullptr)
        sink_->record(make_record(record_kind::message_emitted, now, serialisation, shared_.rank, *p));
    to_fabric_->send(std::move(p), 0);
    if (!staged_.empty())
        plan();
    fill();
}

void ccu_port::credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps)
{
    const std::uint64_t now = shared_.time.now_ps();
    if (cells != 0)
        credits_[vl == 0 ? 0 : 1].give(credits_under_way_, now, now + delay_ps, cells);
    if (awaiting_credit_)
        plan();
    if (awaiting_room_)
        fill();
}

bool ccu_port::settled(std::uint64_t now_ps)
{
    return idle() && wire_busy_until_ps_ <= now_ps && credits_[0].settled(credits_under_way_, now_ps) &&
           credits_[1].settled(credits_under_way_, now_ps);
}

std::string ccu_port::waits() const
{
    if (awaiting_credit_)
        return fmt::format("a packet to rank {} waits for credits of its port", shared_.pool.at(staged_.front().packet).destination);
    if (!awaiting_room_)
        return "";
    for (const lane& l : lanes_)
        if (l.first != k_none)
            return fmt::format("a packet waits for room on the way to rank {}", l.peer);
    return "";
}

/// Nothing is queued then.
void ccu_port::reset()
{
    turn_ = 0;
    lanes_.clear();
    lane_index_ = {};
    active_.clear();
}

} // namespace weft
