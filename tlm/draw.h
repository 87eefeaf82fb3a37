// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Random sequences of the repeats of a case: component::reset() tells a component which draw begins.
#pragma once

#include <cstdint>

namespace weft {

/// The key of a random sequence for a draw: that of time zero for draw 0, unrelated ones for all others (splitmix64).
constexpr std::uint64_t key_of_draw(std::uint64_t key, std::uint32_t draw)
{
    if (draw == 0)
        return key;
    std::uint64_t z = key + draw * 0x9e37'79b9'7f4a'7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebull;
    return z ^ (z >> 31);
}

} // namespace weft
