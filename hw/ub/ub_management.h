// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// ub_management: what lets the devices of a UB fabric speak to each other. Every router, switches included, has a
// control processor behind a port of its own; what it sends are packets of the fabric, of one size, on the two lanes of
// the management class, source-routed all the way.
//
// Models: their bytes on wires, where they go before data and wait for what is being transmitted; credits, cuts, losses
// and bit errors as of any packet; the port at local_port_rate. Does not model: memory of a control processor, which
// holds any number of packets that wait for outputs; what it computes (the listener's part).
// Deadlock: the class has lanes of its own and follows the rule of lanes; where a packet ends it is taken at once, and
// nothing that is sent waits for anything else. So the graph that is proved for requests holds for it as well.
#pragma once

#include "hw/fabric/fabric_engine.h"
#include "hw/ub/ub_management_ways.h"

#include <cstdint>
#include <vector>

namespace weft {

/// What one device tells another. `about` is a number that both understand.
struct ub_message {
    enum class kind : std::uint8_t { notice, acknowledgement };
    kind what = kind::notice;
    std::uint32_t about = 0;
    std::uint32_t from = 0, to = 0; ///< routers
};

class ub_management_if {
public:
    /// The last byte is there, now.
    virtual void heard(const ub_message& m) = 0;

protected:
    ~ub_management_if() = default;
};

class ub_management final : public component, private timeline_client {
public:
    /// Adds its ports to an engine whose routers have room for them (ub_fabric_plan). open() when that is built.
    ub_management(timeline& time, packet_pool& pool, fabric_engine& engine, const ub_plan& plan,
                  const ub_config& config);
    void open();
    /// Payload of every packet from now on; 16 B unless it is set.
    void set_payload(std::uint64_t bytes) { payload_bytes_ = static_cast<std::uint32_t>(bytes); }
    void set_listener(ub_management_if* listener) { listener_ = listener; }

    /// By `way`, which has a link at least, now. A packet that is lost on it is lost.
    void send(const ub_message& m, const ub_management_way& way);

    std::uint64_t sent() const { return sent_; }
    std::uint64_t arrived() const { return arrived_; }
    std::uint64_t hops() const { return hops_; }       ///< links that those which arrived have crossed
    std::uint64_t bytes() const { return bytes_; }     ///< of all that were sent, once each
    std::uint64_t relayed() const { return relayed_; } ///< of sent(): passed on by a control processor on the way
    std::string stat_prefix() const override { return "ub_management"; }

private:
    struct port final : fabric_edge_if {
        port(ub_management& o, std::uint32_t r) : owner(o), router(r) {}
        void deliver(packet_ptr p, std::uint64_t delay_ps) override { owner.deliver(router, std::move(p), delay_ps); }
        void return_credit(std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t) override {}
        ub_management& owner;
        std::uint32_t router;
        std::uint32_t in = 0, out = 0; ///< links of the engine
    };
    void deliver(std::uint32_t router, packet_ptr p, std::uint64_t delay_ps);
    void send_leg(const ub_message& m, const ub_management_way& way, std::size_t kept, std::uint32_t first);
    void on_event(std::uint32_t packet, std::uint8_t) override;

    timeline& time_;
    packet_pool& pool_;
    fabric_engine& engine_;
    const ub_plan& plan_;
    packet_format format_;
    wire_rate rate_;
    std::uint32_t depth_cells_;
    std::vector<port> ports_; ///< of the routers
    std::uint32_t payload_bytes_ = 16;
    std::uint32_t actor_, sequence_ = 0;
    ub_management_if* listener_ = nullptr;
    std::uint64_t sent_ = 0, arrived_ = 0, hops_ = 0, bytes_ = 0, relayed_ = 0;
    std::vector<ub_management_way> itineraries_; ///< of packets that are passed on
};

} // namespace weft
