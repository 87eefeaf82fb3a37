// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/bench.h"
#include "platforms/ub_mesh/bursts.h"
#include "platforms/ub_mesh/ub_mesh.h"
#include "platforms/ub_mesh/validation.h"
#include "platforms/workload/platform_studies.h"

namespace weft {

extern const platform_studies k_ub_mesh_studies;
const platform_studies k_ub_mesh_studies{&k_ub_mesh_info, validate_ub_mesh, bench_ub_mesh, bursts_of_ub_mesh};

} // namespace weft
