// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A request from outside the simulation to end it: Ctrl-C, SIGTERM. A signal handler knows no object and may only set a
// flag; whatever runs for long looks at it. Nothing that a finished simulation computes depends on it.
#pragma once

#include <atomic>
#include <systemc>

namespace weft {

/// The signal that asks; 0: none does.
inline std::atomic<int> stop_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler sets it");

inline bool stop_requested() { return stop_signal.load(std::memory_order_relaxed) != 0; }

/// For processes of the kernel: true when a stop was requested; the kernel has then been told to end after this delta
/// cycle.
inline bool stop_if_requested()
{
    if (!stop_requested())
        return false;
    static bool told = false; // the kernel warns of a second call
    if (!told)
        sc_core::sc_stop();
    told = true;
    return true;
}

} // namespace weft
