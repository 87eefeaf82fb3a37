// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sync-Links follow the IPU-Links (Scaling, section 7.9.1). The wires of a zone meet on its middle rung, in the column
// of its first member (assumed); those of several domains in the middle one (assumed). A whole ladder of n IPUs then
// takes ceil(15 ns x f x hops x 2) cycles, hops = 1 + (n / 2) / 2: test model of PopLibs (quoted).
#pragma once

#include "hw/ipu/ipu_link_config.h"
#include "hw/routing/ipu/ipu_pod_plan.h"
#include "hw/sync/sync_network.h"

namespace weft {

class ipu_sync_wires final : public sync_wires {
public:
    ipu_sync_wires(const ipu_shape& shape, const ipu_sync_config& config) : shape_(shape), config_(config) {}
    std::vector<duration> ways(const sync_zone& zone) const override;

private:
    ipu_shape shape_;
    ipu_sync_config config_;
};

} // namespace weft
