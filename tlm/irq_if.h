// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Interrupt lines of a core as its devices see them.
#pragma once

#include <cstdint>

namespace weft {

class irq_if {
public:
    /// Drive the lines of the bit mask `lines` to `level`. Lines are levels: the device holds one until it has been
    /// served. May be called from a timeline handler, a process, a transport call or before the simulation starts.
    /// Driving a line to the level it has is allowed and has no effect.
    virtual void set_irq(std::uint32_t lines, bool level) = 0;

protected:
    ~irq_if() = default;
};

} // namespace weft
