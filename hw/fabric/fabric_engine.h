// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// fabric_engine: the switching core of every fabric device of a partition, as one engine with contiguous state. Routers,
// switches and IO controllers are sc_module shells over their slice of it (hw/ici, later hw/ub ...).
//
// Models: input buffers per link and VL; routing policy (plain C++); virtual cut-through or store-and-forward; one read port per
// VL buffer, one transmission at a time per output; round-robin arbitration over (input, VL); credits in cells per VL, exact in
// time; trains of packets (docs/adr/0003); a pipeline per router; routers on two dies; link-layer retry (link_layer.h); links that lose lanes, are down, go down
// at a given time, are declared dead, work again; fault hooks. Does not model: flit interleaving of packets on one wire, allocator
// pipelines (their delay is part of `pipeline`), adaptive routing.
//
// VOQ mode (fabric_config.voq): the buffer of a (link, VL) is one pool of cells with a FIFO per output, so that a packet waits for
// nothing but its own output, and reading is not limited: a crossbar with as much speed-up as it takes. A full pool still stops its
// link, whatever output filled it. Round robin is over (input, VL) as before, one waiting head each. Where some inputs are entries
// (set_entry_port), there are two such rounds, of relays and of entries: relays first, unless the entry is older by a bound.
//
// Timing contract, all in docs/03_timing_model.md. A packet whose head reaches an output that is idle and has credit starts at
// once: start = max(head, tail - serialisation_out) (cut-through: it must not run dry), or tail (store-and-forward).
//   head at the next router = start + propagation + pipeline      tail = head + serialisation_out
//   output idle again = start + serialisation_out;  buffer read port free = start + min(serialisation_in, serialisation_out)
//   credit usable at the upstream sender = start + serialisation_out + propagation
// `pipeline` is that of the router that is entered, over a link or by injection; leaving through an edge charges none. Where the
// output lies in another zone than the input, head and tail are at arbitration `zone_crossing` later; a packet behind it in the same FIFO
// does not overtake it.
// Equal times: arrivals before arbitration, then by link number.
// A link that goes down at T starts nothing at or after T. What has left the sender whole by T arrives; what is being
// transmitted at T is cut and lost; of a train, the packets that have not left. With dead_link_detection it is declared down at T + detection, and at once when
// its retries are exhausted: from then on every head that waits for it, or comes to, is dropped, and its cells go back as soon as its
// tail is in the buffer. Without, heads wait until it is restored, or for ever.
#pragma once

#include "hw/fabric/fabric_types.h"
#include "hw/fabric/link_layer.h"
#include "hw/routing/routing_policy.h"
#include "tlm/arbiter.h"
#include "tlm/credit.h"
#include "tlm/link.h"
#include "tlm/packet_trace.h"
#include "tlm/timeline.h"
#include "tlm/units.h"
#include "tlm/vl_buffer.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

class fabric_engine final : public component, private event_hints, private timeline_client {
public:
    static constexpr std::uint32_t k_none = 0xffff'ffff;

    fabric_engine(timeline& time, packet_pool& pool, const routing_policy& policy, const fabric_config& config);

