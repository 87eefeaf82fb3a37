// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What drivers of devices with rings of entries share.
#pragma once

#include "hw/abi/platform_table.h"

#include <cstdint>

namespace weft::firmware {

inline constexpr std::uint32_t k_control_enable = 1u << 0; ///< CONTROL of a DMA engine or NIC

/// Interrupts in a row without any cause before the line is called broken: a level that nobody can lower would
/// otherwise keep the core busy for ever.
inline constexpr unsigned k_max_spurious = 64;

} // namespace weft::firmware
