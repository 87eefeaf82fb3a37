// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/dma_reader.h"

#include "hw/arithmetic/reduce.h"
#include "tlm/memory_spans.h"
#include "tlm/step_sink.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace weft {

void dma_reader::add(std::uint32_t index, std::uint32_t transfer)
{
    queue& q = queues_[index];
    const std::uint32_t port = shared_.port_of(index);
    const bool was_empty = q.transfers.empty();
    q.transfers.push_back(transfer);
    if (was_empty) {
        q.had = 0;
        new_head(index);
    }
    fill(port);
}

bool dma_reader::may_begin(std::uint32_t transfer) const
{
    if (transfers_[transfer].shape != transfer_shape::elements)
        return true;
    const transfer_elements& all = transfers_.elements_of(transfer);
    return all.wait_semaphore == abi::k_waits_for_none || semaphores_.reached(all.wait_semaphore, all.wait_count);
}

/// What queue `index` reads next is its oldest transfer that is not wholly read.
void dma_reader::new_head(std::uint32_t index)
{
    queue& q = queues_[index];
    dma_port& port = ports_[shared_.port_of(index)];
    q.reading = q.transfers.empty() ? k_none : q.transfers.front();
    q.next_packet = 0;
    const std::uint32_t bit = 1u << index;
    port.ready_queues &= ~bit;
    if (q.reading == k_none)
        return;
    if (!may_begin(q.reading)) {
        waiting_ |= bit;
    } else if (const std::uint64_t begin_ps = begins_at(q.reading); begin_ps > shared_.time.now_ps()) {
        waiting_ |= bit;
        wake_at(index, begin_ps);
    } else {
        port.ready_queues |= bit;
    }
}

/// Of a transfer that may begin: `wake` behind the message for which it waited. Messages that came long before are not
/// known any more.
std::uint64_t dma_reader::begins_at(std::uint32_t transfer) const
{
    if (counted_at_.empty() || transfers_[transfer].shape != transfer_shape::elements)
        return 0;
    const transfer_elements& all = transfers_.elements_of(transfer);
    if (all.wait_semaphore == abi::k_waits_for_none || semaphores_.value(all.wait_semaphore) - all.wait_count >= k_counts_known)
        return 0;
    const std::uint64_t counted_ps = counted_at_[all.wait_semaphore][all.wait_count % k_counts_known];
    return counted_ps == 0 ? 0 : counted_ps + shared_.config.engine.wake.value();
}

void dma_reader::wake_at(std::uint32_t q, std::uint64_t at_ps)
{
    woken_ |= 1u << q;
    shared_.starting.add(shared_.time.now_ps(), at_ps);
    shared_.schedule(at_ps, shared_.queue_order(q, dma_event::start), dma_event::start, q);
}

void dma_reader::counted(std::uint32_t s)
{
    if (!counted_at_.empty())
        counted_at_[s][semaphores_.value(s) % k_counts_known] = shared_.time.now_ps();
    if (waiting_ != 0)
        wake(s);
}

void dma_reader::wake(std::uint32_t s)
{
    for (std::uint32_t left = waiting_ & ~woken_; left != 0; left &= left - 1) {
        const auto q = static_cast<std::uint32_t>(__builtin_ctz(left));
        if (transfers_.elements_of(queues_[q].reading).wait_semaphore != s || !may_begin(queues_[q].reading))
            continue;
        wake_at(q, shared_.time.now_ps() + shared_.config.engine.wake.value());
    }
}

void dma_reader::start(std::uint32_t q)
{
    const std::uint32_t bit = 1u << q;
    if ((woken_ & bit) == 0) // its queue was stopped meanwhile
        return;
    woken_ &= ~bit;
    waiting_ &= ~bit;
    const std::uint32_t port = shared_.port_of(q);
    ports_[port].ready_queues |= bit;
    if (step_sink* const steps = steps_of(shared_.sink))
        steps->woken({shared_.time.now_ps(), queues_[q].reading, transfers_.elements_of(queues_[q].reading).wait_semaphore});
    fill(port);
}

void dma_reader::drop(std::uint32_t q)
{
    queues_[q].transfers.clear();
    queues_[q].reading = k_none;
    const std::uint32_t bit = 1u << q;
    ports_[shared_.port_of(q)].ready_queues &= ~bit;
    waiting_ &= ~bit;
    woken_ &= ~bit;
}

