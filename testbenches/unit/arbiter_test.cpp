// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Round robin, and fair turns of requesters that send several packets at once.
#include "tlm/arbiter.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace weft;

namespace {

/// Packets that each requester gets of `grants` grants, where requester i sends `lengths[i]` packets at once and always waits.
std::vector<std::uint64_t> served(const std::vector<std::uint32_t>& lengths, unsigned grants)
{
    const std::uint64_t mask = (std::uint64_t{1} << lengths.size()) - 1;
    fair_turn turn;
    std::uint32_t pointer = 0;
    std::vector<std::uint64_t> had(lengths.size()), packets(lengths.size());
    for (unsigned i = 0; i < grants; ++i) {
        const std::uint32_t n = fair_round_robin_over([=](std::uint32_t) { return mask; }, 1, pointer, turn,
                                                      [&](std::uint32_t k) { return had[k]; }, [](std::uint32_t, bool) { return true; });
        had[n] = turn.grant(had[n], lengths[n]);
        packets[n] += lengths[n];
        pointer = n + 1;
    }
    return packets;
}

} // namespace

TEST_CASE("requesters of trains of different lengths get equal shares of packets")
{
    for (const std::vector<std::uint32_t>& lengths :
         {std::vector<std::uint32_t>{28, 1}, {28, 2}, {64, 2}, {8, 2}, {7, 2}, {28, 3}, {28, 4}, {3, 5, 17, 64}}) {
        const std::vector<std::uint64_t> packets = served(lengths, 10'000);
        std::uint32_t longest = 0;
        for (const std::uint32_t n : lengths)
            longest = std::max(longest, n);
        for (const std::uint64_t p : packets)
            CHECK(std::max(p, packets[0]) - std::min(p, packets[0]) <= longest);
    }
}

TEST_CASE("fair turns of single packets are round robin")
{
    const std::uint64_t mask = 0b1011'0110;
    fair_turn turn;
    std::vector<std::uint64_t> had(8);
    std::uint32_t fair_pointer = 3, plain_pointer = 3;
    for (unsigned i = 0; i < 50; ++i) {
        const std::uint32_t fair = fair_round_robin_over([=](std::uint32_t) { return mask; }, 1, fair_pointer, turn,
                                                         [&](std::uint32_t k) { return had[k]; }, [](std::uint32_t, bool) { return true; });
        const std::uint32_t plain = round_robin(&mask, 1, plain_pointer, [](std::uint32_t) { return true; });
        CHECK(fair == plain);
        had[fair] = turn.grant(had[fair], 1);
        fair_pointer = fair + 1;
        plain_pointer = plain + 1;
    }
}

TEST_CASE("who waits for credits keeps its turn and what was had is forgotten when nobody waits")
{
    fair_turn turn;
    std::vector<std::uint64_t> had(2);
    had[0] = turn.grant(had[0], 8); // 0 is ahead by 8
    const auto choose = [&](bool one_may) {
        return fair_round_robin_over([](std::uint32_t) { return std::uint64_t{0b11}; }, 1, 0, turn, [&](std::uint32_t k) { return had[k]; },
                                     [=](std::uint32_t k, bool) { return k == 0 || one_may; });
    };
    CHECK(choose(true) == 1);
    CHECK(choose(false) == 0); // no credits for 1: 0 goes before its time
    turn.forget();
    CHECK(choose(true) == 0);
}

TEST_CASE("round robin starves nobody: each of n that always ask gets one grant in n whatever the others do")
{
    std::uint64_t random = 1;
    const auto draw = [&random] { return (random = random * 6364136223846793005u + 1442695040888963407u) >> 33; };
    for (const std::uint32_t n : {2u, 5u, 64u, 130u}) {
        const std::uint32_t victim = n / 2, words = (n + 63) / 64;
        std::vector<std::uint64_t> mask(words);
        for (std::uint32_t i = 0; i < n; ++i)
            mask[i / 64] |= std::uint64_t{1} << i % 64;
        std::uint32_t pointer = 0, since = 0, longest = 0;
        for (unsigned i = 0; i < 20'000; ++i) {
            // Others come and go, and are refused, as they like.
            const std::uint32_t other = static_cast<std::uint32_t>(draw() % n);
            if (other != victim)
                mask[other / 64] ^= std::uint64_t{1} << other % 64;
            const std::uint32_t got = round_robin(mask.data(), words, pointer, [&](std::uint32_t k) { return k == victim || draw() % 4 != 0; });
            REQUIRE(got != k_no_grant);
            pointer = got + 1;
            since = got == victim ? 0 : since + 1;
            longest = std::max(longest, since);
        }
        CHECK(longest < n);
    }
}

TEST_CASE("fair turns starve nobody: single packets get their share of packets among trains whenever these come")
{
    std::uint64_t random = 7;
    const auto draw = [&random] { return (random = random * 6364136223846793005u + 1442695040888963407u) >> 33; };
    constexpr std::uint32_t k_requesters = 6, k_longest = 32;
    fair_turn turn;
    std::vector<std::uint64_t> had(k_requesters);
    std::uint64_t victim_had = 0, all = 0;
    std::uint32_t pointer = 0;
    for (unsigned i = 0; i < 20'000; ++i) {
        const std::uint64_t mask = 1 | (draw() & 0b11'1110); // 0 always asks
        const std::uint32_t n = fair_round_robin_over([=](std::uint32_t) { return mask; }, 1, pointer, turn,
                                                      [&](std::uint32_t k) { return had[k]; }, [](std::uint32_t, bool) { return true; });
        const std::uint32_t packets = n == 0 ? 1 : 1 + static_cast<std::uint32_t>(draw() % k_longest);
        had[n] = turn.grant(had[n], packets);
        pointer = n + 1;
        victim_had += n == 0 ? packets : 0;
        all += packets;
        CHECK(victim_had * k_requesters + k_requesters * k_longest >= all);
    }
}
