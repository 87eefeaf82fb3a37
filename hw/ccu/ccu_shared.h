// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What all parts of a CCU use: time and its events, packets, memory, registers, check bits, slices.
#pragma once

#include "hw/ccu/ccu_config.h"
#include "hw/ccu/ccu_packet.h"
#include "hw/ccu/ccu_slices.h"
#include "tlm/event_record.h"
#include "tlm/mem_socket.h"
#include "tlm/stats.h"
#include "tlm/timeline.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

/// Events of a unit. The number that comes with one is a context, a transfer, a packet or a mission.
enum class ccu_event : std::uint8_t { step, completed, send, receive, segment_done, bits, launch, time_out };

struct ccu_shared {
    ccu_shared(std::string unit_name, timeline& time_line, packet_pool& packets, timeline_client& unit, std::uint32_t own_rank, const ccu_config& c,
               const ccu_fabric_view& v)
        : time(time_line), pool(packets), client(unit), rank(own_rank), actor_base(time_line.register_actors(k_actors)), config(c), view(v),
          name(std::move(unit_name)), address_registers(c.address_registers, 0), general_registers(c.general_registers, 0), slices(c)
    {
    }

    // Actors: contexts, completions, the port both ways, answers, check bits, missions.
    enum actor : std::uint32_t { k_contexts, k_completions, k_sends, k_arrivals, k_answers, k_bits, k_missions, k_actors };

    timeline& time;
    packet_pool& pool;
    timeline_client& client;
    memory_if* memory = nullptr; ///< what the port of the unit is bound to, without its checks
    std::uint64_t memory_bytes = 0;
    std::uint32_t rank;
    std::uint32_t actor_base;
    const ccu_config config;
    const ccu_fabric_view view;
    const std::string name;
    std::uint32_t token = 0;
    std::vector<std::uint64_t> address_registers;
    std::vector<std::uint64_t> general_registers;
    ccu_slices slices;
    std::uint32_t sequences[k_actors] = {};

    counter memory_read;    ///< bytes of the own memory
    counter memory_written; ///< the same; a reduction in memory reads them as well

    void schedule(std::uint64_t at_ps, event_class c, actor who, ccu_event kind, std::uint32_t number)
    {
        time.schedule(at_ps, make_order(c, actor_base + who, sequences[who]++), client, number, static_cast<std::uint8_t>(kind));
    }
    std::uint64_t check_bit_ps() const { return cycles_to_ps(config.check_bit_cycles.value(), config.clock); }
    std::uint64_t read_memory(std::uint64_t at_ps, std::uint64_t address, std::uint64_t bytes)
    {
        memory_read.add(bytes);
        return memory->charge(at_ps, address, bytes, memory_if::access::read);
    }
    std::uint64_t write_memory(std::uint64_t at_ps, std::uint64_t address, std::uint64_t bytes, bool reduces)
    {
        memory_written.add(bytes);
        if (reduces)
            memory_read.add(bytes);
        return memory->charge(at_ps, address, bytes, reduces ? memory_if::access::read_modify_write : memory_if::access::write);
    }
    /// Bytes of the own memory, which lie in it.
    void copy_from_memory(std::uint64_t address, std::uint8_t* to, std::uint64_t bytes) const;
    void copy_to_memory(std::uint64_t address, const std::uint8_t* from, std::uint64_t bytes, std::uint8_t type, std::uint8_t redop);
};

} // namespace weft
