// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/firmware_bench/fault_gate.h"

#include "hw/abi/descriptor.h"
#include "hw/abi/hal.h"
#include "hw/abi/nic.h"
#include "hw/abi/registers.h"

#include <algorithm>
#include <cstring>

namespace weft {

namespace {

bool in_window(std::uint64_t address, std::uint64_t base)
{
    constexpr std::uint64_t k_window_bytes = 0x1'0000;
    return address >= base && address - base < k_window_bytes;
}

/// Index of the element of a register array at `offset`; `count` when there is none.
template <class Offset> std::uint32_t index_of(std::uint64_t offset, std::uint32_t count, Offset offset_of)
{
    for (std::uint32_t i = 0; i < count; ++i)
        if (offset == offset_of(i))
            return i;
    return count;
}

} // namespace

std::uint64_t bus_access::value() const
{
    std::uint64_t v = 0;
    std::memcpy(&v, data, std::min<std::uint32_t>(bytes, sizeof v));
    return v;
}

void bus_access::set_value(std::uint64_t value) { std::memcpy(data, &value, std::min<std::uint32_t>(bytes, 8)); }

void fault::on_lines(fault_gate& gate, std::uint32_t lines) { gate.drive(lines); }

fault_gate::fault_gate(const sc_core::sc_module_name& name, std::unique_ptr<fault> fault)
    : sc_core::sc_module(name), from_core_("from_core"), to_bus_("to_bus"), fault_(std::move(fault))
{
    if (!fault_)
        fault_ = std::make_unique<weft::fault>();
    from_core_.bind(static_cast<::tlm::tlm_fw_transport_if<>&>(*this));
}

void fault_gate::connect(irq_if& core, timeline& time)
{
    core_ = &core;
    time_ = &time;
    actor_ = time.register_actors(1);
}

void fault_gate::start_of_simulation() { fault_->start(*this); }

void fault_gate::mark(std::uint64_t address)
{
    if (counts_.strikes++ == 0)
        counts_.struck_address = address;
}

void fault_gate::drive(std::uint32_t lines)
{
    const std::uint32_t fall = core_lines_ & ~lines;
    const std::uint32_t rise = lines & ~core_lines_;
    core_lines_ = lines;
    if (fall != 0)
        core_->set_irq(fall, false);
    if (rise != 0)
        core_->set_irq(rise, true);
}

void fault_gate::call_at(std::uint64_t time_ps)
{
    time_->schedule(std::max(time_ps, time_->now_ps()), make_order(event_class::device, actor_, sequence_++), *this, 0,
                    0);
}

void fault_gate::on_event(std::uint32_t, std::uint8_t) { fault_->on_time(*this); }

void fault_gate::set_irq(std::uint32_t lines, bool level)
{
    const std::uint32_t before = device_lines_;
    device_lines_ = level ? device_lines_ | lines : device_lines_ & ~lines;
    const std::uint32_t rises = device_lines_ & ~before;
    if ((rises & abi::k_irq_dma) != 0)
        ++counts_.dma_interrupts;
    if (const std::uint32_t guests = rises & ~(abi::k_irq_dma | abi::k_irq_mailbox); guests != 0) {
        ++counts_.guest_interrupts;
        counts_.guest_lines |= guests;
    }
    fault_->on_lines(*this, device_lines_);
}

std::uint64_t fault_gate::peek(std::uint64_t address, std::uint32_t bytes)
{
    std::uint64_t value = 0;
    to_bus_.read_debug(address, &value, bytes);
    return value;
}

bool fault_gate::has_bytes_to_send(const sc_core::sc_time& delay)
{
    const auto read = [&](std::uint64_t address) { // HEAD is made when it is read
        std::uint32_t value = 0;
        ::tlm::tlm_generic_payload trans;
        trans.set_command(::tlm::TLM_READ_COMMAND);
        trans.set_address(address);
        trans.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        trans.set_data_length(sizeof value);
        trans.set_streaming_width(sizeof value);
        sc_core::sc_time unused = delay;
        to_bus_->b_transport(trans, unused);
        return value;
    };
    const std::uint64_t queues = peek(abi::k_dma_base + abi::dma::QUEUES, 4);
    for (std::uint32_t q = 0; q < queues; ++q)
        if (read(abi::k_dma_base + abi::dma::HEAD(q)) != peek(abi::k_dma_base + abi::dma::TAIL(q), 4))
            return true;
    return false;
}

bool fault_gate::in_descriptor_ring(const bus_access& access)
{
    if (ring_begin_ == 0) {
        abi::platform_table table;
        to_bus_.read_debug(abi::k_platform_table_address, &table, sizeof table);
        ring_begin_ = table.dma_ring_area;
        ring_end_ = ring_begin_ + std::uint64_t{table.dma_queues} * table.dma_ring_entries * abi::k_descriptor_bytes;
    }
    return access.address >= ring_begin_ && access.address < ring_end_;
}

bool fault_gate::rings_guest(const bus_access& access)
{
    if (access.is_write && access.address == abi::k_sync_base + abi::sync::ARRIVE)
        return true;
    return access.is_write && in_window(access.address, abi::k_nic_base) &&
           index_of(access.address - abi::k_nic_base, abi::nic::TX_TAIL_count, abi::nic::TX_TAIL) !=
               abi::nic::TX_TAIL_count;
}

void fault_gate::count(const bus_access& access)
{
    ++counts_.accesses;
    counts_.guest_doorbells += rings_guest(access) ? 1 : 0;
    if (in_window(access.address, abi::k_dma_base)) {
        const std::uint64_t offset = access.address - abi::k_dma_base;
        counts_.dma_writes += access.is_write ? 1 : 0;
        if (access.is_write && index_of(offset, abi::dma::TAIL_count, abi::dma::TAIL) != abi::dma::TAIL_count)
            ++counts_.doorbells;
        if (access.is_write &&
            index_of(offset, abi::dma::SEM_THRESHOLD_count, abi::dma::SEM_THRESHOLD) != abi::dma::SEM_THRESHOLD_count)
            ++counts_.arms;
        if (!access.is_write && index_of(offset, abi::dma::HEAD_count, abi::dma::HEAD) != abi::dma::HEAD_count)
            ++counts_.head_reads;
    } else if (in_window(access.address, abi::k_mailbox_base)) {
        const bool done = access.address - abi::k_mailbox_base == abi::mailbox::DONE;
        counts_.mailbox_writes += access.is_write && !done ? 1 : 0;
    } else if (!access.is_write && access.address == abi::k_command_address) {
        ++counts_.commands;
    } else if (access.is_write && in_descriptor_ring(access)) {
        ++counts_.descriptors;
    }
}

void fault_gate::b_transport(::tlm::tlm_generic_payload& trans, sc_core::sc_time& delay)
{
    bus_access access;
    access.address = trans.get_address();
    access.bytes = trans.get_data_length();
    access.is_write = trans.is_write();
    access.data = trans.get_data_ptr();
    if (access.is_write) {
        written_.assign(access.data, access.data + access.bytes);
        access.data = written_.data();
    }
    count(access);
    access.number = counts_.accesses;
    const gate_action action = fault_->before(*this, access);
    if (action != gate_action::pass) {
        delay += sc_time_from_ps(k_refused_access_ps);
        trans.set_response_status(action == gate_action::refuse ? ::tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                                : ::tlm::TLM_OK_RESPONSE);
        return;
    }
    if (access.is_write && access.address == abi::k_mailbox_base + abi::mailbox::DONE) {
        // Looked at before the host hears of it: what is in memory now is what the host will read.
        counts_.last_done = access.value();
        abi::response response;
        to_bus_.read_debug(abi::k_response_address, &response, sizeof response);
        counts_.done_without_response += response.sequence != access.value() ? 1 : 0;
        counts_.done_without_command +=
            peek(abi::k_mailbox_base + abi::mailbox::COMMAND_SEQUENCE, 4) != access.value() ? 1 : 0;
        const bool ok = response.code == abi::status_code::ok;
        counts_.done_before_sent += ok && has_bytes_to_send(delay) ? 1 : 0;
    }
    unsigned char* const data = trans.get_data_ptr();
    trans.set_data_ptr(access.data);
    to_bus_->b_transport(trans, delay);
    trans.set_data_ptr(data);
    if (trans.is_response_ok())
        fault_->after(*this, access);
}

unsigned int fault_gate::transport_dbg(::tlm::tlm_generic_payload& trans) { return to_bus_->transport_dbg(trans); }

} // namespace weft
