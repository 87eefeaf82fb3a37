// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/collective_runner.h"

#include "platforms/workload/host_use.h"
#include "platforms/workload/link_failure_report.h"
#include "tlm/stop_request.h"

#include <algorithm>
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
    if (machine_.hosts() != nullptr)
        outcome_.host_streams = machine_.hosts()->streams();
    for (std::string& warning : warnings())
        outcome_.warnings.push_back(std::move(warning));
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
    for (const host_stream_result& s : outcome_.host_streams)
        if (s.lost != 0)
            all.push_back(fmt::format("host.traffic: {} messages of {} never arrived.", s.lost, s.name));
    std::uint64_t faults = 0;
    std::string first_core;
    for (const chip* c : machine_.chips())
        for (const core_base* core : c->cores()) {
            first_core = faults == 0 && core->bus_faults.value() != 0 ? core->name() : first_core;
            faults += core->bus_faults.value();
        }
    if (outcome_.failure.empty() && faults != 0)
        all.push_back(fmt::format("{} access{} of firmware went where nothing answers, and no answer of it says so: the first core is {}; firmware.log has where an RV64 core was.",
                                  faults, faults == 1 ? "" : "es", first_core));
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
    std::uint64_t alone_ps = 0;
    if (config_.host && config_.host->compare && machine_.hosts() != nullptr) {
        const std::size_t begun = host_.begun();
        case_result alone;
        if (!host_.begin_case(0) || !run_case(c, spec.chunk_bytes(), alone, false) || !host_.let_it_drain())
            return false;
        alone_ps = alone.time_ps;
        host_.set_begun(begun);
    }
    for (std::uint32_t draw = 0; draw < spec.repeats; ++draw) {
        if (!host_.begin_case(draw))
            return false;
        host_.set_start_skew(draw == 0 ? 0 : spec.start_skew.value());
        case_result result;
        if (!run_case(c, spec.chunk_bytes(), result, true))
            return false;
        result.alone_ps = alone_ps;
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
bool collective_runner::run_case(const collective_case& c, std::uint64_t chunk_bytes, case_result& result, bool beside_hosts)
{
    for (;;) {
        const std::uint64_t checkpoint_ps = kernel_now_ps();
        const std::size_t begun = host_.begun();
        if ((!beside_hosts || begin_hosts()) && host_.run_collective(c, chunk_bytes, 0, config_.seed, result) && (!beside_hosts || end_hosts()))
            return true;
        if (!host_.interrupted())
            return false;
        host_.set_begun(begun);
        if (!host_.restart(checkpoint_ps, fmt::format("{} {} of {} B", name_of(c.op), name_of(c.algo), c.size_bytes)))
            return false;
    }
}

bool collective_runner::run_step(std::uint32_t i, training_step_result& result)
{
    const training_step_config& step = *config_.training_step;
    std::string part;
    // Every collective has inputs of its own, so that what a former one left behind cannot pass for its answer.
    if (run_training_step(step, host_, config_.seed + i * (step.collectives() / step.steps), result, part))
        return true;
    if (!host_.interrupted())
        outcome_.failure = fmt::format("training step {}, {}: {}", i, part, outcome_.failure);
    return false;
}

/// The first one, of which only the time counts. The very first by CCUs writes microcode, and those behind it find it.
bool collective_runner::run_step_alone()
{
    const std::vector<collective_case> cases = config_.training_step->cases();
    const bool by_ccu = std::any_of(cases.begin(), cases.end(), [](const collective_case& c) { return abi::is_in(abi::k_by_ccu, c.algo); });
    bool writes_microcode = by_ccu;
    for (;;) {
        const std::uint64_t checkpoint_ps = kernel_now_ps();
        const std::size_t begun = host_.begun();
        training_step_result alone;
        const bool done = run_step(0, alone);
        host_.set_begun(begun);
        if (done && std::exchange(writes_microcode, false)) {
            if (!host_.let_it_drain())
                return false;
            continue;
        }
        if (done) {
            outcome_.step_alone_ps = alone.time_ps;
            return host_.let_it_drain() && host_.begin_case(0);
        }
        if (!host_.interrupted() || !host_.restart(checkpoint_ps, "the training step without hosts"))
            return false;
        writes_microcode = by_ccu; // the hardware is new
    }
}

bool collective_runner::run_training_steps()
{
    if (!config_.training_step)
        return true;
    if (!host_.begin_case(0)) // all steps together are one case
        return false;
    const training_step_config& step = *config_.training_step;
    if (machine_.hosts() != nullptr && config_.host->compare && !run_step_alone())
        return false;
    checkpoints_.clear(); // those beside collectives hold no step
    const std::uint64_t first_ps = kernel_now_ps();
    for (std::uint32_t i = 0; i < step.steps; ++i) {
        training_step_result result;
        std::uint64_t checkpoint_ps = kernel_now_ps();
        const std::size_t begun = host_.begun();
        if (machine_.hosts() != nullptr)
            machine_.hosts()->begin_traffic();
        const bool beside = pending_ && machine_.hosts()->busy(), last = i + 1 == step.steps;
        const bool done = run_step(i, result);
        if (done) {
            result.beside_checkpoint = beside;
            outcome_.training_steps.push_back(std::move(result));
        }
        if (done && (checkpoints() == nullptr || (i + 1) % checkpoints()->every != 0 || begin_checkpoint(i + 1)) && (!last || end_hosts()))
            continue;
        if (!host_.interrupted())
            return false;
        if (pending_ && !machine_.hosts()->busy() && !finish_checkpoint()) // it has ended in time
            return false;
        std::uint32_t keep = i;
        if (checkpoints() != nullptr) {
            checkpoint_ps = first_ps;
            keep = steps_to_keep(i, checkpoint_ps);
        }
        host_.set_begun(begun);
        if (!host_.restart(checkpoint_ps, keep == i ? fmt::format("training step {}", i) : fmt::format("the run of training steps {} to {}", keep, i)))
            return false;
        pending_ = false;
        outcome_.training_steps.resize(keep);
        i = keep - 1; // 0 - 1 + 1 is 0
    }
    return host_.let_it_drain();
}

// ---- hosts

const checkpoint_config* collective_runner::checkpoints() const
{
    return config_.host && config_.host->checkpoint ? &*config_.host->checkpoint : nullptr;
}

/// Steps that are behind the job when it goes on from its last checkpoint; that it lacks are done again.
std::uint32_t collective_runner::steps_to_keep(std::uint32_t step, std::uint64_t& checkpoint_ps) const
{
    const std::optional<std::uint32_t> last = machine_.hosts()->last_checkpoint();
    const std::size_t first = next_checkpoint_ - checkpoints_.size();
    if (!last || *last < first)
        return 0;
    const begun_checkpoint& from = checkpoints_[*last - first];
    checkpoint_ps = from.at_ps;
    return std::min(step, from.steps_done);
}

/// Behind the end of the one before; with mode: blocking it comes back at the end of this one.
bool collective_runner::begin_checkpoint(std::uint32_t steps_done)
{
    if (!finish_checkpoint())
        return false;
    const bool blocking = checkpoints()->mode == checkpoint_mode::blocking;
    checkpoints_.push_back({steps_done, kernel_now_ps()});
    pending_ = true;
    machine_.hosts()->begin_checkpoint(next_checkpoint_++, blocking ? 0 : checkpoints()->after.value());
    return !blocking || finish_checkpoint();
}

bool collective_runner::finish_checkpoint()
{
    if (!pending_)
        return true;
    const std::uint64_t from_ps = kernel_now_ps();
    const bool done = host_.await_hosts();
    if (!done && host_.interrupted())
        return false;
    pending_ = false;
    checkpoint_result result = machine_.hosts()->result();
    if (!done)
        return false;
    result.waited_ps = kernel_now_ps() - from_ps;
    outcome_.checkpoints.push_back(std::move(result));
    return true;
}

/// Beside a collective: streams, and a checkpoint.
bool collective_runner::begin_hosts()
{
    if (machine_.hosts() == nullptr)
        return true;
    pending_ = false; // one before an interruption
    machine_.hosts()->begin_traffic();
    return checkpoints() == nullptr || begin_checkpoint(0);
}

bool collective_runner::end_hosts()
{
    if (machine_.hosts() == nullptr)
        return true;
    machine_.hosts()->end_traffic();
    return finish_checkpoint();
}

} // namespace weft
