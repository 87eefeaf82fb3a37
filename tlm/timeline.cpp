// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tlm/timeline.h"

#include "tlm/check.h"
#include "tlm/stop_request.h"

#include <algorithm>

namespace weft {

namespace {
constexpr std::uint64_t k_ahead[] = {1, 0}; // buckets, of the stages of an announcement
} // namespace

timeline::timeline(const sc_core::sc_module_name& name) : sc_core::sc_module(name)
{
    require_picoseconds("timeline");
    SC_METHOD(drain);
    sensitive << tick_;
    dont_initialize();
}

std::uint32_t timeline::register_actors(std::uint32_t count)
{
    const std::uint32_t first = next_actor_;
    next_actor_ += count;
    if (next_actor_ >= k_max_actors)
        throw bug("timeline", now_ps(), "more actors than an order word can number");
    return first;
}

void timeline::enrol(timeline_client& client)
{
    if (clients_.size() >= k_most_clients)
        throw bug("timeline", now_ps(), "more clients than an event can number");
    client.home_ = this;
    client.number_ = static_cast<std::uint32_t>(clients_.size());
    clients_.push_back(&client);
    hints_.push_back(nullptr);
}

void timeline::notify_at(sc_core::sc_event& event, std::uint64_t time_ps)
{
    const std::uint64_t kernel_now = kernel_now_ps();
    if (time_ps < now_ps())
        throw bug(name(), now_ps(), "a notification in the past");
    event.notify(sc_time_from_ps(time_ps - kernel_now));
    horizon_ps_ = std::min(horizon_ps_, time_ps);
}

void timeline::arm(std::uint64_t time_ps)
{
    armed_for_ps_ = time_ps;
    tick_.notify(sc_time_from_ps(time_ps - kernel_now_ps()));
}

/// In large systems every event touches cold state, and finds more of it through what it touches first: the events of a
/// bucket are announced together, so that their misses overlap, and in two stages.
void timeline::announce()
{
    const std::uint64_t present = queue_.present();
    const auto see = [&](std::uint64_t& done, std::uint64_t upto, int stage) {
        // `done` may be of another width of buckets: then one bucket too many or too few is seen, which changes no
        // result.
        for (std::uint64_t bucket = done < present || done > upto ? present : done + 1; bucket <= upto; ++bucket)
            for (const timeline_event& e : queue_.events_of(bucket))
                if (const event_hints* const hints = hints_[e.client()]; hints != nullptr)
                    hints->announce(e.a(), e.kind(), stage);
        done = upto;
    };
    for (int stage = 0; stage < 2; ++stage)
        see(announced_[stage], present + k_ahead[stage], stage);
}

void timeline::drain()
{
    ++activations_;
    armed_for_ps_ = k_never_ps;
    const std::uint64_t kernel_now = kernel_now_ps();
    horizon_ps_ = kernel_now;
    if (run_ahead_) {
        const std::uint64_t idle = sc_core::sc_time_to_pending_activity().value();
        horizon_ps_ = idle > k_never_ps - kernel_now ? k_never_ps : kernel_now + idle;
    }
    draining_ = true;
    // A look beyond the horizon would take out a bucket before which processes still schedule.
    while (const timeline_event* next = queue_.peek(std::max(kernel_now + 1, horizon_ps_))) {
        if (stop_if_requested())
            break;
        if (queue_.present() != present_) {
            present_ = queue_.present();
            if (announces())
                announce();
        }
        const timeline_event event = *next;
        queue_.pop();
        now_ps_ = event.time_ps;
        ++events_;
        clients_[event.client()]->on_event(event.a(), event.kind());
    }
    draining_ = false;
    if (const std::uint64_t next_ps = queue_.next_ps(); next_ps != k_never_ps)
        arm(next_ps);
}

} // namespace weft
