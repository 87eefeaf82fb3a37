// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// ccu: the collective communication unit of one UB IO die (UB-Mesh, arXiv 2503.20377, section 7). It runs microcode
// (hw/abi/ccu.h) that moves data between memories and its own slices, here and at peers, reduces slices and signals by
// check bits, so that collectives cost no core. A guest of its chip.
//
// Models: instruction store, missions, loop engines, address and general registers, check-bit entries, slices in SRAM,
// channels with bounded queues and a bounded number of operations under way, reductions in SRAM and in memory, remote
// writes of registers and bits, status codes, timeouts. Does not model: work queues of the UB send side beyond their
// depth, ECC, address translation beyond one token a memory; instruction fetch beyond the issue rate.
//
// Parts: ccu_contexts (missions, loop engines) ─► ccu_execute ─► ccu_transfers ─► ccu_port ─► fabric ─► ccu_receiver
//
// Timing (docs/03_timing_model.md, section 14):
//   launch at t -> first instruction at t + register_latency + task_start; then one instruction a cycle, in order,
//     where its check bits are set and its channel has a place
//   local transfer: memory as DMA accesses, SRAM n / sram_rate, the later of both; inside the memory n / copy_rate as
//     well
//   reduction: reads all slices, writes one, n / reduce_rate in the reduce unit, the latest of these
//   remote: packets as of the DMA engine (max_payload), a request of no payload for reads, an acknowledgement for each
//     segment
//   done at t -> its bits are seen at t + check_bit_cycles
#pragma once

#include "hw/abi/registers.h"
#include "hw/ccu/ccu_check_bits.h"
#include "hw/ccu/ccu_contexts.h"
#include "hw/ccu/ccu_receiver.h"
#include "tlm/component.h"
#include "tlm/irq_if.h"
#include "tlm/link_socket.h"
#include "tlm/packet_trace.h"
#include "tlm/slots.h"
#include "tlm/trace_sink.h"

#include <deque>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

namespace weft {

class ccu final : public sc_core::sc_module, public component, private timeline_client, private link_fw_if, private link_bw_if, private ccu_receiver_if {
public:
    reg_file regs; // before the socket, which refers to it
    mmio_target_socket registers;
    sc_core::sc_port<memory_if> memory;
    link_initiator_socket to_fabric;
    link_target_socket from_fabric;

    /// `rank` of the machine; `irq_line` of `core` is driven while IRQ_PENDING is not zero.
    ccu(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, irq_if& core, std::uint32_t irq_line, std::uint32_t rank,
        const ccu_config& config, const ccu_fabric_view& view);
    ~ccu() override;

    /// No mission runs, nothing is under way.
    bool idle() const;

    std::string stat_prefix() const override { return "ccu"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }
    /// Microcode that is written counts, but no more of it before a task is launched than the store holds: firmware
    /// that writes for ever gets nowhere.
    std::uint64_t work() const override
    {
        return port_.bytes_sent.value() + receiver_.bytes_received.value() + instructions.value() + code_progress_;
    }
    std::uint64_t arrived_bytes() const override { return receiver_.bytes_received.value(); }
    std::string waits() const override;
    bool settled(std::uint64_t now_ps) override { return idle() && port_.settled(now_ps); }
    void reset(std::uint32_t draw) override;
    void record_into(trace_sink& trace) override;
    /// Sending, and summing slices.
    work_load spent_on(work_kind kind, std::uint64_t now_ps) const override;
    /// Reads and writes of the SRAM, the reduce unit, and transfers from memory to memory.
    std::uint32_t offload_units() const override { return k_offload_units; }
    std::uint64_t offloaded_ps(std::uint32_t unit, std::uint64_t now_ps) const override;

    stat_group stats;
    counter instructions;
    counter tasks;
    counter failed_tasks;
    counter reduced_bytes; ///< of results
    accumulated_time reduce_time; ///< the rest of what has begun included
    // The parts count.
    const counter& memory_read = shared_.memory_read;
    const counter& memory_written = shared_.memory_written;
    const counter& bytes_sent = port_.bytes_sent;
    const counter& bytes_received = receiver_.bytes_received;

private:
    static constexpr std::uint32_t k_none = 0xffff'ffff;
    static constexpr std::uint32_t k_offload_units = 4;

