// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/traffic.h"
#include "tlm/check.h"
#include "tlm/packet.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <set>

using namespace weft;

TEST_CASE("a freed packet is as new when it comes back")
{
    packet_pool pool;
    packet_ptr p = pool.make();
    const std::uint32_t index = p->index;
    CHECK(&pool.at(index) == p.get());
    // Every byte but the pool's own fields.
    p->link = p->out_link = p->fifo = p->source = p->destination = p->wire_bytes = p->cells = 77;
    p->tail_ps = p->born_ps = p->destination_offset = p->payload_bytes = 77u;
    p->serialisation_ps = p->packet_count = p->semaphore = p->message = 77;
    p->vl = p->out_vl = p->destination_port = p->flags = p->write_op = p->element = 77;
    p->hops = 77;
    p->flow = p->packet_number = p->message_packets = p->semaphore_message = p->fabric = 77;
    p->route = 77;
    pool.add_payload(*p, 1000);
    CHECK(pool.live() == 1);
    p.reset();
    CHECK(pool.live() == 0);
    packet_ptr q = pool.make();
    CHECK(q->index == index);
    packet fresh;
    fresh.index = q->index;
    fresh.pool = &pool;
    CHECK(std::memcmp(static_cast<const void*>(&fresh), q.get(), sizeof(packet)) == 0); // it has no holes
    CHECK(q->payload == nullptr);
}

TEST_CASE("packets keep their place while the pool grows")
{
    packet_pool pool;
    std::vector<packet_ptr> all;
    std::set<const packet*> places;
    for (int i = 0; i < 5000; ++i) {
        all.push_back(pool.make());
        all.back()->message = static_cast<std::uint32_t>(i);
        places.insert(all.back().get());
    }
    CHECK(places.size() == 5000);
    CHECK(pool.live() == 5000);
    CHECK(pool.peak() >= 5000);
    for (std::uint32_t i = 0; i < 5000; ++i)
        CHECK((all[i]->message == i && &pool.at(all[i]->index) == all[i].get()));
    all.clear();
    CHECK(pool.live() == 0);
    const std::uint64_t peak = pool.peak();
    for (int i = 0; i < 5000; ++i)
        all.push_back(pool.make());
    CHECK(pool.peak() == peak);
    all.clear();
}

TEST_CASE("payloads do not overlap and are used again")
{
    packet_pool pool;
    traffic_random r(1);
    std::vector<packet_ptr> all;
    std::set<const std::uint8_t*> places;
    std::size_t after_warm_up = 0;
    for (int round = 0; round < 50; ++round) {
        for (int i = 0; i < 200; ++i) {
            all.push_back(pool.make());
            const std::uint32_t bytes = 1 + r.below(round < 25 ? 5000 : 300);
            all.back()->payload_bytes = bytes;
            pool.add_payload(*all.back(), bytes);
            std::memset(all.back()->payload, i, bytes);
            if (round >= 25)
                places.insert(all.back()->payload);
        }
        if (round == 30)
            after_warm_up = places.size();
        for (int i = 0; i < 200; ++i)
            for (std::uint64_t b = 0; b < all[static_cast<std::size_t>(i)]->payload_bytes; ++b)
                if (all[static_cast<std::size_t>(i)]->payload[b] != static_cast<std::uint8_t>(i))
                    FAIL("payload " << i << " was overwritten");
        all.clear();
    }
    CHECK(places.size() <= after_warm_up + 200);
}

TEST_CASE("the leak report names the oldest packets")
{
    packet_pool pool;
    CHECK(pool.leak_report() == "");
    std::vector<packet_ptr> kept;
    for (std::uint32_t i = 0; i < 12; ++i) {
        kept.push_back(pool.make());
        kept.back()->source = i;
        kept.back()->destination = i + 100;
        kept.back()->born_ps = 1000 - i;
        kept.back()->message = i * 3;
    }
    const std::string text = pool.leak_report(2);
    CHECK(text == "12 packets were not returned to the pool; the oldest:"
                  "\n  from 11 to 111, 0 bytes, sent at 989 ps, message 33"
                  "\n  from 10 to 110, 0 bytes, sent at 990 ps, message 30");
    kept.clear();
    CHECK(pool.leak_report() == "");
}

TEST_CASE("sums over a message equal the sum of its packets")
{
    for (const std::uint32_t max_payload : {4u, 64u, 256u, 260u, 4096u})
        for (const std::uint32_t header : {0u, 1u, 16u, 40u})
            for (const std::uint32_t flit : {1u, 20u, 32u, 64u})
                for (const bool charge : {false, true}) {
                    const packet_format f{max_payload, header, flit, charge};
                    for (std::uint64_t payload : {0ull, 1ull, 3ull, 31ull, 32ull, 33ull, 255ull, 256ull, 257ull,
                                                  4095ull, 4096ull, 100'001ull}) {
                        std::uint64_t wire = 0, cells = 0, packets = 0, left = payload;
                        do {
                            const std::uint64_t one = std::min<std::uint64_t>(left, max_payload);
                            std::uint64_t bytes = (one + flit - 1) / flit * flit + (charge ? header : 0);
                            if (bytes < flit)
                                bytes = flit; // a header alone still is a flit
                            wire += bytes;
                            cells += std::max<std::uint64_t>(1, (one + header + flit - 1) / flit);
                            ++packets;
                            left -= one;
                        } while (left > 0);
                        INFO(max_payload << ' ' << header << ' ' << flit << ' ' << charge << ' ' << payload);
                        CHECK(f.packets_for(payload) == packets);
                        CHECK(f.wire_bytes(payload) == wire);
                        CHECK(f.cells(payload) == cells);
                        CHECK(wire >= payload);
                        CHECK(cells * flit >= payload);
                    }
                }
}
