// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ub/bulk_mover.h"

#include "tlm/arbiter.h"
#include "tlm/credit.h"
#include "tlm/flat_index.h"
#include "tlm/memory_spans.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>

namespace weft {

/// Sockets to one controller, and what goes out by them.
struct bulk_mover::port final : link_fw_if, link_bw_if {
    /// Messages to one peer, in their order.
    struct lane {
        std::uint32_t peer;
        std::deque<bulk_message> messages;
        std::uint64_t sent = 0; ///< bytes of the first
    };
    struct staged_packet {
        std::uint32_t packet;
        std::uint64_t ready_ps;
    };

    port(bulk_mover& o, std::uint32_t n)
        : out(fmt::format("to_fabric{}", n).c_str(), o.view_.vl_count), in(fmt::format("from_fabric{}", n).c_str(), o.view_.vl_count), owner(o), number(n)
    {
        out.bind(static_cast<link_bw_if&>(*this));
        in.bind(static_cast<link_fw_if&>(*this));
    }
    void send(packet_ptr p, std::uint64_t delay_ps) override
    {
        p->destination_port = static_cast<std::uint8_t>(number);
        owner.expect(std::move(p), delay_ps);
    }
    void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override;
    void post(const bulk_message& m);
    void drop(std::uint32_t index);
    void fill();
    void stage(lane& l);
    void plan();
    void send_head();
    void set_active(std::uint32_t index, bool is_active);
    void reset();
    std::string waits();

