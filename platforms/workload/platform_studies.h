// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platforms/workload/burst_family.h"
#include "platforms/workload/machine.h"

namespace weft {

/// What only `weft validate` and `weft bench` ask of a platform. It stands in a library of its own,
/// weft::platforms_<name>_studies, as k_<name>_studies: weft_first is built without it.
struct platform_studies {
    const platform_info* platform;
    /// What `weft validate` compares with published results; nullptr: nothing.
    validation_report (*validate)(const validation_settings& how) = nullptr;
    /// Adds its lines to the page of `weft bench`; nullptr: none.
    void (*bench)(bench_page& page, const bench_settings& how) = nullptr;
    /// At which machines `weft bursts` compares trains with single packets; nullptr: `auto` never makes trains here.
    std::vector<sweep_family> (*bursts)() = nullptr;
};

} // namespace weft
