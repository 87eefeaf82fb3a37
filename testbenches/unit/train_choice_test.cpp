// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Lengths of trains: which limit sets them, what is said about it, and which cases go in single packets. docs/adr/0003.
#include "platforms/workload/train_choice.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace weft;
using namespace weft::literals;

namespace {

/// Packets of 1 KiB on a machine with these sides.
train_limits limits(std::vector<std::uint32_t> sides, std::vector<train_hop> hops = {})
{
    train_limits g;
    g.hops = std::move(hops);
    g.packet_payload = 1024;
    g.sides = std::move(sides);
    return g;
}

/// A buffer that shortens trains to `packets`.
train_hop buffer(std::uint32_t packets, std::uint32_t paths = 1)
{
    return {"ici.buffer_per_vl = some", 8ull * packets, 10'000, 10'000, 8, 8, paths, 0};
}

/// A rack of 8 boards of 8, spread over `paths`, with trains of up to 512 packets on each.
train_choice rack(std::uint32_t paths)
{
    return choose_trains(packet_count(0), limits({1, 1, 1, 8, 8}, {buffer(512, paths)}));
}

/// A whole mesh whose streams have links of their own.
train_choice mesh(std::uint32_t rows, std::uint32_t cols, std::vector<train_hop> hops = {})
{
    train_limits g = limits({rows, cols}, std::move(hops));
    g.own_links = true;
    return choose_trains(packet_count(0), g);
}

collective_case all_reduce(abi::algorithm algorithm, std::uint64_t size_bytes, std::uint64_t chunk_bytes = 0)
{
    collective_case c;
    c.op = abi::collective_op::all_reduce;
    c.algo = algorithm;
    c.size_bytes = size_bytes;
    c.chunk_bytes = chunk_bytes;
    return c;
}

collective_case broadcast(std::uint32_t root, std::uint64_t size_bytes)
{
    collective_case c = all_reduce(abi::algorithm::mesh_tree, size_bytes);
    c.op = abi::collective_op::broadcast;
    c.root = root;
    return c;
}

train_choice chosen(std::uint32_t burst, const std::vector<train_hop>& hops)
{
    return choose_trains(packet_count(burst), limits({8, 8}, hops));
}

constexpr std::uint64_t k_large = 1ull << 34;

} // namespace

TEST_CASE("a step is 256 trains at least and single packets below 3072 packets", "[trains][fast]")
{
    const train_choice c = rack(1); // steps of 14
    CHECK(train_of(c, all_reduce(abi::algorithm::hierarchical, 14ull * 3071 * 1024)) == 1);
    CHECK(trains_of(c, all_reduce(abi::algorithm::hierarchical, 14ull * 3071 * 1024)).reason == "steps of fewer than 3072 packets");
    CHECK(train_of(c, all_reduce(abi::algorithm::hierarchical, 14ull * 3072 * 1024)) == 8); // 3072 / 256 = 12
    CHECK(train_of(c, all_reduce(abi::algorithm::hierarchical, 14ull * 4096 * 1024)) == 16);
    CHECK(train_of(c, all_reduce(abi::algorithm::hierarchical, 1ull << 40)) == 512);
    // 3x5 chips, 2 MiB in packets of 256 B, were 2.1 % off.
    CHECK(train_of(mesh(3, 5), all_reduce(abi::algorithm::two_d, 6ull * 1365 * 1024)) == 1);
}

