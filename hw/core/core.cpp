// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/core/core.h"

#include "hw/core/address_text.h"
#include "hw/core/elf_program.h"
#include "hw/core/host_watch.h"
#include "hw/core/iss.h"
#include "tlm/check.h"
#include "tlm/step_sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weft {

namespace {
std::string time_text(std::uint64_t time_ps)
{
    return time_ps == k_never_ps ? std::string("never") : rounded_text(duration(time_ps));
}

/// Unicorn's translator runs on the stack of the core's thread.
constexpr std::uint64_t k_rv64_stack_bytes = 256 << 10;
} // namespace

std::uint64_t core_base::deadline_of(std::uint64_t start_ps, std::uint64_t timeout_ns)
{
    if (timeout_ns > (k_never_ps - start_ps - 1) / 1000)
        return k_never_ps;
    return start_ps + timeout_ns * 1000;
}

std::vector<key_rule<core_config>> core_config::key_rules()
{
    std::vector<key_rule<core_config>> rules;
    for (const char* key : {"wait_entry", "poll_interval", "poll_interval_max", "clock_read"})
        rules.push_back(
            {key, "with model: native", [](const core_config& c) { return c.model == core_model::native; }});
    return rules;
}

std::vector<config_problem> core_config::validate() const
{
    std::vector<config_problem> problems = limit_problems(*this);
    const auto need = [&](bool ok, const char* key, std::string text) {
        if (!ok)
            problems.push_back({severity::error, key, std::move(text)});
    };
    need(poll_interval_max >= poll_interval || poll_interval.value() == 0, "poll_interval_max",
         fmt::format("is {}, below poll_interval ({}), with which the intervals begin.", to_string(poll_interval_max),
                     to_string(poll_interval)));
    if (model != core_model::rv64) {
        need(elf.empty(), "elf", "is given, but only a core with \"model: rv64\" executes it; this one is native.");
    } else if (*iss_engine_name() == '\0') {
        need(
            false, "model",
            "is rv64, but this build has no instruction-set engine; configure it with -DWEFT_UNICORN=ON, or write native.");
    } else if (!elf.empty()) {
        const elf_program program = read_elf_file(elf);
        need(program.problem.empty(), "elf", program.problem);
    }
    return problems;
}

std::uint64_t core_config::host_stack_bytes() const
{
    return model == core_model::rv64 ? std::max(stack.value(), k_rv64_stack_bytes) : stack.value();
}

core_base::core_base(const sc_core::sc_module_name& name, const core_config& config, notifier& wake)
    : sc_core::sc_module(name), socket("socket"), stats(this->name()), config_(config), wake_(wake), irq_event_("irq"),
      timeout_event_("timeout")
{
    require_picoseconds(this->name());
    ps_per_1024_cycles_ = cycles_to_ps(1024, config.clock);
    ps_per_1024_instructions_ =
        static_cast<std::uint64_t>(std::llround(config.cpi * static_cast<double>(cycles_to_ps(1024, config.clock))));
    irq_wake_ps_ = cycles_to_ps(config.irq_wake.value(), config.clock);
    wake_list_ |= irq_event_;
    wake_list_ |= timeout_event_;
    stats.add("instructions", "1", "Instructions executed, or charged by native firmware", instructions);
    stats.add("mmio_reads", "1", "Register reads", mmio_reads);
    stats.add("mmio_writes", "1", "Register writes", mmio_writes);
    stats.add("bytes_copied", "B", "Bytes copied between firmware and memory on the bus", bytes_copied);
    stats.add("bus_faults", "1", "Accesses that were answered with an error", bus_faults);
    stats.add("wakeups", "1", "Sleeps that an interrupt ended", wakeups);
    stats.add("timeouts", "1", "Waits that ran out", timeouts);
    stats.add("thread_switches", "1", "Switches of the firmware's thread, a cost on the host", thread_switches);
    stats.add("busy_time", "ps", "Time in which the core worked or waited for the bus", busy_time);
    stats.add("memory_time", "ps", "Time of it in which the core waited for memory", memory_time);
}

work_load core_base::spent_on(work_kind kind, std::uint64_t now_ps) const
{
    if (kind != work_kind::core || !has_firmware_)
        return {};
    // Costs are counted when they are charged: those not paid yet lie behind.
    const bool pays = activity_ != activity::sleeping && due_ps_ != k_never_ps && due_ps_ > now_ps;
    std::uint64_t ahead_ps = ahead_ps_ + (pays ? due_ps_ - now_ps : 0);
    ahead_ps -= std::min(ahead_ps, idle_tail_ps_);
    work_load load{busy_time.value() - std::min(ahead_ps, busy_time.value()), 1};
    load.waited_ps = std::min(memory_time.value(), load.spent_ps);
    return load;
}

