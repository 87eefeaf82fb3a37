// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/wait_bound.h"

#include "hw/core/host_watch.h"
#include "platforms/workload/host_use.h"

#include <fmt/format.h>

namespace weft {

namespace {
/// Of the machine, where a core alone has --host-timeout: a core that makes no call is stopped by its own bound, and
/// named.
constexpr unsigned k_bounds_of_a_core = 2;
} // namespace

std::uint64_t wait_bound::limit_ps() const
{
    // What a machine does after the last answer is no work that time_limit is about; as long again is enough for it.
    const std::uint64_t from_ps = rest_began_ps_.value_or(restarts_ps_);
    const std::uint64_t limit_ps = time_limit_.value();
    return from_ps > k_never_ps - limit_ps ? k_never_ps : limit_ps + from_ps;
}

/// Grows with every byte that moves between chips and with every answer. Accesses of a core, interrupts and doorbells
/// do not count: firmware that polls makes them for ever.
std::uint64_t wait_bound::work(std::uint64_t host_work, counts what) const
{
    std::uint64_t work = host_work;
    for (const component* c : machine_.time().components())
        work += c->work();
    if (what == counts::engines && machine_.hosts() != nullptr)
        for (const fabric_engine* fabric : machine_.fabrics())
            work -= fabric->work();
    return work;
}

void wait_bound::begin(std::uint64_t host_work, counts what)
{
    work_at_last_look_ = work(host_work, what);
    last_work_ps_ = kernel_now_ps();
    cpu_seconds_at_last_work_ = cpu_seconds();
}

void wait_bound::begin_rest(std::uint64_t host_work)
{
    rest_began_ps_ = kernel_now_ps();
    begin(host_work);
}

std::string wait_bound::over(std::uint64_t host_work, counts what)
{
    if (kernel_now_ps() > limit_ps())
        return fmt::format("time_limit = {} of simulated time is over", to_string(time_limit_));
    if (work(host_work, what) != work_at_last_look_) {
        begin(host_work, what);
        return "";
    }
    const double quiet_s = cpu_seconds() - cpu_seconds_at_last_work_;
    if (!host_watch::over_bound(
            static_cast<std::uint32_t>(quiet_s * host_watch::k_ticks_per_second / k_bounds_of_a_core)))
        return "";
    const bool streams = what == counts::engines && machine_.hosts() != nullptr && !machine_.hosts()->streams().empty();
    if (streams)
        return fmt::format("nothing but streams of hosts moves: for {:.0f} s of host CPU time (twice --host-timeout), from {} to {} of simulated time, no byte of a "
                           "collective or a checkpoint has moved",
                           quiet_s, rounded_text(duration(last_work_ps_)), rounded_text(duration(kernel_now_ps())));
    return fmt::format(
        "firmware loops: for {:.0f} s of host CPU time (twice --host-timeout), from {} to {} of simulated time, no "
        "packet and no byte of a DMA or NIC has moved",
        quiet_s, rounded_text(duration(last_work_ps_)), rounded_text(duration(kernel_now_ps())));
}

} // namespace weft
