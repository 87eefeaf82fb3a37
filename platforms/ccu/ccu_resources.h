// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What an instruction touches, and what a program takes of a unit.
#pragma once

#include "platforms/ccu/ccu_capacities.h"
#include "platforms/ccu/ccu_program.h"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace weft {

struct ccu_access {
    std::vector<std::uint16_t> address_read, address_written, general_read, general_written;
    std::vector<std::uint16_t> slices_read, slices_written; ///< of the own unit
    std::optional<std::uint16_t> peer_slice_read, peer_slice_written;
    std::optional<std::uint16_t> peer_address_written, peer_general_written;
    std::optional<std::uint16_t> channel;
    bool goes_on = false; ///< behind the issue: transfers and reductions
};
ccu_access access_of(const abi::ccu::instruction& i);

/// Numbers of everything that a program takes.
struct ccu_use {
    std::set<std::uint32_t> address_registers, general_registers, slices, entries, channels;
    std::uint32_t instructions = 0;
    std::uint32_t engines = 0; ///< of the group that takes most
};

} // namespace weft
