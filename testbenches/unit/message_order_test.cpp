// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/dma/message_order.h"
#include "platforms/workload/traffic.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace weft;

TEST_CASE("messages count when they are whole and those before them have counted whatever order packets take")
{
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        traffic_random random(seed);
        struct one {
            std::uint32_t source, semaphore, number, of;
        };
        message_numbers numbers[3];
        std::vector<one> packets;
        std::uint32_t messages[3][2] = {};
        for (int m = 0; m < 60; ++m) {
            const std::uint32_t source = random.below(3), semaphore = random.below(2);
            const std::uint32_t of = 1 + random.below(5);
            const std::uint32_t number = numbers[source].next(9, semaphore);
            CHECK(number == messages[source][semaphore]++);
            for (std::uint32_t i = 0; i < of; ++i)
                packets.push_back({source, semaphore, number, of});
        }
        for (std::size_t i = packets.size(); i > 1; --i)
            std::swap(packets[i - 1], packets[random.below(static_cast<std::uint32_t>(i))]);
        message_order order;
        std::uint32_t left[3][2][60] = {};
        for (const one& p : packets)
            left[p.source][p.semaphore][p.number] = p.of;
        std::uint32_t counted[3][2] = {};
        std::uint64_t last[3][2] = {};
        std::uint64_t now = 0;
        for (const one& p : packets) {
            now += 10;
            const std::uint64_t done = now + random.below(30);
            --left[p.source][p.semaphore][p.number];
            order.arrived(p.source, p.semaphore, p.number, 1, p.of, done, [&](std::uint64_t at_ps) {
                std::uint32_t& n = counted[p.source][p.semaphore];
                CHECK(left[p.source][p.semaphore][n] == 0);
                CHECK(at_ps >= last[p.source][p.semaphore]);
                CHECK(at_ps >= now);
                last[p.source][p.semaphore] = at_ps;
                ++n;
            });
            std::uint32_t whole = 0; // as many as could have counted
            while (whole < messages[p.source][p.semaphore] && left[p.source][p.semaphore][whole] == 0)
                ++whole;
            CHECK(counted[p.source][p.semaphore] == whole);
        }
        CHECK(order.open() == 0);
    }
}
