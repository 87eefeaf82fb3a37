// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/fabric/link_conditions.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {
struct two_links {
    std::vector<link_state> links{2};
    std::vector<link_cold> cold{2};
    link_conditions conditions{links, cold};
};
} // namespace

TEST_CASE("the earliest of several failures of a link counts until it is restored")
{
    two_links t;
    CHECK(t.conditions.down_at_ps(0) == k_never_ps);
    const std::uint32_t first = t.conditions.plan_failure(0, 500);
    CHECK(t.conditions.plan_failure(0, 300) == first);
    CHECK(t.conditions.down_at_ps(0) == 300);
    CHECK(t.conditions.down_at_ps(1) == k_never_ps);
    CHECK_FALSE(t.conditions.blocks(0, 299));
    CHECK_FALSE(t.conditions.failure(first).affected);
    CHECK(t.conditions.blocks(0, 300));
    CHECK(t.conditions.failure(first).affected);
}

TEST_CASE("a restored link works until its next failure")
{
    two_links t;
    const std::uint32_t first = t.conditions.plan_failure(0, 100);
    CHECK(t.conditions.plan_restoration(0, 100) == k_no_part); // nothing has begun before
    CHECK(t.conditions.plan_restoration(0, 400) == first);
    const std::uint32_t second = t.conditions.plan_failure(0, 700);
    CHECK(second != first);
    CHECK_FALSE(t.conditions.restore(first, 399)); // not due
    REQUIRE(t.conditions.restore(first, 400));
    CHECK_FALSE(t.conditions.restore(first, 400)); // over
    CHECK_FALSE(t.conditions.blocks(0, 699));
    CHECK(t.conditions.blocks(0, 700));
    CHECK(t.conditions.is_present(second));
}

TEST_CASE("a link is declared dead when its detection is due and once")
{
    two_links t;
    const std::uint32_t failure = t.conditions.plan_failure(1, 100);
    CHECK_FALSE(t.conditions.declare(failure, 149, 50));
    CHECK((t.links[1].special & k_dead) == 0);
    CHECK(t.conditions.declare(failure, 150, 50));
    CHECK((t.links[1].special & k_dead) != 0);
    CHECK_FALSE(t.conditions.declare(failure, 150, 50));
    const std::uint32_t exhausted = t.conditions.plan_failure(0, 100);
    t.conditions.failure(exhausted).exhausted = true; // its retries have told already
    CHECK(t.conditions.declare(exhausted, 100, 50));
}

TEST_CASE("a link takes each planned rate from its time on")
{
    two_links t;
    t.cold[0].rate = bandwidth(100'000'000'000);
    t.links[0].rate = wire_rate(t.cold[0].rate);
    t.conditions.plan_rate(0, 2000, bandwidth(25'000'000'000));
    t.conditions.plan_rate(0, 1000, bandwidth(50'000'000'000));
    t.conditions.plan_rate(0, 2000, bandwidth(100'000'000'000)); // the last one for a time counts
    CHECK(t.conditions.rate_at(0, 999) == bandwidth(100'000'000'000));
    CHECK(t.conditions.rate_at(0, 1999) == bandwidth(50'000'000'000));
    CHECK(t.conditions.rate_at(0, 2000) == bandwidth(100'000'000'000));
    CHECK_FALSE(t.conditions.take_rate(0, 999));
    REQUIRE(t.conditions.take_rate(0, 1500));
    CHECK(t.links[0].rate.time_ps(50) == 8000);
    CHECK((t.links[0].special & k_new_rate) != 0);
    REQUIRE(t.conditions.take_rate(0, 2500));
    CHECK(t.links[0].rate.time_ps(50) == 4000);
    CHECK((t.links[0].special & k_new_rate) == 0); // nothing more to come
}