TEST_CASE("rings that own their links go in trains from steps of 1024 packets on", "[trains][fast]")
{
    const auto steps = [](std::uint32_t parts, std::uint64_t packets) { return parts * packets * 1024; };
    CHECK(train_of(mesh(4, 4), all_reduce(abi::algorithm::ring_1d, steps(15, 1023))) == 1);
    CHECK(train_of(mesh(4, 4), all_reduce(abi::algorithm::ring_1d, steps(15, 1024))) == 8); // 1024 / 96 = 10
    CHECK(train_of(mesh(4, 4), all_reduce(abi::algorithm::row_pair, steps(10, 1024))) == 8);
    // 4x4 chips, 1 MiB in packets of 64 B: trains of 17 were 3.1 % off.
    CHECK(train_of(mesh(4, 4), all_reduce(abi::algorithm::row_pair, steps(10, 1638))) == 16);
    CHECK(train_of(mesh(4, 4), all_reduce(abi::algorithm::row_pair, steps(10, 3072))) == 32);
    CHECK(train_of(mesh(4, 4), all_reduce(abi::algorithm::row_pair, steps(10, 3264))) == 34);
    CHECK(train_of(mesh(4, 4), all_reduce(abi::algorithm::two_d, steps(6, 2048))) == 1);
    // The one pair of 2x7 chips was 2.6 % off, that of 6x2 and 8x2 chips 7.7 %.
    CHECK(train_of(mesh(2, 7), all_reduce(abi::algorithm::row_pair, steps(14, 3072))) == 1);
    CHECK(train_of(mesh(8, 2), all_reduce(abi::algorithm::row_pair_forward, steps(14, 30720))) == 1);
    CHECK(train_of(mesh(2, 7), all_reduce(abi::algorithm::ring_1d, steps(13, 3072))) == 32);
    CHECK(train_of(mesh(3, 7), all_reduce(abi::algorithm::row_pair, steps(15, 3071))) == 1);
    CHECK(train_of(mesh(3, 7), all_reduce(abi::algorithm::row_pair, steps(15, 3072))) == 32);
    // A line carries both directions of a ring on the same links.
    CHECK(train_of(mesh(1, 16), all_reduce(abi::algorithm::ring_1d, steps(15, 2048))) == 1);
}

TEST_CASE("where trains are spread steps of fewer than 3072 packets go in single packets", "[trains][fast]")
{
    const train_choice c = rack(7);
    CHECK(train_of(c, all_reduce(abi::algorithm::hierarchical, 32 << 20)) == 1); // the rack that was 8 % off
    CHECK(train_of(c, all_reduce(abi::algorithm::hierarchical, 14ull * 3071 * 1024)) == 1);
    CHECK(train_of(c, all_reduce(abi::algorithm::hierarchical, 14ull * 3072 * 1024)) == 64); // 3072 * 7 / 128 = 168, of which half in steps of one chunk
}

TEST_CASE("steps of fewer than two chunks have trains of half the length where they are spread", "[trains][fast]")
{
    // A rack with chunks of 8 MiB: 64 MiB was 2.6 % off in trains of 256.
    const auto c = [](std::uint64_t mib, std::uint64_t chunk_mib) {
        return all_reduce(abi::algorithm::hierarchical, mib << 20, chunk_mib << 20);
    };
    CHECK(train_of(rack(7), c(64, 8)) == 128);
    CHECK(train_of(rack(7), c(64, 2)) == 256); // 64 MiB / 14 are more than two of 2 MiB
    CHECK(train_of(rack(7), c(256, 8)) == 1024);
    CHECK(trains_of(rack(7), c(48, 4)).reason == "steps of fewer than two chunks");
}

TEST_CASE("dimensions that carry little of the bytes are no steps", "[trains][fast]")
{
    // On a SuperPod 63 of 64 bytes go inside racks: 256 MiB has the trains of a rack.
    const train_choice pods = choose_trains(packet_count(0), limits({8, 4, 4, 8, 8}, {buffer(512, 7)}));
    const collective_case c = all_reduce(abi::algorithm::hierarchical, 256 << 20, 8 << 20);
    CHECK(train_of(pods, c) == 1024);
    CHECK(train_of(pods, c) == train_of(rack(7), c));
    // Of 2 x 2 x 2 x 2 the last one carries a fifteenth.
    const train_choice twos = choose_trains(packet_count(0), limits({2, 2, 2, 2}, {buffer(512)}));
    CHECK(train_of(twos, all_reduce(abi::algorithm::hierarchical, 4ull * 4096 * 1024)) == 16);
    CHECK(train_of(twos, all_reduce(abi::algorithm::hierarchical, 4ull * 3071 * 1024)) == 1);
}

