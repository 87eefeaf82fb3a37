// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine/predicted_times.h"

#include "firmware/collectives/gapped_lines.h"
#include "platforms/machine/longest_group.h"
#include "platforms/workload/algorithm_predictions.h"
#include "platforms/workload/planned_schedule.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <tuple>

namespace weft {

namespace {

/// A timeout that is proposed: the wait with this much room for what predictions leave out.
constexpr double k_room = 2;

struct predicted_case {
    double us = 0;
    bool is_bound = false; ///< there is no prediction
    double waits = 1;      ///< of a rank, one behind the other
    collective_case what;
    std::string key; ///< of its size

    double wait_us() const { return us / waits; }
};

/// How many waits of a rank the time is made of, at least; 0: no core waits for so much at once, with CCUs, or with
/// switches that sum packet by packet.
std::uint32_t waits_of(const abi::platform_table& table, const collective_case& c)
{
    using abi::algorithm;
    if (!abi::by_dma(c.algo))
        return 0;
    if (abi::moves_tokens(c.op)) // short ones do not count: for shared tokens, and for the others
        return c.algo == algorithm::hierarchical || c.op == abi::collective_op::combine ? 2 : 1;
    if (c.algo == algorithm::mesh_tree) // pieces arrive by themselves; a rank waits for the last one
        return 1;
    if (firmware::goes_around_gaps(table, c.op, c.algo))
        return c.op == abi::collective_op::all_reduce ? 4 : 2;
    if (has_schedule(table, c.op, c.algo) || has_rings_in_lockstep(c.algo))
        return std::max(1u, plan_of(table, c).steps);
    switch (c.algo) {
    case algorithm::direct: return c.op == abi::collective_op::all_to_all ? 1 : 2; // reductions in two shots
    case algorithm::two_phase:
    case algorithm::two_phase_one_path:
    case algorithm::parameter_server: return 2;
    case algorithm::halving_doubling: return 2 * static_cast<std::uint32_t>(std::ceil(std::log2(std::max(2u, table.ranks))));
    default: return 1; // all is posted to DMA engines that wait for each other
    }
}

/// Of `cases`, which have the same groups, the one with the longest wait: of each algorithm the largest counts.
void take_longest(std::optional<predicted_case>& longest, const platform& machine, const message_costs& costs,
                  const std::vector<collective_case>& cases, const std::string& key)
{
    std::map<std::tuple<abi::collective_op, abi::algorithm>, const collective_case*> largest;
    for (const collective_case& c : cases) {
        const collective_case*& at = largest[{c.op, c.algo}];
        if (c.algo != k_auto_algorithm && c.ranks_per_group == 0 && (at == nullptr || c.size_bytes > at->size_bytes))
            at = &c;
    }
    const std::vector<abi::platform_table> groups = group_tables(machine, cases.empty() ? std::vector<std::string>() : cases.front().groups);
    const abi::platform_table table = longest_of(groups);
    for (const auto& [by, c] : largest) {
        if (c == nullptr || groups.empty())
            continue;
        try {
            const std::uint32_t waits = waits_of(table, *c);
            if (waits == 0)
                continue;
            predicted_case found{0, false, static_cast<double>(waits), *c, key};
            if (const std::optional<double> us = predicted_us(table, costs, *c)) {
                found.us = raised_to_bound(machine, table, costs, *c, *us);
            } else if (const auto bound = bound_on(machine, *c)) {
                found.us = bound->us;
                found.is_bound = true;
            }
            if (!longest || found.wait_us() > longest->wait_us())
                longest = found;
        } catch (const user_error&) { // a planner refuses it: so will the run
            continue;
        }
    }
}

duration duration_of(double us) { return duration(static_cast<std::uint64_t>(us * 1e6)); }

/// The next one of 1, 2, 5, 10, 20 ...
duration round_above(double us)
{
    const double power = std::pow(10, std::floor(std::log10(us)));
    for (const double digit : {1.0, 2.0, 5.0})
        if (us <= digit * power)
            return duration_of(digit * power);
    return duration_of(10 * power);
}

} // namespace

void check_predicted_times(const platform& machine, const yaml_document& document, std::vector<problem>& problems)
{
    const run_config& run = machine.run();
    const message_costs costs = machine.costs();
    std::optional<predicted_case> longest;
    for (std::size_t i = 0; i < run.workload.size(); ++i)
        take_longest(longest, machine, costs, run.workload[i].cases(),
                     fmt::format("workload.{}.{}", i, run.workload[i].sizes.empty() ? "range.to" : "sizes"));
    if (run.training_step)
        take_longest(longest, machine, costs, run.training_step->cases(), "training_step");
    const duration limit = run.firmware_timeout;
    if (!longest || longest->wait_us() * 1e6 <= static_cast<double>(limit.value()))
        return;
    const collective_case& c = longest->what;
    const std::string what = fmt::format("{} of {} by {}", name_of(c.op), to_string(data_size(c.size_bytes)), name_of(c.algo));
    const std::string takes = fmt::format("takes {} {}, in which a rank waits {}", rounded_text(duration_of(longest->us)), longest->is_bound ? "at least" : "as predicted",
                                          longest->waits == 1 ? "once" : fmt::format("{} times", longest->waits));
    const std::string end = fmt::format("A wait that is longer ends the run; write \"firmware_timeout: {}\".", to_string(round_above(k_room * longest->wait_us())));
    if (document.find("firmware_timeout") != nullptr)
        add_problem(document, problems, "firmware_timeout", fmt::format("is {}, but {} {}. {}", to_string(limit), what, takes, end), severity::warning);
    else
        add_problem(document, problems, longest->key, fmt::format("has {}, which {}; firmware_timeout is {}. {}", what, takes, to_string(limit), end),
                    severity::warning);
}

} // namespace weft
