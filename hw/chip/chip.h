// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// chip: one accelerator as the fabric and the host see it. Composes core, bus, core-local memory, memory, DMA and
// mailbox by the address map of hw/abi/platform_table.h, and writes the platform table. The fabric's local ports are
// bound to the DMA. Devices that not every chip has are its guests: the platform makes them, the chip gives them a
// window, the memory and interrupts.
//
// Models: what firmware and DMA do between collectives' first and last byte. Does not model: the matrix and vector
// units.
#pragma once

#include "hw/chip/chip_config.h"
#include "hw/chip/core_complex.h"
#include "hw/chip/core_gate.h"
#include "hw/memory/chip_memory.h"

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft {

class chip;

/// What the platform puts into the local memory of a core before it boots.
struct boot_table {
    std::uint64_t address = 0;
    std::vector<std::uint8_t> bytes;
};
/// `table`, which is whole words with a word `check` among them, as boot_table: its check word is set.
template <class Table> boot_table signed_table(std::uint64_t address, Table table)
{
    table.check = abi::check_of(table);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&table);
    return {address, {bytes, bytes + sizeof table}};
}

/// Makes a device in the constructor of its chip, binds its memory and attaches it.
using guest_maker = std::function<std::unique_ptr<sc_core::sc_module>(chip& host)>;

/// What not every chip has.
struct chip_options {
    core_gate* gate = nullptr; ///< between core 0 and its bus; outlives the chip
    /// More than one: DMA and its interrupt belong to core 0.
    std::uint32_t cores = 1;
    /// Set of algorithms of which every core gets the command, and the chip has answered when all have; the others go
    /// to core 0.
    std::uint32_t on_all_cores = 0;
    memory_maker memory = {}; ///< of the configured capacity; none: HBM
    std::vector<guest_maker> guests = {};
    std::vector<std::vector<boot_table>> tables = {}; ///< by core, beside the platform table
};

class chip final : public sc_core::sc_module, public component, private mailbox_listener {
private:
    std::unique_ptr<core_base> core_; // before the references to them
    std::unique_ptr<chip_memory> memory_;

public:
    core_base& core; ///< native or rv64, as config.core.model says
    weft::bus bus;
    local_memory local;
    chip_memory& memory;
    weft::dma dma;
    weft::mailbox mailbox;

    /// `table` holds what the platform knows (rank, ranks, dimensions, coordinates); the chip fills in the rest.
    chip(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const chip_config& config,
         const dma_fabric_view& view, abi::platform_table table, const chip_options& options = {});

    std::uint32_t rank() const { return rank_; }
    const std::vector<core_base*>& cores() const { return cores_; } ///< the first is `core`

    /// Puts the registers of a guest into the address map of every core. Throws user_error where the window is taken.
    void attach(::tlm::tlm_base_target_socket_b<>& registers, const bus_window& window);
    /// Where a guest interrupts: a line input for each core.
    std::vector<irq_if*> interrupts();
    /// The first guest of this type; nullptr: none.
    template <class Guest> Guest* guest() const
    {
        for (const auto& g : guests_)
            if (auto* const found = dynamic_cast<Guest*>(g.get()))
                return found;
        return nullptr;
    }

    /// Who hears that the chip has answered; once, before the simulation starts.
    void connect_host(mailbox_listener& host);
    /// The chip is not part of the job any more: nobody hears what it still answers.
    void disconnect_host() { host_ = nullptr; }

    std::string stat_prefix() const override { return "chip"; }
    /// Boot tables and answers; its parts, which are reset before, do the rest. HBM keeps its contents.
    void reset(std::uint32_t draw) override;

    /// Host side: command into core-local memory and interrupt, on every core; any time after construction.
    void post(const abi::command& command);
    /// What its firmware is told of the machine, and of the process group that the next command is for: written to the
    /// local memory of the first core.
    const abi::platform_table& table() const { return table_; }
    void write_group(abi::platform_table group, const std::vector<std::uint32_t>& members);
    /// Of the first core that failed, with the messages of all.
    abi::response response() const;
    /// Number of the core that response() is of.
    std::size_t speaker() const;

    bool idle() const; ///< of DMA and mailboxes

private:
    void on_done(std::uint32_t rank, std::uint32_t sequence) override;
    void write_tables();
    local_memory& local_of(std::size_t i) { return i == 0 ? local : further_[i - 1]->local; }

    std::uint32_t rank_;
    abi::platform_table table_;
    core_gate* gate_;
    std::vector<std::vector<boot_table>> tables_; ///< by core
    std::vector<std::unique_ptr<core_complex>> further_;
    std::vector<core_base*> cores_;
    std::vector<std::unique_ptr<sc_core::sc_module>> guests_;
    std::uint32_t on_all_cores_;
    mailbox_listener* host_ = nullptr;
    std::size_t asked_ = 1;   ///< cores that have the present command
    std::size_t answers_ = 0; ///< of them
};

/// The chip that a component is part of, or is; nullptr: none.
const chip* chip_of(const component& c);

} // namespace weft
