// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft bench` measures of UB-Mesh.
#pragma once

#include "platforms/report/bench_page.h"

namespace weft {

void bench_ub_mesh(bench_page& out, const bench_settings& how);

} // namespace weft