    link_initiator_socket out;
    link_target_socket in;
    bulk_mover& owner;
    std::uint32_t number;
    flat_index lane_index;
    std::vector<lane> lanes;
    std::vector<std::uint64_t> active; ///< bits
    std::uint32_t turn = 0;
    std::uint64_t waiting = 0;        ///< messages that are not read whole
    std::deque<staged_packet> staged; ///< in the order of their reads
    std::uint64_t wire_busy_until_ps = 0;
    std::uint32_t sequence = 0;
    bool filling = false;
    bool planned = false;
    bool awaiting_credit = false;
    credit_counter credits; ///< of VL 0: it sends on no other
    credit_pool credits_under_way;
};

bulk_mover::bulk_mover(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const bulk_mover_view& view, memory_if& memory,
                       bulk_listener& listener, std::string prefix)
    : sc_core::sc_module(name), stats(this->name()), time_(time), pool_(pool), view_(view), memory_(memory), listener_(listener),
      prefix_(std::move(prefix)), rate_(view.port_rate), actors_(time.register_actors(2 + view.ports))
{
    for (std::uint32_t n = 0; n < view.ports; ++n)
        ports_.push_back(std::make_unique<port>(*this, n));
    stats.add("messages_sent", "1", "Messages that have left memory whole", messages_sent);
    stats.add("messages_received", "1", "Messages that are whole in memory", messages_received);
    stats.add("bytes_sent", "B", "Payload sent", bytes_sent);
    stats.add("bytes_received", "B", "Payload that came", bytes_received);
    time.components().add(*this);
}

bulk_mover::~bulk_mover() = default;

link_initiator_socket& bulk_mover::to_fabric(std::uint32_t number) { return ports_.at(number)->out; }
link_target_socket& bulk_mover::from_fabric(std::uint32_t number) { return ports_.at(number)->in; }

void bulk_mover::start_of_simulation()
{
    if (view_.receive_bytes == 0)
        return;
    const std::uint64_t one = view_.format.cells_of_one(view_.format.max_payload_bytes);
    // Else nothing would move.
    const std::uint64_t cells = std::max(view_.receive_bytes / view_.format.cell_bytes(), one);
    for (const auto& p : ports_)
        for (std::uint32_t vl = 0; vl < view_.vl_count; ++vl)
            p->in->credit(vl, static_cast<std::uint32_t>(cells), 0);
}

void bulk_mover::on_event(std::uint32_t a, std::uint8_t kind)
{
    switch (kind) {
    case k_send: return ports_[a]->send_head();
    case k_receive: return take(packet_ptr(&pool_.at(a)));
    default:
        --completing_;
        ++messages_received;
        return listener_.bulk_arrived(a);
    }
}

// ---- sending

void bulk_mover::post(const bulk_message& m) { ports_.at(m.port)->post(m); }

void bulk_mover::drop_queue()
{
    for (const auto& p : ports_)
        for (std::uint32_t i = 0; i < p->lanes.size(); ++i)
            p->drop(i);
}

void bulk_mover::drop_queue_to(std::uint32_t peer)
{
    for (const auto& p : ports_)
        if (const std::uint32_t i = p->lane_index.find(peer); i != flat_index::k_none)
            p->drop(i);
}

void bulk_mover::port::post(const bulk_message& m)
{
    const std::uint32_t index = lane_index.insert(m.peer);
    if (index == lanes.size()) {
        lanes.push_back({m.peer, {}});
        active.resize((lanes.size() + 63) / 64, 0);
    }
    lanes[index].messages.push_back(m);
    ++waiting;
    set_active(index, true);
    fill();
}

void bulk_mover::port::drop(std::uint32_t index)
{
    lane& l = lanes[index];
    waiting -= l.messages.size();
    l.messages.clear();
    l.sent = 0;
    set_active(index, false);
}

void bulk_mover::port::set_active(std::uint32_t index, bool is_active)
{
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    active[index / 64] = is_active ? active[index / 64] | bit : active[index / 64] & ~bit;
}

/// Takes packets from the lanes in turn while there is room in front of the wire.
void bulk_mover::port::fill()
{
    if (filling)
        return;
    filling = true;
    while (waiting != 0 && staged.size() < owner.view_.read_ahead) {
        const std::uint32_t granted = round_robin(active.data(), static_cast<std::uint32_t>(active.size()), turn,
                                                  [this](std::uint32_t i) { return out->has_room(lanes[i].peer, true); });
        if (granted == k_no_grant)
            break; // credits that come say when to ask again
        turn = granted + 1;
        stage(lanes[granted]);
        if (lanes[granted].messages.empty())
            set_active(granted, false);
    }
    filling = false;
    if (!staged.empty() && !planned && !awaiting_credit)
        plan();
}

void bulk_mover::port::stage(lane& l)
{
    const bulk_message& m = l.messages.front();
    const packet_format& format = owner.view_.format;
    memory_if& memory = owner.memory_;
    const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(m.bytes - l.sent, format.max_payload_bytes));
    packet_ptr p = owner.pool_.make();
    p->destination = m.peer;
    p->flags |= k_shortest_paths; // many send to few: what waits on a detour would stop the links of collectives
    p->payload_bytes = bytes;
    p->wire_bytes = static_cast<std::uint32_t>(format.wire_bytes(bytes));
    p->cells = static_cast<std::uint32_t>(format.cells(bytes));
    p->destination_offset = m.destination_offset + l.sent;
    p->message = m.number;
    p->semaphore = m.number; // flows are told apart by it
    p->message_packets = format.packets_for(m.bytes);
    const std::uint64_t ready_ps = memory.charge(owner.time_.now_ps(), m.source_offset + l.sent, bytes, memory_if::access::read);
    if (owner.view_.carry_data) {
        owner.pool_.add_payload(*p, bytes);
        copy_from(memory, m.source_offset + l.sent, p->payload, bytes);
    }
    l.sent += bytes;
    if (l.sent == m.bytes) {
        p->flags |= k_last_of_message;
        ++owner.messages_sent;
        --waiting;
        l.messages.pop_front();
        l.sent = 0;
    }
    staged.push_back({p.release()->index, ready_ps});
}

void bulk_mover::port::plan()
{
    const packet& p = owner.pool_.at(staged.front().packet);
    const std::uint64_t now = owner.time_.now_ps();
    std::uint64_t at_ps = std::max({staged.front().ready_ps, wire_busy_until_ps, now});
    awaiting_credit = false;
    if (!credits.has(credits_under_way, now, p.cells)) {
        const std::uint64_t credit_ps = credits.when(credits_under_way, p.cells);
        awaiting_credit = credit_ps == k_never_ps;
        if (awaiting_credit)
            return;
        at_ps = std::max(at_ps, credit_ps);
    }
    planned = true;
    owner.time_.schedule(at_ps, make_order(event_class::device, owner.actors_ + 2 + number, sequence++), owner, number, k_send);
}

