// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/chip/chip.h"

#include "hw/core/native_core.h"
#include "hw/core/rv64_core.h"

#include <cstring>
#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::uint64_t k_device_window_bytes = 0x1'0000;

std::unique_ptr<core_base> make_core(const core_config& config, notifier& wake, std::uint32_t rank)
{
    if (config.model == core_model::rv64)
        return std::make_unique<rv64_core>("core", config, wake, rank);
    return std::make_unique<native_core>("core", config, wake);
}

irq_if& irq_input(irq_if& core, core_gate* gate) { return gate != nullptr ? gate->from_devices() : core; }
} // namespace

std::vector<config_problem> chip_config::validate() const
{
    std::vector<config_problem> p;
    if (hbm.capacity.value() < 2 * ring_area_bytes())
        p.push_back({severity::error, "hbm.capacity",
                     fmt::format("is {}, but the descriptor rings alone need {} ({} queues of {} entries of {} B).",
                                 to_string(hbm.capacity), to_string(data_size(ring_area_bytes())), dma.queues,
                                 dma.ring_entries, abi::k_descriptor_bytes)});
    if (local_memory.capacity.value() != abi::k_local_memory_bytes)
        p.push_back({severity::error, "local_memory.capacity",
                     fmt::format("is {}, but the address map of the firmware fixes it at {}.",
                                 to_string(local_memory.capacity), to_string(data_size(abi::k_local_memory_bytes)))});
    return p;
}

chip::chip(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const chip_config& config,
           const dma_fabric_view& view, abi::platform_table table, core_gate* gate)
    : sc_core::sc_module(name), core_(make_core(config.core, time, table.rank)), core(*core_), bus("bus", config.bus),
      local("local", config.local_memory), hbm("hbm", config.hbm),
      dma("dma", time, pool, irq_input(core, gate), table.rank, table.ranks, config.dma, view),
      mailbox("mailbox", config.mailbox), rank_(table.rank)
{
    if (gate != nullptr) {
        core.socket.bind(gate->from_core());
        gate->to_bus().bind(bus.socket);
        gate->connect(core, time);
    } else {
        core.socket.bind(bus.socket);
    }
    bus.connect(local.socket, {abi::k_local_memory_base, abi::k_local_memory_bytes, "local memory"});
    bus.connect(mailbox.socket, {abi::k_mailbox_base, k_device_window_bytes, "mailbox"});
    bus.connect(dma.registers, {abi::k_dma_base, k_device_window_bytes, "DMA"});
    bus.connect(hbm.socket, {abi::k_hbm_base, config.hbm.capacity.value(), "HBM"});
    dma.memory.bind(hbm.port);
    mailbox.connect_irq(irq_input(core, gate));

    table.dma_queues = config.dma.queues;
    table.dma_ports = view.ports;
    table.dma_ring_entries = config.dma.ring_entries;
    table.hbm_bytes = config.hbm.capacity.value();
    table.dma_ring_area = abi::k_hbm_base + config.buffer_bytes();
    std::uint32_t words[sizeof table / 4];
    std::memcpy(words, &table, sizeof table);
    table.check = abi::check_word(words, offsetof(abi::platform_table, check) / 4);
    local.write_bytes(abi::k_platform_table_address, &table, sizeof table);
}

void chip::post(const abi::command& command)
{
    local.write_bytes(abi::k_command_address, &command, sizeof command);
    mailbox.post(command.sequence);
}

abi::response chip::response() const
{
    abi::response r;
    local.read_bytes(abi::k_response_address, &r, sizeof r);
    r.where[sizeof r.where - 1] = '\0'; // firmware may be the user's
    return r;
}

std::string chip::blocked_on() const
{
    std::string text = core.blocked() ? "core " + core.blocked_on() : "";
    const std::string engine = dma.blocked_on();
    if (!engine.empty())
        text += (text.empty() ? "" : "; ") + engine;
    return text;
}

} // namespace weft
