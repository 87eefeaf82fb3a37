// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Times of the cases of a run as figures of a validation.
#pragma once

#include "platforms/workload/run_outcome.h"
#include "tlm/standard_error.h"

#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <string>

namespace weft {

/// "time_us_0", "time_us_1", ...; none, with a line on stderr, when the run has failed.
inline std::map<std::string, double> case_times(const std::string& name, const run_outcome& outcome)
{
    std::map<std::string, double> figures;
    if (!outcome.failure.empty())
        print_to_stderr("{}: {}\n", name, outcome.failure);
    else
        for (std::size_t i = 0; i < outcome.cases.size(); ++i)
            figures[fmt::format("time_us_{}", i)] = static_cast<double>(outcome.cases[i].time_ps) * 1e-6;
    return figures;
}

} // namespace weft
