// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The algorithms that could run a case, by what cost_model.h says of each, and the reason for the one that `auto` took.
#pragma once

#include "platforms/workload/cost_model.h"

#include <string>
#include <vector>

namespace weft {

class platform;

/// Whether ranks that are told `table` run the operation of `c` by `algorithm`. Switches that sum are no business of
/// ranks: by `costs`.
bool can_run(const abi::platform_table& table, const message_costs& costs, const collective_case& c, abi::algorithm algorithm);

/// Of every algorithm that runs the operation of `c` here and has a prediction, the fastest first; equal ones in the
/// order of the catalogue.
std::vector<algorithm_prediction> predictions_of(const abi::platform_table& table, const message_costs& costs, collective_case c);
/// A prediction for `c` on `machine`, raised to its bound there: the cost model counts the links of a whole machine,
/// and fewer may work, or a group have fewer. Where routes are irregular, also to what the busiest link takes.
double raised_to_bound(const platform& machine, const abi::platform_table& table, const message_costs& costs, const collective_case& c, double us);
/// As predictions_of() on `machine`, whose ranks, or those of a group of the case, are told `table`; none is below its
/// bound.
std::vector<algorithm_prediction> predictions_on(const platform& machine, const abi::platform_table& table, const message_costs& costs,
                                                 const collective_case& c);

/// Why `auto` took the algorithm of a case: "25.5 us predicted; next direct, 44.9 us", "by tuning out/tuning.yaml, 44.9
/// us predicted; next ..."; "" where the file names it.
std::string choice_of(const collective_case& c);

} // namespace weft
