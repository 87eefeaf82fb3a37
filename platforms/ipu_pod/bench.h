// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft bench` measures of IPU-Pods.
#pragma once

#include "platforms/report/bench_page.h"

namespace weft {

void bench_ipu_pod(bench_page& out, const bench_settings& how);

} // namespace weft
