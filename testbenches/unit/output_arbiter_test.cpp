// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/fabric/output_arbiter.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace weft;

namespace {
/// One output with room for 130 waiters, of which every tenth is an entry if any is.
struct one_output {
    explicit one_output(bool with_entries)
    {
        arbiter.add_output(link, 130, [=](std::uint32_t bit) { return with_entries && bit % 10 == 0; });
        arbiter.finish(1, 0);
    }
    output_arbiter::candidates choose(std::uint32_t refused = k_no_grant)
    {
        return arbiter.choose(link, 0, share, [=](std::uint32_t bit, bool) { return bit != refused; });
    }
    /// Serves `times` trains of `packets(bit)`, to waiters that are always there; packets had by each.
    template <class Packets> std::vector<std::uint64_t> serve(std::uint32_t times, Packets&& packets)
    {
        std::vector<std::uint64_t> had(130, 0);
        for (std::uint32_t i = 0; i < times; ++i) {
            const std::uint32_t bit = choose().relay;
            arbiter.served(link, bit);
            arbiter.count_turn(link, 0, bit, bit, packets(bit), false);
            had[bit] += packets(bit);
        }
        return had;
    }
    static constexpr auto share = [](std::uint32_t bit) { return std::size_t{bit}; };
    link_state link;
    output_arbiter arbiter;
};
} // namespace

TEST_CASE("an output arbiter serves its waiters in turn across words of its mask")
{
    one_output o(false);
    CHECK(o.choose().relay == k_no_grant);
    for (const std::uint32_t bit : {3u, 64u, 129u})
        o.arbiter.join(o.link, bit);
    CHECK(o.link.waiters == 3);
    std::vector<std::uint32_t> order;
    for (int i = 0; i < 6; ++i) {
        order.push_back(o.choose().relay);
        o.arbiter.served(o.link, order.back());
    }
    CHECK(order == std::vector<std::uint32_t>{3, 64, 129, 3, 64, 129});
    CHECK(o.choose(3).relay == 64); // who lacks credits is passed over
    o.arbiter.leave(o.link, 64);
    std::vector<std::uint32_t> left;
    o.arbiter.each(o.link, [&](std::uint32_t bit) { left.push_back(bit); });
    CHECK(left == std::vector<std::uint32_t>{3, 129});
}

TEST_CASE("an output arbiter names a relay and an entry with turns of their own")
{
    one_output o(true);
    for (const std::uint32_t bit : {10u, 11u, 20u, 21u})
        o.arbiter.join(o.link, bit);
    CHECK(o.choose().relay == 11);
    CHECK(o.choose().entry == 10);
    o.arbiter.served(o.link, 10);
    CHECK(o.choose().relay == 11);
    CHECK(o.choose().entry == 20);
}

TEST_CASE("waiters of an output get equal shares of packets whatever the length of their trains")
{
    one_output o(false);
    for (const std::uint32_t bit : {1u, 70u, 100u})
        o.arbiter.join(o.link, bit);
    const std::vector<std::uint64_t> had = o.serve(3000, [](std::uint32_t bit) { return bit == 1 ? 16u : bit == 70 ? 5u : 1u; });
    const std::uint64_t all = had[1] + had[70] + had[100];
    for (const std::uint32_t bit : {1u, 70u, 100u})
        CHECK(std::abs(static_cast<double>(had[bit]) - static_cast<double>(all) / 3) <= 16);
}

TEST_CASE("relays and entries that could go get one of 64 transmissions each whatever their ages")
{
    for (const bool entry_first : {false, true}) {
        link_state l;
        std::uint32_t entries = 0, relays = 0, since = 0, longest = 0;
        for (unsigned i = 0; i < 6400; ++i) {
            const bool entry = output_arbiter::entry_goes(l, entry_first); // by age it is always the same kind
            output_arbiter::count_run(l, entry, true);
            (entry ? entries : relays) += 1;
            since = entry == entry_first ? since + 1 : 0;
            longest = std::max(longest, since);
        }
        CHECK(longest == output_arbiter::k_longest_run);
        CHECK((entry_first ? relays : entries) == 100);
    }
    link_state l;
    for (unsigned i = 0; i < 1000; ++i)
        output_arbiter::count_run(l, false, false); // nobody else could go
    CHECK_FALSE(output_arbiter::entry_goes(l, false));
    CHECK(output_arbiter::entry_goes(l, true));
}

TEST_CASE("credits are saved for a waiter that others of its lane have passed and for no other reason")
{
    one_output o(false);
    for (const std::uint32_t bit : {1u, 2u, 3u})
        o.arbiter.join(o.link, bit);
    const auto same = [](std::uint32_t) { return true; };
    for (std::uint32_t i = 0; i < output_arbiter::k_most_passes; ++i) {
        CHECK(o.arbiter.saved_for(o.link) == k_no_grant);
        o.arbiter.count_passes(o.link, i % 2 == 0 ? 1 : 3, 2, same);
    }
    CHECK(o.arbiter.saved_for(o.link) == 2);
    o.arbiter.count_passes(o.link, 3, k_no_grant, [](std::uint32_t) { return false; }); // of another lane
    CHECK(o.arbiter.saved_for(o.link) == 2);
    o.arbiter.count_passes(o.link, 2, k_no_grant, same);
    CHECK(o.arbiter.saved_for(o.link) == k_no_grant);
    // Who has left saves nothing.
    for (std::uint32_t i = 0; i < output_arbiter::k_most_passes; ++i)
        o.arbiter.count_passes(o.link, 1, 2, same);
    CHECK(o.arbiter.saved_for(o.link) == 2);
    o.arbiter.leave(o.link, 2);
    CHECK(o.arbiter.saved_for(o.link) == k_no_grant);
}
