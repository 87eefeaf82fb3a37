// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rings of replicas in lock-step, as sets: who has whose part of which fragment after every step. No machine.
#include "firmware/collectives/replica_rings.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace weft;
using namespace weft::firmware;
using abi::algorithm;
using abi::ring_order;

namespace {

constexpr algorithm k_methods[] = {algorithm::clockwise, algorithm::anticlockwise, algorithm::bidirectional_pair, algorithm::meet_in_the_middle,
                                   algorithm::quad_directional};

bool fits(algorithm method, ring_order order, std::uint32_t n)
{
    return order == ring_order::serpent ? n % 4 == 0 : method != algorithm::quad_directional;
}

std::vector<replica_rings> all_rings(algorithm method, ring_order order, std::uint32_t n)
{
    std::vector<replica_rings> all;
    for (std::uint32_t r = 0; r < n; ++r)
        all.emplace_back(method, order, n, r);
    return all;
}

/// check(rings of all replicas) for every method and order that fits.
template <class Check> void each_set_of_rings(Check&& check)
{
    for (std::uint32_t n = 2; n <= 20; ++n)
        for (const ring_order order : {ring_order::interleaved, ring_order::flat, ring_order::serpent})
            for (const algorithm method : k_methods) {
                if (!fits(method, order, n))
                    continue;
                INFO("method " << static_cast<int>(method) << ", order " << static_cast<int>(order) << ", " << n << " replicas");
                check(all_rings(method, order, n));
            }
}

using parts = std::multiset<std::uint32_t>; ///< replicas whose values a sum holds

/// A reduce-scatter: what each replica holds of each (owner, part) in the end, and how many exchanges it took.
std::vector<std::map<std::pair<std::uint32_t, std::uint32_t>, parts>> reduce(const std::vector<replica_rings>& all)
{
    const auto n = static_cast<std::uint32_t>(all.size());
    std::vector<std::map<std::pair<std::uint32_t, std::uint32_t>, parts>> held(n);
    for (std::uint32_t r = 0; r < n; ++r)
        for (std::uint32_t i = 0; i < all[r].count; ++i)
            for (std::uint32_t owner = 0; owner < n; ++owner)
                held[r][{owner, all[r].ring[i].part}] = {r};
    std::vector<parts> aside(n);
    for (std::uint32_t step = 0; step < all.front().exchanges; ++step) {
        struct message {
            std::uint32_t to;
            std::pair<std::uint32_t, std::uint32_t> fragment;
            parts sum;
            bool aside;
        };
        std::vector<message> sent;
        for (std::uint32_t r = 0; r < n; ++r)
            for (std::uint32_t i = 0; i < all[r].count; ++i) {
                const replica_ring& ring = all[r].ring[i];
                if (!ring.works_in(step))
                    continue;
                const std::uint32_t owner = ring.sent(true, step), to = ring.successor();
                CHECK(all[to].ring[i].predecessor() == r);
                CHECK(all[to].ring[i].received(true, step) == owner);
                sent.push_back({to, {owner, ring.part}, held[r][{owner, ring.part}], ring.combines && ring.is_last(step)});
            }
        for (const message& m : sent) {
            parts& sum = m.aside ? aside[m.to] : held[m.to][m.fragment];
            sum.insert(m.sum.begin(), m.sum.end());
            if (m.aside)
                CHECK(m.fragment.first == m.to);
        }
    }
    for (std::uint32_t r = 0; r < n; ++r)
        held[r][{r, 0}].insert(aside[r].begin(), aside[r].end());
    return held;
}

} // namespace

TEST_CASE("replica rings: a reduce-scatter brings every owner each replica's part once by every method and order")
{
    each_set_of_rings([](const std::vector<replica_rings>& all) {
        const auto n = static_cast<std::uint32_t>(all.size());
        parts everybody;
        for (std::uint32_t r = 0; r < n; ++r)
            everybody.insert(r);
        const auto held = reduce(all);
        for (std::uint32_t r = 0; r < n; ++r)
            for (std::uint32_t i = 0; i < all[r].count; ++i)
                CHECK(held[r].at({r, all[r].ring[i].part}) == everybody);
    });
}

