// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What all parts of a DMA engine use: time and its events, packets, memory, trace.
#pragma once

#include "hw/dma/dma_config.h"
#include "hw/dma/overlapping_time.h"
#include "tlm/cache_hints.h"
#include "tlm/event_record.h"
#include "tlm/mem_socket.h"
#include "tlm/timeline.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// Events of an engine. The number that comes with one is a queue, a port, a packet or a semaphore.
enum class dma_event : std::uint8_t { doorbell, fetched, send, receive, semaphore, start };

/// What packets touch comes first: two cache lines.
struct alignas(64) dma_shared {
    dma_shared(std::string engine_name, timeline& time_line, packet_pool& packets, timeline_client& engine,
               std::uint32_t own_rank, const dma_config& c, const dma_fabric_view& v)
        : time(time_line), pool(packets), client(engine), rank(own_rank),
          // Actors: one a port for arrivals and issues, one a queue for doorbells and fetches, one for semaphores.
          actor_base(time_line.register_actors(v.ports + c.queues + 1)), view(v), config(c), name(std::move(engine_name))
    {
    }

    timeline& time;
    packet_pool& pool;
    timeline_client& client;
    memory_if* memory = nullptr; ///< what the port of the engine is bound to, without its checks
    const use_hints* memory_hints = nullptr;
    std::uint64_t memory_bytes = 0; ///< its capacity
    event_sink* sink = nullptr;     ///< nullptr: no records
    std::uint32_t rank;
    std::uint32_t actor_base;
    const dma_fabric_view view;
    const dma_config config;
    const std::string name;
    overlapping_time starting; ///< some queue starts or wakes; empty where neither takes time
    /// Memories of other ranks that elements of descriptors read.
    struct neighbour {
        std::uint32_t rank;
        memory_if* memory;
    };
    std::vector<neighbour> neighbours;
    /// Of `rank`, which is the own one or that of a neighbour.
    memory_if& memory_of(std::uint32_t of_rank)
    {
        for (const neighbour& n : neighbours)
            if (n.rank == of_rank)
                return *n.memory;
        return *memory;
    }

    void schedule(std::uint64_t at_ps, std::uint64_t order, dma_event kind, std::uint32_t number)
    {
        time.schedule(at_ps, order, client, number, static_cast<std::uint8_t>(kind));
    }
    std::uint32_t port_actor(std::uint32_t port) const { return actor_base + port; }
    std::uint32_t queue_actor(std::uint32_t q) const { return actor_base + view.ports + q; }
    /// Of an event of queue `q`. It has one `fetched` and one `start` under way, and a doorbell for each tail.
    std::uint64_t queue_order(std::uint32_t q, dma_event kind, std::uint32_t tail = 0) const
    {
        const std::uint32_t sequence = kind == dma_event::fetched ? 0 : kind == dma_event::start ? 1 : 2 + (tail & 0x7fff'ffff);
        return make_order(event_class::device, queue_actor(q), sequence);
    }
    std::uint32_t semaphore_actor() const { return actor_base + view.ports + config.queues; }
    std::uint32_t port_of(std::uint32_t q) const { return q % view.ports; }
};

} // namespace weft
