// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Packets in blocks of flits, as Unified Bus has them, counted byte by byte.
#include "tlm/packet.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {

packet_format unified_bus()
{
    packet_format f;
    f.max_payload_bytes = 4096;
    f.header_bytes = 52 + 4;
    f.flit_bytes = 20;
    f.block_flits = 32;
    return f;
}

/// Lays the bytes out one after the other. Blocks are filled before the next one begins.
struct laid_out {
    std::uint64_t flits = 0, blocks = 0;
};
laid_out lay_out(const packet_format& f, std::uint64_t content)
{
    laid_out n;
    std::uint64_t bytes = 0;
    do {
        std::uint64_t room = std::uint64_t{f.block_flits} * f.flit_bytes - f.block_trailer_bytes;
        if (n.blocks > 0)
            room -= f.block_header_bytes;
        const std::uint64_t taken = content < room ? content : room;
        bytes = taken + f.block_trailer_bytes + (n.blocks > 0 ? f.block_header_bytes : 0);
        content -= taken;
        ++n.blocks;
        n.flits += (bytes + f.flit_bytes - 1) / f.flit_bytes;
    } while (content > 0);
    return n;
}

} // namespace

TEST_CASE("packets in blocks have the flits and blocks of the published layout")
{
    const packet_format f = unified_bus();
    struct row {
        std::uint64_t payload, flits, blocks;
    };
    for (const row& r : {row{256, 16, 1}, {512, 29, 1}, {1024, 55, 2}, {2048, 107, 4}, {4096, 210, 7}}) {
        INFO(r.payload);
        CHECK(f.flits_of_one(r.payload) == r.flits);
        CHECK(f.blocks_for(r.payload + f.header_bytes) == r.blocks);
        CHECK(f.wire_bytes_of_one(r.payload) == r.flits * 20);
        CHECK(f.cells_of_one(r.payload) == r.flits);
    }
    CHECK(f.flits_of_one(0) == 3); // 56 + 4 bytes
    CHECK(f.wire_bytes(0) == 60);
    CHECK(f.flits_of_one(1) == 4);
    CHECK(f.blocks_for(636) == 1); // 32 flits less one trailer
    CHECK(f.blocks_for(637) == 2);
    CHECK(f.blocks_for(636 + 634) == 2);
    CHECK(f.blocks_for(636 + 634 + 1) == 3);
    CHECK(f.wire_bytes(10'000) == 2 * 210 * 20 + f.flits_of_one(10'000 - 8192) * 20);
    for (std::uint64_t payload = 0; payload <= 4096; ++payload) {
        const laid_out n = lay_out(f, payload + f.header_bytes);
        REQUIRE(f.flits_of_one(payload) == n.flits);
        REQUIRE(f.blocks_for(payload + f.header_bytes) == n.blocks);
        REQUIRE((n.flits + 31) / 32 == n.blocks);
    }
}

TEST_CASE("a credit may stand for several flits")
{
    packet_format f = unified_bus();
    f.cell_flits = 8;
    CHECK(f.cells_of_one(0) == 1);
    CHECK(f.cells_of_one(512) == 4);   // 29 flits
    CHECK(f.cells_of_one(4096) == 27); // 210
    CHECK(f.cells(8192) == 54);
    packet_format plain;
    plain.cell_flits = 4;
    CHECK(plain.cells_of_one(256) == 3); // 9 flits of 32 bytes
    plain.header_bytes = 0;
    CHECK(plain.cells_of_one(0) == 1);
    CHECK(plain.wire_bytes_of_one(0) == 32);
}

TEST_CASE("a rate that is net of headers is charged payload and check sums alone")
{
    packet_format f = unified_bus();
    f.charge_header_on_wire = false;
    CHECK(f.wire_bytes_of_one(512) == 26 * 20); // 516 bytes
    CHECK(f.wire_bytes_of_one(0) == 20);
    CHECK(f.cells_of_one(512) == 29); // buffered with its header all the same
}