TEST_CASE("spread messages to one rank at a time go in single packets", "[trains][fast]")
{
    // 16 MiB on a board: halving and doubling was 26 % off, a ring 2.7 %.
    for (const abi::algorithm one_at_a_time : {abi::algorithm::ring_1d, abi::algorithm::halving_doubling}) {
        CHECK(train_of(rack(7), all_reduce(one_at_a_time, k_large)) == 1);
        CHECK(train_of(rack(1), all_reduce(one_at_a_time, k_large)) > 1);
        CHECK_FALSE(train_error_bound(rack(7), all_reduce(one_at_a_time, k_large), 64));
        CHECK(train_error_bound(rack(7), all_reduce(one_at_a_time, 4 << 10), 64) == 0); // messages of one packet
    }
    CHECK(trains_of(rack(7), all_reduce(abi::algorithm::ring_1d, k_large)).reason == "packets that are spread meet those of other ranks");
}

TEST_CASE("parts of one packet are no trains", "[trains][fast]")
{
    const train_choice c = choose_trains(packet_count(0), limits({1, 1, 1, 8, 8}, {buffer(1, 40)}));
    CHECK(c.packets == 1); // a buffer of 8 packets does not hold 8 parts of two
    CHECK(train_of(c, all_reduce(abi::algorithm::ring_1d, k_large)) == 1);
}

TEST_CASE("the shortest step of halving and doubling counts", "[trains][fast]")
{
    // Of 64 ranks the last exchange is of a 64th: 20 MiB over 8 NPUs in trains of a quarter of it were 2.4 % off.
    const train_choice c = rack(1);
    CHECK(train_of(c, all_reduce(abi::algorithm::halving_doubling, 64ull * 3071 * 1024)) == 1);
    CHECK(train_of(c, all_reduce(abi::algorithm::halving_doubling, 64ull * 3072 * 1024)) == 8);
}

TEST_CASE("single packets where many send to one at once or rings cross", "[trains][fast]")
{
    const train_choice c = rack(1);
    CHECK(train_of(c, all_reduce(abi::algorithm::direct, k_large)) == 1);
    CHECK(trains_of(c, all_reduce(abi::algorithm::direct, k_large)).reason == "many send to one at once");
    CHECK(trains_of(c, all_reduce(abi::algorithm::two_d, k_large)).reason == "rings that share links");
    CHECK(train_of(c, all_reduce(abi::algorithm::parameter_server, k_large)) == 1);
    CHECK(train_of(c, all_reduce(abi::algorithm::switchml, k_large)) == 1);
    CHECK(train_of(c, all_reduce(abi::algorithm::two_d, k_large)) == 1);
    CHECK(train_of(mesh(8, 8), all_reduce(abi::algorithm::two_d, k_large)) == 1024);
    // On a line, and in rings of two, both directions take the same links.
    CHECK(train_of(mesh(1, 8), all_reduce(abi::algorithm::two_d, k_large)) == 1);
    CHECK(train_of(mesh(2, 8), all_reduce(abi::algorithm::two_d, k_large)) == 1);
}

TEST_CASE("detours around what failed go in single packets but no ring", "[trains][fast]")
{
    train_limits g = limits({4, 8}, {buffer(2)});
    g.detours = true;
    const train_choice broken = choose_trains(packet_count(0), g);
    for (const abi::algorithm algorithm : {abi::algorithm::row_pair, abi::algorithm::row_pair_forward}) {
        const collective_case c = all_reduce(algorithm, 64 << 20);
        CHECK(trains_of(broken, c).packets == 1);
        CHECK(trains_of(broken, c).reason == "detours around what failed meet other streams");
        CHECK_FALSE(train_error_bound(broken, c, 2).has_value());
        CHECK(trains_of(choose_trains(packet_count(0), limits({4, 8}, {buffer(2)})), c).packets == 2);
    }
    CHECK(trains_of(broken, all_reduce(abi::algorithm::ring_1d, 512 << 20)).packets == 2);
}

