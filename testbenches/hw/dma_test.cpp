// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The DMA engine by its registers, descriptors and memory.
#include "testbenches/hw/dma_bench.h"

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;
using namespace weft::testing::dma_pair;

TEST_CASE("a message takes the time of the formula")
{
    // docs/03_timing_model.md, "One message". 400 GB/s are 2.5 ps a byte; everything is written out here.
    world w;
    struct one {
        std::uint64_t bytes;
        abi::reduce_op op;
        std::uint32_t burst;
        pair_bench* p;
    };
    std::vector<one> runs;
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{4}, std::uint64_t{256}, std::uint64_t{512},
                                      std::uint64_t{8192}, std::uint64_t{65536}})
        for (const auto op : {abi::reduce_op::none, abi::reduce_op::sum})
            for (const std::uint32_t burst : {1u, 8u}) {
                knobs k;
                k.burst = burst;
                runs.push_back({bytes, op, burst, &w.add(k)});
            }
    w.events.at(k_go, [&] {
        for (auto& r : runs) {
            r.p->a.enable();
            r.p->b.enable();
            r.p->b.write(regs::SEM_THRESHOLD(5), 1);
            auto d = message(0x1000, 0x2000, r.bytes, 1, 5);
            d.redop = r.op;
            r.p->a.post(0, d);
        }
    });
    w.run();
    const knobs k;
    const ici_config& ici = k.ici;
    const wire_rate link(ici.link_rate), local(ici.local_port_rate);
    const auto memory_ps = [](std::uint64_t bytes) { return (bytes * 5 + 1) / 2; };
    const std::uint64_t latency = 100'000;
    for (const one& r : runs) {
        const std::uint64_t piece = 256 * r.burst;
        const std::uint64_t first = std::min(r.bytes, piece);
        const std::uint64_t last = r.bytes == 0 ? 0 : r.bytes - (r.bytes - 1) / piece * piece;
        const std::uint64_t doorbell = k.dma.register_latency.value();
        const std::uint64_t fetch = memory_ps(64) + latency;
        const std::uint64_t read = r.bytes == 0 ? 0 : memory_ps(first) + latency;
        std::uint64_t wire = 0; // the link is the slowest part and streams all packets
        for (std::uint64_t done = 0; done < std::max<std::uint64_t>(1, r.bytes); done += piece)
            wire += link.time_ps(ici.format().wire_bytes(std::min(piece, r.bytes - done)));
        const std::uint64_t net = 2 * ici.pipeline_ps() + ici.board_propagation.value() + wire;
        const std::uint64_t write = memory_ps(last * (r.op == abi::reduce_op::none ? 1 : 2)) + latency;
        const std::uint64_t expected = k_go + doorbell + fetch + read + net + write;
        INFO(r.bytes << " B, op " << static_cast<int>(r.op) << ", burst " << r.burst);
        REQUIRE(r.p->b.irq.rises.size() == 1);
        CHECK(static_cast<std::int64_t>(r.p->b.irq.rises[0] - expected) == 0);
    }
}

