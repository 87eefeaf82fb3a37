// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/chip/core_complex.h"

#include "hw/chip/chip_config.h"
#include "hw/core/native_core.h"
#include "hw/core/rv64_core.h"

namespace weft {

std::unique_ptr<core_base> make_core(const core_config& config, notifier& wake, std::uint32_t rank)
{
    if (config.model == core_model::rv64)
        return std::make_unique<rv64_core>("core", config, wake, rank);
    return std::make_unique<native_core>("core", config, wake);
}

void write_command(local_memory& local, weft::mailbox& mailbox, const abi::command& command)
{
    local.write_bytes(abi::k_command_address, &command, sizeof command);
    mailbox.post(command.sequence);
}

abi::response read_response(const local_memory& local)
{
    abi::response r;
    local.read_bytes(abi::k_response_address, &r, sizeof r);
    r.where[sizeof r.where - 1] = '\0'; // firmware may be the user's
    return r;
}

core_complex::core_complex(const sc_core::sc_module_name& name, const chip_config& config, notifier& wake,
                           std::uint32_t rank)
    : sc_core::sc_module(name), core_(make_core(config.core, wake, rank)), core(*core_), bus("bus", config.bus),
      local("local", config.local_memory), mailbox("mailbox", config.mailbox)
{
    core.socket.bind(bus.socket);
    bus.connect(local.socket, {abi::k_local_memory_base, abi::k_local_memory_bytes, "local memory"});
    bus.connect(mailbox.socket, {abi::k_mailbox_base, k_device_window_bytes, "mailbox"});
    mailbox.connect_irq(core);
}

void core_complex::post(const abi::command& command) { write_command(local, mailbox, command); }
abi::response core_complex::response() const { return read_response(local); }

} // namespace weft
