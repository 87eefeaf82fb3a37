// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Collectives whose order of steps is known beforehand: a plan has streams, each a row of descriptors on a queue of its
// own, which wait for semaphores in the DMA engine (descriptor.h: elements). The core posts them ahead, and sleeps
// until all has come.
//
// A plan is a class with
//   streams(), length(stream), step(stream, k, out)   what is posted, in the order of k; pure. At most k_most_streams
//   expected(semaphore)                               messages that come on a semaphore of k_stream_semaphores, as a
//   whole
//   tells(sink)                                       sink(rank) for each that sends to this rank, or reads its memory:
//   each once
//   told_by()                                         how many tell this rank: those to whom it sends, or whose memory
//   it reads
//   k_step, k_place                                   instructions of step(), and more for each place (costs.h)
//   k_looks                                           and of what is looked at while data is under way
//   holds_peers()                                     others of the device may not leave before this rank has read
//   their memory
// Where the engine has fewer queues than a plan has streams, streams share one, one behind the other: a stream may wait
// for those before it only. Why nobody's data is overwritten too early: nobody sends to a rank, or reads its memory,
// before it has told that it has entered; a rank leaves when all has come, all that it sent has left memory, and where
// holds_peers() all others of the device have said that they have read. A rank cannot tell twice before all others have
// told once: it does not leave before it got what they send.
#pragma once

#include "firmware/collectives/device_map.h"
#include "firmware/collectives/exchange.h"

namespace weft::firmware {

inline constexpr std::uint32_t k_most_streams = 16;
inline constexpr std::uint32_t k_sem_entered = 59;
inline constexpr std::uint32_t k_sem_has_read = 60;
/// Data of streams: semaphores that other collectives use for data, too, because who is in the next one already may
/// send what is no data.
inline constexpr std::uint32_t k_stream_semaphores = k_axis_data_semaphores;
constexpr std::uint32_t stream_semaphore(std::uint32_t number) { return axis_data_semaphore(number); }

struct step_place {
    std::uint32_t rank;
    std::uint32_t semaphore; ///< of a destination: number for stream_semaphore(), or k_no_semaphore
    std::uint64_t offset;    ///< in its memory
};

/// One descriptor.
struct stream_step {
    std::uint64_t bytes = 0;
    std::uint32_t sources = 0;
    std::uint32_t destinations = 0;
    std::uint32_t wait_number = abi::k_no_semaphore; ///< for stream_semaphore()
    std::uint32_t wait_messages = 0;                 ///< of this collective
    step_place source[abi::k_most_sources];
    step_place destination[abi::k_most_destinations];

    void reads(std::uint32_t rank, std::uint64_t offset) { source[sources++] = {rank, abi::k_no_semaphore, offset}; }
    void writes(std::uint32_t rank, std::uint64_t offset, std::uint32_t semaphore) { destination[destinations++] = {rank, semaphore, offset}; }
    void waits(std::uint32_t number, std::uint32_t messages)
    {
        wait_number = number;
        wait_messages = messages;
    }
};

/// Places to which a transfer of data is duplicated: 1R2W, AWS Neuron documentation (quoted). Notifications go to as
/// many as the engine takes.
inline constexpr std::uint32_t k_duplicates = 2;
constexpr std::uint32_t copies_to(std::uint32_t places) { return (places + k_duplicates - 1) / k_duplicates; }
/// Destinations of copy number `copy` < copies_to(per_device - 1) of what all others of the device get at `offset`.
inline void copy_to_peers(const device_map& map, std::uint32_t copy, stream_step& s, std::uint64_t offset, std::uint32_t number)
{
    for (std::uint32_t i = copy * k_duplicates + 1; i <= (copy + 1) * k_duplicates && i < map.per_device; ++i)
        s.writes(map.rank_of(map.device, (map.index + i) % map.per_device), offset, number);
}

/// Places of a collective's elements.
struct stream_places {
    explicit stream_places(const abi::command& c) : count(c.count), element(abi::element_bytes(c.type)), buffer(c.buffer_offset), scratch(c.scratch_offset) {}
    std::uint64_t in_buffer(std::uint64_t first) const { return buffer + first * element; }
    std::uint64_t in_scratch(std::uint64_t first) const { return scratch + first * element; }
    std::uint64_t count;
    std::uint64_t element;
    std::uint64_t buffer, scratch;
};

/// Ranks other than the own one, each once.
template <std::uint32_t most> struct other_ranks {
    explicit other_ranks(std::uint32_t rank) : own(rank) {}
    void add(std::uint32_t rank)
    {
        bool known = rank == own;
        for (std::uint32_t i = 0; i < count; ++i)
            known = known || list[i] == rank;
        if (!known)
            list[count++] = rank;
    }
    template <class Sink> void each(Sink&& sink) const
    {
        for (std::uint32_t n = count; n-- > 0;)
            sink(list[n]);
    }
    std::uint32_t own;
    std::uint32_t count = 0;
    std::uint32_t list[most];
};

class stream_runner {
public:
    explicit stream_runner(exchange& e) : x(e)
    {
        for (std::uint32_t n = 0; n < k_stream_semaphores; ++n)
            base_[n] = x.context.expected[stream_semaphore(n)];
        entered_ = x.context.expected[k_sem_entered];
    }