TEST_CASE("memory holds what was sent for all types and operations and odd sizes and page crossings")
{
    world w;
    struct one {
        abi::dma_descriptor d;
        std::uint32_t from_rank;
        std::vector<std::uint8_t> expected;
        pair_bench* p;
    };
    std::vector<one> runs;
    knobs k;
    k.memory.capacity = 1_MiB;
    const std::uint64_t page = sparse_store::k_page_bytes;
    for (std::uint32_t to_rank : {1u, 0u}) // remote, and a local copy
        for (const std::uint32_t burst : {1u, 16u})
            for (unsigned type = 0; type < abi::k_element_types; ++type)
                for (unsigned op = 0; op < 4; ++op)
                    for (const std::uint64_t count : {1u, 3u, 63u, 64u, 65u, 257u, 5000u}) {
                        const auto t = static_cast<abi::element_type>(type);
                        if (op == 0 ? type > 0 : !abi::memory_reduces(t))
                            continue;
                        const std::uint64_t bytes = op == 0 ? count * 13 : count * abi::element_bytes(t);
                        // Source and destination straddle pages; a plain write may be unaligned.
                        abi::dma_descriptor d = message(page - 24 - (op == 0 ? 5 : 0),
                                                        4 * page - 120 - (op == 0 ? 3 : 0), bytes, to_rank, 3);
                        d.type = t;
                        d.redop = static_cast<abi::reduce_op>(op);
                        d.destination_port = static_cast<std::uint8_t>(count % 2);
                        k.burst = burst;
                        pair_bench& p = w.add(k);
                        node& to = to_rank == 1 ? p.b : p.a;
                        const auto sent = pattern(bytes, count * 7 + op);
                        auto before = pattern(bytes + 64, count * 11 + type);
                        p.a.memory.write_bytes(d.source_offset, sent.data(), bytes);
                        to.memory.write_bytes(d.destination_offset - 32, before.data(), before.size());
                        if (op == 0)
                            std::memcpy(before.data() + 32, sent.data(), bytes);
                        else
                            reduce(t, d.redop, before.data() + 32, sent.data(), bytes);
                        runs.push_back({d, 0, before, &p});
                    }
    w.events.at(k_go, [&] {
        for (auto& r : runs) {
            r.p->a.enable();
            r.p->b.enable();
            r.p->a.post(1, r.d);
        }
    });
    w.run();
    for (const auto& r : runs) {
        node& to = r.d.destination_rank == 1 ? r.p->b : r.p->a;
        INFO("bytes " << r.d.bytes << " op " << static_cast<int>(r.d.redop) << " type " << static_cast<int>(r.d.type)
                      << " to " << r.d.destination_rank);
        CHECK(contents(to.memory, r.d.destination_offset - 32, r.expected.size()) ==
              r.expected); // 32 B of margin each side
        CHECK(to.read(regs::SEM_COUNT(3)) == 1);
        CHECK(to.engine.messages_received.value() == 1);
        CHECK(to.engine.bytes_received.value() == r.d.bytes);
        CHECK(r.p->a.engine.bytes_sent.value() == r.d.bytes);
        CHECK(r.p->a.read(regs::HEAD(1)) == 1);
        CHECK(r.p->a.read(regs::ERROR) == 0);
        CHECK(to.read(regs::ERROR) == 0);
    }
}

TEST_CASE("banks of semaphores count apart and the one that is shown interrupts")
{
    world w;
    pair_bench& p = w.add(knobs{});
    node& b = p.b;
    w.events.at(k_go, [&] {
        p.a.enable();
        b.enable();
        b.write(regs::SEM_THRESHOLD(3), 1);
        p.a.post(0, message(0, 0, 0, 1, 64 + 3)); // of bank 1
    });
    w.events.at(2 * k_go, [&] {
        CHECK_FALSE(b.irq.up);
        CHECK(b.read(regs::SEM_COUNT(3)) == 0);
        b.write(regs::SEM_BANK, 1);
        CHECK(b.read(regs::SEM_COUNT(3)) == 1);
        CHECK_FALSE(b.irq.up); // armed in bank 0
        b.write(regs::SEM_THRESHOLD(3), 1);
        CHECK(b.irq.up);
        b.write(regs::SEM_BANK, regs::SEM_BANKS_reset); // does not exist
        CHECK(b.read(regs::SEM_BANK) == 1);
        CHECK(b.irq.up);
        b.write(regs::SEM_BANK, 1); // the same
        CHECK(b.irq.up);
        b.write(regs::SEM_BANK, 0); // leaving clears and disarms
        CHECK_FALSE(b.irq.up);
        CHECK(b.read(regs::SEM_PENDING, 8) == 0);
        p.a.post(0, message(0, 0, 0, 1, 3));
        p.a.post(0, message(0, 0, 0, 1, 64 * regs::SEM_BANKS_reset - 1)); // the last one
    });
    w.events.at(3 * k_go, [&] {
        CHECK_FALSE(b.irq.up); // the threshold of before is disarmed
        CHECK(b.read(regs::SEM_COUNT(3)) == 1);
        b.write(regs::SEM_BANK, regs::SEM_BANKS_reset - 1);
        CHECK(b.read(regs::SEM_COUNT(63)) == 1);
    });
    w.run();
}

