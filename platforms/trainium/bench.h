// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft bench` measures of Trainium nodes.
#pragma once

#include "platforms/report/bench_page.h"

namespace weft {

void bench_trainium(bench_page& out, const bench_settings& how);

} // namespace weft
