// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A regular expression (ECMA-262) for the texts of a quantity between two bounds: JSON Schema has no ranges of numbers
// that carry units.
#pragma once

#include "tlm/units.h"

#include <cstdint>
#include <string>

namespace weft {

/// Matches what parse_quantity() takes and lies from `least` to `most` (base units), and hardly more: bounds are cut
/// after five decimal places of each unit, always so that nothing legal is refused.
std::string quantity_pattern(quantity_kind kind, std::uint64_t least, std::uint64_t most);

} // namespace weft
