// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where in its source firmware was: a native core runs it as host code, so the return address of every call to the
// HAL is known, and the line tables of the program turn it into file and line.
#pragma once

#include "hw/abi/hal.h"
#include "hw/core/native_core.h"
#include "platforms/debug/code_places.h"

#include <cstdint>
#include <string>

namespace weft {

/// What traced_firmware() runs and remembers; one for each core.
struct traced_core {
    firmware_entry entry = nullptr;
    std::uint64_t argument = 0;
    std::uint64_t last_call = 0;     ///< return address of the newest call to the HAL
    std::uint64_t before_answer = 0; ///< of the last one before the response was written
    std::uint64_t first_fault = 0;   ///< of the first access that failed
};

/// Runs the firmware of `core` (a pointer to traced_core) behind a HAL that notes where it is called from.
void traced_firmware(abi::hal& hal, std::uint64_t core);

/// Whose firmware the host executes, or has executed last; nullptr before the first.
const traced_core* traced_core_running();

/// Machine of an ELF file, EM_NONE when `path` is none.
unsigned machine_of(const std::string& path);

/// Stands for the RV64 binary that this program carries, in place of the path of a library.
inline constexpr const char* k_shipped_rv64 = "(shipped RV64 firmware)";

/// "firmware/drivers/dma_driver.cpp:104, weft::firmware::dma_driver::wait_space", "" when nothing is known.
std::string source_of(std::uint64_t offset, const std::string& library);

} // namespace weft
