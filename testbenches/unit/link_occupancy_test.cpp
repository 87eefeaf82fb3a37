// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/link_occupancy.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {

constexpr std::uint32_t k_links = 16;

event_record on_link(std::uint32_t link, std::uint32_t source, std::uint32_t destination, std::uint32_t semaphore = 0)
{
    event_record r{};
    r.kind = record_kind::link_emitted;
    r.where = link;
    r.source = source;
    r.destination = destination;
    r.semaphore = semaphore;
    r.payload_bytes = 256;
    return r;
}

link_occupancy seen(const std::vector<event_record>& records)
{
    std::vector<bool> watched(k_links, true);
    watched.back() = false;
    link_occupancy o(watched);
    for (const event_record& r : records)
        o.record(r);
    return o;
}

} // namespace

TEST_CASE("rings of different links are disjoint and bytes add up per stream")
{
    const link_occupancy o = seen({on_link(0, 0, 1), on_link(1, 1, 0), on_link(2, 2, 3), on_link(3, 3, 2),
                                   on_link(0, 0, 1), on_link(0, 0, 1, 5), on_link(0, 0, 1)});
    const ring_sharing s = find_sharing(o, {0});
    CHECK(s.rings == 2);
    CHECK(s.ring_links == 4);
    CHECK(s.most_rings == 1);
    CHECK(s.disjoint());
    REQUIRE(o.uses(0).size() == 4);
    CHECK(o.uses(0)[0].bytes == 3 * 256);
    CHECK(o.uses(5).size() == 1);
}

TEST_CASE("two rings on one link are found and named")
{
    // The ring of 2 and 3 goes over link 1 on its way back.
    const ring_sharing s = find_sharing(
        seen({on_link(0, 0, 1), on_link(1, 1, 0), on_link(2, 2, 3), on_link(3, 3, 2), on_link(1, 3, 2)}), {0});
    CHECK(s.rings == 2);
    CHECK(s.shared_links == 1);
    CHECK(s.most_rings == 2);
    CHECK_FALSE(s.disjoint());
    CHECK(s.example == "link 1: ring of 2 from 1 to 0; ring of 2 from 3 to 2");
}

TEST_CASE("the two directions of one ring count as two rings")
{
    const ring_sharing s = find_sharing(
        seen({on_link(0, 0, 1, 0), on_link(1, 1, 0, 0), on_link(1, 1, 0, 4), on_link(2, 0, 1, 4)}), {0, 4});
    CHECK(s.rings == 2);
    CHECK(s.shared_links == 1);
    CHECK(find_sharing(seen({on_link(0, 0, 1, 0), on_link(1, 1, 0, 0)}), {0, 4}).disjoint());
}

TEST_CASE("what does not close is no ring and is told apart")
{
    // 4 -> 0 and 1 -> 5 -> 6 hang on the ring of 0 and 1; one of them on a link of the ring.
    const ring_sharing s = find_sharing(seen({on_link(0, 0, 1), on_link(1, 1, 0), on_link(0, 4, 0), on_link(4, 4, 0),
                                              on_link(5, 1, 5), on_link(6, 5, 6)}),
                                        {0});
    CHECK(s.rings == 1);
    CHECK(s.ring_links == 2);
    CHECK(s.disjoint());
    CHECK(s.open_streams == 3);
    CHECK(s.open_links == 4);
    CHECK(s.open_on_ring_links == 1);
}

TEST_CASE("a chip that sends on to two makes no ring and nothing seen is no proof")
{
    const ring_sharing s =
        find_sharing(seen({on_link(0, 0, 1), on_link(1, 1, 0), on_link(2, 1, 2), on_link(3, 2, 0)}), {0});
    CHECK(s.tangled);
    CHECK_FALSE(s.disjoint());
    CHECK_FALSE(find_sharing(seen({}), {0}).disjoint());
}

TEST_CASE("empty messages and other records and links that are not watched are ignored")
{
    event_record empty = on_link(0, 0, 1);
    empty.payload_bytes = 0;
    event_record received = on_link(1, 1, 0);
    received.kind = record_kind::message_accepted;
    const link_occupancy o = seen({empty, received, on_link(k_links - 1, 0, 1)});
    CHECK(o.uses(0).empty());
}
