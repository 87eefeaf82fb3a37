// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/core/native_core.h"

#include "tlm/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft {

namespace {
/// `start_ps` + `timeout_ns`, k_never_ps when there is no timeout or it lies beyond the end of time.
std::uint64_t deadline_of(std::uint64_t start_ps, std::uint64_t timeout_ns)
{
    if (timeout_ns > (k_never_ps - start_ps - 1) / 1000)
        return k_never_ps;
    return start_ps + timeout_ns * 1000;
}

std::string time_text(std::uint64_t time_ps)
{
    return time_ps == k_never_ps ? std::string("never") : rounded_text(duration(time_ps));
}
} // namespace

std::vector<config_problem> core_config::validate() const
{
    std::vector<config_problem> problems;
    const auto need = [&](bool ok, const char* key, std::string text) {
        if (!ok)
            problems.push_back({severity::error, key, std::move(text)});
    };
    need(clock.value() >= 1'000'000 && clock.value() <= 100'000'000'000, "clock",
         fmt::format("is {}, must be 1 MHz to 100 GHz; 940 MHz is the default.", to_string(clock)));
    const std::pair<const char*, cycle_count> costs[] = {
        {"mmio_overhead", mmio_overhead}, {"copy_per_8_bytes", copy_per_8_bytes},
        {"irq_wake", irq_wake},           {"wait_entry", wait_entry},
        {"poll_interval", poll_interval}, {"poll_interval_max", poll_interval_max},
        {"clock_read", clock_read},       {"log_line", log_line}};
    for (const auto& [key, cost] : costs)
        need(cost.value() <= 1'000'000, key, fmt::format("is {}, must be at most 1000000 cycles.", to_string(cost)));
    // Loops that wait, poll or look at the clock must get on in simulated time.
    for (const auto& [key, cost] : {std::pair{"wait_entry", wait_entry}, std::pair{"clock_read", clock_read},
                                    std::pair{"poll_interval", poll_interval}})
        need(cost.value() >= 1, key,
             "is 0 cycles, must be at least 1 cycle, or a loop that waits would never get on in time.");
    need(poll_interval_max >= poll_interval || poll_interval.value() == 0, "poll_interval_max",
         fmt::format("is {}, below poll_interval ({}), with which the intervals begin.", to_string(poll_interval_max),
                     to_string(poll_interval)));
    need(max_ahead.value() >= 1'000 && max_ahead.value() <= 1'000'000'000, "max_ahead",
         fmt::format("is {}, must be 1 ns to 1 ms; 1 us is the default.", to_string(max_ahead)));
    need(stack.value() >= 32 << 10 && stack.value() <= 8 << 20, "stack",
         fmt::format("is {}, must be 32 KiB to 8 MiB; 64 KiB is the default.", to_string(stack)));
    return problems;
}

native_core::native_core(const sc_core::sc_module_name& name, const core_config& config, notifier& wake)
    : sc_core::sc_module(name), socket("socket"), stats(this->name()), config_(config), wake_(wake), irq_event_("irq"),
      timeout_event_("timeout")
{
    require_picoseconds(this->name());
    SC_THREAD(run);
    set_stack_size(static_cast<std::size_t>(config.stack.value()));
    ps_per_1024_cycles_ = cycles_to_ps(1024, config.clock);
    irq_wake_ps_ = cycles_to_ps(config.irq_wake.value(), config.clock);
    wake_list_ |= irq_event_;
    wake_list_ |= timeout_event_;
    stats.add("mmio_reads", "1", "Register reads", mmio_reads);
    stats.add("mmio_writes", "1", "Register writes", mmio_writes);
    stats.add("bytes_copied", "B", "Bytes copied between firmware and memory on the bus", bytes_copied);
    stats.add("bus_faults", "1", "Accesses that were answered with an error", bus_faults);
    stats.add("wakeups", "1", "Sleeps that an interrupt ended", wakeups);
    stats.add("timeouts", "1", "Waits that ran out", timeouts);
    stats.add("thread_switches", "1", "Switches of the firmware's thread, a cost on the host", thread_switches);
    stats.add("busy_time", "ps", "Time in which the core worked or waited for the bus", busy_time);
}

