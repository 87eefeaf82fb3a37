// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Lengths of trains: which limit sets them, what is said about it, and which cases go in single packets. docs/adr/0003.
#include "platforms/workload/train_choice.h"

#include <catch2/catch.hpp>

#include <string>

using namespace weft;
using namespace weft::literals;

namespace {

/// A rack of 8 boards of 8, spread over `paths`, with trains of up to 512 packets of 1 KiB.
train_choice rack(std::uint32_t paths)
{
    train_choice c;
    c.packets = 512;
    c.trains_a_step = paths > 1 ? 128 : 256;
    c.paths = paths;
    c.packet_payload = 1024;
    c.sides = {1, 1, 1, 8, 8};
    return c;
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

dma_config deep_dma()
{
    dma_config dma;
    dma.read_ahead = 4096;
    dma.receive_buffer = 64_MiB;
    return dma;
}

packet_format frames()
{
    packet_format f;
    f.max_payload_bytes = 1024;
    return f;
}

train_choice chosen(std::uint32_t burst, const std::vector<train_hop>& hops, const dma_config& dma = deep_dma(),
                    const std::string& single = "", const std::string& no_bound = "")
{
    return choose_trains(packet_count(burst), hops, dma, frames(), "chip.dma", single, no_bound);
}

/// A buffer that shortens trains to `packets`.
train_hop buffer(std::uint32_t packets, std::uint32_t paths = 1)
{
    return {"ici.buffer_per_vl = some", 8ull * packets, 10'000, 10'000, 8, paths, 0};
}

} // namespace

TEST_CASE("a step is 256 trains at least, and single packets below 1,024 packets", "[trains][fast]")
{
    // Steps of 14, so 1,024 packets of a step are 14,336 KiB.
    const train_choice c = rack(1);
    CHECK(train_of(c, all_reduce(abi::algorithm::hierarchical, 14335 * 1024)) == 1);
    CHECK(train_of(c, all_reduce(abi::algorithm::hierarchical, 14336 * 1024)) == 4);
    CHECK(train_of(c, all_reduce(abi::algorithm::hierarchical, 14336 * 1024 * 4)) == 16);
    CHECK(train_of(c, all_reduce(abi::algorithm::hierarchical, 1ull << 40)) == 512);
}

TEST_CASE("where trains are spread, hierarchical goes in single packets below 3,072 packets of a step", "[trains][fast]")
{
    const train_choice c = rack(7);
    CHECK(train_of(c, all_reduce(abi::algorithm::hierarchical, 32 << 20)) == 1); // the rack that was 8 % off
    CHECK(train_of(c, all_reduce(abi::algorithm::hierarchical, 14ull * 3071 * 1024)) == 1);
    CHECK(train_of(c, all_reduce(abi::algorithm::hierarchical, 14ull * 3072 * 1024)) == 128); // 3072 * 7 / 128 = 168
    // A ring's step of 63: the general limit.
    CHECK(train_of(c, all_reduce(abi::algorithm::ring_1d, 63ull * 1023 * 1024)) == 1);
    CHECK(train_of(c, all_reduce(abi::algorithm::ring_1d, 63ull * 1024 * 1024)) == 32);
}

TEST_CASE("parts of one packet are no trains", "[trains][fast]")
{
    train_choice c = rack(40);
    c.packets = 64; // less than two packets on each path
    CHECK(train_of(c, all_reduce(abi::algorithm::ring_1d, 1ull << 34)) == 1);
}

TEST_CASE("single packets where many send to one at once", "[trains][fast]")
{
    const train_choice c = rack(1);
    const std::uint64_t large = 1ull << 34;
    CHECK(train_of(c, all_reduce(abi::algorithm::direct, large)) == 1);
    CHECK(train_of(c, all_reduce(abi::algorithm::parameter_server, large)) == 1);
    CHECK(train_of(c, all_reduce(abi::algorithm::switchml, large)) == 1);
    CHECK(train_of(c, all_reduce(abi::algorithm::two_d, large)) == 1);
    train_choice mesh = c;
    mesh.own_links = true;
    CHECK(train_of(mesh, all_reduce(abi::algorithm::two_d, large)) == 512);
}

TEST_CASE("a train is an eighth of a chunk, a thirty-second of one that trees forward", "[trains][fast]")
{
    const train_choice c = rack(1);
    const std::uint64_t large = 1ull << 34;
    CHECK(train_of(c, all_reduce(abi::algorithm::ring_1d, large, 256 << 10)) == 32);
    CHECK(train_of(c, all_reduce(abi::algorithm::mesh_tree, large, 256 << 10)) == 8);
    CHECK(train_of(c, all_reduce(abi::algorithm::ring_1d, large, 4 << 10)) == 1);
}

TEST_CASE("lengths are powers of two but for streams with links of their own", "[trains][fast]")
{
    train_choice c = rack(1);
    c.packets = 14;
    CHECK(train_of(c, all_reduce(abi::algorithm::ring_1d, 1ull << 34)) == 8);
    c.own_links = true;
    CHECK(train_of(c, all_reduce(abi::algorithm::ring_1d, 1ull << 34)) == 14);
}

TEST_CASE("the shallowest buffer sets the length, and is named", "[trains][fast]")
{
    const train_choice deep = chosen(0, {});
    CHECK(deep.packets == 512);
    CHECK(text_of(deep) == "trains of up to 512 packets in long messages, else single packets (auto: longer ones save no time)");

    const train_choice shallow = chosen(0, {buffer(20), buffer(16)});
    CHECK(shallow.packets == 16);
    CHECK(shallow.reason == "ici.buffer_per_vl = some sets the length");

    const train_choice none = chosen(0, {buffer(1)});
    CHECK(none.packets == 1);
    CHECK(text_of(none) == "single packets (auto: ici.buffer_per_vl = some is too small for trains)");

    dma_config dma = deep_dma();
    dma.read_ahead = 32;
    CHECK(chosen(0, {}, dma).reason == "chip.dma.read_ahead = 32 sets the length");
    CHECK(chosen(0, {}, dma).packets == 16);
    CHECK(chosen(0, {buffer(100, 4)}, dma).packets == 8); // half of it where trains are spread
}

TEST_CASE("a stream that waits for credits gets trains that do not round its window down", "[trains][fast]")
{
    // 100 packets of 10 ns, of which a round trip of 960 ns needs 96: eight trains of 12. One of 1000 ns needs all: ten of 10.
    train_hop h{"window", 100, 10'000, 10'000, 8, 1, 960'000};
    CHECK(train_streams(h, 12));
    CHECK(chosen(0, {h}).packets == 12);
    h.round_trip_ps = 1'000'000;
    CHECK_FALSE(train_streams(h, 12));
    CHECK_FALSE(train_streams(h, 11));
    CHECK(chosen(0, {h}).packets == 10);
}

TEST_CASE("machines without a bound get single packets, and users who set trains are told", "[trains][fast]")
{
    const train_choice single = chosen(16, {}, deep_dma(), "links have bit errors");
    CHECK(single.packets == 1);
    CHECK(single.told == "is 16 packets, but links have bit errors: single packets are simulated.");

    const train_choice unknown = chosen(0, {}, deep_dma(), "", "memory sets the pace");
    CHECK(unknown.packets == 1);
    CHECK(unknown.reason == "memory sets the pace");

    const train_choice dared = chosen(16, {}, deep_dma(), "", "memory sets the pace");
    CHECK(dared.packets == 16);
    CHECK(dared.told.find("burst: auto would take single packets (memory sets the pace)") != std::string::npos);

    const train_choice too_long = chosen(1000, {buffer(16)});
    CHECK(too_long.packets == 128);
    CHECK(too_long.told.find("ici.buffer_per_vl = some holds no more than 128, which are simulated") != std::string::npos);
    CHECK(too_long.told.find("trains of up to 16") != std::string::npos);

    CHECK(chosen(1, {}).told.empty());
    CHECK(chosen(1, {}).packets == 1);
}
