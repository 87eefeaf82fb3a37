// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands between a chip and a UB IO controller when NPUs are divided into groups that run collectives at the same time: the chip
// knows the members of its group as ranks 0, 1, ..; the fabric knows endpoints. Timing: none.
#pragma once

#include "tlm/link_socket.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

class ub_group_port final : public sc_core::sc_module {
public:
    link_target_socket from_chip;
    link_initiator_socket to_controller;
    link_target_socket from_controller;
    link_initiator_socket to_chip;

    /// `members`: endpoints of the group, ascending; a rank is an index.
    ub_group_port(const sc_core::sc_module_name& name, std::uint32_t vl_count, std::vector<std::uint32_t> members)
        : sc_core::sc_module(name), from_chip("from_chip", vl_count), to_controller("to_controller", vl_count),
          from_controller("from_controller", vl_count), to_chip("to_chip", vl_count), members_(std::move(members)),
          out_(*this), in_(*this)
    {
        from_chip.bind(static_cast<link_fw_if&>(out_));
        to_controller.bind(static_cast<link_bw_if&>(out_));
        from_controller.bind(static_cast<link_fw_if&>(in_));
        to_chip.bind(static_cast<link_bw_if&>(in_));
    }

private:
    struct outward final : link_fw_if, link_bw_if {
        explicit outward(ub_group_port& port) : port_(port) {}
        void send(packet_ptr p, std::uint64_t delay_ps) override
        {
            p->destination = port_.members_.at(p->destination);
            port_.to_controller->send(std::move(p), delay_ps);
        }
        void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override
        {
            port_.from_chip->credit(vl, cells, delay_ps);
        }
        ub_group_port& port_;
    };
    struct inward final : link_fw_if, link_bw_if {
        explicit inward(ub_group_port& port) : port_(port) {}
        void send(packet_ptr p, std::uint64_t delay_ps) override
        {
            p->source = port_.rank_of(p->source);
            p->destination = port_.rank_of(p->destination);
            port_.to_chip->send(std::move(p), delay_ps);
        }
        void credit(std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps) override
        {
            port_.from_controller->credit(vl, cells, delay_ps);
        }
        ub_group_port& port_;
    };
    std::uint32_t rank_of(std::uint32_t endpoint) const
    {
        const auto at = std::lower_bound(members_.begin(), members_.end(), endpoint);
        if (at == members_.end() || *at != endpoint)
            throw bug(name(), 0, "a packet has come from outside the group");
        return static_cast<std::uint32_t>(at - members_.begin());
    }

    std::vector<std::uint32_t> members_;
    outward out_;
    inward in_;
};

} // namespace weft
