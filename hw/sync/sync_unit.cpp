// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/sync/sync_unit.h"

#include "hw/sync/sync_network.h"
#include "tlm/timeline.h"
#include "tlm/trace_sink.h"

#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::uint64_t k_released = 1u << 0, k_failed = 1u << 1; // IRQ_PENDING
constexpr std::uint32_t k_no_member = 1u << 0, k_twice = 1u << 1; // ERROR
} // namespace

sync_unit::sync_unit(const sc_core::sc_module_name& name, timeline& time, sync_network& network, std::uint32_t rank, irq_if& core,
                     duration register_latency)
    : sc_core::sc_module(name), regs("SYNC", abi::k_sync_rows), registers("registers", regs, register_latency), stats(this->name()), network_(network),
      rank_(rank), core_(core)
{
    regs.on_write(abi::sync::ARRIVE, [this](std::uint32_t, std::uint64_t) { arrive(); });
    regs.on_write(abi::sync::IRQ_PENDING, [this](std::uint32_t, std::uint64_t) { update_irq(); });
    regs.on_write(abi::sync::ERROR, [this](std::uint32_t, std::uint64_t) {
        if (regs.at(abi::sync::ERROR) == 0)
            regs.at(abi::sync::IRQ_PENDING) &= ~k_failed;
        update_irq();
    });
    stats.add("waited", "ps", "From arrivals to releases, of all ranks together", waited_);
    network_.add(*this);
    time.components().add(*this);
}

void sync_unit::arrive()
{
    if (arrived_)
        return fail(k_twice);
    const auto value = [this](std::uint64_t offset) { return static_cast<std::uint32_t>(regs.at(offset)); };
    zone_ = {value(abi::sync::ZONE_FIRST), value(abi::sync::ZONE_STRIDE), value(abi::sync::ZONE_MEMBERS)};
    arrived_ps_ = registers.access_ps();
    arrived_ = network_.arrive(rank_, zone_, arrived_ps_);
    if (!arrived_)
        fail(k_no_member);
}

void sync_unit::release(std::uint64_t now_ps)
{
    arrived_ = false;
    waited_.add_ps(now_ps - arrived_ps_);
    if (trace_ != nullptr)
        trace_->slice({track_, arrived_ps_, now_ps - arrived_ps_, "sync", fmt::format("\"zone\": \"{}\"", zone_.text())});
    ++regs.at(abi::sync::RELEASES);
    regs.at(abi::sync::IRQ_PENDING) |= k_released;
    update_irq();
}

void sync_unit::fail(std::uint32_t bits)
{
    regs.at(abi::sync::ERROR) |= bits;
    regs.at(abi::sync::IRQ_PENDING) |= k_failed;
    update_irq();
}

void sync_unit::update_irq() { core_.set_irq(abi::k_irq_sync, regs.at(abi::sync::IRQ_PENDING) != 0); }

void sync_unit::reset(std::uint32_t)
{
    regs.reset();
    arrived_ = false;
    update_irq();
}

void sync_unit::record_into(trace_sink& trace)
{
    trace_ = &trace;
    track_ = trace.add_track(*this, "sync");
}

} // namespace weft
