// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/ub/ub_turns.h"

#include <algorithm>
#include <numeric>

namespace weft {

const ub_turns::round& ub_turns::round_of(const std::vector<std::uint32_t>& weights)
{
    std::uint32_t common = 0;
    std::uint64_t sum = 0;
    for (const std::uint32_t w : weights) {
        common = std::gcd(common, w);
        sum += w;
    }
    // Nobody is ever owed, or owes, more than the sum: it must fit.
    constexpr std::uint64_t k_largest_sum = std::uint64_t{1} << 30;
    const std::uint64_t divisor = std::max<std::uint64_t>(common, (sum + k_largest_sum - 1) / k_largest_sum);
    round r;
    for (const std::uint32_t w : weights)
        r.weights.push_back(static_cast<std::int32_t>(std::max<std::uint64_t>(1, w / divisor)));
    const auto [known, is_new] = rounds_.try_emplace(r.weights);
    if (!is_new)
        return known->second;
    r.sum = std::accumulate(r.weights.begin(), r.weights.end(), 0);
    if (r.sum <= k_longest_kept) {
        place at;
        std::vector<std::uint16_t> order; // take() looks at that of r
        for (std::int32_t turn = 0; turn < r.sum; ++turn)
            order.push_back(static_cast<std::uint16_t>(take_long(r, at)));
        r.order = std::move(order);
    }
    known->second = std::move(r);
    return known->second;
}

std::uint32_t ub_turns::take_long(const round& r, place& at)
{
    if (at.due.empty())
        at.due.assign(r.weights.size(), 0);
    std::uint32_t best = 0;
    for (std::uint32_t i = 0; i < at.due.size(); ++i) {
        at.due[i] += r.weights[i];
        if (at.due[i] > at.due[best])
            best = i;
    }
    at.due[best] -= r.sum;
    return best;
}

} // namespace weft