void native_core::load(firmware_entry entry, std::uint64_t argument)
{
    if (entry_ || !entry)
        throw bug(name(), kernel_now_ps(), entry ? "firmware is loaded twice" : "there is no firmware to load");
    entry_ = entry;
    argument_ = argument;
}

void native_core::run()
{
    if (!entry_)
        return;
    activity_ = activity::running;
    entry_(*this, argument_);
    sync();
    activity_ = activity::finished;
    since_ps_ = kernel_now_ps();
}

// ---- time
// ----------------------------------------------------------------------------------------------------------------

void native_core::charge(std::uint64_t span_ps)
{
    ahead_ps_ += span_ps;
    busy_time.add_ps(span_ps);
    if (ahead_ps_ >= config_.max_ahead.value())
        sync();
}

void native_core::sync()
{
    if (ahead_ps_ == 0)
        return;
    const auto span = sc_time_from_ps(ahead_ps_);
    ahead_ps_ = 0;
    ++thread_switches;
    sc_core::wait(span);
}

void native_core::compute(std::uint32_t cycles) { charge_cycles(cycle_count(cycles)); }

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
    charge_cycles(config_.log_line);
}

// ---- bus
// -----------------------------------------------------------------------------------------------------------------

void native_core::record_fault(std::uint64_t address, bool was_write)
{
    ++bus_faults;
    if (!fault_.set)
        fault_ = {true, was_write, address};
}

bool native_core::read_bus(std::uint64_t address, void* to, std::uint32_t bytes)
{
    sync();
    std::uint64_t delay_ps = 0;
    const bool ok = socket.read(address, to, bytes, delay_ps) == ::tlm::TLM_OK_RESPONSE;
    if (!ok)
        record_fault(address, false);
    charge(delay_ps);
    charge_cycles(config_.mmio_overhead);
    return ok;
}

void native_core::write_bus(std::uint64_t address, const void* from, std::uint32_t bytes)
{
    sync();
    std::uint64_t delay_ps = 0;
    if (socket.write(address, from, bytes, delay_ps) != ::tlm::TLM_OK_RESPONSE)
        record_fault(address, true);
    charge(delay_ps);
    charge_cycles(config_.mmio_overhead);
}

std::uint32_t native_core::read32(std::uint64_t address)
{
    ++mmio_reads;
    std::uint32_t value = 0;
    read_bus(address, &value, sizeof value);
    return value;
}

std::uint64_t native_core::read64(std::uint64_t address)
{
    ++mmio_reads;
    std::uint64_t value = 0;
    read_bus(address, &value, sizeof value);
    return value;
}

void native_core::write32(std::uint64_t address, std::uint32_t value)
{
    ++mmio_writes;
    write_bus(address, &value, sizeof value);
}

void native_core::write64(std::uint64_t address, std::uint64_t value)
{
    ++mmio_writes;
    write_bus(address, &value, sizeof value);
}

void native_core::copy_in(void* to, std::uint64_t from_address, std::uint32_t bytes)
{
    if (bytes == 0)
        return;
    bytes_copied.add(bytes);
    read_bus(from_address, to, bytes);
    charge_cycles(cycle_count((std::uint64_t{bytes} + 7) / 8 * config_.copy_per_8_bytes.value()));
}

void native_core::copy_out(std::uint64_t to_address, const void* from, std::uint32_t bytes)
{
    if (bytes == 0)
        return;
    bytes_copied.add(bytes);
    write_bus(to_address, from, bytes);
    charge_cycles(cycle_count((std::uint64_t{bytes} + 7) / 8 * config_.copy_per_8_bytes.value()));
}

// ---- interrupts
// ----------------------------------------------------------------------------------------------------------

void native_core::set_irq(std::uint32_t lines, bool level)
{
    lines_ = level ? lines_ | lines : lines_ & ~lines;
    if (level && (lines & sleep_mask_) != 0 && wake_at_ps_ == k_never_ps) {
        // Whoever is still on its way to sleep finds the line up when it gets there, and stays awake.
        const std::uint64_t now = wake_.now_ps();
        wake_at_ps_ = now <= asleep_from_ps_ ? asleep_from_ps_ : now + irq_wake_ps_;
        wake_.notify_at(irq_event_, wake_at_ps_);
    }
}

