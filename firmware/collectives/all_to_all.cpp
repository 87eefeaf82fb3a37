// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// all_to_all, direct: every rank sends each other rank its block.
//
// A block may only be written when its receiver has entered the collective, so all meet first (exchange.h).
//
// In a full mesh one descriptor of each local port sends to all ranks, packet by packet in turn. So every rank sends to
// all others at the same rate all the time: links are loaded alike, and nothing depends on whether ranks keep step. The
// descriptors are made while the rank waits for the others. Else a rank serves all others one after the other, by rank.
#include "firmware/collectives/collectives.h"
#include "firmware/collectives/exchange.h"
#include "firmware/collectives/peer_order.h"

namespace weft::firmware {

namespace {

struct all_to_all {
    explicit all_to_all(exchange& e)
        : x(e), rank(e.context.table.rank), ranks(e.context.table.ranks), element(abi::element_bytes(e.command.type))
    {
        d.remote_semaphore = k_sem_all_to_all;
        d.type = e.command.type;
        d.shortest_paths = 1; // among all ranks of a machine links are loaded alike
    }

    /// Block sizes are a matter of the receiver, so a rank without elements receives nothing.
    void expect()
    {
        if (abi::shard_of(x.command.count, ranks, rank).count != 0)
            x.context.expected[k_sem_all_to_all] += ranks;
    }

    /// Blocks of `count` ranks from `first` on, `apart` numbers from each other, all equally long.
    abi::status enqueue(std::uint32_t queue, std::uint32_t first, std::uint32_t count, std::uint32_t apart)
    {
        const abi::element_range block = abi::shard_of(x.command.count, ranks, first);
        d.source_offset = x.command.buffer_offset + block.first * element;
        d.bytes = block.count * element;
        d.destination_offset = x.command.output_offset + rank * d.bytes;
        x.to_ranks(d, first, count, apart, apart * d.bytes);
        return d.bytes != 0 ? x.enqueue(queue, d) : abi::status{};
    }

    /// To every rank whose number is `port` modulo the number of local ports. The first ranks of all have one element
    /// more: a descriptor and a queue for themselves.
    abi::status enqueue_for(std::uint32_t port, std::uint32_t ports)
    {
        const auto longer = static_cast<std::uint32_t>(x.command.count % ranks);
        const std::uint32_t count = (ranks - port + ports - 1) / ports;
        const std::uint32_t long_ones = longer > port ? (longer - port + ports - 1) / ports : 0;
        x.hal.compute(costs::k_port_ranks);
        abi::status s = long_ones != 0 ? enqueue(port, port, long_ones, ports) : abi::status{};
        if (!s.ok() || long_ones == count)
            return s;
        const std::uint32_t own_queue = long_ones != 0 && 2 * ports < x.dma.queues() ? ports : 0;
        return enqueue(port + own_queue, port + long_ones * ports, count - long_ones, ports);
    }

    abi::status by_ports()
    {
        const abi::platform_table& t = x.context.table;
        const std::uint32_t ports = t.dma_ports < ranks ? t.dma_ports : ranks;
        bool enqueued = false;
        abi::status s;
        for (std::uint32_t dim = t.dim_count; dim-- > 0 && s.ok();) {
            if (t.dims[dim] == 1)
                continue;
            s = x.tell_line(dim);
            for (std::uint32_t port = 0; !enqueued && port < ports && s.ok(); ++port)
                s = enqueue_for(port, ports);
            enqueued = true;
            if (s.ok())
                s = x.wait_expected(k_sem_barrier + dim);
            ++x.step;
        }
        x.dma.doorbells();
        expect();
        return s;
    }

    abi::status by_rank()
    {
        abi::status status = x.meet_everybody();
        expect();
        std::uint32_t skipped = 0;
        const peer_order order(x.context.table);
        const near_block near(x.context.table);
        for (std::uint32_t k = 0; k < ranks && status.ok(); ++k) {
            const peer next = order.at(k); // itself first: a local copy
            if (abi::shard_of(x.command.count, ranks, next.rank).count == 0) {
                ++skipped;
                continue;
            }
            x.hal.compute(skipped * costs::k_rank_skip + order.cost() + costs::k_rank_block);
            skipped = 0;
            d.shortest_paths = near.holds(next.rank) ? 1 : 0;
            status = enqueue(next.queue, next.rank, 1, 1);
            x.dma.doorbells();
            x.step += k != 0 ? 1 : 0;
        }
        return status;
    }

    abi::status run()
    {
        // Members of a list may be anywhere, so each takes a descriptor. The last queue is for tell_line(). A ring
        // takes two descriptors before the ranks have met: with less, making the second one would tell the device of
        // the first.
        const abi::platform_table& t = x.context.table;
        const bool few_descriptors =
            x.meets_by_lines() && t.members == 0 && t.dma_ports < x.dma.queues() && x.dma.ring_entries() >= 2;
        abi::status s = few_descriptors ? by_ports() : by_rank();
        if (s.ok())
            s = x.dma.bus_status("DMA.TAIL");
        x.peer = s.ok() ? ranks : x.peer; // whoever is late is not known by one counter
        return s.ok() ? x.wait_expected(k_sem_all_to_all) : s;
    }

    exchange& x;
    abi::dma_descriptor d;
    std::uint32_t rank;
    std::uint32_t ranks;
    std::uint64_t element;
};

} // namespace

void run_all_to_all(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                    collective_result& result)
{
    exchange x{hal, dma, context, command};
    hal.compute(costs::k_command);
    const abi::status status = all_to_all(x).run();
    x.finish(result, status);
}

} // namespace weft::firmware
