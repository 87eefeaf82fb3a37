// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// sync_unit: one chip's end of a sync network (sync_network.h), as its firmware sees it (hw/abi/sync_regs.def). A guest
// of its chip.
//
// A write of ARRIVE takes effect when it has crossed the bus. The release raises the interrupt, which IRQ_PENDING
// lowers.
#pragma once

#include "hw/abi/hal.h"
#include "hw/abi/registers.h"
#include "hw/sync/sync_zone.h"
#include "tlm/component.h"
#include "tlm/config_fields.h"
#include "tlm/irq_if.h"
#include "tlm/mem_socket.h"
#include "tlm/stats.h"

#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

namespace weft {

class sync_network;
class timeline;

class sync_unit final : public sc_core::sc_module, public component {
public:
    reg_file regs; // before the socket, which refers to it
    mmio_target_socket registers;

    /// `network` gets the unit, and outlives the simulation.
    sync_unit(const sc_core::sc_module_name& name, timeline& time, sync_network& network, std::uint32_t rank, irq_if& core, duration register_latency);

    /// Of the network: this rank may go on.
    void release(std::uint64_t now_ps);

    std::string stat_prefix() const override { return "sync"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }
    void reset(std::uint32_t draw) override;
    /// From arrival to release.
    void record_into(trace_sink& trace) override;
    /// Waiting for the release.
    work_load spent_on(work_kind kind, std::uint64_t now_ps) const override
    {
        if (kind != work_kind::sync)
            return {};
        return {waited_.value() + (arrived_ && now_ps > arrived_ps_ ? now_ps - arrived_ps_ : 0), 1};
    }

    stat_group stats;

private:
    void arrive();
    void update_irq();
    void fail(std::uint32_t bits);

    sync_network& network_;
    std::uint32_t rank_;
    irq_if& core_;
    bool arrived_ = false; ///< and is not released yet
    sync_zone zone_;       ///< of the last arrival
    std::uint64_t arrived_ps_ = 0;
    trace_sink* trace_ = nullptr;
    std::uint32_t track_ = 0;
    accumulated_time waited_;
};

} // namespace weft
