// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Source-route header, addresses and linear tables of UB (hw/abi/ub.h) against Fig. 11 and section 4.1 of UB-Mesh, in words: byte 0
// holds the pointer in its low nibble, its high nibble and byte 1 the bitmap, bytes 2 to 7 six instructions.
#include "hw/abi/ub.h"
#include "platforms/workload/traffic.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

using namespace weft;
using namespace weft::abi::ub;

namespace {

/// The header as a list of bits, from the text of the figure: no shifts shared with the codec.
struct words {
    unsigned ptr = 0;
    bool by_route[12] = {};
    std::uint8_t instructions[6] = {};

    void bytes(std::uint8_t (&out)[8]) const
    {
        std::memset(out, 0, sizeof out);
        for (unsigned bit = 0; bit < 4; ++bit)
            if (ptr / (1u << bit) % 2 == 1)
                out[0] = static_cast<std::uint8_t>(out[0] + (1u << bit));
        for (unsigned hop = 0; hop < 12; ++hop) {
            if (!by_route[hop])
                continue;
            if (hop < 4)
                out[0] = static_cast<std::uint8_t>(out[0] + 16u * (1u << hop));
            else
                out[1] = static_cast<std::uint8_t>(out[1] + (1u << (hop - 4)));
        }
        for (unsigned i = 0; i < 6; ++i)
            out[2 + i] = instructions[i];
    }
};

/// What the hop does, by counting.
struct step {
    bool by_route;
    std::uint8_t byte;
};
step step_of(const words& w)
{
    if (w.ptr >= 12 || !w.by_route[w.ptr])
        return {false, 0};
    unsigned used = 0;
    for (unsigned hop = 0; hop < w.ptr; ++hop)
        used += w.by_route[hop] ? 1 : 0;
    return {true, used < 6 ? w.instructions[used] : std::uint8_t{0}};
}

} // namespace

TEST_CASE("UB header: every pointer and bitmap and several instruction sets: bytes and fields and steps and round trip")
{
    const std::uint8_t sets[][6] = {
        {0, 0, 0, 0, 0, 0}, {1, 2, 3, 4, 5, 6}, {255, 255, 255, 255, 255, 255}, {128, 127, 64, 1, 254, 17}};
    std::uint32_t wrong = 0;
    for (unsigned bits = 0; bits < 65536; ++bits)
        for (const auto& set : sets) {
            words w;
            w.ptr = bits % 16;
            for (unsigned hop = 0; hop < 12; ++hop)
                w.by_route[hop] = bits / 16 / (1u << hop) % 2 == 1;
            std::memcpy(w.instructions, set, sizeof set);
            source_route h;
            h.set_instruction_byte(5, set[5]);
            h.set_bitmap(bits / 16);
            for (unsigned i = 0; i < 5; ++i)
                h.set_instruction_byte(i, set[i]);
            h.set_ptr(w.ptr);
            std::uint8_t expected[8], got[8];
            w.bytes(expected);
            to_bytes(h, got);
            wrong += std::memcmp(expected, got, 8) != 0;
            wrong += from_bytes(got).bits != h.bits;
            wrong += h.ptr() != w.ptr || h.bitmap() != bits / 16;
            for (unsigned i = 0; i < 6; ++i)
                wrong += h.instruction_byte(i) != set[i];
            const step s = step_of(w);
            wrong += h.here() != s.by_route || (s.by_route && h.present_byte() != s.byte);
            wrong += h.present() != (bits / 16 != 0);
            const source_route next = h.advanced();
            wrong += next.ptr() != (w.ptr < 15 ? w.ptr + 1 : 15) || next.bits >> 4 != h.bits >> 4;
        }
    CHECK(wrong == 0);
}

TEST_CASE("UB header: random headers keep each field to itself")
{
    traffic_random random(6);
    std::uint32_t wrong = 0;
    for (int i = 0; i < 100'000; ++i) {
        source_route h{random.next()};
        std::uint8_t bytes[8];
        to_bytes(h, bytes);
        wrong += from_bytes(bytes).bits != h.bits;
        const unsigned j = random.below(6);
        const auto value = static_cast<std::uint8_t>(random.below(256));
        source_route g = h;
        g.set_instruction_byte(j, value);
        wrong += g.instruction_byte(j) != value || g.ptr() != h.ptr() || g.bitmap() != h.bitmap();
        for (unsigned k = 0; k < 6; ++k)
            wrong += k != j && g.instruction_byte(k) != h.instruction_byte(k);
        g = h;
        g.set_bitmap(random.below(4096));
        wrong += g.ptr() != h.ptr() || g.bits >> 16 != h.bits >> 16;
        g = h;
        g.set_ptr(random.below(16));
        wrong += g.bits >> 4 != h.bits >> 4;
    }
    CHECK(wrong == 0);
}