    // --- Build, before time zero -------------------------------------------------------------------------------------
    /// `pipeline`: where it is not that of the config.
    std::uint32_t add_router(std::uint32_t ports, std::string name, std::optional<duration> pipeline = std::nullopt);
    /// Ports first..last of the router, in both directions, lie on its second die; all others on the first. May be called for
    /// several ranges of a router.
    void set_second_zone(std::uint32_t router, std::uint32_t first_port, std::uint32_t last_port);
    /// What comes in through the port enters the fabric there: it goes when nothing that is already on its way can, or when it is older
    /// than that by 512 transmissions. With one round robin over all inputs, a router's own traffic takes more than its share, until what
    /// is to be relayed fills the buffers and stops the links; with relays first for ever, it may never go. (By age: Abts and Weisser,
    /// "Age-based packet arbitration in large-radix k-ary n-cubes", SC 2007.)
    void set_entry_port(std::uint32_t router, std::uint32_t port);
    /// A directed link between two routers of this engine; returns its number.
    std::uint32_t add_link(std::uint32_t from_router, std::uint32_t from_port, std::uint32_t to_router,
                           std::uint32_t to_port, const fabric_link_params& params);
    /// The fabric ends here: packets for `port` leave through `edge`. Credits arrive by edge_credit().
    std::uint32_t add_edge_output(std::uint32_t router, std::uint32_t port, const fabric_link_params& params,
                                  fabric_edge_if& edge);
    /// Packets enter here by inject(); credits leave through `edge`. `depth_cells` of params is the buffer.
    std::uint32_t add_edge_input(std::uint32_t router, std::uint32_t port, const fabric_link_params& params,
                                 fabric_edge_if& edge);
    /// Retry on this link. Also for outputs at an edge.
    void set_link_layer(std::uint32_t link, const link_layer_params& params, link_error_script* script = nullptr);
    /// Lays out the arbitration state; nothing can be added afterwards.
    void finish_build();
    void set_port_names(std::vector<std::string> names) { port_names_ = std::move(names); }
    /// Where ports of routers differ in name; "" for a port that has none. Must outlive the engine.
    void set_port_namer(const port_namer_if* namer) { port_namer_ = namer; }

    // --- Run ---------------------------------------------------------------------------------------------------------
    /// Returns the link that the packet will ask its router for.
    std::uint32_t inject(std::uint32_t link, packet_ptr p, std::uint64_t delay_ps);
    void edge_credit(std::uint32_t link, std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps);
    void set_link_up(std::uint32_t link, bool up);
    /// The link goes down at `at_ps`; the earliest of several times counts, except after a restoration that is planned. Exact before time
    /// zero; during a run a transmission that has begun is no longer cut.
    void fail_link_at(std::uint32_t link, std::uint64_t at_ps);
    /// The link works again from `at_ps` on, with all its credits: ends the last failure that is planned to begin before.
    void restore_link_at(std::uint32_t link, std::uint64_t at_ps);
    /// Transmissions that begin at `at_ps` or later take this rate (fewer lanes, or all of them again).
    void degrade_link_at(std::uint32_t link, std::uint64_t at_ps, bandwidth rate);
    void set_link_listener(link_listener_if* listener) { listener_ = listener; }
    void set_fault_hook(std::uint32_t link, link_fault_if* hook);
    void set_event_sink(event_sink* sink) { sink_ = sink; } ///< nullptr: no records
    /// Credits are back, nothing is going to wake. Packets may stand before a link that is down: that is history.
    bool settled(std::uint64_t now_ps) override;
    /// Arbitration, sequences and bit errors begin anew. Failures and rates of links stay.
    void reset(std::uint32_t draw) override;

    // --- Look --------------------------------------------------------------------------------------------------------
    std::uint32_t vl_count() const { return config_.vl_count; }
    std::uint32_t router_count() const { return static_cast<std::uint32_t>(routers_.size()); }
    std::uint32_t link_count() const { return static_cast<std::uint32_t>(links_.size()); }
    std::uint32_t out_link(std::uint32_t router, std::uint32_t port) const;
    std::uint32_t depth_cells(std::uint32_t link) const { return cold_[link].depth_cells; }
    std::uint32_t sending_port(std::uint32_t link) const { return cold_[link].from_port; } ///< of its sender
    bool is_router_link(std::uint32_t link) const { return !links_[link].to_edge && !links_[link].from_edge; }
    bool link_up(std::uint32_t link) const { return links_[link].up && time_.now_ps() < down_at_ps(link); }
    /// Declared down, so that packets for it are dropped.
    bool link_dead(std::uint32_t link) const { return (links_[link].special & k_dead) != 0; }
    bandwidth link_rate(std::uint32_t link) const; ///< now
    /// What a packet that asked for this output now would wait: the rest of the transmission, and in VOQ mode all that waits in
    /// the router for the same output, else the heads that do.
    std::uint64_t backlog_ps(std::uint32_t link) const;
    /// Retry of the link; nullptr where it has none.
    const link_layer* layer(std::uint32_t link) const;
    std::uint64_t link_retries(std::uint32_t link) const { return layer(link) ? layer(link)->retries() : 0; }
    std::uint64_t link_reinits(std::uint32_t link) const { return layer(link) ? layer(link)->reinits() : 0; }
    std::uint64_t link_wasted_ps(std::uint32_t link) const { return layer(link) ? layer(link)->wasted_ps() : 0; }
    /// Links with a time to fail, in the order of fail_link_at().
    std::vector<link_failure> link_failures() const;
    std::string far_end_name(std::uint32_t link) const; ///< "router(0,2)"; "" where the fabric ends
    /// Routers at both ends; k_none where the fabric ends.
    std::pair<std::uint32_t, std::uint32_t> link_ends(std::uint32_t link) const
    {
        return {links_.at(link).router, links_.at(link).to_router};
    }
    std::uint64_t link_wire_bytes(std::uint32_t link) const { return links_[link].wire_bytes; }
    std::uint64_t link_packets(std::uint32_t link) const { return links_[link].packets; }
    std::uint64_t link_busy_ps(std::uint32_t link) const { return links_[link].busy_sum_ps; }
    std::string link_name(std::uint32_t link) const; ///< "router(0,1).+X"
    const std::string& router_name(std::uint32_t router) const { return routers_[router].name; }
    std::string port_name(std::uint32_t router, std::uint32_t port) const;