void core_base::record_into(trace_sink& trace)
{
    if (!has_firmware_ || steps_for(trace, *this) != nullptr)
        return;
    trace_ = &trace;
    track_ = trace.add_track(*this, fmt::format("{} works and waits", basename()));
}

void core_base::write_wait(std::uint64_t since_ps, const std::string& what)
{
    const std::uint64_t now_ps = local_now_ps();
    trace_slice s;
    s.track = track_;
    s.name = "works";
    s.start_ps = works_since_ps_;
    s.span_ps = since_ps - works_since_ps_;
    if (s.span_ps != 0)
        trace_->slice(s);
    s.name = what;
    s.start_ps = since_ps;
    s.span_ps = now_ps - since_ps;
    if (s.span_ps != 0)
        trace_->slice(s);
    works_since_ps_ = now_ps;
}

void core_base::charge(std::uint64_t span_ps)
{
    ahead_ps_ += span_ps;
    busy_time.add_ps(span_ps);
    if (ahead_ps_ >= config_.max_ahead.value())
        sync();
}

void core_base::charge_access(std::uint64_t address, std::uint64_t delay_ps)
{
    if (address >= abi::k_hbm_base)
        memory_time.add_ps(delay_ps);
    charge(delay_ps);
}

void core_base::pass(std::uint64_t span_ps)
{
    ahead_ps_ += span_ps;
    idle_tail_ps_ += span_ps;
    if (ahead_ps_ >= config_.max_ahead.value())
        sync();
}

void core_base::sync()
{
    if (ahead_ps_ == 0)
        return;
    const auto span = sc_time_from_ps(ahead_ps_);
    due_ps_ = kernel_now_ps() + ahead_ps_;
    ahead_ps_ = 0;
    ++thread_switches;
    sc_core::wait(span);
    idle_tail_ps_ = 0;
    host_watch::hold_if_given_up();
    take_turn();
}

/// When the wait of this core ends, as far as that is known.
std::uint64_t core_base::goes_on_at_ps() const
{
    if (activity_ != activity::sleeping)
        return due_ps_;
    return wake_at_ps_ != k_never_ps ? wake_at_ps_ : deadline_ps_;
}

/// After a wait: lower cores that are due now go first.
void core_base::take_turn()
{
    due_ps_ = kernel_now_ps();
    while (!reset_asked_ && std::any_of(lower_.begin(), lower_.end(),
                                        [](const core_base* c) { return c->goes_on_at_ps() == kernel_now_ps(); }))
        sc_core::wait(sc_core::SC_ZERO_TIME);
    due_ps_ = k_never_ps;
    if (reset_asked_)
        throw core_reset{};
}

void core_base::begin_firmware()
{
    activity_ = activity::running;
    take_turn();
}

void core_base::reset(std::uint32_t)
{
    if (activity_ == activity::not_started)
        return;
    reset_asked_ = true;
    if (idle() || activity_ == activity::sleeping)
        due_ps_ = kernel_now_ps();
    activity_ = activity::running; // from now on the core is not parked
    lines_ = 0;
    irq_event_.notify(sc_core::SC_ZERO_TIME);
}

void core_base::wait_for_reset()
{
    while (!reset_asked_)
        sc_core::wait(irq_event_);
}

void core_base::come_out_of_reset()
{
    reset_asked_ = false;
    ahead_ps_ = 0;
    idle_tail_ps_ = 0;
    sleep_mask_ = 0;
    wake_at_ps_ = k_never_ps;
    irq_event_.cancel();
    timeout_event_.cancel();
    armed_for_ps_ = k_never_ps;
    failure_.clear();
    works_since_ps_ = kernel_now_ps();
    due_ps_ = kernel_now_ps();
}

bool core_base::read_bus(std::uint64_t address, void* to, std::uint32_t bytes)
{
    last_access_ = address;
    last_access_wrote_ = false;
    sync();
    std::uint64_t delay_ps = 0;
    const bool ok = socket.read(address, to, bytes, delay_ps) == ::tlm::TLM_OK_RESPONSE;
    bus_faults.add(ok ? 0 : 1);
    charge_access(address, delay_ps);
    charge_cycles(config_.mmio_overhead);
    return ok;
}

