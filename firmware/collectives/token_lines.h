// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Into which lines dispatch and combine part the ranks.
#pragma once

#include "hw/abi/tokens.h"

namespace weft::firmware {

/// Ranks of a line: those along the innermost dimension of several ranks. 1 where there is no other dimension or the
/// ranks are no box: each is a line of its own then, and gets its tokens from their sources.
constexpr std::uint32_t token_line(const abi::platform_table& table)
{
    if (table.failed_regions != 0)
        return 1;
    std::uint32_t line = 1, others = 0;
    for (std::uint32_t d = table.dim_count; d-- > 0;) {
        if (table.dims[d] == 1)
            continue;
        others += line != 1 ? 1 : 0;
        line = line == 1 ? table.dims[d] : line;
    }
    return others != 0 && line <= abi::k_most_line ? line : 1;
}

} // namespace weft::firmware