    std::uint64_t packet_hops() const override { return packet_hops_; } ///< packets over router-to-router links
    std::uint64_t transport_hops() const { return transport_hops_; } ///< the same, a train counting once
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
    std::string wire_name(std::uint32_t wire) const override { return link_name(router_links_.at(wire)); }
    void record_into(trace_sink& trace) override;

private:
    // Marks beside the link number of an out_port.
    static constexpr std::uint32_t k_slow_start = 1u << 31;  ///< the output may run dry: wait until the tail is near
    static constexpr std::uint32_t k_second_zone = 1u << 30; ///< it lies on the second die
    static constexpr std::uint32_t k_link_bits = k_second_zone - 1;
    enum event_kind : std::uint8_t { k_arrival, k_wake, k_declare, k_restore };
    /// What is not usual about a link; 0 on the hot path.
    enum special_bits : std::uint8_t {
        k_fails = 1, ///< it has an entry in failures_ that is not over
        k_hook = 2,
        k_layer = 4,    ///< it has an entry in layers_
        k_new_rate = 8, ///< its rate is going to change
        k_dead = 16,    ///< declared down
        k_retry_buffer = 32
    };

    /// Two cache lines: what the sender needs to start, and what flight and receiver need.
    struct alignas(64) link_state {
        std::uint64_t busy_until_ps = 0;
        std::uint64_t wake_at_ps = k_never_ps; ///< earliest wake scheduled
        wire_rate rate;
        std::uint64_t busy_sum_ps = 0;
        std::uint64_t wire_bytes = 0;
        std::uint64_t packets = 0;
        std::uint32_t waiter_base = 0; ///< first word of the waiter mask
        std::uint32_t voq_base = 0;    ///< VOQ mode: first FIFO of this output, one per (VL, input port) of its router
        std::uint16_t waiter_words = 0;
        std::uint16_t waiters = 0;
        std::uint16_t round_robin = 0;
        std::uint16_t entry_round_robin = 0;

