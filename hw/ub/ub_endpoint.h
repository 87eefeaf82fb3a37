// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// ub_endpoint: what the UB IO controllers of one chip share: its place, its paths, its transmit queues, its end-to-end
// transport. The sockets are in ub_io_controller, one per IO die.
//
// Models: a path per packet or flow; one transmit queue per UB port and IO die (the input buffers of the engine's
// router, so nobody waits behind a packet for another port); in mode rtp numbered packets, copies until acknowledged,
// resends on other paths, duplicates dropped, acknowledgements as packets of the response class. Does not model: work
// queues, address translation, congestion control.
//
// Timing. A packet of the chip goes on to its transmit queue as its bytes come in; the controller adds nothing that is
// not in the router's latency. Acknowledgements and resends use the same way into the router, one after the other with
// the chip's packets. Credit to the chip: ctp, when the packet leaves the transmit queue; rtp, when it is acknowledged.
#pragma once

#include "hw/fabric/fabric_engine.h"
#include "hw/ub/ub_path_cache.h"
#include "hw/ub/ub_transmit_queues.h"
#include "hw/ub/ub_transport.h"
#include "tlm/stats.h"
#include "tlm/vl_buffer.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace weft {

/// The chip behind an endpoint, as its endpoint sees it.
class ub_chip_if {
public:
    virtual void deliver_to_chip(packet_ptr p, std::uint64_t delay_ps) = 0;
    virtual void credit_to_chip(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) = 0;

protected:
    ~ub_chip_if() = default;
};

/// Told when an endpoint finds a destination unreachable, once for each until something changes.
class ub_unreachable_if {
public:
    virtual void unreachable(std::uint32_t source, std::uint32_t destination) = 0;

protected:
    ~ub_unreachable_if() = default;
};

class ub_endpoint final : public component, private timeline_client {
public:
    ub_endpoint(timeline& time, packet_pool& pool, fabric_engine& engine, const ub_routing& routing, ub_turns& turns,
                const ub_plan& plan, const ub_config& config, std::uint32_t number, std::uint32_t router);
    ~ub_endpoint();

    /// The engine's edge links of IO die `die`, made by the builder: its ways in (a transmit queue per UB port,
    /// or one for all where these are VOQs), the way out to the chip.
    struct die_links {
        std::uint32_t first_transmit = 0; ///< they have consecutive numbers
        std::uint32_t to_chip = 0;
        ub_chip_if* chip = nullptr;
        std::uint64_t busy_until_ps = 0; ///< the way from the chip into the router
        std::uint32_t port_cells = 0;    ///< that the queue of one port may hold before its chip is asked to wait
        ub_transmit_queues queues;       ///< made by add_die()
        std::uint64_t taken = 0;         ///< packets from the chip
    };
    void add_die(die_links links)
    {
        links.queues = ub_transmit_queues(backlog_.size() + dies_.size(), links.port_cells);
        dies_.at(die_count_++) = std::move(links);
    }
    void set_listener(ub_unreachable_if* listener) { listener_ = listener; }
    /// Movers send to endpoints from this number on: their packets have shares of transmit queues of their own.
    void set_first_host(std::uint32_t endpoint);

    // --- Data path ---------------------------------------------------------------------------------------------------
    void from_chip(std::uint32_t die, packet_ptr p, std::uint64_t delay_ps);
    /// A packet to `destination` will come from the chip soon.
    void bring_near(std::uint32_t destination) const;
    void from_fabric(std::uint32_t die, packet_ptr p, std::uint64_t delay_ps);
    /// Whether the queues of all ports by which a request to `destination` may leave have room, or of one where the
    /// queues choose. A port that is full keeps back what goes by it, and nothing else. Answers never ask: requests
    /// that wait for them would wait for ever.
    bool has_room(std::uint32_t die, std::uint32_t destination, bool shortest_paths);
    /// `way_in`: the queue where each port has one; `out_link`: where the packet goes.
    void left_transmit_queue(std::uint32_t die, std::uint32_t way_in, std::uint32_t out_link, std::uint32_t vl,
                             std::uint32_t cells, std::uint64_t delay_ps);

    // --- Control -----------------------------------------------------------------------------------------------------
    ub_path_cache& paths() { return paths_; }
    const ub_path_cache& paths() const { return paths_; }
    /// No destination counts as unreachable sooner after a first try: the slowest notice of a failed link comes within
    /// this time.
    void set_patience(std::uint64_t patience_ps) { patience_ps_ = patience_ps; }
    /// From now on this endpoint speaks and answers as `number`.
    void rename(std::uint32_t number);
    std::uint32_t number() const { return number_; }
    std::uint32_t router() const { return router_; }
    /// Ends the transport's channels to and from an endpoint: it has moved. What was under way to it is given up.
    void reset_channel(std::uint32_t peer);
    /// The next number that this endpoint will send to `peer`, and where it expects to go on from `peer`.
    std::uint32_t next_number(std::uint32_t peer) const;
    void expect_number(std::uint32_t peer, std::uint32_t psn);
    std::vector<std::uint32_t> unreachable() const { return unreachable_; }
    bool settled(std::uint64_t now_ps) override;
    /// Turns among paths, and the numbers of all channels that still work. Links that are excluded and endpoints that
    /// are unreachable stay so.
    void reset(std::uint32_t draw) override;
    bool idle() const { return held_ == 0; } ///< no packet waits for its acknowledgement or its window
    std::string blocked_on() const;          ///< "" when idle
    /// Packets to endpoints from number `first` on are not acknowledged: they will be sent again or given up.
    bool awaits_any_from(std::uint32_t first) const
    {
        return std::any_of(senders_.begin(), senders_.end(),
                           [=](const auto& c) { return c->peer >= first && !c->window.empty(); });
    }
    std::uint64_t state_bytes() const;
    std::string stat_prefix() const override { return "ub_endpoint"; }

