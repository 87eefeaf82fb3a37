// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How long collectives take on a full mesh with gaps (abi::gapped_mesh). For the firmware its ranks are in one
// dimension; their links are those of rows and columns.
#pragma once

#include "platforms/workload/cost_model.h"

namespace weft {

/// As predicted_us(), of a table whose on_mesh says where its ranks stand.
std::optional<double> predicted_on_gapped_mesh_us(const abi::platform_table& table, const message_costs& costs, const collective_case& c);

} // namespace weft
