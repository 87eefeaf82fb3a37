// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// DMA engine of a chip: descriptor queues in HBM, doorbells, memory reads turned into packets, remote writes with
// accumulate-on-write, semaphores, interrupts.
//
// Models: register file (hw/abi/dma_regs.def); one ring per queue, fetched with a bounded prefetch; queues of one local
// port served round robin, a packet (or train) each; a bounded number of packets read ahead per port; credits toward
// the fabric; receive buffers that free as memory takes the data; write and accumulate; semaphores that count whole
// messages; errors that stop the queue; fabrics that let packets and messages overtake each other (order at the target:
// message_order.h); elements of descriptors: one read and several writes, reduction of several sources on the way out.
// Does not model: address translation, reads by the fabric.
//
// Parts, in the order of a packet's way (docs/adr/0019-dma-by-role.md):
//
//   doorbell ─► rings ─► (descriptor_check) ─► transfers ─► reader ─► port ─► sender ─► fabric ─► receiver ─►
//   semaphores ─► interrupt
//
// Timing, all in docs/03_timing_model.md:
//   doorbell at t -> descriptor loaded at t + HBM access of 64 B -> its first packet is read from HBM
//   packets are read in turn while a read-ahead slot is free; a slot is held from the read until the packet starts on
//   the wire a queue whose message the fabric has no room for (link_fw_if::has_room) is passed over until credits come
//   packet on the wire = max(data read, wire idle, credits there), in the order of the reads
//   packet received at its last byte -> HBM access (accumulate: read + write) -> with the last packet: semaphore + 1;
//   where packets overtake each other: with the last one to arrive, and not before the messages sent to that semaphore
//   before it receive credit returns when the HBM has taken the data: its queueing, not its latency
#pragma once

#include "hw/dma/descriptor_check.h"
#include "hw/dma/dma_config.h"
#include "hw/dma/dma_interrupt.h"
#include "hw/dma/dma_reader.h"
#include "hw/dma/dma_receiver.h"
#include "hw/dma/dma_rings.h"
#include "hw/dma/dma_semaphores.h"
#include "hw/dma/dma_sender.h"
#include "hw/dma/dma_shared.h"
#include "hw/dma/dma_transfers.h"
#include "tlm/link_socket.h"
#include "tlm/mem_socket.h"
#include "tlm/packet_trace.h"
#include "tlm/reg_file.h"
#include "tlm/stats.h"
#include "tlm/timeline.h"

#include <memory>
#include <string>
#include <vector>

namespace weft {

class dma final : public sc_core::sc_module, public component, private event_hints, private timeline_client {
public:
    mmio_target_socket registers;
    sc_core::sc_port<memory_if> memory;

    dma(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, irq_if& core, std::uint32_t rank,
        std::uint32_t ranks, const dma_config& config, const dma_fabric_view& view);
    ~dma() override;

    link_initiator_socket& to_fabric(std::uint32_t port);
    link_target_socket& from_fabric(std::uint32_t port);

    /// Elements of descriptors may read `memory`, which is that of `rank`, on the same chip. Before the simulation
    /// starts.
    void read_memory_of(std::uint32_t rank, memory_if& of_rank);

    bool idle() const; ///< no descriptor loaded or waiting, nothing being received
    void set_event_sink(event_sink* sink) { shared_.sink = sink; } ///< nullptr: no records
    /// Packets of a train, of messages that are loaded from now on; at most those that the buffers were checked for.
    void set_train(std::uint32_t packets) { reader_.set_train(packets); }
    bool settled(std::uint64_t now_ps) override { return sender_.settled(now_ps); }
    /// Registers, rings, semaphores and turns; credits and numbers of messages, which only a trace sees, stay.
    void reset(std::uint32_t draw) override;
    /// For the stall report: queues that have work and what each waits for; "" when idle.
    std::string blocked_on() const;

    std::string stat_prefix() const override { return "dma"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }
    std::uint64_t work() const override { return bytes_sent.value() + bytes_received.value(); }
    std::uint64_t arrived_bytes() const override { return bytes_received.value(); }
    std::string waits() const override { return blocked_on(); }
    /// Why an error stopped queue `q`, as a clause; "" for a queue that runs. The number of queues stands for writes
    /// of others.
    std::string stop_reason(std::uint64_t q) const;
    std::uint32_t queues() const { return shared_.config.queues; }
    void record_into(trace_sink& trace) override;
    /// Sending: each port by itself. Starting: all queues as one, where it takes time.
    work_load spent_on(work_kind kind, std::uint64_t now_ps) const override;
    /// Engines of each queue, and all together where they have a bound.
    std::uint32_t movers() const override;
    std::uint64_t moved_ps(std::uint32_t mover, std::uint64_t now_ps) const override;

    stat_group stats;
    counter bad_descriptors;
    // The parts count.
    const counter& descriptors = rings_.descriptors;
    const counter& messages_received = receiver_.messages_received;
    const counter& bytes_sent = sender_.bytes_sent;
    const counter& bytes_received = receiver_.bytes_received;

private:
    /// One local port: its sockets.
    struct local_port;

    void start_of_simulation() override;
    void on_event(std::uint32_t number, std::uint8_t kind) override;
    void announce(std::uint32_t number, std::uint8_t kind, int stage) const override;
    void set_up_registers();
    void fetched(std::uint32_t q);
    void refuse(std::uint32_t q, const dma_fault& fault);
    void stop(std::uint32_t q, const dma_fault& fault);

    reg_file regs_;
    std::vector<dma_port> ports_;
    // What packets touch; each begins a cache line.
    dma_shared shared_;
    dma_transfers transfers_;
    dma_receiver receiver_;
    dma_sender sender_;
    dma_reader reader_;
    // What descriptors, messages and registers touch.
    dma_rings rings_;
    dma_interrupt interrupt_;
    dma_semaphores semaphores_;
    descriptor_limits limits_;
    std::vector<std::unique_ptr<local_port>> sockets_;
    std::unique_ptr<packet_trace> trace_;
};

} // namespace weft
