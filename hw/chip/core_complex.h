// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A further core of a chip: core, bus, core-local memory and mailbox of its own; the chip's shared devices are on its
// bus at the same addresses as on that of core 0. Nothing keeps two cores from one register: firmware agrees on who
// uses what.
#pragma once

#include "hw/abi/platform_table.h"
#include "hw/bus/bus.h"
#include "hw/chip/mailbox.h"
#include "hw/core/core.h"
#include "hw/memory/local_memory.h"

#include <memory>

namespace weft {

struct chip_config;

class core_complex final : public sc_core::sc_module {
private:
    std::unique_ptr<core_base> core_; // before the reference to it

public:
    core_base& core;
    weft::bus bus;
    local_memory local;
    weft::mailbox mailbox;

    core_complex(const sc_core::sc_module_name& name, const chip_config& config, notifier& wake, std::uint32_t rank);

    void post(const abi::command& command);
    abi::response response() const;
};

inline constexpr std::uint64_t k_device_window_bytes = 0x1'0000;

/// Commands and responses lie in core-local memory.
void write_command(local_memory& local, weft::mailbox& mailbox, const abi::command& command);
abi::response read_response(const local_memory& local);

std::unique_ptr<core_base> make_core(const core_config& config, notifier& wake, std::uint32_t rank);

} // namespace weft
