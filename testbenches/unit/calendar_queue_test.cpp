// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/traffic.h"
#include "tlm/calendar_queue.h"

#include <catch2/catch.hpp>

#include <queue>

using namespace weft;

namespace {

struct key {
    std::uint64_t time_ps, order;
    std::uint32_t a;
};
struct later {
    bool operator()(const key& x, const key& y) const
    {
        return x.time_ps != y.time_ps ? x.time_ps > y.time_ps : x.order > y.order;
    }
};

/// The queue beside a reference; every pop is compared.
struct twin {
    calendar_queue queue;
    std::priority_queue<key, std::vector<key>, later> reference;
    std::uint64_t now_ps = 0, sequence = 0, wrong = 0;

    void push(std::uint64_t time_ps, std::uint64_t order)
    {
        const auto id = static_cast<std::uint32_t>(sequence++);
        queue.push({time_ps, order, id, 0, 0});
        reference.push({time_ps, order, id});
    }
    void push(std::uint64_t time_ps) { push(time_ps, scramble(sequence)); }
    void pop()
    {
        const timeline_event* e = queue.peek();
        if (e == nullptr || e != queue.peek()) { // looking twice changes nothing
            ++wrong;
            return;
        }
        const key k = reference.top();
        wrong += e->time_ps != k.time_ps || e->order != k.order || e->a() != k.a;
        now_ps = e->time_ps;
        queue.pop();
        reference.pop();
        wrong += queue.size() != reference.size() || queue.empty() != reference.empty();
    }
    void drain()
    {
        while (!reference.empty())
            pop();
        CHECK(queue.peek() == nullptr);
        CHECK(queue.empty());
        CHECK(wrong == 0);
    }
    /// Unique order words in no order of time.
    static std::uint64_t scramble(std::uint64_t i) { return (i * 0x9e3779b97f4a7c15ull) ^ (i >> 7); }
};

} // namespace