void dma_reader::fill(std::uint32_t p)
{
    dma_port& port = ports_[p];
    port.awaiting_room = false;
    std::uint64_t requests = port.ready_queues;
    while (port.staged.packets() < slots_) {
        const std::uint32_t index = choose_queue(port, requests);
        if (index == k_no_grant) {
            port.awaiting_room = port.ready_queues != 0;
            return;
        }
        queue& q = queues_[index];
        const std::uint32_t packets = transfers_.train_at(q.reading, q.next_packet);
        const std::uint32_t sent = packets * transfers_.destinations(q.reading);
        // A train waits for room: queues whose turns differ in length would get unequal shares of the wire.
        if (slots_ - port.staged.packets() < sent && !port.staged.empty())
            return;
        if (!has_room(port, q)) {
            requests &= ~(std::uint64_t{1} << index);
            continue;
        }
        port.round_robin = index + 1;
        q.had = port.turn.grant(q.had, sent);
        read(p, index, packets);
        requests = port.ready_queues;
    }
}

/// Round robin over `requests`, by packets.
std::uint32_t dma_reader::choose_queue(const dma_port& port, std::uint64_t requests) const
{
    if (train_ == 1)
        return first_request(&requests, 1, port.round_robin);
    return fair_round_robin_over([=](std::uint32_t) { return requests; }, 1, port.round_robin, port.turn,
                                 [&](std::uint32_t q) { return queues_[q].had; }, [](std::uint32_t, bool) { return true; });
}

/// Whether there is room behind the port for the message that `q` reads next.
bool dma_reader::has_room(const dma_port& port, const queue& q) const
{
    const dma_transfer& t = transfers_[q.reading];
    if (t.shape != transfer_shape::elements)
        return t.local || port.to_fabric->has_room(transfers_.rank_of(q.reading, q.next_packet), t.shortest_paths);
    for (std::uint32_t k = 0; k < transfers_.destinations(q.reading); ++k)
        if (const std::uint64_t n = k * t.packets; !transfers_.is_local(q.reading, n) && !port.to_fabric->has_room(transfers_.rank_of(q.reading, n), t.shortest_paths))
            return false;
    return true;
}

void dma_reader::read(std::uint32_t p, std::uint32_t index, std::uint32_t packets)
{
    dma_port& port = ports_[p];
    queue& q = queues_[index];
    const std::uint64_t now = shared_.time.now_ps();
    const packet_source from = transfers_.source_of(q.reading, q.next_packet, packets);
    const bool was_empty = port.staged.empty();
    if (step_sink* const steps = steps_of(shared_.sink))
        for (std::uint32_t k = 0; k < transfers_.destinations(q.reading); ++k)
            steps->reads(now, p);
    if (transfers_[q.reading].shape == transfer_shape::elements) {
        read_elements(port, q, from, packets);
    } else {
        staged_packet& slot = port.staged.push(packets);
        slot.ready_ps = now;
        slot.number = q.next_packet;
        slot.payload = nullptr;
        slot.payload_bytes = static_cast<std::uint32_t>(from.bytes);
        slot.transfer = q.reading & 0x7fff'ffffu;
        slot.local = from.local ? 1 : 0;
        if (from.bytes > 0) {
            slot.ready_ps = shared_.memory->charge(now, from.offset, from.bytes, memory_if::access::read);
            if (shared_.config.engine.queue_rate.value() != 0)
                slot.ready_ps = std::max(slot.ready_ps, through_engine(q, from.offset - transfers_[q.reading].source_offset, from.bytes, 1));
            if (shared_.view.carry_data)
                slot.payload = payload_of(*shared_.memory, from.offset, from.bytes);
        }
    }
    q.next_packet += packets;
    if (q.next_packet == transfers_[q.reading].packets) {
        q.transfers.erase(q.transfers.begin());
        new_head(index);
        rings_.read_out(index);
    }
    if (was_empty)
        sender_.plan(p);
}

/// Every source is read once, whatever the number of destinations.
void dma_reader::read_elements(dma_port& port, queue& q, const packet_source& from, std::uint32_t packets)
{
    const dma_transfer& t = transfers_[q.reading];
    const transfer_elements& all = transfers_.elements_of(q.reading);
    const std::uint64_t now = shared_.time.now_ps();
    const std::uint64_t within = from.offset - t.source_offset;
    std::uint64_t ready_ps = now;
    for (const transfer_elements::source& s : all.sources)
        if (from.bytes != 0) // else it only tells something
            ready_ps = std::max(ready_ps, shared_.memory_of(s.rank).charge(now, s.offset + within, from.bytes, memory_if::access::read));
    if (from.bytes != 0 && shared_.config.engine.queue_rate.value() != 0)
        ready_ps = std::max(ready_ps, through_engine(q, within, from.bytes, std::max(all.sources.size(), all.destinations.size())));
    std::uint8_t* message = nullptr;
    if (from.bytes != 0 && shared_.view.carry_data)
        message = reduced(all, within, from.bytes);
    for (std::uint32_t k = 0; k < all.destinations.size(); ++k) {
        staged_packet& slot = port.staged.push(packets);
        slot.ready_ps = ready_ps;
        slot.number = k * t.packets + q.next_packet;
        slot.payload = message;
        if (k != 0 && message != nullptr) {
            slot.payload = shared_.pool.take_payload(from.bytes);
            std::memcpy(slot.payload, message, from.bytes);
        }
        slot.payload_bytes = static_cast<std::uint32_t>(from.bytes);
        slot.transfer = q.reading & 0x7fff'ffffu;
        slot.local = all.destinations[k].rank == shared_.rank ? 1 : 0;
    }
}

