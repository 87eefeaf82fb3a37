// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#define SC_INCLUDE_DYNAMIC_PROCESSES
#include "platforms/workload/traffic.h"
#include "tlm/check.h"
#include "tlm/timeline.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <string>
#include <tuple>

using namespace weft;

namespace {

struct client final : timeline_client {
    std::function<void(std::uint32_t, std::uint8_t)> f;
    void on_event(std::uint32_t a, std::uint8_t kind) override { f(a, kind); }
};

/// A random little world: handlers that schedule each other and wake threads, threads that wait, schedule events, and look
/// at the clock. Writes down all that anybody can observe.
struct world final : sc_core::sc_module {
    SC_HAS_PROCESS(world);
    static constexpr std::uint32_t k_threads = 5, k_actors = 16;

    /// Everything happens at or after `origin_ps` and is written down relative to it.
    world(const char* name, bool run_ahead, std::uint64_t seed, std::uint64_t origin_ps = 0)
        : sc_core::sc_module(sc_core::sc_module_name(name)), time(sc_core::sc_gen_unique_name("timeline")),
          random(seed), origin(origin_ps)
    {
        time.set_run_ahead(run_ahead);
        base = time.register_actors(k_actors);
        handlers.f = [this](std::uint32_t a, std::uint8_t kind) { on_event(a, kind); };
        for (std::uint32_t i = 0; i < k_threads; ++i) {
            events.push_back(std::make_unique<sc_core::sc_event>());
            sc_core::sc_spawn([this, i] { thread(i); }, sc_core::sc_gen_unique_name("thread"));
        }
        for (std::uint32_t i = 0; i < 8; ++i)
            post(origin + random.below(5000), i);
    }
    void post(std::uint64_t at_ps, std::uint32_t actor)
    {
        ++budget_used;
        time.schedule(at_ps, make_order(event_class::device, base + actor % k_actors, sequence[actor % k_actors]++),
                      handlers, actor % k_actors, 1);
    }
    /// One list for the handlers and one for each thread: the kernel promises no order among threads of one time.
    void note(std::uint32_t list, std::uint32_t id)
    {
        seen[list].push_back({time.now_ps() - origin, id, list == 0 ? budget_used : 0});
    }
    void on_event(std::uint32_t a, std::uint8_t)
    {
        note(0, a);
        // Never past an activity of the kernel: the kernel's clock is at or before, nobody wakes in between.
        if (sc_core::sc_time_stamp().value() > time.now_ps() || time.now_ps() < last_ps)
            ++wrong;
        last_ps = time.now_ps();
        if (budget_used < 4000) {
            const std::uint32_t n = random.below(3) + (budget_used < 100 ? 1 : 0);
            for (std::uint32_t i = 0; i < n; ++i)
                post(time.now_ps() + (random.below(4) == 0 ? 0 : random.below(2000)), random.below(k_actors));
        }
        if (random.below(6) == 0)
            time.notify_at(*events[random.below(k_threads)], time.now_ps() + 1 + random.below(3) * 500);
    }
    void thread(std::uint32_t i)
    {
        if (origin > 0)
            sc_core::wait(sc_core::sc_time::from_value(origin));
        for (int turn = 0; turn < 200; ++turn) {
            if ((turn + static_cast<int>(i)) % 3 == 0)
                sc_core::wait(sc_core::sc_time(static_cast<double>(1 + (turn * 37 + static_cast<int>(i) * 101) % 997),
                                               sc_core::SC_PS));
            else
                sc_core::wait(sc_core::sc_time(50'000, sc_core::SC_PS), *events[i]);
            if (time.now_ps() != sc_core::sc_time_stamp().value() || time.now_ps() < last_ps)
                ++wrong; // outside handlers the clock is the kernel's, and no handler ran in our future
            note(1 + i, i);
            if (turn % 4 == 0 && budget_used < 6000)
                post(time.now_ps() + 1 + static_cast<std::uint64_t>(turn % 7) * 100, i);
        }
    }

    timeline time;
    traffic_random random;
    std::uint64_t origin;
    client handlers;
    std::uint32_t base = 0, budget_used = 0;
    std::uint32_t sequence[k_actors] = {};
    std::vector<std::unique_ptr<sc_core::sc_event>> events;
    std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> seen[1 + k_threads];
    std::uint64_t last_ps = 0, wrong = 0;
};

} // namespace

TEST_CASE("handlers run in order of time and order word and the kernel clock is true without run-ahead")
{
    timeline time("timeline");
    client c;
    traffic_random r(1);
    const std::uint32_t base = time.register_actors(50);
    std::vector<std::tuple<std::uint64_t, std::uint64_t>> expected, got;
    c.f = [&](std::uint32_t a, std::uint16_t) {
        CHECK(sc_core::sc_time_stamp().value() == time.now_ps());
        got.push_back({time.now_ps(), a});
    };
    std::uint32_t sequence = 0;
    for (int i = 0; i < 3000; ++i) {
        const std::uint64_t at = r.below(200) * 10;
        const std::uint32_t actor = r.below(50);
        const auto k = static_cast<event_class>(r.below(4));
        const std::uint64_t order = make_order(k, base + actor, sequence++);
        expected.push_back({at, order});
    }
    // `a` is the rank of the order among all, so that the order seen can be compared.
    std::sort(expected.begin(), expected.end());
    std::vector<std::uint32_t> shuffled(expected.size());
    for (std::uint32_t i = 0; i < shuffled.size(); ++i)
        shuffled[i] = i;
    for (std::size_t i = shuffled.size() - 1; i > 0; --i)
        std::swap(shuffled[i], shuffled[r.below(static_cast<std::uint32_t>(i + 1))]);
    for (const std::uint32_t i : shuffled)
        time.schedule(std::get<0>(expected[i]), std::get<1>(expected[i]), c, i, 0);
    sc_core::sc_start();
    REQUIRE(got.size() == expected.size());
    for (std::uint32_t i = 0; i < got.size(); ++i)
        CHECK(got[i] == std::make_tuple(std::get<0>(expected[i]), std::uint64_t{i}));
    CHECK(time.empty());
    CHECK(time.events() == 3000);
    CHECK(time.activations() <= 201);
}

TEST_CASE("run-ahead changes nothing that handlers and processes can observe")
{
    // One after the other, 10 ms apart, so that each has the kernel to itself and does run ahead.
    std::vector<std::unique_ptr<world>> off, on;
    std::uint64_t origin = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        off.push_back(
            std::make_unique<world>(fmt::format("off{}", seed).c_str(), false, seed, origin += 10'000'000'000));
        on.push_back(std::make_unique<world>(fmt::format("on{}", seed).c_str(), true, seed, origin += 10'000'000'000));
    }
    sc_core::sc_start();
    for (std::size_t i = 0; i < off.size(); ++i) {
        CHECK(off[i]->seen[0].size() > 500);
        for (std::uint32_t list = 0; list <= world::k_threads; ++list)
            CHECK((off[i]->seen[list] == on[i]->seen[list]));
        CHECK(off[i]->wrong == 0);
        CHECK(on[i]->wrong == 0);
        CHECK(on[i]->time.events() == off[i]->time.events());
        CHECK(on[i]->time.activations() * 3 < off[i]->time.activations() * 2); // it did run ahead
    }
}

TEST_CASE("stepping the kernel changes nothing")
{
    // One after the other; the second in steps that end before, at and after events.
    world whole("whole", false, 5, 1'000'000), stepped("stepped", false, 5, 10'000'000'000);
    sc_core::sc_start(sc_core::sc_time::from_value(9'000'000'000));
    std::uint64_t steps = 0;
    while (sc_core::sc_pending_activity() && ++steps < 10'000'000)
        sc_core::sc_start(sc_core::sc_time::from_value(steps < 10 ? 100'000'000 : 77));
    for (std::uint32_t list = 0; list <= world::k_threads; ++list)
        CHECK((whole.seen[list] == stepped.seen[list]));
    CHECK(whole.seen[0].size() > 500);
    CHECK(whole.wrong + stepped.wrong == 0);
}

TEST_CASE("a step of the kernel runs no event after its end")
{
    timeline time("timeline");
    client c;
    std::vector<std::uint64_t> at;
    c.f = [&](std::uint32_t, std::uint16_t) { at.push_back(time.now_ps()); };
    const std::uint32_t actor = time.register_actors(1);
    for (std::uint32_t i = 0; i < 10; ++i)
        time.schedule(i * 100, make_order(event_class::device, actor, i), c, 0, 0);
    sc_core::sc_start(sc_core::sc_time(450, sc_core::SC_PS));
    CHECK(at.size() == 5);
    CHECK(time.now_ps() == 450);
    // Scheduling between steps, before the next event.
    time.schedule(460, make_order(event_class::device, actor, 99), c, 0, 0);
    sc_core::sc_start(sc_core::sc_time(20, sc_core::SC_PS));
    CHECK(at.size() == 6);
    CHECK(at.back() == 460);
    sc_core::sc_start();
    CHECK(at.size() == 11);
    CHECK(at.back() == 900);
}

TEST_CASE("run-ahead saves activations while the kernel idles and stops at the next process")
{
    timeline time("timeline");
    time.set_run_ahead(true);
    client c;
    std::uint64_t woken_at = 0, handled_before = 0, handled = 0, ahead = 0;
    sc_core::sc_event bell;
    c.f = [&](std::uint32_t a, std::uint16_t) {
        ++handled;
        ahead = std::max<std::uint64_t>(ahead, time.now_ps() - sc_core::sc_time_stamp().value());
        if (a == 300)
            time.notify_at(bell, time.now_ps() + 50);
    };
    const std::uint32_t actor = time.register_actors(1);
    for (std::uint32_t i = 0; i < 1000; ++i)
        time.schedule(i * 100, make_order(event_class::device, actor, i), c, i, 0);
    sc_core::sc_spawn([&] {
        sc_core::wait(bell);
        woken_at = sc_core::sc_time_stamp().value();
        handled_before = handled;
    });
    sc_core::sc_start();
    CHECK(woken_at == 30'050);
    CHECK(handled_before == 301); // 0 .. 300: the next one lies after the process
    CHECK(handled == 1000);
    CHECK(time.activations() <= 4);
    CHECK(ahead > 20'000);
}

TEST_CASE("the same event order wins for a notification at the time of an event")
{
    // A thread that a handler wakes at T sees all handlers of T, whoever scheduled them.
    for (const bool run_ahead : {false, true}) {
        auto* time = new timeline(sc_core::sc_gen_unique_name("timeline")); // modules of one kernel live as long as it
        time->set_run_ahead(run_ahead);
        auto* c = new client;
        auto* bell = new sc_core::sc_event;
        auto* handled = new int(0);
        const std::uint32_t actor = time->register_actors(1);
        c->f = [=](std::uint32_t a, std::uint16_t) {
            ++*handled;
            if (a == 0)
                time->notify_at(*bell, 500);
        };
        time->schedule(100, make_order(event_class::device, actor, 0), *c, 0, 0);
        for (std::uint32_t i = 1; i < 5; ++i)
            time->schedule(500, make_order(event_class::device, actor, i), *c, i, 0);
        sc_core::sc_spawn([=] {
            sc_core::wait(*bell);
            CHECK(sc_core::sc_time_stamp().value() == 500);
            CHECK(*handled == 5);
        });
    }
    sc_core::sc_start();
}

TEST_CASE("a notification in the past is a bug")
{
    timeline time("timeline");
    client c;
    sc_core::sc_event e;
    std::string text;
    c.f = [&](std::uint32_t, std::uint16_t) {
        try {
            time.notify_at(e, time.now_ps() - 1);
        } catch (const bug& b) {
            text = b.what();
        }
    };
    time.schedule(1000, make_order(event_class::device, time.register_actors(1), 0), c, 0, 0);
    sc_core::sc_start();
    CHECK(text.find("a notification in the past") != std::string::npos);
}

TEST_CASE("events of a crowded timeline are announced before they come and each in both stages")
{
    struct announced final : timeline_client, event_hints {
        void on_event(std::uint32_t a, std::uint8_t) override { handled += seen.at(a) == 2 ? 1 : 0; }
        void announce(std::uint32_t a, std::uint8_t, int) const override { ++seen.at(a); }
        mutable std::vector<int> seen = std::vector<int>(12000, 0);
        std::size_t handled = 0; ///< after both stages
    } client;
    timeline time("timeline");
    time.set_run_ahead(true);
    time.take_hints(client, client);
    const std::uint32_t actor = time.register_actors(1);
    for (std::uint32_t i = 0; i < client.seen.size(); ++i)
        time.schedule(1'000 + std::uint64_t{i} * 5'000, make_order(event_class::device, actor, i), client, i, 1);
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
    CHECK(time.empty());
    if (k_cache_hints)
        CHECK(client.handled > client.seen.size() / 2); // as long as the timeline is crowded
    else
        CHECK(client.handled == 0);
}
