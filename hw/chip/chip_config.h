// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Configuration of a chip. A platform whose chips have other defaults, from other sources, puts its own core, bus or
// memory section in the place of the plain one (tlm/config_fields.h: with_sources).
#pragma once

#include "hw/bus/bus.h"
#include "hw/chip/mailbox.h"
#include "hw/core/core.h"
#include "hw/dma/dma.h"
#include "hw/memory/hbm.h"
#include "hw/memory/local_memory.h"

#include <vector>

namespace weft {

/// `Core`, `Bus`, `Memory` and `Dma` are core_config, bus_config, hbm_config and dma_config, or derive from them.
template <class Core = core_config, class Bus = bus_config, class Memory = hbm_config, class Dma = dma_config> struct chip_sections {
    Core core;
    Bus bus;
    local_memory_config local_memory;
    Memory hbm;
    Dma dma;
    mailbox_config mailbox;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor& visit, const char* dma_doc = "DMA engine", const char* memory_key = "hbm",
                       const char* memory_doc = "High-bandwidth memory")
    {
        visit("core", self.core, "Core that runs the firmware", k_user_choice);
        visit("bus", self.bus, "Bus between core and devices", k_user_choice);
        visit("local_memory", self.local_memory, "Core-local memory", k_user_choice);
        visit(memory_key, self.hbm, memory_doc, k_user_choice);
        visit("dma", self.dma, dma_doc, k_user_choice);
        visit("mailbox", self.mailbox, "Mailbox between host and core", k_user_choice);
    }
};

struct chip_config : chip_sections<> {
    chip_config() = default;
    template <class Core, class Bus, class Memory, class Dma>
    chip_config(const chip_sections<Core, Bus, Memory, Dma>& c) // NOLINT: the same
    {
        core = c.core;
        bus = c.bus;
        local_memory = c.local_memory;
        hbm = c.hbm;
        dma = c.dma;
        mailbox = c.mailbox;
    }
    std::vector<config_problem> validate() const;

    std::uint64_t ring_area_bytes() const
    {
        return std::uint64_t{dma.queues} * dma.ring_entries * abi::k_descriptor_bytes;
    }
    /// HBM that buffers may use; the descriptor rings live above it.
    std::uint64_t buffer_bytes() const { return hbm.capacity.value() - ring_area_bytes(); }
};

} // namespace weft
