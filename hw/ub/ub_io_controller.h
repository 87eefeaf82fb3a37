// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// ub_io_controller: one UB IO controller as its chip sees it. An NPU has two, a CPU or a NIC one. A shell: sockets
// toward the DMA (or a traffic endpoint) and statistics; ub_endpoint does the work, the fabric engine switches.
//
// `in` takes packets of the request class on VL 0 and of the response class on VL 2, paid with credits for its transmit
// queue; the controller chooses path and lane. `out` hands over packets on the VL of their class, lane 0.
// packet.destination_port tells the receiver by which controller a packet came.
#pragma once

#include "hw/ub/ub_endpoint.h"
#include "tlm/cache_hints.h"
#include "tlm/link_socket.h"

#include <memory>
#include <vector>

namespace weft {

class ub_io_controller final : public sc_core::sc_module, public link_fw_if, public link_bw_if, public use_hints, private ub_chip_if {
public:
    link_target_socket in;     ///< from the chip
    link_initiator_socket out; ///< to the chip

    /// Adds its edges to the engine's router of `endpoint`, whose IO die number `die` it is. `queue_cells`: what its
    /// transmit queues hold together, per class and user; it has `users`, of which one alone would have as much.
    ub_io_controller(const sc_core::sc_module_name& name, fabric_engine& engine, ub_endpoint& endpoint,
                     const ub_ports& ports, std::uint32_t die, const ub_config& config, std::uint32_t queue_cells,
                     std::uint32_t users = 1);

    std::uint32_t die() const { return die_; }
    ub_endpoint& endpoint() { return endpoint_; }

    stat_group stats;

private:
    /// The engine's view of one transmit queue.
    struct transmit_queue final : fabric_edge_if {
        transmit_queue(ub_io_controller& o, std::uint32_t p) : owner(o), port(p) {}
        void deliver(packet_ptr p, std::uint64_t delay_ps) override;
        void return_credit(std::uint32_t vl, std::uint32_t cells, std::uint32_t out_link, std::uint64_t delay_ps) override
        {
            owner.endpoint_.left_transmit_queue(owner.die_, port, out_link, vl, cells, delay_ps);
        }
        ub_io_controller& owner;
        std::uint32_t port;
    };
    struct way_out final : fabric_edge_if {
        explicit way_out(ub_io_controller& o) : owner(o) {}
        void deliver(packet_ptr p, std::uint64_t delay_ps) override
        {
            owner.endpoint_.from_fabric(owner.die_, std::move(p), delay_ps);
        }
        void return_credit(std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t) override {}
        ub_io_controller& owner;
    };

    // Link protocol.
    void send(packet_ptr p, std::uint64_t delay_ps) override { endpoint_.from_chip(die_, std::move(p), delay_ps); }
    void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override
    {
        engine_.edge_credit(to_chip_, vl, cells, delay_ps);
    }
    void bring_near(std::uint32_t destination) const override;
    bool has_room(std::uint32_t destination, bool shortest_paths) override
    {
        return endpoint_.has_room(die_, destination, shortest_paths);
    }
    // Endpoint.
    void deliver_to_chip(packet_ptr p, std::uint64_t delay_ps) override { chip_in_->send(std::move(p), delay_ps); }
    void credit_to_chip(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override
    {
        chip_out_->credit(vl, cells, delay_ps);
    }
    void start_of_simulation() override;

    fabric_engine& engine_;
    ub_endpoint& endpoint_;
    link_fw_if* chip_in_ = nullptr; ///< what the sockets are bound to, without their checks
    link_bw_if* chip_out_ = nullptr;
    std::uint32_t die_;
    std::uint32_t queue_cells_;
    std::uint32_t to_chip_ = 0;
    std::vector<transmit_queue> queues_;
    way_out way_out_;
};

} // namespace weft