bool core_base::write_bus(std::uint64_t address, const void* from, std::uint32_t bytes)
{
    last_access_ = address;
    last_access_wrote_ = true;
    sync();
    std::uint64_t delay_ps = 0;
    const bool ok = socket.write(address, from, bytes, delay_ps) == ::tlm::TLM_OK_RESPONSE;
    bus_faults.add(ok ? 0 : 1);
    charge_access(address, delay_ps);
    charge_cycles(config_.mmio_overhead);
    return ok;
}

void core_base::set_irq(std::uint32_t lines, bool level)
{
    lines_ = level ? lines_ | lines : lines_ & ~lines;
    if (level && (lines & sleep_mask_) != 0 && wake_at_ps_ == k_never_ps) {
        // Whoever is still on its way to sleep finds the line up when it gets there, and stays awake.
        const std::uint64_t now = wake_.now_ps();
        wake_at_ps_ = now <= asleep_from_ps_ ? asleep_from_ps_ : now + irq_wake_ps_;
        wake_.notify_at(irq_event_, wake_at_ps_);
    }
}

void core_base::arm_timeout(std::uint64_t deadline_ps)
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

bool core_base::sleep_until_woken(std::uint32_t mask)
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
        host_watch::hold_if_given_up();
        if (reset_asked_)
            throw core_reset{};
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
    activity_ = activity::running;
    take_turn();
    return woken;
}

bool core_base::sleep(std::uint32_t mask, std::uint64_t deadline_ps)
{
    since_ps_ = local_now_ps();
    deadline_ps_ = deadline_ps;
    activity_ = activity::sleeping;
    const std::string what = records() ? waits_for_lines(mask) : std::string();
    const bool woken = sleep_until_woken(mask);
    record_wait(since_ps_, what);
    activity_ = activity::running;
    ++(woken ? wakeups : timeouts);
    return woken;
}

std::string core_base::waits_for() const
{
    return activity_ == activity::sleeping ? waits_for_lines(sleep_mask_) : "";
}

std::string core_base::waits_for_lines(std::uint32_t mask)
{
    std::string lines;
    const auto add = [&](std::uint32_t line, const char* device) {
        if ((mask & line) != 0)
            lines += fmt::format("{}{}", lines.empty() ? "" : " or ", device);
    };
    add(abi::k_irq_mailbox, "mailbox");
    add(abi::k_irq_dma, "DMA");
    add(abi::k_irq_sync, "sync unit");
    if (const std::uint32_t others = mask & ~(abi::k_irq_mailbox | abi::k_irq_dma | abi::k_irq_sync);
        others != 0)
        lines += fmt::format("{}line {:#x}", lines.empty() ? "" : " or ", others);
    return lines.empty() ? "sleeps" : "sleeps until an interrupt of " + lines;
}

std::string core_base::last_access_text() const
{
    if (last_access_ == k_no_access)
        return "has accessed nothing on its bus yet";
    return fmt::format("its last access {} {}", last_access_wrote_ ? "wrote" : "read", address_text(last_access_));
}

std::string core_base::doing() const
{
    switch (activity_) {
    case activity::not_started: return has_firmware_ ? "has not started" : "has no firmware";
    case activity::running: return "executes; " + last_access_text();
    case activity::finished: return "has returned from its firmware";
    case activity::failed: return "has stopped"; // failure() says why
    case activity::polling: return waits_for();
    case activity::sleeping: break;
    }
    if (deadline_ps_ == k_never_ps && (sleep_mask_ & abi::k_irq_mailbox) != 0)
        return "waits for a command";
    // Between two reads of a polled register an rv64 core sleeps as for everything else.
    return sleep_mask_ == 0 ? "sleeps; " + last_access_text() : waits_for();
}

std::atomic<core_base*> core_base::executing_{nullptr};

void core_base::on_host_tick(void* context)
{
    core_base* const core = executing_.load(std::memory_order_relaxed);
    if (core == nullptr)
        return;
    const std::uint64_t progress = core->progress();
    if (progress != core->seen_progress_) {
        core->seen_progress_ = progress;
        core->quiet_ticks_ = 0;
    } else if (host_watch::over_bound_or_stopped(++core->quiet_ticks_)) {
        core->abandon(context);
    }
}

std::string core_base::blocked_on() const
{
    switch (activity_) {
    case activity::not_started: return has_firmware_ ? "has not started" : "has no firmware";
    case activity::running: return "runs";
    case activity::finished: return fmt::format("firmware returned at {}", time_text(since_ps_));
    case activity::failed: return fmt::format("stopped at {}: {}", time_text(since_ps_), failure_);
    case activity::sleeping:
    case activity::polling:
        return fmt::format("{}, since {}, timeout at {}", waits_for(), time_text(since_ps_), time_text(deadline_ps_));
    }
    return "?";
}

} // namespace weft
