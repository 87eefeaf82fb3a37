// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the host does between collectives: ranks that boot, a machine that comes to rest, compute, restarts.
#include "platforms/workload/collective_host.h"
#include "platforms/workload/link_failure_report.h"
#include "tlm/stop_request.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {
/// Booting takes microseconds; firmware that has not parked after this long gets its command all the same, and its
/// timeout.
constexpr std::uint64_t k_boot_look_ps = 1'000'000;
constexpr unsigned k_boot_looks = 10'000;
/// Cases begin on multiples of this: whole cycles of whatever counts nanoseconds, and the step of boot().
constexpr std::uint64_t k_reset_grid_ps = k_boot_look_ps;
/// Between two looks at a machine that comes to rest.
constexpr std::uint64_t k_rest_look_ps = 1'000'000;
/// Between two looks while compute goes on and nothing is expected to happen.
constexpr std::uint64_t k_compute_look_ps = 10'000'000'000;
/// Between two looks at a checkpoint, which tells by itself when it has ended.
constexpr std::uint64_t k_hosts_look_ps = 50'000'000;
} // namespace

void collective_host::begin_rest()
{
    waits_ = host_wait::rest;
    bound_.begin_rest(work());
}

bool collective_host::may_wait_on(wait_bound::counts what)
{
    if (stop_if_requested())
        return false; // who runs the kernel tells it
    std::string over = bound_.over(work(), what);
    if (over.empty() && !picture_.answers_again().empty())
        over = "firmware does not acknowledge its command";
    if (!over.empty())
        fail_between_collectives(over);
    return over.empty();
}

/// The run ends here, and no collective is under way.
void collective_host::fail_between_collectives(const std::string& why)
{
    end_ps_ = kernel_now_ps();
    // Who stops a run that works asks where it is, not what waits for what.
    const std::string blocked = stop_requested() ? "" : who_waits();
    switch (waits_) {
    case host_wait::boot:
        outcome_.failure = fmt::format("{}, while ranks boot: {} of {} do not wait for a command yet.{}{}", why,
                                       ranks() - picture_.parked_ranks(), ranks(), picture_.stopped_cores(),
                                       picture_.what_cores_do(answers()));
        break;
    case host_wait::rest:
        outcome_.failure =
            fmt::format("{}, after a collective that every rank has answered, and the machine has not come to "
                        "rest.{}{}",
                        why, picture_.stopped_cores() + picture_.answers_again(), who_waits());
        break;
    case host_wait::compute: outcome_.failure = why + ", while a training step computes." + blocked; break;
    case host_wait::hosts: outcome_.failure = fmt::format("{}, while {}.{}", why, machine_.hosts()->progress(), blocked); break;
    case host_wait::nothing: outcome_.failure = why + ", between two collectives."; break;
    }
}

// ---- boot and reset

/// The first case starts as the others do: with every core booted and waiting for a command.
bool collective_host::boot()
{
    waits_ = host_wait::boot;
    bound_.end_rest();
    most_parked_ = 0;
    bound_.begin(work());
    for (unsigned looks = 0; looks < k_boot_looks && !picture_.all_parked(); ++looks) {
        most_parked_ = std::max(most_parked_, picture_.parked_ranks());
        if (!may_wait_on())
            return false;
        sc_core::wait(sc_time_from_ps(k_boot_look_ps));
    }
    most_parked_ = std::max(most_parked_, picture_.parked_ranks());
    waits_ = host_wait::nothing;
    return true;
}

bool collective_host::begin_case(std::uint32_t draw)
{
    draw_ = draw;
    return config_.cases != case_start::independent || (fresh_ && draw == 0) || reset_machine();
}

void collective_host::begin_anew()
{
    sequence_ = 0;
    groups_.forget();
    fresh_ = true;
}

/// Links that have failed and what is known of them stay: tlm/component.h.
bool collective_host::reset_machine()
{
    begin_rest();
    std::uint64_t wait_ps = (k_reset_grid_ps - kernel_now_ps() % k_reset_grid_ps) % k_reset_grid_ps;
    for (unsigned looks = 0;; ++looks) {
        if (wait_ps != 0)
            sc_core::wait(sc_time_from_ps(wait_ps));
        if (is_interrupted())
            return true; // the next collective finds it, and begins on fresh hardware
        if (machine_.settled() && (picture_.all_parked() || looks > k_boot_looks)) // firmware that polls never parks
            break;
        if (!may_wait_on())
            return false;
        wait_ps = k_reset_grid_ps;
    }
    machine_.reset(draw_);
    begin_anew();
    return boot();
}

bool collective_host::restart(std::uint64_t checkpoint_ps, const std::string& lost)
{
    std::uint64_t begin_ps = kernel_now_ps();
    const auto does_not_count = [&] { bound_.leave_out(kernel_now_ps() - std::exchange(begin_ps, kernel_now_ps())); };
    interrupted_ = false;
    now_.reset();
    if (observer_ != nullptr)
        observer_->on_lost();
    job_restart r;
    r.at_ps = interrupted_at_ps();
    // What an earlier failure has undone was told with it; a take-over and a load are no work.
    const std::uint64_t since_ps = outcome_.restarts.empty() ? checkpoint_ps : std::max(checkpoint_ps, outcome_.restarts.back().resumed_ps);
    r.lost_ps = r.at_ps - std::min(since_ps, r.at_ps);
    for (chip* c : machine_.chips())
        c->disconnect_host(); // sequence numbers begin anew
    if (machine_.hosts() != nullptr)
        machine_.hosts()->give_up();
    const restart_plan plan = restarts_->restart();
    sc_core::wait(sc_time_from_ps(plan.takes_ps));
    does_not_count();
    if (!boot())
        return false;
    does_not_count();
    begin_anew();
    if (draw_ != 0 && !reset_machine())
        return false;
    does_not_count();
    stall_.forget();
    std::string loaded;
    if (plan.loads && machine_.hosts() != nullptr && !load_checkpoint(loaded)) {
        if (!interrupted_)
            return false;
        loaded = ", and its checkpoint was not loaded to the end";
    }
    does_not_count();
    r.resumed_ps = kernel_now_ps();
    const std::string work = r.lost_ps == 0
                                 ? "nothing was under way"
                                 : fmt::format("{} was lost with {} of work", lost, rounded_text(duration(r.lost_ps)));
    r.text = fmt::format("{} at {}; {}; {}{} by {}, and the job went on with {}.", plan.cause,
                         to_string(duration(r.at_ps)), work, plan.remedy, loaded, rounded_text(duration(r.resumed_ps)), lost);
    outcome_.restarts.push_back(std::move(r));
    return true;
}

