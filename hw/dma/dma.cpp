// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/dma.h"

#include "hw/abi/hal.h"
#include "hw/dma/reduce.h"
#include "tlm/check.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::uint32_t k_irq_sem = 1u << 0;
constexpr std::uint32_t k_irq_error = 1u << 1;
constexpr std::uint32_t k_error_descriptor = 1u << 0;
constexpr std::uint32_t k_error_memory = 1u << 1;
constexpr std::uint32_t k_error_doorbell = 1u << 2;

std::uint64_t check_of(const abi::dma_descriptor& d)
{
    std::uint32_t words[abi::k_descriptor_bytes / 4];
    std::memcpy(words, &d, sizeof words);
    return abi::check_word(words, offsetof(abi::dma_descriptor, check) / 4);
}
} // namespace

std::vector<config_problem> dma_config::validate() const { return limit_problems(*this); }

struct dma::local_port final : link_fw_if, link_bw_if {
    local_port(dma& o, std::uint32_t i)
        : in(fmt::format("from_fabric{}", i).c_str(), o.view_.vl_count),
          out(fmt::format("to_fabric{}", i).c_str(), o.view_.vl_count), owner(o), index(i)
    {
        in.bind(static_cast<link_fw_if&>(*this));
        out.bind(static_cast<link_bw_if&>(*this));
    }

    void send(packet_ptr p, std::uint64_t delay_ps) override
    {
        ++owner.receiving_;
        const std::uint64_t tail = owner.time_.now_ps() + delay_ps + p->serialisation_ps;
        const std::uint32_t packet_index = p.release()->index;
        owner.time_.schedule(
            tail, make_order(event_class::arrival, owner.actor_base_ + index, owner.ports_[index].sequence++), owner,
            packet_index, k_receive);
    }
    void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override
    {
        if (vl == 0)
            owner.take_credit(index, cells, delay_ps);
    }

    link_target_socket in;
    link_initiator_socket out;
    dma& owner;
    std::uint32_t index;
};

dma::dma(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, irq_if& core, std::uint32_t rank,
         std::uint32_t ranks, const dma_config& config, const dma_fabric_view& view)
    : sc_core::sc_module(name), registers("registers", regs_, config.register_latency), memory("memory"),
      stats(std::string(this->name())), time_(time), pool_(pool), ports_(view.ports), queues_(config.queues),
      port_rate_(view.port_rate), packet_payload_(view.format.max_payload_bytes),
      packet_wire_bytes_(static_cast<std::uint32_t>(view.format.wire_bytes(packet_payload_))),
      packet_cells_(static_cast<std::uint32_t>(view.format.cells(packet_payload_))), rank_(rank),
      // Actors: one per port for arrivals and issues, one per queue for doorbells and fetches, one for semaphores.
      actor_base_(time.register_actors(view.ports + config.queues + 1)), view_(view), train_(view.train), core_(core), ranks_(ranks),
      config_(config), regs_("DMA", abi::k_dma_rows)
{
    for (std::uint32_t p = 0; p < view.ports; ++p) {
        sockets_.push_back(std::make_unique<local_port>(*this, p));
        ports_[p].slots = config.read_ahead;
        ports_[p].staged.resize(8);
    }
    set_up_registers();
    time.components().add(*this);
    time.take_hints(*this, *this);
    stats.add("descriptors", "1", "Descriptors completed", descriptors);
    stats.add("messages_received", "1", "Messages wholly received", messages_received);
    stats.add("bytes_sent", "B", "Payload sent, local copies included", bytes_sent);
    stats.add("bytes_received", "B", "Payload received, local copies included", bytes_received);
    stats.add("bad_descriptors", "1", "Descriptors refused", bad_descriptors);
}

dma::~dma() = default;

void dma::record_into(trace_sink& trace)
{
    trace_ = std::make_unique<packet_trace>(trace);
    trace_->add_track(*this, "DMA sends");
    trace_->add_track(*this, "DMA receives");
    sink_ = trace_.get();
}