TEST_CASE("UB header: twelve hops of which half by instructions in the order of the instructions")
{
    source_route h;
    h.set_bitmap(0b1010'0110'1001);
    for (unsigned i = 0; i < 6; ++i)
        h.set_instruction_byte(i, static_cast<std::uint8_t>(10 + i));
    std::vector<int> seen;
    for (int hop = 0; hop < 14; ++hop, h = h.advanced())
        seen.push_back(h.here() ? h.present_byte() : -1);
    CHECK(seen == std::vector<int>{10, -1, -1, 11, -1, 12, 13, -1, -1, 14, -1, 15, -1, -1});
}

TEST_CASE("UB instructions and addresses all survive the round trip")
{
    std::uint32_t wrong = 0;
    for (unsigned b = 0; b < 256; ++b)
        wrong += encode(decode_instruction(static_cast<std::uint8_t>(b))) != b;
    std::vector<bool> seen(65536, false);
    for (unsigned kind = 0; kind < 4; ++kind)
        for (unsigned pod = 0; pod < 8; ++pod)
            for (unsigned rack = 0; rack < 16; ++rack)
                for (unsigned board = 0; board < 8; ++board)
                    for (unsigned unit = 0; unit < 8; ++unit) {
                        const address a{static_cast<node_kind>(kind), static_cast<std::uint8_t>(pod),
                                        static_cast<std::uint8_t>(rack), static_cast<std::uint8_t>(board),
                                        static_cast<std::uint8_t>(unit)};
                        const std::uint16_t bits = encode(a);
                        wrong += seen[bits] || !(decode_address(bits) == a);
                        seen[bits] = true;
                    }
    CHECK(wrong == 0);
}

TEST_CASE("UB linear table: the first segment that differs decides; empty entries and short tables fall through")
{
    // Own place: pod 1, rack 2, board 3, unit 4.
    std::vector<table_entry> entries(64);
    const table_step steps[] = {{segment::pod, false, 0, 8},
                                {segment::rack, false, 8, 4},
                                {segment::board, false, 24, 8},
                                {segment::unit, false, 32, 8},
                                {segment::kind_and_unit, true, 40, 24}};
    for (unsigned i = 0; i < 8; ++i) {
        entries[i] = {static_cast<std::uint8_t>(i), 1};
        entries[24 + i] = {static_cast<std::uint8_t>(20 + i), 1};
        entries[32 + i] = {static_cast<std::uint8_t>(30 + i), 2};
    }
    for (unsigned i = 0; i < 4; ++i)
        entries[8 + i] = {static_cast<std::uint8_t>(10 + i), 3};
    entries[5].ways = 0;               // pod 5: nowhere by pod
    entries[40 + 2 * 8 + 4] = {60, 1}; // CPU 4
    const table_view t{steps, 5, entries.data(), {node_kind::npu, 1, 2, 3, 4}};
    const auto to = [&](node_kind kind, unsigned pod, unsigned rack, unsigned board, unsigned unit) {
        const table_entry e = look_up(t, {kind, static_cast<std::uint8_t>(pod), static_cast<std::uint8_t>(rack),
                                          static_cast<std::uint8_t>(board), static_cast<std::uint8_t>(unit)});
        return std::pair<unsigned, unsigned>{e.port, e.ways};
    };
    using pair = std::pair<unsigned, unsigned>;
    CHECK(to(node_kind::npu, 7, 2, 3, 4) == pair{7, 1});
    CHECK(to(node_kind::npu, 7, 0, 0, 0) == pair{7, 1});
    CHECK(to(node_kind::npu, 1, 0, 3, 4) == pair{10, 3});
    CHECK(to(node_kind::npu, 1, 9, 6, 4) == pair{26, 1}); // rack 9 is beyond the table: the board decides
    CHECK(to(node_kind::npu, 1, 2, 6, 0) == pair{26, 1});
    CHECK(to(node_kind::npu, 1, 2, 3, 0) == pair{30, 2});
    CHECK(to(node_kind::npu, 5, 2, 3, 0) == pair{30, 2}); // pod 5 has no entry: the unit decides
    CHECK(to(node_kind::cpu, 1, 2, 3, 4) == pair{60, 1}); // same place, other kind: always
    CHECK(to(node_kind::npu, 1, 2, 3, 4) == pair{0, 0});  // the router itself
}
