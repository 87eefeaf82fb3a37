// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// chip: one accelerator as the fabric and the host see it. Composes core, bus, core-local memory, HBM, DMA and mailbox by the
// address map of hw/abi/platform_table.h, and writes the platform table. The fabric's local ports are bound to the DMA.
//
// Models: what firmware and DMA do between collectives' first and last byte. Does not model: the matrix and vector units.
#pragma once

#include "hw/abi/switchml.h"
#include "hw/chip/core_complex.h"
#include "hw/chip/core_gate.h"
#include "hw/dma/dma.h"
#include "hw/ethernet/ethernet_nic.h"
#include "hw/memory/hbm.h"
#include "hw/memory/local_memory.h"

#include <memory>
#include <string>

namespace weft {

struct chip_config {
    core_config core;
    bus_config bus;
    local_memory_config local_memory;
    hbm_config hbm;
    dma_config dma;
    mailbox_config mailbox;

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("core", self.core, "Core that runs the firmware", "");
        visit("bus", self.bus, "Bus between core and devices", "");
        visit("local_memory", self.local_memory, "Core-local memory", "");
        visit("hbm", self.hbm, "High-bandwidth memory", "");
        visit("dma", self.dma, "DMA engine", "");
        visit("mailbox", self.mailbox, "Mailbox between host and core", "");
    }
    std::vector<config_problem> validate() const;

    std::uint64_t ring_area_bytes() const
    {
        return std::uint64_t{dma.queues} * dma.ring_entries * abi::k_descriptor_bytes;
    }
    /// HBM that buffers may use; the descriptor rings live above it.
    std::uint64_t buffer_bytes() const { return hbm.capacity.value() - ring_area_bytes(); }
};

/// What not every chip has.
struct chip_options {
    core_gate* gate = nullptr; ///< between core 0 and its bus; outlives the chip
    /// More than one: every core gets the commands that all share (abi::by_switch), and the chip has answered when
    /// all have. DMA and its interrupt belong to core 0.
    std::uint32_t cores = 1;
    const nic_config* nic = nullptr; ///< an Ethernet NIC; the interrupt of queue q goes to core q % cores
    std::uint64_t nic_mac = 0;
    bool carry_data = true;                      ///< of the NIC
    std::vector<abi::switchml::table> jobs = {}; ///< one a core, or none
};

class chip final : public sc_core::sc_module, private mailbox_listener {
private:
    std::unique_ptr<core_base> core_; // before the reference to it

public:
    core_base& core; ///< native or rv64, as config.core.model says
    weft::bus bus;
    local_memory local;
    weft::hbm hbm;
    weft::dma dma;
    weft::mailbox mailbox;

    /// `table` holds what the platform knows (rank, ranks, dims, coord, wrap); the chip fills in the rest.
    chip(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const chip_config& config,
         const dma_fabric_view& view, abi::platform_table table, const chip_options& options = {});

    std::uint32_t rank() const { return rank_; }
    const std::vector<core_base*>& cores() const { return cores_; } ///< the first is `core`
    ethernet_nic* nic() { return nic_.get(); }                      ///< nullptr: none
    const ethernet_nic* nic() const { return nic_.get(); }
    const std::vector<std::unique_ptr<core_complex>>& further_cores() const { return further_; }

    /// Who hears that the chip has answered; once, before the simulation starts.
    void connect_host(mailbox_listener& host);

    /// Host side: command into core-local memory and interrupt, on every core; any time after construction.
    void post(const abi::command& command);
    /// Of the first core that failed, with the messages of all.
    abi::response response() const;
    /// Number of the core that response() is of.
    std::size_t speaker() const;

    bool idle() const;
    /// "core: ...; DMA ...": what this chip waits for, "" when it waits for nothing with a bound.
    std::string blocked_on() const;

private:
    void write_tables(abi::platform_table table, const chip_config& config, const chip_options& options,
                      std::uint32_t ports);
    void on_done(std::uint32_t rank, std::uint32_t sequence) override;

    std::uint32_t rank_;
    std::vector<std::unique_ptr<core_complex>> further_;
    std::vector<core_base*> cores_;
    std::unique_ptr<ethernet_nic> nic_;
    mailbox_listener* host_ = nullptr;
    std::size_t asked_ = 1;   ///< cores that have the present command
    std::size_t answers_ = 0; ///< of them
};

} // namespace weft