link_initiator_socket& dma::to_fabric(std::uint32_t port) { return sockets_.at(port)->out; }

link_target_socket& dma::from_fabric(std::uint32_t port) { return sockets_.at(port)->in; }

void dma::start_of_simulation()
{
    const auto cells = static_cast<std::uint32_t>(config_.receive_buffer.value() / view_.format.cell_bytes());
    memory_ = memory.operator->();
    memory_bytes_ = memory_->capacity_bytes();
    memory_hints_ = hints_of(memory_);
    for (std::uint32_t p = 0; p < view_.ports; ++p) {
        ports_[p].to_fabric = sockets_[p]->out.operator->();
        ports_[p].fabric_hints = hints_of(ports_[p].to_fabric);
        ports_[p].to_sender = sockets_[p]->in.operator->();
        for (std::uint32_t vl = 0; vl < view_.vl_count; ++vl)
            ports_[p].to_sender->credit(vl, cells, 0);
    }
}

// --- Registers --------------------------------------------------------------------------------------------------------

void dma::set_up_registers()
{
    regs_.at(abi::dma::QUEUES) = config_.queues;
    regs_.on_write(abi::dma::CONTROL, [this](std::uint32_t, std::uint64_t value) {
        enabled_ = (value & 1) != 0;
        for (std::uint32_t q = 0; enabled_ && q < config_.queues; ++q)
            start_fetch(q);
    });
    regs_.on_write(abi::dma::IRQ_ENABLE, [this](std::uint32_t, std::uint64_t) { update_irq(); });
    regs_.on_write(abi::dma::ERROR, [this](std::uint32_t, std::uint64_t) { update_irq(); });
    regs_.on_read(abi::dma::IRQ_STATUS, [this](std::uint32_t, std::uint64_t) -> std::uint64_t {
        return (regs_.at(abi::dma::SEM_PENDING) != 0 ? k_irq_sem : 0) |
               (regs_.at(abi::dma::ERROR) != 0 ? k_irq_error : 0);
    });
    regs_.on_read(abi::dma::SEM_PENDING, [this](std::uint32_t, std::uint64_t stored) {
        regs_.at(abi::dma::SEM_PENDING) = 0; // the hook runs before the clear; the line must fall with it
        update_irq();
        return stored;
    });
    regs_.on_write(abi::dma::TAIL(0), [this](std::uint32_t q, std::uint64_t value) {
        const auto tail = static_cast<std::uint32_t>(value);
        const std::uint64_t entries = q < config_.queues ? regs_.at(abi::dma::RING_ENTRIES(q)) : 0;
        const bool power_of_two = entries != 0 && (entries & (entries - 1)) == 0;
        if (!power_of_two || tail - head_at(queues_[q], time_.now_ps()) > entries) {
            raise_error(q, k_error_doorbell);
            return;
        }
        queues_[q].doorbells.push_back(tail);
        // The write takes effect when it has crossed the bus.
        time_.schedule(std::max(registers.access_ps(), time_.now_ps()),
                       make_order(event_class::device, actor_base_ + view_.ports + q, tail), *this, q, k_doorbell);
    });
    regs_.on_read(abi::dma::HEAD(0), [this](std::uint32_t q, std::uint64_t) -> std::uint64_t {
        return q < config_.queues ? head_at(queues_[q], time_.now_ps()) : 0;
    });
    regs_.on_read(abi::dma::SEM_COUNT(0),
                  [this](std::uint32_t s, std::uint64_t) -> std::uint64_t { return sem_count_[sem_bank_ + s]; });
    regs_.on_write(abi::dma::SEM_BANK, [this](std::uint32_t, std::uint64_t value) {
        if (value >= abi::dma::SEM_BANKS_reset || value * k_bank == sem_bank_) {
            regs_.at(abi::dma::SEM_BANK) = sem_bank_ / k_bank;
            return;
        }
        sem_bank_ = static_cast<std::uint32_t>(value) * k_bank;
        sem_armed_ = 0;
        regs_.at(abi::dma::SEM_PENDING) = 0;
        update_irq();
    });
    regs_.on_write(abi::dma::SEM_THRESHOLD(0), [this](std::uint32_t s, std::uint64_t value) {
        sem_threshold_[s] = static_cast<std::uint32_t>(value);
        sem_armed_ |= std::uint64_t{1} << s;
        if (armed_and_reached(s)) {
            sem_armed_ &= ~(std::uint64_t{1} << s);
            regs_.at(abi::dma::SEM_PENDING) |= std::uint64_t{1} << s;
            update_irq();
        }
    });
}

