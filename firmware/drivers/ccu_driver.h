// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver of the collective communication unit of an IO die (hw/abi/ccu_regs.def, version 1): microcode, channels,
// tasks.
//
// Every wait is bounded; a status names the register that was waited on or refused:
//   wrong_device / wrong_version   where "CCU.TYPE" / "CCU.VERSION", detail = found
//   timeout                        where "CCU.MISSION_STATE", detail = as of "CCU.MISSION_STATUS"; status code 0: the
//                                  unit did not end the mission, which was killed
//   device_error                   where "CCU.MISSION_STATUS", detail = status code | MISSION_WHERE << 8 | die << 40;
//                                  or "CCU.ERROR", detail = ERROR | die << 40; or "CCU.IRQ_PENDING": interrupts without
//                                  a cause that do not stop
//   bus_error                      where the register being used, detail = address
#pragma once

#include "hw/abi/ccu.h"
#include "hw/abi/hal.h"

namespace weft::firmware {

struct ccu_capacities {
    std::uint32_t instructions;
    std::uint32_t missions;
    std::uint32_t loop_engines;
    std::uint32_t address_registers;
    std::uint32_t general_registers;
    std::uint32_t check_entries;
    std::uint32_t slices;
    std::uint32_t channels;
    std::uint32_t outstanding; ///< operations of 4 KiB on one channel
};

struct ccu_task {
    std::uint32_t mission = 0;
    std::uint32_t start = 0;
    std::uint32_t count = 0;
    std::uint32_t timeout_us = 0;
    std::uint32_t key = 0;
    std::uint32_t flags = 0;
    std::uint32_t arguments = 0;
    std::uint64_t argument[abi::ccu::k_arguments];
};

/// How a mission ended.
struct ccu_outcome {
    abi::status status;
    abi::ccu::status code = abi::ccu::status::ok;
    std::uint32_t detail = 0; ///< MISSION_DETAIL
};

class ccu_driver {
public:
    ccu_driver(abi::hal& hal, std::uint32_t die) : hal_(hal), base_(abi::ccu::k_base + die * abi::ccu::k_die_stride), die_(die) {}

    abi::status probe() const;
    abi::status read(ccu_capacities& capacities) const;
    /// Key of tasks, and token of the own memory.
    abi::status init(std::uint32_t key, std::uint32_t token) const;
    abi::status clear_entries(std::uint32_t first, std::uint32_t count) const;
    /// `peer`: rank of the machine, with k_shortest_paths where the channel keeps to them.
    abi::status set_channel(std::uint32_t channel, std::uint32_t peer) const;

    /// The next instruction written is number `index`; the following ones lie behind it.
    void seek(std::uint32_t index) const;
    void write(const abi::ccu::instruction& i) const;
    /// What became of the writes.
    abi::status written() const { return bus_status("CCU.CODE_DATA"); }

    abi::status launch(const ccu_task& task) const;
    /// Of a mission that has ended.
    ccu_outcome outcome(std::uint32_t mission) const;
    void kill(std::uint32_t mission) const;

    /// Sleeps until at least one of the missions `running`, bits of each die, has ended. A timeout kills them all.
    static abi::status wait(abi::hal& hal, const std::uint32_t (&running)[abi::ccu::k_dies], std::uint64_t timeout_ns,
                            std::uint32_t (&ended)[abi::ccu::k_dies]);

private:
    std::uint64_t reg(std::uint64_t offset) const { return base_ + offset; }
    abi::status bus_status(const char* where) const
    {
        return hal_.faulted() ? abi::status{abi::status_code::bus_error, where, hal_.fault().address} : abi::status{};
    }
    abi::status take(std::uint32_t running, std::uint32_t& ended) const;

    abi::hal& hal_;
    std::uint64_t base_;
    std::uint32_t die_;
};

} // namespace weft::firmware