        std::uint32_t latency_ps = 0; ///< head: start of transmission to arbitration at the next router
        std::uint32_t sequence = 0;
        std::uint32_t feeding = k_none; ///< queue whose packet was last sent
        std::uint32_t router = k_none;  ///< sending router
        std::uint32_t to_router = k_none;
        std::uint32_t to_first_port = 0; ///< of to_router, into out_ports_
        std::uint32_t waiting_bytes = 0; ///< VOQ mode: in the FIFOs of this output
        std::uint16_t to_port = 0;
        bool has_entries = false; ///< some inputs of its router are entries
        bool up = true;
        std::uint8_t special = 0; ///< special_bits
        std::uint8_t zone = 0;    ///< of its input port: 0: the router has one zone, else 1 or 2
        bool to_edge = false;
        bool from_edge = false;
        std::uint16_t expected_bit = 0;  ///< of the waiter below
        std::uint32_t expected = k_none; ///< packet that may well be the next one to start, for hints: a guess
        std::uint32_t to_first_voq = 0;  ///< VOQ mode: first FIFO of to_router
        std::uint16_t ports = 0;         ///< of the sending router
        std::uint16_t to_ports = 0;      ///< of to_router
        fabric_edge_if* edge = nullptr;
    };
    static_assert(sizeof(link_state) == 128);
    /// One VL of a link, in a cache line: what its sender counts, and what the router behind it needs to send on from it. The
    /// latter is the same for all VLs of a link; it stands here so that sending on need not touch the link behind.
    struct alignas(64) queue_state {
        credit_counter credits;
        std::uint32_t return_ps = 0;  ///< credit: from the receiver back to the sender
        std::uint16_t waiter_bit = 0; ///< in the waiter masks of the router behind
        bool awaited = false;         ///< the sender waits for credits that are not yet under way
        bool from_edge = false;
    };
    static_assert(sizeof(queue_state) == 64);
    /// The receiver's buffer of one VL of a link, read by one port. Not in VOQ mode.
    struct buffer_state {
        std::uint64_t read_free_ps = 0; ///< the read port is streaming a packet until then
        vl_buffer fifo;
        std::uint32_t out_link = k_none; ///< where the read port streams to
        bool asked = false;              ///< the head has asked for its output
    };
    struct out_port {
        wire_rate rate;
        std::uint32_t link = k_none; ///< with k_slow_start and k_second_zone
    };
    struct link_cold {
        link_fault_if* hook = nullptr;
        std::uint32_t depth_cells = 0;
        std::uint16_t from_port = 0;
        std::uint64_t last_tail_ps = 0; ///< of the last packet that a fault hook let through
        std::uint32_t failure = k_none; ///< into failures_
        std::uint32_t layer = k_none;   ///< into layers_
        std::uint64_t next_rate_ps = k_never_ps;
        bandwidth rate;
    };
    struct router_state {
        std::uint32_t first_port = 0; ///< into in_links_/out_links_
        std::uint32_t ports = 0;
        std::uint32_t first_voq = 0; ///< into voqs_
        std::string name;
        std::uint64_t pipeline_ps = 0;
        bool zoned = false;
    };
    struct rate_change {
        std::uint32_t link;
        std::uint64_t at_ps;
        bandwidth rate;
    };

    void on_event(std::uint32_t a, std::uint8_t kind) override;
    void announce(std::uint32_t a, std::uint8_t kind, int stage) const override;
    void arrival(packet& p);
    void arrival_voq(packet& p);
    void join_arbitration(const packet& p, std::uint32_t bit);
    void fly(packet& p, std::uint64_t head_ps);
    bool may_start(const link_state& out, const packet& p);
    void enter(std::uint32_t queue, packet& p);
    void arbitrate(std::uint32_t link);
    template <class Pick> std::uint32_t choose_waiter(const link_state& l, Pick&& pick) const;
    void count_turn(std::uint32_t link, const packet& p);
    std::size_t share_of(const link_state& out, std::uint32_t bit) const
    {
        return voq_ ? voq_of(out, bit) : out.waiter_base * std::size_t{64} + bit;
    }
    bool is_entry(const link_state& out, std::uint32_t bit) const
    {
        return out.has_entries && (entries_[out.waiter_base + (bit >> 6)] >> (bit & 63) & 1) != 0;
    }
    void expect_next(link_state& l) const;
    void transmit(std::uint32_t queue, packet& p);
    void wake(std::uint32_t link);
    void ensure_wake(std::uint32_t link, std::uint64_t at_ps);
    std::uint64_t first_free_ps(const packet& p, std::uint64_t serialisation_ps) const;
    void free_cells(const packet& p, std::uint64_t at_ps);
    void return_credit(std::uint32_t link, std::uint32_t vl, std::uint32_t cells, std::uint64_t at_ps);
    bool down(std::uint32_t link)
    {
        return (links_[link].special & k_fails) != 0 ? may_be_down(link) : !links_[link].up;
    }
    bool may_be_down(std::uint32_t link);
    std::uint64_t down_at_ps(std::uint32_t link) const;
    bool cross_special(std::uint32_t link, packet& p, std::uint64_t& head_ps);
    bool cut_short(std::uint32_t link, packet& p, std::uint64_t start_ps);
    void lose(std::uint32_t link, packet& p, std::uint64_t end_ps);
    void give_up(std::uint32_t link, packet& p, std::uint64_t at_ps);
    std::uint32_t plan_failure(std::uint32_t link, std::uint64_t at_ps);
    void announce(std::uint8_t kind, std::uint32_t failure, std::uint64_t at_ps);
    void declare(std::uint32_t failure);
    void restore(std::uint32_t failure);
    void discard(std::uint32_t queue, packet& p);
    void drop(packet& p);
    void take_new_rate(std::uint32_t link);
    bandwidth rate_at(std::uint32_t link, std::uint64_t at_ps) const;
    std::uint32_t head_at(const link_state& out, std::uint32_t bit) const;
    bool apply_hook(std::uint32_t link, packet& p, std::uint64_t& head_ps);
    std::uint32_t new_link(std::uint32_t port, const fabric_link_params& params);
    std::uint32_t queue_of(std::uint32_t link, std::uint32_t vl) const { return link * config_.vl_count + vl; }
    // Waiters of an output, and entries of its masks, are numbered by input port, then VL.
    std::uint32_t port_of_bit(std::uint32_t bit) const { return bit >> vl_shift_; }
    std::uint32_t vl_of_bit(std::uint32_t bit) const { return bit & ((1u << vl_shift_) - 1); }
    std::uint32_t queue_of_bit(std::uint32_t router, std::uint32_t bit) const;
    /// Its FIFO. By VL, then input port: many fabrics use few VLs most of the time, and then few cache lines.
    std::uint32_t voq_of(const link_state& out, std::uint32_t bit) const
    {
        return out.voq_base + vl_of_bit(bit) * out.ports + port_of_bit(bit);
    }
    std::string describe(const blocked_head& b) const;
    void list_stats();

