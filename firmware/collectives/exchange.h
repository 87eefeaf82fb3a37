// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What collectives share that go step by step, without the event loop of the engine: send a message, wait for all that
// a semaphore has to count, meet everybody.
#pragma once

#include "firmware/collectives/collective_result.h"
#include "firmware/collectives/full_mesh.h"
#include "firmware/collectives/near_block.h"
#include "firmware/context.h"
#include "firmware/costs.h"
#include "firmware/drivers/dma_driver.h"

namespace weft::firmware {

/// Of ranks that meet by lines: longer ones take fewer messages in rounds.
inline constexpr std::uint32_t k_longest_line = 64;

struct exchange {
    abi::hal& hal;
    dma_driver& dma;
    firmware_context& context;
    const abi::command& command;
    std::uint32_t messages = 0;
    std::uint32_t step = 0;
    std::uint32_t peer = 0; ///< the rank that matters now, for the answer

    abi::status post(std::uint32_t queue, abi::dma_descriptor& d)
    {
        d.destination_port = static_cast<std::uint8_t>(queue % context.table.dma_ports);
        hal.compute(costs::k_direct_message);
        ++messages;
        return dma.post(queue, d, command.timeout_ns);
    }

    /// The same, but the device does not know of it before a doorbell. `queue`: modulo the number of queues.
    /// `instructions`: of the caller, for one.
    abi::status enqueue(std::uint32_t queue, abi::dma_descriptor& d, std::uint32_t instructions = costs::k_direct_message)
    {
        queue %= dma.queues();
        d.destination_port = static_cast<std::uint8_t>(queue % context.table.dma_ports);
        hal.compute(instructions);
        ++messages;
        return dma.enqueue(queue, d, command.timeout_ns);
    }

    /// To `count` ranks from `first` on, `apart` numbers from each other; this one, or the next one, is served first.
    /// What the k-th one gets lies k x `stride` bytes behind the source.
    void to_ranks(abi::dma_descriptor& d, std::uint32_t first, std::uint32_t count, std::uint32_t apart, std::uint64_t stride)
    {
        const std::uint32_t rank = context.table.rank;
        d.destination_rank = d.tag = peer = first;
        d.more_pieces = static_cast<std::uint16_t>(count - 1);
        d.rank_stride = static_cast<std::uint16_t>(count != 1 ? apart : 0);
        d.stride = stride;
        d.first_piece = static_cast<std::uint16_t>(rank > first ? (rank - first + apart - 1) / apart % count : 0);
    }

    /// Tells `rank` something.
    abi::status notify(std::uint32_t rank, std::uint32_t semaphore)
    {
        abi::dma_descriptor d;
        d.destination_rank = rank;
        d.remote_semaphore = d.tag = semaphore;
        return post(0, d);
    }

    /// Sleeps until everything expected on `semaphore` has arrived.
    abi::status wait_expected(std::uint32_t semaphore)
    {
        while (!reached(context, semaphore, context.expected[semaphore])) {
            dma.arm(semaphore, context.expected[semaphore]);
            hal.compute(costs::k_direct_wait);
            std::uint64_t fired = 0;
            if (abi::status s = dma.wait(command.timeout_ns, fired); !s.ok())
                return s;
            if ((fired >> semaphore & 1u) != 0)
                context.known[semaphore] = dma.armed_threshold(semaphore);
        }
        return {};
    }

    /// Whether ranks meet line by line: where everybody in a line is joined to everybody, one descriptor tells a whole
    /// line.
    bool meets_by_lines() const
    {
        std::uint32_t longest = 0;
        for (std::uint32_t d = 0; d < context.table.dim_count; ++d)
            longest = context.table.dims[d] > longest ? context.table.dims[d] : longest;
        return full_mesh(context.table) && longest <= k_longest_line;
    }
    /// Tells the line along dimension `d`, this rank included, that all ranks have entered that differ from it in inner
    /// dimensions only. By the last queue, behind no data.
    abi::status tell_line(std::uint32_t d)
    {
        const std::uint32_t stride = rank_stride(context.table, d);
        abi::dma_descriptor m;
        m.destination_rank = context.table.rank - context.table.coord[d] * stride;
        m.more_pieces = static_cast<std::uint16_t>(context.table.dims[d] - 1);
        m.rank_stride = static_cast<std::uint16_t>(stride);
        m.first_piece = static_cast<std::uint16_t>(context.table.coord[d]);
        m.remote_semaphore = m.tag = k_sem_barrier + d;
        context.expected[k_sem_barrier + d] += context.table.dims[d];
        peer = m.destination_rank;
        return post(dma.queues() - 1, m);
    }
    abi::status meet_by_lines()
    {
        for (std::uint32_t d = context.table.dim_count; d-- > 0;) {
            if (context.table.dims[d] == 1)
                continue;
            if (abi::status s = tell_line(d); !s.ok())
                return s;
            if (abi::status s = wait_expected(k_sem_barrier + d); !s.ok())
                return s;
            ++step;
        }
        return {};
    }

