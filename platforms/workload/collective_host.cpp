// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// One collective: its command, the wait for its answers, its result or why there is none.
#include "platforms/workload/collective_host.h"

#include "firmware/collectives/replica_rings.h"
#include "platforms/workload/digest.h"
#include "platforms/workload/host_use.h"
#include "platforms/workload/link_failure_report.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <utility>

namespace weft {

namespace {

/// Simulated time between two looks at a running case, for the progress display and the stall check.
constexpr std::uint64_t k_look_ps = 50'000'000;

std::string name_of_case(const collective_case& c)
{
    return fmt::format("{} {} of {} B", name_of(c.op), name_of(c.algo), c.size_bytes);
}

std::uint64_t traffic_so_far(machine& m)
{
    std::uint64_t bytes = 0;
    for (const component* c : m.time().components())
        bytes += c->arrived_bytes();
    return bytes;
}

/// About what a case sends, for the progress display.
double expected_traffic(const collective_case& c, double ranks)
{
    const double size = static_cast<double>(c.size_bytes);
    switch (c.op) {
    case abi::collective_op::all_reduce: {
        if (abi::by_switch(c.algo))
            return size * ranks;
        const double group = c.ranks_per_group == 0 ? ranks : c.ranks_per_group;
        return 2 * size * (group - 1) * (ranks / group);
    }
    case abi::collective_op::all_to_all: return size * ranks;
    case abi::collective_op::dispatch:
    case abi::collective_op::combine: return size * ranks * std::min<double>(c.experts_per_token, ranks);
    default: return size * (ranks - 1);
    }
}

} // namespace

collective_host::collective_host(machine& m, const run_config& config, run_outcome& outcome, run_observer* observer,
                                 code_places* places)
    : machine_(m), restarts_(m.restarts()), config_(config), outcome_(outcome), observer_(observer),
      picture_(m, places), stall_(m), bound_(m, config.time_limit), memory_(m, output_offset_for(config)), groups_(m),
      shares_(m), cases_(collective_count(config))
{
    for (chip* c : machine_.all_chips())
        c->connect_host(*this);
}

bool collective_host::run_collective(const collective_case& asked, std::uint64_t chunk_bytes,
                                     std::uint64_t buffer_offset, std::uint64_t input_seed, case_result& result)
{
    if (stop_if_requested())
        return false;
    interrupted_ = is_interrupted();
    if (interrupted_)
        return false;
    placed_case placed{machine_.as_run(asked), buffer_offset, input_seed};
    const collective_case& c = placed.what;
    placed.what.chunk_bytes = chunk_bytes;
    if (observer_ != nullptr)
        observer_->on_case(index_, cases_, c);
    ++index_;
    const double cpu_before = cpu_seconds();
    const group_layout layout = groups_.layout_of(c);
    const rank_groups groups = abi::moves_tokens(c.op) ? groups_.groups_of(layout) : rank_groups(machine_.data_ranks(), layout.members);
    const bool checked = config_.data == data_mode::checked;
    if (abi::moves_tokens(c.op))
        memory_.fill_tokens(placed, groups, checked);
    else if (checked)
        memory_.fill(placed, groups);
    data_cpu_seconds_ += cpu_seconds() - cpu_before;

    abi::command command = command_for(placed, chunk_bytes);
    if (!layout.firmware_knows) {
        groups_.write(layout);
        command.table = abi::k_group_table_address;
    }
    for (chip* each : machine_.chips())
        each->dma.set_train(machine_.train_of(c));
    if (prepares_ && abi::is_in(abi::k_by_ccu, c.algo)) {
        abi::command before = command;
        before.only_prepares = 1;
        const std::uint64_t began_ps = kernel_now_ps();
        const std::uint64_t skew_ps = std::exchange(start_skew_ps_, 0);
        const bool done = carry_out(placed, before, groups);
        start_skew_ps_ = skew_ps;
        if (!done)
            return false;
        outcome_.microcode_ps = std::max(outcome_.microcode_ps, last_answer_ps_ - began_ps);
        command.sequence = ++sequence_;
    }
    shares_.begin(kernel_now_ps());
    if (observer_ != nullptr)
        observer_->on_begin(c);
    if (!carry_out(placed, command, groups))
        return false;
    // Of the time that counts, which begins when the last rank does.
    const case_shares shares = shares_.end(kernel_now_ps(), last_answer_ps_ - last_start_ps_);
    if (observer_ != nullptr)
        observer_->on_end(last_answer_ps_ - last_start_ps_);
    end_ps_ = last_answer_ps_;
    result = result_of(placed, groups);
    result.shares = shares;
    if (const std::string why = checked ? wrong_use_of_memory() : ""; !why.empty()) {
        outcome_.failure = fmt::format("{}: {}", name_of_case(c), why);
        outcome_.failed_case = c;
        outcome_.failed_start_ps = last_start_ps_;
        return false;
    }
    return true;
}

/// What the check of the answer does not see.
std::string collective_host::wrong_use_of_memory() const
{
    if (const std::string broken = memory_.broken_guard(); !broken.empty())
        return broken + ": a message or a store of the firmware is too long, or goes to a wrong place.";
    const std::vector<case_memory::early_answer> early = memory_.early_answers();
    if (early.empty())
        return "";
    const auto [rank, at_ps] = early.front();
    return fmt::format("rank {} answered at {}, {} before the last one, and bytes of its result came after that{}. Firmware rings MAILBOX.DONE when all of "
                       "its result is there.",
                       rank, rounded_text(duration(at_ps)), rounded_text(duration(last_answer_ps_ - at_ps)),
                       early.size() == 1 ? "" : fmt::format("; of {} further rank{}, too", early.size() - 1, early.size() == 2 ? "" : "s"));
}

/// Posts the command and takes the answers. False: it failed, or was interrupted.
bool collective_host::carry_out(const placed_case& placed, const abi::command& command, const rank_groups& groups)
{
    answers_ = 0;
    now_.emplace();
    now_->placed = placed;
    now_->start_ps = kernel_now_ps();
    now_->keeps_answers = config_.data == data_mode::checked && command.only_prepares == 0;
    now_->traffic_before = now_->traffic_seen = traffic_so_far(machine_);
    now_->moved_ps = now_->start_ps;
    now_->answer_ps.assign(machine_.chips().size(), k_never_ps);
    const bool recovers = machine_.recovers(placed.what);
    bound_.begin(work(), wait_bound::counts::engines);
    outcome_.last_command = command.sequence;
    post(command, groups);
    interrupted_ = is_interrupted();
    if (interrupted_) {
        now_.reset();
        return false;
    }
    if (!await_answers(recovers))
        return false;

    const std::string failed = picture_.failed_ranks(command.sequence, placed.what.algo);
    if (failed.empty() && answers_ == ranks() && !now_->picture.empty()) { // firmware with timers of its own went on
        outcome_.warnings.push_back(fmt::format("{}: at {} nothing moved any more, until a wait of the firmware ran out; its time includes that.",
                                                name_of_case(placed.what), rounded_text(duration(now_->picture_ps))));
        now_->picture.clear();
    }
    if (recovers && !failed.empty())
        now_->picture = fmt::format("At {}:{}", rounded_text(duration(kernel_now_ps())), who_waits());
    if (!now_->picture.empty() || !failed.empty()) {
        explain_failure(failed);
        return false;
    }
    now_.reset();
    return true;
}

abi::command collective_host::command_for(const placed_case& placed, std::uint64_t chunk_bytes)
{
    const collective_case& c = placed.what;
    abi::command command;
    command.sequence = ++sequence_;
    command.op = c.op;
    command.algo = c.algo;
    command.type = c.type;
    command.redop = c.redop;
    command.count = c.count;
    command.buffer_offset = placed.buffer_offset;
    command.output_offset = memory_.output_offset();
    command.scratch_offset = abi::moves_tokens(c.op)
                                 ? token_lists_offset_for(command.output_offset, c)
                                 : scratch_offset_for(command.output_offset, static_cast<std::uint32_t>(machine_.chips().size()), c.algo);
    command.chunk_bytes = chunk_bytes;
    command.timeout_ns = config_.firmware_timeout.value() / 1000;
    command.root = c.root;
    command.gathers_by = c.gathers_by ? firmware::gathered_by(*c.gathers_by) : 0;
    command.transposed = c.transposed ? 1 : 0;
    command.chunk_is_asked = c.chunk_is_asked ? 1 : 0;
    return command;
}

/// To all ranks, at once or each at its time within the start skew.
void collective_host::post(const abi::command& command, const rank_groups& groups)
{
    fresh_ = false;
    const std::uint64_t first_ps = kernel_now_ps();
    std::vector<std::pair<std::uint64_t, chip*>> starts;
    std::uint64_t latest_ps = first_ps; // of those that are not late by a fault: their time counts
    for (chip* c : machine_.chips()) {
        // Uniform in [0, skew]: the upper 32 bits of 64 random ones, as a fraction.
        const std::uint64_t random = mix64(key_of_draw(config_.seed, draw_) + c->rank() * 0x9e37'79b9'7f4a'7c15ull);
        const std::uint64_t skew_ps = (random >> 32) * (start_skew_ps_ + 1) >> 32;
        latest_ps = std::max(latest_ps, first_ps + skew_ps);
        starts.emplace_back(skew_ps + machine_.late_ps(c->rank()), c);
    }
    std::stable_sort(starts.begin(), starts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [after_ps, c] : starts) {
        if (const std::uint64_t now_ps = kernel_now_ps(); first_ps + after_ps > now_ps)
            sc_core::wait(sc_time_from_ps(first_ps + after_ps - now_ps));
        const bool takes_part = groups.takes_part(c->rank()) || c->rank() >= groups.ranks();
        abi::command told = command;
        if (!takes_part) { // alone, it answers at once
            told.count = 0;
            if (has_root(told.op))
                told.root = 0;
        }
        c->post(told);
    }
    last_start_ps_ = latest_ps;
}

void collective_host::on_done(std::uint32_t rank, std::uint32_t sequence)
{
    if (sequence != sequence_) // of a chip that is not part of the job any more
        return;
    last_answer_ps_ = kernel_now_ps();
    if (now_ && rank < now_->answer_ps.size())
        now_->answer_ps[rank] = last_answer_ps_;
    if (now_ && now_->keeps_answers)
        memory_.keep_answer(rank, last_answer_ps_);
    if (observer_ != nullptr)
        observer_->on_answer(rank, last_answer_ps_);
    if (++answers_ == ranks())
        all_answered_.notify(sc_core::SC_ZERO_TIME);
}

/// True when the time has come to look at what the ranks have answered. `recovers`: a machine that stands still may go
/// on.
bool collective_host::await_answers(bool recovers)
{
    const double traffic_expected = std::max(1.0, expected_traffic(now_->placed.what, ranks()));
    while (answers_ < ranks()) {
        const std::uint64_t now_ps = kernel_now_ps();
        const std::uint64_t left_ps = bound_.limit_ps() > now_ps ? bound_.limit_ps() - now_ps : 0;
        const std::uint64_t until_ps = interrupted_at_ps() - now_ps; // not in the past: asked before
        sc_core::wait(sc_time_from_ps(std::min({k_look_ps, left_ps + 1, until_ps})), all_answered_);
        if (answers_ == ranks())
            break;
        if (stop_if_requested())
            return false;
        interrupted_ = is_interrupted();
        if (interrupted_ || firmware_stopped())
            return false;
        std::string& picture = now_->picture;
        if (!recovers && picture.empty() && stall_.stalled()) {
            now_->picture_ps = kernel_now_ps();
            for (std::uint32_t rank = 0; rank < ranks(); ++rank)
                now_->gave_up_before |= now_->answer_ps[rank] != k_never_ps && machine_.chips()[rank]->response().code == abi::status_code::timeout;
            picture = now_->gave_up_before ? fmt::format("Who had waited for {}, as long as firmware_timeout allows, gave up; at {} nothing could move any more.{}",
                                                         to_string(config_.firmware_timeout), rounded_text(duration(now_->picture_ps)), who_waits())
                                           : fmt::format("Nothing can move any more at {}.{}", rounded_text(duration(now_->picture_ps)), who_waits());
        }
        if (picture.empty() && firmware_loops())
            return false;
        if (!picture.empty() && kernel_now_ps() - now_->picture_ps > 2 * config_.firmware_timeout.value())
            break; // firmware that does not keep its own timeouts
        if (is_over_bound())
            return false;
        if (!picture.empty()) { // nothing but a timeout can happen: go there in one step
            const std::uint64_t rest_ps = interrupted_at_ps() - std::min(interrupted_at_ps(), kernel_now_ps());
            const std::uint64_t limit_ps = bound_.limit_ps() - std::min(bound_.limit_ps(), kernel_now_ps());
            pass(std::min({config_.firmware_timeout.value(), rest_ps, limit_ps + 1}));
        }
        if (const std::uint64_t traffic = traffic_so_far(machine_); traffic != now_->traffic_seen) {
            now_->traffic_seen = traffic;
            now_->moved_ps = kernel_now_ps();
        }
        if (observer_ != nullptr)
            observer_->on_progress(static_cast<double>(now_->traffic_seen - now_->traffic_before) / traffic_expected);
    }
    return true;
}

/// Lets time pass until all have answered. Nothing is decided meanwhile, so parts of any length will do: they get
/// longer while the host has next to nothing to do. Cores that nap for ever give it much, and a stop request must not
/// wait.
void collective_host::pass(std::uint64_t span_ps)
{
    constexpr double k_next_to_nothing_s = 0.02;
    std::uint64_t part_ps = k_look_ps;
    for (std::uint64_t left_ps = span_ps; left_ps != 0 && answers_ < ranks() && !stop_requested();) {
        const double cpu_before = cpu_seconds();
        const std::uint64_t now_ps = std::min(part_ps, left_ps);
        sc_core::wait(sc_time_from_ps(now_ps), all_answered_);
        left_ps -= now_ps;
        part_ps = cpu_seconds() - cpu_before < k_next_to_nothing_s ? 2 * part_ps : std::max<std::uint64_t>(1, part_ps / 2);
    }
}

bool collective_host::firmware_stopped()
{
    const std::string dead = picture_.stopped_cores();
    if (!dead.empty())
        note_failure(fmt::format("{}: the firmware stopped.{}{}", name_of_case(now_->placed.what), dead, who_waits()));
    const std::string again = dead.empty() ? picture_.answers_again() : "";
    if (!again.empty())
        note_failure(fmt::format("{}: firmware does not acknowledge its command.{}{}", name_of_case(now_->placed.what), again, who_waits()));
    return !dead.empty() || !again.empty();
}

bool collective_host::firmware_loops()
{
    if (!stall_.spins(config_.firmware_timeout))
        return false;
    const std::string since =
        fmt::format("since {}, twice firmware_timeout = {}, no event", rounded_text(duration(stall_.quiet_since_ps())),
                    to_string(config_.firmware_timeout));
    if (firmware_polls_instead_of_booting()) {
        waits_ = host_wait::boot;
        now_.reset();
        fail_between_collectives(
            fmt::format("firmware loops: {} and no interrupt has come, and a core executes", since));
        return true;
    }
    note_failure(fmt::format("{} did not complete. Firmware loops: {}, no interrupt and no answer has come, and a core "
                             "executes.{}",
                             name_of_case(now_->placed.what), since, who_waits()));
    return true;
}

/// Firmware that only polls never parks, but acknowledges its command.
bool collective_host::firmware_polls_instead_of_booting() const
{
    return sequence_ == 1 && most_parked_ < ranks() &&
           std::any_of(machine_.chips().begin(), machine_.chips().end(), [&](const chip* one) {
               return !one->core.idle() && !one->core.blocked() &&
                      one->mailbox.regs.at(abi::mailbox::COMMAND_ACK) != sequence_;
           });
}

bool collective_host::is_over_bound()
{
    const std::string over = bound_.over(work(), wait_bound::counts::engines);
    if (over.empty())
        return false;
    std::string why = fmt::format("{}: {}, and {} of {} ranks have not answered.{}", name_of_case(now_->placed.what),
                                  over, ranks() - answers_, ranks(), who_waits());
    if (const std::string down = describe_link_failures(machine_, now_->start_ps); !down.empty())
        why += "\n" + down;
    note_failure(std::move(why));
    return true;
}

case_result collective_host::result_of(const placed_case& placed, const rank_groups& groups)
{
    case_result result;
    result.what = placed.what;
    result.time_ps = last_answer_ps_ - last_start_ps_;
    for (const chip* source : machine_.chips()) {
        const abi::response r = source->response();
        result.steps = std::max(result.steps, r.steps);
        result.messages += r.messages;
    }
    const double cpu_check = cpu_seconds();
    if (config_.data == data_mode::checked) {
        result.check = memory_.check(placed, groups);
        result.checked = true;
    }
    data_cpu_seconds_ += cpu_seconds() - cpu_check;
    return result;
}

// ---- failures

/// The run ends here: the collective under way did not complete.
void collective_host::note_failure(std::string why)
{
    end_ps_ = kernel_now_ps();
    outcome_.failure = std::move(why);
    outcome_.failed_case = now_->placed.what;
    outcome_.failed_start_ps = now_->start_ps;
    if (keeps_groups_)
        keep_finished_groups();
}

void collective_host::note_stop()
{
    outcome_.stop_signal = stop_signal;
    const char* const name = outcome_.stop_signal == SIGINT    ? "SIGINT (Ctrl-C)"
                             : outcome_.stop_signal == SIGTERM ? "SIGTERM"
                             : outcome_.stop_signal == SIGHUP  ? "SIGHUP"
                                                               : "a signal";
    std::string why =
        fmt::format("interrupted by {} at {} of simulated time", name, rounded_text(duration(kernel_now_ps())));
    if (!now_) {
        fail_between_collectives(why);
        return;
    }
    note_failure(fmt::format("{}: {} was under way, and {} of {} ranks have not answered.{}{}", why,
                             name_of_case(now_->placed.what), ranks() - answers_, ranks(), picture_.stopped_cores(),
                             where_it_is()));
}

/// Of a collective that is stopped from outside. What waits for what is a finding only where nothing moves.
std::string collective_host::where_it_is()
{
    const std::uint64_t traffic = traffic_so_far(machine_), now_ps = kernel_now_ps();
    const bool moves = traffic != now_->traffic_seen || now_ps - now_->moved_ps <= 2 * k_look_ps;
    if (!moves || !now_->picture.empty())
        return fmt::format(" Nothing has arrived anywhere since {}.{}",
                           rounded_text(duration(std::max(now_->moved_ps, now_->start_ps))), who_waits());
    const double share = static_cast<double>(traffic - now_->traffic_before) /
                         std::max(1.0, expected_traffic(now_->placed.what, ranks()));
    return fmt::format(" It was working: in {}, about {:.0f} % of its bytes have arrived.{}",
                       rounded_text(duration(now_ps - now_->start_ps)), 100 * std::min(1.0, share),
                       picture_.what_cores_do(answers()));
}

/// What one group of ranks has completed is a result, although another has not.
void collective_host::keep_finished_groups()
{
    const collective_case& c = now_->placed.what;
    const rank_groups groups(machine_.data_ranks(), groups_.layout_of(c).members);
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
        result_checker checker(c, now_->placed.input_seed, groups);
        for (const std::uint32_t rank : members) {
            const abi::response r = machine_.chips()[rank]->response();
            result.time_ps = std::max(result.time_ps, now_->answer_ps[rank] - now_->start_ps);
            result.steps = std::max(result.steps, r.steps);
            result.messages += r.messages;
            if (config_.data == data_mode::checked)
                checker.check_rank(rank, memory_.reader_of(now_->placed));
        }
        result.checked = config_.data == data_mode::checked;
        result.check = checker.outcome();
        outcome_.cases.push_back(result);
    }
    outcome_.failure +=
        fmt::format("\nNot completed: {}, of {} groups; the results of the others stand.", unfinished, groups.groups());
}

void collective_host::explain_failure(const std::string& failed)
{
    const std::string picture = now_->picture;
    std::string why = fmt::format("{} did not complete.", name_of_case(now_->placed.what));
    const std::string down = describe_link_failures(machine_, now_->start_ps);
    for (const std::string& part : {down, picture, failed})
        if (!part.empty())
            why += "\n" + part;
    if ((picture.empty() || now_->gave_up_before) && failed.find(machine_picture::k_timed_out_text) != std::string::npos) {
        if (!down.empty()) // the timeouts came before everything else had come to rest
            why += picture.empty() ? who_waits() : "";
        else if (now_->gave_up_before)
            why += fmt::format("\nEvery single wait is bounded by firmware_timeout = {}. Raise it where links, memories or cores are this slow; if the same ranks then wait "
                               "for each other, they are blocked for good.",
                               to_string(config_.firmware_timeout));
        else
            why += fmt::format(
                "\n{} Every single wait is bounded by firmware_timeout = {}; raise it where links, memories or cores are this "
                "slow.",
                k_waits_too_short, to_string(config_.firmware_timeout));
    }
    note_failure(std::move(why));
}

} // namespace weft