bool dma::armed_and_reached(std::uint32_t s) const
{
    return (sem_armed_ >> s & 1) != 0 && static_cast<std::int32_t>(sem_count_[sem_bank_ + s] - sem_threshold_[s]) >= 0;
}

void dma::update_irq()
{
    const std::uint64_t status =
        (regs_.at(abi::dma::SEM_PENDING) != 0 ? k_irq_sem : 0) | (regs_.at(abi::dma::ERROR) != 0 ? k_irq_error : 0);
    const bool level = (status & regs_.at(abi::dma::IRQ_ENABLE)) != 0;
    if (level != irq_level_) {
        irq_level_ = level;
        core_.set_irq(abi::k_irq_dma, level);
    }
}

void dma::raise_error(std::uint32_t q, std::uint32_t bits)
{
    if (regs_.at(abi::dma::ERROR) == 0)
        regs_.at(abi::dma::ERROR_QUEUE) = q;
    regs_.at(abi::dma::ERROR) |= bits;
    if (q < queues_.size()) {
        queues_[q].stopped = true;
        queues_[q].ready.clear();
        queues_[q].reading = k_none;
        ports_[q % view_.ports].ready_queues &= ~(1u << q);
    }
    update_irq();
}

std::uint32_t dma::head_at(queue& q, std::uint64_t at_ps)
{
    std::size_t done = 0;
    while (done < q.completes_at_ps.size() && q.completes_at_ps[done] <= at_ps)
        ++done;
    q.completes_at_ps.erase(q.completes_at_ps.begin(), q.completes_at_ps.begin() + static_cast<std::ptrdiff_t>(done));
    q.head += static_cast<std::uint32_t>(done);
    return q.head;
}

// --- Events -----------------------------------------------------------------------------------------------------------

void dma::on_event(std::uint32_t a, std::uint8_t kind)
{
    switch (kind) {
    case k_doorbell:
        queues_[a].tail = queues_[a].doorbells.front();
        queues_[a].doorbells.erase(queues_[a].doorbells.begin());
        start_fetch(a);
        break;
    case k_fetched: fetched(a); break;
    case k_send: send_staged(a); break;
    case k_receive: receive(packet_ptr(&pool_.at(a)), true); break;
    default: count_semaphore(a); break;
    }
}

/// Of the next descriptor to be fetched, in memory.
std::uint64_t dma::place_of_next(std::uint32_t index) const
{
    const auto entries = static_cast<std::uint32_t>(regs_.at(abi::dma::RING_ENTRIES(index)));
    return regs_.at(abi::dma::RING_BASE(index)) + std::uint64_t{queues_[index].fetched & (entries - 1)} * abi::k_descriptor_bytes;
}

void dma::start_fetch(std::uint32_t index)
{
    queue& q = queues_[index];
    if (!enabled_ || q.stopped || q.fetching || q.fetched == q.tail || q.ready.size() >= config_.prefetch)
        return;
    q.fetching = true;
    const std::uint64_t done =
        memory_->charge(time_.now_ps(), place_of_next(index), abi::k_descriptor_bytes, memory_if::access::read);
    time_.schedule(done, make_order(event_class::device, actor_base_ + view_.ports + index, 0), *this, index,
                   k_fetched);
}

