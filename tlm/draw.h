// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are the same on every machine, and the sequences of the repeats of a case: component::reset()
// tells a component which draw begins.
#pragma once

#include <cstdint>

namespace weft {

/// Step of splitmix64: number n of the sequence with key `key` is mixed(key + n * k_draw_step).
inline constexpr std::uint64_t k_draw_step = 0x9e37'79b9'7f4a'7c15ull;

/// Finaliser of splitmix64: every bit of the result depends on every bit of `z`.
constexpr std::uint64_t mixed(std::uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebull;
    return z ^ (z >> 31);
}

/// The key of a random sequence for a draw: that of time zero for draw 0, unrelated ones for all others.
constexpr std::uint64_t key_of_draw(std::uint64_t key, std::uint32_t draw)
{
    return draw == 0 ? key : mixed(key + draw * k_draw_step);
}

} // namespace weft
