// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// ethernet_nic: a network adapter with rings in HBM (hw/abi/nic.h), registers (hw/abi/nic_regs.def), frames, and RDMA
// writes over RoCE v2 unreliable connected.
//
// Models: send rings with prefetch and bounded read-ahead, served round robin a frame each; messages cut into packets,
// a PSN per queue pair; conversions on the way out and in; receive rings with flow steering; RDMA receive without a
// copy; interrupts by arming; errors that stop a queue. Does not model: address translation, checksum of UDP, ICRC,
// acknowledgements, pause, VLANs.
//
// Timing. M(n) is an access of n bytes to memory: queueing + n / rate + latency (memory_if::charge).
//   doorbell at t -> entries loaded at t + M(128 a piece, up to `prefetch`) -> payload read, M(payload), while a
//   read-ahead slot is free -> on the wire at max(read, wire idle), in the order of the reads; a slot is held from the
//   read until then TX_HEAD counts an entry when its last byte has left memory
//   frame received at its last byte -> M(16 + frame) (RDMA: M(payload), the last one 16 more) -> host_latency ->
//   RX_HEAD + 1 -> interrupt. host_latency delays what software sees, never the order, and takes no bandwidth
// So the zero-load time from doorbell to RX_HEAD of another NIC is, with fixed header h, payload p, wire rate R, memory
// rate B and latency L: register_latency + 3 L + (128 + p + 16 + h + p) / B + (h + p + 24) / R + host_latency + what
// lies between.
// Line rate needs read_ahead * (frame on the wire) >= L + (entry + payload) / B.
// A receive buffer holds what has arrived and not yet gone to memory (its queueing, not its latency); frames beyond are
// dropped. With `carry_data` false frames carry headers only; nothing else changes, times included. `measure` then
// gives exponent 0.
#pragma once

#include "hw/ethernet/nic_config.h"
#include "hw/ethernet/nic_receiver.h"
#include "hw/ethernet/nic_sender.h"

#include <memory>
#include <string>
#include <vector>

namespace weft {

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
    std::uint64_t work() const override { return sender_.entries_sent.value() + receiver_.frames_received.value(); }
    std::uint64_t arrived_bytes() const override { return receiver_.bytes_received.value(); }
    std::string waits() const override { return blocked_on(); }
    /// Frames from the read of their payload to their last byte on the wire, and from their arrival until they are in
    /// memory.
    void record_into(trace_sink& trace) override;

    const ethernet_transmitter& transmitter() const { return wire_; }
    ethernet_transmitter& transmitter() { return wire_; }
    const nic_sender& sender() const { return sender_; }
    const nic_receiver& receiver() const { return receiver_; }
    std::uint64_t interrupts() const { return interrupts_.raised.value(); }
    /// Backdoor of tests: the PSN of the next packet that a queue pair sends.
    void set_send_psn(std::uint32_t pair, std::uint32_t psn) { pairs_.at(pair).set_send_psn(psn); }

    stat_group stats;

private:
    void on_frame(std::uint32_t port, packet_ptr frame, std::uint64_t delay_ps) override;
    void on_event(std::uint32_t a, std::uint8_t kind) override;

    void set_up_registers();
    void set_constants();
    void control(bool enable);
    void list_stats();

    std::uint64_t own_mac_;
    reg_file regs_;
    ethernet_transmitter wire_;
    std::vector<nic_queue_pair> pairs_;
    nic_shared shared_;
    nic_interrupts interrupts_;
    std::uint32_t receiving_ = 0; ///< frames on the wire toward us
    nic_sender sender_;
    nic_receiver receiver_;
    std::unique_ptr<frame_trace> trace_;
};

} // namespace weft