void dma::fetched(std::uint32_t index)
{
    queue& q = queues_[index];
    q.fetching = false;
    if (q.stopped)
        return;
    std::uint64_t got = 0;
    const std::uint8_t* bytes = memory_->span_for_read(place_of_next(index), abi::k_descriptor_bytes, got);
    if (bytes == nullptr || got < abi::k_descriptor_bytes) {
        raise_error(index, k_error_memory);
        return;
    }
    abi::dma_descriptor d;
    std::memcpy(&d, bytes, sizeof d);
    const std::uint64_t capacity = memory_bytes_;
    const bool reduces = d.redop != abi::reduce_op::none;
    const bool sound = d.check == check_of(d) && d.destination_rank < ranks_ && d.destination_port < view_.ports &&
                       d.by_fabric <= (view_.returns_to_sender ? 1 : 0) && d.shortest_paths <= 1 &&
                       static_cast<unsigned>(d.redop) <= static_cast<unsigned>(abi::reduce_op::min) &&
                       static_cast<unsigned>(d.type) < abi::k_element_types &&
                       (!reduces || (d.bytes | d.destination_offset) % abi::element_bytes(d.type) == 0) &&
                       (d.remote_semaphore == abi::k_no_semaphore || d.remote_semaphore < sem_count_.size()) &&
                       (d.rank_stride != 0
                            ? d.destination_rank + std::uint64_t{d.more_pieces} * d.rank_stride < ranks_
                            : d.more_pieces == 0 || (d.bytes != 0 && d.stride >= d.bytes &&
                                                     (!reduces || d.stride % abi::element_bytes(d.type) == 0)));
    const bool spread = d.more_pieces != 0 && d.stride != 0;
    const std::uint64_t last_piece =
        !spread ? 0 : d.more_pieces <= capacity / d.stride ? d.more_pieces * d.stride : capacity + 1;
    if (!sound || last_piece > capacity || !in_capacity(d.source_offset, last_piece + d.bytes, capacity)) {
        ++bad_descriptors;
        raise_error(index, sound ? k_error_memory : k_error_descriptor);
        return;
    }
    loaded next;
    next.source_offset = d.source_offset;
    next.destination_offset = d.destination_offset;
    next.bytes = d.bytes * (std::uint64_t{d.more_pieces} + 1);
    next.in_pieces = d.more_pieces != 0;
    next.to_ranks = next.in_pieces && d.rank_stride != 0;
    next.destination_rank = d.destination_rank;
    next.semaphore = d.remote_semaphore;
    next.message = next_message_++;
    next.packets = view_.format.packets_for(d.bytes);
    next.train = static_cast<std::uint16_t>(train_);
    if (next.to_ranks) {
        next.bytes = std::uint64_t{next.packets} * (d.more_pieces + 1);
        next.train = 1;
        next_message_ += d.more_pieces;
    } else {
        next.packets *= d.more_pieces + 1;
        if (!view_.in_order)
            next.semaphore_message = numbers_.next(d.destination_rank, d.remote_semaphore);
    }
    next.queue = static_cast<std::uint16_t>(index);
    next.destination_port = d.destination_port;
    next.redop = static_cast<std::uint8_t>(d.redop);
    next.type = static_cast<std::uint8_t>(d.type);
    next.local = d.destination_rank == rank_ && d.by_fabric == 0 && !next.to_ranks;
    next.by_fabric = d.by_fabric != 0;
    next.shortest_paths = d.shortest_paths != 0;
    if (q.ready.empty())
        q.had = 0;
    q.ready.push_back(load(next));
    if (next.in_pieces)
        load_pieces(q.ready.back(), d);
    q.reading = q.ready.front();
    ++q.fetched;
    start_fetch(index);
    ports_[index % view_.ports].ready_queues |= 1u << index;
    read_ahead(index % view_.ports);
}

