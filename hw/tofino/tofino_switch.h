// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A programmable switch of four pipes with the SwitchML program (Sapio et al., NSDI 2021; p4lang/p4app-switchML).
//
// Models: parser and deparser on the real bytes of UDP and RoCE v2 frames; aggregation in passes with the published
//   next-step tables and recirculation ports; multicast and unicast by the traffic manager; the drop simulator; static
//   forwarding of all other traffic; a control plane with several jobs, and trees of nodes in and across switches
//   (tofino_job.h). The registers and the arithmetic of a pipe are an aggregation_unit.
// Does not model: stages one by one, egress pipes (their time is in first_pass_latency), internal headers of
//   recirculated packets, the shared packet buffer (queues are per port), address learning, IP routing.
//
// Passes. 64 words: CONSUME0; when complete HARVEST7, over port 68. 256 words: CONSUME0 in pipe 0; CONSUME1..3 over
//   port 128 + 4 * worker and the same port of the next pipes; when complete HARVEST1..7 over ports 452 324 448 196
//   192 64 68. A job with home pipe h: every pipe and port h pipes further. The published table has port 128 + 4 *
//   worker; here worker stands for the place of the worker's port in its pipe, the same number where worker w is at
//   port w, so that jobs do not collide.
// Assumptions where nothing is published: port 448 is in pipe 3 while HARVEST3 must read pipe 2, whose first half is
//   due: a harvest pass is done in the pipe whose words are due and charged on the port of the table. Nodes of
//   different home pipes, and nodes above them in the same chip, have recirculation ports of their own; the way to a
//   node above is port 4 * node of those. The first exponent of a result is the slot's when the result leaves; the
//   program carries the one its first pass saw, which differs where packets of one slot overtake each other between
//   the pipes.
//
// Timing, of a frame whose last byte arrives at t; k counts its passes from 0:
//   pass k begins           t(0) = t; t(k+1) = s + pass_latency - ingress_latency, s = max(t(k) + ingress_latency,
//                           port free)
//   registers change        in the order in which passes begin; the decision is known ingress_latency later
//   recirculation port      free again at s + bytes on the wire of its present size * 8 / recirculation_rate; a
//                           consume pass has taken off 256 bytes, a harvest pass put on 128. Serialisation is a part
//                           of pass_latency, or the whole of it where it is longer
//   leaves for its port     t(last) + first_pass_latency; then ethernet_transmitter
//   Idle switch, n passes: first_pass_latency + (n - 1) * pass_latency from last byte in to first byte out, exactly.
//   256 words: 11 passes for the completing packet (5.2 us more than 1), 64 words: 2.
// Reordering. A copy of a packet that arrives after its sender's next packet to the slot is taken for a new one and
//   added twice: the protocol counts on networks that keep the order of a sender. tofino_config::stale_filter closes
//   this hole.
// Equal times: arrivals by front-panel port, then recirculated packets by port number, then decisions by pipe.
#pragma once

#include "hw/ethernet/ethernet_socket.h"
#include "hw/ethernet/ethernet_transmitter.h"
#include "hw/ethernet/frame_trace.h"
#include "hw/tofino/drop_counters.h"
#include "hw/tofino/drop_simulator.h"
#include "hw/tofino/mac_table.h"
#include "hw/tofino/recirculation_port.h"
#include "hw/tofino/tofino_config.h"
#include "hw/tofino/tofino_job_table.h"
#include "hw/tofino/tofino_observer.h"
#include "hw/tofino/tofino_packet.h"
#include "tlm/stats.h"
#include "tlm/timeline.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft {

/// Makes the registers of pipe 0 to 3; called in the constructor only.
using aggregation_factory = std::function<std::unique_ptr<aggregation_unit>(std::uint32_t pipe)>;

