// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platforms/workload/machine.h"

namespace weft {

/// What must hold after a run that completed: no packet is left, no credit is lost. Throws bug.
void check_invariants(machine& m);

} // namespace weft
