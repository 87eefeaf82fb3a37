// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft bench` measures of collectives: the share of their bound that they reach (platforms/workload/bounds.h), in
// single packets. Simulated times, so the same on every host.
#pragma once

#include "platforms/report/bench_page.h"

namespace weft::cli {

void measure_shares(bench_page& out, const bench_settings& how);

} // namespace weft::cli
