// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/fabric/output_arbiter.h"

#include <catch2/catch.hpp>

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
