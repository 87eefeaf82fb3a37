// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/algorithm_predictions.h"

#include "firmware/collectives/supports.h"
#include "platforms/workload/machine.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

bool can_run(const abi::platform_table& table, const message_costs& costs, const collective_case& c, abi::algorithm algorithm)
{
    if (!reduction_problem(c.op, algorithm, c.type, c.redop).empty())
        return false;
    if (abi::by_switch(algorithm))
        return costs.sums.has_value();
    const char* reason = "";
    return firmware::supports(c.op, algorithm, table, c.transposed, &reason);
}

namespace {
void fastest_first(std::vector<algorithm_prediction>& all)
{
    std::stable_sort(all.begin(), all.end(), [](const algorithm_prediction& x, const algorithm_prediction& y) { return x.us < y.us; });
}
} // namespace

std::vector<algorithm_prediction> predictions_of(const abi::platform_table& table, const message_costs& costs, collective_case c)
{
    std::vector<algorithm_prediction> all;
    for (unsigned a = 0; a < abi::k_algorithms; ++a) {
        c.algo = static_cast<abi::algorithm>(a);
        if (!can_run(table, costs, c, c.algo))
            continue;
        if (const std::optional<double> us = predicted_us(table, costs, c))
            all.push_back({c.algo, *us});
    }
    fastest_first(all);
    return all;
}

double raised_to_bound(const platform& machine, const abi::platform_table& table, const message_costs& costs, const collective_case& c, double us)
{
    if (const auto bound = bound_on(machine, c))
        us = std::max(us, bound->us);
    if (!costs.irregular_routes || table.ranks < 2)
        return us;
    const double links_us = machine.busiest_link_us(c);
    if (links_us == 0)
        return us;
    const std::uint64_t shard_bytes = c.size_bytes / table.ranks / 2; // of one of two directions
    const bool in_chunks = c.chunk_bytes != 0 && shard_bytes > c.chunk_bytes;
    if (c.algo == abi::algorithm::ring_1d && in_chunks) // a chunk waits while others use the links
        return std::max(us, links_us);
    collective_case least = c; // what is no matter of bytes
    least.size_bytes = std::min<std::uint64_t>(c.size_bytes, std::uint64_t{table.ranks} * abi::element_bytes(c.type));
    least.count = least.size_bytes / abi::element_bytes(c.type);
    return std::max(us, links_us + predicted_us(table, costs, least).value_or(0));
}

std::vector<algorithm_prediction> predictions_on(const platform& machine, const abi::platform_table& table, const message_costs& costs,
                                                 const collective_case& c)
{
    std::vector<algorithm_prediction> all = predictions_of(table, costs, c);
    collective_case by = c;
    for (algorithm_prediction& one : all) {
        by.algo = one.algorithm;
        one.us = raised_to_bound(machine, table, costs, by, one.us);
    }
    fastest_first(all);
    return all;
}

std::string choice_of(const collective_case& c)
{
    if (c.predictions.empty() && !c.tuned && c.published_by.empty())
        return "";
    std::string text =
        c.tuned ? fmt::format("by tuning {}, ", c.tuning)
        : c.published_by.empty()
            ? ""
            : fmt::format("by the range in {}{}, ", c.published_by,
                          c.gathers_by ? fmt::format(" (all-gather by {})", name_of(*c.gathers_by)) : "");
    const auto find = [&](bool same) {
        return std::find_if(c.predictions.begin(), c.predictions.end(), [&](const algorithm_prediction& p) { return (p.algorithm == c.algo) == same; });
    };
    const auto own = find(true), next = find(false);
    text += own == c.predictions.end() ? "no prediction" : fmt::format("{:.1f} us predicted", own->us);
    if (!c.tuned && !c.tuning.empty())
        text += fmt::format(", as {} does not have this case", c.tuning);
    text += next == c.predictions.end() ? "; the only one" : fmt::format("; next {}, {:.1f} us", name_of(next->algorithm), next->us);
    return c.passed_over.empty() ? text : fmt::format("{}; {}", text, c.passed_over);
}

} // namespace weft