void native_core::arm_timeout(std::uint64_t deadline_ps)
{
    // At most one notification is pending per core, and one that is too early is left to fire for nothing: cancelling
    // would leave a dead entry in the kernel's queue for every wait, and nearly all waits end before their timeout.
    const std::uint64_t now = kernel_now_ps();
    if (armed_for_ps_ <= now)
        armed_for_ps_ = k_never_ps; // it fired while nobody listened
    if (deadline_ps == k_never_ps) {
        // Nothing bounds this sleep: a left-over notification would only keep the simulation from running dry.
        if (armed_for_ps_ != k_never_ps)
            timeout_event_.cancel();
        armed_for_ps_ = k_never_ps;
    } else if (deadline_ps < armed_for_ps_) {
        timeout_event_.notify(sc_time_from_ps(deadline_ps - now));
        armed_for_ps_ = deadline_ps;
    }
}

/// Sleep until a line of `mask` has risen and the wake-up is paid for (true) or deadline_ps_ has passed (false).
bool native_core::sleep(std::uint32_t mask)
{
    asleep_from_ps_ = local_now_ps();
    ahead_ps_ = 0; // whatever wakes the core wakes it later than that
    sleep_mask_ = mask;
    bool woken = false;
    for (;;) {
        if (wake_at_ps_ == k_never_ps) {
            if (kernel_now_ps() >= deadline_ps_)
                break;
            arm_timeout(deadline_ps_);
        }
        ++thread_switches;
        sc_core::wait(wake_list_);
        if (kernel_now_ps() < wake_at_ps_)
            continue; // the timeout event: for nothing, or too late against a wake-up that is under way
        woken = (lines_ & mask) != 0;
        if (woken && wake_at_ps_ > asleep_from_ps_)
            busy_time.add_ps(irq_wake_ps_);
        wake_at_ps_ = k_never_ps;
        if (woken)
            break; // else the device took the line down meanwhile: sleep on
    }
    sleep_mask_ = 0;
    return woken;
}

std::uint32_t native_core::wait_irq(std::uint32_t mask, std::uint64_t timeout_ns)
{
    charge_cycles(config_.wait_entry);
    if ((lines_ & mask) != 0)
        return lines_ & mask;
    since_ps_ = local_now_ps();
    deadline_ps_ = deadline_of(since_ps_, timeout_ns);
    activity_ = activity::sleeping;
    const bool woken = sleep(mask);
    activity_ = activity::running;
    ++(woken ? wakeups : timeouts);
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
        if (!read_bus(address, &value, sizeof value))
            break; // fault() says why; polling on would not make the device appear
        met = (value & mask) == expected;
        if (met || local_now_ps() >= deadline_ps_)
            break;
        polled_at_ps_ = read_at_ps;
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
    if (activity_ != activity::sleeping)
        return "";
    std::string lines;
    const auto add = [&](std::uint32_t line, const char* device) {
        if ((sleep_mask_ & line) != 0)
            lines += fmt::format("{}{}", lines.empty() ? "" : " or ", device);
    };
    add(abi::k_irq_mailbox, "mailbox");
    add(abi::k_irq_dma, "DMA");
    if (const std::uint32_t others = sleep_mask_ & ~(abi::k_irq_mailbox | abi::k_irq_dma); others != 0)
        lines += fmt::format("{}line {:#x}", lines.empty() ? "" : " or ", others);
    return "sleeps until an interrupt of " + lines;
}

std::string native_core::blocked_on() const
{
    switch (activity_) {
    case activity::not_started: return entry_ ? "has not started" : "has no firmware";
    case activity::running: return "runs";
    case activity::finished: return fmt::format("firmware returned at {}", time_text(since_ps_));
    case activity::sleeping:
    case activity::polling:
        return fmt::format("{}, since {}, timeout at {}", waits_for(), time_text(since_ps_), time_text(deadline_ps_));
    }
    return "?";
}

} // namespace weft
