// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What both halves of a NIC use: memory, registers, errors that stop queues, and their events.
#pragma once

#include "hw/abi/registers.h"
#include "hw/ethernet/frame_trace.h"
#include "hw/ethernet/nic_config.h"
#include "tlm/mem_socket.h"
#include "tlm/packet.h"
#include "tlm/reg_file.h"
#include "tlm/timeline.h"

#include <algorithm>
#include <cstdint>

namespace weft {

enum class nic_event_kind : std::uint8_t { arrival, slot, doorbell, fetched, written, measured, count_ };

// Bits of ERROR
inline constexpr std::uint32_t k_nic_error_entry = 1u << 0;
inline constexpr std::uint32_t k_nic_error_memory = 1u << 1;
inline constexpr std::uint32_t k_nic_error_doorbell = 1u << 2;

/// A frame must fit a receive entry behind its completion.
inline constexpr std::uint32_t k_max_frame_bytes = abi::k_nic_receive_entry_bytes - sizeof(abi::nic_completion);

class nic_shared {
public:
    nic_shared(timeline& time_line, packet_pool& packets, const nic_config& nic,
               sc_core::sc_port<memory_if>& memory_port, reg_file& registers, timeline_client& nic_itself, bool data)
        : time(time_line), pool(packets), config(nic), memory(memory_port), regs(registers), carry_data(data),
          client_(nic_itself), actor_base_(time_line.register_actors(k_kinds * abi::k_max_nic_queues))
    {
    }

    timeline& time;
    packet_pool& pool;
    const nic_config config;
    sc_core::sc_port<memory_if>& memory;
    reg_file& regs;
    const bool carry_data;
    bool enabled = false;
    frame_watch watch;

    std::uint64_t now_ps() const { return time.now_ps(); }
    bool in_memory(std::uint64_t offset, std::uint64_t bytes) const
    {
        return in_capacity(offset, bytes, memory->capacity_bytes());
    }

    bool stopped(std::uint32_t q) const { return (stopped_ >> q & 1) != 0; }
    std::uint64_t stopped() const { return stopped_; } ///< bit q: an error has stopped queue q
    void raise_error(std::uint32_t q, std::uint32_t bits)
    {
        if (regs.at(abi::nic::ERROR) == 0)
            regs.at(abi::nic::ERROR_QUEUE) = q;
        regs.at(abi::nic::ERROR) |= bits;
        if (q < config.queues)
            stopped_ |= std::uint64_t{1} << q;
    }

    void schedule(std::uint64_t at_ps, nic_event_kind kind, std::uint32_t q)
    {
        const event_class c = kind == nic_event_kind::written || kind == nic_event_kind::measured ? event_class::memory
                                                                                                  : event_class::device;
        time.schedule(at_ps, next_order(c, kind, q), client_, q | generation_ << k_queue_bits,
                      static_cast<std::uint8_t>(kind));
    }
    void schedule_arrival(std::uint64_t at_ps, std::uint32_t packet)
    {
        time.schedule(at_ps, next_order(event_class::arrival, nic_event_kind::arrival, 0), client_, packet,
                      static_cast<std::uint8_t>(nic_event_kind::arrival));
    }
    /// An event of before the NIC was disabled.
    bool is_void(std::uint32_t a) const { return a >> k_queue_bits != (generation_ & (~0u >> k_queue_bits)); }
    static std::uint32_t queue_of(std::uint32_t a) { return a & ((1u << k_queue_bits) - 1); }

    /// All that was under way is void, and no queue is stopped.
    void forget()
    {
        ++generation_;
        stopped_ = 0;
    }
    void reset()
    {
        for (auto& of_kind : sequence_)
            std::fill(std::begin(of_kind), std::end(of_kind), 0);
    }

private:
    static constexpr std::uint32_t k_kinds = static_cast<std::uint32_t>(nic_event_kind::count_);
    static constexpr std::uint32_t k_queue_bits = 8; ///< of an event's word, the rest is its generation

    std::uint64_t next_order(event_class c, nic_event_kind kind, std::uint32_t q)
    {
        const auto k = static_cast<std::uint32_t>(kind);
        return make_order(c, actor_base_ + k * abi::k_max_nic_queues + q, sequence_[k][q]++);
    }

    timeline_client& client_;
    std::uint32_t actor_base_;
    std::uint32_t sequence_[k_kinds][abi::k_max_nic_queues] = {};
    std::uint32_t generation_ = 0; ///< of the last enable: older events are void
    std::uint64_t stopped_ = 0;
};

} // namespace weft
