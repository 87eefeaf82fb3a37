// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Patterns of traffic for UB-Mesh machines: who sends to whom.
#pragma once

#include "testbenches/support/child.h"
#include "testbenches/support/ub_traffic.h"

#include <functional>
#include <numeric>

namespace weft::testing {

using ub_partner = std::function<std::uint32_t(std::uint32_t)>;
using ub_destinations = std::vector<std::vector<std::uint32_t>>;

/// Coordinates of a rank, and back; each wraps round.
struct ub_at {
    std::uint32_t pod, row, col, board, unit;
};
inline ub_at place_of(const ub_shape& s, std::uint32_t rank)
{
    const std::uint32_t rack = rank / s.npus_per_rack();
    return {rack / s.racks_per_pod(), rack / s.rack_cols % s.rack_rows, rack % s.rack_cols, rank / s.npus % s.boards,
            rank % s.npus};
}
inline std::uint32_t rank_at(const ub_shape& s, ub_at p)
{
    return (((p.pod % s.pods * s.rack_rows + p.row % s.rack_rows) * s.rack_cols + p.col % s.rack_cols) * s.boards +
            p.board % s.boards) *
               s.npus +
           p.unit % s.npus;
}
/// The rank that is so much further in each dimension.
inline ub_partner shifted(const ub_shape& s, ub_at by)
{
    return [s, by](std::uint32_t rank) {
        const ub_at p = place_of(s, rank);
        return rank_at(s, {p.pod + by.pod, p.row + by.row, p.col + by.col, p.board + by.board, p.unit + by.unit});
    };
}

/// A fixed partner for each rank; ranks that are their own partner send nothing.
inline ub_destinations fixed(std::uint32_t ranks, const ub_partner& partner)
{
    ub_destinations d(ranks);
    for (std::uint32_t r = 0; r < ranks; ++r)
        if (const std::uint32_t to = partner(r); to != r)
            d[r] = {to};
    return d;
}
/// Over all endpoints below `endpoints`.
inline ub_destinations uniform(std::uint32_t endpoints, std::uint64_t packets, std::uint64_t seed)
{
    traffic_random random(seed);
    ub_destinations d(endpoints);
    for (std::uint32_t r = 0; r < endpoints; ++r)
        for (std::uint64_t k = 0; k < packets; ++k) {
            const std::uint32_t to = random.below(endpoints - 1);
            d[r].push_back(to + (to >= r ? 1 : 0));
        }
    return d;
}
inline ub_destinations permutation(std::uint32_t ranks, std::uint64_t seed)
{
    traffic_random random(seed);
    std::vector<std::uint32_t> to(ranks);
    std::iota(to.begin(), to.end(), 0u);
    for (std::uint32_t i = ranks - 1; i > 0; --i) // one circle (Sattolo): nobody is his own partner
        std::swap(to[i], to[random.below(i)]);
    return fixed(ranks, [&](std::uint32_t r) { return to[r]; });
}
/// Every second packet to one of the hot ones, the others anywhere.
inline ub_destinations hot_spot(std::uint32_t ranks, std::uint64_t packets, const std::vector<std::uint32_t>& hot,
                                std::uint64_t seed)
{
    ub_destinations d = uniform(ranks, packets, seed);
    for (std::uint32_t r = 0; r < ranks; ++r)
        for (std::size_t k = 0; k < d[r].size(); k += 2)
            if (const std::uint32_t h = hot[(k / 2 + r) % hot.size()]; h != r)
                d[r][k] = h;
    return d;
}
/// All of one board to all of another (of the same rack), and nobody else.
inline ub_destinations board_to_board(const ub_shape& s, std::uint32_t from, std::uint32_t to)
{
    ub_destinations d(s.ranks());
    for (std::uint32_t i = 0; i < s.npus; ++i)
        for (std::uint32_t j = 0; j < s.npus; ++j)
            d[from * s.npus + i].push_back(to * s.npus + (i + j) % s.npus);
    return d;
}

/// What came of a run.
struct ub_outcome {
    std::uint64_t sent, received, counted_bytes, hops, events, end_ps, resent, duplicates, given_up, not_sent,
        unreachable;
    std::uint64_t suspected; ///< reported unreachable though a path is left
    double cpu_s;
    child_text complaint;
};
template <class World> ub_outcome outcome_of(World& w)
{
    ub_outcome o{};
    o.sent = w.traffic.sent();
    o.received = w.traffic.received();
    o.counted_bytes = w.traffic.counted_bytes();
    o.hops = w.fabric.engine().packet_hops();
    o.events = w.time.events();
    o.end_ps = w.traffic.last_arrival_ps();
    o.resent = w.fabric.sum(&ub_endpoint::resent);
    o.duplicates = w.fabric.sum(&ub_endpoint::duplicates_dropped);
    o.given_up = w.fabric.sum(&ub_endpoint::given_up);
    o.not_sent = w.fabric.sum(&ub_endpoint::not_sent);
    o.unreachable = w.fabric.unreachable().size();
    o.complaint = w.complaint();
    return o;
}
/// Builds a machine in a child, lets `prepare` touch it, and runs it until nothing happens any more.
inline ub_outcome run_ub(const ub_ways& ways, const ub_config& config, const ub_load& load,
                         const std::function<void(ub_world&)>& prepare = {})
{
    return in_child<ub_outcome>([&] {
        ub_world w(ways, config, load);
        if (prepare)
            prepare(w);
        sc_core::sc_start();
        return outcome_of(w);
    });
}

} // namespace weft::testing
