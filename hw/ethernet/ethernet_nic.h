// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// ethernet_nic: a network adapter with rings in HBM (hw/abi/nic.h), registers (hw/abi/nic_regs.def), frames, and RDMA writes
// over RoCE v2 unreliable connected.
//
// Models: send rings with prefetch and bounded read-ahead, served round robin a frame each; messages cut into packets, a PSN per
// queue pair; conversions on the way out and in; receive rings with flow steering; RDMA receive without a copy; interrupts by
// arming; errors that stop a queue. Does not model: address translation, checksum of UDP, ICRC, acknowledgements, pause, VLANs.
//
// Timing. M(n) is an access of n bytes to memory: queueing + n / rate + latency (memory_if::charge).
//   doorbell at t -> entries loaded at t + M(128 a piece, up to `prefetch`) -> payload read, M(payload), while a read-ahead slot
//   is free -> on the wire at max(read, wire idle), in the order of the reads; a slot is held from the read until then
//   TX_HEAD counts an entry when its last byte has left memory
//   frame received at its last byte -> M(16 + frame) (RDMA: M(payload), the last one 16 more) -> host_latency -> RX_HEAD + 1 ->
//   interrupt. host_latency delays what software sees, never the order, and takes no bandwidth
// So the zero-load time from doorbell to RX_HEAD of another NIC is, with fixed header h, payload p, wire rate R, memory rate B and
// latency L: register_latency + 3 L + (128 + p + 16 + h + p) / B + (h + p + 24) / R + host_latency + what lies between.
// Line rate needs read_ahead * (frame on the wire) >= L + (entry + payload) / B.
// A receive buffer holds what has arrived and not yet gone to memory (its queueing, not its latency); frames beyond are dropped.
// With `carry_data` false frames carry headers only; nothing else changes, times included. `measure` then gives exponent 0.
#pragma once

#include "hw/abi/nic.h"
#include "hw/abi/registers.h"
#include "hw/ethernet/ethernet_transmitter.h"
#include "hw/ethernet/frame_trace.h"
#include "hw/ethernet/nic_convert.h"
#include "hw/ethernet/ring_fifo.h"
#include "tlm/config_fields.h"
#include "tlm/irq_if.h"
#include "tlm/mem_socket.h"
#include "tlm/reg_file.h"
#include "tlm/stats.h"
#include "tlm/timeline.h"

#include <string>
#include <vector>

