// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/ub_exchange_paths.h"

#include <algorithm>
#include <array>

namespace weft {

namespace {

constexpr double k_worth_it =
    0.75; // of the load by shortest paths. Assumed: detours add hops, and fill queues that others need
constexpr double k_as_good = 1.02; // loads that count as equal

/// Ranks in a row that differ in dimensions from `levels` on only.
std::uint32_t ranks_inside(const abi::platform_table& table, std::uint32_t levels)
{
    std::uint32_t ranks = 1;
    for (std::uint32_t d = levels; d < table.dim_count; ++d)
        ranks *= table.dims[d];
    return ranks;
}

/// The outermost dimension in which two different ranks differ.
std::uint32_t level_of(const abi::platform_table& table, std::uint32_t a, std::uint32_t b)
{
    std::uint32_t level = 0;
    while (level + 1 < table.dim_count && a / ranks_inside(table, level + 1) == b / ranks_inside(table, level + 1))
        ++level;
    return level;
}

/// Time that each link works for exchanges, of one lane and one message.
class exchange_loads {
public:
    explicit exchange_loads(const ub_plan& plan) : plan_(plan)
    {
        for (auto* loads : {&shortest_, &all_})
            for (std::vector<double>& of_level : *loads)
                of_level.assign(plan.links.size(), 0);
    }

    void add(std::uint32_t from, std::uint32_t to, std::uint32_t level, double bytes, const std::vector<bool>& down)
    {
        const std::vector<ub_path> set = plan_.paths->paths(from, to, down);
        const auto shortest = [](const ub_path& p) { return p.kind == ub_path_kind::shortest; };
        const bool any_shortest = std::any_of(set.begin(), set.end(), shortest);
        spread(
            set, [](const ub_path&) { return true; }, bytes, all_[level]);
        spread(
            set, [&](const ub_path& p) { return !any_shortest || shortest(p); }, bytes, shortest_[level]);
    }

    /// Of the busiest link, with pairs that differ in the `levels` outermost dimensions by all paths.
    double busiest(std::uint32_t levels) const
    {
        double most = 0;
        for (std::size_t l = 0; l < plan_.links.size(); ++l) {
            double load = 0;
            for (std::uint32_t level = 0; level < abi::k_max_dims; ++level)
                load += (level < levels ? all_ : shortest_)[level][l];
            most = std::max(most, load);
        }
        return most;
    }

private:
    template <class Takes>
    void spread(const std::vector<ub_path>& set, Takes&& takes, double bytes, std::vector<double>& loads) const
    {
        double total = 0;
        for (const ub_path& p : set)
            total += takes(p) ? p.weight : 0;
        for (const ub_path& p : set)
            for (const std::uint32_t l : p.links)
                loads[l] += takes(p) ? bytes * p.weight / total / plan_.links[l].lanes : 0;
    }

    const ub_plan& plan_;
    std::array<std::vector<double>, abi::k_max_dims> shortest_, all_;
};

} // namespace

std::vector<std::uint16_t> near_ranks_of(const ub_plan& plan, const std::vector<bool>& down,
                                         const std::vector<std::vector<std::uint32_t>>& groups,
                                         const std::vector<abi::platform_table>& tables)
{
    std::vector<std::uint16_t> near(groups.size(), abi::k_all_near);
    std::uint64_t pairs = 0;
    std::uint32_t most_levels = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        pairs += groups[g].size() * (groups[g].size() - 1);
        most_levels = std::max(most_levels, tables[g].dim_count);
    }
    if (pairs == 0 || pairs > k_most_exchange_pairs)
        return near;

    exchange_loads loads(plan);
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (std::uint32_t a = 0; a < groups[g].size(); ++a)
            for (std::uint32_t b = 0; b < groups[g].size(); ++b)
                if (a != b)
                    loads.add(groups[g][a], groups[g][b], level_of(tables[g], a, b),
                              1.0 / static_cast<double>(groups[g].size()), down);

    std::vector<double> busiest;
    for (std::uint32_t levels = 0; levels <= most_levels; ++levels)
        busiest.push_back(loads.busiest(levels));
    const double least = *std::min_element(busiest.begin(), busiest.end());
    if (least > k_worth_it * busiest.front())
        return near;
    const auto best =
        std::find_if(busiest.begin(), busiest.end(), [&](double load) { return load <= k_as_good * least; });
    const auto levels = static_cast<std::uint32_t>(best - busiest.begin());
    for (std::size_t g = 0; g < groups.size(); ++g)
        near[g] = static_cast<std::uint16_t>(ranks_inside(tables[g], std::min(levels, tables[g].dim_count)));
    return near;
}

} // namespace weft