TEST_CASE("around chips of one pair of rows long steps of row_pair go in trains", "[trains][fast]")
{
    train_limits g = limits({4, 8}, {buffer(2)});
    g.detours = g.one_pair_of_rows = true;
    const train_choice broken = choose_trains(packet_count(0), g);
    const std::uint64_t steps = 3 + 7 + 8;
    const collective_case short_steps = all_reduce(abi::algorithm::row_pair, steps * 8191 * 1024);
    CHECK(trains_of(broken, short_steps).packets == 1);
    CHECK(trains_of(broken, short_steps).reason == "steps of fewer than 8192 packets");
    CHECK_FALSE(train_error_bound(broken, short_steps, 2).has_value());
    collective_case c = all_reduce(abi::algorithm::row_pair, steps * 8192 * 1024);
    c.chunk_bytes = 2048 * 1024;
    CHECK(trains_of(broken, c).packets == 2);
    CHECK(train_error_bound(broken, c, 2).has_value());
    c.chunk_bytes = 5000 * 1024;
    CHECK(trains_of(broken, c).reason == "steps of fewer than two chunks");
    CHECK_FALSE(train_error_bound(broken, c, 2).has_value());
    c.chunk_bytes = 2047 * 1024;
    CHECK(trains_of(broken, c).reason == "chunks of fewer than 2048 packets");
    CHECK_FALSE(train_error_bound(broken, c, 2).has_value());
    c.chunk_bytes = 4096 * 1024;
    CHECK(trains_of(broken, c).packets == 2);
    c.transposed = true;
    CHECK(trains_of(broken, c).reason == "detours around what failed meet other streams");
    c = all_reduce(abi::algorithm::row_pair_forward, steps * 8192 * 1024);
    CHECK(trains_of(broken, c).reason == "detours around what failed meet other streams");
}

TEST_CASE("a step is 96 trains at least where streams have links of their own", "[trains][fast]")
{
    const train_choice c = mesh(8, 8, {train_hop{"some", 1 << 20, 10'000, 10'000, 8, 8, 1, 0}}); // two_d: steps of 14
    CHECK(train_of(c, all_reduce(abi::algorithm::two_d, 14ull * 9600 * 1024)) == 100);
    CHECK(train_of(c, all_reduce(abi::algorithm::two_d, 14ull * 3072 * 1024)) == 32);
    CHECK(train_of(mesh(1, 8, {train_hop{"some", 1 << 20, 10'000, 10'000, 8, 8, 1, 0}}),
                   all_reduce(abi::algorithm::ring_1d, 7ull * 9600 * 1024)) == 32); // a line: 9600 / 256 = 37
}

TEST_CASE("a train is an eighth of a chunk and a thirty-second of one that trees forward", "[trains][fast]")
{
    const train_choice c = rack(1);
    CHECK(train_of(c, all_reduce(abi::algorithm::ring_1d, k_large, 256 << 10)) == 32);
    CHECK(train_of(c, all_reduce(abi::algorithm::mesh_tree, k_large, 256 << 10)) == 8);
    CHECK(train_of(c, all_reduce(abi::algorithm::ring_1d, k_large, 4 << 10)) == 1);
    CHECK(trains_of(c, all_reduce(abi::algorithm::ring_1d, k_large, 64 << 10)).reason == "the length of a chunk");
}

TEST_CASE("lengths are powers of two but for streams with links of their own", "[trains][fast]")
{
    const train_hop hop{"some", 14 * 8, 10'000, 10'000, 8, 8, 1, 0};
    CHECK(chosen(0, {hop}).packets == 8); // what can occur is what is said
    const train_choice own = mesh(8, 8, {hop});
    CHECK(own.packets == 14);
    CHECK(train_of(own, all_reduce(abi::algorithm::ring_1d, k_large)) == 14);
    // Two ranks share ports.
    collective_case pairs = all_reduce(abi::algorithm::ring_1d, k_large);
    pairs.ranks_per_group = 2;
    CHECK(train_of(own, pairs) == 8);
}

TEST_CASE("broadcasts by several trees of a mesh go in single packets", "[trains][fast]")
{
    for (const std::uint32_t root : {0u, 1u, 27u, 63u})
        CHECK(trains_of(mesh(8, 8), broadcast(root, k_large)).reason == "trees that share local ports");
    CHECK(train_of(rack(1), broadcast(27, k_large)) > 1); // a full mesh: one stream for each link
}

