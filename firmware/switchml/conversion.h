// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of 32-bit words between what is in memory and the integers of the network, in place. Cases without a number
// (NaN, infinity, zero blocks): hw/abi/block_float.h.
#pragma once

#include "hw/abi/block_float.h"

namespace weft::firmware {

// `count` is a multiple of 4, words lie at a multiple of 8 bytes.

/// int32 to and from big-endian.
void swap_block(std::uint32_t* words, std::uint32_t count);
/// Exponent of the largest magnitude among `count` floats.
std::int8_t exponent_of_block(const std::uint32_t* floats, std::uint32_t count);
/// Floats to big-endian integers with the exponent that all workers agreed on, and back: abi::quantise() and
/// abi::dequantise() of every word.
void quantise_block(std::uint32_t* words, std::uint32_t count, std::int8_t exponent, std::uint32_t workers);
void dequantise_block(std::uint32_t* words, std::uint32_t count, std::int8_t exponent, std::uint32_t workers);

/// abi::block_scale() without its loop.
double scale_of(std::int8_t exponent, std::uint32_t workers);
/// The same as a float that is not above it, so that no sum can overflow; the largest float where it lies beyond.
float float_scale_of(std::int8_t exponent, std::uint32_t workers);

} // namespace weft::firmware
