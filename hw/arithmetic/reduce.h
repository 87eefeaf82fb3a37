// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Reduction arithmetic of accumulate-on-write: memory[i] = memory[i] (op) incoming[i]. Plain C++.
//
//   integers  sum wraps (two's complement); max and min of int8, int16 and int32 are signed
//   float32   sum is one IEEE 754 addition, rounded to nearest even, with subnormals
//   float16   as if computed in float32 and rounded once more. That equals a single rounding: binary32 has 24 >= 2*11+2
//   bfloat16  significant bits (and 24 >= 2*8+2), see Figueroa, "When is double rounding innocuous?", SIGNUM 1995
//
// NaN: sum with a NaN, and inf + -inf, give the canonical quiet NaN (float_formats.h). max and min prefer numbers, as
// maximumNumber and minimumNumber of IEEE 754-2019: a NaN only when both are NaN, then the canonical one. -0 < +0.
// So all results are the same bits on every machine, and max and min do not depend on the order of the ranks.
#pragma once

#include "hw/abi/types.h"

#include <cstddef>
#include <cstdint>

namespace weft {

/// Accumulate `bytes` bytes of `incoming` into `memory`; reduce_op::none just copies. Neither pointer need be aligned;
/// the areas must not overlap. Throws bug when `bytes` is no multiple of the element (unless op is none), for
/// types that memories do not reduce (abi::memory_reduces()), and for unknown enums.
void reduce(abi::element_type type, abi::reduce_op op, std::uint8_t* memory, const std::uint8_t* incoming,
            std::size_t bytes);

} // namespace weft