    timeline& time_;
    packet_pool& pool_;
    const routing_policy& policy_;
    fabric_config config_;
    bool voq_;
    std::uint32_t vl_shift_ = 0; ///< 2^vl_shift_ >= vl_count
    std::uint32_t actor_base_ = 0;
    std::uint64_t now_ps_ = 0;

    std::vector<link_state> links_;
    std::vector<queue_state> queues_;     ///< link * vl_count + vl
    std::vector<buffer_state> buffers_;   ///< likewise; empty in VOQ mode
    std::vector<std::uint64_t> waiters_;  ///< per output: one bit per (input port, VL) of its router
    std::vector<std::uint64_t> shares_;   ///< packets had, as in fair_turn: per FIFO of voqs_, else per bit of waiters_; empty until there is a train
    std::vector<fair_turn> turns_;        ///< per output: of relays, of entries; likewise
    std::vector<std::uint64_t> entries_;  ///< as waiters_: the bits of entry ports; empty when there are none
    std::vector<std::uint32_t> in_links_; ///< per router and port
    std::vector<std::uint32_t> out_links_;
    std::vector<out_port> out_ports_; ///< as out_links_: asked for a hop before the link's state is near
    std::vector<router_state> routers_;
    std::vector<link_cold> cold_;
    std::vector<link_failure> failures_;
    std::vector<rate_change> rate_changes_;
    std::vector<link_layer> layers_;
    std::vector<std::uint8_t> second_zone_; ///< per router and port
    std::vector<std::uint8_t> entry_ports_; ///< per router and port; empty when there are none
    std::vector<std::uint64_t>
        last_head_ps_; ///< per queue, of the last head on its way into it; only for zones without VOQ
    std::vector<vl_buffer> voqs_;
    std::vector<std::string> port_names_;
    const port_namer_if* port_namer_ = nullptr;
    link_listener_if* listener_ = nullptr;
    std::uint32_t announcements_ = 0;
    credit_pool credits_under_way_;
    event_sink* sink_ = nullptr;
    std::unique_ptr<packet_trace> trace_;
    std::vector<std::uint32_t> router_links_; ///< links between routers
    stat_group stats_{"fabric"};

    std::uint64_t packet_hops_ = 0;
    std::uint64_t transport_hops_ = 0;
    std::uint64_t inside_ = 0;
    std::uint64_t dropped_ = 0;
};

} // namespace weft
