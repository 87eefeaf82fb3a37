// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Watches over firmware that keeps the host busy for ever. Code of a native core takes no simulated time, so a loop
// without a call of the HAL would never come back to the kernel; that of an rv64 core takes time, but a host needs
// hours until time_limit is over.
//
// How: a timer of the CPU time of this process ticks. A tick that finds the host in the code of a core, and that core
// no further than at its last tick, counts against it. What other cores, devices and the host's own work take counts
// for nobody, nor does time in which the process is stopped or waits. After the bound the core stops as failed, with
// the place in its code; the run then ends as for every core that stops. Where nothing trips, no result depends on it.
#pragma once

#include <cstdint>

namespace weft {

/// At most one at a time, on the thread that runs the simulation.
class host_watch {
public:
    static constexpr unsigned k_ticks_per_second = 10;

    /// `cpu_seconds`: the bound; 0: none. Also without one a core that loops is stopped soon after a stop was
    /// requested.
    explicit host_watch(std::uint32_t cpu_seconds);
    ~host_watch();
    host_watch(const host_watch&) = delete;
    host_watch& operator=(const host_watch&) = delete;

    /// Whether a core that has made no progress for so many ticks is to stop: by the bound, and by a stop request,
    /// which only code needs that gives the kernel no chance to see it.
    static bool over_bound(std::uint32_t ticks);
    static bool over_bound_or_stopped(std::uint32_t ticks);

    /// A core has been left in the middle of its code: the run is over, and no other core, which may loop just so, runs
    /// on.
    static void give_up();
    /// In a thread of a core, where it would go on: never comes back after give_up().
    static void hold_if_given_up();
};

} // namespace weft