    counter sent;      ///< packets of the chip, once each
    counter delivered; ///< packets to the chip
    counter resent;
    counter duplicates_dropped;
    counter corrupted_dropped;
    counter acknowledgements; ///< sent
    counter given_up;
    counter not_sent; ///< no path

private:
    enum event_kind : std::uint8_t { k_timeout, k_ack_due, k_ack_timer, k_ack_arrived };
    static constexpr std::uint32_t k_none = 0xffff'ffff;
    /// To one destination.
    struct send_channel {
        send_channel(rtp_sender w, std::uint32_t p) : window(std::move(w)), peer(p) {}
        rtp_sender window;
        std::uint32_t peer;
        std::uint64_t timer_at_ps = k_never_ps;
        vl_buffer waiting; ///< packets, for the window
        bool dead = false;
        std::uint32_t path_epoch = 0; ///< of the path set that was last used
    };
    /// From one source.
    struct receive_channel {
        receive_channel(rtp_receiver w, std::uint32_t p) : window(std::move(w)), peer(p) {}
        rtp_receiver window;
        std::uint32_t peer;
        rtp_unacknowledged unacknowledged;
        std::uint8_t die = 0; ///< on which the last one came
        bool timer = false;
        bool everywhere = false;        ///< the next k_ack_due answers a last try
        std::vector<std::uint32_t> due; ///< a number of each group to tell about at the next k_ack_due
    };

