// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How this program was built and on what it runs: what a report of a bug needs.
#pragma once

#include <string>
#include <vector>

namespace weft::cli {

/// What was built in beside the simulator: "RV64 cores", "Verilog models", "firmware coverage".
std::vector<std::string> built_in();
/// Lines of "what  value", without a newline at the end.
std::string build_facts();

} // namespace weft::cli
