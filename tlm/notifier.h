// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a SystemC process and the timeline have to know of each other, and nothing more: the present simulated time and
// the one legal way for a timeline handler to wake a process. `timeline` implements it; a bench without a timeline uses
// `kernel_notifier`. The simulation runs with the kernel's default resolution of 1 ps: see require_picoseconds().
#pragma once

#include "tlm/check.h"
#include "tlm/units.h"

#include <cstdint>
#include <systemc>

namespace weft {

/// Exact conversions, valid because the resolution is 1 ps; no floating point.
inline sc_core::sc_time sc_time_from_ps(std::uint64_t time_ps) { return sc_core::sc_time::from_value(time_ps); }
inline std::uint64_t ps_from_sc_time(const sc_core::sc_time& t) { return t.value(); }
/// Time of the kernel, in picoseconds.
inline std::uint64_t kernel_now_ps() { return sc_core::sc_time_stamp().value(); }

/// Throws `bug` when someone changed the kernel's time resolution; modules that convert times call it when built.
inline void require_picoseconds(const char* module)
{
    if (sc_core::sc_get_time_resolution() != sc_core::sc_time(1, sc_core::SC_PS))
        throw bug(module, 0, "the SystemC time resolution is not 1 ps");
}

class notifier {
public:
    /// Notify `event` at the absolute time `time_ps` (>= now_ps()). An event has one pending notification: the earlier
    /// wins.
    virtual void notify_at(sc_core::sc_event& event, std::uint64_t time_ps) = 0;
    virtual std::uint64_t now_ps() const = 0;

protected:
    ~notifier() = default;
};

/// The notifier of a bench that has no timeline: kernel time, kernel notifications.
class kernel_notifier final : public notifier {
public:
    void notify_at(sc_core::sc_event& event, std::uint64_t time_ps) override
    {
        event.notify(sc_time_from_ps(time_ps - now_ps()));
    }
    std::uint64_t now_ps() const override { return kernel_now_ps(); }
};

} // namespace weft
