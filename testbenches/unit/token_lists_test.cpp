// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists of tokens (platforms/workload/token_lists.h) against what they say, counted token by token.
#include "platforms/workload/token_lists.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace weft;

namespace {

collective_case tokens(std::uint64_t count, std::uint32_t experts, double skew = 0)
{
    collective_case c = make_case(abi::collective_op::dispatch, abi::algorithm::direct, abi::element_type::int32, abi::reduce_op::none, count * 64, 64);
    c.experts_per_token = experts;
    c.expert_skew = skew;
    return c;
}

/// Pieces of a sorted list of places that follow each other.
std::uint32_t pieces(const std::vector<std::uint32_t>& places)
{
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < places.size(); ++i)
        n += i == 0 || places[i] != places[i - 1] + 1 ? 1 : 0;
    return n;
}

} // namespace

TEST_CASE("tokens: blocks and lists and receivers say the same [tokens]")
{
    for (const auto& [ranks, line] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{{16, 4}, {15, 5}, {6, 1}, {64, 8}, {1, 1}, {128, 64}})
        for (const std::uint32_t experts : {1u, 3u, 8u, 200u})
            for (const std::uint64_t count : {1u, 7u, 60u}) {
                INFO(ranks << " ranks in lines of " << line << ", " << experts << " experts, " << count << " tokens");
                const collective_case c = tokens(count, experts);
                const token_lists lists(c, 5, 0, ranks, line);
                REQUIRE(lists.tokens() == count);
                std::vector<std::vector<token_list_contents>> all;
                for (std::uint32_t source = 0; source < ranks; ++source)
                    all.push_back(lists.lists_of(source));
                for (std::uint32_t source = 0; source < ranks; ++source) {
                    std::map<std::uint32_t, std::set<std::uint32_t>> receivers; // of a token
                    const auto& own = lists.own(source);
                    REQUIRE(own.size() * c.token_bytes <= own_token_bytes(c));
                    // By leader: of a receiver, the places of tokens that this one leads.
                    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> led;
                    for (std::uint32_t place = 0; place < own.size(); ++place) {
                        const std::vector<std::uint32_t> members = lists.members_of(source, own[place]);
                        for (const std::uint32_t m : members) {
                            REQUIRE(m / line == own[place].line);
                            REQUIRE(receivers[own[place].token].insert(m).second);
                            led[{members.front(), m}].push_back(place);
                        }
                    }
                    REQUIRE(receivers.size() == count);
                    for (const auto& [token, to] : receivers)
                        REQUIRE(to.size() == std::min(experts, ranks));
                    for (std::uint32_t to = 0; to < ranks; ++to) {
                        const token_list_contents& list = all[source][to];
                        const abi::token_list& h = list.head;
                        std::uint32_t total = 0, spans = 0, forwards = 0;
                        for (const auto& [who, places] : led) {
                            total += who.second == to ? static_cast<std::uint32_t>(places.size()) : 0;
                            spans += who.second == to && who.first != to ? pieces(places) : 0;
                            forwards += who.first == to && who.second != to ? pieces(places) : 0;
                        }
                        REQUIRE(h.tokens == total);
                        REQUIRE(h.spans == spans);
                        REQUIRE(h.forwards == forwards);
                        const std::vector<std::uint32_t>& mine = led[{to, to}];
                        REQUIRE(h.led() == mine.size());
                        REQUIRE(pieces(mine) <= 1); // one behind the other
                        if (!mine.empty())
                            REQUIRE(h.first == mine.front());
                        for (std::uint32_t i = 0; i < h.led(); ++i) // those of it alone come last
                            REQUIRE((lists.members_of(source, own[h.first + i]).size() == 1) == (i >= h.shared));
                        REQUIRE(list.runs.size() == h.runs_of_others + h.led_runs);
                        REQUIRE(list.runs.size() <= most_runs_of(c, line));
                        std::uint32_t at = 0; // sources before this one
                        for (std::uint32_t before = 0; before < source; ++before)
                            at += all[before][to].head.tokens;
                        REQUIRE(h.at == at);
                        // Where what it passes on begins at each other member of its line.
                        for (std::uint32_t bit = 0; bit < line; ++bit) {
                            const std::uint32_t other = to / line * line + (source % line + bit) % line;
                            const auto passed = led.find({to, other});
                            if (other == to || passed == led.end() || passed->second.empty())
                                continue;
                            std::uint32_t earlier = 0;
                            for (const auto& [who, places] : led)
                                earlier += who.second == other && who.first != to && !places.empty() && places.front() < passed->second.front()
                                               ? static_cast<std::uint32_t>(places.size())
                                               : 0;
                            REQUIRE(list.before[bit] == earlier);
                        }
                    }
                }
                for (std::uint32_t to = 0; to < ranks; ++to) {
                    const auto received = lists.received(to);
                    REQUIRE(received.size() == lists.received_count(to));
                    REQUIRE(received.size() * c.token_bytes <= received_token_bytes(c));
                }
            }
}

TEST_CASE("tokens: each is drawn by itself and a skew fills the first quarter [tokens]")
{
    const auto received = [](double skew, std::uint64_t seed) {
        const token_lists lists(tokens(200, 2, skew), seed, 0, 16, 4);
        std::vector<std::uint32_t> counts;
        for (std::uint32_t to = 0; to < 16; ++to)
            counts.push_back(lists.received_count(to));
        return counts;
    };
    CHECK(received(0, 1) == received(0, 1));
    CHECK(received(0, 1) != received(0, 2));
    for (const std::uint32_t n : received(0, 3))
        CHECK(n == Approx(400).margin(100)); // five standard deviations
    const std::vector<std::uint32_t> skewed = received(0.5, 3);
    for (std::uint32_t to = 0; to < 16; ++to) // 2.5 and 0.5 times the average, but for a token's ranks that differ
        CHECK(skewed[to] == Approx(to < 4 ? 980 : 207).margin(120));
}

TEST_CASE("tokens: sizes are rounded to whole ones [tokens]")
{
    const auto made = [](std::uint64_t size, std::uint64_t token, abi::element_type type) {
        const collective_case c = make_case(abi::collective_op::combine, abi::algorithm::direct, type, abi::reduce_op::sum, size, token);
        return std::pair(c.token_bytes, c.size_bytes);
    };
    using pair = std::pair<std::uint64_t, std::uint64_t>;
    CHECK(made(100, 40, abi::element_type::int32) == pair{40, 80});
    CHECK(made(100, 200, abi::element_type::int32) == pair{100, 100});
    CHECK(made(7, 100, abi::element_type::float16) == pair{6, 6});
    CHECK(made(100, 7, abi::element_type::float16) == pair{6, 96});
}