namespace weft {

struct nic_config {
    std::uint32_t queues = 4;
    std::uint32_t queue_pairs = 512;
    bandwidth rate{100'000'000'000};
    std::uint32_t prefetch = 8;
    std::uint32_t read_ahead = 16;
    data_size receive_buffer{256 << 10};
    duration register_latency{20'000};
    duration host_latency{0};

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("queues", self.queues, "Queues, each a send ring and a receive ring", "assumed: one a core",
              between(1, abi::k_max_nic_queues));
        visit("queue_pairs", self.queue_pairs, "RDMA queue pairs", "assumed: one for every message under way",
              between(1, 65'536));
        visit("rate", self.rate, "Line rate, both directions", "Sapio et al., NSDI 2021, section 6 (quoted)",
              between(bandwidth(1'000'000), bandwidth(10'000'000'000'000)));
        visit("prefetch", self.prefetch, "Send entries of one queue held on chip", "assumed",
              between(1, 64).because(" entries"));
        visit("read_ahead", self.read_ahead, "Frames between memory and wire",
              "assumed: covers memory latency at line rate",
              between(2, 65'536).because(" frames: one is read while another is on the wire"));
        visit("receive_buffer", self.receive_buffer, "Bytes that may wait for memory", "assumed",
              between(data_size(4096), data_size(1 << 30)).because(": it has to hold a frame"));
        visit("register_latency", self.register_latency, "One register access inside the NIC", "assumed",
              at_most(duration(1'000'000'000)));
        visit("host_latency", self.host_latency,
              "What has been received waits so long in memory before software can see it: driver, batches of packets, "
              "queues of the host",
              "calibrated in configs/switchml: Sapio et al. imply a delay by the size of the pool, appendix C",
              at_most(duration(10'000'000'000)));
    }
    std::vector<config_problem> validate() const;
};

class ethernet_nic final : public sc_core::sc_module,
                           public component,
                           private timeline_client,
                           private ethernet_device {
public:
    mmio_target_socket registers;
    sc_core::sc_port<memory_if> memory;
    ethernet_transmit_socket to_network;
    ethernet_receive_socket from_network;

    /// `cores`: whom queue q interrupts, at q modulo their number; at least one.
    ethernet_nic(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const nic_config& config,
                 std::uint64_t own_mac, std::vector<irq_if*> cores, bool carry_data);

    /// No entry posted and not sent, nothing being received. A queue that an error stopped counts as idle.
    bool idle() const;
    /// For the stall report: queues that have work and what each waits for; "" when there is nothing to say.
    std::string blocked_on() const;

    bool settled(std::uint64_t now_ps) override;
    void reset(std::uint32_t draw) override;

    std::string stat_prefix() const override { return "nic"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }
    std::uint64_t work() const override { return entries_sent.value() + frames_received.value(); }
    std::uint64_t arrived_bytes() const override { return bytes_received.value(); }
    std::string waits() const override { return blocked_on(); }
    /// Frames from the read of their payload to their last byte on the wire, and from their arrival until they are in memory.
    void record_into(trace_sink& trace) override;

    const ethernet_transmitter& transmitter() const { return wire_; }
    ethernet_transmitter& transmitter() { return wire_; }
    /// Backdoor of tests: the PSN of the next packet that a queue pair sends.
    void set_send_psn(std::uint32_t pair, std::uint32_t psn) { pairs_.at(pair).send_psn = psn; }

    counter frames_received; ///< all that arrived, dropped ones included
    counter bytes_received;
    counter entries_sent;
    counter messages_received; ///< RDMA, whole
    counter broken_messages;   ///< RDMA, given up because a packet was missing or wrong
    counter dropped_packets;   ///< RDMA packets without the packet before them
    counter stale_messages;    ///< RDMA, for an address whose scale is forgotten
    counter bad_entries;
    counter bad_frames;       ///< RX_BAD
    counter no_room;          ///< RX_NO_ROOM
    counter dropped_disabled; ///< received while disabled or for a stopped queue
    counter interrupts;
    stat_group stats;

private:
    enum event_kind : std::uint8_t { k_arrival, k_slot, k_doorbell, k_fetched, k_written, k_measured, k_event_kinds };

    /// The entry being sent and how far it is.
    struct send_job {
        abi::nic_send_entry e;
        std::uint32_t sent_bytes = 0;
    };
    struct measured_block {
        std::int8_t exponent;
        std::uint32_t queue_pair;
    };
    struct queue {
        // Registers of this queue, in the register file.
        std::uint64_t *tx_base, *tx_entries, *tx_tail, *rx_base, *rx_entries, *rx_tail;
        std::uint32_t posted = 0;   ///< last value of the doorbell
        std::uint32_t tail = 0;     ///< the same, once it has crossed the bus
        std::uint32_t fetched = 0;  ///< entries loaded
        std::uint32_t fetching = 0; ///< entries under way from memory
        std::uint32_t finished = 0; ///< entries all of whose frames have been read, though perhaps not yet left memory
        std::uint32_t head = 0;     ///< as TX_HEAD shows
        bool stopped = false;
        ring_fifo<std::uint32_t> doorbells;
        ring_fifo<send_job> ready;
        ring_fifo<std::uint64_t> completes_at_ps; ///< of finished entries that TX_HEAD does not yet show
        ring_fifo<measured_block> measuring;
        // Receiving
        std::uint32_t rx_given = 0; ///< receive entries given to frames
        std::uint32_t rx_head = 0;  ///< filled
        std::uint32_t rx_arm = 0;
        bool armed = false;
    };
    /// What a write expects of its answer.
    struct expected_answer {
        std::uint64_t address = 0;
        nic_conversion conversion;
        bool set = false;
    };
    struct queue_pair {
        std::uint32_t send_psn = 0;
        std::uint32_t next_psn = 0;
        std::uint32_t queue = 0;
        bool receiving = false;
        std::uint32_t broken = 0;  ///< messages given up since the last whole one
        std::uint64_t address = 0; ///< where the next byte goes
        std::uint64_t left_bytes = 0;
        nic_conversion conversion; ///< of the message being received
        expected_answer latest;
        expected_answer before;
    };
    struct buffered {
        std::uint64_t until_ps;
        std::uint32_t bytes;
    };

    void on_frame(std::uint32_t port, packet_ptr frame, std::uint64_t delay_ps) override;
    void on_event(std::uint32_t a, std::uint8_t kind) override;
    void schedule(std::uint64_t at_ps, event_kind kind, std::uint32_t q);

    // Registers (ethernet_nic.cpp)
    void set_up_registers();
    void set_constants();
    void control(bool enable);
    void doorbell(std::uint32_t q, std::uint32_t tail);
    std::uint32_t tx_head_at(queue& q, std::uint64_t at_ps);
    void raise_error(std::uint32_t q, std::uint32_t bits);
    void check_arm(std::uint32_t q);
    void update_lines();
    void update_line(std::size_t core);
    bool in_memory(std::uint64_t offset, std::uint64_t bytes) const
    {
        return in_capacity(offset, bytes, memory->capacity_bytes());
    }

    // Sending (nic_send.cpp)
    void start_fetch(std::uint32_t q);
    void fetched(std::uint32_t q);
    bool accept(std::uint32_t q, const abi::nic_send_entry& e);
    void read_ahead();
    bool slot_free();
    void send_next(std::uint32_t q);
    std::uint64_t measure(std::uint32_t q, const abi::nic_send_entry& e);
    std::uint64_t send_frame(const abi::nic_send_entry& e);
    std::uint64_t send_packet(std::uint32_t q, send_job& job);
    std::uint64_t transmit(packet_ptr frame, std::uint32_t header_bytes, const abi::nic_send_entry& e,
                           std::uint64_t offset, std::uint32_t bytes);

    // Receiving (nic_receive.cpp)
    void arrived(packet_ptr frame);
    void receive_frame(std::uint32_t q, const packet& frame);
    void receive_write(const packet& frame);
    bool begin_message(queue_pair& pair, const std::uint8_t* reth);
    void give_up(queue_pair& pair);
    bool fits_buffer(std::uint32_t bytes);
    bool has_room(const queue& q) const;
    static std::uint64_t next_receive_entry(const queue& q); ///< in memory
    std::uint64_t charge_write(std::uint64_t offset, std::uint32_t bytes);
    void write_memory(std::uint64_t offset, const void* from, std::uint64_t bytes);
    void note_received(const packet& frame, std::uint64_t done_ps) const
    {
        if (watch_)
            watch_.record(frame, time_.now_ps(), done_ps, 1);
    }
    /// Put a completion into the next receive entry, filled at `done_ps`.
    bool complete(std::uint32_t q, const abi::nic_completion& c, const packet* frame, std::uint64_t done_ps);

    timeline& time_;
    packet_pool& pool_;
    nic_config config_;
    std::uint64_t own_mac_;
    std::vector<irq_if*> cores_;
    std::vector<bool> lines_; ///< of the cores
    bool carry_data_;
    reg_file regs_;
    std::uint64_t* pending_; ///< IRQ_PENDING
    ethernet_transmitter wire_;
    std::vector<queue> queues_;
    std::vector<queue_pair> pairs_;
    ring_fifo<std::uint64_t> slots_; ///< read-ahead: when the frames start on the wire
    ring_fifo<buffered> buffer_;     ///< received bytes on their way to memory
    std::uint64_t buffered_bytes_ = 0;
    std::uint64_t ready_queues_ = 0; ///< bit q: queue q has an entry loaded
    std::uint32_t round_robin_ = 0;
    std::uint32_t active_queues_ = 1;
    std::uint32_t actor_base_;
    std::uint32_t sequence_[k_event_kinds][abi::k_max_nic_queues] = {};
    std::uint32_t generation_ = 0; ///< of the last enable: older events are void
    std::uint32_t receiving_ = 0;  ///< frames on the wire toward us
    std::uint32_t writing_ = 0;    ///< completions under way to memory
    bool slot_event_ = false;
    bool enabled_ = false;
    frame_watch watch_;
    std::unique_ptr<frame_trace> trace_;
};

} // namespace weft
