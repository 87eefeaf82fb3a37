// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The TPU inter-chip interconnect: a mesh of ICI routers as a plan (ici_mesh), and the fabric that is built from it.
//
// Models: dimension-order routing, or by tables where chips or links have failed; optional wrap links, board and cable
// wires, two local ports. Routers and ranks count the chips that work, row by row. Does not model: link-level retry,
// bandwidth of the router's crossbar beyond its ports. Timing: hw/fabric/fabric_engine.h.
#pragma once

#include "hw/fabric/plan_fabric.h"
#include "hw/ici/ici_config.h"
#include "hw/routing/dimension_order.h"
#include "hw/routing/mesh.h"

namespace weft {

/// A whole mesh with the wires of `config`. A board is a 2x2 tile of chips that starts on even coordinates; a wrap link
/// is a cable.
/// The caller may add what has failed.
mesh_description ici_mesh(const ici_config& config, std::uint32_t rows, std::uint32_t cols, bool wrap_rows = false,
                          bool wrap_cols = false);

class ici_fabric final : public plan_fabric {
public:
    /// Without `routing` it is dimension order, which knows nothing of what has failed.
    ici_fabric(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, const mesh& topology,
               const ici_config& config, std::shared_ptr<const routing_policy> routing = nullptr);
};

} // namespace weft
