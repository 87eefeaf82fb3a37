// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Descriptors of several pieces: of one message at a stride, or one message for each of several ranks.
#include "testbenches/hw/dma_bench.h"

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;
using namespace weft::testing::dma_pair;

TEST_CASE("a message of several pieces lands at its strides and counts once")
{
    world w;
    struct one {
        std::uint32_t bytes, more;
        std::uint64_t stride;
        abi::reduce_op op;
        std::uint32_t burst;
        pair_bench* p;
    };
    std::vector<one> runs;
    for (const std::uint32_t bytes : {4u, 256u, 1000u, 4096u})
        for (const std::uint32_t more : {0u, 1u, 6u})
            for (const std::uint64_t gap : {0u, 4u, 5000u})
                for (const auto op : {abi::reduce_op::none, abi::reduce_op::sum})
                    for (const std::uint32_t burst : {1u, 8u}) {
                        knobs k;
                        k.burst = burst;
                        runs.push_back({bytes, more, bytes + gap, op, burst, &w.add(k)});
                    }
    constexpr std::uint64_t from = 0x1000, to = 0x20000, area = 0x18000;
    const auto sent = pattern(area, 1), there = pattern(area, 2);
    w.events.at(k_go, [&] {
        for (const one& r : runs) {
            r.p->a.memory.write_bytes(from, sent.data(), area);
            r.p->b.memory.write_bytes(to, there.data(), area);
            r.p->a.enable();
            r.p->b.enable();
            abi::dma_descriptor d = message(from, to, r.bytes, 1, 5);
            d.more_pieces = static_cast<std::uint16_t>(r.more);
            d.stride = r.stride;
            d.redop = r.op;
            r.p->a.post(0, d);
            r.p->a.post(0, message(0, 0, 0, 1, 6));
        }
    });
    w.run();
    for (const one& r : runs) {
        INFO(r.bytes << " B, " << r.more << " more, stride " << r.stride << ", burst " << r.burst);
        std::vector<std::uint8_t> expected = there;
        for (std::uint64_t k = 0; k <= r.more; ++k)
            for (std::uint64_t i = k * r.stride; i < k * r.stride + r.bytes; i += 4) {
                std::uint32_t a = 0, b = 0;
                std::memcpy(&a, &sent[i], 4);
                std::memcpy(&b, &there[i], 4);
                a += r.op == abi::reduce_op::none ? 0 : b;
                std::memcpy(&expected[i], &a, 4);
            }
        CHECK(contents(r.p->b.memory, to, area) == expected);
        CHECK(r.p->b.read(regs::SEM_COUNT(5)) == 1);
        CHECK(r.p->b.read(regs::SEM_COUNT(6)) == 1);
        CHECK(r.p->a.read(regs::HEAD(0)) == 2);
        CHECK(r.p->a.engine.bytes_sent.value() == std::uint64_t{r.bytes} * (r.more + 1));
    }
}

TEST_CASE("one descriptor sends each of several ranks its piece and to the own rank a copy")
{
    world w;
    struct one {
        std::uint32_t bytes;
        std::uint32_t first_piece, burst;
        pair_bench* p;
    };
    std::vector<one> runs;
    for (const std::uint32_t bytes : {0u, 4u, 256u, 1000u, 5000u})
        for (const std::uint32_t first_piece : {0u, 1u})
            for (const std::uint32_t burst : {1u, 8u}) {
                knobs k;
                k.burst = burst;
                runs.push_back({bytes, first_piece, burst, &w.add(k)});
            }
    constexpr std::uint64_t from = 0x1000, to = 0x20000, stride = 6000;
    const auto sent = pattern(2 * stride, 1);
    w.events.at(k_go, [&] {
        for (const one& r : runs) {
            r.p->a.memory.write_bytes(from, sent.data(), sent.size());
            r.p->a.enable();
            r.p->b.enable();
            abi::dma_descriptor d = message(from, to, r.bytes, 0, 5);
            d.more_pieces = 1;
            d.rank_stride = 1;
            d.stride = stride;
            d.first_piece = static_cast<std::uint16_t>(r.first_piece);
            r.p->a.post(0, d);
            r.p->a.post(0, message(0, 0, 0, 1, 6));
        }
    });
    w.run();
    for (const one& r : runs) {
        INFO(r.bytes << " B, first piece " << r.first_piece << ", burst " << r.burst);
        for (const std::uint32_t rank : {0u, 1u}) {
            const node& n = rank == 0 ? r.p->a : r.p->b;
            const auto begin = sent.begin() + static_cast<std::ptrdiff_t>(rank * stride);
            CHECK(contents(n.memory, to, r.bytes) == std::vector<std::uint8_t>(begin, begin + r.bytes));
        }
        CHECK(r.p->a.read(regs::SEM_COUNT(5)) == 1);
        CHECK(r.p->b.read(regs::SEM_COUNT(5)) == 1);
        CHECK(r.p->b.read(regs::SEM_COUNT(6)) == 1);
        CHECK(r.p->a.read(regs::HEAD(0)) == 2);
        CHECK(r.p->a.engine.messages_received.value() == 1);
        CHECK(r.p->b.engine.messages_received.value() == 2);
    }
}