TEST_CASE("a calendar queue pops in the order of time and order word over a million operations")
{
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        traffic_random r(seed);
        twin t;
        for (int i = 0; i < 1'000'000; ++i) {
            if (t.reference.empty() || r.below(100) < (t.reference.size() < 20'000 ? 52u : 48u)) {
                const std::uint32_t kind = r.below(10);
                std::uint64_t ahead = 0;
                if (kind < 6)
                    ahead = r.below(20'000);
                else if (kind == 6)
                    ahead = 0; // at the present time, in or before the current bucket
                else if (kind == 7)
                    ahead = r.below(3);
                else if (kind == 8)
                    ahead = r.below(5'000'000); // beyond the calendar
                else
                    ahead = r.next() % 1'000'000'000'000ull; // far beyond
                t.push(t.now_ps + ahead);
            } else {
                t.pop();
            }
        }
        t.drain();
    }
}

TEST_CASE("a calendar queue keeps order when density changes its bucket width both ways")
{
    twin t;
    traffic_random r(7);
    // Crowded: thousands of events per nanosecond; then sparse: one per millisecond; and back. Each stretch is longer than
    // the interval of tuning.
    const std::uint64_t spans[] = {1, 50, 1'000'000'000, 40, 3'000'000, 1, 100'000'000'000, 2'000};
    for (const std::uint64_t span : spans)
        for (int i = 0; i < 60'000; ++i) {
            while (t.reference.size() < 64)
                t.push(t.now_ps + r.next() % (span * 64));
            t.pop();
        }
    // A crowd at one single time, larger than any bucket wants to be.
    for (int i = 0; i < 50'000; ++i)
        t.push(t.now_ps + 1'000);
    t.drain();
}

TEST_CASE("a calendar queue takes events before its cursor")
{
    // The timeline looks at the next event, far ahead, before a process schedules an earlier one.
    twin t;
    traffic_random r(3);
    t.push(1'000'000'000);
    for (int i = 0; i < 20'000; ++i) {
        (void)t.queue.peek(); // moves the cursor to the far event
        const std::uint64_t at = t.now_ps + r.below(1'000);
        t.push(at);
        t.push(at);
        t.pop();
        if (r.below(3) == 0)
            t.pop();
        if (r.below(50) == 0)
            t.push(t.now_ps + 1'000'000'000ull + r.below(1'000'000'000));
    }
    t.drain();
}

TEST_CASE("a calendar queue bears a crowd between one event and a far one")
{
    // Were the far bucket taken out early, everything before it would be put into one sorted range.
    twin t;
    traffic_random r(9);
    t.push(1'000'000'000'000);
    t.push(1);
    t.pop();
    for (int i = 0; i < 20'000; ++i)
        t.push(t.now_ps + r.below(100'000'000));
    for (int i = 0; i < 400'000; ++i) {
        t.pop();
        t.push(t.now_ps + r.below(100'000'000));
    }
    t.drain();
}

TEST_CASE("a calendar queue runs dry and starts again at any distance")
{
    twin t;
    traffic_random r(5);
    std::uint64_t at = 0;
    for (int i = 0; i < 3'000; ++i) {
        at = t.now_ps + (std::uint64_t{1} << r.below(44));
        t.push(at);
        t.push(at + r.below(1000));
        t.pop();
        t.pop();
        CHECK(t.queue.peek() == nullptr);
    }
    t.drain();
}

/// Of the work besides one way in and one way out, what an event may cost on average: the way through a heap of 20,000, and the few
/// places that an event may be moved by the next ones.
constexpr double k_most_moves = 24;

TEST_CASE("a calendar queue keeps its cost when one event is far away")
{
    // As the timeline does: it looks for the next event, the far one, and processes then schedule what comes before it.
    constexpr std::uint64_t k_far_ps = 25'600'000;
    constexpr std::uint64_t k_events = 20'000;
    for (const bool looks_beyond : {false, true}) { // the timeline does not
        twin t;
        traffic_random r(11);
        t.push(k_far_ps);
        CHECK(t.queue.next_ps() == k_far_ps);
        CHECK((t.queue.peek(looks_beyond ? k_never_ps : 1'000) != nullptr) == looks_beyond);
        for (std::uint64_t i = 0; i < k_events; ++i)
            t.push(r.below(static_cast<std::uint32_t>(k_far_ps)));
        for (std::uint64_t i = 0; i < k_events; ++i) { // hold: one out and one in
            t.pop();
            t.push(std::min(t.now_ps + r.below(1'000'000), k_far_ps - 1));
        }
        t.drain();
        INFO("moves per event " << static_cast<double>(t.queue.extra_moves()) / (2 * k_events));
        CHECK(static_cast<double>(t.queue.extra_moves()) < k_most_moves * 2 * k_events);
    }
}

TEST_CASE("a calendar queue keeps its cost when thousands of timeouts wait far away")
{
    twin t;
    traffic_random r(12);
    constexpr std::uint64_t k_events = 20'000;
    for (std::uint64_t i = 0; i < 10'000; ++i)
        t.push(25'600'000 + r.below(1'000));
    for (std::uint64_t i = 0; i < k_events; ++i) { // one process after the other
        t.push(t.now_ps + 1'000);
        CHECK(t.queue.next_ps() == t.now_ps + 1'000);
        t.pop();
        CHECK(t.queue.peek(t.now_ps + 1) == nullptr);
        CHECK(t.queue.next_ps() >= 25'600'000);
    }
    t.drain();
    INFO("moves per event " << static_cast<double>(t.queue.extra_moves()) / (k_events + 10'000));
    CHECK(static_cast<double>(t.queue.extra_moves()) < k_most_moves * (k_events + 10'000));
}

TEST_CASE("a calendar queue keeps its cost in a crowded bucket")
{
    constexpr std::uint64_t k_crowd = 20'000;
    for (const std::uint64_t spread_ps : {0ull, 100ull, 400'000ull, 1'000'000'000ull}) {
        twin t;
        traffic_random r(13);
        const auto at = [&] { return spread_ps == 0 ? 0 : r.next() % spread_ps; };
        // Sparse events make the buckets wide; the crowd is within one of them, or two.
        std::uint64_t sparse = 0;
        for (; spread_ps > 1'000'000 && sparse < 200'000; ++sparse) {
            t.push(t.now_ps + 100'000'000);
            t.pop();
        }
        const std::uint64_t before = t.queue.extra_moves();
        const std::uint64_t begin_ps = t.now_ps + 1'000;
        for (std::uint64_t i = 0; i < k_crowd; ++i)
            t.push(begin_ps + at());
        for (std::uint64_t i = 0; i < 2 * k_crowd; ++i) {
            t.pop();
            t.push(t.now_ps + at());
        }
        t.drain();
        const double per_event = static_cast<double>(t.queue.extra_moves() - before) / (3 * k_crowd);
        INFO("spread " << spread_ps << " ps: moves per event " << per_event);
        CHECK(per_event < k_most_moves);
    }
}

TEST_CASE("equal times go by class then actor then sequence")
{
    CHECK(make_order(event_class::memory, k_max_actors - 1, ~0u) < make_order(event_class::arrival, 0, 0));
    CHECK(make_order(event_class::arrival, k_max_actors - 1, ~0u) < make_order(event_class::arbitration, 0, 0));
    CHECK(make_order(event_class::arbitration, k_max_actors - 1, ~0u) < make_order(event_class::device, 0, 0));
    CHECK(make_order(event_class::device, 1, ~0u) < make_order(event_class::device, 2, 0));
    CHECK(make_order(event_class::device, 1, 1) < make_order(event_class::device, 1, 2));
}
