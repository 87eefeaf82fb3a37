// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Cycles of a dependency graph that is given by its edges: each_next(channel, visit) calls visit(next) for every
// dependency.
// Plain C++, for both proofs of this folder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft {

/// Takes away, again and again, channels of `left` on which nothing depends; `before` counts the dependencies on each
/// channel and tells afterwards who remains: cycles, and what hangs behind them. Calls dissolved(channel, next) for
/// every dependency of a channel that is taken, after those on the channel itself. Returns how many were taken.
template <class EachNext, class Dissolved>
std::size_t take_away_free_channels(const std::vector<std::uint32_t>& left, std::vector<std::uint32_t>& before,
                                    EachNext&& each_next, Dissolved&& dissolved)
{
    std::vector<std::uint32_t> free;
    for (const std::uint32_t c : left)
        if (before[c] == 0)
            free.push_back(c);
    for (std::size_t i = 0; i < free.size(); ++i) {
        const std::uint32_t at = free[i];
        each_next(at, [&](std::uint32_t next) {
            dissolved(at, next);
            if (--before[next] == 0)
                free.push_back(next);
        });
    }
    return free.size();
}

/// The shortest cycle among the channels with dependencies left in `before`, by breadth-first search from each of
/// `starts`. Once one is known, at most `most_starts` further starts are tried, and none when it has `short_enough`
/// channels.
template <class EachNext>
std::vector<std::uint32_t> shortest_cycle(const std::vector<std::uint32_t>& starts,
                                          const std::vector<std::uint32_t>& before, EachNext&& each_next,
                                          std::size_t short_enough = 1, std::uint32_t most_starts = 0xffff'ffff)
{
    constexpr std::uint32_t k_nobody = 0xffff'ffff;
    const std::size_t n = before.size();
    std::vector<std::uint32_t> best, stamp(n, k_nobody), came_from(n), depth(n), queue;
    std::uint32_t tried = 0;
    for (const std::uint32_t start : starts) {
        if (before[start] == 0)
            continue;
        if (!best.empty() && (best.size() <= short_enough || ++tried > most_starts))
            break;
        queue.assign(1, start);
        stamp[start] = start;
        depth[start] = 1;
        bool closed = false;
        for (std::size_t i = 0; i < queue.size() && !closed; ++i) {
            const std::uint32_t at = queue[i];
            if (!best.empty() && depth[at] >= best.size())
                break;
            each_next(at, [&](std::uint32_t next) {
                if (closed || before[next] == 0)
                    return;
                if (next == start) {
                    closed = true;
                    best.assign(1, at);
                    while (best.back() != start)
                        best.push_back(came_from[best.back()]);
                    std::reverse(best.begin(), best.end());
                } else if (stamp[next] != start) {
                    stamp[next] = start;
                    came_from[next] = at;
                    depth[next] = depth[at] + 1;
                    queue.push_back(next);
                }
            });
        }
    }
    return best;
}

} // namespace weft
