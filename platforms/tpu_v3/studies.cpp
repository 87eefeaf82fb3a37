// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/tpu_v3/bench.h"
#include "platforms/tpu_v3/bursts.h"
#include "platforms/tpu_v3/tpu_v3.h"
#include "platforms/tpu_v3/validation.h"
#include "platforms/workload/platform_studies.h"

namespace weft {

extern const platform_studies k_tpu_v3_studies;
const platform_studies k_tpu_v3_studies{&k_tpu_v3_info, validate_tpu_v3, bench_tpu_v3, bursts_of_tpu_v3};

} // namespace weft
