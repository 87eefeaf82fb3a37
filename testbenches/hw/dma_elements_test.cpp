// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Descriptors with elements: one read and several writes, sums of several sources on their way out.
#include "testbenches/hw/dma_bench.h"

#include <functional>
#include <map>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;
using namespace weft::testing::dma_pair;

namespace {

struct waited {
    std::uint16_t semaphore = abi::k_waits_for_none;
    std::uint32_t count = 0;
};

/// Descriptor and elements into the ring of `queue`.
void put_elements(node& n, std::uint32_t queue, abi::dma_descriptor d, const std::vector<abi::dma_element>& sources,
                  const std::vector<abi::dma_element>& destinations, bool good_check = true, waited wait = {})
{
    std::vector<abi::dma_element> all = sources;
    all.insert(all.end(), destinations.begin(), destinations.end());
    d.element_entries = static_cast<std::uint8_t>(abi::entries_of_elements(static_cast<std::uint32_t>(all.size())));
    n.put(queue, d);
    for (std::size_t i = 0; i < abi::k_elements_of_entry * d.element_entries; i += abi::k_elements_of_entry) {
        abi::dma_element_entry e;
        if (i == 0) {
            e.more_sources = static_cast<std::uint8_t>(sources.size());
            e.more_destinations = static_cast<std::uint8_t>(destinations.size());
            e.wait_semaphore = wait.semaphore;
            e.wait_count = wait.count;
        }
        for (std::size_t k = i; k < std::min(all.size(), i + abi::k_elements_of_entry); ++k)
            e.element[k - i] = all[k];
        std::uint32_t words[16];
        std::memcpy(words, &e, sizeof words);
        e.check = abi::check_word(words, offsetof(abi::dma_element_entry, check) / 4) + (good_check ? 0 : 1);
        n.memory.write_bytes(k_rings + queue * 4096 + (n.posted[queue]++ % n.entries) * 64, &e, sizeof e);
    }
}

abi::dma_element at(std::uint32_t rank, std::uint64_t offset, std::uint32_t semaphore = abi::k_no_semaphore) { return {offset, rank, semaphore}; }

std::uint64_t read_by(const node& n, std::uint64_t descriptors) { return n.memory.bytes_read.value() - 64 * descriptors; }

} // namespace

TEST_CASE("several sources are reduced on their way out for all types and operations and numbers of sources")
{
    world w;
    struct one {
        pair_bench* p;
        std::uint32_t sources;
        abi::dma_descriptor d;
        std::vector<std::uint8_t> expected;
    };
    std::vector<one> runs;
    for (unsigned type = 0; type < abi::k_element_types; ++type)
        for (const auto op : {abi::reduce_op::sum, abi::reduce_op::max, abi::reduce_op::min})
            for (const std::uint32_t sources : {2u, 3u, 4u, 16u})
                for (const std::uint64_t count : {1u, 65u, 1777u})
                    for (const std::uint32_t burst : {1u, 8u}) {
                        const auto t = static_cast<abi::element_type>(type);
                        if (!abi::memory_reduces(t))
                            continue;
                        knobs k;
                        k.burst = burst;
                        pair_bench& p = w.add(k);
                        p.a.engine.read_memory_of(1, p.b.memory);
                        one r{&p, sources, message(0, 0x80000, count * abi::element_bytes(t), 1, 9), {}};
                        r.d.redop = op;
                        r.d.type = t;
                        for (std::uint32_t s = 0; s < sources; ++s) {
                            const auto bytes = pattern(r.d.bytes, 100 * s + count + type);
                            // The second source lies in the memory of the other rank.
                            (s == 1 ? p.b : p.a).memory.write_bytes(s * 0x4000, bytes.data(), bytes.size());
                            if (s == 0)
                                r.expected = bytes;
                            else
                                reduce(t, op, r.expected.data(), bytes.data(), bytes.size());
                        }
                        const auto before = pattern(r.d.bytes, 5); // it is overwritten, not added to
                        p.b.memory.write_bytes(0x80000, before.data(), before.size());
                        runs.push_back(r);
                    }
    w.events.at(k_go, [&] {
        for (one& r : runs) {
            r.p->a.enable();
            r.p->b.enable();
            std::vector<abi::dma_element> more;
            for (std::uint32_t s = 1; s < r.sources; ++s)
                more.push_back(at(s == 1 ? 1 : 0, s * 0x4000));
            put_elements(r.p->a, 2, r.d, more, {});
            r.p->a.ring(2);
        }
    });
    w.run();
    for (const one& r : runs) {
        INFO(r.sources << " sources, " << r.d.bytes << " B, type " << static_cast<int>(r.d.type) << ", op " << static_cast<int>(r.d.redop));
        const std::uint32_t entries = 1 + (r.sources - 1 + 2) / 3;
        CHECK(contents(r.p->b.memory, 0x80000, r.d.bytes) == r.expected);
        CHECK(r.p->b.read(regs::SEM_COUNT(9)) == 1);
        CHECK(r.p->a.read(regs::HEAD(2)) == entries);
        CHECK(r.p->a.read(regs::ERROR) == 0);
        // Every source is read once, and the result is written once: nR1W.
        CHECK(read_by(r.p->a, entries) == (r.sources - 1) * r.d.bytes);
        CHECK(read_by(r.p->b, 0) == r.d.bytes);
        CHECK(r.p->b.memory.bytes_written.value() == r.d.bytes);
        CHECK(r.p->a.memory.bytes_written.value() == 0);
    }
}

