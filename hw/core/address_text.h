// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Names for people of what stands in the address map of a chip and in its registers. Made from the register tables.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

/// "DMA.HEAD(3)", "MAILBOX + 0x200", "the platform table", "HBM"; the number where nothing is known.
std::string address_text(std::uint64_t address);

/// Meaning of the bits that are set in a status register, from the register's description: "memory error, bad
/// doorbell". `where` is the register's name as firmware gives it, "DMA.ERROR"; "" for a register without named bits.
std::string bits_text(const std::string& where, std::uint32_t value);

} // namespace weft
