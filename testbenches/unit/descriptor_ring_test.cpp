// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/descriptor_ring.h"

#include <catch2/catch.hpp>

using namespace weft;

TEST_CASE("a descriptor ring holds its entries and has room again when one has left")
{
    descriptor_ring r;
    CHECK(r.idle());
    CHECK(r.holds(4, 4, 0));
    CHECK_FALSE(r.holds(5, 4, 0));
    CHECK_FALSE(r.holds(1, 0, 0));
    CHECK_FALSE(r.holds(1, 3, 0)); // no power of two
    r.ring(3);
    r.ring(4);
    CHECK_FALSE(r.idle());
    CHECK(r.all_fetched()); // no doorbell has crossed the bus
    r.hear();
    CHECK_FALSE(r.all_fetched());
    CHECK(r.left() == 3);
    r.hear();
    CHECK(r.left() == 4);
    for (std::uint32_t slot = 0; slot < 4; ++slot) {
        CHECK(r.next_slot(4) == slot);
        r.fetch(1);
    }
    CHECK(r.all_fetched());
    CHECK(r.next_slot(4) == 0);
    r.sent(10, 100, 1);
    r.sent(110, 200, 1);
    CHECK(r.left() == 2);
    CHECK(r.head(150) == 1);
    CHECK(r.holds(5, 4, 150));
    CHECK_FALSE(r.holds(6, 4, 150));
    CHECK(r.holds(6, 4, 200));
    CHECK(r.head(1000) == 2);
    r.sent(1000, 1000, 1);
    r.sent(1000, 1001, 1);
    CHECK(r.idle()); // all sent, though HEAD does not show it yet
    CHECK(r.head(1000) == 3);
    CHECK(r.head(1001) == 4);
}

TEST_CASE("a descriptor of several entries takes as many of the ring")
{
    descriptor_ring r;
    REQUIRE(r.holds(4, 4, 0));
    r.ring(4);
    r.hear();
    CHECK(r.not_fetched() == 4);
    r.fetch(1);
    CHECK(r.next_slot(4, 3) == 0); // behind the last slot comes the first one
    r.fetch(3);
    CHECK(r.all_fetched());
    r.sent(10, 20, 1);
    r.sent(10, 30, 3);
    CHECK(r.head(29) == 1);
    CHECK(r.left() == 0);
    CHECK_FALSE(r.holds(8, 4, 29));
    CHECK(r.head(30) == 4);
    CHECK(r.holds(8, 4, 30));
}
