// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Our equivalents of the loops over elements of SwitchML's published client, with the vectors of SSE4.1 and AVX2, and how many
// instructions they execute: a traced child takes one step after the other.
#pragma once

#include "firmware/costs.h"

#include <string>
#include <vector>

namespace weft::test {

struct x86_loop {
    std::string name;
    abi::instruction_set set;
    std::uint32_t firmware::costs::element_costs::*cost;
    std::uint32_t firmware::costs::element_costs::*block; ///< what it costs without elements
    /// Executed for `words` elements, besides those of a block without any; of 0: those.
    std::uint64_t (*instructions)(std::uint32_t words);
};

/// Empty on a host that cannot count them.
std::vector<x86_loop> x86_loops();

} // namespace weft::test
