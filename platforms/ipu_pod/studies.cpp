// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ipu_pod/bench.h"
#include "platforms/ipu_pod/ipu_pod.h"
#include "platforms/ipu_pod/validation.h"
#include "platforms/workload/platform_studies.h"

namespace weft {

extern const platform_studies k_ipu_pod_studies;
const platform_studies k_ipu_pod_studies{&k_ipu_pod_info, validate_ipu_pod, bench_ipu_pod};

} // namespace weft
