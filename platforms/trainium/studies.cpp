// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/trainium/bench.h"
#include "platforms/trainium/trainium.h"
#include "platforms/trainium/validation.h"
#include "platforms/workload/platform_studies.h"

namespace weft {

extern const platform_studies k_trainium_studies;
const platform_studies k_trainium_studies{&k_trainium_info, validate_trainium, bench_trainium};

} // namespace weft
