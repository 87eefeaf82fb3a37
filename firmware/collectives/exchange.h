// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What collectives share that go step by step, without the event loop of the engine: send a message, wait for all that a
// semaphore has to count, meet everybody.
#pragma once

#include "firmware/collectives/engine.h"
#include "firmware/costs.h"

namespace weft::firmware {

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

    /// Dissemination barrier: in round k rank r tells r + 2^k and waits for r - 2^k, after which the 2^(k+1) ranks up to r are
    /// known to have entered.
    abi::status meet_everybody()
    {
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

} // namespace weft::firmware
