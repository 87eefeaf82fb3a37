// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The end-to-end transport of UB as plain C++: window, acknowledgements, timeouts, duplicates.
#include "hw/ub/ub_transport.h"
#include "platforms/workload/traffic.h"
#include "tlm/flat_index.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <vector>

using namespace weft;

TEST_CASE("rtp sender: a full window with cumulative and selective acknowledgement")
{
    rtp_round_trip all;
    rtp_sender s(8, 100, 3, all);
    for (std::uint32_t i = 0; i < 8; ++i)
        CHECK(s.push(100 + i, 0, i) == i);
    CHECK(s.full());
    std::vector<std::uint32_t> released;
    const auto release = [&](const rtp_sender::slot& slot) { released.push_back(slot.packet); };
    s.acknowledge({0, 0, 0b1010'0000}, 10, 1, release); // 5 and 7
    CHECK(released == std::vector<std::uint32_t>{105, 107});
    CHECK(s.full());
    s.acknowledge({3, 0, 0b1010'0111}, 11, 1, release); // 0, 1, 2; 5 and 7 again
    CHECK(released == std::vector<std::uint32_t>{105, 107, 100, 101, 102});
    CHECK(s.base() == 3);
    CHECK_FALSE(s.full());
    s.acknowledge({6, 0, 0}, 12, 1, release);
    CHECK(s.base() == 6);
    s.acknowledge({8, 0, 0}, 13, 1, release);
    CHECK(s.empty());
    CHECK(released.size() == 8);
    s.acknowledge({50, 0, ~0ull}, 14, 1, release); // numbers that were never sent
    CHECK(s.base() == 8);
}

TEST_CASE("rtp sender: waits double and after the last try in vain the destination is unreachable")
{
    rtp_round_trip all;
    rtp_sender s(4, 100, 3, all);
    s.push(1, 0, 1000);
    std::vector<std::uint64_t> sent_again;
    std::uint64_t now = 1000;
    bool alive = true;
    while (alive) {
        now = s.next_deadline_ps();
        alive = s.expire(now, 0, [&](std::uint32_t, rtp_sender::slot&) { sent_again.push_back(now); });
    }
    CHECK(sent_again == std::vector<std::uint64_t>{1100, 1300});
    CHECK(now == 1700);
    // While others are acknowledged, it is tried on.
    rtp_sender t(4, 100, 3, all);
    t.push(1, 0, 0);
    for (int i = 0; i < 20; ++i) {
        now = t.next_deadline_ps();
        const std::uint32_t psn = t.push(2, 0, now - 1);
        t.acknowledge({0, psn & ~63u, std::uint64_t{1} << (psn & 63)}, now - 1, 1, [](const rtp_sender::slot&) {});
        REQUIRE(t.expire(now, 0, [](std::uint32_t, rtp_sender::slot&) {}));
        if (t.full())
            break;
    }
}

TEST_CASE("rtp sender: gives up only when news of failed links could have come and tries all paths before")
{
    rtp_round_trip all;
    rtp_sender s(4, 100, 3, all);
    constexpr std::uint64_t patience = 2000;
    s.push(1, 0, 0);
    s.push(2, 0, 0);
    std::vector<std::uint64_t> oldest, everywhere, other;
    const auto until_given_up = [&] {
        std::uint64_t now = 0;
        const auto resend = [&](std::uint32_t psn, const rtp_sender::slot& slot) {
            (psn == s.base() ? oldest : other).push_back(now);
            if (slot.everywhere)
                everywhere.push_back(now);
            CHECK((psn == s.base() || !slot.everywhere)); // one packet at a time
        };
        do
            now = s.next_deadline_ps();
        while (s.expire(now, patience, resend));
        return now;
    };
    // 100, 200 and then every 400 ps: the first try at or behind 2000 ps is the last.
    CHECK(until_given_up() == 2700);
    CHECK(oldest == std::vector<std::uint64_t>{100, 300, 700, 1100, 1500, 1900, 2300});
    CHECK(everywhere == std::vector<std::uint64_t>{300, 700, 1100, 1500, 1900, 2300});
    CHECK(other.size() == oldest.size());
    // Other paths since 2300 ps: the patience counts from then on.
    s.paths_changed(2300);
    everywhere.clear();
    CHECK(until_given_up() == 2700 + 2000);
}

TEST_CASE("rtp sender: the wait is twice the longest round trip of late and never below the configured one")
{
    rtp_round_trip all;
    rtp_sender s(8, 100, 3, all), other(8, 100, 3, all);
    const auto nothing = [](const rtp_sender::slot&) {};
    CHECK(s.wait_ps() == 100);
    s.push(1, 0, 0);
    s.acknowledge({1, 0, 0}, 80, 1, nothing);
    CHECK(s.wait_ps() == 160);
    CHECK(other.wait_ps() == 160); // the same controller
    // What was sent before the round trips grew waits as long as they ask for now.
    s.push(3, 0, 2000);
    CHECK(s.next_deadline_ps() == 2160);
    other.push(1, 0, 2000);
    other.acknowledge({1, 0, 0}, 2140, 1, nothing);
    CHECK(s.next_deadline_ps() == 2280);
    CHECK(s.expire(2160, 0, [](std::uint32_t, rtp_sender::slot&) { FAIL("sent again before its time"); }));
    // Karn: an acknowledgement of what was sent twice tells nothing.
    unsigned resent = 0;
    CHECK(s.expire(2280, 0, [&](std::uint32_t, rtp_sender::slot&) { ++resent; }));
    CHECK(resent == 1);
    CHECK(s.next_deadline_ps() == 2280 + 2 * 280);
    s.acknowledge({2, 0, 0}, 2281, 1, nothing);
    CHECK(all.wait_ps() == 280);
    // The peak fades: by 1/24 in a round trip, so to half in 17, and as slowly where one has many packets.
    for (std::uint32_t i = 0; i < 17; ++i)
        all.sample(1, 1);
    CHECK(all.wait_ps() < 140);
    CHECK(all.wait_ps() > 130);
    for (std::uint32_t i = 0; i < 17; ++i)
        all.sample(1, 1000);
    CHECK(all.wait_ps() > 130);
    CHECK(s.wait_ps() == 160); // what this destination had
}

TEST_CASE("rtp: every packet arrives once whatever is lost and delayed and doubled between both ends")
{
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        traffic_random random(seed);
        const std::uint32_t window = 1u << (2 + random.below(7)), packets = 1500;
        rtp_round_trip all;
        rtp_sender s(window, 50, 30, all);
        rtp_receiver r(window);
        struct flying {
            bool is_ack;
            std::uint32_t psn;
            rtp_ack ack;
        };
        std::multimap<std::uint64_t, flying> wire; // by time of arrival
        std::map<std::uint32_t, int> delivered;
        std::uint32_t next = 0, released = 0, duplicates = 0;
        std::uint64_t now = 0;
        const auto fly = [&](const flying& f) {
            if (random.below(100) >= 10) // lost
                wire.emplace(now + 1 + random.below(40), f);
            if (random.below(100) < 5) // doubled
                wire.emplace(now + 1 + random.below(400), f);
        };
        while (released < packets) {
            REQUIRE(now < 10'000'000);
            while (next < packets && !s.full()) {
                const std::uint32_t psn = s.push(next++, 0, now);
                fly({false, psn, {}});
            }
            ++now;
            while (!wire.empty() && wire.begin()->first <= now) {
                const flying f = wire.begin()->second;
                wire.erase(wire.begin());
                if (f.is_ack) {
                    s.acknowledge(f.ack, now, 1, [&](const rtp_sender::slot&) { ++released; });
                } else {
                    if (r.accept(f.psn))
                        ++delivered[f.psn];
                    else
                        ++duplicates;
                    fly({true, 0, r.ack_for(f.psn)});
                }
            }
            REQUIRE(s.expire(now, 0, [&](std::uint32_t psn, rtp_sender::slot&) { fly({false, psn, {}}); }));
        }
        CHECK(delivered.size() == packets);
        for (const auto& d : delivered)
            CHECK(d.second == 1);
        CHECK(duplicates > 0);
        CHECK(s.empty());
        CHECK(r.base() == packets);
    }
}

TEST_CASE("rtp: after a channel is given up nothing of its past is taken for new")
{
    rtp_round_trip all;
    rtp_sender s(64, 100, 2, all);
    rtp_receiver r(64);
    for (std::uint32_t i = 0; i < 10; ++i)
        s.push(i, 0, 0);
    CHECK(r.accept(4));
    std::uint32_t given_up = 0;
    s.give_up([&](const rtp_sender::slot&) { ++given_up; });
    CHECK(given_up == 10);
    CHECK(s.empty());
    r.restart(s.next());
    for (std::uint32_t i = 0; i < 10; ++i)
        CHECK_FALSE(r.accept(i));
    CHECK(s.push(77, 0, 0) == 10);
    CHECK(r.accept(10));
    CHECK_FALSE(r.accept(10));
}

TEST_CASE("flat_index numbers keys in the order in which they come")
{
    flat_index f;
    traffic_random random(3);
    std::map<std::uint64_t, std::uint32_t> expected;
    CHECK(f.find(5) == flat_index::k_none);
    for (int i = 0; i < 5000; ++i) {
        const std::uint64_t key = random.below(2) ? random.below(700) : random.next();
        const auto known = expected.emplace(key, static_cast<std::uint32_t>(expected.size())).first;
        REQUIRE(f.insert(key) == known->second);
    }
    CHECK(f.size() == expected.size());
    for (const auto& e : expected)
        REQUIRE(f.find(e.first) == e.second);
}
