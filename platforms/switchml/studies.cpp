// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/switchml/bench.h"
#include "platforms/switchml/bursts.h"
#include "platforms/switchml/switchml.h"
#include "platforms/switchml/validation.h"
#include "platforms/workload/platform_studies.h"

namespace weft {

extern const platform_studies k_switchml_studies;
const platform_studies k_switchml_studies{&k_switchml_info, validate_switchml, bench_switchml, bursts_of_switchml};

} // namespace weft
