// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The firmware that every platform loads unless its user brings another one.
#pragma once

#include "hw/core/core.h"

namespace weft {

/// firmware::collective_main, for native cores and as its RV64 binary.
firmware_image shipped_firmware();

} // namespace weft
