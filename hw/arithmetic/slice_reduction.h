// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Reduction of several slices at once, as a CCU does it: element by element in the order of the slices, so the bits do
// not depend on when they came.
//
//   integers   wrap (two's complement)
//   float32    one IEEE 754 addition after the other
//   float16, bfloat16, 8-bit floats   added in float32 and rounded once, at the end
//   max, min   as reduce.h; not for 8-bit floats
#pragma once

#include "hw/abi/ccu.h"

#include <cstddef>
#include <cstdint>

namespace weft {

/// Reduces `bytes` of `count` slices, 1 to k_most_reduced of them, into the first one. Returns whether a sum of floats
/// is infinite or no number. Throws bug when `bytes` is no multiple of the element, or the type has no such operation.
bool reduce_slices(abi::element_type type, abi::reduce_op op, std::uint8_t* const* slices, unsigned count, std::size_t bytes);

} // namespace weft
