// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/chip/chip.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <type_traits>

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
    : sc_core::sc_module(name), core_(make_core(config.core, time, table.rank)), core(*core_), bus("bus", config.bus),
      local("local", config.local_memory), hbm("hbm", config.hbm),
      dma("dma", time, pool, irq_input(core, options.gate), table.rank, table.ranks, config.dma, view),
      mailbox("mailbox", config.mailbox), rank_(table.rank)
{
    if (options.gate != nullptr) {
        core.socket.bind(options.gate->from_core());
        options.gate->to_bus().bind(bus.socket);
        options.gate->connect(core, time);
    } else {
        core.socket.bind(bus.socket);
    }
    bus.connect(local.socket, {abi::k_local_memory_base, abi::k_local_memory_bytes, "local memory"});
    bus.connect(mailbox.socket, {abi::k_mailbox_base, k_device_window_bytes, "mailbox"});
    bus.connect(dma.registers, {abi::k_dma_base, k_device_window_bytes, "DMA"});
    dma.memory.bind(hbm.port);
    mailbox.connect_irq(irq_input(core, options.gate));
    cores_.push_back(&core);
    std::vector<weft::bus*> buses{&bus};
    for (std::uint32_t i = 1; i < options.cores; ++i) {
        further_.push_back(std::make_unique<core_complex>(fmt::format("core_{}", i).c_str(), config, time, rank_));
        for (const core_base* lower : cores_)
            further_.back()->core.goes_after(*lower);
        cores_.push_back(&further_.back()->core);
        buses.push_back(&further_.back()->bus);
    }
    if (options.nic != nullptr) {
        std::vector<irq_if*> lines{&irq_input(core, options.gate)};
        for (const auto& c : further_)
            lines.push_back(&c->core);
        nic_ =
            std::make_unique<ethernet_nic>("nic", time, pool, *options.nic, options.nic_mac, lines, options.carry_data);
        nic_->memory.bind(hbm.port);
    }
    for (weft::bus* b : buses) {
        b->connect(hbm.socket, {abi::k_hbm_base, config.hbm.capacity.value(), "HBM"});
        if (nic_)
            b->connect(nic_->registers, {abi::k_nic_base, k_device_window_bytes, "NIC"});
    }
    write_tables(table, config, options, view.ports);
    time.resets().add(*this);
}

void chip::write_tables(abi::platform_table table, const chip_config& config, const chip_options& options,
                        std::uint32_t ports)
{
    table.dma_queues = config.dma.queues;
    table.dma_ports = ports;
    table.dma_ring_entries = config.dma.ring_entries;
    table.hbm_bytes = config.hbm.capacity.value();
    table.dma_ring_area = abi::k_hbm_base + config.buffer_bytes();
    const auto sign = [](auto& t) {
        std::uint32_t words[sizeof t / 4];
        std::memcpy(words, &t, sizeof t);
        t.check = abi::check_word(words, offsetof(std::remove_reference_t<decltype(t)>, check) / 4);
    };
    const auto put = [this](local_memory& memory, std::uint64_t address, const auto& t) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(&t);
        tables_.push_back({&memory, address, {bytes, bytes + sizeof t}});
        memory.write_bytes(address, bytes, sizeof t);
    };
    sign(table);
    for (std::size_t i = 0; i < cores_.size(); ++i) {
        local_memory& memory = i == 0 ? local : further_[i - 1]->local;
        put(memory, abi::k_platform_table_address, table);
        if (i >= options.jobs.size())
            continue;
        abi::switchml::table job = options.jobs[i];
        sign(job);
        put(memory, abi::switchml::k_table_address, job);
    }
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
    for (core_base* c : cores_)
        c->reset();
    mailbox.reset();
    local.clear();
    for (const auto& c : further_) {
        c->mailbox.reset();
        c->local.clear();
    }
    for (const boot_table& t : tables_)
        t.memory->write_bytes(t.address, t.bytes.data(), t.bytes.size());
    asked_ = 1;
    answers_ = 0;
}

void chip::post(const abi::command& command)
{
    answers_ = 0;
    asked_ = 1;
    write_command(local, mailbox, command);
    if (!abi::by_switch(command.algo))
        return;
    asked_ = cores_.size();
    for (const auto& c : further_)
        c->post(command);
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
    return dma.idle() && mailbox.idle() && (nic_ == nullptr || nic_->idle()) &&
           std::all_of(further_.begin(), further_.end(), [](const auto& c) { return c->mailbox.idle(); });
}

std::string chip::blocked_on() const
{
    std::string text;
    const auto add = [&](const std::string& part) {
        if (!part.empty())
            text += (text.empty() ? "" : "; ") + part;
    };
    for (const core_base* c : cores_)
        if (c->blocked())
            add("core " + c->blocked_on());
    add(dma.blocked_on());
    if (nic_)
        add(nic_->blocked_on());
    return text;
}

} // namespace weft