void dma::load_pieces(std::uint32_t place, const abi::dma_descriptor& d)
{
    pieces_.resize(loaded_.size());
    piece_layout& layout = pieces_[place];
    layout.bytes = d.bytes;
    layout.stride = d.stride;
    layout.pieces = d.more_pieces + 1;
    layout.rank_stride = d.rank_stride;
    layout.first = d.first_piece;
    layout.numbers.clear();
    for (std::uint32_t k = 0; d.rank_stride != 0 && !view_.in_order && k < layout.pieces; ++k)
        layout.numbers.push_back(numbers_.next(d.destination_rank + k * d.rank_stride, d.remote_semaphore));
}

std::uint32_t dma::load(const loaded& l)
{
    if (unused_.empty()) {
        loaded_.push_back(l);
        return static_cast<std::uint32_t>(loaded_.size() - 1);
    }
    const std::uint32_t place = unused_.back();
    unused_.pop_back();
    loaded_[place] = l;
    return place;
}

void dma::read_ahead(std::uint32_t port)
{
    port_state& side = ports_[port];
    while (side.staged_packets < side.slots) {
        const std::uint32_t index = choose_queue(side);
        // A train waits for room: queues whose turns differ in length would get unequal shares of the wire.
        if (index == k_no_grant || side.slots - side.staged_packets < next_train(queues_[index]))
            return;
        side.round_robin = index + 1;
        queues_[index].had = side.turn.grant(queues_[index].had, next_train(queues_[index]));
        read_packet(port, index);
    }
}

/// Round robin over the queues with work, by packets; those whose message finds no room behind the port are passed over.
std::uint32_t dma::choose_queue(port_state& side)
{
    std::uint64_t requests = side.ready_queues;
    const auto has_room = [&](std::uint32_t q) {
        const loaded& l = loaded_[queues_[q].reading];
        const std::uint32_t to = l.to_ranks ? rank_of(l, l.read_bytes) : l.destination_rank;
        return l.local || side.to_fabric->has_room(to, l.shortest_paths);
    };
    std::uint32_t chosen = k_no_grant;
    if (train_ == 1)
        while ((chosen = first_request(&requests, 1, side.round_robin)) != k_no_grant && !has_room(chosen))
            requests &= ~(std::uint64_t{1} << chosen);
    else
        chosen = fair_round_robin_over([=](std::uint32_t) { return requests; }, 1, side.round_robin, side.turn,
                                       [&](std::uint32_t q) { return queues_[q].had; },
                                       [&](std::uint32_t q, bool) { return has_room(q); });
    side.awaiting_room = chosen == k_no_grant && side.ready_queues != 0;
    return chosen;
}

/// Packets that a queue with work reads next: a train is of full packets, the rest of a message goes by itself.
std::uint32_t dma::next_train(const queue& q) const
{
    const loaded& l = loaded_[q.reading];
    const std::uint64_t full = l.to_ranks ? 1 : rest_at(l, l.read_bytes) / packet_payload_;
    return std::max(1u, static_cast<std::uint32_t>(std::min<std::uint64_t>(l.train, full)));
}

dma::staged_packet& dma::port_state::add_staged()
{
    if (staged_count == staged.size()) {
        std::vector<staged_packet> longer(2 * staged.size());
        std::rotate_copy(staged.begin(), staged.begin() + first_staged, staged.end(), longer.begin());
        staged.swap(longer);
        first_staged = 0;
    }
    return staged[(first_staged + staged_count++) & (staged.size() - 1)];
}

