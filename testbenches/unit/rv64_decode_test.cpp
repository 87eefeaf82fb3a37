// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What watchpoints and traces read off instructions. The encodings are those of the GNU assembler.
#include "hw/core/engines/rv64_decode.h"

#include <catch2/catch.hpp>

#include <cstdint>

using namespace weft;

TEST_CASE("rv64 decoder: where loads and stores go")
{
    struct row {
        std::uint32_t instruction;
        unsigned base;
        std::int64_t offset;
        unsigned bytes;
        bool reads;
        bool writes;
    };
    const row rows[] = {
        {0xffb58503, 11, -5, 1, true, false},  // lb a0,-5(a1)
        {0x7f813403, 2, 2040, 8, true, false}, // ld s0,2040(sp)
        {0xfe113c23, 2, -8, 8, false, true},   // sd ra,-8(sp)
        {0x06b2a227, 5, 100, 4, false, true},  // fsw fa1,100(t0)
        {0x1005b52f, 11, 0, 8, true, false},   // lr.d a0,(a1)
        {0x18c6a52f, 13, 0, 4, false, true},   // sc.w a0,a2,(a3)
        {0x00b6352f, 12, 0, 8, true, true},    // amoadd.d a0,a1,(a2)
        {0x2b88, 15, 16, 8, true, false},      // c.fld fa0,16(a5)
        {0x41e8, 11, 68, 4, true, false},      // c.lw a0,68(a1)
        {0x64e0, 9, 200, 8, true, false},      // c.ld s0,200(s1)
        {0xe71c, 14, 8, 8, false, true},       // c.sd a5,8(a4)
        {0xdcfc, 9, 124, 4, false, true},      // c.sw a5,124(s1)
        {0xbd68, 10, 248, 8, false, true},     // c.fsd fa0,248(a0)
        {0x557e, 2, 252, 4, true, false},      // c.lwsp a0,252(sp)
        {0x70fe, 2, 504, 8, true, false},      // c.ldsp ra,504(sp)
        {0x2532, 2, 264, 8, true, false},      // c.fldsp fa0,264(sp)
        {0xf786, 2, 488, 8, false, true},      // c.sdsp ra,488(sp)
        {0xdfaa, 2, 252, 4, false, true},      // c.swsp a0,252(sp)
        {0xa6a2, 2, 328, 8, false, true},      // c.fsdsp fs0,328(sp)
    };
    for (const row& r : rows) {
        INFO(std::hex << r.instruction);
        for (const std::uint32_t behind : {0u, 0xffff0000u}) { // of a compressed one: the next instruction
            const bool compressed = r.instruction <= 0xffff;
            const auto a = rv64::decode_memory_access(compressed ? r.instruction | behind : r.instruction);
            CHECK(a.base == r.base);
            CHECK(a.offset == r.offset);
            CHECK(a.bytes == r.bytes);
            CHECK(a.reads == r.reads);
            CHECK(a.writes == r.writes);
        }
    }
    for (const std::uint32_t none : {0x1141u, 0x7139u, 0x852eu, 0x9002u, 0x8082u, 0x000000efu, 0x00b50063u, 0x0u})
        CHECK(rv64::decode_memory_access(none).bytes == 0);
}

TEST_CASE("rv64 decoder: calls and returns")
{
    using rv64::flow;
    CHECK(rv64::decode_flow(0x000000ef) == flow::call);            // jal ra
    CHECK(rv64::decode_flow(0x0000006f) == flow::jump);            // jal zero
    CHECK(rv64::decode_flow(0x000780e7) == flow::call);            // jalr ra,0(a5)
    CHECK(rv64::decode_flow(0x000302e7) == flow::call);            // jalr t0,0(t1)
    CHECK(rv64::decode_flow(0x00008067) == flow::function_return); // ret
    CHECK(rv64::decode_flow(0x00078067) == flow::jump);            // jalr zero,0(a5)
    CHECK(rv64::decode_flow(0x30200073) == flow::trap_return);     // mret
    CHECK(rv64::decode_flow(0x00b50063) == flow::next);            // beq
    CHECK(rv64::decode_flow(0xa001) == flow::jump);                // c.j
    CHECK(rv64::decode_flow(0x8082) == flow::function_return);     // c.jr ra
    CHECK(rv64::decode_flow(0x8782) == flow::jump);                // c.jr a5
    CHECK(rv64::decode_flow(0x9782) == flow::call);                // c.jalr a5
    CHECK(rv64::decode_flow(0x852e) == flow::next);                // c.mv
    CHECK(rv64::decode_flow(0x9002) == flow::next);                // c.ebreak
    CHECK(rv64::decode_flow(0x952e) == flow::next);                // c.add
    CHECK(rv64::decode_flow(0x0001) == flow::next);                // c.nop
}
