// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A UB plan with the wires, buffers and pipelines of a configuration: what ub_fabric is built from, and what is proved.
#pragma once

#include "hw/routing/fabric_plan.h"
#include "hw/ub/ub_config.h"
#include "hw/routing/ub/ub_plan.h"

namespace weft {

/// Routers and links keep their numbers. `managed`: with a control processor at each device, behind a port and VLs of
/// its own.
fabric_plan ub_fabric_plan(const ub_plan& plan, const ub_config& config, bool managed = false);

} // namespace weft