void dma::read_packet(std::uint32_t port, std::uint32_t index)
{
    port_state& side = ports_[port];
    queue& q = queues_[index];
    loaded& l = loaded_[q.reading];
    const std::uint64_t now = time_.now_ps();
    const std::uint32_t train = next_train(q);
    std::uint64_t payload = 0, source = l.source_offset, step = 0;
    bool local = l.local;
    if (l.to_ranks) {
        const piece_layout& to = layout_of(l);
        const std::uint64_t offset = l.read_bytes / to.pieces * packet_payload_;
        payload = std::min<std::uint64_t>(packet_payload_, to.bytes - offset);
        source += to.piece_of(l.read_bytes) * to.stride + offset;
        step = 1;
        local = rank_of(l, l.read_bytes) == rank_ && !l.by_fabric;
    } else {
        step = payload = std::min(std::uint64_t{train} * packet_payload_, rest_at(l, l.read_bytes));
        source += place_in(l, l.read_bytes);
    }
    side.staged_packets += train;
    staged_packet& slot = side.add_staged();
    slot.ready_ps = now;
    slot.offset = l.read_bytes;
    slot.payload = nullptr;
    slot.payload_bytes = static_cast<std::uint32_t>(payload);
    slot.descriptor = q.reading & 0x7fff'ffffu;
    slot.local = local ? 1 : 0;
    if (payload > 0) {
        slot.ready_ps = memory_->charge(now, source, payload, memory_if::access::read);
        if (view_.carry_data)
            slot.payload = read_payload(source, payload);
    }
    l.read_bytes += step;
    if (l.read_bytes == l.bytes) {
        q.ready.erase(q.ready.begin());
        q.reading = q.ready.empty() ? k_none : q.ready.front();
        if (q.ready.empty())
            side.ready_queues &= ~(1u << index);
        start_fetch(index);
    }
    if (side.staged_count == 1)
        plan_send(port);
}

void dma::take_credit(std::uint32_t port, std::uint32_t cells, std::uint64_t delay_ps)
{
    port_state& side = ports_[port];
    const std::uint64_t now = time_.now_ps();
    side.credits.give(side.credits_under_way, now, now + delay_ps, cells);
    if (side.awaiting_credit)
        plan_send(port);
    if (side.awaiting_room)
        read_ahead(port);
}

/// The first of the staged packets goes when it has been read, the wire is idle and there are credits. Credits arrive in order, so what is
/// under way tells the time; if it does not suffice, the next credit to come asks again.
void dma::plan_send(std::uint32_t port)
{
    port_state& side = ports_[port];
    const staged_packet& head = side.head();
    const std::uint64_t now = time_.now_ps();
    std::uint64_t at_ps = std::max({head.ready_ps, side.wire_busy_until_ps, now});
    if (const std::uint32_t cells = cells_of(head);
        head.local == 0 && !side.credits.has(side.credits_under_way, now, cells)) {
        const std::uint64_t credit_ps = side.credits.when(side.credits_under_way, cells);
        side.awaiting_credit = credit_ps == k_never_ps;
        if (side.awaiting_credit)
            return;
        at_ps = std::max(at_ps, credit_ps);
    }
    side.awaiting_credit = false;
    time_.schedule(at_ps, make_order(event_class::device, actor_base_ + port, 0), *this, port, k_send);
}

