// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Whose turn it is among paths with weights: smooth weighted round robin. Each turn every path gains its weight, and
// the one that is owed most, the first of equals, pays the sum of them. After as many turns as the sum of the weights,
// divided by what they have in common, all are where they began. Thousands of path sets have the same few vectors of
// weights: they share one round, and a set keeps nothing but its place in it. Plain C++.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace weft {

class ub_turns {
public:
    struct round {
        std::vector<std::int32_t> weights; ///< without common divisor
        std::int32_t sum = 0;
        std::vector<std::uint16_t> order; ///< path by path; empty where a round is too long to keep
    };
    /// Where a path set is in its round.
    struct place {
        std::uint32_t next = 0;
        std::vector<std::int32_t> due; ///< of a round that is not kept: how much each path lags behind its share
    };

    /// The round of paths with these weights, at least one; valid as long as this object.
    const round& round_of(const std::vector<std::uint32_t>& weights);
    /// The path whose turn it is; a guess where the round is not kept.
    static std::uint32_t peek(const round& r, const place& at) { return r.order.empty() ? 0 : r.order[at.next]; }
    /// The same, for certain, and its turn is over.
    static std::uint32_t take(const round& r, place& at)
    {
        if (r.order.empty())
            return take_long(r, at);
        const std::uint32_t turn = at.next;
        at.next = turn + 1 == r.order.size() ? 0 : turn + 1;
        return r.order[turn];
    }

private:
    static constexpr std::int32_t k_longest_kept = 16384;
    static std::uint32_t take_long(const round& r, place& at);

    std::map<std::vector<std::int32_t>, round> rounds_;
};

} // namespace weft
