// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Mailbox between the host and a chip's core: hw/abi/mailbox_regs.def says what firmware sees.
//
// A command: the host writes struct command into core-local memory and calls post(sequence); the core's interrupt line
// rises; firmware reads the command and writes COMMAND_ACK, which lowers the line; when its response is in core-local
// memory it writes DONE and the host's listener is called.
//
// Does not model: the host's PCIe latency; the host sees DONE when the write leaves the core. No RTL twin.
#pragma once

#include "hw/abi/hal.h"
#include "hw/abi/registers.h"
#include "tlm/component.h"
#include "tlm/config_fields.h"
#include "tlm/irq_if.h"
#include "tlm/mem_socket.h"
#include "tlm/stats.h"

#include <cstdint>
#include <systemc>

namespace weft {

struct mailbox_config {
    static constexpr config_part k_part = config_part::core;
    duration latency{20'000};

    template <class Self, class Visitor> static void fields(Self& self, Visitor& visit)
    {
        visit("latency", self.latency, "Of one register access", assumed("nothing is published"), at_most(duration(1'000'000'000)));
    }
    std::vector<config_problem> validate() const;
};

/// The host's side of DONE.
class mailbox_listener {
public:
    /// Rank `rank` has answered command `sequence`. Called in the core's thread: post() is allowed, wait() is not.
    virtual void on_done(std::uint32_t rank, std::uint32_t sequence) = 0;

protected:
    ~mailbox_listener() = default;
};

class mailbox : public sc_core::sc_module, public component {
public:
    reg_file regs; // before the socket, which refers to it
    mmio_target_socket socket;

    mailbox(const sc_core::sc_module_name& name, const mailbox_config& config);

    /// Where the interrupt goes and who hears of DONE; both once, before the simulation starts.
    void connect_irq(irq_if& core, std::uint32_t lines = abi::k_irq_mailbox);
    void connect_host(mailbox_listener& host, std::uint32_t rank);

    /// Announce the command `sequence` in core-local memory. Any time, also before the simulation starts. Throws `bug`
    /// when the previous command has not been answered or `sequence` is not a new number.
    void post(std::uint32_t sequence);

    /// As at time zero: no command, sequence numbers begin anew.
    void reset(std::uint32_t draw = 0) override;

    std::string stat_prefix() const override { return "mailbox"; }
    std::vector<const stat_group*> stat_groups() const override { return {&stats}; }

    /// True when the last command posted has been answered.
    bool idle() const { return done_ == posted_; }

    /// How often firmware has answered the last command again: whoever does not write COMMAND_ACK finds it for ever.
    std::uint32_t repeats() const { return repeats_; }

    counter commands;
    counter answers;
    stat_group stats;

private:
    void update_irq();
    void firmware_done(std::uint32_t sequence);

    irq_if* irq_ = nullptr;
    std::uint32_t irq_lines_ = 0;
    mailbox_listener* host_ = nullptr;
    std::uint32_t rank_ = 0;
    std::uint32_t posted_ = 0;
    std::uint32_t done_ = 0;
    std::uint32_t repeats_ = 0;
};

} // namespace weft
