// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/workload_checks.h"

#include "platforms/workload/collective_runner.h"

#include <fmt/format.h>

namespace weft {

void check_collectives(const run_config& run, const workload_ground& ground, std::vector<config_problem>& problems)
{
    bool all_sound = run.case_count() <= run_config::k_most_cases;
    const std::uint64_t output_offset = all_sound ? output_offset_for(run) : 0;
    for (std::size_t i = 0; i < run.workload.size(); ++i) {
        const collective_spec& spec = run.workload[i];
        const std::string key = fmt::format("workload.{}", i);
        const std::vector<abi::algorithm> algorithms = spec.all_algorithms();
        for (std::size_t a = 0; a < algorithms.size(); ++a) {
            const std::string place = spec.algorithms.empty() ? key : fmt::format("{}.algorithms.{}", key, a);
            const std::string refusal = ground.refusal(spec.op, algorithms[a], spec.transposed);
            if (!refusal.empty())
                problems.push_back({severity::error, place, refusal});
        }
        if (spec.root >= ground.ranks)
            problems.push_back(
                {severity::error, key + ".root",
                 fmt::format("is {}, but the ranks of {} are 0 to {}.", spec.root, ground.ranks_of, ground.ranks - 1)});
        else if (const std::string refusal = spec.op == abi::collective_op::broadcast && ground.root_refusal
                                                 ? ground.root_refusal(spec.root, spec.transposed)
                                                 : std::string();
                 !refusal.empty())
            problems.push_back({severity::error, key + ".root", refusal});
        all_sound = all_sound && is_sound(spec);
        if (!all_sound)
            continue;
        for (const collective_case& c : spec.cases()) {
            const std::uint64_t need = hbm_bytes_for(output_offset, c, ground.ranks);
            if (need <= ground.room_bytes)
                continue;
            problems.push_back(
                {severity::error, spec.sizes.empty() ? key + ".range.to" : key + ".sizes",
                 fmt::format("{} of {} needs {} of {}, but {}.", name_of(spec.op), to_string(data_size(c.size_bytes)),
                             to_string(data_size(need)), ground.memory, ground.room_text)});
            break;
        }
    }
    if (!run.training_step || !is_sound(*run.training_step))
        return;
    const training_step_config& step = *run.training_step;
    if (step.buffer_bytes() > ground.room_bytes)
        problems.push_back(
            {severity::error, step.groups.empty() ? "training_step.exchanges" : "training_step.groups",
             fmt::format("need {} of {}{}, but {}.", rounded_text(data_size(step.buffer_bytes())), ground.memory,
                         step.groups.empty() ? "" : " together with the exchanges", ground.room_text)});
}

void check_host_memory(const run_config& run, std::uint32_t ranks, const char* memories, std::uint64_t much_bytes,
                       std::vector<config_problem>& problems)
{
    for (const collective_spec& spec : run.workload)
        if (!is_sound(spec))
            return;
    if (run.case_count() > run_config::k_most_cases || (run.training_step && !is_sound(*run.training_step)))
        return;
    const std::uint64_t host = host_data_bytes_for(run, ranks);
    if (host > much_bytes)
        problems.push_back(
            {severity::warning, run.workload.empty() ? "training_step" : "workload",
             fmt::format(
                 "needs {} of host memory for the contents of {} {}; with \"data: off\" it needs none, and the times are the same.",
                 rounded_text(data_size(host)), ranks, memories)});
}

} // namespace weft