TEST_CASE("several destinations get what is read once and count it by themselves")
{
    world w;
    struct one {
        pair_bench* p;
        abi::dma_descriptor d;
        std::vector<abi::dma_element> more;
        std::vector<std::uint8_t> sent;
    };
    std::vector<one> runs;
    const std::vector<std::vector<abi::dma_element>> destinations = {
        {at(0, 0x60000, 4)}, {at(1, 0x60000, 4)}, {at(0, 0x60000, 4), at(1, 0x70000, 5)}, {at(0, 0x60000, 4), at(1, 0x70000, 4), at(1, 0x78000)}};
    for (const auto& more : destinations)
        for (const std::uint64_t bytes : {1u, 256u, 5000u, 16384u})
            for (const std::uint32_t burst : {1u, 8u}) {
                knobs k;
                k.burst = burst;
                pair_bench& p = w.add(k);
                one r{&p, message(3, 0x50000, bytes, 1, 3), more, pattern(bytes, bytes)};
                p.a.memory.write_bytes(3, r.sent.data(), bytes);
                runs.push_back(r);
            }
    w.events.at(k_go, [&] {
        for (one& r : runs) {
            r.p->a.enable();
            r.p->b.enable();
            put_elements(r.p->a, 1, r.d, {}, r.more);
            r.p->a.ring(1);
        }
    });
    w.run();
    for (const one& r : runs) {
        INFO(r.more.size() + 1 << " destinations, " << r.d.bytes << " B");
        std::vector<abi::dma_element> all = r.more;
        all.push_back(at(1, 0x50000, 3));
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> counts;
        for (const abi::dma_element& e : all) {
            CHECK(contents((e.rank == 0 ? r.p->a : r.p->b).memory, e.offset, r.d.bytes) == r.sent);
            if (e.semaphore != abi::k_no_semaphore)
                ++counts[{e.rank, e.semaphore}];
        }
        for (const auto& [where, count] : counts)
            CHECK((where.first == 0 ? r.p->a : r.p->b).read(regs::SEM_COUNT(where.second)) == count);
        CHECK(read_by(r.p->a, 2) == r.d.bytes); // 1R2W and more
        CHECK(r.p->a.memory.bytes_written.value() + r.p->b.memory.bytes_written.value() == all.size() * r.d.bytes);
        CHECK(r.p->a.read(regs::HEAD(1)) == 2);
        CHECK(r.p->a.engine.descriptors.value() == 1);
    }
}

