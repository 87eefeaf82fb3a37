// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// fabric_engine: the switching core of every fabric device of a partition, as one engine with contiguous state. Routers,
// switches and IO controllers are sc_module shells over their slice of it (hw/ici, later hw/ub ...).
//
// Models: input buffers per link and VL; routing policy (plain C++); virtual cut-through or store-and-forward; one read port per
// VL buffer, one transmission at a time per output; round-robin arbitration over (input, VL); credits in cells per VL, exact in
// time; bursts; links that are down, or go down at a given time; fault hooks. Does not model: flit interleaving of packets on one wire, allocator pipelines
// (their delay is part of `pipeline`), adaptive routing.
//
// Timing contract, all in docs/03_timing_model.md. A packet whose head reaches an output that is idle and has credit starts at
// once: start = max(head, tail - serialisation_out) (cut-through: it must not run dry), or tail (store-and-forward).
//   head at the next router = start + propagation + pipeline      tail = head + serialisation_out
//   output idle again = start + serialisation_out;  buffer read port free = start + min(serialisation_in, serialisation_out)
//   credit usable at the upstream sender = start + serialisation_out + propagation
// Equal times: arrivals before arbitration, then by link number.
// A link that goes down at T starts nothing at or after T. What has left the sender whole by T arrives; what is being
// transmitted at T is cut and lost, a burst as a whole.
#pragma once

#include "hw/fabric/routing_policy.h"
#include "tlm/arbiter.h"
#include "tlm/credit.h"
#include "tlm/event_record.h"
#include "tlm/link.h"
#include "tlm/timeline.h"
#include "tlm/units.h"
#include "tlm/vl_buffer.h"

#include <functional>
#include <string>
#include <vector>

namespace weft {

/// Where a fabric meets the outside: the shell that owns the sockets.
class fabric_edge_if {
public:
    virtual void deliver(packet_ptr p, std::uint64_t delay_ps) = 0;
    virtual void return_credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) = 0;

protected:
    ~fabric_edge_if() = default;
};

/// One direction of a link.
struct fabric_link_params {
    bandwidth rate;
    duration propagation;
    std::uint32_t depth_cells = 0; ///< buffer per VL at the receiving end
};

struct fabric_config {
    std::uint32_t vl_count = 1;
    duration pipeline;       ///< head of a packet: from the input pins of a router to its arbitration
    bool cut_through = true; ///< false: store-and-forward
};

/// A link that was told to go down, and what has come of it.
struct link_failure {
    std::uint32_t link = 0;
    std::uint64_t at_ps = 0;
    std::uint64_t lost_packets = 0; ///< cut while they were transmitted
    std::uint32_t waiting = 0;      ///< heads that wait for the link, while it is down
    bool hindered = false;          ///< something was cut, or wanted to start and could not
};

/// A head packet that cannot go on, for the wait-for picture.
struct blocked_head {
    std::uint32_t router;
    std::uint32_t in_port, in_vl;
    std::uint32_t out_port, out_vl;
    std::uint32_t out_link;
    std::uint32_t packet; ///< pool index
    std::uint32_t credits_needed, credits_available;
    bool link_down;
    std::uint64_t waiting_since_ps; ///< when its tail was in the buffer
};

class fabric_engine final : private timeline_client {
public:
    static constexpr std::uint32_t k_none = 0xffff'ffff;

    fabric_engine(timeline& time, packet_pool& pool, const routing_policy& policy, const fabric_config& config);

    // --- Build, before time zero -------------------------------------------------------------------------------------
    std::uint32_t add_router(std::uint32_t ports, std::string name);
    /// A directed link between two routers of this engine; returns its number.
    std::uint32_t add_link(std::uint32_t from_router, std::uint32_t from_port, std::uint32_t to_router,
                           std::uint32_t to_port, const fabric_link_params& params);
    /// The fabric ends here: packets for `port` leave through `edge`. Credits arrive by edge_credit().
    std::uint32_t add_edge_output(std::uint32_t router, std::uint32_t port, const fabric_link_params& params,
                                  fabric_edge_if& edge);
    /// Packets enter here by inject(); credits leave through `edge`. `depth_cells` of params is the buffer.
    std::uint32_t add_edge_input(std::uint32_t router, std::uint32_t port, const fabric_link_params& params,
                                 fabric_edge_if& edge);
    /// Lays out the arbitration state; nothing can be added afterwards.
    void finish_build();
    void set_port_names(std::vector<std::string> names) { port_names_ = std::move(names); }

