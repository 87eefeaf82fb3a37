// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// ub_port_sharer: who sends through one UB IO controller of an NPU: the DMA engine, and a coprocessor and a bulk mover
// where there are any. Each has transmit credits of its own, as many as one alone would have. What comes in goes to the
// mover when it is from a CPU or a NIC, to the coprocessor where the packet says so. Adds no time: the way into the
// router serialises all.
//
// Credits come back without saying whose packet has left: they go to whoever has most cells outside, which all get back
// in the end. The others hear of them, too: they may wait for room in the queues, which all fill.
#pragma once

#include "tlm/link_socket.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <systemc>
#include <vector>

namespace weft {

class ub_port_sharer final : public sc_core::sc_module {
    static constexpr std::size_t k_most_users = 3;

    /// One of them, as the other end of its sockets.
    struct side final : link_fw_if, link_bw_if {
        side(ub_port_sharer& o, std::uint32_t n)
            : from(n == 0 ? "from_dma" : fmt::format("from_user{}", n).c_str(), o.vl_count_),
              to(n == 0 ? "to_dma" : fmt::format("to_user{}", n).c_str(), o.vl_count_), owner(o), outside(o.vl_count_, 0)
        {
            from.bind(static_cast<link_fw_if&>(*this));
            to.bind(static_cast<link_bw_if&>(*this));
        }
        void send(packet_ptr p, std::uint64_t delay_ps) override
        {
            outside[p->vl] += p->cells;
            owner.to_controller->send(std::move(p), delay_ps);
        }
        bool has_room(std::uint32_t destination, bool shortest_paths) override
        {
            return owner.to_controller->has_room(destination, shortest_paths);
        }
        void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override { owner.from_controller->credit(vl, cells, delay_ps); }
        link_target_socket from;
        link_initiator_socket to;
        ub_port_sharer& owner;
        std::vector<std::uint32_t> outside; ///< cells of packets that were sent and have given no credits back, by VL
    };
    /// The controller.
    struct controller_side final : link_fw_if, link_bw_if {
        explicit controller_side(ub_port_sharer& o) : owner(o) {}
        void send(packet_ptr p, std::uint64_t delay_ps) override { owner.receiver_of(*p).to->send(std::move(p), delay_ps); }
        void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override { owner.share(vl, cells, delay_ps); }
        ub_port_sharer& owner;
    };

public:
    link_target_socket from_controller;
    link_initiator_socket to_controller;

    /// Packets of endpoints from number `mover_from` on are for the mover.
    ub_port_sharer(const sc_core::sc_module_name& name, std::uint32_t vl_count, bool coprocessor, bool mover, std::uint32_t mover_from = ~0u)
        : sc_core::sc_module(name), from_controller("from_controller", vl_count), to_controller("to_controller", vl_count), vl_count_(vl_count),
          coprocessor_(coprocessor ? 1 : 0), mover_(mover ? 1 + coprocessor_ : 0), mover_from_(mover_from), controller_(*this)
    {
        for (std::uint32_t n = 0; n < 1 + coprocessor_ + (mover ? 1u : 0u); ++n)
            sides_.push_back(std::make_unique<side>(*this, n));
        from_controller.bind(static_cast<link_fw_if&>(controller_));
        to_controller.bind(static_cast<link_bw_if&>(controller_));
    }

    link_target_socket& from_dma() { return sides_[0]->from; }
    link_initiator_socket& to_dma() { return sides_[0]->to; }
    link_target_socket& from_coprocessor() { return sides_.at(coprocessor_)->from; }
    link_initiator_socket& to_coprocessor() { return sides_.at(coprocessor_)->to; }
    link_target_socket& from_mover() { return sides_.at(mover_)->from; }
    link_initiator_socket& to_mover() { return sides_.at(mover_)->to; }

private:
    side& receiver_of(const packet& p)
    {
        if (mover_ != 0 && p.source >= mover_from_)
            return *sides_[mover_];
        return *sides_[(p.flags & k_for_coprocessor) != 0 ? coprocessor_ : 0];
    }
    /// The first ones are the depth of the transmit queues, an equal part for each.
    void share(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps)
    {
        const auto users = static_cast<std::uint32_t>(sides_.size());
        std::uint32_t all = 0;
        for (const auto& s : sides_)
            all += s->outside[vl];
        if (all < cells) {
            for (std::uint32_t n = 0; n < users; ++n)
                sides_[n]->from->credit(vl, cells / users + (n + 1 == users ? cells % users : 0), delay_ps);
            return;
        }
        std::array<std::uint32_t, k_most_users> turns{}, gives{};
        for (std::uint32_t n = 0; n < users; ++n) { // by insertion: whoever has most outside first, of equals the first
            std::uint32_t at = n;
            for (; at > 0 && sides_[turns[at - 1]]->outside[vl] < sides_[n]->outside[vl]; --at)
                turns[at] = turns[at - 1];
            turns[at] = n;
        }
        for (std::uint32_t i = 0; i < users; ++i) {
            std::uint32_t& outside = sides_[turns[i]]->outside[vl];
            gives[i] = std::min(cells, outside);
            outside -= gives[i];
            cells -= gives[i];
        }
        for (std::uint32_t i = 0; i < users; ++i)
            sides_[turns[i]]->from->credit(vl, gives[i], delay_ps);
    }

    std::uint32_t vl_count_;
    std::uint32_t coprocessor_, mover_; ///< their sides; 0: there is none
    std::uint32_t mover_from_;
    std::vector<std::unique_ptr<side>> sides_;
    controller_side controller_;
};

} // namespace weft
