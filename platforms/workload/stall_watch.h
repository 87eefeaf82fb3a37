// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Tells a machine in which nothing can move any more from one that works. It reads the machine alone, between two
// events of it.
#pragma once

#include "platforms/workload/machine.h"

#include <cstdint>

namespace weft {

class stall_watch {
public:
    explicit stall_watch(machine& m) : machine_(m) {}

    /// A look. True: since the one before, no event was handled, none is pending, no core woke up, and each sleeps or
    /// polls.
    bool stalled();
    /// Nothing but a core's own code has moved for longer than any wait may take, twice `firmware_timeout`: it looks at
    /// a register for ever, say. After a look.
    bool spins(duration firmware_timeout) const;
    /// First look that saw what the last one saw.
    std::uint64_t quiet_since_ps() const { return quiet_since_ps_; }
    /// The machine is a new one.
    void forget() { activity_at_last_look_ = 0; }

private:
    std::uint64_t activity() const;

    machine& machine_;
    std::uint64_t activity_at_last_look_ = 0;
    std::uint64_t quiet_since_ps_ = 0;
};

} // namespace weft