    template <class Plan> abi::status run(const Plan& plan)
    {
        abi::status s;
        x.peer = x.context.table.ranks; // whoever is late is not known: descriptors wait, not the core
        entered_ += plan.told_by();
        x.context.expected[k_sem_entered] = entered_;
        plan.tells([&](std::uint32_t rank) {
            if (s.ok())
                s = tell(rank);
        });
        if (s.ok())
            s = tell_rest();
        for (std::uint32_t n = 0; n < k_stream_semaphores; ++n)
            x.context.expected[stream_semaphore(n)] += plan.expected(n);
        if (s.ok())
            s = post_all(plan);
        if constexpr (Plan::k_looks != 0)
            x.hal.compute(Plan::k_looks);
        for (std::uint32_t n = 0; n < k_stream_semaphores && s.ok(); ++n)
            s = x.wait_expected(stream_semaphore(n));
        // Where nothing was waited for, those who tell have not been heard yet.
        if (s.ok())
            s = x.wait_expected(k_sem_entered);
        return s.ok() && plan.holds_peers() ? x.wait_expected(k_sem_has_read) : s;
    }

private:
    /// A stream whose ring is full holds up no other one: what it waits for may be what another one is to send.
    template <class Plan> abi::status post_all(const Plan& plan)
    {
        const std::uint32_t streams = plan.streams(), queues = x.dma.queues();
        std::uint32_t next[k_most_streams] = {}, length[k_most_streams];
        std::uint32_t left = 0;
        for (std::uint32_t stream = 0; stream < streams; ++stream)
            left += length[stream] = plan.length(stream);
        std::uint64_t since_ns = 0; // nothing could be posted
        for (std::uint32_t round = 0; left != 0; ++round) {
            bool posted = false;
            std::uint32_t full = 0; // a queue whose ring is
            for (std::uint32_t stream = 0; stream < streams; ++stream) {
                if (next[stream] == length[stream] || (stream >= queues && !comes_first(stream, next, length)))
                    continue;
                stream_step step;
                plan.step(stream, next[stream], step);
                const std::uint32_t queue = stream < queues ? stream : stream % queues, entries = entries_of(step);
                if (entries > x.dma.ring_entries())
                    return {abi::status_code::unsupported, "DMA.RING_ENTRIES", x.dma.ring_entries()};
                if (!x.dma.has_room(queue, entries)) {
                    full = queue;
                    continue;
                }
                x.hal.compute(Plan::k_step + costs::k_stream_post + (Plan::k_place + costs::k_stream_place) * (step.sources + step.destinations));
                if (abi::status s = post(queue, step); !s.ok())
                    return s;
                posted = true;
                --left;
                x.step = ++next[stream] > x.step ? next[stream] : x.step;
            }
            if (((round + 1) & round) == 0 || (round + 1) % 8 == 0 || !posted) // the first ones at once
                x.dma.doorbells();
            if (abi::status s = posted ? abi::status{} : wait_for_room(full, streams * (Plan::k_step + costs::k_stream_look), since_ns); !s.ok())
                return s;
            since_ns = posted ? 0 : since_ns;
        }
        if (plan.holds_peers()) // behind everything that reads their memory
            for (std::uint32_t queue = 0; queue < streams && queue < queues; ++queue) {
                if (!x.dma.has_room(queue, 1 + abi::entries_of_elements(plan.map().per_device - 2)))
                    x.dma.doorbells(); // this one may wait for what others have not announced yet
                if (abi::status s = tell_peers(queue, plan.map()); !s.ok())
                    return s;
            }
        x.dma.doorbells();
        return x.dma.bus_status("DMA.TAIL");
    }

    /// All streams before it in its queue are posted.
    bool comes_first(std::uint32_t stream, const std::uint32_t* next, const std::uint32_t* length) const
    {
        for (std::uint32_t before = stream; before >= x.dma.queues();)
            if (before -= x.dma.queues(); next[before] != length[before])
                return false;
        return true;
    }
    /// Ring entries that post() takes.
    std::uint32_t entries_of(const stream_step& step) const;
    abi::status wait_for_room(std::uint32_t queue, std::uint32_t look_instructions, std::uint64_t& since_ns);
    abi::status tell(std::uint32_t rank);
    abi::status tell_rest();
    abi::status notify_all(std::uint32_t queue, std::uint32_t semaphore);
    abi::status post(std::uint32_t queue, const stream_step& step);
    abi::status tell_peers(std::uint32_t queue, const device_map& map);

    exchange& x;
    std::uint32_t base_[k_stream_semaphores];
    std::uint32_t entered_;
    std::uint32_t to_tell_[abi::k_most_destinations];
    std::uint32_t to_tell_count_ = 0;
    static constexpr std::uint32_t k_most_doublings = 8;
    std::uint32_t looks_ = 0; ///< in vain, one after the other
};

/// `more`: what the plan needs beside table and command.
template <class Plan, class... More>
void run_streams(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command, collective_result& result, More... more)
{
    exchange x{hal, dma, context, command};
    hal.compute(costs::k_command + costs::k_stream_plan);
    const Plan plan(context.table, command, more...);
    x.finish(result, stream_runner(x).run(plan));
}

} // namespace weft::firmware
