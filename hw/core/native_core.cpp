// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/core/native_core.h"

#include "tlm/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft {

native_core::native_core(const sc_core::sc_module_name& name, const core_config& config, notifier& wake)
    : core_base(name, config, wake)
{
    SC_THREAD(run);
    set_stack_size(static_cast<std::size_t>(config.host_stack_bytes()));
}

void native_core::load(const firmware_image& firmware, std::uint64_t argument)
{
    if (entry_ || !firmware.entry)
        throw bug(name(), kernel_now_ps(), entry_ ? "firmware is loaded twice" : "there is no firmware to load");
    entry_ = firmware.entry;
    argument_ = argument;
    has_firmware_ = true;
}

void native_core::run()
{
    if (!entry_)
        return has_no_firmware();
    for (;;) {
        try {
            begin_firmware();
            entry_(*this, argument_);
            sync();
            activity_ = activity::finished;
            since_ps_ = kernel_now_ps();
            wait_for_reset();
        } catch (const core_reset&) { // unwinds the firmware
        }
        come_out_of_reset();
        fault_ = {};
    }
}

// ---- time
// ----------------------------------------------------------------------------------------------------------------

void native_core::compute(std::uint32_t work)
{
    instructions.add(work);
    charge(ps_of_instructions(work)); // by itself: the same work takes the same time whatever was before
}

void native_core::charge_copy(std::uint32_t bytes)
{
    charge_cycles(cycle_count((std::uint64_t{bytes} + 7) / 8 * config_.copy_per_8_bytes.value()));
}

void native_core::charge_copies(std::uint64_t address, std::uint32_t bytes, std::uint32_t times)
{
    if (times == 0)
        return;
    unsigned char nowhere[abi::k_hal_most_charged_bytes];
    const std::uint64_t start_ps = local_now_ps();
    copy_in(nowhere, address, std::min(bytes, abi::k_hal_most_charged_bytes));
    charge((local_now_ps() - start_ps) * (times - 1));
}

std::uint64_t native_core::now_ns()
{
    const std::uint64_t now = local_now_ps() / 1000;
    charge_cycles(config_.clock_read);
    return now;
}

void native_core::log(const char* text, std::uint64_t value)
{
    if (log_)
        log_->on_log(name(), local_now_ps(), text, value);
}

// ---- bus
// -----------------------------------------------------------------------------------------------------------------

void native_core::record_fault(std::uint64_t address, bool was_write)
{
    if (!fault_.set)
        fault_ = {true, was_write, address};
}

bool native_core::read(std::uint64_t address, void* to, std::uint32_t bytes)
{
    const bool ok = read_bus(address, to, bytes);
    if (!ok)
        record_fault(address, false);
    return ok;
}

void native_core::write(std::uint64_t address, const void* from, std::uint32_t bytes)
{
    if (!write_bus(address, from, bytes))
        record_fault(address, true);
}

std::uint32_t native_core::read32(std::uint64_t address)
{
    ++mmio_reads;
    std::uint32_t value = 0;
    read(address, &value, sizeof value);
    return value;
}

std::uint64_t native_core::read64(std::uint64_t address)
{
    ++mmio_reads;
    std::uint64_t value = 0;
    read(address, &value, sizeof value);
    return value;
}

void native_core::write32(std::uint64_t address, std::uint32_t value)
{
    ++mmio_writes;
    write(address, &value, sizeof value);
}

void native_core::write64(std::uint64_t address, std::uint64_t value)
{
    ++mmio_writes;
    write(address, &value, sizeof value);
}

void native_core::copy_in(void* to, std::uint64_t from_address, std::uint32_t bytes)
{
    if (bytes == 0)
        return;
    bytes_copied.add(bytes);
    read(from_address, to, bytes);
    charge_copy(bytes);
}

void native_core::copy_out(std::uint64_t to_address, const void* from, std::uint32_t bytes)
{
    if (bytes == 0)
        return;
    bytes_copied.add(bytes);
    write(to_address, from, bytes);
    charge_copy(bytes);
}

// ---- interrupts
// ----------------------------------------------------------------------------------------------------------

std::uint32_t native_core::wait_irq(std::uint32_t mask, std::uint64_t timeout_ns)
{
    charge_cycles(config_.wait_entry);
    if ((lines_ & mask) != 0)
        return lines_ & mask;
    sleep(mask, deadline_of(local_now_ps(), timeout_ns));
    return lines_ & mask;
}

bool native_core::poll_until(std::uint64_t address, std::uint32_t mask, std::uint32_t expected,
                             std::uint64_t timeout_ns)
{
    charge_cycles(config_.wait_entry);
    since_ps_ = local_now_ps();
    deadline_ps_ = deadline_of(since_ps_, timeout_ns);
    activity_ = activity::polling;
    poll_address_ = address;
    poll_mask_ = mask;
    poll_expected_ = expected;
    polled_at_ps_ = 0;
    bool met = false;
    cycle_count interval = config_.poll_interval;
    for (;;) {
        ++mmio_reads;
        const std::uint64_t read_at_ps = local_now_ps();
        std::uint32_t value = 0;
        if (!read(address, &value, sizeof value))
            break; // fault() says why; polling on would not make the device appear
        met = (value & mask) == expected;
        if (met || local_now_ps() >= deadline_ps_)
            break;
        polled_at_ps_ = read_at_ps;
        compute(abi::k_hal_poll_instructions);
        charge_cycles(interval);
        interval = std::min(cycle_count(2 * interval.value()), config_.poll_interval_max);
    }
    activity_ = activity::running;
    if (!met)
        ++timeouts;
    return met;
}

std::string native_core::waits_for() const
{
    if (activity_ == activity::polling)
        return fmt::format("polls {:#x} until (value & {:#x}) == {:#x}", poll_address_, poll_mask_, poll_expected_);
    return core_base::waits_for();
}

} // namespace weft