    // --- Run ---------------------------------------------------------------------------------------------------------
    void inject(std::uint32_t link, packet_ptr p, std::uint64_t delay_ps);
    void edge_credit(std::uint32_t link, std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps);
    void set_link_up(std::uint32_t link, bool up);
    /// The link goes down at `at_ps` and stays down; the earliest of several times counts. Before time zero.
    void fail_link_at(std::uint32_t link, std::uint64_t at_ps);
    void set_fault_hook(std::uint32_t link, link_fault_if* hook);
    void set_event_sink(event_sink* sink) { sink_ = sink; } ///< nullptr: no records

    // --- Look --------------------------------------------------------------------------------------------------------
    std::uint32_t vl_count() const { return config_.vl_count; }
    std::uint32_t router_count() const { return static_cast<std::uint32_t>(routers_.size()); }
    std::uint32_t link_count() const { return static_cast<std::uint32_t>(links_.size()); }
    std::uint32_t out_link(std::uint32_t router, std::uint32_t port) const;
    std::uint32_t depth_cells(std::uint32_t link) const { return cold_[link].depth_cells; }
    bool is_router_link(std::uint32_t link) const { return !links_[link].to_edge && !links_[link].from_edge; }
    bool link_up(std::uint32_t link) const { return links_[link].up && time_.now_ps() < down_at_ps(link); }
    /// Links with a time to fail, in the order of fail_link_at().
    std::vector<link_failure> link_failures() const;
    std::string far_end_name(std::uint32_t link) const; ///< "router(0,2)"; "" where the fabric ends
    std::uint64_t link_wire_bytes(std::uint32_t link) const { return links_[link].wire_bytes; }
    std::uint64_t link_packets(std::uint32_t link) const { return links_[link].packets; }
    std::uint64_t link_busy_ps(std::uint32_t link) const { return links_[link].busy_sum_ps; }
    std::string link_name(std::uint32_t link) const; ///< "router(0,1).+X"
    const std::string& router_name(std::uint32_t router) const { return routers_[router].name; }
    std::string port_name(std::uint32_t port) const;

    std::uint64_t packet_hops() const { return packet_hops_; }       ///< packets over router-to-router links
    std::uint64_t transport_hops() const { return transport_hops_; } ///< the same, a burst counting once
    std::uint64_t packets_inside() const { return inside_; }         ///< transactions injected and not yet delivered
    std::uint64_t dropped() const { return dropped_; }
    std::uint64_t state_bytes() const; ///< host memory of links, queues and routers

    /// Heads that wait now.
    std::vector<blocked_head> blocked() const;
    /// The wait-for picture in words: every blocked head, and the cycle if there is one. "" when nothing is blocked.
    std::string describe_blocked(std::size_t at_most = 16) const;
    /// Checks `credits + under way + buffered + in flight = depth` on every link and VL, at any time. "" when it holds.
    std::string audit() const;

private:
    static constexpr std::uint32_t k_slow_start = 1u << 31; ///< the output may run dry: wait until the tail is near
    enum event_kind : std::uint16_t { k_arrival, k_wake };

