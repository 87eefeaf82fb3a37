// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// ub_port_sharer: the DMA engine and a coprocessor at one UB IO controller. Each has transmit credits of its own, as many as one alone would have;
// what comes in goes to the coprocessor where the packet says so. Adds no time: the way into the router serialises both.
//
// Credits come back without saying whose packet has left: they go to whoever has more cells outside, which both get back in the end. The other one hears of
// them, too: it may wait for room in the queues, which both fill.
#pragma once

#include "tlm/link_socket.h"

#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

namespace weft {

class ub_port_sharer final : public sc_core::sc_module {
    enum user : std::uint32_t { k_dma, k_coprocessor, k_users };

    /// One of the two, as the other end of its sockets.
    struct side final : link_fw_if, link_bw_if {
        side(ub_port_sharer& o, user w) : owner(o), who(w) {}
        void send(packet_ptr p, std::uint64_t delay_ps) override
        {
            owner.outside_[who][p->vl] += p->cells;
            owner.to_controller->send(std::move(p), delay_ps);
        }
        bool has_room(std::uint32_t destination, bool shortest_paths) override
        {
            return owner.to_controller->has_room(destination, shortest_paths);
        }
        void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override { owner.from_controller->credit(vl, cells, delay_ps); }
        ub_port_sharer& owner;
        user who;
    };
    /// The controller.
    struct controller_side final : link_fw_if, link_bw_if {
        explicit controller_side(ub_port_sharer& o) : owner(o) {}
        void send(packet_ptr p, std::uint64_t delay_ps) override
        {
            link_initiator_socket& to = (p->flags & k_for_coprocessor) != 0 ? owner.to_coprocessor : owner.to_dma;
            to->send(std::move(p), delay_ps);
        }
        void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override { owner.share(vl, cells, delay_ps); }
        ub_port_sharer& owner;
    };

public:
    link_target_socket from_dma, from_coprocessor, from_controller;
    link_initiator_socket to_dma, to_coprocessor, to_controller;

    ub_port_sharer(const sc_core::sc_module_name& name, std::uint32_t vl_count)
        : sc_core::sc_module(name), from_dma("from_dma", vl_count), from_coprocessor("from_coprocessor", vl_count),
          from_controller("from_controller", vl_count), to_dma("to_dma", vl_count), to_coprocessor("to_coprocessor", vl_count),
          to_controller("to_controller", vl_count), sides_{side{*this, k_dma}, side{*this, k_coprocessor}}, controller_(*this)
    {
        from_dma.bind(static_cast<link_fw_if&>(sides_[k_dma]));
        to_dma.bind(static_cast<link_bw_if&>(sides_[k_dma]));
        from_coprocessor.bind(static_cast<link_fw_if&>(sides_[k_coprocessor]));
        to_coprocessor.bind(static_cast<link_bw_if&>(sides_[k_coprocessor]));
        from_controller.bind(static_cast<link_fw_if&>(controller_));
        to_controller.bind(static_cast<link_bw_if&>(controller_));
        for (auto& of_user : outside_)
            of_user.assign(vl_count, 0);
    }

private:
    /// The first ones are the depth of the transmit queues, a half for each.
    void share(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps)
    {
        const auto give = [&](user who, std::uint32_t n) { (who == k_dma ? from_dma : from_coprocessor)->credit(vl, n, delay_ps); };
        std::uint32_t& dma = outside_[k_dma][vl];
        std::uint32_t& other = outside_[k_coprocessor][vl];
        if (dma + other < cells) {
            give(k_dma, cells / 2);
            give(k_coprocessor, cells - cells / 2);
            return;
        }
        const user first = other > dma ? k_coprocessor : k_dma;
        std::uint32_t& most = first == k_dma ? dma : other;
        std::uint32_t& least = first == k_dma ? other : dma;
        const std::uint32_t to_first = cells < most ? cells : most;
        most -= to_first;
        least -= cells - to_first;
        give(first, to_first);
        give(first == k_dma ? k_coprocessor : k_dma, cells - to_first);
    }

    std::array<side, k_users> sides_;
    controller_side controller_;
    std::array<std::vector<std::uint32_t>, k_users> outside_; ///< cells of packets that were sent and have given no credits back, by VL
};

} // namespace weft
