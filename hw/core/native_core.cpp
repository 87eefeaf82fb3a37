// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/core/native_core.h"

#include "hw/core/address_text.h"
#include "hw/core/host_watch.h"
#include "tlm/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <ucontext.h>
#include <unistd.h>

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
            host_watch::hold_if_given_up();
            begin_firmware();
            {
                const inside_firmware running(*this);
                entry_(*this, argument_);
            }
            sync();
            activity_ = activity::finished;
            since_ps_ = kernel_now_ps();
            wait_for_reset();
        } catch (const core_reset&) { // unwinds the firmware
        }
        come_out_of_reset();
        least_move_ps_.clear();
        fault_ = {};
    }
}

// ---- host_watch

/// Makes the interrupted thread go on in stay_abandoned(), as if the firmware had called it: no call of the HAL is
/// under way, so nothing of the simulation is half done.
void native_core::abandon(void* context)
{
    auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    constexpr greg_t k_red_zone_bytes = 128;
    constexpr greg_t k_direction_flag = 0x400;
    abandoned_at_ = static_cast<std::uint64_t>(machine.gregs[REG_RIP]);
    const greg_t stack = ((machine.gregs[REG_RSP] - k_red_zone_bytes) & ~greg_t{15}) - 8; // as behind a call
    *reinterpret_cast<greg_t*>(stack) = 0;                                                // nobody to return to
    machine.gregs[REG_RSP] = stack;
    machine.gregs[REG_RDI] = reinterpret_cast<greg_t>(this);
    machine.gregs[REG_RIP] = reinterpret_cast<greg_t>(&stay_abandoned);
    machine.gregs[REG_EFL] &= ~k_direction_flag;
#elif defined(__aarch64__)
    abandoned_at_ = machine.pc;
    machine.sp &= ~15ull;
    machine.regs[0] = reinterpret_cast<std::uint64_t>(this);
    machine.regs[30] = 0;
    machine.pc = reinterpret_cast<std::uint64_t>(&stay_abandoned);
#else
    constexpr char k_text[] =
        "weft: the firmware of a native core loops without a call of the HAL; the run ends here.\n";
    if (write(STDERR_FILENO, k_text, sizeof k_text - 1) >= 0)
        _exit(1);
    _exit(1);
#endif
}

void native_core::stay_abandoned(native_core* core)
{
    executing(nullptr);
    core->failure_ =
        fmt::format("the firmware has kept the host busy for {} s of CPU time without a call of the HAL that "
                    "lets simulated time pass, an endless loop?",
                    core->quiet_ticks() / host_watch::k_ticks_per_second);
    core->activity_ = activity::failed;
    core->since_ps_ = kernel_now_ps();
    host_watch::give_up();
    for (;;)
        host_watch::hold_if_given_up();
}

std::uint64_t native_core::code_address() const
{
    if (abandoned_at_ != 0)
        return abandoned_at_;
    return called_from_ == nullptr ? 0 : reinterpret_cast<std::uint64_t>(called_from_) - 1; // in the call before it
}

// ---- time -----------------------------------------------------------------------------------------------------------

void native_core::compute(std::uint32_t work)
{
    const hal_call call(*this, __builtin_return_address(0));
    pay_instructions(work);
}

void native_core::spin(std::uint32_t work)
{
    const hal_call call(*this, __builtin_return_address(0));
    const std::uint64_t since_ps = local_now_ps();
    instructions.add(work);
    pass(ps_of_instructions(work));
    if (records())
        record_wait(since_ps, "spins");
}

void native_core::pay_instructions(std::uint32_t work)
{
    instructions.add(work);
    charge(ps_of_instructions(work)); // by itself: the same work takes the same time whatever was before
}

void native_core::charge_move(std::uint32_t bytes, move how)
{
    if (how == move::copy || config_.instruction_set == abi::instruction_set::rv64gc)
        charge_cycles(cycle_count((std::uint64_t{bytes} + 7) / 8 * config_.copy_per_8_bytes.value()));
}

void native_core::charge_copies(std::uint64_t address, std::uint32_t bytes, std::uint64_t times)
{
    const hal_call call(*this, __builtin_return_address(0));
    charge_moves(address, bytes, times, move::copy);
}

void native_core::charge_streams(std::uint64_t address, std::uint32_t bytes, std::uint64_t times)
{
    const hal_call call(*this, __builtin_return_address(0));
    charge_moves(address, bytes, times, move::stream);
}

