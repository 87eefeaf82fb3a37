// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What may stand between the core of a chip and everything else in it: on the bus, and in the interrupt lines. A
// bench puts its fault injector there; whatever kind of core the chip has, neither the core nor the devices know of
// it.
#pragma once

#include "tlm/irq_if.h"
#include "tlm/timeline.h"

#include <tlm>

namespace weft {

class core_gate {
public:
    virtual ::tlm::tlm_target_socket<>& from_core() = 0;
    virtual ::tlm::tlm_initiator_socket<>& to_bus() = 0;
    virtual irq_if& from_devices() = 0;
    /// The chip says where the lines go on to; once, when it is built.
    virtual void connect(irq_if& core, timeline& time) = 0;

protected:
    ~core_gate() = default;
};

} // namespace weft
