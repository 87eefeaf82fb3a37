// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/chip/chip.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {
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
           const dma_fabric_view& view, abi::platform_table table, const chip_options& options)
    : sc_core::sc_module(name), core_(make_core(config.core, time, table.rank)),
      memory_(options.memory ? options.memory() : std::make_unique<hbm>("hbm", config.hbm)), core(*core_),
      bus("bus", config.bus), local("local", config.local_memory), memory(*memory_),
      dma("dma", time, pool, irq_input(core, options.gate), table.rank, table.ranks, config.dma, view),
      mailbox("mailbox", config.mailbox), rank_(table.rank), gate_(options.gate), on_all_cores_(options.on_all_cores)
{
    if (memory.capacity_bytes() != config.hbm.capacity.value()) // buffers and rings are laid out by the configuration
        throw bug(this->name(), 0, "the memory of the chip has another capacity than its configuration says");
    if (gate_ != nullptr) {
        core.socket.bind(gate_->from_core());
        gate_->to_bus().bind(bus.socket);
        gate_->connect(core, time);
    } else {
        core.socket.bind(bus.socket);
    }
    bus.connect(local.socket, {abi::k_local_memory_base, abi::k_local_memory_bytes, "local memory"});
    bus.connect(mailbox.socket, {abi::k_mailbox_base, k_device_window_bytes, "mailbox"});
    bus.connect(dma.registers, {abi::k_dma_base, k_device_window_bytes, "DMA"});
    dma.memory.bind(memory);
    mailbox.connect_irq(irq_input(core, gate_));
    cores_.push_back(&core);
    for (std::uint32_t i = 1; i < options.cores; ++i) {
        further_.push_back(std::make_unique<core_complex>(fmt::format("core_{}", i).c_str(), config, time, rank_));
        for (const core_base* lower : cores_)
            further_.back()->core.goes_after(*lower);
        cores_.push_back(&further_.back()->core);
    }
    attach(memory.window(), {abi::k_hbm_base, memory.capacity_bytes(), "HBM"});
    for (const guest_maker& make : options.guests)
        guests_.push_back(make(*this));

    table.dma_queues = config.dma.queues;
    table.dma_ports = view.ports;
    table.dma_ring_entries = config.dma.ring_entries;
    table.hbm_bytes = memory.capacity_bytes();
    table.dma_ring_area = abi::k_hbm_base + memory.capacity_bytes() - config.ring_area_bytes();
    table_ = table;
    tables_ = options.tables;
    tables_.resize(cores_.size());
    for (std::vector<boot_table>& of_core : tables_)
        of_core.push_back(signed_table(abi::k_platform_table_address, table));
    write_tables();

    const auto add_all = [&](auto&... parts) { (time.components().add(parts), ...); };
    add_all(core, bus, local, memory, mailbox);
    for (const auto& c : further_)
        add_all(c->core, c->bus, c->local, c->mailbox);
    add_all(*this);
}

void chip::write_tables()
{
    for (std::size_t i = 0; i < tables_.size(); ++i)
        for (const boot_table& t : tables_[i])
            local_of(i).write_bytes(t.address, t.bytes.data(), t.bytes.size());
}

void chip::attach(::tlm::tlm_base_target_socket_b<>& registers, const bus_window& window)
{
    bus.connect(registers, window);
    for (const auto& c : further_)
        c->bus.connect(registers, window);
}

std::vector<irq_if*> chip::interrupts()
{
    std::vector<irq_if*> lines{&irq_input(core, gate_)};
    for (const auto& c : further_)
        lines.push_back(&c->core);
    return lines;
}

void chip::connect_host(mailbox_listener& host)
{
    host_ = &host;
    mailbox.connect_host(*this, rank_);
    for (const auto& c : further_)
        c->mailbox.connect_host(*this, rank_);
}

void chip::on_done(std::uint32_t rank, std::uint32_t sequence)
{
    if (++answers_ < asked_)
        return;
    answers_ = 0;
    if (host_ != nullptr)
        host_->on_done(rank, sequence);
}

void chip::reset(std::uint32_t)
{
    write_tables();
    asked_ = 1;
    answers_ = 0;
}

void chip::post(const abi::command& command)
{
    answers_ = 0;
    asked_ = 1;
    write_command(local, mailbox, command);
    if (!abi::is_in(on_all_cores_, command.algo))
        return;
    asked_ = cores_.size();
    for (const auto& c : further_)
        c->post(command);
}

void chip::write_group(abi::platform_table group, const std::vector<std::uint32_t>& members)
{
    const boot_table t = signed_table(abi::k_group_table_address, group);
    local.write_bytes(t.address, t.bytes.data(), t.bytes.size());
    local.write_bytes(group.members, reinterpret_cast<const std::uint8_t*>(members.data()),
                      members.size() * sizeof members[0]);
}

abi::response chip::response() const
{
    abi::response all = read_response(local);
    if (asked_ == 1)
        return all;
    std::uint32_t messages = all.messages;
    std::uint32_t steps = all.steps;
    for (const auto& c : further_) {
        const abi::response r = c->response();
        messages += r.messages;
        steps = std::max(r.steps, steps);
    }
    if (const std::size_t first = speaker(); first != 0)
        all = further_[first - 1]->response();
    all.messages = messages;
    all.steps = steps;
    return all;
}

/// A core that has not answered, or has failed, speaks for the chip.
std::size_t chip::speaker() const
{
    const abi::response first = read_response(local);
    for (std::size_t i = 0; asked_ != 1 && first.code == abi::status_code::ok && i < further_.size(); ++i) {
        const abi::response r = further_[i]->response();
        if (r.code != abi::status_code::ok || r.sequence != first.sequence)
            return i + 1;
    }
    return 0;
}

bool chip::idle() const
{
    return dma.idle() && mailbox.idle() &&
           std::all_of(further_.begin(), further_.end(), [](const auto& c) { return c->mailbox.idle(); });
}

const chip* chip_of(const component& c)
{
    const auto* object = dynamic_cast<const sc_core::sc_object*>(&c);
    for (; object != nullptr; object = object->get_parent_object())
        if (const auto* found = dynamic_cast<const chip*>(object))
            return found;
    return nullptr;
}

} // namespace weft
