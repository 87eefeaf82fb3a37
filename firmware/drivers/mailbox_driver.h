// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver of the mailbox (hw/abi/mailbox_regs.def, version 1): takes commands from the host, answers them.
// Errors: wrong_device "MAILBOX.TYPE", wrong_version "MAILBOX.VERSION" (detail = found); device_error
// "MAILBOX.COMMAND_SEQUENCE" when a command lies in memory that the register does not announce although its interrupt
// comes; corrupted "command.sequence" when the command in memory is not the one announced; bus_error.
//
// DONE is rung only for a command that the host has posted: the device ignores all others, and the answer before may
// not have been read yet. Where the register cannot tell, command.sequence in memory does: seen twice, so that the
// host, which stores a command before it announces it, has done both. An interrupt line that stays up costs a look each
// microsecond and no more.
#pragma once

#include "hw/abi/hal.h"
#include "hw/abi/platform_table.h"

namespace weft::firmware {

/// Sleeping for a command has no timeout; a core that wakes up without one is sent to sleep again.
inline constexpr std::uint64_t k_no_timeout_ns = ~std::uint64_t{0};

class mailbox_driver {
public:
    explicit mailbox_driver(abi::hal& hal) : hal_(hal) {}

    /// Is it a mailbox of the version this driver knows?
    abi::status probe(const abi::platform_table& table);

    /// Sleeps until the host has a new command, however long that takes, reads it and acknowledges it, once more when
    /// the line stays up. On an error command.sequence is the number of the posted command, so that the answer reaches
    /// the host; 0 when it cannot be read either.
    abi::status take(abi::command& command);

    /// Sleeps until a command lies in memory, without the registers of the device: for firmware that can only answer
    /// with an error. bus_error when memory cannot be read.
    abi::status await_stored(std::uint32_t& sequence);

    /// Writes the response to core-local memory and rings DONE with its sequence number; does not ring when the
    /// response has not got there.
    abi::status answer(const abi::response& response);

    /// Sequence number of the command that will be worked on next, if the host counts on.
    std::uint32_t next_sequence() const { return taken_ + 1; }

private:
    abi::status bus_status(const char* where) const;
    abi::status read_stored(std::uint32_t& sequence);

    abi::hal& hal_;
    std::uint64_t base_ = abi::k_mailbox_base;
    std::uint32_t taken_ = 0; ///< sequence number of the last command taken
};

} // namespace weft::firmware
