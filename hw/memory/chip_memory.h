// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of a chip in which buffers and descriptor rings lie, as its cores, its DMA engine and the host see it.
// hbm.h is one.
#pragma once

#include "tlm/component.h"
#include "tlm/mem_socket.h"

#include <functional>
#include <memory>
#include <systemc>

namespace weft {

class chip_memory : public sc_core::sc_module, public component, public memory_if {
public:
    ~chip_memory() override = default;
    /// The cores' window: b_transport, transport_dbg, DMI. Several buses may be bound.
    virtual shared_target_socket& window() = 0;

    /// Backdoor of the host: no time, no statistics. Throws `bug` beyond the capacity.
    virtual void read_bytes(std::uint64_t offset, void* to, std::uint64_t bytes) const = 0;
    virtual void write_bytes(std::uint64_t offset, const void* from, std::uint64_t bytes) = 0;
    /// Drop all contents (everything reads as zero again) and give the memory back to the host; takes DMI pointers
    /// back.
    virtual void release_contents() = 0;

protected:
    explicit chip_memory(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {}
};

/// Makes the memory of a chip; called in the constructor of the chip alone, which it becomes a part of.
using memory_maker = std::function<std::unique_ptr<chip_memory>()>;

} // namespace weft