    // ccu.cpp
    void start_of_simulation() override;
    void set_up_registers();
    void set_up_capacities();
    void on_event(std::uint32_t number, std::uint8_t kind) override;
    void send(packet_ptr p, std::uint64_t delay_ps) override { receiver_.expect(std::move(p), delay_ps); }
    void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override { port_.credit(vl, cells, delay_ps); }
    void write_code(std::uint64_t word);
    void set_channel(std::uint64_t value);
    void clear_entries(std::uint64_t value);
    void launch();
    void refuse_write();
    void update_irq();
    std::uint64_t peek() const;

    // ccu_contexts.cpp
    bool is_mission(std::uint32_t context) const { return context < missions_.size(); }
    void begin_task(std::uint32_t mission);
    void plan_step(std::uint32_t context, std::uint64_t at_ps);
    void step(std::uint32_t context);
    bool bits_are_set(std::uint32_t context, const abi::ccu::instruction& i);
    void clear_waited(std::uint32_t context, const abi::ccu::instruction& i);
    void at_end(std::uint32_t context);
    bool start_group(std::uint32_t context, const abi::ccu::instruction& i);
    void engine_ended(std::uint32_t context);
    void ask_for_engines(std::uint32_t mission);
    void leave_queue_for_engines(std::uint32_t mission);
    void wake_first_in_queue();
    bool finds_place(std::uint32_t context, std::uint32_t channel);
    void leave_channel_queue(std::uint32_t context);
    void wake_first_of_channel(std::uint32_t channel);
    void end_if_done(std::uint32_t mission);
    void end(std::uint32_t mission, abi::ccu::status code, std::uint32_t where, std::uint32_t detail);
    void fail(std::uint32_t context, abi::ccu::status code, std::uint32_t detail);
    void stop_context(std::uint32_t context);
    void time_out(std::uint32_t mission);
    std::string describe(std::uint32_t context) const;
    std::uint32_t track_of(std::uint32_t context);

    // ccu_execute.cpp
    enum class outcome : std::uint8_t { next, jumped, blocked, failed };
    outcome execute(std::uint32_t context, const abi::ccu::instruction& i);
    outcome load(std::uint32_t context, const abi::ccu::instruction& i);
    ccu_transfer transfer_of(std::uint32_t context, const abi::ccu::instruction& i) const;
    outcome transfer(std::uint32_t context, const abi::ccu::instruction& i);
    outcome reduce(std::uint32_t context, const abi::ccu::instruction& i);
    bool length_of(std::uint32_t context, const abi::ccu::instruction& i, std::uint64_t& bytes);
    bool address_at(std::uint32_t context, std::uint32_t number, std::uint64_t& address);
    bool general_at(std::uint32_t context, std::uint32_t number, std::uint64_t& value);
    std::uint32_t task_of(std::uint32_t mission) const; ///< a number of its own for every launch
    bool use_slice(std::uint32_t context, std::uint32_t number, ccu_transfer& t, std::uint64_t& slice);
    bool in_memory(std::uint32_t context, std::uint64_t address, std::uint64_t bytes);
    void finish_local(const ccu_transfer& t, std::uint64_t done_ps);
    // ccu_receiver_if
    void set_bits_at(std::uint64_t at_ps, std::uint32_t entry, std::uint16_t mask) override;
    void transfer_done(std::uint32_t transfer, std::uint64_t at_ps) override;
    void transfer_failed(std::uint32_t transfer, abi::ccu::status why, std::uint32_t detail) override;
    void completed(std::uint32_t transfer);

    ccu_shared shared_;
    ccu_port port_;
    ccu_transfers transfers_;
    ccu_receiver receiver_;
    ccu_check_bits bits_;
    std::vector<abi::ccu::instruction> store_; ///< as far as it was written; what was not is no instruction
    std::vector<ccu_mission> missions_;
    std::vector<ccu_context> contexts_;
    std::uint32_t free_engines_;
    std::deque<std::uint32_t> engine_queue_; ///< missions that want more than are free, in the order of their groups
    irq_if& core_;
    std::uint32_t irq_line_;
    wire_rate copy_rate_, reduce_rate_;
    busy_time copies_, reductions_;
    std::uint64_t cycle_ps_;
    std::uint64_t code_progress_ = 0;     ///< instructions written, for work()
    std::uint32_t code_since_launch_ = 0; ///< those of them since the last launch
    std::uint32_t code_word_ = 0; ///< of the instruction at CODE_INDEX that CODE_DATA writes next
    struct due_bits {
        std::uint32_t entry;
        std::uint16_t mask;
    };
    slots<due_bits> due_bits_;
    trace_sink* trace_ = nullptr;
    std::vector<std::uint32_t> tracks_; ///< of contexts; k_none: nothing was recorded yet
    std::unique_ptr<packet_trace> packets_;
};

} // namespace weft