/// Of the last checkpoint, if there is one; `text` goes on with the sentence about the remedy.
bool collective_host::load_checkpoint(std::string& text)
{
    host_devices& hosts = *machine_.hosts();
    const std::optional<std::uint32_t> number = hosts.last_checkpoint();
    if (!number)
        return true;
    hosts.begin_load(*number);
    if (!await_hosts())
        return false;
    checkpoint_result loaded = hosts.result();
    loaded.waited_ps = loaded.time_ps;
    text = fmt::format(", and checkpoint {} was loaded back in {}", *number, rounded_text(duration(loaded.time_ps)));
    outcome_.checkpoints.push_back(std::move(loaded));
    return true;
}

// ---- between two collectives of a case

bool collective_host::let_it_drain()
{
    begin_rest();
    while (!machine_.at_rest()) {
        if (!may_wait_on())
            return false;
        sc_core::wait(sc_time_from_ps(k_rest_look_ps));
    }
    waits_ = host_wait::nothing;
    bound_.end_rest();
    return true;
}

/// What streams move beside it is no progress: nothing of a checkpoint or a load takes longer than a wait of the
/// firmware may, or it is stuck. What goes on by itself, tries of controllers, say, has host CPU time as its bound.
bool collective_host::await_hosts()
{
    host_devices& hosts = *machine_.hosts();
    waits_ = host_wait::hosts;
    interrupted_ = false;
    bound_.begin(work(), wait_bound::counts::engines);
    bool stood = false;
    std::uint64_t moved = hosts.moved(), moved_ps = kernel_now_ps();
    while (hosts.busy()) {
        interrupted_ = is_interrupted();
        if (interrupted_ || !may_wait_on(wait_bound::counts::engines))
            return false;
        sc_core::wait(sc_time_from_ps(std::min(k_hosts_look_ps, interrupted_at_ps() - kernel_now_ps())), hosts.done());
        if (!hosts.busy())
            break;
        const std::uint64_t now_ps = kernel_now_ps();
        if (const std::uint64_t now = hosts.moved(); now != moved || hosts.expects_more()) {
            stood = false;
            moved = now;
            moved_ps = now_ps;
            continue;
        }
        const bool stands = machine_.at_rest();
        if (stands && stood)
            return hosts_stand(fmt::format("nothing can move any more at {}", rounded_text(duration(now_ps))));
        if (now_ps - moved_ps > config_.firmware_timeout.value())
            return hosts_stand(fmt::format("nothing of it has moved from {} to {}, longer than firmware_timeout = {}", rounded_text(duration(moved_ps)),
                                           rounded_text(duration(now_ps)), to_string(config_.firmware_timeout)));
        stood = stands;
    }
    waits_ = host_wait::nothing;
    end_ps_ = std::max(end_ps_, kernel_now_ps());
    if (hosts.failure().empty())
        return true;
    const checkpoint_result failed = hosts.result();
    outcome_.failure = fmt::format("{} {}: {}.", failed.load ? "the load of checkpoint" : "checkpoint", failed.number, hosts.failure());
    return false;
}

/// What hosts have under way ends here. False.
bool collective_host::hosts_stand(const std::string& why)
{
    host_devices& hosts = *machine_.hosts();
    end_ps_ = kernel_now_ps();
    outcome_.failure = fmt::format("{}: {}{}.", hosts.progress(), why, machine_.resends() ? "" : ", and nobody sends again what is lost");
    if (const std::string down = describe_link_failures(machine_, hosts.began_ps(), "this checkpoint"); !down.empty())
        outcome_.failure += "\n" + down;
    outcome_.failure += who_waits();
    hosts.give_up();
    return false;
}

bool collective_host::compute(std::uint64_t time_ps)
{
    const std::uint64_t now_ps = kernel_now_ps();
    if (now_ps > bound_.limit_ps() || time_ps > bound_.limit_ps() - now_ps) {
        outcome_.failure =
            fmt::format("compute, or its wait for samples, would go on to {}, and time_limit = {} of simulated time is over before.",
                        rounded_text(duration(now_ps + time_ps)), to_string(config_.time_limit));
        return false;
    }
    waits_ = host_wait::compute;
    bound_.begin(work());
    const std::uint64_t end_ps = std::min(now_ps + time_ps, std::max(now_ps, interrupted_at_ps()));
    do {
        sc_core::wait(sc_time_from_ps(std::min(k_compute_look_ps, end_ps - kernel_now_ps())));
        if (!may_wait_on())
            return false;
    } while (kernel_now_ps() < end_ps);
    waits_ = host_wait::nothing;
    end_ps_ = kernel_now_ps();
    interrupted_ = is_interrupted();
    return !interrupted_;
}

} // namespace weft
