// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver of the mailbox (hw/abi/mailbox_regs.def, version 1): takes commands from the host, answers them.
// Errors: wrong_device "MAILBOX.TYPE", wrong_version "MAILBOX.VERSION" (detail = found); device_error
// "MAILBOX.COMMAND_SEQUENCE" when its interrupt keeps coming without a new command; corrupted "command.sequence" when the
// command in memory is not the one announced; bus_error.
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

    /// Sleeps until the host has a new command, however long that takes, reads it and acknowledges it, once more when the
    /// line stays up. On `corrupted` command.sequence is the announced number, so that the answer reaches the host.
    abi::status take(abi::command& command);

    /// Writes the response to core-local memory and rings DONE with its sequence number; does not ring when the response
    /// has not got there.
    abi::status answer(const abi::response& response);

    /// Sequence number of the command that is being or will next be worked on.
    std::uint32_t next_sequence() const { return taken_ + 1; }

private:
    abi::status bus_status(const char* where) const;

    abi::hal& hal_;
    std::uint64_t base_ = abi::k_mailbox_base;
    std::uint32_t taken_ = 0; ///< sequence number of the last command taken
};

} // namespace weft::firmware