TEST_CASE("a stream with links of its own may fill a buffer that others share in eighths", "[trains][fast]")
{
    const train_hop hop{"some", 64, 10'000, 10'000, 8, 2, 1, 0};
    CHECK(mesh(8, 8, {hop}).packets == 32);
    CHECK(train_of(mesh(8, 8, {hop}), all_reduce(abi::algorithm::ring_1d, k_large)) == 32);
}

TEST_CASE("the shallowest buffer sets the length and is named", "[trains][fast]")
{
    const train_choice deep = chosen(0, {});
    CHECK(deep.packets == 1024);
    CHECK(text_of(deep) == "trains of up to 1024 packets in long messages, else single packets (auto: longer ones save no time)");

    const train_choice shallow = chosen(0, {buffer(32), buffer(16)});
    CHECK(shallow.packets == 16);
    CHECK(shallow.reason == "ici.buffer_per_vl = some sets the length");

    const train_choice none = chosen(0, {buffer(1)});
    CHECK(none.packets == 1);
    CHECK(text_of(none) ==
          "single packets (auto: too small for trains: ici.buffer_per_vl = some (8 packets, about 16 needed))");
}

TEST_CASE("DMA engines set a length by read-ahead over the latency of memory and by what they receive",
          "[trains][fast]")
{
    dma_config dma;
    dma.read_ahead = 64;
    dma.receive_buffer = 64_MiB;
    hbm_config memory;
    memory.latency = duration(120'000);
    memory.rate = bandwidth(7'200'000'000'000);
    packet_format format;
    format.max_payload_bytes = 256;
    const bandwidth links(4 * 656'000'000'000ull);
    const auto reads = [&](std::uint32_t packets) {
        return train_streams(dma_hops(dma, memory, format, 3'317, links, 1, "chip", "chip.hbm").front(), packets);
    };
    CHECK(reads(14)); // the shipped mesh
    // 28 slots in trains of 14, where 40 cover the latency: 39 % late before this was looked at.
    dma.read_ahead = 41;
    CHECK_FALSE(reads(14));
    CHECK(reads(1));
    // Four trains of 14 cover 180 ns, but not the time that reading them takes: 4 % late.
    dma.read_ahead = 64;
    memory.latency = duration(180'000);
    CHECK_FALSE(reads(14));
    CHECK(reads(4));
    const std::vector<train_hop> hops = dma_hops(dma, memory, format, 3'317, links, 1, "chip", "chip.hbm");
    CHECK(hops[0].buffer == "chip.dma.read_ahead = 64 over chip.hbm.latency = 180 ns");
    CHECK(hops[1].buffer == "chip.dma.receive_buffer = 64 MiB");
}

TEST_CASE("a stream that waits for credits gets trains that do not round its window down", "[trains][fast]")
{
    // 100 packets of 10 ns. A train waits for credits of its own length: 12 more than a round trip of 860 ns fill eight trains of 12.
    train_hop h{"window", 100, 10'000, 10'000, 8, 8, 1, 850'000};
    CHECK(train_streams(h, 12));
    CHECK(mesh(8, 8, {h}).packets == 12);
    h.round_trip_ps = 870'000;
    CHECK_FALSE(train_streams(h, 12));
    CHECK(mesh(8, 8, {h}).packets == 11); // of which nine are 99 packets
    // What sets the length of a case in the end is looked at again: 64 would do, a step's 96th of 23 rounds the window down.
    const train_hop odd{"window", 64, 10'000, 10'000, 1, 1, 1, 250'000};
    const train_choice c = mesh(8, 8, {odd});
    REQUIRE(c.packets > 21);
    const std::uint32_t n = train_of(c, all_reduce(abi::algorithm::ring_1d, 63ull * 23 * 96 * 1024));
    CHECK(n <= 23);
    CHECK(train_streams(odd, n));
}

TEST_CASE("machines without a bound get single packets and users who set trains are told", "[trains][fast]")
{
    const std::vector<collective_case> large{all_reduce(abi::algorithm::ring_1d, k_large)};
    const std::vector<collective_case> both{large.front(), all_reduce(abi::algorithm::ring_1d, 1 << 20)};
    const auto warning = [](std::uint32_t burst, const train_limits& g, const std::vector<collective_case>& cases) {
        return train_warning(choose_trains(packet_count(burst), g), packet_count(burst), cases);
    };
    train_limits g = limits({8, 8});
    g.single = "links have bit errors";
    CHECK(choose_trains(packet_count(16), g).packets == 1);
    CHECK(warning(16, g, large) == "is 16 packets, but links have bit errors: single packets are simulated.");

    g.single = "";
    g.no_bound = "queues decide";
    CHECK(choose_trains(packet_count(0), g).packets == 1);
    CHECK(choose_trains(packet_count(0), g).reason == "queues decide");
    CHECK(choose_trains(packet_count(16), g).packets == 16);
    CHECK(warning(16, g, large) == "is 16 packets. Of all_reduce by ring_1d of 16 GiB, times may be off by more than any bound tells; "
                                   "burst: auto takes single packets (queues decide) there.");

    // A step of 16 packets, of which one late by five trains of 16 is late by five steps.
    CHECK(warning(16, limits({8, 8}), both) ==
          "is 16 packets. Of all_reduce by ring_1d of 1 MiB, times may be off by up to 504 %, by the bound of docs/adr/0003; "
          "burst: auto takes single packets (steps of fewer than 3072 packets) there.");
    CHECK(warning(16, limits({8, 8}), large).empty()); // within the stated error
    CHECK(warning(0, limits({8, 8}), both).empty());
    CHECK(warning(1, limits({8, 8}), both).empty());

    const train_limits shallow = limits({8, 8}, {buffer(16)});
    CHECK(choose_trains(packet_count(1000), shallow).packets == 128);
    CHECK(warning(1000, shallow, large).find("ici.buffer_per_vl = some holds no more than 128, which are simulated") != std::string::npos);

    CHECK(choose_trains(packet_count(1), g).packets == 1);
}

TEST_CASE("memory that nearly sets the pace is named with what it would take", "[trains][fast]")
{
    CHECK(memory_sets_the_pace(bandwidth(300'000'000'000), bandwidth(100'000'000'000), "hbm.rate").empty());
    CHECK(memory_sets_the_pace(bandwidth(226'000'000'000), bandwidth(100'000'000'000), "hbm.rate") ==
          "hbm.rate = 226 Gbps is below 3 times the links of a chip, 100 Gbps together, and can set the pace");
    CHECK(memory_sets_the_pace(bandwidth(226'000'000'000), bandwidth(100'000'000'000), "hbm.rate", true).empty());
}

TEST_CASE("cores that take half as long for a message as a link set the pace", "[trains][fast]")
{
    train_limits g = limits({4, 5}, {buffer(512)});
    g.own_links = true;
    g.packet_ps = 10'000;
    const auto with_message = [&](std::uint64_t message_ps) {
        g.message_ps = message_ps;
        return trains_of(choose_trains(packet_count(0), g), all_reduce(abi::algorithm::ring_1d, 64 << 20, 256 << 10));
    };
    CHECK(with_message(1'280'000).packets > 1); // 256 packets of a chunk take 2.56 us
    CHECK(with_message(1'280'001).packets == 1);
    CHECK(with_message(1'280'001).reason == "cores take about as long for messages as links");
}

TEST_CASE("trees around failed NPUs go in single packets", "[trains][fast]")
{
    train_limits g = limits({1, 1, 1, 4, 4}, {buffer(512)});
    CHECK(train_of(choose_trains(packet_count(0), g), broadcast(0, 256 << 20)) > 1);
    g.gaps = true;
    CHECK(train_of(choose_trains(packet_count(0), g), broadcast(0, 256 << 20)) == 1);
    CHECK(train_of(choose_trains(packet_count(0), g), all_reduce(abi::algorithm::hierarchical, 256 << 20)) > 1);
}
