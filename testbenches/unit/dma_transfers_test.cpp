// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the packets of a transfer read and write, against a plain list of the bytes that its descriptor names.
#include "hw/dma/dma_transfers.h"
#include "hw/dma/train_sizes.h"

#include <catch2/catch.hpp>

#include <map>
#include <tuple>
#include <utility>
#include <vector>

using namespace weft;

namespace {
constexpr std::uint32_t k_payload = 256;
constexpr std::uint32_t k_own_rank = 2;

packet_format format_of_test()
{
    packet_format f;
    f.max_payload_bytes = k_payload;
    return f;
}

/// (rank, offset there) -> offset in the own memory.
using byte_map = std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t>;

byte_map asked_for(const abi::dma_descriptor& d)
{
    byte_map bytes;
    for (std::uint32_t k = 0; k <= d.more_pieces; ++k)
        for (std::uint64_t i = 0; i < d.bytes; ++i) {
            const std::uint64_t to = d.destination_offset + i + (d.rank_stride != 0 ? 0 : k * d.stride);
            bytes[{d.destination_rank + k * d.rank_stride, to}] = d.source_offset + k * d.stride + i;
        }
    return bytes;
}

struct walked {
    byte_map bytes;
    std::vector<std::uint32_t> ranks; ///< of the packets, in their order
    std::uint32_t transactions = 0;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> packets; ///< of (rank, message, its number)
    std::uint32_t whole_messages = 0;
};

walked walk(const dma_transfers& transfers, std::uint32_t id)
{
    walked w;
    const dma_transfer& t = transfers[id];
    for (std::uint64_t n = 0; n < t.packets;) {
        const std::uint32_t packets = transfers.train_at(id, n);
        REQUIRE(packets > 0);
        const packet_source from = transfers.source_of(id, n, packets);
        const packet_target to = transfers.target_of(id, n, packets);
        CHECK((packets == 1 || from.bytes == std::uint64_t{packets} * k_payload));
        CHECK(from.bytes <= std::uint64_t{packets} * k_payload);
        CHECK(to.rank == transfers.rank_of(id, n));
        CHECK(from.local == (to.rank == k_own_rank && !t.by_fabric));
        for (std::uint64_t i = 0; i < from.bytes; ++i)
            CHECK(w.bytes.insert({{to.rank, to.offset + i}, from.offset + i}).second);
        std::uint32_t& of_message = w.packets[{to.rank, to.message, to.semaphore_message}];
        of_message += packets;
        CHECK(to.last_of_message == (of_message == t.message_packets));
        w.whole_messages += to.last_of_message ? 1 : 0;
        w.ranks.push_back(to.rank);
        ++w.transactions;
        n += packets;
        CHECK(to.last_of_transfer == (n == t.packets));
    }
    return w;
}

abi::dma_descriptor descriptor(std::uint64_t bytes, std::uint32_t more, std::uint64_t stride)
{
    abi::dma_descriptor d;
    d.source_offset = 1000;
    d.destination_offset = 50'000;
    d.bytes = bytes;
    d.destination_rank = 1;
    d.remote_semaphore = 7;
    d.more_pieces = static_cast<std::uint16_t>(more);
    d.stride = stride;
    return d;
}
} // namespace

TEST_CASE("packets of one message read and write what its descriptor names in trains of full packets")
{
    const packet_format format = format_of_test();
    dma_transfers transfers(k_own_rank, format, true);
    for (const std::uint64_t bytes : {4u, 256u, 1000u, 1024u})
        for (const std::uint32_t more : {0u, 1u, 4u})
            for (const std::uint64_t gap : {0u, 300u})
                for (const std::uint32_t train : {1u, 3u}) {
                    INFO(bytes << " B, " << more << " more, gap " << gap << ", train " << train);
                    const auto d = descriptor(bytes, more, bytes + gap);
                    const std::uint32_t id = transfers.load(d, 5, train);
                    CHECK(transfers[id].queue == 5);
                    const walked w = walk(transfers, id);
                    CHECK(w.bytes == asked_for(d));
                    CHECK(w.packets.size() == 1);
                    CHECK(w.whole_messages == 1);
                    const std::uint64_t full = bytes / k_payload;
                    const std::uint64_t of_piece = (full + train - 1) / train + (bytes % k_payload != 0 ? 1 : 0);
                    CHECK(w.transactions == of_piece * (more + 1));
                    transfers.release(id);
                }
}

TEST_CASE("a transfer to several ranks takes their packets in turn and each rank gets a message of its own")
{
    const packet_format format = format_of_test();
    dma_transfers transfers(k_own_rank, format, true);
    std::uint32_t before = 0; // messages to each rank
    for (const std::uint64_t bytes : {0u, 4u, 256u, 1000u})
        for (const std::uint32_t first : {0u, 2u})
            for (const std::uint64_t stride : {0u, 1200u}) {
                INFO(bytes << " B, first " << first << ", stride " << stride);
                auto d = descriptor(bytes, 2, stride);
                d.rank_stride = 1;
                d.first_piece = static_cast<std::uint16_t>(first);
                const std::uint32_t id = transfers.load(d, 0, 8);
                const std::uint32_t message = transfers[id].message;
                const walked w = walk(transfers, id);
                CHECK(w.bytes == asked_for(d));
                CHECK(w.whole_messages == 3);
                const std::uint32_t each = bytes == 1000 ? 4 : 1; // packets
                CHECK(w.transactions == 3 * each);
                for (std::uint32_t i = 0; i < w.ranks.size(); ++i)
                    CHECK(w.ranks[i] == 1 + (i + first) % 3);
                REQUIRE(w.packets.size() == 3);
                for (std::uint32_t k = 0; k < 3; ++k)
                    CHECK(w.packets.at({1 + k, message + k, before}) == each);
                ++before;
                transfers.release(id);
            }
}

TEST_CASE("a transfer is local when all of it goes to the own rank and not by the fabric")
{
    const packet_format format = format_of_test();
    dma_transfers transfers(k_own_rank, format, false);
    auto d = descriptor(0, 0, 0);
    d.destination_rank = k_own_rank;
    const std::uint32_t copy = transfers.load(d, 0, 1);
    CHECK(transfers[copy].local);
    CHECK(walk(transfers, copy).transactions == 1); // a notification is a packet, too
    d.by_fabric = 1;
    const std::uint32_t around = transfers.load(d, 0, 1);
    CHECK(around != copy);
    CHECK_FALSE(transfers[around].local);
    walk(transfers, around);
    CHECK(transfers[around].message == transfers[copy].message + 1);
    transfers.release(copy);
    CHECK(transfers.load(d, 0, 1) == copy); // its place is used again
}

TEST_CASE("sizes of trains are those of the format packet by packet")
{
    packet_format plain = format_of_test();
    packet_format blocks = plain;
    blocks.block_flits = 8;
    blocks.cell_flits = 4;
    for (const packet_format& format : {plain, blocks}) {
        const train_sizes sizes(format);
        for (const std::uint32_t payload : {0u, 1u, 255u, 256u, 512u, 2048u}) {
            INFO(payload << " B");
            CHECK(sizes.of(payload).packets == format.packets_for(payload));
            CHECK(sizes.of(payload).cells == format.cells(payload));
            CHECK(sizes.of(payload).wire_bytes == format.wire_bytes(payload));
        }
    }
}
