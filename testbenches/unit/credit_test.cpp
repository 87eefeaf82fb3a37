// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/traffic.h"
#include "tlm/credit.h"

#include <catch2/catch.hpp>

#include <deque>

using namespace weft;

TEST_CASE("a credit counts from its time of arrival on")
{
    credit_pool pool;
    credit_counter c;
    CHECK_FALSE(c.has(pool, 0, 1));
    CHECK(c.has(pool, 0, 0));
    CHECK(c.when(pool, 1) == ~std::uint64_t{0});
    c.give(pool, 0, 100, 4);
    c.give(pool, 0, 200, 4);
    CHECK(c.under_way(pool) == 8);
    CHECK_FALSE(c.has(pool, 99, 1));
    CHECK(c.when(pool, 4) == 100);
    CHECK(c.when(pool, 5) == 200);
    CHECK(c.when(pool, 9) == ~std::uint64_t{0});
    CHECK(c.has(pool, 100, 4));
    CHECK_FALSE(c.has(pool, 199, 5));
    c.take(3);
    CHECK(c.available() == 1);
    CHECK(c.has(pool, 200, 5));
    CHECK(c.under_way(pool) == 0);
    CHECK(c.available() == 5);
}

TEST_CASE("credits never overtake each other")
{
    credit_pool pool;
    credit_counter c;
    c.give(pool, 0, 500, 1);
    c.give(pool, 0, 300, 2); // raised to 500
    CHECK(c.when(pool, 3) == 500);
    CHECK_FALSE(c.has(pool, 499, 1));
    CHECK(c.has(pool, 500, 3));
}

TEST_CASE("random credits agree with a plain list and conserve the depth")
{
    // Several counters share the pool of credits under way.
    credit_pool pool;
    constexpr std::uint32_t k_depth = 100;
    struct side {
        credit_counter counter;
        std::deque<std::pair<std::uint64_t, std::uint32_t>> returning;
        std::uint32_t available = k_depth, held = 0;
    };
    std::vector<side> sides(7);
    for (side& s : sides)
        s.counter.give(pool, 0, 0, k_depth);
    traffic_random r(11);
    std::uint64_t now = 0;
    std::uint32_t wrong = 0;
    for (int i = 0; i < 500'000; ++i) {
        now += r.below(20);
        side& s = sides[r.below(7)];
        while (!s.returning.empty() && s.returning.front().first <= now) {
            s.available += s.returning.front().second;
            s.returning.pop_front();
        }
        const std::uint32_t cells = 1 + r.below(12);
        const bool has = s.counter.has(pool, now, cells);
        wrong += has != (s.available >= cells);
        if (has) {
            s.counter.take(cells);
            s.available -= cells;
            s.held += cells;
        } else {
            std::uint64_t at = ~std::uint64_t{0};
            std::uint32_t sum = s.available;
            for (const auto& [t, n] : s.returning)
                if ((sum += n) >= cells) {
                    at = t;
                    break;
                }
            wrong += s.counter.when(pool, cells) != at;
        }
        if (s.held > 0 && r.below(2) == 0) {
            const std::uint32_t back = 1 + r.below(s.held);
            std::uint64_t at = now + r.below(300);
            if (!s.returning.empty())
                at = std::max(at, s.returning.back().first);
            s.counter.give(pool, now, at, back);
            s.returning.push_back({at, back});
            s.held -= back;
        }
        wrong += s.counter.available() + s.counter.under_way(pool) + s.held != k_depth;
    }
    CHECK(wrong == 0);
}

TEST_CASE("the nodes of credits that have arrived are used again")
{
    credit_pool pool;
    credit_counter c;
    std::uint32_t most = 0;
    for (std::uint64_t now = 0; now < 100'000; now += 10) {
        c.give(pool, now, now + 55, 1);
        (void)c.has(pool, now, c.available() + 1);
        const std::uint32_t node = pool.take();
        most = std::max(most, node);
        pool.give(node);
    }
    CHECK(most < 12); // six under way at a time
}