/// When the engines have moved `bytes`, `within` behind the start of their message, so many times: once for each
/// source, or destination where there are more.
std::uint64_t dma_reader::through_engine(queue& q, std::uint64_t within, std::uint64_t bytes, std::uint64_t times)
{
    const dma_engine_timing& engine = shared_.config.engine;
    const std::uint64_t begun = engine.elements_of(within + bytes) - engine.elements_of(within);
    const std::uint64_t moved = bytes * times + begun * engine.element_overhead.value();
    const auto busy = [&](std::uint64_t& until_ps, std::uint64_t& busy_ps, bandwidth rate) {
        const std::uint64_t time_ps = wire_rate(rate).time_ps(moved);
        busy_ps += time_ps;
        until_ps = std::max(until_ps, shared_.time.now_ps()) + time_ps;
        return until_ps;
    };
    // An element has one engine: a message of few has the rate of as many, while others of the queue have the rest.
    const std::uint64_t elements = engine.elements_of(transfers_[q.reading].piece_bytes);
    const std::uint64_t rounds = (elements + engine.spread - 1) / engine.spread;
    std::uint64_t& message_until_ps = message_until_ps_[transfers_[q.reading].queue];
    if (within == 0)
        message_until_ps = 0;
    message_until_ps = std::max(message_until_ps, shared_.time.now_ps()) + wire_rate(engine.queue_rate).time_ps(moved) * engine.spread * rounds / elements;
    const std::uint64_t of_queue = std::max(busy(q.engine_busy_until_ps, q.engine_busy_ps, engine.queue_rate), message_until_ps);
    return engine.rate.value() == 0 ? of_queue : std::max(of_queue, busy(engines_busy_until_ps_, engines_busy_ps_, engine.rate));
}

std::uint64_t dma_reader::moved_ps(std::uint32_t q, std::uint64_t now_ps) const
{
    const bool all = q == queues_.size();
    const std::uint64_t until_ps = all ? engines_busy_until_ps_ : queues_[q].engine_busy_until_ps;
    const std::uint64_t busy_ps = all ? engines_busy_ps_ : queues_[q].engine_busy_ps;
    return busy_ps - (until_ps > now_ps ? until_ps - now_ps : 0);
}

std::uint8_t* dma_reader::payload_of(memory_if& memory, std::uint64_t offset, std::uint64_t bytes) const
{
    std::uint8_t* const payload = shared_.pool.take_payload(bytes);
    copy_from(memory, offset, payload, bytes);
    return payload;
}

std::uint8_t* dma_reader::reduced(const transfer_elements& all, std::uint64_t within, std::uint64_t bytes) const
{
    std::uint8_t* const message = payload_of(shared_.memory_of(all.sources.front().rank), all.sources.front().offset + within, bytes);
    for (std::size_t s = 1; s < all.sources.size(); ++s)
        read_spans(shared_.memory_of(all.sources[s].rank), all.sources[s].offset + within, bytes,
                   [&](std::uint64_t done, const std::uint8_t* from, std::uint64_t got) { reduce(all.type, all.redop, message + done, from, got); });
    return message;
}

std::string dma_reader::waits(std::uint32_t index) const
{
    const queue& q = queues_[index];
    if ((waiting_ >> index & 1) != 0) {
        const transfer_elements& all = transfers_.elements_of(q.reading);
        return fmt::format(" and waits for its semaphore {} to count to {} from {}", all.wait_semaphore, all.wait_count,
                           semaphores_.value(all.wait_semaphore));
    }
    if (!ports_[shared_.port_of(index)].awaiting_room || q.reading == k_none)
        return "";
    return fmt::format(" and waits for room on the way to rank {}", transfers_.rank_of(q.reading, q.next_packet));
}

void dma_reader::reset()
{
    for (queue& q : queues_) {
        const std::uint64_t busy_ps = q.engine_busy_ps; // history, as all statistics
        q = {};
        q.engine_busy_ps = busy_ps;
    }
    waiting_ = woken_ = 0;
    engines_busy_until_ps_ = 0;
    for (auto& of_semaphore : counted_at_)
        of_semaphore.fill(0);
    for (std::uint32_t p = 0; p < shared_.view.ports; ++p) {
        dma_port& port = ports_[p];
        port.round_robin = 0;
        port.ready_queues = 0;
        port.awaiting_room = false;
    }
}

} // namespace weft
