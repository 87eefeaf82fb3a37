// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/dma_rings.h"

#include "tlm/step_sink.h"

#include <algorithm>
#include <cstring>

namespace weft {

void dma_rings::enable(bool on)
{
    enabled_ = on;
    for (std::uint32_t q = 0; on && q < queues_.size(); ++q)
        start_fetch(q);
}

bool dma_rings::post(std::uint32_t q, std::uint32_t tail, std::uint64_t at_ps)
{
    const std::uint64_t now = shared_.time.now_ps();
    if (q >= queues_.size() || !queues_[q].ring.holds(tail, regs_.at(abi::dma::RING_ENTRIES(q)), now))
        return false;
    queues_[q].ring.ring(tail);
    const std::uint64_t begins_ps = std::max(at_ps, now) + shared_.config.engine.start.value();
    if (shared_.config.engine.start.value() != 0)
        shared_.starting.add(now, begins_ps);
    shared_.schedule(begins_ps, shared_.queue_order(q, dma_event::doorbell, tail), dma_event::doorbell, q);
    return true;
}

std::uint32_t dma_rings::head(std::uint32_t q)
{
    return q < queues_.size() ? queues_[q].ring.head(shared_.time.now_ps()) : 0;
}

void dma_rings::doorbell(std::uint32_t q)
{
    queues_[q].ring.hear();
    start_fetch(q);
}

void dma_rings::start_fetch(std::uint32_t index)
{
    queue& q = queues_[index];
    if (!enabled_ || q.stopped_by != nullptr || q.fetching || q.ring.all_fetched() || q.held >= shared_.config.prefetch)
        return;
    q.fetching = true;
    if (step_sink* const steps = steps_of(shared_.sink))
        steps->fetches(shared_.time.now_ps(), index);
    const std::uint64_t done = shared_.memory->charge(shared_.time.now_ps(), place_of_next(index),
                                                      abi::k_descriptor_bytes, memory_if::access::read);
    shared_.schedule(done, shared_.queue_order(index, dma_event::fetched), dma_event::fetched, index);
}

/// Of the entry `ahead` behind the next one to be fetched, in memory.
std::uint64_t dma_rings::place_of_next(std::uint32_t q, std::uint32_t ahead) const
{
    const auto entries = static_cast<std::uint32_t>(regs_.at(abi::dma::RING_ENTRIES(q)));
    const std::uint64_t slot = queues_[q].ring.next_slot(entries, ahead);
    return regs_.at(abi::dma::RING_BASE(q)) + slot * abi::k_descriptor_bytes;
}

bool dma_rings::read_entry(std::uint32_t q, std::uint32_t ahead, void* to) const
{
    std::uint64_t got = 0;
    const std::uint8_t* const bytes = shared_.memory->span_for_read(place_of_next(q, ahead), abi::k_descriptor_bytes, got);
    if (bytes == nullptr || got < abi::k_descriptor_bytes)
        return false;
    std::memcpy(to, bytes, abi::k_descriptor_bytes);
    return true;
}

bool dma_rings::fetched(std::uint32_t q, abi::dma_descriptor& d)
{
    queues_[q].fetching = false;
    return read_entry(q, 0, &d);
}

bool dma_rings::fetch_elements(std::uint32_t index, const abi::dma_descriptor& d)
{
    queue& q = queues_[index];
    const std::uint32_t entries = d.element_entries;
    if (q.ring.not_fetched() <= entries)
        return false;
    q.fetching = true;
    q.elements_of = std::make_unique<abi::dma_descriptor>(d);
    std::uint64_t done = 0;
    for (std::uint32_t e = 1; e <= entries; ++e)
        done = shared_.memory->charge(shared_.time.now_ps(), place_of_next(index, e), abi::k_descriptor_bytes, memory_if::access::read);
    shared_.schedule(done, shared_.queue_order(index, dma_event::fetched), dma_event::fetched, index);
    return true;
}

bool dma_rings::fetched_elements(std::uint32_t index, abi::dma_descriptor& d, std::vector<abi::dma_element_entry>& entries)
{
    queue& q = queues_[index];
    q.fetching = false;
    d = *q.elements_of;
    q.elements_of.reset();
    entries.resize(d.element_entries);
    for (std::uint32_t e = 0; e < entries.size(); ++e)
        if (!read_entry(index, e + 1, &entries[e]))
            return false;
    return true;
}

void dma_rings::hold(std::uint32_t q, std::uint32_t entries)
{
    queues_[q].ring.fetch(entries);
    ++queues_[q].held;
    start_fetch(q);
}

bool dma_rings::idle() const
{
    return std::all_of(queues_.begin(), queues_.end(),
                       [](const queue& q) { return q.stopped_by != nullptr || q.ring.idle(); });
}

void dma_rings::reset()
{
    for (queue& q : queues_)
        q = queue{};
    enabled_ = false;
}

} // namespace weft
