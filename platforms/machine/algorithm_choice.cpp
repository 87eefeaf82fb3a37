// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine/algorithm_choice.h"

#include "firmware/collectives/supports.h"
#include "platforms/machine/longest_group.h"
#include "platforms/workload/algorithm_predictions.h"
#include "platforms/workload/case_memory.h"
#include "platforms/workload/process_groups.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

bool is_auto(abi::algorithm a) { return a == k_auto_algorithm; }

bool all_run(const std::vector<abi::platform_table>& groups, const message_costs& costs, abi::algorithm by, const collective_case& c)
{
    return std::all_of(groups.begin(), groups.end(), [&](const abi::platform_table& table) { return can_run(table, costs, c, by); });
}

/// Of the algorithms that every group runs, by the longest group of `groups`, which is the last one to finish.
std::vector<algorithm_prediction> predictions_for(const platform& machine, const std::vector<abi::platform_table>& groups,
                                                  const message_costs& costs, const collective_case& c)
{
    std::vector<algorithm_prediction> found = predictions_on(machine, longest_of(groups), costs, c);
    const auto refused = [&](const algorithm_prediction& p) { return !all_run(groups, costs, p.algorithm, c); };
    found.erase(std::remove_if(found.begin(), found.end(), refused), found.end());
    return found;
}

/// Chooses for cases of the same groups.
struct chooser {
    const platform& machine;
    std::vector<abi::platform_table> groups; ///< what the first rank of each is told
    message_costs costs;
    const tuning_table* tuned;
    std::string tuning;
    std::vector<published_range> published;
    buffer_room room;
    std::uint32_t ranks = 0;         ///< of the machine
    std::uint64_t output_offset = 0; ///< output_offset_for() of the run

    std::uint64_t bytes_for(collective_case c, abi::algorithm by) const
    {
        c.algo = by;
        return hbm_bytes_for(output_offset, c, ranks);
    }
    bool fits(const collective_case& c, abi::algorithm by) const { return bytes_for(c, by) <= room.bytes; }
    /// Notes the first one that could be taken but for the room.
    void pass_over(collective_case& c, abi::algorithm by) const
    {
        if (c.passed_over.empty())
            c.passed_over = fmt::format("{} needs {} of {}, more than there is", name_of(by), to_string(data_size(bytes_for(c, by))), room.memory);
    }

    bool sends_nothing() const
    {
        return std::all_of(groups.begin(), groups.end(), [](const abi::platform_table& t) { return t.ranks < 2; });
    }
    /// Of those that fit; the others are noted.
    const published_range* published_for(collective_case& c) const
    {
        for (const published_range& range : published)
            if (range.covers(c.op, c.size_bytes) && all_run(groups, costs, range.algorithm, c) &&
                (!range.gathers_by || all_run(groups, costs, *range.gathers_by, c))) {
                if (fits(c, range.algorithm))
                    return &range;
                pass_over(c, range.algorithm);
            }
        return nullptr;
    }
    /// The case with its choice among what fits into memory; as it was where there is none.
    collective_case chosen(collective_case c) const
    {
        std::vector<algorithm_prediction> all = predictions_for(machine, groups, costs, c);
        const auto too_large =
            std::stable_partition(all.begin(), all.end(), [&](const algorithm_prediction& one) { return fits(c, one.algorithm); });
        c.predictions.assign(all.begin(), too_large);
        c.tuning = tuning;
        if (const auto fastest = tuned == nullptr ? std::nullopt : tuned->fastest(c)) {
            if (fits(c, *fastest)) {
                c.algo = *fastest;
                c.tuned = true;
                return c;
            }
            pass_over(c, *fastest);
        }
        if (const published_range* const range = published_for(c)) {
            c.algo = range->algorithm;
            c.published_by = range->source;
            c.gathers_by = range->gathers_by;
            return c;
        }
        if (!c.predictions.empty())
            c.algo = c.predictions.front().algorithm;
        if (too_large != all.end())
            pass_over(c, too_large->algorithm);
        return c;
    }
    /// Adds the choice of every case; the first one that has none.
    std::optional<collective_case> add_all(const std::vector<collective_case>& cases, algorithm_choices& choices) const
    {
        std::optional<collective_case> without;
        for (collective_case c : cases) {
            c.algo = k_auto_algorithm;
            c = chosen(std::move(c));
            if (!is_auto(c.algo))
                choices.add(std::move(c));
            else if (!without)
                without = std::move(c);
        }
        return without;
    }
};

