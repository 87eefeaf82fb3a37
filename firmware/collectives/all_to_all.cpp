// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// all_to_all, direct: every rank sends each other rank its block, in the order of peer_order.h.
//
// A block may only be written when its receiver has entered the collective. Asking every peer would need N messages and N
// semaphores; a dissemination barrier needs log2 N of each: in round k rank r tells r + 2^k and waits for r - 2^k, after
// which the 2^(k+1) ranks up to r are known to have entered.
#include "firmware/collectives/collectives.h"
#include "firmware/collectives/exchange.h"
#include "firmware/collectives/peer_order.h"

namespace weft::firmware {

void run_all_to_all(abi::hal& hal, dma_driver& dma, firmware_context& context, const abi::command& command,
                    collective_result& result)
{
    const std::uint32_t rank = context.table.rank;
    const std::uint32_t ranks = context.table.ranks;
    const std::uint64_t element = abi::element_bytes(command.type);
    exchange x{hal, dma, context, command};
    hal.compute(costs::k_command);
    abi::status status = x.meet_everybody();

    // Everyone is in; block sizes are a matter of the receiver, so a rank without elements receives nothing.
    const std::uint64_t mine = abi::shard_of(command.count, ranks, rank).count;
    context.expected[k_sem_all_to_all] += mine != 0 ? ranks : 0;
    std::uint32_t skipped = 0;
    const peer_order order(context.table);
    abi::dma_descriptor d;
    d.remote_semaphore = k_sem_all_to_all;
    d.type = command.type;
    d.shortest_paths = 1;
    for (std::uint32_t k = 0; k < ranks && status.ok(); ++k) {
        const peer next = order.at(k);
        const std::uint32_t to = next.rank;
        const abi::element_range block = abi::shard_of(command.count, ranks, to);
        if (block.count == 0) {
            ++skipped;
            continue;
        }
        d.source_offset = command.buffer_offset + block.first * element;
        d.destination_offset = command.output_offset + rank * block.count * element;
        d.bytes = block.count * element;
        d.destination_rank = to; // itself first: a local copy
        d.tag = k;
        x.peer = to;
        hal.compute(skipped * costs::k_direct_skip + order.cost());
        skipped = 0;
        status = x.post(next.queue % dma.queues(), d);
        x.step += k != 0 ? 1 : 0;
    }
    if (status.ok()) {
        x.peer = ranks; // whoever is late is not known by one counter
        status = x.wait_expected(k_sem_all_to_all);
    }
    x.finish(result, status);
}

} // namespace weft::firmware
