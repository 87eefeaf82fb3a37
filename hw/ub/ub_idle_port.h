// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands behind the UB IO controller of a CPU, a NIC or a spare NPU that takes no part in a run: it sends nothing,
// takes what arrives at once, and counts it. Timing: none.
#pragma once

#include "tlm/link_socket.h"

#include <cstdint>

namespace weft {

class ub_idle_port final : public sc_core::sc_module, private link_fw_if, private link_bw_if {
public:
    link_initiator_socket to_controller;
    link_target_socket from_controller;

    ub_idle_port(const sc_core::sc_module_name& name, std::uint32_t vl_count, std::uint32_t cells_per_vl)
        : sc_core::sc_module(name), to_controller("to_controller", vl_count),
          from_controller("from_controller", vl_count), cells_per_vl_(cells_per_vl)
    {
        to_controller.bind(static_cast<link_bw_if&>(*this));
        from_controller.bind(static_cast<link_fw_if&>(*this));
    }

    std::uint64_t packets() const { return packets_; }

private:
    void start_of_simulation() override
    {
        for (std::uint32_t vl = 0; vl < from_controller.vl_count(); ++vl)
            from_controller->credit(vl, cells_per_vl_, 0);
    }
    void send(packet_ptr p, std::uint64_t delay_ps) override
    {
        packets_ += p->packet_count;
        from_controller->credit(p->vl, p->cells, delay_ps + p->serialisation_ps);
    }
    void credit(std::uint32_t, std::uint32_t, std::uint64_t) override {}

    std::uint32_t cells_per_vl_;
    std::uint64_t packets_ = 0;
};

} // namespace weft