std::string not_chosen(const collective_case& c, const std::vector<abi::platform_table>& groups, const std::string& tuning,
                       const workload_limits& limits)
{
    if (reduces(c.op) && abi::is_float8(c.type))
        return fmt::format("is auto, but nothing here sums {}: {}.", name_of(c.type), who_sums_float8(c.op));
    const char* reason = "";
    const auto runs_here = [&](abi::algorithm a) {
        return std::any_of(groups.begin(), groups.end(), [&](const abi::platform_table& t) { return firmware::supports(c.op, a, t, c.transposed, &reason); });
    };
    bool any_runs = false;
    for (unsigned a = 0; a < abi::k_algorithms && !any_runs; ++a)
        any_runs = runs_here(static_cast<abi::algorithm>(a));
    if (const std::string why = any_runs || !limits.refusal ? "" : limits.refusal(c.op, abi::algorithm::ring_1d, c.transposed); !why.empty())
        return fmt::format("is auto, but no algorithm runs here: {}", why);
    return fmt::format("is auto, but there is no prediction for {} here{}: name an algorithm.", name_of(c.op),
                       tuning.empty() ? "" : fmt::format(", and {} does not have all of its cases", tuning));
}

} // namespace

std::optional<abi::algorithm> choice_without_table(const platform& machine, const collective_case& c)
{
    collective_case asked = c;
    asked.algo = k_auto_algorithm;
    const std::vector<abi::platform_table> groups = group_tables(machine, c.groups);
    const std::uint64_t output_offset = output_offset_for(std::vector<std::uint64_t>{input_bytes_of(c)});
    const chooser choose{machine, groups, machine.costs(), nullptr, "", machine.published_ranges(longest_of(groups)), machine.room(), machine.ranks(), output_offset};
    const abi::algorithm chosen = choose.chosen(std::move(asked)).algo;
    return is_auto(chosen) ? std::nullopt : std::optional(chosen);
}

std::vector<std::string> algorithms_for_others(std::uint32_t traits)
{
    constexpr std::uint32_t k_of_machines =
        abi::traits::by_switch | abi::traits::on_devices | abi::traits::of_replicas | abi::traits::by_ccu;
    std::vector<std::string> names;
    for (const abi::algorithm_row& row : abi::k_algorithm_rows)
        if ((row.traits & k_of_machines & ~traits) != 0)
            names.emplace_back(row.name);
    return names;
}

std::vector<config_problem> choose_algorithms(run_config& run, const platform& machine, const tuning_table* tuned,
                                              const workload_limits& limits)
{
    std::vector<config_problem> problems;
    const message_costs costs = machine.costs();
    const buffer_room room = machine.room();
    const std::uint64_t output_offset = output_offset_for(run);
    for (std::size_t i = 0; i < run.workload.size(); ++i) {
        collective_spec& spec = run.workload[i];
        const auto at = std::find_if(spec.algorithms.begin(), spec.algorithms.end(), is_auto);
        if (at == spec.algorithms.end() || !is_sound(spec))
            continue;
        collective_spec asked = spec;
        asked.algorithms = {k_auto_algorithm};
        const std::vector<abi::platform_table> groups = group_tables(machine, spec.groups);
        const chooser choose{machine, groups, costs, tuned, run.tuning, machine.published_ranges(longest_of(groups)), room, machine.ranks(), output_offset};
        if (choose.sends_nothing())
            continue;
        if (const auto without = choose.add_all(asked.cases(), spec.choices))
            problems.push_back({severity::error,
                                fmt::format("workload.{}.algorithms.{}", i, at - spec.algorithms.begin()),
                                not_chosen(*without, groups, run.tuning, limits)});
        const std::vector<collective_case>& found = spec.choices.found();
        if (!costs.leaves_out.empty() && std::any_of(found.begin(), found.end(), [](const collective_case& c) {
                return !c.tuned && c.published_by.empty() && c.predictions.size() > 1;
            }))
            problems.push_back({severity::warning, fmt::format("workload.{}.algorithms.{}", i, at - spec.algorithms.begin()),
                                fmt::format("is auto, whose predictions leave out {}: another algorithm may be faster here. `weft tune` measures which.", costs.leaves_out)});
    }
    if (run.training_step && run.training_step->algorithm == k_auto_algorithm && is_sound(*run.training_step)) {
        training_step_config& step = *run.training_step;
        std::vector<collective_case> cases = step.cases();
        const auto has_its_own = [](const collective_case& c) { return c.ranks_per_group != 0; };
        cases.erase(std::remove_if(cases.begin(), cases.end(), has_its_own), cases.end());
        const abi::platform_table table = machine.rank_table(0);
        const chooser choose{machine, {table}, costs, tuned, run.tuning, machine.published_ranges(table), room, machine.ranks(), output_offset};
        if (choose.sends_nothing())
            return problems;
        if (const auto without = choose.add_all(cases, step.choices))
            problems.push_back({severity::error, "training_step.algorithm", not_chosen(*without, {table}, run.tuning, limits)});
    }
    return problems;
}

} // namespace weft
