// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/chip/mailbox.h"

#include "tlm/check.h"

#include <fmt/format.h>

namespace weft {

std::vector<config_problem> mailbox_config::validate() const { return limit_problems(*this); }

mailbox::mailbox(const sc_core::sc_module_name& name, const mailbox_config& config)
    : sc_core::sc_module(name), regs("MAILBOX", abi::k_mailbox_rows), socket("socket", regs, config.latency),
      stats(this->name())
{
    require_picoseconds(this->name());
    regs.on_write(abi::mailbox::COMMAND_ACK, [this](std::uint32_t, std::uint64_t) { update_irq(); });
    regs.on_write(abi::mailbox::DONE, [this](std::uint32_t, std::uint64_t sequence) {
        firmware_done(static_cast<std::uint32_t>(sequence));
    });
    stats.add("commands", "1", "Commands posted by the host", commands);
    stats.add("answers", "1", "Commands answered by firmware", answers);
}

void mailbox::connect_irq(irq_if& core, std::uint32_t lines)
{
    irq_ = &core;
    irq_lines_ = lines;
    update_irq();
}

void mailbox::connect_host(mailbox_listener& host, std::uint32_t rank)
{
    host_ = &host;
    rank_ = rank;
}

void mailbox::post(std::uint32_t sequence)
{
    if (!idle() || sequence == posted_)
        throw bug(name(), kernel_now_ps(),
                  fmt::format("host posts command {} but the last command {} {}", sequence, posted_,
                              idle() ? "has the same number" : "has not been answered"));
    posted_ = sequence;
    repeats_ = 0;
    regs.at(abi::mailbox::COMMAND_SEQUENCE) = sequence;
    ++commands;
    update_irq();
}

void mailbox::reset(std::uint32_t)
{
    posted_ = done_ = repeats_ = 0;
    regs.reset();
    update_irq();
}

void mailbox::update_irq()
{
    if (irq_)
        irq_->set_irq(irq_lines_, regs.at(abi::mailbox::COMMAND_SEQUENCE) != regs.at(abi::mailbox::COMMAND_ACK));
}

void mailbox::firmware_done(std::uint32_t sequence)
{
    // Firmware that answers what nobody asked is caught by whoever waits for the right number: here it only has no
    // effect.
    if (sequence != posted_ || idle()) {
        repeats_ += sequence == posted_ && sequence != 0 ? 1 : 0;
        return;
    }
    done_ = sequence;
    ++answers;
    if (host_)
        host_->on_done(rank_, sequence);
}

} // namespace weft
