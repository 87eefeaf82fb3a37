// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The ranks to which direct exchanges keep to shortest paths (platform_table::near_ranks): all links to them are loaded
// alike, so that a detour takes from others what it brings.
#pragma once

#include "hw/abi/platform_table.h"

namespace weft::firmware {

struct near_block {
    std::uint32_t first = 0, ranks = 0; ///< none unless told

    near_block() = default;
    explicit near_block(const abi::platform_table& table) : ranks(table.near_ranks)
    {
        if (ranks < table.ranks)
            first = table.rank - table.rank % ranks;
    }
    bool holds(std::uint32_t rank) const { return rank - first < ranks; } // wraps below the first
};

} // namespace weft::firmware