TEST_CASE("replica rings: an all-gather brings everybody every fragment once")
{
    each_set_of_rings([](const std::vector<replica_rings>& all) {
        const auto n = static_cast<std::uint32_t>(all.size());
        std::vector<std::set<std::pair<std::uint32_t, std::uint32_t>>> held(n);
        for (std::uint32_t r = 0; r < n; ++r)
            for (std::uint32_t i = 0; i < all[r].count; ++i)
                held[r].insert({r, all[r].ring[i].part});
        for (std::uint32_t step = 0; step < all.front().exchanges; ++step) {
            const auto before = held;
            for (std::uint32_t r = 0; r < n; ++r)
                for (std::uint32_t i = 0; i < all[r].count; ++i) {
                    const replica_ring& ring = all[r].ring[i];
                    if (!ring.works_in(step))
                        continue;
                    const std::pair<std::uint32_t, std::uint32_t> fragment{ring.sent(false, step), ring.part};
                    CHECK(before[r].count(fragment) == 1);             // it has what it sends
                    CHECK(held[ring.successor()].insert(fragment).second); // and nobody gets it twice
                    CHECK(all[ring.successor()].ring[i].received(false, step) == fragment.first);
                }
        }
        for (std::uint32_t r = 0; r < n; ++r)
            CHECK(held[r].size() == std::size_t{n} * all[r].ring[0].parts);
    });
}

TEST_CASE("replica rings: steps are those of the library")
{
    for (const std::uint32_t n : {2u, 4u, 8u, 16u, 64u}) {
        CHECK(replica_rings(algorithm::clockwise, ring_order::flat, n, 0).steps == n - 1);
        CHECK(replica_rings(algorithm::bidirectional_pair, ring_order::flat, n, 0).steps == n - 1);
        const replica_rings meet(algorithm::meet_in_the_middle, ring_order::interleaved, n, 1);
        CHECK(meet.steps == 1 + n / 2);
        CHECK(meet.ring[0].hops == n / 2);
        CHECK(meet.ring[1].hops + 1 == n / 2); // one fewer; its first exchange is a dummy
        CHECK(meet.ring[1].first_step == 1);
    }
}

TEST_CASE("replica rings: orders are permutations and their own inverses are found")
{
    for (const ring_order order : {ring_order::interleaved, ring_order::flat, ring_order::serpent})
        for (std::uint32_t n = order == ring_order::serpent ? 4 : 1; n <= 64; n += order == ring_order::serpent ? 4 : 1)
            for (const bool mirrored : {false, true})
                for (std::uint32_t p = 0; p < n; ++p) {
                    const std::uint32_t r = replica_at(order, mirrored, n, p);
                    CHECK(r < n);
                    CHECK(position_of(order, mirrored, n, r) == p);
                }
}

TEST_CASE("replica rings: interleaved neighbours are at most two apart and serpents share no link along the ladder")
{
    for (std::uint32_t n = 2; n <= 64; ++n)
        for (std::uint32_t p = 0; p < n; ++p) {
            const std::uint32_t a = replica_at(ring_order::interleaved, false, n, p), b = replica_at(ring_order::interleaved, false, n, (p + 1) % n);
            CHECK((a > b ? a - b : b - a) <= 2);
        }
    for (const std::uint32_t n : {8u, 16u, 64u}) {
        std::set<std::pair<std::uint32_t, std::uint32_t>> along; // of both, without direction
        for (const bool mirrored : {false, true})
            for (std::uint32_t p = 0; p < n; ++p) {
                const std::uint32_t a = replica_at(ring_order::serpent, mirrored, n, p), b = replica_at(ring_order::serpent, mirrored, n, (p + 1) % n);
                if (a / 2 == b / 2)
                    continue;              // a rung
                CHECK(a % 2 == b % 2);     // a column
                CHECK(((a + 2) % n == b || (b + 2) % n == a));
                CHECK(along.insert(std::minmax(a, b)).second);
            }
        CHECK(along.size() == n); // every one of them is used
    }
}
