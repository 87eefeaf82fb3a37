// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What one collective communication unit holds, as far as programs may use it.
#pragma once

#include <cstdint>
#include <string>

namespace weft {

/// Published for the unit of one IO die (quoted): what is left for programs where a part is reserved.
struct ccu_capacities {
    std::uint32_t instructions = 32'768; ///< Q: 1 MiB of 32 bytes each
    std::uint32_t missions = 16;         ///< Q
    std::uint32_t loop_engines = 192;    ///< Q: of 200
    std::uint32_t address_registers = 3'024; ///< Q: of 3072
    std::uint32_t general_registers = 3'024; ///< Q: of 3072
    std::uint32_t check_entries = 1'008; ///< Q: of 1024, 16 bits each
    std::uint32_t slices = 1'536;        ///< Q: 6 MiB of 4 KiB each
    std::uint32_t channels = 128;        ///< Q
    std::uint32_t arguments = 13;        ///< Q
};

/// Applies "slices=128". Throws user_error: no such capacity, no such number.
void override_capacity(ccu_capacities& capacities, const std::string& assignment);

} // namespace weft
