// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// fabric_engine: moves the packets of every fabric device of a partition, as one engine over contiguous state. Routers,
// switches and IO controllers are sc_module shells over their slice of it. What is wired to what is in fabric_layout.h,
// whose turn it is at an output in output_arbiter.h, when links fail or change in link_conditions.h.
//
// Models: input buffers per link and VL; routing policy (plain C++); virtual cut-through or store-and-forward; one read
// port per VL buffer, one transmission at a time per output; round robin over (input, VL), urgent VLs first; credits in
// cells per VL, exact in time; trains of packets (docs/adr/0003); a pipeline per router; routers on two dies;
// link-layer retry (link_layer.h); links that lose lanes, are down, go down at a given time, are declared dead, work
// again; fault hooks. Does not model: flit interleaving of packets on one wire, allocator pipelines (their delay is
// part of `pipeline`), adaptive routing.
//
// VOQ mode (fabric_config.voq): the buffer of a (link, VL) is one pool of cells with a FIFO per output, so that a
// packet waits for nothing but its own output, and reading is not limited: a crossbar with as much speed-up as it
// takes. A full pool still stops its link, whatever output filled it.
//
// Timing contract, all in docs/03_timing_model.md. A packet whose head reaches an output that is idle and has credit
// starts at once: start = max(head, tail - serialisation_out) (cut-through: it must not run dry), or tail
// (store-and-forward).
//   head at the next router = start + propagation + pipeline      tail = head + serialisation_out
//   output idle again = start + serialisation_out
//   buffer read port free = start + min(serialisation_in, serialisation_out)
//   credit usable at the upstream sender = start + serialisation_out + propagation
// `pipeline` is that of the router that is entered, over a link or by injection; leaving through an edge charges none.
// Where the output lies in another zone than the input, head and tail are at arbitration `zone_crossing` later, and
// where routing looked the output up in a table `table_lookup` later; a packet behind it in the same FIFO does not
// overtake it.
// Equal times: arrivals before arbitration, then by link number.
// A link that goes down at T starts nothing at or after T. What has left the sender whole by T arrives; what is being
// transmitted at T is cut and lost; of a train, the packets that have not left. With dead_link_detection it is declared
// down at T + detection, and at once when its retries are exhausted: from then on every head that waits for it, or
// comes to, is dropped, and its cells go back as soon as its tail is in the buffer. Without, heads wait until it is
// restored, or for ever.
#pragma once

#include "hw/fabric/fabric_layout.h"
#include "hw/fabric/link_conditions.h"
#include "hw/fabric/link_layer.h"
#include "hw/fabric/output_arbiter.h"
#include "hw/fabric/output_waits.h"
#include "hw/routing/routing_policy.h"
#include "tlm/packet_tap.h"
#include "tlm/packet_trace.h"
#include "tlm/timeline.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

