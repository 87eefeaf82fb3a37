// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Hamiltonian cycles of a line of n ranks that are all joined, of which no two share a link: (n - 1) / 2, each walked
// both ways. Where n is odd they are all links; where it is even, one link of each rank is left over.
//
// Cycle c is the last rank, and then a zigzag over the others, modulo N = n - 1: c, c+1, c-1, c+2, c-2, ... (Walecki's
// construction). Neighbours of a zigzag have the sums 2c+1 and 2c in turn, which no other cycle has.
#pragma once

#include <cstdint>

namespace weft::firmware {

/// Rings that share no link in one direction; of two ranks, the one that goes there and back.
constexpr std::uint32_t line_rings(std::uint32_t n) { return n == 2 ? 1 : n < 2 ? 0 : (n - 1) / 2 * 2; }

/// With `rings` at most, so few links of a line are idle that detours would only be in the way of other rings. With
/// fewer rings, idle links are lent: packets take all paths (UB-Mesh, Fig. 13). Calibrated on boards of 4, 7 and 8 NPUs
/// with 64 MiB, by own links alone and by all paths: 1038 and 1051 us, 415 and 687, 422 and 616; 4x4 NPUs 685 and 670.
constexpr bool rings_own_links(std::uint32_t n, std::uint32_t rings)
{
    return 4 * (rings < line_rings(n) ? rings : line_rings(n)) >= 3 * (n - 1);
}

/// One of them: ring 2c walks cycle c, ring 2c + 1 the same cycle the other way.
class line_cycle {
public:
    /// `n` >= 2 ranks, `ring` < line_rings(n).
    constexpr line_cycle(std::uint32_t n, std::uint32_t ring) : n_(n), cycle_(ring / 2), reversed_(ring % 2 != 0) {}

    constexpr std::uint32_t position(std::uint32_t coordinate) const { return turned(forward_position(coordinate)); }
    constexpr std::uint32_t coordinate(std::uint32_t position) const { return forward_coordinate(turned(position)); }

private:
    constexpr std::uint32_t turned(std::uint32_t position) const
    {
        return reversed_ && position != 0 ? n_ - position : position;
    }
    constexpr std::uint32_t forward_position(std::uint32_t coordinate) const
    {
        const std::uint32_t others = n_ - 1;
        if (coordinate == others)
            return 0;
        const std::uint32_t away = coordinate >= cycle_ ? coordinate - cycle_ : coordinate + others - cycle_;
        return away == 0 ? 1 : away <= others / 2 ? 2 * away : 2 * (others - away) + 1;
    }
    constexpr std::uint32_t forward_coordinate(std::uint32_t position) const
    {
        const std::uint32_t others = n_ - 1;
        if (position == 0)
            return others;
        const std::uint32_t away = position % 2 == 0 ? position / 2 : position == 1 ? 0 : others - position / 2;
        return cycle_ + away < others ? cycle_ + away : cycle_ + away - others;
    }

    std::uint32_t n_, cycle_;
    bool reversed_;
};

} // namespace weft::firmware