void dma::send_staged(std::uint32_t port)
{
    port_state& side = ports_[port];
    const staged_packet head = side.head();
    const std::uint64_t now = time_.now_ps();
    const loaded& l = loaded_[head.descriptor];
    const bool local = head.local != 0;
    const std::uint32_t packets = packets_of(head);
    const std::uint32_t cells = cells_of(head);
    if (!local && !side.credits.has(side.credits_under_way, now, cells)) // also takes in those that have come
        throw bug(name(), now, fmt::format("local port {} sends before its credits have come", port));
    side.first_staged = (side.first_staged + 1) & static_cast<std::uint32_t>(side.staged.size() - 1);
    --side.staged_count;
    side.staged_packets -= packets;
    packet_ptr p = pool_.make();
    p->source = rank_;
    p->destination = l.destination_rank;
    p->destination_port = l.destination_port;
    p->payload_bytes = head.payload_bytes;
    p->packet_count = packets;
    p->wire_bytes = head.payload_bytes < packet_payload_
                        ? static_cast<std::uint32_t>(view_.format.wire_bytes(head.payload_bytes))
                        : packets * packet_wire_bytes_;
    p->cells = cells;
    p->destination_offset = l.destination_offset + (l.to_ranks ? 0 : place_in(l, head.offset));
    p->write_op = l.redop;
    p->element = l.type;
    p->semaphore = l.semaphore;
    p->message = l.message;
    if (!view_.in_order) {
        p->semaphore_message = l.semaphore_message;
        p->message_packets = l.packets;
    }
    bool last_of_message = head.offset + head.payload_bytes == l.bytes;
    bool last = last_of_message; // of the descriptor
    if (l.to_ranks) {
        const piece_layout& to = layout_of(l);
        const std::uint32_t piece = to.piece_of(head.offset);
        const std::uint64_t round = head.offset / to.pieces;
        p->destination = l.destination_rank + piece * to.rank_stride;
        p->destination_offset += round * packet_payload_;
        p->message += piece;
        if (!view_.in_order)
            p->semaphore_message = to.numbers[piece];
        last_of_message = round + 1 == l.packets;
        last = head.offset + 1 == l.bytes;
    }
    p->born_ps = now;
    if (head.payload != nullptr)
        pool_.adopt_payload(*p, head.payload, head.payload_bytes);
    const std::uint32_t index = l.queue;
    if (l.shortest_paths)
        p->flags = k_shortest_paths;
    if (last_of_message)
        p->flags |= k_last_of_message;
    if (last)
        unused_.push_back(head.descriptor);

    bytes_sent.add(p->payload_bytes);
    std::uint64_t end = now;
    if (local) {
        ++receiving_;
        receive(std::move(p), false);
    } else {
        const std::uint64_t serialisation = port_rate_.time_ps(p->wire_bytes);
        end = now + serialisation;
        side.wire_busy_until_ps = end;
        p->serialisation_ps = static_cast<std::uint32_t>(serialisation);
        side.credits.take(p->cells);
        if (sink_ != nullptr)
            sink_->record(make_record(record_kind::message_emitted, now, serialisation, rank_, *p));
        side.to_fabric->send(std::move(p), 0);
    }
    if (last) {
        queue& q = queues_[index];
        (void)head_at(q, now); // keeps the list short
        q.completes_at_ps.push_back(end);
        ++q.finished;
        ++descriptors;
    }
    if (side.staged_count > 0)
        plan_send(port);
    read_ahead(port);
}

std::uint8_t* dma::read_payload(std::uint64_t offset, std::uint64_t bytes)
{
    std::uint8_t* const payload = pool_.take_payload(bytes);
    for (std::uint64_t done = 0; done < bytes;) {
        std::uint64_t got = 0;
        const std::uint8_t* from = memory_->span_for_read(offset + done, bytes - done, got);
        std::memcpy(payload + done, from, got);
        done += got;
    }
    return payload;
}

void dma::write_payload(const packet& p)
{
    const auto op = static_cast<abi::reduce_op>(p.write_op);
    const auto type = static_cast<abi::element_type>(p.element);
    for (std::uint64_t done = 0; done < p.payload_bytes;) {
        std::uint64_t got = 0;
        std::uint8_t* to = memory_->span_for_write(p.destination_offset + done, p.payload_bytes - done, got);
        if (op == abi::reduce_op::none)
            std::memcpy(to, p.payload + done, got);
        else
            reduce(type, op, to, p.payload + done, got);
        done += got;
    }
}

void dma::receive(packet_ptr p, bool from_fabric)
{
    --receiving_;
    const std::uint64_t now = time_.now_ps();
    if (!in_capacity(p->destination_offset, p->payload_bytes, memory_bytes_)) {
        raise_error(config_.queues, k_error_memory);
        if (from_fabric)
            ports_[p->destination_port].to_sender->credit(p->vl, p->cells, 0);
        return;
    }
    const bool plain = p->write_op == static_cast<std::uint8_t>(abi::reduce_op::none);
    // A notification without payload is ordered behind the writes before it: it asks the memory for nothing but its turn.
    const std::uint64_t done = memory_->charge(now, p->destination_offset, p->payload_bytes,
                                               plain ? memory_if::access::write : memory_if::access::read_modify_write);
    if (p->payload != nullptr)
        write_payload(*p);
    bytes_received.add(p->payload_bytes);
    if (sink_ != nullptr)
        sink_->record(make_record(record_kind::message_accepted, now, done - now, rank_, *p));
    if (from_fabric)
        ports_[p->destination_port].to_sender->credit(p->vl, p->cells, done - memory_->latency_ps() - now);
    if (!view_.in_order)
        order_.arrived(p->source, p->semaphore, p->semaphore_message, p->packet_count, p->message_packets, done,
                       [&](std::uint64_t at_ps) { complete(p->semaphore, at_ps); });
    else if ((p->flags & k_last_of_message) != 0)
        complete(p->semaphore, done);
}

