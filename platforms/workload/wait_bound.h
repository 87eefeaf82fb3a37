// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How long the host of a machine waits, whatever it waits for: time_limit in simulated time, and host CPU time while no
// data moves.
#pragma once

#include "platforms/workload/machine.h"

#include <cstdint>
#include <optional>
#include <string>

namespace weft {

class wait_bound {
public:
    wait_bound(machine& m, duration time_limit) : machine_(m), time_limit_(time_limit) {}

    enum class counts : std::uint8_t { all, engines };
    /// A wait begins. `host_work` grows with what the host itself sees done: ranks that have booted, answers. engines:
    /// beside streams of hosts, which move packets whatever happens, only what engines of chips and NICs move is work.
    void begin(std::uint64_t host_work, counts what = counts::all);
    /// A wait for the machine to come to rest begins: time_limit counts from now until end_rest().
    void begin_rest(std::uint64_t host_work);
    void end_rest() { rest_began_ps_.reset(); }
    /// Restarts take minutes where collectives take microseconds: time_limit bounds the work alone.
    void leave_out(std::uint64_t restart_ps) { restarts_ps_ += restart_ps; }

    std::uint64_t limit_ps() const; ///< of time_limit, in kernel time
    /// "time_limit = 1 ms of simulated time is over"; "" while the host may wait on.
    std::string over(std::uint64_t host_work, counts what = counts::all);

private:
    std::uint64_t work(std::uint64_t host_work, counts what) const;

    machine& machine_;
    duration time_limit_;
    std::optional<std::uint64_t> rest_began_ps_;
    std::uint64_t restarts_ps_ = 0;       ///< that all restarts took
    std::uint64_t work_at_last_look_ = 0; ///< work()
    std::uint64_t last_work_ps_ = 0;      ///< first look that saw this work
    double cpu_seconds_at_last_work_ = 0;
};

} // namespace weft
