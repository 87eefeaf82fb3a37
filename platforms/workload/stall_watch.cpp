// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/stall_watch.h"

#include <algorithm>

namespace weft {

namespace {

template <class Test> bool any_core(machine& m, Test&& test)
{
    return std::any_of(m.chips().begin(), m.chips().end(), [&](const chip* c) {
        return std::any_of(c->cores().begin(), c->cores().end(), [&](const core_base* core) { return test(*core); });
    });
}

} // namespace

/// Events that were handled, times that cores woke up.
std::uint64_t stall_watch::activity() const
{
    std::uint64_t wakeups = 0;
    for (const chip* c : machine_.chips())
        for (const core_base* core : c->cores())
            wakeups += core->wakeups.value();
    return machine_.time().events() + wakeups;
}

bool stall_watch::stalled()
{
    const std::uint64_t now = activity();
    if (now == activity_at_last_look_)
        return machine_.time().empty() &&
               !any_core(machine_, [this](const core_base& core) { return !core.at_rest(quiet_since_ps_); });
    activity_at_last_look_ = now;
    quiet_since_ps_ = kernel_now_ps();
    return false;
}

bool stall_watch::spins(duration firmware_timeout) const
{
    if (!machine_.time().empty() || kernel_now_ps() - quiet_since_ps_ <= 2 * firmware_timeout.value())
        return false;
    return any_core(machine_, [](const core_base& core) { return !core.idle() && !core.blocked(); }) &&
           activity() == activity_at_last_look_;
}

} // namespace weft
