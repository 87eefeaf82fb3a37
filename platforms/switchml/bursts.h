// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platforms/workload/burst_family.h"

namespace weft {

std::vector<sweep_family> bursts_of_switchml();

} // namespace weft