TEST_CASE("a semaphore interrupts when its count reaches the armed threshold")
{
    world w;
    pair_bench& p = w.add(knobs{});
    node& b = p.b;
    w.events.at(k_go, [&] {
        p.a.enable();
        b.enable();
        // Armed before.
        b.write(regs::SEM_THRESHOLD(0), 2);
        CHECK_FALSE(b.irq.up);
        for (int i = 0; i < 2; ++i)
            p.a.post(0, message(0, 0, 0, 1, 0)); // pure notification
    });
    w.events.at(2 * k_go, [&] {
        CHECK(b.irq.up);
        CHECK(b.irq.rises.size() == 1);
        CHECK(b.read(regs::SEM_COUNT(0)) == 2);
        CHECK(b.read(regs::IRQ_STATUS) == 1);
        CHECK(b.irq.up); // reading the status clears nothing
        CHECK(b.read(regs::SEM_PENDING, 8) == 1);
        CHECK_FALSE(b.irq.up);
        CHECK(b.read(regs::SEM_PENDING, 8) == 0);
        CHECK(b.read(regs::IRQ_STATUS) == 0);
        // Disarmed: another message is silent.
        p.a.post(0, message(0, 0, 0, 1, 0));
    });
    w.events.at(3 * k_go, [&] {
        CHECK_FALSE(b.irq.up);
        CHECK(b.read(regs::SEM_COUNT(0)) == 3);
        b.write(regs::SEM_THRESHOLD(0), 3); // armed after: at once
        CHECK(b.irq.up);
        CHECK(b.read(regs::SEM_PENDING, 8) == 1);
        b.write(regs::SEM_THRESHOLD(0), 4);
        CHECK_FALSE(b.irq.up);
        // Signed distance modulo 2^32: 2^31 - 1 steps back is reached, 2^31 is not.
        b.write(regs::SEM_THRESHOLD(63), 0xffff'ffff);
        CHECK(b.read(regs::SEM_PENDING, 8) == 1ull << 63);
        b.write(regs::SEM_THRESHOLD(63), 0x8000'0001);
        CHECK(b.read(regs::SEM_PENDING, 8) == 1ull << 63);
        b.write(regs::SEM_THRESHOLD(63), 0x8000'0000);
        CHECK(b.read(regs::SEM_PENDING, 8) == 0);
        // A masked interrupt stays pending.
        b.write(regs::IRQ_ENABLE, 2);
        b.write(regs::SEM_THRESHOLD(62), 0);
        CHECK_FALSE(b.irq.up);
        b.write(regs::IRQ_ENABLE, 1);
        CHECK(b.irq.up);
        CHECK(b.read(regs::SEM_PENDING, 8) == 1ull << 62);
        CHECK_FALSE(b.irq.up);
    });
    w.run();
}

TEST_CASE("a semaphore counts only when the whole message is in memory")
{
    world w;
    pair_bench& p = w.add(knobs{});
    const auto sent = pattern(20'000, 4);
    p.a.memory.write_bytes(0, sent.data(), sent.size());
    w.events.at(k_go, [&] {
        p.a.enable();
        p.b.enable();
        p.a.post(0, message(0, 0, sent.size(), 1, 9));
    });
    std::uint64_t counted_at = 0;
    for (std::uint64_t t = k_go; t < k_go + 2'000'000; t += 1'000)
        w.events.at(t, [&, t] {
            if (p.b.read(regs::SEM_COUNT(9)) == 0 || counted_at != 0)
                return;
            counted_at = t;
            CHECK(contents(p.b.memory, 0, sent.size()) == sent);
        });
    w.run();
    CHECK(counted_at != 0);
}

TEST_CASE("descriptor rings wrap and a full ring refuses the doorbell")
{
    world w;
    knobs k;
    k.dma.ring_entries = 4;
    pair_bench& p = w.add(k);
    std::uint32_t posted = 0;
    w.events.at(k_go, [&] {
        p.a.enable();
        p.b.enable();
    });
    for (std::uint64_t i = 0; i < 400; ++i)
        w.events.at(k_go + 1000 + i * 50'000, [&] {
            while (posted < 100 && p.a.posted[2] - p.a.read(regs::HEAD(2)) < 4) {
                const std::uint32_t value = posted++;
                p.a.memory.write_bytes(0x8000 + value * 8, &value, 4);
                p.a.post(2, message(0x8000 + value * 8, 0x4000 + value * 4, 4, 1, 1));
            }
        });
    w.events.at(3 * k_go, [&] {
        CHECK(posted == 100);
        CHECK(p.a.read(regs::HEAD(2)) == 100);
        CHECK(p.b.read(regs::SEM_COUNT(1)) == 100);
        for (std::uint32_t i = 0; i < 100; ++i) {
            std::uint32_t got = 0;
            p.b.memory.read_bytes(0x4000 + i * 4, &got, 4);
            CHECK(got == i);
        }
        CHECK(p.a.read(regs::ERROR) == 0);
        p.a.write(regs::TAIL(2), 100 + 5); // five descriptors in a ring of four
        CHECK(p.a.read(regs::ERROR) == 4);
        CHECK(p.a.read(regs::ERROR_QUEUE) == 2);
        CHECK(p.a.irq.up);
    });
    w.run();
    CHECK(p.a.engine.descriptors.value() == 100);
}

TEST_CASE("bad descriptors stop their queue and nothing else")
{
    world w;
    struct one {
        const char* what;
        std::uint64_t error;
        std::function<void(abi::dma_descriptor&)> spoil;
        bool bad_check;
        pair_bench* p;
    };
    const std::uint64_t top = (1 << 20) - 100;
    std::vector<one> runs = {
        {"check word", 1, [](auto&) {}, true, nullptr},
        {"rank", 1, [](auto& d) { d.destination_rank = 2; }, false, nullptr},
        {"port", 1, [](auto& d) { d.destination_port = 2; }, false, nullptr},
        {"semaphore", 1, [](auto& d) { d.remote_semaphore = 64 * regs::SEM_BANKS_reset; }, false, nullptr},
        {"operation", 1, [](auto& d) { d.redop = static_cast<abi::reduce_op>(4); }, false, nullptr},
        {"type", 1, [](auto& d) { d.type = static_cast<abi::element_type>(abi::k_element_types); }, false, nullptr},
        {"size", 1,
         [](auto& d) {
             d.redop = abi::reduce_op::sum;
             d.bytes = 6;
         },
         false, nullptr},
        {"alignment", 1,
         [](auto& d) {
             d.redop = abi::reduce_op::sum;
             d.destination_offset = 0xfffe;
         },
         false, nullptr},
        {"source", 2,
         [=](auto& d) {
             d.source_offset = top;
             d.bytes = 104;
         },
         false, nullptr},
        {"source wraps", 2, [](auto& d) { d.source_offset = ~0ull - 3; }, false, nullptr},
        {"bytes", 2, [](auto& d) { d.bytes = ~0ull; }, false, nullptr},
        {"pieces that overlap", 1,
         [](auto& d) {
             d.more_pieces = 1;
             d.stride = 4;
         },
         false, nullptr},
        {"pieces of nothing", 1,
         [](auto& d) {
             d.more_pieces = 1;
             d.bytes = 0;
             d.stride = 8;
         },
         false, nullptr},
        {"parts of elements between pieces", 1,
         [](auto& d) {
             d.redop = abi::reduce_op::sum;
             d.more_pieces = 1;
             d.stride = 10;
         },
         false, nullptr},
        {"last piece", 2,
         [=](auto& d) {
             d.more_pieces = 3;
             d.stride = top / 3 + 40;
         },
         false, nullptr},
        {"pieces without end", 2,
         [](auto& d) {
             d.more_pieces = 0xffff;
             d.stride = std::uint64_t{1} << 62;
         },
         false, nullptr},
        {"last rank", 1,
         [](auto& d) {
             d.more_pieces = 1;
             d.rank_stride = 1;
         },
         false, nullptr},
        {"last piece for a rank", 2,
         [=](auto& d) {
             d.destination_rank = 0;
             d.more_pieces = 1;
             d.rank_stride = 1;
             d.stride = top + 96;
         },
         false, nullptr},
    };
    for (one& r : runs)
        r.p = &w.add(knobs{});
    w.events.at(k_go, [&] {
        for (one& r : runs) {
            r.p->a.enable();
            r.p->b.enable();
            r.p->a.post(0, message(0, 0, 64, 1, 1));
            auto d = message(0, 0x1000, 8, 1, 1);
            r.spoil(d);
            r.p->a.put(0, d, !r.bad_check);
            r.p->a.ring(0);
            r.p->a.post(0, message(0, 0, 64, 1, 1)); // behind the bad one: never sent
            r.p->a.post(3, message(0, 0, 64, 1, 2)); // another queue: goes on
        }
    });
    w.events.at(2 * k_go, [&] {
        for (one& r : runs) {
            INFO(r.what);
            node& a = r.p->a;
            CHECK(a.read(regs::ERROR) == r.error);
            CHECK(a.read(regs::ERROR_QUEUE) == 0);
            CHECK(a.read(regs::IRQ_STATUS) == 2);
            CHECK(a.irq.up);
            CHECK(a.irq.rises.size() == 1);
            CHECK(a.read(regs::HEAD(0)) == 1);
            CHECK(a.read(regs::HEAD(3)) == 1);
            CHECK(r.p->b.read(regs::SEM_COUNT(1)) == 1);
            CHECK(r.p->b.read(regs::SEM_COUNT(2)) == 1);
            CHECK(a.engine.bad_descriptors.value() == 1);
            CHECK(a.engine.blocked_on().find("stopped by an error at entry 1 of its ring") != std::string::npos);
            a.write(regs::ERROR, r.error); // write one to clear
            CHECK(a.read(regs::ERROR) == 0);
            CHECK_FALSE(a.irq.up);
        }
    });
    w.run();
}

TEST_CASE("a write beyond the destination's memory is an error there and counts nothing")
{
    world w;
    knobs k;
    k.dma.receive_buffer = data_size(288); // one packet: a credit that does not come back would stop the next message
    pair_bench& p = w.add(k);
    pair_bench& q = w.add(k); // the same as a local copy
    w.events.at(k_go, [&] {
        for (pair_bench* x : {&p, &q}) {
            x->a.enable();
            x->b.enable();
            const std::uint32_t to = x == &p ? 1 : 0;
            x->a.post(0, message(0, (1 << 20) - 300, 600, to, 1));
            x->a.post(0, message(0, 0, 4, to, 2));
        }
    });
    w.events.at(2 * k_go, [&] {
        for (node* n : {&p.b, &q.a}) {
            CHECK(n->read(regs::ERROR) == 2);
            CHECK(n->read(regs::ERROR_QUEUE) == n->read(regs::QUEUES)); // none of its own queues
            CHECK(n->engine.stop_reason(n->engine.queues()) == "a packet of rank 0 writes 256 B to offset 0xfffd4; the memory has 0x100000 B");
            CHECK(n->read(regs::SEM_COUNT(1)) == 0);
            CHECK(n->read(regs::SEM_COUNT(2)) == 1);
            CHECK(n->irq.up);
        }
    });
    w.run();
}

TEST_CASE("a disabled DMA fetches nothing but receives")
{
    world w;
    pair_bench& p = w.add(knobs{});
    w.events.at(k_go, [&] {
        p.a.enable();
        p.b.enable();
        p.b.write(regs::CONTROL, 0);
        p.b.put(0, message(0, 0, 4, 0, 1));
        p.b.ring(0);
        p.a.post(0, message(0, 0, 4, 1, 1));
    });
    w.events.at(2 * k_go, [&] {
        CHECK(p.b.read(regs::SEM_COUNT(1)) == 1);
        CHECK(p.b.read(regs::HEAD(0)) == 0);
        CHECK(p.a.read(regs::SEM_COUNT(1)) == 0);
        p.b.write(regs::CONTROL, 1);
    });
    w.events.at(3 * k_go, [&] {
        CHECK(p.b.read(regs::HEAD(0)) == 1);
        CHECK(p.a.read(regs::SEM_COUNT(1)) == 1);
    });
    w.run();
}

TEST_CASE("queues of one port share it packet by packet")
{
    world w;
    knobs k;
    k.dma.read_ahead = 8;
    pair_bench& p = w.add(k);
    w.events.at(k_go, [&] {
        p.a.enable();
        p.b.enable();
        // Queues 0, 2, 4 use port 0. A long message must not keep a short one waiting, equal ones end together.
        // 8 slots at 100 ns of memory latency: a port carries 8 packets per 120 ns or so.
        p.b.write(regs::SEM_THRESHOLD(0), 1);
        p.b.write(regs::SEM_THRESHOLD(2), 1);
        p.b.write(regs::SEM_THRESHOLD(4), 1);
        p.a.post(0, message(0, 0, 100'000, 1, 0));
        p.a.post(2, message(0, 0, 100'000, 1, 2));
        p.a.post(4, message(0, 0, 1'000, 1, 4));
    });
    std::uint64_t reached[6] = {};
    for (std::uint64_t t = k_go; t < k_go + 20'000'000; t += 1'000)
        w.events.at(t, [&, t] {
            const std::uint64_t pending = p.b.read(regs::SEM_PENDING, 8);
            for (int s = 0; s < 6; ++s)
                if ((pending >> s & 1) != 0)
                    reached[s] = t;
        });
    w.run();
    const std::uint64_t packet = wire_rate(656_Gbps).time_ps(256);
    CHECK(reached[4] > 0);
    // Who comes first may fill the read-ahead slots; from then on the queues take turns.
    const std::uint64_t slots = k.dma.read_ahead;
    CHECK(reached[4] < k_go + 1'500'000);
    CHECK(reached[0] > k_go + 780 * packet);
    CHECK(std::max(reached[0], reached[2]) - std::min(reached[0], reached[2]) <= 150'000 + (slots + 2) * packet);
}

TEST_CASE("a queue gets one packet in n while the other queues of its port flood it")
{
    world w;
    knobs k;
    k.dma.read_ahead = 64;
    pair_bench& p = w.add(k);
    constexpr std::uint64_t k_late = k_go + 2'000'000, k_packets = 100;
    w.events.at(k_go, [&] {
        p.a.enable();
        p.b.enable();
        p.b.write(regs::SEM_THRESHOLD(4), 1);
        p.a.post(0, message(0, 0, 800'000, 1, 0));
        p.a.post(2, message(0, 0, 800'000, 1, 2));
    });
    w.events.at(k_late, [&] { p.a.post(4, message(0, 0, 256 * k_packets, 1, 4)); });
    std::uint64_t reached = 0;
    for (std::uint64_t t = k_late; t < k_late + 20'000'000; t += 1'000)
        w.events.at(t, [&, t] {
            if (reached == 0 && (p.b.read(regs::SEM_PENDING, 8) >> 4 & 1) != 0)
                reached = t;
        });
    w.run();
    const std::uint64_t packet = wire_rate(656_Gbps).time_ps(256);
    CAPTURE(reached - k_late, packet);
    CHECK(reached > k_late + (3 * k_packets - k_packets) * packet);
    // What is staged goes first, then one packet in three; 1 us to fetch, to read, through the fabric and into memory. The whole flood takes 19 us.
    CHECK(reached < k_late + (3 * k_packets + k.dma.read_ahead) * packet + 1'000'000);
}

TEST_CASE("a receive buffer of one packet and a slow memory lose nothing")
{
    world w;
    struct one {
        std::uint64_t buffer;
        std::uint64_t rate;
        std::uint32_t burst;
        pair_bench *with, *without;
    };
    std::vector<one> runs;
    for (const std::uint64_t buffer : {288u, 576u, 32768u})
        for (const std::uint64_t gbps : {50u, 400u, 7200u})
            for (const std::uint32_t read_ahead : {1u, 64u}) {
                knobs k;
                k.dma.receive_buffer = data_size(buffer);
                k.dma.read_ahead = read_ahead;
                k.memory.rate = bandwidth(gbps * 1'000'000'000);
                k.ici.buffer_per_vl = data_size(buffer);
                pair_bench& with = w.add(k);
                k.data = false;
                runs.push_back({buffer, gbps, 1, &with, &w.add(k)});
            }
    const std::uint64_t n = 12'345;
    const auto up = pattern(n, 1), down = pattern(n, 2);
    w.events.at(k_go, [&] {
        for (auto& r : runs)
            for (pair_bench* p : {r.with, r.without}) {
                p->a.enable();
                p->b.enable();
                p->a.memory.write_bytes(0, up.data(), n);
                p->b.memory.write_bytes(0, down.data(), n);
                p->a.write(regs::SEM_THRESHOLD(1), 4);
                p->b.write(regs::SEM_THRESHOLD(1), 4);
                // Both directions, both ports, three queues.
                for (std::uint32_t q = 0; q < 4; ++q) {
                    auto d = message(0, 0x10000 + q * 0x4000, n, 1, 1);
                    d.destination_port = static_cast<std::uint8_t>(q % 2);
                    p->a.post(q, d);
                    d.destination_rank = 0;
                    p->b.post(q, d);
                }
            }
    });
    w.run();
    for (auto& r : runs) {
        INFO("buffer " << r.buffer << " memory " << r.rate);
        for (std::uint32_t q = 0; q < 4; ++q) {
            CHECK(contents(r.with->b.memory, 0x10000 + q * 0x4000, n) == up);
            CHECK(contents(r.with->a.memory, 0x10000 + q * 0x4000, n) == down);
        }
        // Same times without the bytes.
        REQUIRE(r.with->a.irq.rises.size() == 1);
        CHECK(r.with->a.irq.rises == r.without->a.irq.rises);
        CHECK(r.with->b.irq.rises == r.without->b.irq.rises);
        CHECK(r.with->b.memory.busy_time.value() == r.without->b.memory.busy_time.value());
        // Never faster than memory or wires allow.
        const double seconds = static_cast<double>(r.with->b.irq.rises[0] - k_go) * 1e-12;
        const double wire = 4.0 * static_cast<double>(n) * 8 / 656e9;
        const double memory = 8.0 * static_cast<double>(n) * 8 / (static_cast<double>(r.rate) * 1e9);
        CHECK(seconds > std::max(wire, memory));
    }
}