class fabric_engine final : public fabric_layout,
                            public component,
                            public tapped_wires,
                            private event_hints,
                            private control_listener_if,
                            private timeline_client {
public:
    fabric_engine(timeline& time, packet_pool& pool, const routing_policy& policy, const fabric_config& config);

    // --- Build, before time zero: see fabric_layout, too -------------------------------------------------------------
    /// Retry on this link. Also for outputs at an edge.
    void set_link_layer(std::uint32_t link, const link_layer_params& params, link_error_script* script = nullptr);
    /// Lays out the state; nothing can be added afterwards.
    void finish_build();

    // --- Run ---------------------------------------------------------------------------------------------------------
    /// Returns the link that the packet will ask its router for.
    std::uint32_t inject(std::uint32_t link, packet_ptr p, std::uint64_t delay_ps);
    /// Port by which the router behind `link` would send `p` on.
    std::uint32_t output_port(std::uint32_t link, packet& p) const
    {
        const link_state& l = links_[link];
        return policy_.route(l.to_router, l.to_port, p).out_port;
    }
    void edge_credit(std::uint32_t link, std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps);
    void set_link_up(std::uint32_t link, bool up);
    /// The link goes down at `at_ps`; the earliest of several times counts, except after a restoration that is planned.
    /// Exact before time zero; during a run a transmission that has begun is no longer cut.
    void fail_link_at(std::uint32_t link, std::uint64_t at_ps);
    /// The link works again from `at_ps` on, with all its credits: ends the last failure that is planned to begin
    /// before.
    void restore_link_at(std::uint32_t link, std::uint64_t at_ps);
    /// Transmissions that begin at `at_ps` or later take this rate (fewer lanes, or all of them again).
    void degrade_link_at(std::uint32_t link, std::uint64_t at_ps, bandwidth rate);
    void set_link_listener(link_listener_if* listener) { listener_ = listener; }
    void set_fault_hook(std::uint32_t link, link_fault_if* hook);
    void set_event_sink(event_sink* sink); ///< nullptr: no records
    /// Credits are back, nothing is going to wake. Packets may stand before a link that is down: that is history.
    bool settled(std::uint64_t now_ps) override;
    /// Arbitration, sequences and bit errors begin anew. Failures and rates of links stay.
    void reset(std::uint32_t draw) override;

    // --- Look --------------------------------------------------------------------------------------------------------
    bool link_up(std::uint32_t link) const { return links_[link].up && time_.now_ps() < conditions_.down_at_ps(link); }
    /// Declared down, so that packets for it are dropped.
    bool link_dead(std::uint32_t link) const { return (links_[link].special & k_dead) != 0; }
    bandwidth link_rate(std::uint32_t link) const; ///< now
    /// What a packet that asked for this output now would wait: the rest of the transmission, and in VOQ mode all that
    /// waits in the router for the same output, else the heads that do.
    std::uint64_t backlog_ps(std::uint32_t link) const;
    /// Retry of the link; nullptr where it has none.
    const link_layer* layer(std::uint32_t link) const;
    std::uint64_t link_retries(std::uint32_t link) const { return layer(link) ? layer(link)->retries() : 0; }
    std::uint64_t link_reinits(std::uint32_t link) const { return layer(link) ? layer(link)->reinits() : 0; }
    std::uint64_t link_wasted_ps(std::uint32_t link) const { return layer(link) ? layer(link)->wasted_ps() : 0; }
    /// Links with a time to fail, in the order of fail_link_at().
    std::vector<link_failure> link_failures() const;
    std::uint64_t link_wire_bytes(std::uint32_t link) const { return links_[link].wire_bytes; }
    std::uint64_t link_packets(std::uint32_t link) const { return links_[link].packets; }
    /// Control blocks and requests for the traffic of the other direction; not in link_wire_bytes().
    std::uint64_t link_control_bytes(std::uint32_t link) const { return control_.on() ? control_.bytes(link) : 0; }
    /// Data and control.
    std::uint64_t link_busy_ps(std::uint32_t link) const
    {
        return links_[link].busy_sum_ps + (control_.on() ? links_[link].rate.time_ps(control_.bytes(link)) : 0);
    }

    std::uint64_t packet_hops() const override { return packet_hops_; } ///< packets over router-to-router links
    std::uint64_t transport_hops() const { return transport_hops_; } ///< the same, a train counting once
    /// Transactions that a router looked up in its tables, of routing that tells.
    std::uint64_t table_hops() const { return table_hops_; }
    std::uint64_t packets_inside() const { return inside_; }         ///< transactions injected and not yet delivered
    std::uint64_t dropped() const { return dropped_; }
    std::uint64_t state_bytes() const; ///< host memory of links, queues and routers

    /// Heads that wait now.
    std::vector<blocked_head> blocked() const;
    /// The wait-for picture in words: every blocked head, and the cycle if there is one. "" when nothing is blocked.
    std::string describe_blocked(std::size_t at_most = 16) const;
    /// Checks `credits + under way + buffered + in flight = depth` on every link and VL, at any time. "" when it holds.
    std::string audit() const override;

    std::string stat_prefix() const override { return "fabric"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats_}; }
    std::uint64_t work() const override { return packet_hops_; }
    std::string waits() const override { return describe_blocked(); }
    std::uint32_t wires() const override { return static_cast<std::uint32_t>(router_links_.size()); }
    wire_load load_of_wire(std::uint32_t wire) const override;
    std::string wire_name(std::uint32_t wire) const override { return link_name(link_of_wire(wire)); }
    wire_ends ends_of_wire(std::uint32_t wire) const override;
    bool wire_works(std::uint32_t wire) const override { return link_up(link_of_wire(wire)); }
    std::uint32_t local_wires() const override { return static_cast<std::uint32_t>(edge_links_.size()); }
    std::uint32_t lanes() const override { return vl_count(); }
    lane_load load_of_lane(std::uint32_t wire, std::uint32_t vl) const override;
    void record_into(trace_sink& trace) override;
    /// Packets when their last byte has left the sender, a train as one, links between routers only.
    void tap_wires(packet_tap& tap) override;