void native_core::charge_moves(std::uint64_t address, std::uint32_t bytes, std::uint64_t times, move how)
{
    if (times == 0)
        return;
    unsigned char nowhere[abi::k_hal_most_charged_bytes];
    const std::uint64_t start_ps = local_now_ps(), waited_ps = memory_time.value();
    move_in(nowhere, address, std::min(bytes, abi::k_hal_most_charged_bytes), how);
    const std::uint64_t took_ps = local_now_ps() - start_ps;
    // This one waits for all that engines have asked the memory for so far, which those behind it find done: they take
    // what one has taken at least.
    const auto least = least_move_ps_.try_emplace({bytes, how}, took_ps).first;
    least->second = std::min(least->second, took_ps);
    if (took_ps != 0) // waits for memory are the same share of each
        memory_time.add_ps(least->second * (memory_time.value() - waited_ps) / took_ps * (times - 1));
    charge(least->second * (times - 1));
}

std::uint64_t native_core::now_ns()
{
    const hal_call call(*this, __builtin_return_address(0));
    const std::uint64_t now = local_now_ps() / 1000;
    charge_cycles(config_.clock_read);
    return now;
}

void native_core::log(const char* text, std::uint64_t value)
{
    const hal_call call(*this, __builtin_return_address(0));
    if (log_)
        log_->on_log(name(), local_now_ps(), text, value);
}

// ---- bus ------------------------------------------------------------------------------------------------------------

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
    const hal_call call(*this, __builtin_return_address(0));
    ++mmio_reads;
    std::uint32_t value = 0;
    read(address, &value, sizeof value);
    return value;
}

std::uint64_t native_core::read64(std::uint64_t address)
{
    const hal_call call(*this, __builtin_return_address(0));
    ++mmio_reads;
    std::uint64_t value = 0;
    read(address, &value, sizeof value);
    return value;
}

void native_core::write32(std::uint64_t address, std::uint32_t value)
{
    const hal_call call(*this, __builtin_return_address(0));
    ++mmio_writes;
    write(address, &value, sizeof value);
}

void native_core::write64(std::uint64_t address, std::uint64_t value)
{
    const hal_call call(*this, __builtin_return_address(0));
    ++mmio_writes;
    write(address, &value, sizeof value);
}

void native_core::copy_in(void* to, std::uint64_t from_address, std::uint32_t bytes)
{
    const hal_call call(*this, __builtin_return_address(0));
    move_in(to, from_address, bytes, move::copy);
}

void native_core::copy_out(std::uint64_t to_address, const void* from, std::uint32_t bytes)
{
    const hal_call call(*this, __builtin_return_address(0));
    move_out(to_address, from, bytes, move::copy);
}

void native_core::stream_in(void* to, std::uint64_t from_address, std::uint32_t bytes)
{
    const hal_call call(*this, __builtin_return_address(0));
    move_in(to, from_address, bytes, move::stream);
}

void native_core::stream_out(std::uint64_t to_address, const void* from, std::uint32_t bytes)
{
    const hal_call call(*this, __builtin_return_address(0));
    move_out(to_address, from, bytes, move::stream);
}

void native_core::move_in(void* to, std::uint64_t from_address, std::uint32_t bytes, move how)
{
    if (bytes == 0)
        return;
    bytes_copied.add(bytes);
    read(from_address, to, bytes);
    charge_move(bytes, how);
}

void native_core::move_out(std::uint64_t to_address, const void* from, std::uint32_t bytes, move how)
{
    if (bytes == 0)
        return;
    bytes_copied.add(bytes);
    write(to_address, from, bytes);
    charge_move(bytes, how);
}

// ---- interrupts -----------------------------------------------------------------------------------------------------

std::uint32_t native_core::wait_irq(std::uint32_t mask, std::uint64_t timeout_ns)
{
    const hal_call call(*this, __builtin_return_address(0));
    charge_cycles(config_.wait_entry);
    if ((lines_ & mask) != 0)
        return lines_ & mask;
    sleep(mask, deadline_of(local_now_ps(), timeout_ns));
    return lines_ & mask;
}

bool native_core::poll_until(std::uint64_t address, std::uint32_t mask, std::uint32_t expected,
                             std::uint64_t timeout_ns)
{
    const hal_call call(*this, __builtin_return_address(0));
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
        pay_instructions(abi::k_hal_poll_instructions);
        pass_cycles(interval);
        interval = std::min(cycle_count(2 * interval.value()), config_.poll_interval_max);
    }
    if (records())
        record_wait(since_ps_, waits_for());
    activity_ = activity::running;
    if (!met)
        ++timeouts;
    return met;
}

std::string native_core::waits_for() const
{
    if (activity_ == activity::polling)
        return fmt::format("polls {:#x}, {}, until (value & {:#x}) == {:#x}", poll_address_,
                           address_text(poll_address_), poll_mask_, poll_expected_);
    return core_base::waits_for();
}

} // namespace weft