    struct alignas(64) link_state {
        std::uint64_t busy_until_ps = 0;
        std::uint64_t wake_at_ps = k_never_ps; ///< earliest wake scheduled
        wire_rate rate;
        std::uint64_t busy_sum_ps = 0;
        std::uint64_t wire_bytes = 0;
        std::uint64_t packets = 0;
        std::uint32_t latency_ps = 0; ///< head: start of transmission to arbitration at the next router
        std::uint32_t return_ps = 0;  ///< credit: from the receiver back to the sender
        std::uint32_t sequence = 0;
        std::uint32_t feeding = k_none; ///< queue whose packet was last sent
        std::uint32_t waiter_base = 0;  ///< first word of the waiter mask
        std::uint32_t router = k_none;  ///< sending router
        std::uint32_t to_router = k_none;
        std::uint32_t to_first_port = 0; ///< of to_router, into out_ports_
        std::uint16_t to_port = 0;
        std::uint16_t waiter_words = 0;
        std::uint16_t waiters = 0;
        std::uint16_t round_robin = 0;
        bool up = true;
        bool fails = false; ///< it has an entry in failures_
        bool to_edge = false;
        bool from_edge = false;
        link_fault_if* hook = nullptr;
        fabric_edge_if* edge = nullptr;
    };
    /// Receiver's buffer of one VL of a link, and the sender's credits for it.
    struct queue_state {
        credit_counter credits;
        std::uint64_t read_free_ps = 0; ///< the read port is streaming a packet until then
        vl_buffer buffer;
        std::uint32_t out_link = k_none; ///< where the read port streams to
        bool awaited = false;            ///< the sender waits for credits that are not yet under way
        bool asked = false;              ///< the head has asked for its output
    };
    struct link_cold {
        std::uint32_t depth_cells = 0;
        std::uint16_t from_port = 0;
        std::uint64_t last_tail_ps = 0; ///< of the last packet that a fault hook let through
        std::uint32_t failure = k_none; ///< into failures_
        bandwidth rate;
    };
    struct router_state {
        std::uint32_t first_port = 0; ///< into in_links_/out_links_
        std::uint32_t ports = 0;
        std::string name;
    };

    void on_event(std::uint32_t a, std::uint16_t kind) override;
    void prefetch(std::uint32_t a, std::uint16_t kind, int stage) const override;
    void arrival(packet& p);
    void fly(packet& p, std::uint64_t head_ps);
    void enter(std::uint32_t queue, packet& p);
    void arbitrate(std::uint32_t link);
    void transmit(std::uint32_t queue, packet& p);
    void wake(std::uint32_t link);
    void ensure_wake(std::uint32_t link, std::uint64_t at_ps);
    void return_credit(std::uint32_t link, std::uint32_t vl, std::uint32_t cells, std::uint64_t at_ps);
    bool down(std::uint32_t link);
    std::uint64_t down_at_ps(std::uint32_t link) const;
    bool cut_short(std::uint32_t link, const packet& p);
    void lose(std::uint32_t link, packet& p);
    bool apply_hook(link_state& l, std::uint32_t link, packet& p, std::uint64_t& head_ps);
    std::uint32_t new_link(std::uint32_t port, const fabric_link_params& params);
    std::uint32_t queue_of(std::uint32_t link, std::uint32_t vl) const { return link * config_.vl_count + vl; }
    std::uint32_t waiter_bit(std::uint32_t queue) const;
    std::uint32_t queue_of_bit(std::uint32_t router, std::uint32_t bit) const;
    std::string describe(const blocked_head& b) const;

    timeline& time_;
    packet_pool& pool_;
    const routing_policy& policy_;
    fabric_config config_;
    std::uint64_t pipeline_ps_;
    std::uint32_t actor_base_ = 0;
    std::uint64_t now_ps_ = 0;

    std::vector<link_state> links_;
    std::vector<queue_state> queues_;     ///< link * vl_count + vl
    std::vector<std::uint64_t> waiters_;  ///< per output: one bit per (input port, VL) of its router
    std::vector<std::uint32_t> in_links_; ///< per router and port
    std::vector<std::uint32_t> out_links_;
    std::vector<std::uint32_t> out_ports_; ///< out_links_ with k_slow_start, for the hot path
    std::vector<router_state> routers_;
    std::vector<link_cold> cold_;
    std::vector<link_failure> failures_;
    std::vector<std::string> port_names_;
    credit_pool credits_under_way_;
    event_sink* sink_ = nullptr;

    std::uint64_t packet_hops_ = 0;
    std::uint64_t transport_hops_ = 0;
    std::uint64_t inside_ = 0;
    std::uint64_t dropped_ = 0;
};

} // namespace weft
