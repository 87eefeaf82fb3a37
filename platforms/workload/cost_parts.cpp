// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/cost_parts.h"

#include "firmware/collectives/full_mesh.h"
#include "firmware/collectives/line_cycles.h"
#include "platforms/workload/bounds.h"

namespace weft {

namespace {

namespace costs = firmware::costs;
using abi::dimension_kind;

// Where ranks send to each other rank in turn, messages that wait to turn from one line or ring into another hold up
// others: an exchange takes longer than its bound by this part for each rank but one of a side, times the square of the
// load of the other dimensions over that of the busiest. Calibrated with an all_to_all of 16 MiB by direct, share of
// its bound, and of this model: meshes 4x4 71 and 70 %, 3x5 89 and 89, 2x8 97 and 97, 8x8 51 and 51; tori 4x4 61 and
// 60, 3x5 83 and 84, 8x8 36 and 39; a line of 8 95 and 100.
constexpr double k_turns_of_line = 0.14, k_turns_of_ring = 0.22;
// Of two shots along diagonals, by the ranks of the longest line or ring. Calibrated: a reduce_scatter of 1 MiB on a
// 4x4 torus.
constexpr double k_shots_share_by_line = 4, k_shots_share_by_ring = 3;
// Detours over switches, where a rank has links to them: they add this part of those links to a line of d ranks, over
// d, where there are other lines; all of them where there is one. Calibrated on boards of two NPUs; on a rack they add
// little.
constexpr double k_outside_share = 1.6;
// Of lines of two ranks, one of n such lines gets this part of it over n. Calibrated with ring_1d on racks of 2x4, 2x6
// and 2x8 NPUs.
constexpr double k_pairs_share = 2.8;

// By two_d, whose steps wait for whole shards, rings of n lose this part over n. Calibrated: 24 MiB on tori of 3x3
// (share of 0.72), 4x4 (0.79) and 8x8 (0.89). Lines beside rings lose as much (4x6), others nothing (4x4).
constexpr double k_two_d_loss = 0.85;

// A direct exchange in a process group of a full mesh takes detours over links that the group has in no dimension: this
// part of them adds to each dimension. Calibrated on racks of 8x8 and 8x4 NPUs, rows and blocks of 8, 16 and 32,
// all_reduce of 4 and 16 MiB: 0.16 to 0.27, columns 0.
constexpr double k_borrowed_share = 0.2;

} // namespace

double cost_parts::post(double extra_instructions) const
{
    return instructions(costs::k_direct_message + extra_instructions) + m_.descriptor_us + m_.access_us;
}

double cost_parts::latency(double hops_us) const
{
    return m_.engine_us + 3 * m_.memory_us + hops_us + m_.wake_us + m_.access_us + instructions(costs::k_wake);
}

double cost_parts::hops_to(std::uint32_t rank) const
{
    double us = 0;
    for (std::uint32_t d = t_.dim_count; d-- > 0;) {
        const std::uint32_t at = rank % t_.dims[d];
        rank /= t_.dims[d];
        us += hops_along(d, at) * (m_.hop_us[d] - m_.once_us);
    }
    return us + (us != 0 ? m_.once_us : 0);
}

double cost_parts::hops_along(std::uint32_t d, std::uint32_t coordinate) const
{
    const std::uint32_t here = t_.coord[d];
    const std::uint32_t distance = here > coordinate ? here - coordinate : coordinate - here;
    switch (t_.kind[d]) {
    case dimension_kind::line: return distance;
    case dimension_kind::ring: return std::min(distance, t_.dims[d] - distance);
    default: return distance != 0 ? 1 : 0;
    }
}

double cost_parts::farthest() const
{
    double us = 0;
    for (std::uint32_t d = 0; d < t_.dim_count; ++d) {
        const bool one = t_.kind[d] == dimension_kind::full || t_.kind[d] == dimension_kind::switched;
        us += (one ? (t_.dims[d] > 1 ? 1 : 0) : t_.kind[d] == dimension_kind::ring ? t_.dims[d] / 2 : t_.dims[d] - 1) * (m_.hop_us[d] - m_.once_us);
    }
    return us + (us != 0 ? m_.once_us : 0);
}

std::uint32_t cost_parts::dimension_of(std::uint32_t rank) const
{
    for (std::uint32_t d = t_.dim_count; d-- > 0;) {
        if (rank % t_.dims[d] != t_.coord[d])
            return d;
        rank /= t_.dims[d];
    }
    return t_.dim_count - 1;
}

double cost_parts::stream_rate(std::uint32_t d, double streams) const
{
    const double rate = std::min(stream_rate_of_links(d, streams), one_link(d));
    return m_.ports_rate == 0 ? rate : std::min(rate, m_.ports_rate / std::max(1.0, streams));
}

double cost_parts::one_link(std::uint32_t d) const
{
    if (t_.parallel_links < 2 || d < t_.gateway_dims || t_.rate_mbps[d] == 0)
        return std::numeric_limits<double>::infinity();
    switch (t_.kind[d]) {
    case dimension_kind::full: // the two of a rung, or two rungs
        return bytes_per_us(t_.rate_mbps[d]) / (d + 1 == t_.dim_count ? std::max(1u, t_.rung_links) : t_.parallel_links);
    case dimension_kind::line:
    case dimension_kind::ring: return bytes_per_us(t_.rate_mbps[d]) / (2.0 * t_.parallel_links);
    default: return std::numeric_limits<double>::infinity();
    }
}

double cost_parts::stream_rate_of_links(std::uint32_t d, double streams) const
{
    const double all = bytes_per_us(t_.rate_mbps[d]) * (alone_on_device(d) ? t_.device_ranks : 1);
    if (all == 0)
        return std::numeric_limits<double>::infinity();
    switch (t_.kind[d]) {
    case dimension_kind::full:
        if (owns_link(d, streams))
            return all / (t_.dims[d] - 1.0);
        if (m_.flows_take_one_path)
            return all / std::max(streams, t_.dims[d] - 1.0);
        return rate_with_detours(d) / streams;
    case dimension_kind::switched: return all / streams;
    case dimension_kind::line:
        // A ring that is folded onto a line uses each of its links both ways, a tree one way.
        return c_.algo == abi::algorithm::mesh_tree ? all / std::max(2.0, streams) : share_of_two_d(d) * all / (2 * streams);
    default: return share_of_two_d(d) * all / std::max(2.0, streams);
    }
}

double cost_parts::rate_with_detours(std::uint32_t d) const
{
    const double all = bytes_per_us(t_.rate_mbps[d]) * (alone_on_device(d) ? t_.device_ranks : 1), n = t_.dims[d];
    // A detour over another rank takes two links of the line, one over a switch none.
    const double links_taken = n < 3 ? 1 : 2 - 1 / (n - 1);
    if (firmware::one_full_line(t_) && t_.dims[d] == t_.ranks)
        return all / links_taken + outside();
    const double pairs = n < 3 ? std::min(1.0, k_pairs_share * n / t_.ranks) : 1;
    return (all + k_outside_share / n * outside() * pairs) / links_taken;
}

bool cost_parts::owns_link(std::uint32_t d, double streams) const
{
    return c_.algo == abi::algorithm::multi_ring &&
           firmware::rings_own_links(t_.dims[d], static_cast<std::uint32_t>(streams));
}

double cost_parts::share_of_two_d(std::uint32_t d) const
{
    const auto* end = t_.kind + t_.dim_count;
    const bool closed = std::find(t_.kind, end, dimension_kind::ring) != end;
    return c_.algo == abi::algorithm::two_d && closed ? 1 - k_two_d_loss / t_.dims[d] : 1;
}

double cost_parts::ring_rate(double streams) const
{
    double slowest = std::numeric_limits<double>::infinity();
    for (std::uint32_t d = 0; d < t_.dim_count; ++d)
        slowest = t_.dims[d] > 1 ? std::min(slowest, stream_rate(d, streams)) : slowest;
    return slowest;
}

bool cost_parts::alone_on_device(std::uint32_t d) const
{
    const bool one_by_one = c_.algo == abi::algorithm::ring_1d || c_.algo == abi::algorithm::mesh_tree;
    return one_by_one && t_.device_ranks > 1 && (t_.device_members <= 1 || d + 1 < t_.dim_count);
}

double cost_parts::links_along(std::uint32_t d) const
{
    return t_.kind[d] == dimension_kind::full ? t_.dims[d] - 1 : std::min<double>(2, t_.dims[d] - 1.0);
}

double cost_parts::links_of_rank() const
{
    double links = 0;
    for (std::uint32_t d = 0; d < t_.dim_count; ++d)
        links += links_along(d);
    return std::max(1.0, links);
}

double cost_parts::links_of_busiest_dimension() const
{
    double links = 1, busiest = 0;
    for (std::uint32_t d = 0; d < t_.dim_count; ++d) {
        if (t_.dims[d] < 2 || t_.rate_mbps[d] == 0)
            continue;
        const double load = (t_.dims[d] - 1.0) / t_.dims[d] / bytes_per_us(t_.rate_mbps[d]);
        links = load > busiest ? links_along(d) : links;
        busiest = std::max(busiest, load);
    }
    return links;
}

double cost_parts::outside() const
{
    double inside = 0;
    for (std::uint32_t d = 0; d < t_.dim_count; ++d)
        inside += bytes_per_us(t_.rate_mbps[d]);
    return std::max(0.0, static_cast<double>(m_.links_bps) / 8e6 - inside);
}

double cost_parts::share_of_shots() const
{
    double share = 1;
    for (std::uint32_t d = 0; d < t_.dim_count; ++d)
        if (t_.kind[d] == dimension_kind::line || t_.kind[d] == dimension_kind::ring)
            share = std::min(share, (t_.kind[d] == dimension_kind::line ? k_shots_share_by_line : k_shots_share_by_ring) / t_.dims[d]);
    // Of long and narrow machines one dimension carries nearly all, and few messages turn.
    return std::max(share, share_of_exchange());
}

double cost_parts::share_of_exchange() const
{
    double busiest = 0, squares = 0, ranks = 1, sides = 0, turns = 0;
    for (std::uint32_t d = 0; d < t_.dim_count; ++d) {
        const bool ring = t_.kind[d] == dimension_kind::ring;
        if (t_.dims[d] < 2 || t_.rate_mbps[d] == 0 || !(ring || t_.kind[d] == dimension_kind::line))
            continue;
        const double low = t_.dims[d] / 2;
        const double load = low * (t_.dims[d] - low) / t_.dims[d] / (ring ? 1 : 0.5) / t_.rate_mbps[d];
        turns = load > busiest ? (ring ? k_turns_of_ring : k_turns_of_line) : turns;
        busiest = std::max(busiest, load);
        squares += load * load;
        ranks *= t_.dims[d];
        ++sides;
    }
    if (sides == 0)
        return 1;
    return 1 / (1 + turns * (std::pow(ranks, 1 / sides) - 1) * (squares / busiest / busiest - 1));
}

double cost_parts::bound_of_exchange() const
{
    const auto op = abi::collective_op::all_to_all;
    const bool borrows = t_.members != 0 && firmware::full_mesh(t_);
    auto bound = bound_of(t_, borrows ? links_with(k_borrowed_share) : 0, m_.memory_bps, op, c_.size_bytes);
    if (!bound && t_.members != 0) // no box: by all links of a rank
        bound = bound_of_group(t_.ranks, m_.links_bps, m_.memory_bps, op, c_.size_bytes);
    return bound ? bound->us : 0;
}

std::uint64_t cost_parts::links_with(double share) const
{
    return m_.links_bps - static_cast<std::uint64_t>(outside() * (1 - share) * 8e6);
}

double cost_parts::barrier() const
{
    double us = 0;
    if (firmware::full_mesh(t_) && t_.members == 0) {
        for (std::uint32_t d = 0; d < t_.dim_count; ++d)
            us += t_.dims[d] > 1 ? post(costs::k_direct_wait) + m_.access_us + latency(m_.hop_us[d]) : 0;
        return us;
    }
    for (std::uint32_t distance = 1; distance < t_.ranks; distance *= 2)
        us += post(costs::k_direct_wait) + m_.access_us + latency(hops_to((t_.rank + distance) % t_.ranks));
    return us;
}

} // namespace weft
