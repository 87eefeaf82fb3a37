// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/collective_runner.h"

#include "platforms/workload/host_use.h"
#include "platforms/workload/link_failure_report.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

namespace weft {

namespace {
constexpr std::uint64_t k_output_alignment = 1 << 20;
/// What a buffer holds before its bytes have arrived; an answer that was never written shows up as wrong.
constexpr int k_poison = 0xee;
/// Simulated time between two looks at a running case, for the progress display and the stall check.
constexpr std::uint64_t k_look_ps = 50'000'000;

/// One more run of a case that is repeated.
void add_repeat(case_result& all, const case_result& r)
{
    if (all.repeats_ps.empty()) {
        all = r;
        all.repeats_ps.push_back(r.time_ps);
        return;
    }
    all.repeats_ps.push_back(r.time_ps);
    std::uint64_t sum = 0;
    for (const std::uint64_t ps : all.repeats_ps)
        sum += ps;
    all.time_ps = (sum + all.repeats_ps.size() / 2) / all.repeats_ps.size();
    all.steps = std::max(all.steps, r.steps);
    all.messages += r.messages;
    if (all.check.wrong == 0)
        all.check.first = r.check.first;
    all.check.checked += r.check.checked;
    all.check.wrong += r.check.wrong;
    all.check.digest = mix64(all.check.digest ^ r.check.digest);
}

} // namespace

std::uint64_t output_offset_for(const run_config& config)
{
    std::uint64_t largest = 0;
    for (const collective_spec& spec : config.workload)
        for (const std::uint64_t bytes : spec.all_sizes())
            largest = std::max(largest, bytes);
    return (largest + k_output_alignment - 1) / k_output_alignment * k_output_alignment;
}

std::uint64_t scratch_offset_for(std::uint64_t output_offset, std::uint32_t ranks)
{
    // Blocks of the first ranks are an element longer.
    const std::uint64_t longest = output_offset + std::uint64_t{ranks} * sizeof(std::uint64_t);
    return output_offset + (longest + k_output_alignment - 1) / k_output_alignment * k_output_alignment;
}

std::uint64_t hbm_bytes_for(std::uint64_t output_offset, const collective_case& c, std::uint32_t ranks)
{
    if (c.op != abi::collective_op::all_to_all)
        return c.size_bytes;
    if (c.algo == abi::algorithm::two_phase)
        output_offset = scratch_offset_for(output_offset, ranks);
    return output_offset + result_range(c, 0, ranks).count * abi::element_bytes(c.type);
}

std::size_t collective_count(const run_config& config)
{
    std::size_t cases = config.case_count();
    if (config.training_step)
        cases += config.training_step->collectives();
    return cases;
}

std::uint64_t host_data_bytes_for(const run_config& config, std::uint32_t ranks)
{
    if (config.data == data_mode::off)
        return 0;
    std::uint64_t resident = 0; // what was once touched stays
    std::uint64_t outputs = 0;
    for (const collective_spec& spec : config.workload)
        for (const collective_case& c : spec.cases()) {
            std::uint64_t output = c.op == abi::collective_op::all_to_all ? hbm_bytes_for(0, c, ranks) : 0;
            if (c.algo == abi::algorithm::two_phase)
                output += hbm_bytes_for(0, c, ranks);
            resident = std::max(resident, c.size_bytes + output);
            outputs = std::max(outputs, output);
        }
    if (config.training_step)
        resident = std::max(resident, config.training_step->buffer_bytes() + outputs);
    const std::uint64_t page = sparse_store::k_page_bytes;
    return ranks * ((resident + page - 1) / page * page);
}

collective_runner::collective_runner(const sc_core::sc_module_name& name, machine& m, const run_config& config,
                                     run_observer* observer, code_places* places)
    : sc_core::sc_module(name), machine_(m), restarts_(m.restarts()), config_(config), observer_(observer), places_(places),
      output_offset_(output_offset_for(config))
{
    for (chip* c : machine_.all_chips())
        c->connect_host(*this);
    SC_THREAD(host);
    set_stack_size(1 << 20);
}

run_outcome collective_runner::run()
{
    const auto wall = std::chrono::steady_clock::now();
    const double cpu = cpu_seconds();
    sc_core::sc_start();
    if (!done_ && stop_requested())
        note_stop();
    outcome_.cpu_seconds = cpu_seconds() - cpu - data_cpu_seconds_;
    outcome_.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
    outcome_.simulated_time_ps = end_ps_;
    outcome_.warnings = link_failure_warnings(machine_, end_ps_, outcome_.failure.empty());
    for (std::string& warning : machine_.warnings())
        outcome_.warnings.push_back(std::move(warning));
    if (outcome_.failure.empty() && restarts_ != nullptr)
        for (const std::string& what : restarts_->interruptions_to_come())
            outcome_.warnings.push_back(
                fmt::format("faults: {}, after the end of the run at {}: the fault had no effect.", what,
                            rounded_text(duration(end_ps_))));
    digest64 digest;
    add_to_digest(digest);
    outcome_.digest = digest.value();
    return outcome_;
}

void collective_runner::add_to_digest(digest64& digest) const
{
    for (const case_result& r : outcome_.cases) {
        digest.update_u64(static_cast<std::uint64_t>(r.what.op) | static_cast<std::uint64_t>(r.what.algo) << 8 |
                          static_cast<std::uint64_t>(r.what.type) << 16 |
                          static_cast<std::uint64_t>(r.what.redop) << 24);
        digest.update_u64(r.what.count);
        digest.update_u64(r.time_ps);
        digest.update_u64(r.steps);
        digest.update_u64(r.messages);
        digest.update_u64(r.checked ? r.check.digest : 0);
        digest.update_u64(r.check.wrong);
        for (const std::uint64_t ps : r.repeats_ps)
            digest.update_u64(ps);
    }
    for (const training_step_result& s : outcome_.training_steps) {
        digest.update_u64(s.time_ps);
        digest.update_u64(s.communication_ps);
        for (const step_part& p : s.parts) {
            digest.update_u64(p.what.count);
            if (p.what.ranks_per_group != 0)
                digest.update_u64(p.what.ranks_per_group);
            digest.update_u64(p.start_ps);
            digest.update_u64(p.time_ps);
            digest.update_u64(p.checked ? p.digest : 0);
            digest.update_u64(p.wrong);
        }
    }
    for (const job_restart& r : outcome_.restarts) {
        digest.update_u64(r.at_ps);
        digest.update_u64(r.resumed_ps);
    }
    if (!outcome_.failed_case)
        return;
    digest.update_u64(static_cast<std::uint64_t>(outcome_.failed_case->op) |
                      static_cast<std::uint64_t>(outcome_.failed_case->algo) << 8);
    digest.update_u64(outcome_.failed_case->count);
    digest.update_u64(outcome_.simulated_time_ps);
    for (const chip* c : machine_.chips()) {
        const abi::response r = c->response();
        digest.update_u64(r.sequence | static_cast<std::uint64_t>(r.code) << 32);
        digest.update_u64(r.failed_step | static_cast<std::uint64_t>(r.failed_peer) << 32);
    }
}

void collective_runner::host()
{
    cases_ = collective_count(config_);
    if (boot() && run_workload())
        run_training_steps();
    if (stop_if_requested())
        return; // run() tells it
    done_ = true;
    sc_core::sc_stop();
}

/// Goes on from the checkpoint, on the chips that are there now.
bool collective_runner::restart(std::uint64_t checkpoint_ps, const std::string& lost)
{
    std::uint64_t begin_ps = kernel_now_ps();
    const auto does_not_count = [&] { restarts_ps_ += kernel_now_ps() - std::exchange(begin_ps, kernel_now_ps()); };
    interrupted_ = false;
    now_.reset();
    job_restart r;
    r.at_ps = interrupted_at_ps();
    r.lost_ps = r.at_ps - std::min(checkpoint_ps, r.at_ps);
    for (chip* c : machine_.chips())
        c->disconnect_host(); // sequence numbers begin anew
    const restart_plan plan = restarts_->restart();
    sc_core::wait(sc_time_from_ps(plan.takes_ps));
    does_not_count();
    if (!boot())
        return false;
    does_not_count();
    fresh_ = true;
    sequence_ = 0;
    banks_.clear();
    if (draw_ != 0 && !reset_machine())
        return false;
    does_not_count();
    r.resumed_ps = kernel_now_ps();
    activity_at_last_look_ = 0;
    const std::string work = r.lost_ps == 0
                                 ? "nothing was under way"
                                 : fmt::format("{} was lost with {} of work", lost, rounded_text(duration(r.lost_ps)));
    r.text = fmt::format("{} at {}; {}; {} by {}, and the job went on with {}.", plan.cause,
                         to_string(duration(r.at_ps)), work, plan.remedy, rounded_text(duration(r.resumed_ps)), lost);
    outcome_.restarts.push_back(std::move(r));
    return true;
}

bool collective_runner::run_spec(const collective_case& c, std::uint64_t chunk_bytes, case_result& result)
{
    for (;;) {
        const std::uint64_t checkpoint_ps = kernel_now_ps();
        if (run_collective(c, chunk_bytes, 0, config_.seed, result))
            return true;
        if (!interrupted_)
            return false;
        --index_;
        if (!restart(checkpoint_ps, fmt::format("{} {} of {} B", name_of(c.op), name_of(c.algo), c.size_bytes)))
            return false;
    }
}

bool collective_runner::run_workload()
{
    in_workload_ = true;
    for (const collective_spec& spec : config_.workload)
        for (const collective_case& c : spec.cases()) {
            case_result all;
            for (std::uint32_t draw = 0; draw < spec.repeats; ++draw) {
                if (!begin_case(draw))
                    return false;
                start_skew_ps_ = draw == 0 ? 0 : spec.start_skew.value();
                case_result result;
                if (!run_spec(c, spec.chunk.value(), result))
                    return false;
                if (spec.repeats == 1)
                    all = std::move(result);
                else
                    add_repeat(all, result);
                if (draw + 1 == spec.repeats)
                    outcome_.cases.push_back(std::move(all));
                // Credits and completions that are still on their way belong to this case, not to the next one.
                if (!let_it_drain())
                    return false;
            }
        }
    start_skew_ps_ = 0;
    in_workload_ = false;
    return true;
}

bool collective_runner::run_training_steps()
{
    if (!config_.training_step)
        return true;
    if (!begin_case(0)) // all steps together are one case
        return false;
    const training_step_config& step = *config_.training_step;
    const std::uint64_t each = step.collectives() / step.steps;
    for (std::uint32_t i = 0; i < step.steps; ++i) {
        training_step_result result;
        std::string part;
        const std::uint64_t checkpoint_ps = kernel_now_ps();
        const std::size_t index_before = index_;
        // Every collective has inputs of its own, so that what a former one left behind cannot pass for its answer.
        if (!run_training_step(step, *this, config_.seed + i * each, result, part)) {
            if (interrupted_) {
                index_ = index_before;
                if (!restart(checkpoint_ps, fmt::format("training step {}", i)))
                    return false;
                --i;
                continue;
            }
            outcome_.failure = fmt::format("training step {}, {}: {}", i, part, outcome_.failure);
            return false;
        }
        outcome_.training_steps.push_back(std::move(result));
    }
    return let_it_drain();
}

bool collective_runner::run_collective(const collective_case& asked, std::uint64_t chunk_bytes,
                                       std::uint64_t buffer_offset, std::uint64_t input_seed, case_result& result)
{
    if (stop_if_requested())
        return false;
    if (interrupted()) {
        interrupted_ = true;
        return false;
    }
    const collective_case c = [&] {
        collective_case run = machine_.as_run(asked);
        run.chunk_bytes = chunk_bytes;
        return run;
    }();
    if (observer_ != nullptr)
        observer_->on_case(index_, cases_, c);
    ++index_;
    const double cpu_before = cpu_seconds();
    const group_layout layout = layout_of(c);
    const rank_groups groups(machine_.data_ranks(), layout.members);
    if (config_.data == data_mode::checked)
        fill_inputs(c, groups, buffer_offset, input_seed);
    data_cpu_seconds_ += cpu_seconds() - cpu_before;

    abi::command command;
    command.sequence = ++sequence_;
    command.op = c.op;
    command.algo = c.algo;
    command.type = c.type;
    command.redop = c.redop;
    command.count = c.count;
    command.buffer_offset = buffer_offset;
    command.output_offset = output_offset_;
    command.scratch_offset = scratch_offset_for(output_offset_, static_cast<std::uint32_t>(machine_.chips().size()));
    command.chunk_bytes = chunk_bytes;
    command.timeout_ns = config_.firmware_timeout.value() / 1000;
    command.root = c.root;
    command.transposed = c.transposed ? 1 : 0;
    if (!layout.firmware_knows) {
        write_groups(groups, layout);
        command.table = abi::k_group_table_address;
    }
    for (chip* each : machine_.chips())
        each->dma.set_train(machine_.train_of(c));
    answers_ = 0;
    const std::uint64_t start_ps = kernel_now_ps();
    const std::uint64_t traffic_before = traffic_so_far();
    const double traffic_expected = expected_traffic(c);
    now_ = under_way{c, start_ps, buffer_offset, input_seed, in_workload_, {}};
    now_->answer_ps.assign(machine_.chips().size(), k_never_ps);
    begin_looking();
    post(command, groups);
    if (interrupted()) {
        interrupted_ = true;
        now_.reset();
        return false;
    }
    const auto ranks = static_cast<std::uint32_t>(machine_.chips().size());
    const bool recovers = machine_.recovers(c);
    std::string picture;
    std::uint64_t picture_ps = 0;
    while (answers_ < ranks) {
        const std::uint64_t now_ps = kernel_now_ps();
        const std::uint64_t left_ps = limit_ps() > now_ps ? limit_ps() - now_ps : 0;
        const std::uint64_t until_ps = interrupted_at_ps() - now_ps; // not in the past: asked before
        sc_core::wait(sc_time_from_ps(std::min({k_look_ps, left_ps + 1, until_ps})), all_answered_);
        if (answers_ == ranks)
            break;
        if (stop_if_requested())
            return false;
        if (interrupted()) {
            interrupted_ = true;
            return false;
        }
        if (const std::string dead = stopped_cores(); !dead.empty()) {
            note_failure(c, start_ps,
                         fmt::format("{} {} of {} B: the firmware stopped.{}{}", name_of(c.op), name_of(c.algo),
                                     c.size_bytes, dead, who_waits()));
            return false;
        }
        if (!recovers && picture.empty() && stalled()) {
            picture_ps = kernel_now_ps();
            picture =
                fmt::format("Nothing can move any more at {}.{}", rounded_text(duration(picture_ps)), who_waits());
        }
        if (picture.empty() && spins()) {
            // Firmware that only polls never parks, but acknowledges its command.
            const bool boots = sequence_ == 1 && most_parked_ < ranks &&
                               std::any_of(machine_.chips().begin(), machine_.chips().end(), [&](const chip* one) {
                                   return !one->core.idle() && !one->core.blocked() &&
                                          one->mailbox.regs.at(abi::mailbox::COMMAND_ACK) != command.sequence;
                               });
            if (boots) {
                waits_ = host_wait::boot;
                now_.reset();
                fail_between_collectives(fmt::format("firmware loops: since {}, twice firmware_timeout = {}, no event and no "
                                                     "interrupt has come, and a core executes",
                                                     rounded_text(duration(quiet_since_ps_)),
                                                     to_string(config_.firmware_timeout)));
                return false;
            }
            note_failure(c, start_ps,
                         fmt::format("{} {} of {} B did not complete. Firmware loops: since {}, twice firmware_timeout = {}, "
                                     "no event, no interrupt and no answer has come, and a core executes.{}",
                                     name_of(c.op), name_of(c.algo), c.size_bytes,
                                     rounded_text(duration(quiet_since_ps_)), to_string(config_.firmware_timeout),
                                     who_waits()));
            return false;
        }
        if (!picture.empty() && kernel_now_ps() - picture_ps > 2 * config_.firmware_timeout.value())
            break; // firmware that does not keep its own time-outs
        if (const std::string over = over_bound(); !over.empty()) {
            std::string why =
                fmt::format("{} {} of {} B: {}, and {} of {} ranks have not answered.{}", name_of(c.op),
                            name_of(c.algo), c.size_bytes, over, ranks - answers_, ranks, who_waits());
            if (const std::string down = describe_link_failures(machine_, start_ps); !down.empty())
                why += "\n" + down;
            note_failure(c, start_ps, std::move(why));
            return false;
        }
        if (!picture.empty()) { // nothing but a time-out can happen: go there in one step
            const std::uint64_t rest_ps =
                interrupted_at_ps() - std::min(interrupted_at_ps(), kernel_now_ps());
            sc_core::wait(sc_time_from_ps(std::min(config_.firmware_timeout.value(), rest_ps)), all_answered_);
        }
        if (observer_ != nullptr)
            observer_->on_progress(static_cast<double>(traffic_so_far() - traffic_before) /
                                   std::max(1.0, traffic_expected));
    }

    const std::string failed = answers_of_failed_ranks(command.sequence, c);
    if (recovers && !failed.empty())
        picture = fmt::format("At {}:{}", rounded_text(duration(kernel_now_ps())), who_waits());
    if (!picture.empty() || !failed.empty()) {
        explain_failure(c, picture, failed, start_ps);
        return false;
    }

    now_.reset();
    end_ps_ = last_answer_ps_;
    result = case_result{};
    result.what = c;
    result.time_ps = last_answer_ps_ - last_start_ps_;
    for (const chip* source : machine_.chips()) {
        const abi::response r = source->response();
        result.steps = std::max(result.steps, r.steps);
        result.messages += r.messages;
    }
    const double cpu_check = cpu_seconds();
    if (config_.data == data_mode::checked) {
        result.check = check(c, groups, buffer_offset, input_seed);
        result.checked = true;
    }
    data_cpu_seconds_ += cpu_seconds() - cpu_check;
    return true;
}

/// To all ranks, at once or each at its time within the start skew.
void collective_runner::post(const abi::command& command, const rank_groups& groups)
{
    fresh_ = false;
    const std::uint64_t first_ps = kernel_now_ps();
    std::vector<std::pair<std::uint64_t, chip*>> starts;
    for (chip* c : machine_.chips()) {
        // Uniform in [0, skew]: the upper 32 bits of 64 random ones, as a fraction.
        const std::uint64_t random = mix64(key_of_draw(config_.seed, draw_) + c->rank() * 0x9e37'79b9'7f4a'7c15ull);
        starts.emplace_back((random >> 32) * (start_skew_ps_ + 1) >> 32, c);
    }
    std::stable_sort(starts.begin(), starts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [after_ps, c] : starts) {
        if (const std::uint64_t now_ps = kernel_now_ps(); first_ps + after_ps > now_ps)
            sc_core::wait(sc_time_from_ps(first_ps + after_ps - now_ps));
        const bool takes_part = groups.takes_part(c->rank()) || c->rank() >= groups.ranks();
        abi::command told = command;
        if (!takes_part) // it answers at once
            told.count = 0;
        c->post(told);
    }
    last_start_ps_ = kernel_now_ps();
}

/// The run ends here: `c`, which began at `start_ps`, did not complete.
void collective_runner::note_failure(const collective_case& c, std::uint64_t start_ps, std::string why)
{
    end_ps_ = kernel_now_ps();
    outcome_.failure = std::move(why);
    outcome_.failed_case = c;
    outcome_.failed_start_ps = start_ps;
    keep_finished_groups();
}

/// Somebody has ended the run; the kernel has stopped between two events.
void collective_runner::note_stop()
{
    outcome_.stop_signal = stop_signal;
    const char* const name = outcome_.stop_signal == SIGINT    ? "SIGINT (Ctrl-C)"
                             : outcome_.stop_signal == SIGTERM ? "SIGTERM"
                             : outcome_.stop_signal == SIGHUP  ? "SIGHUP"
                                                               : "a signal";
    std::string why = fmt::format("interrupted by {} at {} of simulated time", name,
                                  rounded_text(duration(kernel_now_ps())));
    if (!now_) {
        fail_between_collectives(why);
        return;
    }
    const collective_case& c = now_->what;
    note_failure(c, now_->start_ps,
                 fmt::format("{}: {} {} of {} B was under way, and {} of {} ranks have not answered.{}{}", why,
                             name_of(c.op), name_of(c.algo), c.size_bytes, machine_.chips().size() - answers_,
                             machine_.chips().size(), stopped_cores(), who_waits()));
}

/// What one group of ranks has completed is a result, although another has not.
void collective_runner::keep_finished_groups()
{
    if (!now_ || !now_->of_workload)
        return;
    const collective_case& c = now_->what;
    const rank_groups groups(machine_.data_ranks(), layout_of(c).members);
    if (groups.groups() < 2)
        return;
    std::string unfinished;
    for (std::uint32_t g = 0; g < groups.groups(); ++g) {
        const std::vector<std::uint32_t>& members = groups.members(g);
        const bool complete = std::all_of(members.begin(), members.end(), [&](std::uint32_t rank) {
            return now_->answer_ps[rank] != k_never_ps &&
                   machine_.chips()[rank]->response().code == abi::status_code::ok;
        });
        if (!complete) {
            unfinished += (unfinished.empty() ? "" : ", ") + machine_.group_name(g);
            continue;
        }
        case_result result;
        result.what = c;
        result.group = machine_.group_name(g);
        result_checker checker(c, now_->input_seed, groups);
        for (const std::uint32_t rank : members) {
            const abi::response r = machine_.chips()[rank]->response();
            result.time_ps = std::max(result.time_ps, now_->answer_ps[rank] - now_->start_ps);
            result.steps = std::max(result.steps, r.steps);
            result.messages += r.messages;
            if (config_.data == data_mode::checked)
                checker.check_rank(rank, reader_of(c, now_->buffer_offset));
        }
        result.checked = config_.data == data_mode::checked;
        result.check = checker.outcome();
        outcome_.cases.push_back(result);
    }
    outcome_.failure += fmt::format("\nNot completed: {}, of {} groups; the results of the others stand.", unfinished,
                                    groups.groups());
}

void collective_runner::explain_failure(const collective_case& c, const std::string& picture, const std::string& failed,
                                        std::uint64_t start_ps)
{
    std::string why = fmt::format("{} {} of {} B did not complete.", name_of(c.op), name_of(c.algo), c.size_bytes);
    const std::string down = describe_link_failures(machine_, start_ps);
    for (const std::string& part : {down, picture, failed})
        if (!part.empty())
            why += "\n" + part;
    if (picture.empty() && failed.find(k_timed_out_text) != std::string::npos) {
        if (!down.empty()) // the time-outs came before everything else had come to rest
            why += who_waits();
        else
            why += fmt::format(
                "\nNothing was blocked for good. Every single wait is bounded by firmware_timeout = {}; raise it "
                "where links, memories or cores are this slow.",
                to_string(config_.firmware_timeout));
    }
    note_failure(c, start_ps, std::move(why));
}

void collective_runner::on_done(std::uint32_t rank, std::uint32_t sequence)
{
    if (sequence != sequence_) // of a chip that is not part of the job any more
        return;
    last_answer_ps_ = kernel_now_ps();
    if (now_ && rank < now_->answer_ps.size())
        now_->answer_ps[rank] = last_answer_ps_;
    if (++answers_ == machine_.chips().size())
        all_answered_.notify(sc_core::SC_ZERO_TIME);
}

group_layout collective_runner::layout_of(const collective_case& c) const
{
    group_layout layout;
    if (c.ranks_per_group != 0) {
        layout = machine_.groups_of(c.ranks_per_group);
    } else if (!c.groups.empty()) {
        named_groups named = find_groups(c.groups, machine_.data_ranks(), tables());
        if (!named.problem.empty())
            throw bug(name(), kernel_now_ps(), "groups: entry " + named.problem);
        layout.members = std::move(named.lists);
    } else {
        layout.members.emplace_back();
    }
    // All ranks in their order are what the platform table tells.
    const bool whole = layout.members.size() == 1 && (layout.members[0].empty() || layout.members[0].size() == machine_.data_ranks());
    if (whole) {
        rank_list all(machine_.data_ranks());
        std::iota(all.begin(), all.end(), 0);
        if (layout.members[0].empty() || layout.members[0] == all) {
            layout.members[0] = std::move(all);
            layout.firmware_knows = true;
        }
    }
    return layout;
}

table_of_rank collective_runner::tables() const
{
    return [this](std::uint32_t rank) -> const abi::platform_table& { return machine_.chips()[rank]->table(); };
}

/// Groups that were the same before keep their bank: its counters go on.
std::uint32_t collective_runner::bank_of(const group_layout& layout)
{
    const auto known = std::find(banks_.begin(), banks_.end(), layout.members);
    const auto bank = static_cast<std::uint32_t>(known - banks_.begin()) + 1;
    if (bank >= abi::dma::SEM_BANKS_reset)
        throw bug(name(), kernel_now_ps(), "more divisions into groups than banks of semaphores: a platform has let them pass");
    if (known == banks_.end())
        banks_.push_back(layout.members);
    return bank;
}

void collective_runner::write_groups(const rank_groups& groups, const group_layout& layout)
{
    const std::uint32_t bank = bank_of(layout);
    for (const rank_list& members : layout.members) {
        const std::vector<abi::platform_table> of_group = tables_of_group(members, tables(), bank);
        for (std::size_t place = 0; place < members.size(); ++place)
            machine_.chips()[members[place]]->write_group(of_group[place], members);
    }
    for (std::uint32_t rank = 0; rank < groups.ranks(); ++rank)
        if (!groups.takes_part(rank)) // a group of one can run everything
            machine_.chips()[rank]->write_group(tables_of_group({rank}, tables(), bank).front(), {rank});
}

void collective_runner::fill_inputs(const collective_case& c, const rank_groups& groups, std::uint64_t buffer_offset,
                                    std::uint64_t input_seed)
{
    const std::uint32_t ranks = machine_.data_ranks();
    const std::uint64_t element = abi::element_bytes(c.type);
    const auto each_span = [this](chip_memory& memory, std::uint64_t offset, std::uint64_t bytes, auto&& fill) {
        for (std::uint64_t done = 0; done < bytes && !stop_requested();) {
            std::uint64_t got = 0;
            std::uint8_t* to = memory.span_for_write(offset + done, bytes - done, got);
            if (to == nullptr || got == 0)
                throw bug(name(), kernel_now_ps(),
                          fmt::format("the host writes {} B at {:#x} of {}, which ends before: a platform has let a "
                                      "workload pass that does not fit",
                                      bytes, offset, memory.name()));
            fill(done, to, got);
            done += got;
        }
    };
    for (chip* target : machine_.chips()) {
        if (target->rank() >= ranks) {
            each_span(target->memory, buffer_offset, c.count * element,
                      [](std::uint64_t, std::uint8_t* to, std::uint64_t n) { std::memset(to, 0, n); });
            continue;
        }
        if (!groups.takes_part(target->rank()))
            continue;
        const std::uint32_t place = groups.place_of(target->rank());
        const std::uint32_t size = groups.group_size_of(target->rank());
        const abi::element_range in = input_range(c, place, size);
        const auto poison = [](std::uint64_t, std::uint8_t* to, std::uint64_t n) { std::memset(to, k_poison, n); };
        each_span(target->memory, buffer_offset, in.first * element, poison);
        each_span(target->memory, buffer_offset + in.first * element, in.count * element,
                  [&](std::uint64_t done, std::uint8_t* to, std::uint64_t n) {
                      generate(c, input_seed, target->rank(), groups, in.first + done / element, to, n / element);
                  });
        const std::uint64_t end = in.first + in.count;
        each_span(target->memory, buffer_offset + end * element, (c.count - end) * element, poison);
        if (c.op == abi::collective_op::all_to_all)
            each_span(target->memory, output_offset_, result_range(c, place, size).count * element, poison);
    }
}

check_outcome collective_runner::check(const collective_case& c, const rank_groups& groups, std::uint64_t buffer_offset,
                                       std::uint64_t input_seed)
{
    return check_result(c, input_seed, groups, reader_of(c, buffer_offset));
}

memory_reader collective_runner::reader_of(const collective_case& c, std::uint64_t buffer_offset)
{
    const std::uint64_t base = c.op == abi::collective_op::all_to_all ? output_offset_ : buffer_offset;
    return [this, base](std::uint32_t rank, std::uint64_t offset, std::uint64_t at_most) {
        std::uint64_t got = 0;
        const std::uint8_t* data = machine_.chips()[rank]->memory.span_for_read(base + offset, at_most, got);
        return memory_span{data, got};
    };
}

std::uint64_t collective_runner::traffic_so_far() const
{
    std::uint64_t bytes = 0;
    for (const component* c : machine_.time().components())
        bytes += c->arrived_bytes();
    return bytes;
}

double collective_runner::expected_traffic(const collective_case& c) const
{
    const double ranks = static_cast<double>(machine_.chips().size());
    const double size = static_cast<double>(c.size_bytes);
    switch (c.op) {
    case abi::collective_op::all_reduce: {
        if (abi::by_switch(c.algo))
            return size * ranks;
        const double group = c.ranks_per_group == 0 ? ranks : c.ranks_per_group;
        return 2 * size * (group - 1) * (ranks / group);
    }
    case abi::collective_op::all_to_all: return size * ranks;
    default: return size * (ranks - 1);
    }
}

} // namespace weft
