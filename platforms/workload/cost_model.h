// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How long a collective will take by each algorithm, without simulating it, and which one `algorithms: [auto]` takes.
//
// From the schedule of one rank (planned_schedule.h): messages that its core makes, bytes by dimension and link, steps
// that wait for each other. Firmware without a schedule has a formula of the same parts here. What a message costs
// follows from the instructions in firmware/costs.h, the bus, the memory and the hops of this machine. Queues at links
// are not in it, but for the calibrated shares named in cost_model.cpp and cost_parts.cpp. Where routes are irregular,
// each link counts with what all ranks send over it (route_loads.h). Never less than the bound (bounds.h).
#pragma once

#include "firmware/drivers/ccu_driver.h"
#include "hw/abi/platform_table.h"
#include "platforms/workload/collective_case.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// Of a worker below switches that sum what all send for the same place (SwitchML): us. A use of a slot carries a
/// packet, or a message of several.
struct switch_sum_costs {
    struct core_times {
        double first_us = 0;  ///< to make and post the first use of a slot, of float32 an exponent alone
        double answer_us = 0; ///< to take the answer of one, and to make and post the next one
    };
    std::uint32_t cores = 1;     ///< each has a part of the data
    std::uint32_t window = 1;    ///< uses that a core has under way
    std::uint32_t batch = 1;     ///< uses that a core announces to its NIC at a time
    std::uint32_t use_bytes = 1; ///< of the data
    double use_wire_us = 0;      ///< on a cable
    double use_pace_us = 0;      ///< and on whatever is slower behind it
    double round_trip_us = 0;    ///< from the announcement of a use until its answer wakes the core
    double start_us = 0;         ///< of a core, besides that of any collective
    double hold_us = 0;          ///< how long a part of a batch may wait
    core_times int32, float32;
    /// Pieces in which a core copies a last use that is not full, of float32 also zeros; 0: it copies none.
    std::uint32_t piece_bytes = 0;
    double piece_us = 0; ///< to read one, or to write it
};

/// Of one rank: us, and bytes per us. What a rank's links carry is in its platform table.
struct message_costs {
    double instruction_us = 0;
    double access_us = 0;     ///< the core reads or writes a register of the DMA engine
    double descriptor_us = 0; ///< it writes a descriptor to memory
    double wake_us = 0;       ///< from an interrupt to the first instruction
    double memory_us = 0;     ///< latency of one access of the memory
    double engine_us = 0;     ///< from a doorbell to the fetch of its descriptors
    double engine_wake_us = 0; ///< from a semaphore to the first read of the descriptor that waited for it
    double engine_rate = 0;    ///< bytes per us, of all DMA engines of a rank, which sum and duplicate; 0: they do not
    double hop_us[abi::k_max_dims] =
        {}; ///< head of a packet from a rank to the next one of a dimension, in the order of the table
    std::optional<switch_sum_costs> sums; ///< by switches; nothing: none sums, or frames may be lost
    std::optional<firmware::ccu_capacities> units; ///< of collective communication units; nothing: there are none
    double unit_reduce_rate = 0, unit_sram_rate = 0; ///< bytes per us of one unit, of results and of slices
    double unit_read_rate = 0; ///< bytes per us that packets read ahead bring while memory answers
    double unit_segment = 0;   ///< bytes of a transfer between memories that one channel may always have under way
    double unit_access_us = 0;                     ///< the core reads or writes a register of a CCU
    double unit_start_us = 0;                      ///< from the launch of a task of a CCU to its first instruction
    double unit_bits_us = 0;                       ///< from a set of check bits until a wait sees them
    // Of rings in lock-step: a sync of a domain, and of all domains over gateways, 0 where there is none; and what each
    // of hop_us has once for a message, however far it goes.
    double sync_us = 0, gateway_sync_us = 0, once_us = 0;
    std::uint64_t memory_bps = 0; ///< bit/s, reads and writes together
    std::uint64_t links_bps = 0;  ///< bit/s of payload by all links of a rank; as for bound_of()
    /// Bytes per us that its DMA engines bring to their local ports: what these carry, and what packets read ahead
    /// yield while memory answers. 0: not known. CCUs have ways of their own.
    double ports_rate = 0;
    double port_rate = 0; ///< of one of them
    double credits_share = 1; ///< of the rate of a link, that the credits of a VL allow
    bool flows_take_one_path = false; ///< what a rank sends to another one goes by one link at a time
    /// Packets go around what failed, or by tables of users: each link is counted (platform::busiest_link_us()).
    bool irregular_routes = false;
    /// A key of what the machine has, and predictions do not know; "": there is none.
    std::string leaves_out = {};

    /// A core makes a message: it looks for room, writes the descriptor and rings the doorbell.
    double message_us() const;
};

/// us; nothing where no formula covers it: parameter servers on machines or cores of their own, switches that sum where
/// frames are lost.
/// `table`: of a rank of the machine, or of the group that runs the case. Throws user_error where a planner refuses.
std::optional<double> predicted_us(const abi::platform_table& table, const message_costs& costs, const collective_case& c);

} // namespace weft
