// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/streams.h"

namespace weft::firmware {

abi::status stream_runner::tell(std::uint32_t rank)
{
    to_tell_[to_tell_count_++] = rank;
    return to_tell_count_ == abi::k_most_destinations ? tell_rest() : abi::status{};
}

/// One descriptor for several ranks, by the last queue, behind no data.
abi::status stream_runner::tell_rest()
{
    if (to_tell_count_ == 0)
        return {};
    abi::dma_element elements[abi::k_most_destinations];
    abi::dma_descriptor d;
    d.destination_rank = to_tell_[0];
    d.remote_semaphore = d.tag = k_sem_entered;
    element_list more;
    more.elements = elements;
    for (std::uint32_t i = 1; i < to_tell_count_; ++i)
        elements[i - 1] = {0, to_tell_[i], k_sem_entered};
    more.more_destinations = static_cast<std::uint8_t>(to_tell_count_ - 1);
    x.hal.compute(costs::k_stream_step + costs::k_stream_place * to_tell_count_);
    to_tell_count_ = 0;
    ++x.messages;
    const std::uint32_t queue = x.dma.queues() - 1;
    if (abi::status s = x.dma.enqueue(queue, d, more, x.command.timeout_ns); !s.ok())
        return s;
    x.dma.doorbell(queue);
    return x.dma.bus_status("DMA.TAIL");
}

/// The first descriptor of a queue waits for those who tell; the others stand behind it.
abi::status stream_runner::post(std::uint32_t queue, const stream_step& step)
{
    element_list more;
    const bool waits = step.wait_number != abi::k_no_semaphore;
    more.wait_semaphore = waits ? stream_semaphore(step.wait_number) : k_sem_entered;
    more.wait_count = waits ? base_[step.wait_number] + step.wait_messages : entered_;
    const auto counted = [](const step_place& p) { return p.semaphore == abi::k_no_semaphore ? p.semaphore : stream_semaphore(p.semaphore); };
    abi::dma_descriptor d;
    d.type = x.command.type;
    d.tag = x.step;
    if (step.destinations == 0) { // it only waits
        if (!waits)
            return {};
        d.destination_rank = x.context.table.rank;
        return x.dma.enqueue(queue, d, more, x.command.timeout_ns);
    }
    if (step.bytes == 0) { // what it would have sent is counted
        for (std::uint32_t i = 0; i < step.destinations; ++i) {
            if (step.destination[i].semaphore == abi::k_no_semaphore)
                continue;
            d.destination_rank = step.destination[i].rank;
            d.remote_semaphore = counted(step.destination[i]);
            ++x.messages;
            if (abi::status s = x.dma.enqueue(queue, d, more, x.command.timeout_ns); !s.ok())
                return s;
        }
        return {};
    }
    abi::dma_element elements[abi::k_most_sources + abi::k_most_destinations];
    more.elements = elements;
    std::uint32_t n = 0;
    const bool own_first = step.source[0].rank == x.context.table.rank;
    if (own_first)
        d.source_offset = step.source[0].offset;
    else
        d.no_own_source = 1;
    for (std::uint32_t i = own_first ? 1 : 0; i < step.sources; ++i)
        elements[n++] = {step.source[i].offset, step.source[i].rank, abi::k_no_semaphore};
    more.more_sources = static_cast<std::uint8_t>(n);
    d.bytes = step.bytes;
    d.redop = step.sources > 1 ? x.command.redop : abi::reduce_op::none;
    d.destination_rank = step.destination[0].rank;
    d.destination_offset = step.destination[0].offset;
    d.remote_semaphore = counted(step.destination[0]);
    for (std::uint32_t i = 1; i < step.destinations; ++i)
        elements[n++] = {step.destination[i].offset, step.destination[i].rank, counted(step.destination[i])};
    more.more_destinations = static_cast<std::uint8_t>(step.destinations - 1);
    ++x.messages;
    return x.dma.enqueue(queue, d, more, x.command.timeout_ns);
}

abi::status stream_runner::release_peers(const device_map& map)
{
    if (abi::status s = x.dma.drain(x.command.timeout_ns); !s.ok())
        return s;
    for (std::uint32_t i = 0; i < map.per_device; ++i)
        if (i != map.index)
            if (abi::status s = x.notify(map.rank_of(map.device, i), k_sem_has_read); !s.ok())
                return s;
    x.context.expected[k_sem_has_read] += map.per_device - 1;
    return x.wait_expected(k_sem_has_read);
}

} // namespace weft::firmware