class tofino_switch final : public sc_core::sc_module,
                            public component,
                            private timeline_client,
                            private ethernet_device {
public:
    /// `verilog`: the units are or contain the RTL, which knows Algorithm 3 alone.
    tofino_switch(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const tofino_config& config,
                  const aggregation_factory& make_unit, bool verilog = false);
    ~tofino_switch() override;

    ethernet_receive_socket& from_network(std::uint32_t port) { return ports_.at(port)->in; }
    ethernet_transmit_socket& to_network(std::uint32_t port) { return ports_.at(port)->out; }
    ethernet_transmitter& transmitter(std::uint32_t port) { return ports_.at(port)->transmitter; }
    const stat_group& port_stats(std::uint32_t port) const { return ports_.at(port)->stats; }

    // Control plane
    // ----------------------------------------------------------------------------------------------------
    /// Frames to `mac`, foreign ones, leave by `port`.
    void add_mac(std::uint64_t mac, std::uint32_t port);
    /// Why the job cannot be admitted, as a sentence; "" when it can.
    std::string refusal(const tofino_job& job) const;
    /// Admits the job with clean registers and returns its id. Throws `user_error` with refusal().
    std::uint32_t add_job(const tofino_job& job);
    /// Packets of the job that are still in the switch are dropped (job_removed), its slots are free for others. Units
    /// that cannot clear a part of their registers keep them closed until the last job is gone. Nodes inside go before
    /// their parent.
    void remove_job(std::uint32_t id);
    std::uint32_t ports() const { return static_cast<std::uint32_t>(ports_.size()); }
    void set_observer(tofino_observer* observer) { observer_ = observer; }
    bool settled(std::uint64_t now_ps) override;
    /// All jobs begin anew, with clean registers and slots; the forwarding table stays.
    void reset(std::uint32_t draw) override;

    std::string stat_prefix() const override { return basename(); }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }
    std::string waits() const override;
    std::uint32_t offload_units() const override { return static_cast<std::uint32_t>(loops_.size()); }
    std::uint64_t offloaded_ps(std::uint32_t unit, std::uint64_t now_ps) const override { return loops_[unit].busy().up_to_ps(now_ps); }
    /// Frames of a job, by the port of their arrival, until they leave for the ports or end in a register; lost:
    /// neither.
    void record_into(trace_sink& trace) override;

    // State
    // ------------------------------------------------------------------------------------------------------------
    bool idle() const { return in_flight_now_ == 0 && forwarding_ == 0; } ///< no packet inside; slots may be incomplete
    /// Slots that wait for workers, and which: "" when there are none. For the picture of a run that hangs.
    std::string blocked_on(std::size_t at_most = 8) const;
    /// Whom slots wait for.
    std::vector<awaited_sender> awaited() const;
    /// RDMA: senders whose messages do not arrive whole and in order, a line each; "" for none.
    std::string broken_messages() const;
    /// The slot in the four pipes, as its units tell it. `slot` as in the packets of the job.
    std::string describe_slot(std::uint32_t id, std::uint32_t slot) const;
    /// Bytes sent over a recirculation port (number of the chip) for nodes of home pipe `plane`, or 4: nodes above
    /// others.
    std::uint64_t recirculated_bytes(std::uint32_t port, std::uint32_t plane = 0) const
    {
        return loops_.at(plane * k_chip_ports + port).sent_bytes();
    }
    aggregation_unit& unit(std::uint32_t pipe) { return *units_.at(pipe); }
    const aggregation_unit& unit(std::uint32_t pipe) const { return *units_.at(pipe); }
    std::uint64_t dropped(drop_reason reason) const { return drops_.of(reason); }
    std::uint64_t dropped() const { return drops_.all(); } ///< for all reasons

    counter frames_in;
    counter frames_out;
    counter forwarded;
    counter packets;
    counter passes;
    counter recirculations;
    counter completions;
    counter duplicates_ignored;
    counter broadcasts;
    counter retransmissions;
    counter sent_up;
    counter results_from_above;
    maximum most_in_flight;
    stat_group stats;

