// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine/algorithm_choice.h"

#include "firmware/collectives/supports.h"
#include "platforms/workload/cost_model.h"
#include "platforms/workload/process_groups.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

bool is_auto(abi::algorithm a) { return a == k_auto_algorithm; }

/// Of the algorithms that every group runs, by the longest group of `groups`, which is the last one to finish.
std::vector<algorithm_prediction> predictions_for(const std::vector<abi::platform_table>& groups, const message_costs& costs, const collective_case& c)
{
    const abi::platform_table& longest =
        *std::max_element(groups.begin(), groups.end(), [](const abi::platform_table& a, const abi::platform_table& b) { return a.ranks < b.ranks; });
    std::vector<algorithm_prediction> found = predictions_of(longest, costs, c);
    const auto refused_by_some = [&](const algorithm_prediction& p) {
        return std::any_of(groups.begin(), groups.end(), [&](const abi::platform_table& table) {
            const char* reason = nullptr;
            return !firmware::supports(c.op, p.algorithm, table, c.transposed, &reason);
        });
    };
    found.erase(std::remove_if(found.begin(), found.end(), refused_by_some), found.end());
    return found;
}

} // namespace

bool uses_auto(const run_config& run) { return runs_any(run, is_auto); }

std::vector<config_problem> choose_algorithms(run_config& run, const platform& machine)
{
    std::vector<config_problem> problems;
    const message_costs costs = machine.costs();
    for (std::size_t i = 0; i < run.workload.size(); ++i) {
        collective_spec& spec = run.workload[i];
        const auto at = std::find_if(spec.algorithms.begin(), spec.algorithms.end(), is_auto);
        if (at == spec.algorithms.end() || !is_sound(spec))
            continue;
        collective_case c;
        const std::vector<abi::platform_table> groups = group_tables(machine, spec.groups);
        if (std::all_of(groups.begin(), groups.end(), [](const abi::platform_table& t) { return t.ranks < 2; }))
            continue; // nothing is sent, by any of them
        for (const abi::element_type type : spec.types)
            for (const std::uint64_t bytes : spec.all_sizes()) {
                c = make_case(spec.op, k_auto_algorithm, type, spec.redops.empty() ? abi::reduce_op::sum : spec.redops.front(), bytes);
                c.root = spec.root;
                c.transposed = spec.transposed;
                c.chunk_bytes = spec.chunk.value();
                spec.choices.add(type, c.size_bytes, predictions_for(groups, costs, c));
            }
        if (predictions_for(groups, costs, c).empty())
            problems.push_back({severity::error, fmt::format("workload.{}.algorithms.{}", i, at - spec.algorithms.begin()),
                                fmt::format("is auto, but there is no prediction for {} here: name an algorithm.", name_of(spec.op))});
    }
    if (run.training_step && is_auto(run.training_step->algorithm) && is_sound(*run.training_step)) {
        training_step_config& step = *run.training_step;
        const abi::platform_table table = machine.rank_table(0);
        for (const collective_case& c : step.cases())
            if (c.ranks_per_group == 0)
                step.choices.add(c.type, c.size_bytes, predictions_of(table, costs, c));
        if (table.ranks > 1 && predictions_of(table, costs, make_case(abi::collective_op::all_reduce, k_auto_algorithm, abi::element_type::float32, abi::reduce_op::sum, 1024)).empty())
            problems.push_back({severity::error, "training_step.algorithm", "is auto, but there is no prediction for all_reduce here: name an algorithm."});
    }
    return problems;
}

} // namespace weft
