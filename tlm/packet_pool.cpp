// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tlm/check.h"
#include "tlm/packet.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace weft {

namespace {
unsigned class_of(std::uint64_t bytes)
{
    unsigned c = 6; // 64 bytes at the least
    while ((std::uint64_t{1} << c) < bytes)
        ++c;
    return c;
}
} // namespace

packet_pool::~packet_pool() = default;

packet_ptr packet_pool::make()
{
    if (free_head_ == k_none) {
        const auto first = static_cast<std::uint32_t>(chunks_.size() << k_chunk_shift);
        chunks_.push_back(std::make_unique<packet[]>(std::size_t{1} << k_chunk_shift));
        next_.resize(peak());
        for (std::uint32_t i = k_chunk_mask + 1; i-- > 0;) {
            chunks_.back()[i].index = first + i;
            next_[first + i].index = free_head_;
            free_head_ = first + i;
        }
    }
    packet& p = at(free_head_);
    free_head_ = next_[free_head_].index;
    p.pool = this;
    ++live_;
    return packet_ptr(&p);
}

packet_ptr packet_pool::part_of(const packet& whole, std::uint32_t first, std::uint32_t count)
{
    packet_ptr part = make();
    const std::uint32_t index = part->index;
    *part = whole;
    part->index = index;
    part->payload = nullptr;
    const std::uint32_t of = whole.packet_count;
    const std::uint32_t each = whole.payload_bytes / of;
    part->packet_count = count;
    part->wire_bytes = whole.wire_bytes / of * count;
    part->cells = whole.cells / of * count;
    part->payload_bytes = each * count;
    part->destination_offset += std::uint64_t{each} * first;
    if (first + count < of)
        part->flags &= static_cast<std::uint8_t>(~k_last_of_message);
    if (whole.payload != nullptr) {
        add_payload(*part, part->payload_bytes);
        std::memcpy(part->payload, whole.payload + std::uint64_t{each} * first, part->payload_bytes);
    }
    return part;
}

packet_ptr packet_pool::copy_of(const packet& whole)
{
    packet_ptr copy = part_of(whole, 0, whole.packet_count);
    const packet fresh;
    copy->fifo = fresh.fifo;
    copy->link = fresh.link;
    copy->out_link = fresh.out_link;
    copy->fabric = fresh.fabric;
    copy->tail_ps = fresh.tail_ps;
    copy->route = fresh.route;
    copy->hops = fresh.hops;
    copy->out_vl = fresh.out_vl;
    return copy;
}

packet_ptr packet_pool::cut_behind(packet& train, std::uint32_t count)
{
    const std::uint32_t of = train.packet_count;
    packet_ptr rest = part_of(train, count, of - count);
    rest->serialisation_ps = static_cast<std::uint32_t>(std::uint64_t{train.serialisation_ps} * (of - count) / of);
    train.serialisation_ps -= rest->serialisation_ps;
    train.tail_ps -= rest->serialisation_ps;
    train.packet_count = count;
    train.wire_bytes -= rest->wire_bytes;
    train.cells -= rest->cells;
    train.payload_bytes -= rest->payload_bytes;
    train.flags &= static_cast<std::uint8_t>(~k_last_of_message);
    return rest;
}

std::uint8_t* packet_pool::take_payload(std::uint64_t bytes)
{
    const unsigned c = class_of(bytes);
    if (c >= k_payload_classes)
        throw bug("packet_pool", 0, "a payload beyond 4 GiB");
    auto& list = free_payloads_[c];
    if (list.empty()) {
        // One block holds several payloads of a class, so that small payloads do not cost an allocation each.
        const std::uint64_t each = std::uint64_t{1} << c;
        const std::uint64_t n = std::max<std::uint64_t>(1, (64u << 10) / each);
        payload_blocks_.emplace_back(new std::uint8_t[n * each]);
        for (std::uint64_t i = n; i-- > 0;)
            list.push_back(payload_blocks_.back().get() + i * each);
    }
    std::uint8_t* const payload = list.back();
    list.pop_back();
    return payload;
}

void packet_pool::adopt_payload(packet& p, std::uint8_t* payload, std::uint64_t bytes)
{
    p.payload = payload;
    if (payload_class_.size() < peak())
        payload_class_.resize(peak());
    payload_class_[p.index] = static_cast<std::uint8_t>(class_of(bytes));
}

void packet_pool::release(packet* p)
{
    if (p->payload != nullptr)
        free_payloads_[payload_class_[p->index]].push_back(p->payload);
    const std::uint32_t index = p->index;
    *p = packet{};
    p->index = index;
    next_[index].index = free_head_;
    free_head_ = index;
    --live_;
}

std::string packet_pool::leak_report(std::size_t at_most)
{
    if (live_ == 0)
        return "";
    std::vector<const packet*> leaked;
    for (const auto& chunk : chunks_)
        for (std::uint32_t i = 0; i <= k_chunk_mask; ++i)
            if (chunk[i].pool != nullptr)
                leaked.push_back(&chunk[i]);
    std::sort(leaked.begin(), leaked.end(), [](const packet* a, const packet* b) {
        return a->born_ps != b->born_ps ? a->born_ps < b->born_ps : a->index < b->index;
    });
    std::string text = fmt::format("{} packets were not returned to the pool; the oldest:", leaked.size());
    for (std::size_t i = 0; i < leaked.size() && i < at_most; ++i)
        text += fmt::format("\n  from {} to {}, {} bytes, sent at {} ps, message {}", leaked[i]->source,
                            leaked[i]->destination, leaked[i]->payload_bytes, leaked[i]->born_ps, leaked[i]->message);
    return text;
}

} // namespace weft
