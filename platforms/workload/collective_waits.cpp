// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What collective_runner waits for beside answers: ranks that boot, a machine that comes to rest, compute; and the bounds of
// all its waiting.
#include "hw/core/host_watch.h"
#include "platforms/workload/collective_runner.h"
#include "platforms/workload/host_use.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {
/// Booting takes microseconds; firmware that has not parked after this long gets its command all the same, and its time-out.
constexpr std::uint64_t k_boot_look_ps = 1'000'000;
constexpr unsigned k_boot_looks = 10'000;
/// Cases begin on multiples of this: whole cycles of whatever counts nanoseconds, and the step of boot().
constexpr std::uint64_t k_reset_grid_ps = k_boot_look_ps;
/// Between two looks at a machine that comes to rest.
constexpr std::uint64_t k_rest_look_ps = 1'000'000;
/// Of the machine, where a core alone has --host-timeout: a core that makes no call is stopped by its own bound, and named.
constexpr unsigned k_bounds_of_a_core = 2;
/// Between two looks while compute goes on and nothing is expected to happen.
constexpr std::uint64_t k_compute_look_ps = 10'000'000'000;
} // namespace

// ---- bounds

std::uint64_t collective_runner::limit_ps() const
{
    // What a machine does after the last answer is no work that time_limit is about; as long again is enough for it.
    const std::uint64_t from_ps = waits_ == host_wait::rest ? rest_began_ps_ : restarts_ps_;
    const std::uint64_t limit_ps = config_.time_limit.value();
    return from_ps > k_never_ps - limit_ps ? k_never_ps : limit_ps + from_ps;
}

/// Grows with every byte that moves between chips and with every answer. Accesses of a core, interrupts and doorbells do
/// not count: firmware that polls makes them for ever.
std::uint64_t collective_runner::work_so_far() const
{
    std::uint64_t work = most_parked_ + answers_;
    for (const component* c : machine_.time().components())
        work += c->work();
    return work;
}

void collective_runner::begin_looking()
{
    work_at_last_look_ = work_so_far();
    last_work_ps_ = kernel_now_ps();
    cpu_seconds_at_last_work_ = cpu_seconds();
}

std::string collective_runner::over_bound()
{
    if (kernel_now_ps() > limit_ps())
        return fmt::format("time_limit = {} of simulated time is over", to_string(config_.time_limit));
    if (work_so_far() != work_at_last_look_) {
        begin_looking();
        return "";
    }
    const double quiet_s = cpu_seconds() - cpu_seconds_at_last_work_;
    if (!host_watch::over_bound(
            static_cast<std::uint32_t>(quiet_s * host_watch::k_ticks_per_second / k_bounds_of_a_core)))
        return "";
    return fmt::format(
        "firmware loops: for {:.0f} s of host CPU time (twice --host-timeout), from {} to {} of simulated time, no "
        "packet and no byte of a DMA or NIC has moved",
        quiet_s, rounded_text(duration(last_work_ps_)), rounded_text(duration(kernel_now_ps())));
}

void collective_runner::begin_rest()
{
    waits_ = host_wait::rest;
    rest_began_ps_ = kernel_now_ps();
    begin_looking();
}

bool collective_runner::may_wait_on()
{
    if (stop_if_requested())
        return false; // run() tells it
    const std::string over = over_bound();
    if (!over.empty())
        fail_between_collectives(over);
    return over.empty();
}

/// The run ends here, and no collective is under way.
void collective_runner::fail_between_collectives(const std::string& why)
{
    end_ps_ = kernel_now_ps();
    const std::size_t ranks = machine_.chips().size();
    switch (waits_) {
    case host_wait::boot:
        outcome_.failure = fmt::format("{}, while ranks boot: {} of {} do not wait for a command yet.{}{}", why,
                                       ranks - parked_ranks(), ranks, stopped_cores(), what_cores_do());
        break;
    case host_wait::rest:
        outcome_.failure =
            fmt::format("{}, after a collective that every rank has answered, and the machine has not come to "
                        "rest.{}{}",
                        why, stopped_cores(), who_waits());
        break;
    case host_wait::compute: outcome_.failure = why + ", while a training step computes." + who_waits(); break;
    case host_wait::nothing: outcome_.failure = why + ", between two collectives."; break;
    }
}

// ---- boot and reset

std::size_t collective_runner::parked_ranks() const
{
    const auto& chips = machine_.chips();
    return static_cast<std::size_t>(std::count_if(chips.begin(), chips.end(), [](const chip* c) {
        return std::all_of(c->cores().begin(), c->cores().end(), [](const core_base* core) { return core->idle(); });
    }));
}

/// The first case starts as the others do: with every core booted and waiting for a command.
bool collective_runner::boot()
{
    waits_ = host_wait::boot;
    most_parked_ = 0;
    begin_looking();
    for (unsigned looks = 0; looks < k_boot_looks && !all_parked(); ++looks) {
        most_parked_ = std::max(most_parked_, parked_ranks());
        if (!may_wait_on())
            return false;
        sc_core::wait(sc_time_from_ps(k_boot_look_ps));
    }
    most_parked_ = std::max(most_parked_, parked_ranks());
    waits_ = host_wait::nothing;
    return true;
}

bool collective_runner::begin_case(std::uint32_t draw)
{
    draw_ = draw;
    return config_.cases != case_start::independent || (fresh_ && draw == 0) || reset_machine();
}

/// Links that have failed and what is known of them stay: tlm/component.h.
bool collective_runner::reset_machine()
{
    begin_rest();
    std::uint64_t wait_ps = (k_reset_grid_ps - kernel_now_ps() % k_reset_grid_ps) % k_reset_grid_ps;
    for (unsigned looks = 0;; ++looks) {
        if (wait_ps != 0)
            sc_core::wait(sc_time_from_ps(wait_ps));
        if (machine_.settled() && (all_parked() || looks > k_boot_looks)) // firmware that polls never parks
            break;
        if (!may_wait_on())
            return false;
        wait_ps = k_reset_grid_ps;
    }
    machine_.reset(draw_);
    sequence_ = 0;
    banks_.clear();
    fresh_ = true;
    return boot();
}

// ---- between collectives

bool collective_runner::let_it_drain()
{
    begin_rest();
    while (!machine_.at_rest()) {
        if (!may_wait_on())
            return false;
        sc_core::wait(sc_time_from_ps(k_rest_look_ps));
    }
    waits_ = host_wait::nothing;
    return true;
}

bool collective_runner::compute(std::uint64_t time_ps)
{
    const std::uint64_t now_ps = kernel_now_ps();
    if (now_ps > limit_ps() || time_ps > limit_ps() - now_ps) {
        outcome_.failure =
            fmt::format("compute would go on to {}, and time_limit = {} of simulated time is over before.",
                        rounded_text(duration(now_ps + time_ps)), to_string(config_.time_limit));
        return false;
    }
    waits_ = host_wait::compute;
    begin_looking();
    const std::uint64_t end_ps = std::min(now_ps + time_ps, std::max(now_ps, interrupted_at_ps()));
    do {
        sc_core::wait(sc_time_from_ps(std::min(k_compute_look_ps, end_ps - kernel_now_ps())));
        if (!may_wait_on())
            return false;
    } while (kernel_now_ps() < end_ps);
    waits_ = host_wait::nothing;
    end_ps_ = kernel_now_ps();
    interrupted_ = interrupted();
    return !interrupted_;
}

} // namespace weft
