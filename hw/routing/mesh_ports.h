// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace weft {

/// Ports of a router of a mesh. Row r, column c: +X leads to (r, c+1), +Y to (r+1, c). Local ports follow.
enum mesh_port : std::uint16_t { k_plus_x = 0, k_minus_x = 1, k_plus_y = 2, k_minus_y = 3, k_first_local = 4 };

} // namespace weft
