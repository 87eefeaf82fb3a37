// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/collective_runner.h"

#include "platforms/workload/host_use.h"
#include "platforms/workload/link_failure_report.h"
#include "tlm/stop_request.h"

#include <chrono>
#include <fmt/format.h>

namespace weft {

collective_runner::collective_runner(const sc_core::sc_module_name& name, machine& m, const run_config& config,
                                     run_observer* observer, code_places* places)
    : sc_core::sc_module(name), machine_(m), config_(config), host_(m, config_, outcome_, observer, places)
{
    SC_THREAD(work);
    set_stack_size(1 << 20);
}

run_outcome collective_runner::run()
{
    const auto wall = std::chrono::steady_clock::now();
    const double cpu = cpu_seconds();
    sc_core::sc_start();
    if (!done_ && stop_requested())
        host_.note_stop();
    outcome_.cpu_seconds = cpu_seconds() - cpu - host_.data_cpu_seconds();
    outcome_.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
    outcome_.simulated_time_ps = host_.end_ps();
    outcome_.warnings = warnings();
    std::vector<abi::response> answers;
    for (const chip* c : machine_.chips())
        answers.push_back(c->response());
    outcome_.digest = digest_of(outcome_, answers);
    return outcome_;
}

/// What was asked for and did not happen.
std::vector<std::string> collective_runner::warnings() const
{
    std::vector<std::string> all = link_failure_warnings(machine_, host_.end_ps(), outcome_.failure.empty());
    for (std::string& warning : machine_.warnings())
        all.push_back(std::move(warning));
    if (outcome_.failure.empty() && machine_.restarts() != nullptr)
        for (const std::string& what : machine_.restarts()->interruptions_to_come())
            all.push_back(fmt::format("faults: {}, after the end of the run at {}: the fault had no effect.", what,
                                      rounded_text(duration(host_.end_ps()))));
    return all;
}

void collective_runner::work()
{
    if (host_.boot() && run_workload())
        run_training_steps();
    if (stop_if_requested())
        return; // run() tells it
    done_ = true;
    sc_core::sc_stop();
}

bool collective_runner::run_workload()
{
    host_.set_keeps_groups(true);
    host_.set_prepares(true);
    for (const collective_spec& spec : config_.workload)
        for (const collective_case& c : spec.cases())
            if (!run_repeats(spec, c))
                return false;
    host_.set_start_skew(0);
    host_.set_keeps_groups(false);
    host_.set_prepares(false);
    return true;
}

bool collective_runner::run_repeats(const collective_spec& spec, const collective_case& c)
{
    case_result all;
    for (std::uint32_t draw = 0; draw < spec.repeats; ++draw) {
        if (!host_.begin_case(draw))
            return false;
        host_.set_start_skew(draw == 0 ? 0 : spec.start_skew.value());
        case_result result;
        if (!run_case(c, spec.chunk.value(), result))
            return false;
        if (spec.repeats == 1)
            all = std::move(result);
        else
            add_repeat(all, result);
        if (draw + 1 == spec.repeats)
            outcome_.cases.push_back(std::move(all));
        // Credits and completions that are still on their way belong to this case, not to the next one.
        if (!host_.let_it_drain())
            return false;
    }
    return true;
}

/// As often as the job is interrupted, and once more.
bool collective_runner::run_case(const collective_case& c, std::uint64_t chunk_bytes, case_result& result)
{
    for (;;) {
        const std::uint64_t checkpoint_ps = kernel_now_ps();
        const std::size_t begun = host_.begun();
        if (host_.run_collective(c, chunk_bytes, 0, config_.seed, result))
            return true;
        if (!host_.interrupted())
            return false;
        host_.set_begun(begun);
        if (!host_.restart(checkpoint_ps, fmt::format("{} {} of {} B", name_of(c.op), name_of(c.algo), c.size_bytes)))
            return false;
    }
}

bool collective_runner::run_training_steps()
{
    if (!config_.training_step)
        return true;
    if (!host_.begin_case(0)) // all steps together are one case
        return false;
    const training_step_config& step = *config_.training_step;
    const std::uint64_t each = step.collectives() / step.steps;
    for (std::uint32_t i = 0; i < step.steps; ++i) {
        training_step_result result;
        std::string part;
        const std::uint64_t checkpoint_ps = kernel_now_ps();
        const std::size_t begun = host_.begun();
        // Every collective has inputs of its own, so that what a former one left behind cannot pass for its answer.
        if (!run_training_step(step, host_, config_.seed + i * each, result, part)) {
            if (host_.interrupted()) {
                host_.set_begun(begun);
                if (!host_.restart(checkpoint_ps, fmt::format("training step {}", i)))
                    return false;
                --i;
                continue;
            }
            outcome_.failure = fmt::format("training step {}, {}: {}", i, part, outcome_.failure);
            return false;
        }
        outcome_.training_steps.push_back(std::move(result));
    }
    return host_.let_it_drain();
}

} // namespace weft
