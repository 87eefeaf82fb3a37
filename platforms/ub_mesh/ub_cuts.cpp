// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/ub_cuts.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace weft {

namespace {

/// A cut needs no best placing of switches to be one: a few rounds come close to it.
constexpr unsigned k_rounds = 4;

} // namespace

std::optional<collective_bound> ub_cuts::of_group(const collective_case& c,
                                                  const std::vector<std::uint32_t>& group) const
{
    const auto ranks = static_cast<double>(group.size());
    const std::uint32_t here = plan_.endpoint_router[group.front()];
    std::set<std::uint32_t> out, in;
    for (std::size_t i = 1; i < group.size(); ++i) {
        const std::uint32_t there = plan_.endpoint_router[group[i]];
        for (const ub_path& p : plan_.paths->paths(here, there, down_))
            if (!p.links.empty())
                out.insert(p.links.front());
        for (const ub_path& p : plan_.paths->paths(there, here, down_))
            if (!p.links.empty())
                in.insert(p.links.back());
    }
    const auto rate = [&](const std::set<std::uint32_t>& links) {
        double lanes = 0;
        for (const std::uint32_t l : links)
            lanes += plan_.links[l].lanes;
        return lanes * lane_bytes_per_us_;
    };
    const double bytes = static_cast<double>(c.size_bytes);
    const double others = bytes * (ranks - 1) / ranks;
    // The first rank of the group may be the root or not, so of operations with a root only one direction is known.
    const bool is_root = c.root == 0;
    const double sent = has_root(c.op)                           ? (reduces(c.op) != is_root ? bytes : 0)
                        : c.op == abi::collective_op::all_reduce ? 2 * others
                                                                 : others;
    const double got = has_root(c.op) ? (reduces(c.op) == is_root ? bytes : 0) : sent;
    if (rate(out) == 0 || rate(in) == 0)
        return std::nullopt;
    return collective_bound{std::max(sent / rate(out), got / rate(in)), "links of a rank to its group"};
}

double ub_cuts::rate_across(const std::vector<bool>& inside) const
{
    // Every router is inside or outside; of those that are no ranks, who has more lanes to the inside is inside.
    std::vector<signed char> side(plan_.routers.size(), 0);
    std::vector<bool> fixed(plan_.routers.size(), false);
    for (std::size_t e = 0; e < inside.size(); ++e) {
        fixed[plan_.endpoint_router[e]] = true;
        side[plan_.endpoint_router[e]] = inside[e] ? 1 : -1;
    }
    for (unsigned round = 0; round < k_rounds; ++round) {
        std::vector<int> pull(plan_.routers.size(), 0);
        for (std::uint32_t l = 0; l < plan_.links.size(); ++l)
            if (works(l))
                pull[plan_.links[l].to] += side[plan_.links[l].from] * plan_.links[l].lanes;
        for (std::size_t r = 0; r < side.size(); ++r)
            if (!fixed[r])
                side[r] = static_cast<signed char>(pull[r] > 0 ? 1 : -1);
    }
    double lanes = 0;
    for (std::uint32_t l = 0; l < plan_.links.size(); ++l)
        if (works(l) && side[plan_.links[l].from] > 0 && side[plan_.links[l].to] < 0)
            lanes += plan_.links[l].lanes;
    return lanes * lane_bytes_per_us_;
}

std::optional<collective_bound> ub_cuts::of_all_to_all(std::uint64_t size_bytes, const abi::platform_table& table) const
{
    std::optional<collective_bound> bound;
    std::uint32_t stride = 1;
    for (std::uint32_t axis = 0; axis < table.dim_count; ++axis) { // from the innermost
        const std::uint32_t size = table.dims[table.dim_count - 1 - axis];
        std::vector<bool> inside(table.ranks);
        double ranks = 0;
        for (std::uint32_t r = 0; r < table.ranks; ++r) {
            inside[r] = r / stride % size == 0;
            ranks += inside[r] ? 1 : 0;
        }
        stride *= size;
        const double rate = rate_across(inside);
        if (rate == 0)
            continue;
        const double us = ranks * static_cast<double>(size_bytes) * (1 - ranks / table.ranks) / rate;
        if (!bound || us > bound->us)
            bound = collective_bound{us, fmt::format("links across dimension {}", axis)};
    }
    return bound;
}

} // namespace weft
