// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/streams.h"

namespace weft::firmware {

abi::status stream_runner::tell(std::uint32_t rank)
{
    to_tell_[to_tell_count_++] = rank;
    return to_tell_count_ == abi::k_most_destinations ? tell_rest() : abi::status{};
}

/// By the last queue, behind no data.
abi::status stream_runner::tell_rest()
{
    if (to_tell_count_ == 0)
        return {};
    const std::uint32_t queue = x.dma.queues() - 1;
    if (abi::status s = notify_all(queue, k_sem_entered); !s.ok())
        return s;
    x.dma.doorbell(queue);
    return x.dma.bus_status("DMA.TAIL");
}

/// One descriptor for all of `to_tell_`, one at least; then there are none.
abi::status stream_runner::notify_all(std::uint32_t queue, std::uint32_t semaphore)
{
    abi::dma_element elements[abi::k_most_destinations];
    abi::dma_descriptor d;
    d.destination_rank = to_tell_[0];
    d.remote_semaphore = d.tag = semaphore;
    element_list more;
    more.elements = elements;
    for (std::uint32_t i = 1; i < to_tell_count_; ++i)
        elements[i - 1] = {0, to_tell_[i], semaphore};
    more.more_destinations = static_cast<std::uint8_t>(to_tell_count_ - 1);
    x.hal.compute(costs::k_stream_post + costs::k_stream_place * to_tell_count_);
    to_tell_count_ = 0;
    ++x.messages;
    return x.dma.enqueue(queue, d, more, x.command.timeout_ns);
}

/// The first descriptor of a queue waits for those who tell; the others stand behind it.
abi::status stream_runner::post(std::uint32_t queue, const stream_step& step)
{
    element_list more;
    const bool waits = step.wait_number != abi::k_no_semaphore;
    more.wait_semaphore = waits ? stream_semaphore(step.wait_number) : k_sem_entered;
    more.wait_count = waits ? base_[step.wait_number] + step.wait_messages : entered_;
    abi::dma_descriptor d;
    d.type = x.command.type;
    d.destination_port = static_cast<std::uint8_t>(queue % x.context.table.dma_ports);
    d.tag = x.step;
    if (step.destinations == 0) // it only waits
        d.destination_rank = x.context.table.rank;
    abi::dma_element elements[abi::k_most_sources + abi::k_most_destinations];
    more.elements = elements;
    std::uint32_t n = 0;
    const bool empty = step.bytes == 0; // what it would have sent is counted
    const bool own_first = empty || step.source[0].rank == x.context.table.rank;
    if (!own_first)
        d.source_offset = abi::k_no_source;
    else if (!empty)
        d.source_offset = step.source[0].offset;
    for (std::uint32_t i = own_first ? 1 : 0; i < step.sources && !empty; ++i)
        elements[n++] = {step.source[i].offset, step.source[i].rank, abi::k_no_semaphore};
    more.more_sources = static_cast<std::uint8_t>(n);
    d.bytes = step.bytes;
    d.redop = step.sources > 1 && !empty ? x.command.redop : abi::reduce_op::none;
    for (std::uint32_t i = 0; i < step.destinations; ++i) {
        const step_place& p = step.destination[i];
        const std::uint32_t semaphore = p.semaphore == abi::k_no_semaphore ? p.semaphore : stream_semaphore(p.semaphore);
        if (i == 0) {
            d.destination_rank = p.rank;
            d.destination_offset = p.offset;
            d.remote_semaphore = semaphore;
        } else {
            elements[n++] = {p.offset, p.rank, semaphore};
        }
    }
    more.more_destinations = static_cast<std::uint8_t>(step.destinations > 0 ? step.destinations - 1 : 0);
    ++x.messages;
    return x.dma.enqueue(queue, d, more, x.command.timeout_ns);
}

std::uint32_t stream_runner::entries_of(const stream_step& step) const
{
    const bool own_first = step.bytes == 0 || step.source[0].rank == x.context.table.rank;
    const std::uint32_t sources = step.bytes == 0 ? 0 : step.sources - (own_first ? 1 : 0);
    return 1 + abi::entries_of_elements(sources + (step.destinations > 0 ? step.destinations - 1 : 0));
}

/// No stream can go on. Bounded: `since_ns` is when that began. Looks become rarer, as those of a poll do.
abi::status stream_runner::wait_for_room(std::uint32_t queue, std::uint32_t look_instructions, std::uint64_t& since_ns)
{
    const std::uint64_t now_ns = x.hal.now_ns();
    if (since_ns == 0) {
        since_ns = now_ns;
        looks_ = 0;
    }
    if (now_ns - since_ns >= x.command.timeout_ns)
        return x.dma.error_or_timeout("DMA.HEAD", queue);
    x.hal.spin(look_instructions << (looks_ < k_most_doublings ? looks_++ : k_most_doublings));
    return x.dma.bus_status("DMA.HEAD");
}

/// Their memory has been read by everything in `queue`. They tell the same.
abi::status stream_runner::tell_peers(std::uint32_t queue, const device_map& map)
{
    for (std::uint32_t i = 0; i < map.per_device; ++i)
        if (i != map.index)
            to_tell_[to_tell_count_++] = map.rank_of(map.device, i);
    x.context.expected[k_sem_has_read] += map.per_device - 1;
    return notify_all(queue, k_sem_has_read);
}

} // namespace weft::firmware
