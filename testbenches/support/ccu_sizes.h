// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace weft::testing {

/// What a collective communication unit holds; published numbers.
struct ccu_sizes {
    std::uint32_t instructions = 32768;
    std::uint32_t missions = 16;
    std::uint32_t loop_engines = 200;
    std::uint32_t address_registers = 3072;
    std::uint32_t general_registers = 3072;
    std::uint32_t check_entries = 1024;
    std::uint32_t slices = 1536;
    std::uint32_t channels = 128;
};

} // namespace weft::testing