    /// Dissemination barrier: in round k rank r tells r + 2^k and waits for r - 2^k, after which the 2^(k+1) ranks up
    /// to r are known to have entered. In a full mesh, line by line instead.
    abi::status meet_everybody()
    {
        if (meets_by_lines())
            return meet_by_lines();
        const std::uint32_t rank = context.table.rank;
        const std::uint32_t ranks = context.table.ranks;
        for (std::uint32_t k = 0; (ranks - 1) >> k != 0; ++k, ++step) {
            const std::uint32_t distance = 1u << k;
            ++context.expected[k_sem_barrier + k];
            peer = rank >= distance ? rank - distance : rank + ranks - distance;
            abi::status s =
                notify(rank + distance < ranks ? rank + distance : rank + distance - ranks, k_sem_barrier + k);
            if (s.ok())
                s = wait_expected(k_sem_barrier + k);
            if (!s.ok())
                return s;
        }
        return {};
    }

    /// Everything sent has left memory; the answer.
    void finish(collective_result& result, abi::status status)
    {
        hal.compute(costs::k_drain);
        if (status.ok())
            status = dma.drain(command.timeout_ns);
        result.status = status;
        result.messages = messages;
        result.steps = step;
        result.failed_step = status.ok() ? 0 : step;
        result.failed_peer = status.ok() ? context.table.ranks : peer;
    }
};

/// Sends ranges of elements in chunks.
struct sender {
    exchange& x;
    std::uint64_t element_bytes;
    std::uint64_t chunk_elements;
    std::uint32_t next_queue = 0;
    near_block near; ///< to these ranks messages keep to shortest paths

    explicit sender(exchange& e)
        : x(e), element_bytes(abi::element_bytes(e.command.type)),
          chunk_elements(e.command.chunk_bytes / element_bytes > 0 ? e.command.chunk_bytes / element_bytes : 1)
    {
    }

    std::uint32_t chunks(abi::element_range range) const
    {
        return static_cast<std::uint32_t>((range.count + chunk_elements - 1) / chunk_elements);
    }

    /// What a program sends to another one on its own machine: over the wire and back, into `room` bytes at `scratch`.
    abi::status send_to_itself(abi::element_range range, std::uint32_t semaphore, std::uint64_t scratch, std::uint64_t room)
    {
        x.peer = x.context.table.rank;
        const std::uint64_t bytes = range.count * element_bytes;
        for (std::uint64_t done = 0; done < bytes; done += room) {
            abi::dma_descriptor d;
            d.source_offset = x.command.buffer_offset + range.first * element_bytes + done;
            d.destination_offset = scratch;
            d.bytes = bytes - done < room ? bytes - done : room;
            d.destination_rank = x.peer;
            d.by_fabric = 1;
            d.remote_semaphore = bytes - done > room ? abi::k_no_semaphore : semaphore;
            d.tag = x.step;
            if (abi::status s = x.post(next_queue % x.dma.queues(), d); !s.ok())
                return s;
        }
        ++next_queue;
        return {};
    }

    /// Buffers are symmetric: the same elements lie at the same offset on every rank.
    abi::status send(abi::element_range range, std::uint32_t rank, std::uint32_t semaphore, bool adds)
    {
        x.peer = rank;
        for (std::uint64_t done = 0; done < range.count; done += chunk_elements) {
            const std::uint64_t left = range.count - done;
            abi::dma_descriptor d;
            d.source_offset = d.destination_offset = x.command.buffer_offset + (range.first + done) * element_bytes;
            d.bytes = (left < chunk_elements ? left : chunk_elements) * element_bytes;
            d.destination_rank = rank;
            d.remote_semaphore = semaphore;
            d.redop = adds ? x.command.redop : abi::reduce_op::none;
            d.shortest_paths = near.holds(rank) ? 1 : 0;
            d.type = x.command.type;
            d.tag = x.step;
            if (abi::status s = x.post(next_queue++ % x.dma.queues(), d); !s.ok())
                return s;
        }
        return {};
    }
};

} // namespace weft::firmware