void dma::complete(std::uint32_t semaphore, std::uint64_t at_ps)
{
    ++messages_received;
    if (semaphore != abi::k_no_semaphore)
        time_.schedule(at_ps,
                       make_order(event_class::memory, actor_base_ + view_.ports + config_.queues, sem_sequence_++),
                       *this, semaphore, k_semaphore);
}

void dma::count_semaphore(std::uint32_t s)
{
    ++sem_count_[s];
    s -= sem_bank_; // unsigned: those of banks before it become large
    if (s < k_bank && armed_and_reached(s)) {
        sem_armed_ &= ~(std::uint64_t{1} << s);
        regs_.at(abi::dma::SEM_PENDING) |= std::uint64_t{1} << s;
        update_irq();
    }
}

bool dma::settled(std::uint64_t now_ps)
{
    return std::all_of(ports_.begin(), ports_.end(), [=](port_state& p) {
        return p.staged_count == 0 && p.wire_busy_until_ps <= now_ps && p.credits.settled(p.credits_under_way, now_ps);
    });
}

void dma::reset(std::uint32_t)
{
    regs_.reset();
    regs_.at(abi::dma::QUEUES) = config_.queues;
    update_irq();
    enabled_ = false;
    std::fill(queues_.begin(), queues_.end(), queue{});
    loaded_.clear();
    pieces_.clear();
    unused_.clear();
    for (port_state& p : ports_) {
        p.first_staged = 0;
        p.staged_packets = 0;
        p.round_robin = 0;
        p.ready_queues = 0;
        p.awaiting_room = false;
        p.sequence = 0;
    }
    sem_count_.fill(0);
    sem_bank_ = 0;
    sem_threshold_.fill(0);
    sem_armed_ = 0;
    sem_sequence_ = 0;
    order_ = {};
    numbers_ = {};
}

bool dma::idle() const
{
    return receiving_ == 0 && std::all_of(queues_.begin(), queues_.end(), [](const queue& q) {
               return q.stopped || (q.finished == q.tail && q.doorbells.empty());
           });
}

std::string dma::blocked_on() const
{
    std::string text;
    for (std::uint32_t i = 0; i < config_.queues; ++i) {
        const queue& q = queues_[i];
        if (q.finished == q.tail && !q.stopped)
            continue;
        if (!text.empty())
            text += "; ";
        text += fmt::format("DMA queue {} has {} descriptors left", i, q.tail - q.finished);
        if (q.stopped)
            text += " and is stopped by an error";
        const port_state& side = ports_[i % view_.ports];
        if (side.awaiting_room && q.reading != k_none)
            text += fmt::format(" and waits for room on the way to rank {}", loaded_[q.reading].destination_rank);
        if (!side.awaiting_credit)
            continue;
        const staged_packet& head = side.head();
        const loaded& l = loaded_[head.descriptor];
        if (l.queue == i)
            text += fmt::format(" and waits for {} credits of local port {} VL 0 for a packet to rank {}",
                                cells_of(head), i % view_.ports, l.destination_rank);
        else
            text += fmt::format(" behind queue {} of local port {}", l.queue, i % view_.ports);
    }
    if (order_.open() > 0)
        text += fmt::format("{}{} messages have not arrived whole, or wait for one before them",
                            text.empty() ? "" : "; ", order_.open());
    return text;
}

} // namespace weft