    void on_event(std::uint32_t a, std::uint8_t kind) override;
    static bool is_request(std::uint32_t vl) { return vl < k_ub_lanes_per_class; }
    void launch(std::uint32_t die, packet_ptr p, const ub_path_cache::choice& path, std::uint64_t delay_ps);
    void launch_spread(std::uint32_t die, packet_ptr p, ub_path_cache::path_set& set, std::uint64_t delay_ps);
    void enter_router(std::uint32_t die, packet_ptr p, const ub_path_cache::choice& path, std::uint64_t start_ps);
    /// Packets of so many bytes and cells are on their way to the queue of a UB port. The choice of those after them
    /// counts them.
    void expect_in_queue(std::uint32_t port, std::uint32_t wire_bytes, std::uint32_t cells, std::uint64_t start_ps)
    {
        if (!config_.voq)
            backlog_[port] += cells;
        else
            launched_until_ps_[port] =
                std::max(launched_until_ps_[port], start_ps) + port_rates_[port].time_ps(wire_bytes);
    }
    std::uint32_t pass_rounds(const ub_path_cache::path_set& set, std::uint32_t rounds, std::uint32_t wire_bytes);
    std::uint32_t port_of(const ub_path_cache::choice& path, const packet& p) const;
    void refuse(std::uint32_t die, packet_ptr p, std::uint64_t delay_ps);
    void note_unreachable(std::uint32_t destination);
    send_channel& sender_to(std::uint32_t destination);
    receive_channel& receiver_from(std::uint32_t source);
    void transmit(send_channel& c, packet_ptr original, std::uint64_t delay_ps);
    void send_waiting(send_channel& c);
    void send_copy(const packet& original, const ub_path_cache::choice& path, std::uint64_t delay_ps,
                   std::uint8_t more_flags = 0);
    void arm(send_channel& c, std::uint32_t index);
    void timeout(std::uint32_t index);
    void give_up(send_channel& c);
    void release(std::uint32_t packet_index);
    void account_arrival(receive_channel& c, std::uint32_t index, std::uint32_t psn, bool at_once,
                         std::uint64_t tail_ps);
    void send_ack(receive_channel& c, std::uint32_t group, bool everywhere = false);
    void launch_ack(receive_channel& c, std::uint32_t group, const ub_path_cache::choice& path);
    void ack_arrived(packet_ptr p);
    std::uint32_t flow_of(const packet& p);
    /// What the choice of a path needs of a packet: the same for all packets of a train.
    struct path_request {
        std::uint32_t flow, wire_bytes, cells;
        std::uint64_t message_ps; ///< what its message takes on one link; 0 where the DMA engine does not tell
        bool is_request;
    };
    path_request request_for(const ub_path_cache::path_set& set, const packet& p) const
    {
        const std::uint32_t bytes = p.wire_bytes / p.packet_count;
        const std::uint32_t first = set.paths.front().port;
        // A DMA engine tells how long its message is; packets of coprocessors have something else there.
        const bool told = (p.flags & k_for_coprocessor) == 0 && first < port_rates_.size();
        return {p.semaphore, bytes, p.cells / p.packet_count,
                told ? p.message_packets * port_rates_[first].time_ps(bytes) : 0, is_request(p.vl)};
    }
    /// When the fabric is through with what waits for each UB port. Nothing moves while the packets of a train choose,
    /// so that a port is asked once for all of them.
    struct port_looks {
        std::uint64_t known = 0; ///< a bit for each of the first 64 ports
        std::uint64_t until_ps[64];
    };
    /// Whether a set of paths has been passed over for as many packets of others as ports are full.
    bool has_turn(std::uint32_t die, ub_path_cache::path_set& set) const;
    /// For a packet that begins to go on from a die at `at_ps`.
    std::uint32_t choose(ub_path_cache::path_set& set, const path_request& r, std::uint32_t die, std::uint64_t at_ps,
                         port_looks& looks) const
    {
        const die_links& before = dies_[set.mark_die];
        const bool still_waits = set.mark_port < backlog_.size() && before.queues.left(set.mark_port) < set.mark;
        const auto waiting = [&](std::uint32_t port) -> std::uint64_t {
            if (port >= backlog_.size())
                return 0;
            if (!config_.voq)
                return port_rates_[port].time_ps((backlog_[port] + r.cells) * config_.cell_bytes());
            return waits_ps(port, at_ps, looks) + port_rates_[port].time_ps(r.wire_bytes);
        };
        const std::uint32_t path = paths_.choose(set, r.flow, at_ps, still_waits, r.message_ps, waiting);
        set.mark_port = r.is_request ? set.paths[path].port : ub_path_cache::k_any_port;
        set.mark_die = static_cast<std::uint16_t>(die);
        if (set.mark_port < backlog_.size())
            set.mark = dies_[die].queues.entered(set.mark_port) + r.cells;
        return path;
    }
    /// With VOQs: from `at_ps` until a UB port is through with what waits for it, relayed packets included. What was
    /// launched and has not come to its queue yet counts as if it queued.
    std::uint64_t waits_ps(std::uint32_t port, std::uint64_t at_ps, port_looks& looks) const
    {
        const std::uint64_t until_ps = std::max(launched_until_ps_[port], fabric_until_ps(port, looks));
        return until_ps - std::min(until_ps, at_ps);
    }
    std::uint64_t fabric_until_ps(std::uint32_t port, port_looks& looks) const
    {
        const std::uint64_t bit = port < 64 ? std::uint64_t{1} << port : 0;
        if ((looks.known & bit) != 0)
            return looks.until_ps[port];
        const std::uint64_t until_ps = time_.now_ps() + engine_.backlog_ps(engine_.out_link(router_, port));
        if (bit != 0)
            looks.known |= bit, looks.until_ps[port] = until_ps;
        return until_ps;
    }
    /// When what comes from the chip `delay_ps` from now goes on into the router.
    std::uint64_t start_ps(std::uint32_t die, std::uint64_t delay_ps) const
    {
        return std::max(time_.now_ps() + delay_ps, dies_[die].busy_until_ps);
    }
    /// Of the controller that a packet of this chip came by.
    static std::uint32_t die_of_origin(const packet& p) { return (p.flags & k_from_second_die) != 0 ? 1 : 0; }
    void schedule(std::uint64_t at_ps, std::uint32_t a, event_kind kind);

    timeline& time_;
    packet_pool& pool_;
    fabric_engine& engine_;
    const ub_routing& routing_;
    const ub_config& config_;
    packet_format format_;
    wire_rate local_rate_;
    ub_path_cache paths_;
    std::uint32_t number_;
    std::uint32_t router_;
    std::uint32_t first_host_ = k_none;
    std::uint32_t actor_;
    std::uint32_t sequence_ = 0;
    std::uint32_t spread_ = 0;
    std::array<die_links, 2> dies_; ///< of an NPU; others use the first
    std::uint32_t die_count_ = 0;
    std::vector<std::uint32_t> backlog_;           ///< cells in the transmit queues of each UB port; not with VOQs
    std::vector<std::uint64_t> launched_until_ps_; ///< VOQs: when each UB port would be through with what was launched
    std::vector<wire_rate> port_rates_;
    /// Of a train that is being spread: packets by path, and their times after the train's start.
    struct share {
        std::uint32_t path, packets;
        std::uint64_t first_ps, end_ps; ///< of the first packet, and of the end of the last one
    };
    std::vector<share> shares_;
    std::vector<std::uint32_t> unreachable_;
    ub_unreachable_if* listener_ = nullptr;
    // Mode rtp.
    rtp_round_trip round_trip_; ///< to all destinations
    std::uint64_t patience_ps_ = 0;
    flat_index sender_index_, receiver_index_;
    std::vector<std::unique_ptr<send_channel>> senders_;
    std::vector<std::unique_ptr<receive_channel>> receivers_;
    std::uint64_t held_ = 0; ///< packets kept
};

} // namespace weft
