// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Routing of a UB fabric, hop by hop: by the source-route header of the packet where its bitmap says so, else by the
// linear table of the router. Plain C++, flat arrays.
//
// A packet keeps its message class for its whole way: VL = class * 2 + lane. Lane of a source-routed hop: as its
// instruction says. Lane of a hop by table: ub_lane_rule of the channel it came in on and the one it goes out on. A
// router that stands for the destination hands the packet to the controller of the IO die on which it arrived.
//
// A management packet has an instruction for every hop; the device where they end hands it to its control processor.
#pragma once

#include "hw/routing/routing_policy.h"
#include "hw/routing/ub/ub_plan.h"

#include <cstdint>
#include <vector>

namespace weft {

/// Ports of a router in the engine: UB ports 0 .. n-1 as in the plan; behind them the ways out to the chip, one per IO
/// die; then the ways in, of which each die has one per UB port, as transmit queues. Where all buffers have a FIFO per
/// output (VOQ), these are the transmit queues, and each die has one way in. Behind all of them, where devices speak to
/// each other, the port of the control processor, on the first die.
struct ub_ports {
    std::uint32_t ub = 0, local = 0;
    bool voq = false;
    bool managed = false;
    std::uint32_t ways_in() const { return voq ? 1 : ub; } ///< of each die
    std::uint32_t count() const { return management() + (managed ? 1 : 0); }
    std::uint32_t management() const { return ub + local * (1 + ways_in()); }
    std::uint32_t to_chip(std::uint32_t die) const { return ub + die; }
    std::uint32_t from_chip(std::uint32_t die, std::uint32_t way) const { return ub + local + die * ways_in() + way; }
    std::uint32_t die_of_way_in(std::uint32_t port) const { return (port - ub - local) / ways_in(); }
};

class ub_routing final : public routing_policy {
public:
    static constexpr std::uint32_t k_none = 0xffff'ffff;

    /// `plan` is copied where it is needed; the lookup steps and entries stay the plan's, which must outlive this.
    ub_routing(const ub_plan& plan, bool voq);

    route_decision route(std::uint32_t router, std::uint32_t in_port, packet& p) const override;

    std::uint32_t router_of(std::uint32_t endpoint) const { return endpoint_router_[endpoint]; }
    /// From now on `router` stands for `endpoint`, and its tables are asked for that router's address.
    void move_endpoint(std::uint32_t endpoint, std::uint32_t router) { endpoint_router_[endpoint] = router; }
    /// UB port that the table of `router` names for packets of `flow` to the router `to`; k_none where it leads
    /// nowhere.
    std::uint32_t table_port(std::uint32_t router, std::uint32_t to, std::uint32_t flow) const
    {
        const abi::ub::table_entry e = abi::ub::look_up(routers_[router].table, places_[to]);
        return e.ways == 0 ? k_none : e.ways == 1 ? e.port : e.port + way_of(flow, router, e.ways);
    }
    std::uint32_t endpoints() const { return static_cast<std::uint32_t>(endpoint_router_.size()); }

    /// Which of `ways` equal ports a flow takes at a router; spreads flows that a router before has already divided.
    static std::uint32_t way_of(std::uint32_t flow, std::uint32_t router, std::uint32_t ways)
    {
        std::uint32_t h = (flow + router * 0x9e37'79b9u) * 0x85eb'ca6bu;
        h = (h ^ h >> 15) * 0xc2b2'ae35u;
        h ^= h >> 16;
        return static_cast<std::uint32_t>(std::uint64_t{h} * ways >> 32);
    }

private:
    struct router_info {
        std::uint32_t first_port = 0; ///< into in_channel_, out_channel_
        std::uint16_t ports = 0;      ///< UB ports
        std::uint16_t second_die_from = 0xffff;
        std::uint8_t local_ports = 0;
        abi::ub::table_view table;
    };
    route_decision route_management(std::uint32_t router, std::uint32_t in_port, packet& p) const;
    [[noreturn]] void refuse(std::uint32_t router, std::uint32_t in_port, const packet& p,
                             const std::string& why) const;

    std::vector<router_info> routers_;
    std::vector<std::uint8_t> in_channel_, out_channel_; ///< ub_channel of each UB port
    std::vector<std::uint32_t> endpoint_router_;
    std::vector<abi::ub::address> places_; ///< of the routers
    const ub_plan& plan_;
    ub_lane_rule lanes_;
    bool voq_;
};

} // namespace weft