void bulk_mover::port::send_head()
{
    planned = false;
    packet_ptr p(&owner.pool_.at(staged.front().packet));
    const std::uint64_t now = owner.time_.now_ps();
    if (!credits.has(credits_under_way, now, p->cells))
        throw bug(owner.name(), now, "a packet goes before its credits have come");
    staged.pop_front();
    credits.take(p->cells);
    const std::uint64_t serialisation = owner.rate_.time_ps(p->wire_bytes);
    wire_busy_until_ps = now + serialisation;
    p->serialisation_ps = static_cast<std::uint32_t>(serialisation);
    p->born_ps = now;
    owner.bytes_sent.add(p->payload_bytes);
    out->send(std::move(p), 0);
    fill();
}

void bulk_mover::port::credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps)
{
    if (vl != 0)
        return;
    const std::uint64_t now = owner.time_.now_ps();
    if (cells != 0)
        credits.give(credits_under_way, now, now + delay_ps, cells);
    if (awaiting_credit)
        plan();
    fill();
}

void bulk_mover::port::reset()
{
    turn = 0;
    sequence = 0;
    lanes.clear();
    lane_index = {};
    active.clear();
}

std::string bulk_mover::port::waits()
{
    if (awaiting_credit)
        return fmt::format("a packet to endpoint {} waits for credits", owner.pool_.at(staged.front().packet).destination);
    for (const lane& l : lanes)
        if (!l.messages.empty())
            return fmt::format("{} messages wait for their turn, the first one for endpoint {}", waiting, l.peer);
    return "";
}

// ---- receiving

void bulk_mover::expect(packet_ptr p, std::uint64_t delay_ps)
{
    ++expected_;
    const std::uint64_t tail_ps = time_.now_ps() + delay_ps + p->serialisation_ps;
    time_.schedule(tail_ps, make_order(event_class::arrival, actors_, arrival_sequence_++), *this, p->index, k_receive);
    static_cast<void>(p.release());
}

void bulk_mover::take(packet_ptr p)
{
    --expected_;
    const std::uint64_t now = time_.now_ps();
    if (!in_capacity(p->destination_offset, p->payload_bytes, memory_.capacity_bytes()))
        throw bug(name(), now, fmt::format("{} B at {:#x} do not lie in the memory", p->payload_bytes, p->destination_offset));
    const std::uint64_t done_ps = memory_.charge(now, p->destination_offset, p->payload_bytes, memory_if::access::write);
    if (p->payload != nullptr)
        copy_to(memory_, p->destination_offset, p->payload, p->payload_bytes);
    bytes_received.add(p->payload_bytes);
    ports_[p->destination_port]->in->credit(p->vl, p->cells, done_ps - memory_.latency_ps() - now);
    const auto at = inbound_.try_emplace(p->message, inbound{p->message_packets, done_ps}).first;
    inbound& m = at->second;
    m.done_ps = std::max(m.done_ps, done_ps);
    m.packets_left -= p->packet_count;
    if (m.packets_left != 0)
        return;
    ++completing_;
    time_.schedule(m.done_ps, make_order(event_class::memory, actors_ + 1, message_sequence_++), *this, p->message, k_complete);
    inbound_.erase(at);
}

// ---- look

bool bulk_mover::idle() const
{
    return expected_ == 0 && completing_ == 0 &&
           std::all_of(ports_.begin(), ports_.end(), [](const auto& p) { return p->waiting == 0 && p->staged.empty(); });
}

bool bulk_mover::settled(std::uint64_t now_ps)
{
    return idle() && std::all_of(ports_.begin(), ports_.end(), [=](const auto& p) {
               return !p->planned && p->wire_busy_until_ps <= now_ps && p->credits.settled(p->credits_under_way, now_ps);
           });
}

void bulk_mover::reset(std::uint32_t)
{
    for (const auto& p : ports_)
        p->reset();
    inbound_.clear();
    arrival_sequence_ = message_sequence_ = 0;
}

std::string bulk_mover::waits() const
{
    for (const auto& p : ports_)
        if (const std::string text = p->waits(); !text.empty())
            return fmt::format("{}: {}", name(), text);
    return "";
}

} // namespace weft