TEST_CASE("elements lie around the end of a ring and HEAD counts their entries")
{
    world w;
    knobs k;
    k.dma.ring_entries = 4;
    pair_bench& p = w.add(k);
    const auto one = pattern(64, 1), two = pattern(64, 2);
    p.a.memory.write_bytes(0, one.data(), 64);
    p.a.memory.write_bytes(64, two.data(), 64);
    auto sum = one;
    reduce(abi::element_type::int32, abi::reduce_op::sum, sum.data(), two.data(), 64);
    w.events.at(k_go, [&] {
        p.a.enable();
        p.b.enable();
        p.a.post(0, message(0, 0x1000, 64, 1, 1));
    });
    // Descriptor in slot 3 with four elements behind it, in slots 0 and 1.
    for (int round = 0; round < 2; ++round)
        w.events.at(k_go + 5'000'000 * (round + 1), [&, round] {
            if (round == 0) {
                p.a.put(0, message(0, 0x2000, 64, 1, 1));
                p.a.post(0, message(0, 0x3000, 64, 1, 1));
                return;
            }
            auto d = message(0, 0x4000, 64, 1, 1);
            d.redop = abi::reduce_op::sum;
            put_elements(p.a, 0, d, {at(0, 64)}, {at(1, 0x5000, 1), at(0, 0x6000, 1), at(0, 0x7000)});
            p.a.ring(0);
        });
    w.run();
    for (const std::uint64_t offset : {0x4000, 0x5000})
        CHECK(contents(p.b.memory, offset, 64) == sum);
    for (const std::uint64_t offset : {0x6000, 0x7000})
        CHECK(contents(p.a.memory, offset, 64) == sum);
    CHECK(p.a.read(regs::HEAD(0)) == 6);
    CHECK(p.b.read(regs::SEM_COUNT(1)) == 5);
    CHECK(p.a.read(regs::SEM_COUNT(1)) == 1);
}

