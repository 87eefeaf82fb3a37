// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Which jobs a switch can serve beside those that it has.
#pragma once

#include "hw/tofino/tofino_job_table.h"

#include <string>

namespace weft {

/// Why the job cannot be admitted, as a sentence; "" when it can. `verilog`: the pipes know Algorithm 3 alone.
std::string refusal_of(const tofino_job& job, const tofino_job_table& jobs, const tofino_config& config, bool verilog);

} // namespace weft
