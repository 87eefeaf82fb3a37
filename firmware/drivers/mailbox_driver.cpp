// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/drivers/mailbox_driver.h"

#include "firmware/drivers/driver_common.h"
#include "hw/abi/registers.h"

namespace weft::firmware {

namespace {

// Between two looks while the line or the register is not believed. The host stores a command and announces it well
// within this time (assumed).
constexpr std::uint64_t k_look_ns = 1000;

} // namespace

abi::status mailbox_driver::bus_status(const char* where) const
{
    const abi::bus_fault fault = hal_.fault();
    if (fault.set)
        return {abi::status_code::bus_error, where, fault.address};
    return {};
}

abi::status mailbox_driver::probe(const abi::platform_table& table)
{
    base_ = table.mailbox_base;
    const std::uint32_t type = hal_.read32(base_ + abi::mailbox::TYPE);
    if (abi::status s = bus_status("MAILBOX.TYPE"); !s.ok())
        return s;
    if (type != abi::mailbox::TYPE_reset)
        return {abi::status_code::wrong_device, "MAILBOX.TYPE", type};
    const std::uint32_t version = hal_.read32(base_ + abi::mailbox::VERSION);
    if (abi::status s = bus_status("MAILBOX.VERSION"); !s.ok())
        return s;
    if (version != abi::mailbox::VERSION_reset)
        return {abi::status_code::wrong_version, "MAILBOX.VERSION", version};
    return {};
}

abi::status mailbox_driver::take(abi::command& command)
{
    unsigned spurious = 0;
    for (std::uint32_t stored = taken_;;) {
        if (hal_.wait_irq(abi::k_irq_mailbox, k_no_timeout_ns) == 0)
            continue; // the host may take its time
        const std::uint32_t sequence = hal_.read32(base_ + abi::mailbox::COMMAND_SEQUENCE);
        if (abi::status s = bus_status("MAILBOX.COMMAND_SEQUENCE"); !s.ok()) {
            hal_.clear_fault();
            if (await_stored(command.sequence).ok())
                taken_ = command.sequence;
            return s;
        }
        if (sequence == taken_) {
            // No cause, or the acknowledgement was lost and the line is still up: then this takes it down.
            if (taken_ != 0)
                hal_.write32(base_ + abi::mailbox::COMMAND_ACK, taken_);
            if (++spurious < k_max_spurious)
                continue;
            // Line and register contradict each other. With a command in memory the register is wrong; without one the
            // line is, and there is nothing to answer yet.
            const std::uint32_t before = stored;
            if (abi::status s = read_stored(stored); !s.ok())
                return s;
            if (stored != taken_ && stored == before) {
                command.sequence = stored;
                return {abi::status_code::device_error, "MAILBOX.COMMAND_SEQUENCE", sequence};
            }
            hal_.wait_irq(0, k_look_ns);
            continue;
        }
        hal_.copy_in(&command, abi::k_command_address, sizeof command);
        hal_.write32(base_ + abi::mailbox::COMMAND_ACK, sequence);
        taken_ = sequence;
        const std::uint32_t in_memory = command.sequence;
        command.sequence = sequence;
        if (abi::status s = bus_status("MAILBOX.COMMAND_ACK"); !s.ok())
            return s;
        if (in_memory != sequence)
            return {abi::status_code::corrupted, "command.sequence", in_memory};
        return {};
    }
}

abi::status mailbox_driver::read_stored(std::uint32_t& sequence)
{
    hal_.copy_in(&sequence, abi::k_command_address, sizeof sequence);
    return bus_status("command.sequence");
}

abi::status mailbox_driver::await_stored(std::uint32_t& sequence)
{
    std::uint32_t before = taken_;
    for (;;) {
        if (hal_.wait_irq(abi::k_irq_mailbox, k_no_timeout_ns) == 0)
            continue;
        std::uint32_t stored = taken_;
        if (abi::status s = read_stored(stored); !s.ok())
            return s;
        if (stored != taken_ && stored == before) {
            sequence = stored;
            return {};
        }
        before = stored;
        hal_.wait_irq(0, k_look_ns);
    }
}

abi::status mailbox_driver::answer(const abi::response& response)
{
    hal_.copy_out(abi::k_response_address, &response, sizeof response);
    // The host must not be sent to read an answer that is not there.
    if (abi::status s = bus_status("MAILBOX.RESPONSE"); !s.ok())
        return s;
    hal_.write32(base_ + abi::mailbox::DONE, response.sequence);
    return bus_status("MAILBOX.DONE");
}

} // namespace weft::firmware