private:
    enum event_kind : std::uint8_t { k_arrive, k_pass_begins, k_pass_ends, k_leave, k_forward };

    struct front_port {
        front_port(tofino_switch& owner, std::uint32_t number);
        ethernet_receive_socket in;
        ethernet_transmit_socket out;
        ethernet_transmitter transmitter;
        stat_group stats;
    };
    static constexpr std::uint32_t k_none = 0xffff'ffff;
    static constexpr std::uint32_t k_planes = k_tofino_pipes + 1;
    static constexpr std::uint32_t k_loops = k_planes * k_chip_ports;

    // ethernet_device, timeline_client
    void on_frame(std::uint32_t port, packet_ptr frame, std::uint64_t delay_ps) override;
    void on_event(std::uint32_t a, std::uint8_t kind) override;

    // In the order of the hardware (tofino_switch.cpp)
    void arrive(packet_ptr frame);
    void forward_foreign(packet_ptr frame);
    void begin_pass(std::uint32_t index);
    void end_pass(std::uint32_t index);
    void end_algorithm1_pass(tofino_packet& p, aggregation_result& result);
    void first_pass_done(tofino_packet& p, const aggregation_result& result);
    void take_words(tofino_packet& p, const aggregation_result& result);
    void recirculate(std::uint32_t index, std::uint32_t port, std::uint32_t payload_bytes);
    void finish(std::uint32_t index, packet_fate end);
    void go_to_inside_parent(std::uint32_t index);
    std::uint64_t next_order(event_class c, std::uint32_t actor);

    // After the traffic manager (tofino_deparser.cpp)
    void leave(std::uint32_t index);
    void copy_to_all(tofino_packet& p, tofino_job_state& job, bool reuse);
    void copy_to_worker(tofino_packet& p, tofino_job_state& job, std::uint32_t worker, bool reuse);
    packet_ptr new_frame(tofino_packet& p, std::uint32_t header_bytes, bool reuse, bool rdma);
    void transmit(std::uint32_t port, packet_ptr frame);

    // Control (tofino_control.cpp)
    void list_stats();
    void clear_registers();

    void note_end(const tofino_packet& p, bool lost) const
    {
        if (watch_)
            watch_.record(*p.frame, p.arrived_ps, time_.now_ps(), p.ingress_port, lost);
    }
    void drop(drop_reason reason) { drops_.count(reason); }
    std::uint32_t allocate();
    void release(std::uint32_t index);
    void note(slot_event_kind kind, const tofino_packet& p, std::uint8_t worker) const;
    std::uint32_t pipe_of(const tofino_packet& p) const;

    timeline& time_;
    packet_pool& pool_;
    tofino_config config_;
    bool verilog_;
    std::vector<std::unique_ptr<front_port>> ports_;
    std::array<std::unique_ptr<aggregation_unit>, k_tofino_pipes> units_;
    std::vector<recirculation_port> loops_; ///< by plane and port number of the chip
    std::vector<tofino_packet> in_flight_;
    std::uint32_t free_ = k_none;
    std::uint32_t in_flight_now_ = 0;
    std::uint32_t forwarding_ = 0;
    tofino_job_table jobs_; ///< refers to config_
    mac_table mac_table_;
    aggregation_pass pass_; ///< scratch: its words are rewritten where they matter
    bool pass_holds_words_ = false;
    drop_simulator ingress_drops_;
    drop_simulator egress_drops_;
    std::uint32_t actor_base_;
    std::vector<std::uint32_t> sequences_; ///< by actor: ports, recirculation ports, pipes
    tofino_observer* observer_ = nullptr;
    frame_watch watch_;
    std::unique_ptr<frame_trace> trace_;
    maximum recirculation_wait_max_;
    wire_rate loop_rate_;
    std::uint64_t loop_room_ps_;
    drop_counters drops_;
};

} // namespace weft