private:
    enum event_kind : std::uint8_t { k_arrival, k_wake, k_declare, k_restore };

    void on_event(std::uint32_t a, std::uint8_t kind) override;
    void announce(std::uint32_t a, std::uint8_t kind, int stage) const override;
    void arrival(packet& p);
    void arrival_voq(packet& p);
    void join_arbitration(const packet& p, std::uint32_t bit);
    void fly(packet& p, std::uint64_t head_ps);
    bool may_start(const link_state& out, const packet& p);
    void enter(std::uint32_t queue, packet& p);
    void arbitrate(std::uint32_t link);
    template <class MayGo> std::uint32_t choose_waiter(std::uint32_t link, MayGo&& may_go);
    void count_turn(std::uint32_t link, const packet& p);
    /// Number of a waiter's share of the output, for the arbiter.
    std::size_t share_of(const link_state& out, std::uint32_t bit) const
    {
        return voq_ ? voq_of(out, bit) : out.waiter_base * std::size_t{64} + bit;
    }
    void expect_next(std::uint32_t link);
    void transmit(std::uint32_t queue, packet& p);
    void wake(std::uint32_t link);
    void ensure_wake(std::uint32_t link, std::uint64_t at_ps);
    std::uint64_t first_free_ps(const packet& p, std::uint64_t serialisation_ps) const;
    void free_cells(const packet& p, std::uint64_t at_ps);
    void return_credit(std::uint32_t link, std::uint32_t vl, std::uint32_t cells, std::uint64_t at_ps);
    bool down(std::uint32_t link) { return (links_[link].special & k_fails) != 0 ? conditions_.blocks(link, now_ps_) : !links_[link].up; }
    /// `p` leaves its buffer for its output, which it takes `serialisation_ps` to cross.
    static void put_on_wire(packet& p, std::uint64_t serialisation_ps)
    {
        p.link = p.out_link;
        p.vl = p.out_vl;
        p.serialisation_ps = static_cast<std::uint32_t>(serialisation_ps);
    }
    bool cross_special(std::uint32_t link, packet& p, std::uint64_t serialisation_ps, std::uint64_t& head_ps);
    bool get_across(std::uint32_t link, packet& p, std::uint64_t& head_ps);
    void on_control(const sent_control& c) override;
    void record_crossing(std::uint32_t link, const packet& p, std::uint64_t serialisation_ps) const;
    void look_at_links();
    void record_loss(std::uint32_t link, const packet& p) const;
    void tell_tap(std::uint32_t link, const packet& p, std::uint64_t end_ps, bool lost) const;
    bool cut_short(std::uint32_t link, packet& p, std::uint64_t start_ps);
    void lose(std::uint32_t link, packet& p, std::uint64_t end_ps);
    void give_up(std::uint32_t link, packet& p, std::uint64_t at_ps);
    void announce(std::uint8_t kind, std::uint32_t failure, std::uint64_t at_ps);
    void declare(std::uint32_t failure);
    void restore(std::uint32_t failure);
    void discard(std::uint32_t queue, packet& p);
    void drop(packet& p);
    void take_new_rate(std::uint32_t link);
    /// Where waiter `bit` of an output stands, at the head.
    const vl_buffer& fifo_at(const link_state& out, std::uint32_t bit) const
    {
        return voq_ ? voqs_[voq_of(out, bit)] : buffers_[queue_of_bit(out.router, bit)].fifo;
    }
    std::uint32_t head_at(const link_state& out, std::uint32_t bit) const { return fifo_at(out, bit).front(); }
    bool others_wait(const link_state& out) const;
    bool apply_hook(std::uint32_t link, packet& p, std::uint64_t& head_ps);
    void list_stats();
    std::uint32_t link_of_wire(std::uint32_t wire) const
    {
        return wire < router_links_.size() ? router_links_[wire] : edge_links_.at(wire - router_links_.size());
    }

    timeline& time_;
    packet_pool& pool_;
    const routing_policy& policy_;
    std::uint32_t actor_base_ = 0;
    std::uint64_t now_ps_ = 0;

    output_arbiter arbiter_;
    std::uint64_t urgent_bits_ = 0; ///< of every word of a waiter mask: VLs that go first
    output_waits waits_;
    link_conditions conditions_{links_, cold_};
    std::vector<link_layer> layers_;
    link_control control_; ///< off: no wires
    link_listener_if* listener_ = nullptr;
    std::uint32_t announcements_ = 0;
    event_sink* sink_ = nullptr;
    packet_tap* tap_ = nullptr;
    std::vector<std::uint32_t> tapped_; ///< number of a link at the tap
    std::unique_ptr<packet_trace> trace_;
    stat_group stats_{"fabric"};

    std::uint64_t packet_hops_ = 0;
    std::uint64_t transport_hops_ = 0;
    std::uint64_t table_hops_ = 0;
    std::uint64_t inside_ = 0;
    std::uint64_t dropped_ = 0;
};

} // namespace weft
