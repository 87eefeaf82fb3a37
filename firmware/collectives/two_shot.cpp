// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions by the direct algorithm, in two shots. First, every rank sends every other rank j its elements of shard j,
// which are added on arrival. Second, when all of its shard is in, it sends the sums to everybody. reduce_scatter is
// the first shot, all_gather the second. All links of a rank work at once, each with 1/n of the data in each shot.
//
// Additions may arrive as soon as all have entered: the barrier of all_to_all. The sums of shard j overwrite nothing
// that is still needed: they contain what this rank has sent of it.
#include "firmware/collectives/collectives.h"
#include "firmware/collectives/exchange.h"
#include "firmware/collectives/peer_order.h"

namespace weft::firmware {

namespace {

struct two_shot {
    explicit two_shot(exchange& e)
        : x(e), out(e), order(e.context.table), rank(e.context.table.rank), ranks(e.context.table.ranks), mine(shard(rank))
    {
        out.near = near_block(x.context.table);
    }

    abi::element_range shard(std::uint32_t of) const { return abi::shard_of(x.command.count, ranks, of); }

    /// The own shard to everybody, or everybody's to its owner: chunk by chunk, so that all links work from the
    /// beginning.
    abi::status shoot(std::uint32_t semaphore, bool adds)
    {
        const std::uint32_t rounds = out.chunks(shard(0)); // the first shard is the longest
        for (std::uint32_t round = 0; round < rounds; ++round)
            for (std::uint32_t k = 1; k < ranks; ++k) {
                const peer next = order.at(k);
                x.hal.compute(order.cost() + costs::k_shot_peer);
                const std::uint32_t to = next.rank;
                const abi::element_range range = adds ? shard(to) : mine;
                const std::uint64_t first = round * out.chunk_elements;
                if (first >= range.count) {
                    x.hal.compute(costs::k_direct_skip);
                    continue;
                }
                const std::uint64_t left = range.count - first;
                const std::uint64_t count = left < out.chunk_elements ? left : out.chunk_elements;
                out.next_queue = next.queue; // a rank keeps its queue
                x.hal.compute(costs::k_shot_message);
                if (abi::status s = out.send({range.first + first, count}, to, semaphore, adds); !s.ok())
                    return s;
                x.step += round == 0 ? 1 : 0;
            }
        return {};
    }

    /// shard_of() makes shards of at most two lengths.
    std::uint32_t chunks_of_others() const
    {
        const auto longer = static_cast<std::uint32_t>(x.command.count % ranks);
        const std::uint32_t all = longer * out.chunks(shard(0)) + (ranks - longer) * out.chunks(shard(ranks - 1));
        return all - out.chunks(mine);
    }

    abi::status run(bool reduces, bool gathers)
    {
        if (abi::status s = x.meet_everybody(); !s.ok())
            return s;
        if (reduces) {
            x.context.expected[k_sem_shot] += (ranks - 1) * out.chunks(mine);
            abi::status s = shoot(k_sem_shot, true);
            x.peer = ranks; // whoever is late is not known by one counter
            if (s.ok())
                s = x.wait_expected(k_sem_shot);
            if (!s.ok())
                return s;
        }
        if (!gathers)
            return {};
        x.context.expected[k_sem_all_to_all] += chunks_of_others();
        abi::status s = shoot(k_sem_all_to_all, false);
        x.peer = ranks;
        return s.ok() ? x.wait_expected(k_sem_all_to_all) : s;
    }

    exchange& x;
    sender out;
    peer_order order;
    std::uint32_t rank;
    std::uint32_t ranks;
    abi::element_range mine;
};

} // namespace

void run_two_shot(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                  collective_result& result)
{
    exchange x{hal, dma, context, command};
    hal.compute(costs::k_command);
    const abi::status status =
        two_shot(x).run(command.op != abi::collective_op::all_gather, command.op != abi::collective_op::reduce_scatter);
    x.finish(result, status);
}

} // namespace weft::firmware
