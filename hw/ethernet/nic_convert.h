// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversions of the NIC between memory (little-endian words of the host) and the wire (big-endian 32-bit integers):
// the words of hw/abi/block_float.h, a block at a time. Bit-exact with it; testbenches/hw/ethernet_format_test.cpp
// compares.
#pragma once

#include "hw/abi/nic.h"

#include <cstddef>
#include <cstdint>

namespace weft {

/// A format with what it needs.
struct nic_conversion {
    abi::nic_format format = abi::nic_format::as_is;
    std::uint16_t workers = 1;
    float scale = 1;
};

/// `bytes` bytes (a multiple of 4 unless as_is) from memory to the wire.
void convert_to_wire(const nic_conversion& c, std::uint8_t* to, const std::uint8_t* from, std::size_t bytes);
/// And from the wire to memory.
void convert_from_wire(const nic_conversion& c, std::uint8_t* to, const std::uint8_t* from, std::size_t bytes);
/// Largest exponent_of the floats in `bytes` bytes, and of `exponent`.
std::int8_t largest_exponent(std::int8_t exponent, const std::uint8_t* from, std::size_t bytes);

} // namespace weft