TEST_CASE("bad elements stop their queue and nothing of them is sent")
{
    world w;
    struct one {
        const char* name;
        std::uint32_t error;
        std::function<void(node&)> put;
        pair_bench* p = nullptr;
    };
    const auto reducing = [](std::uint64_t bytes = 64) {
        auto d = message(0, 0x1000, bytes, 1, 1);
        d.redop = abi::reduce_op::sum;
        return d;
    };
    std::vector<one> runs = {
        {"check word", 1, [&](node& n) { put_elements(n, 0, reducing(), {at(0, 64)}, {}, false); }},
        {"not posted", 1, [&](node& n) { auto d = reducing(); d.element_entries = 2; n.put(0, d); n.put(0, reducing()); }},
        {"too many entries", 1, [&](node& n) { auto d = reducing(); d.element_entries = 255; n.put(0, d); }},
        {"no source", 1, [&](node& n) { auto d = reducing(); d.source_offset = abi::k_no_source; n.put(0, d); }},
        {"no source but a destination", 1, [&](node& n) { auto d = reducing(); d.source_offset = abi::k_no_source; put_elements(n, 0, d, {}, {at(1, 64)}); }},
        {"waits for nobody", 1, [&](node& n) { put_elements(n, 0, reducing(), {}, {}, true, {0x7fff, 1}); }},
        {"memory out of reach", 1, [&](node& n) { put_elements(n, 0, reducing(), {at(1, 64)}, {}); }},
        {"beyond the memory", 2, [&](node& n) { put_elements(n, 0, reducing(), {at(0, (1 << 20) - 60)}, {}); }},
        {"wraps around", 2, [&](node& n) { put_elements(n, 0, reducing(), {at(0, ~std::uint64_t{0} - 59)}, {}); }},
        {"source not aligned", 1, [&](node& n) { put_elements(n, 0, reducing(), {at(0, 66)}, {}); }},
        {"own source not aligned", 1, [&](node& n) { auto d = reducing(); d.source_offset = 2; put_elements(n, 0, d, {at(0, 64)}, {}); }},
        {"no operation", 1, [&](node& n) { put_elements(n, 0, message(0, 0x1000, 64, 1), {at(0, 64)}, {}); }},
        {"empty", 1, [&](node& n) { put_elements(n, 0, reducing(0), {at(0, 64)}, {}); }},
        {"pieces", 1, [&](node& n) { auto d = reducing(); d.more_pieces = 1; d.stride = 64; put_elements(n, 0, d, {at(0, 64)}, {}); }},
        {"rank", 1, [&](node& n) { put_elements(n, 0, reducing(), {}, {at(2, 64)}); }},
        {"semaphore", 1, [&](node& n) { put_elements(n, 0, reducing(), {}, {at(1, 64, 100'000)}); }},
        {"destination not aligned", 1, [&](node& n) { put_elements(n, 0, reducing(), {}, {at(1, 66)}); }},
        {"too many sources", 1, [&](node& n) { put_elements(n, 0, reducing(), std::vector<abi::dma_element>(16, at(0, 64)), {}); }},
        {"too many destinations", 1, [&](node& n) { put_elements(n, 0, reducing(), {}, std::vector<abi::dma_element>(8, at(0, 64))); }},
    };
    for (one& r : runs)
        r.p = &w.add(knobs{});
    w.events.at(k_go, [&] {
        for (one& r : runs) {
            r.p->a.enable();
            r.p->b.enable();
            r.put(r.p->a);
            r.p->a.ring(0);
            r.p->a.post(1, message(0, 0x2000, 64, 1, 2)); // another queue goes on
        }
    });
    sc_core::sc_start();
    for (const one& r : runs) {
        INFO(r.name << ": " << r.p->a.engine.blocked_on());
        CHECK(r.p->a.read(regs::ERROR) == r.error);
        CHECK(r.p->a.read(regs::ERROR_QUEUE) == 0);
        CHECK(r.p->a.engine.bytes_sent.value() == 64);
        CHECK(r.p->b.read(regs::SEM_COUNT(2)) == 1);
        CHECK(r.p->a.engine.blocked_on().find("is stopped by an error at entry 0 of its ring") != std::string::npos);
    }
}

TEST_CASE("an engine of its own rate starts late and takes as long as the formula says")
{
    world w;
    struct one {
        std::uint64_t bytes;
        std::uint32_t sources;
        bool data;
        pair_bench* p;
    };
    std::vector<one> runs;
    knobs k;
    k.dma.engine.start = duration(1'000'000);
    k.dma.engine.queue_rate = 16_GBps; // 62.5 ps a byte: slower than memory and links
    k.dma.engine.element = 8_KiB;
    k.dma.engine.element_overhead = data_size(320);
    for (const std::uint64_t bytes : {std::uint64_t{256}, std::uint64_t{8192}, std::uint64_t{8448}, std::uint64_t{40960}})
        for (const std::uint32_t sources : {1u, 2u, 3u})
            for (const bool data : {true, false}) {
                k.data = data;
                runs.push_back({bytes, sources, data, &w.add(k)});
            }
    w.events.at(k_go, [&] {
        for (one& r : runs) {
            r.p->a.enable();
            r.p->b.enable();
            r.p->b.write(regs::SEM_THRESHOLD(5), 1);
            auto d = message(0, 0x80000, r.bytes, 1, 5);
            d.redop = r.sources > 1 ? abi::reduce_op::sum : abi::reduce_op::none;
            std::vector<abi::dma_element> more;
            for (std::uint32_t s = 1; s < r.sources; ++s)
                more.push_back(at(0, s * 0x10000));
            put_elements(r.p->a, 0, d, more, {});
            r.p->a.ring(0);
        }
    });
    w.run();
    for (const one& r : runs) {
        INFO(r.bytes << " B, " << r.sources << " sources");
        const std::uint64_t memory = 256 * r.sources * 5 / 2 + 100'000; // of the first packet; the engine is slower than the rest
        const std::uint64_t engine = std::max(memory, (r.bytes * r.sources + (r.bytes + 8191) / 8192 * 320) * 125 / 2);
        const std::uint64_t fetch = 2 * (160 + 100'000); // descriptor and elements
        const std::uint64_t begin = k_go + k.dma.register_latency.value() + 1'000'000 + fetch;
        const ici_config& ici = k.ici;
        const std::uint64_t net = 2 * ici.pipeline_ps() + ici.board_propagation.value() + wire_rate(ici.link_rate).time_ps(ici.format().wire_bytes(256));
        const std::uint64_t write = 640 + 100'000;
        REQUIRE(r.p->b.irq.rises.size() == 1);
        CHECK(static_cast<std::int64_t>(r.p->b.irq.rises[0] - (begin + engine + net + write)) == 0);
    }
}

TEST_CASE("a descriptor waits for a semaphore of its engine and those behind it in the queue wait with it")
{
    world w;
    struct one {
        std::uint32_t needed; ///< of the two messages that come
        pair_bench* p;
    };
    std::vector<one> runs;
    for (const std::uint32_t needed : {0u, 1u, 2u})
        for (const std::uint32_t burst : {1u, 8u}) {
            knobs k;
            k.burst = burst;
            k.dma.engine.wake = duration(600'000);
            runs.push_back({needed, &w.add(k)});
        }
    w.events.at(k_go, [&] {
        for (one& r : runs) {
            r.p->a.enable();
            r.p->b.enable();
            put_elements(r.p->a, 0, message(0, 0x1000, 64, 1, 1), {}, {}, true, {7, r.needed});
            r.p->a.put(0, message(0, 0x2000, 64, 1, 2));
            r.p->a.ring(0);
            r.p->a.post(1, message(0, 0x3000, 64, 1, 3)); // another queue does not wait
            r.p->b.write(regs::SEM_THRESHOLD(2), 1);
            r.p->a.write(regs::SEM_THRESHOLD(7), r.needed);
        }
    });
    for (const std::uint32_t message_number : {1u, 2u})
        w.events.at(k_go + message_number * 10'000'000, [&, message_number] {
            for (one& r : runs) {
                CHECK(r.p->b.read(regs::SEM_COUNT(1)) == (r.needed < message_number ? 1 : 0));
                CHECK(r.p->b.read(regs::SEM_COUNT(3)) == 1);
                CHECK((r.p->a.engine.blocked_on().find("waits for its semaphore 7") != std::string::npos) == (r.needed >= message_number));
                r.p->b.post(0, message(0, 0x8000, 64, 0, 7));
            }
        });
    w.run();
    for (const one& r : runs) {
        INFO(r.needed << " needed");
        CHECK(r.p->b.read(regs::SEM_COUNT(1)) == 1);
        CHECK(r.p->b.read(regs::SEM_COUNT(2)) == 1);
        REQUIRE(r.p->b.irq.rises.size() == 1);
        if (r.needed == 0)
            continue;
        // Woken 600 ns after the semaphore; then two messages, of which the second streams behind the first: one more is on the wires.
        REQUIRE(r.p->a.irq.rises.size() == 1);
        const knobs k;
        const ici_config& ici = k.ici;
        const std::uint64_t wire = wire_rate(ici.link_rate).time_ps(ici.format().wire_bytes(64));
        const std::uint64_t expected = r.p->a.irq.rises[0] + 600'000 + (160 + 100'000) + 2 * ici.pipeline_ps() + ici.board_propagation.value() + wire + (160 + 100'000);
        CHECK(r.p->b.irq.rises[0] >= expected);
        CHECK(r.p->b.irq.rises[0] <= expected + 2 * wire + 2 * 160);
    }
}

TEST_CASE("a descriptor whose semaphore never comes is named with its queue")
{
    world w;
    pair_bench& p = w.add(knobs{});
    w.events.at(k_go, [&] {
        p.a.enable();
        put_elements(p.a, 3, message(0, 0x1000, 64, 1, 1), {}, {}, true, {65, 4});
        p.a.ring(3);
    });
    sc_core::sc_start();
    CHECK(p.a.engine.blocked_on() == "DMA queue 3 has 2 ring entries left (the oldest descriptor at entry 0) and waits for its semaphore 65 to count to 4 from 0");
    CHECK_FALSE(p.a.engine.idle());
}

TEST_CASE("a wait that is over counts from its semaphore and not from the turn of the descriptor")
{
    world w;
    struct one {
        std::uint64_t ring_ps;
        pair_bench* p;
        std::uint64_t counted_ps = 0;
    };
    knobs k;
    k.dma.engine.wake = duration(50'000'000);
    std::vector<one> runs;
    for (const std::uint64_t ring_ps : {k_go, k_go + 20'000'000, k_go + 30'000'000, k_go + 500'000'000})
        runs.push_back({ring_ps, &w.add(k)});
    w.events.at(k_go, [&] {
        for (one& r : runs) {
            r.p->a.enable();
            r.p->b.enable();
            put_elements(r.p->a, 0, message(0, 0x1000, 64, 1, 1), {}, {}, true, {7, 1});
            r.p->a.write(regs::SEM_THRESHOLD(7), 1);
            r.p->b.write(regs::SEM_THRESHOLD(1), 1);
        }
    });
    w.events.at(k_go + 10'000'000, [&] {
        for (one& r : runs)
            r.p->b.post(0, message(0, 0x8000, 64, 0, 7));
    });
    for (one& r : runs)
        w.events.at(r.ring_ps, [&r] { r.p->a.ring(0); });
    w.run();
    std::vector<std::uint64_t> after;
    for (const one& r : runs) {
        REQUIRE(r.p->a.irq.rises.size() == 1);
        REQUIRE(r.p->b.irq.rises.size() == 1);
        after.push_back(r.p->b.irq.rises[0] - r.p->a.irq.rises[0]);
    }
    CHECK(after[1] == after[0]);
    CHECK(after[2] == after[0]);
    CHECK(after[0] > 50'000'000);
    CHECK(after[0] < 51'000'000);
    CHECK(after[3] > 400'000'000); // long over: at once
    CHECK(runs[3].p->b.irq.rises[0] - runs[3].ring_ps < 2'000'000);
}

TEST_CASE("an element moves at the rate of one engine")
{
    world w;
    struct one {
        std::uint64_t bytes;
        double elements_in_turn; ///< of 512 B on one engine
        pair_bench* p;
    };
    std::vector<one> runs;
    for (const auto& [bytes, in_turn] : {std::pair{512u, 1.0}, {1024u, 1.0}, {8192u, 1.0}, {2048u, 1.0}}) {
        knobs k;
        k.dma.engine.queue_rate = 2_GBps; // 16 engines of 125 MB/s
        k.dma.engine.spread = 16;
        k.dma.engine.element_overhead = data_size(256);
        runs.push_back({bytes, in_turn, &w.add(k)});
    }
    w.events.at(k_go, [&] {
        for (one& r : runs) {
            r.p->a.enable();
            r.p->b.enable();
            r.p->b.write(regs::SEM_THRESHOLD(5), 1);
            put_elements(r.p->a, 0, message(0, 0x80000, r.bytes, 1, 5), {}, {});
            r.p->a.ring(0);
        }
    });
    w.run();
    for (const one& r : runs) {
        INFO(r.bytes << " B");
        REQUIRE(r.p->b.irq.rises.size() == 1);
        const double engine_ps = r.elements_in_turn * (512 + 256) / 0.125e9 * 1e12;
        const double took_ps = static_cast<double>(r.p->b.irq.rises[0] - k_go);
        CHECK(took_ps > engine_ps);
        CHECK(took_ps < engine_ps + 2'000'000);
    }
}

TEST_CASE("queues share the rate of all engines and a transfer counts for each of its destinations")
{
    world w;
    struct one {
        std::uint32_t queues, destinations;
        double rate; ///< GB/s of all engines; 0: as many as the queues need
        pair_bench* p;
    };
    std::vector<one> runs;
    const std::uint64_t bytes = 131'072;
    for (const std::uint32_t queues : {1u, 2u, 4u})
        for (const std::uint32_t destinations : {1u, 2u})
            for (const double rate : {0.0, 8.0}) {
                knobs k;
                k.dma.engine.queue_rate = 8_GBps;
                k.dma.engine.rate = bandwidth(static_cast<std::uint64_t>(rate * 8e9));
                k.dma.engine.spread = 4;
                k.dma.engine.element_overhead = data_size(256);
                runs.push_back({queues, destinations, rate, &w.add(k)});
            }
    w.events.at(k_go, [&] {
        for (one& r : runs) {
            r.p->a.enable();
            r.p->b.enable();
            r.p->b.write(regs::SEM_THRESHOLD(5), r.queues);
            for (std::uint32_t q = 0; q < r.queues; ++q) {
                put_elements(r.p->a, q, message(0, 0x80000, bytes, 1, 5), {},
                             r.destinations == 2 ? std::vector<abi::dma_element>{at(1, 0xa0000)} : std::vector<abi::dma_element>{});
                r.p->a.ring(q);
            }
        }
    });
    w.run();
    for (const one& r : runs) {
        INFO(r.queues << " queues, " << r.destinations << " destinations, " << r.rate << " GB/s");
        REQUIRE(r.p->b.irq.rises.size() == 1);
        const double moved = static_cast<double>(bytes) * r.destinations + 4 * 256;
        const double engine_ps = moved / 8e9 * 1e12 * (r.rate == 0 ? 1 : r.queues);
        const double took_ps = static_cast<double>(r.p->b.irq.rises[0] - k_go);
        CHECK(took_ps > engine_ps);
        CHECK(took_ps < 1.03 * engine_ps + 1'000'000);
    }
}
