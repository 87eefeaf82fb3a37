// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// all_reduce between ranks on a switched network: rings, halving-doubling and parameter servers. Exact answers under random
// interleaving, exact volumes, and what is refused.
#include <catch2/catch.hpp>

#include "firmware/collectives/supports.h"
#include "testbenches/firmware/loopback_world.h"

using namespace weft;
using namespace weft::testing;
using abi::algorithm;
using abi::collective_op;
using abi::element_type;
using abi::reduce_op;
using abi::status_code;

namespace {

world_options switched(std::uint32_t ranks, std::uint32_t seed, std::uint32_t servers = 0)
{
    world_options o;
    o.servers = servers;
    o.rows = 1;
    o.cols = ranks;
    o.switched = true;
    o.seed = seed;
    return o;
}

abi::command make(algorithm algo, std::uint64_t count, std::uint64_t chunk_bytes)
{
    abi::command c;
    c.algo = algo;
    c.count = count;
    c.chunk_bytes = chunk_bytes;
    return c;
}

constexpr algorithm k_algorithms[] = {algorithm::ring_1d, algorithm::halving_doubling, algorithm::parameter_server};

} // namespace

TEST_CASE("switched: sums are right for every size and number of ranks")
{
    std::uint32_t seed = 0;
    for (const std::uint32_t ranks : {1u, 2u, 3u, 4u, 7u, 8u, 16u})
        for (const algorithm algo : k_algorithms) {
            if (algo == algorithm::halving_doubling && (ranks & (ranks - 1)) != 0)
                continue;
            std::vector<abi::command> commands;
            for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{ranks},
                                              std::uint64_t{ranks + 1}, std::uint64_t{1000}, std::uint64_t{12345}})
                commands.push_back(make(algo, count, count < 100 ? 4 : count / 10));
            INFO("ranks " << ranks << " algo " << int(algo));
            REQUIRE(run_all(switched(ranks, ++seed), commands) == "");
        }
}

TEST_CASE("switched: servers on machines of their own")
{
    std::uint32_t seed = 50;
    for (const auto& [workers, servers] : {std::pair{1u, 1u}, {4u, 4u}, {5u, 2u}, {2u, 5u}, {8u, 8u}}) {
        std::vector<abi::command> commands;
        for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{4000}})
            commands.push_back(make(algorithm::parameter_server, count, 300));
        INFO("workers " << workers << " servers " << servers);
        REQUIRE(run_all(switched(workers + servers, ++seed, servers), commands) == "");
    }
}

TEST_CASE("switched: every type and reduction mixed and back to back with ranks that stand still")
{
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
        std::mt19937 engine(seed);
        const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
        const std::uint32_t ranks = 2u << random() % 3;
        world_options o = switched(ranks, seed, seed % 3 == 0 ? ranks / 2 : 0);
        o.queues = 1 + random() % 5;
        o.ring_entries = 1u << random() % 5;
        o.ports = 1 + random() % 2;
        o.freeze_one_in = seed % 2 == 0 ? 3 : 0;
        std::vector<abi::command> commands;
        for (unsigned i = 0; i < 25; ++i) {
            abi::command c =
                make(k_algorithms[random() % 3], random() % 3 == 0 ? random() % 300 : random() % 6, 4 + random() % 60);
            const std::uint32_t kind = random() % 6;
            if (kind == 0) {
                c.algo = algorithm::direct;
                c.op = collective_op::all_to_all;
            } else if (kind == 1) {
                c.algo = algorithm::ring_1d;
                c.op = random() % 2 == 0 ? collective_op::reduce_scatter : collective_op::all_gather;
                c.transposed = random() % 2;
            } else if (kind == 2) {
                c.algo = algorithm::mesh_tree;
                c.op = collective_op::broadcast;
                c.root = random() % ranks;
            }
            c.type = static_cast<element_type>(random() % k_types_in_memory);
            c.redop = c.algo == algorithm::parameter_server && (o.servers != 0 || random() % 2 == 0)
                          ? reduce_op::sum
                          : static_cast<reduce_op>(1 + random() % 3);
            commands.push_back(c);
        }
        INFO("seed " << seed);
        REQUIRE(run_all(o, commands) == "");
    }
}

TEST_CASE("switched: volumes are 4|U|(n-1)/n and 2|U| for a worker of dedicated servers")
{
    for (const std::uint32_t n : {2u, 4u, 8u})
        for (const algorithm algo : k_algorithms) {
            const std::uint64_t count = 2 * n * 60;
            world w(switched(n, n));
            w.add(make(algo, count, 64));
            w.run();
            REQUIRE(w.problems() == "");
            for (std::uint32_t r = 0; r < n; ++r) {
                CHECK(w.bytes_sent(r) == 2 * count * 4 * (n - 1) / n);
                CHECK(w.bytes_received(r) == 2 * count * 4 * (n - 1) / n);
            }
        }
    world w(switched(8, 3, 4));
    w.add(make(algorithm::parameter_server, 4000, 256));
    w.run();
    REQUIRE(w.problems() == "");
    for (std::uint32_t r = 0; r < 8; ++r) {
        CHECK(w.bytes_sent(r) == 4000 * 4);
        CHECK(w.bytes_received(r) == 4000 * 4);
    }
}

TEST_CASE("switched: losing any one message ends in a timeout")
{
    for (const algorithm algo : k_algorithms)
        for (std::uint64_t n = 1;; ++n) {
            world_options o = switched(4, 9);
            o.drop_message = n;
            world w(o);
            w.add(make(algo, 40, 16));
            w.run();
            if (w.messages() < n)
                break;
            unsigned timeouts = 0;
            for (std::uint32_t r = 0; r < 4; ++r) {
                REQUIRE(w.responses(r).size() == 1);
                const abi::response& a = w.responses(r)[0];
                REQUIRE((a.code == status_code::ok || a.code == status_code::timeout));
                timeouts += a.code == status_code::timeout ? 1 : 0;
            }
            INFO("algo " << int(algo) << " message " << n);
            CHECK(timeouts > 0);
        }
}

TEST_CASE("switched: refusals")
{
    const auto refusal = [](algorithm algo, std::uint32_t ranks, bool closes, std::uint32_t dims = 1) {
        abi::platform_table t;
        t.ranks = ranks;
        t.dim_count = dims;
        t.dims[0] = dims == 1 ? ranks : 2;
        t.dims[1] = dims == 1 ? 0 : ranks / 2;
        t.kind[0] = closes ? abi::dimension_kind::switched : abi::dimension_kind::line;
        const char* why = nullptr;
        firmware::supports(collective_op::all_reduce, algo, t, false, &why);
        return std::string(why);
    };
    for (const std::uint32_t ranks : {2u, 3u, 5u, 32u}) {
        CHECK(refusal(algorithm::ring_1d, ranks, true).empty());
        CHECK(refusal(algorithm::parameter_server, ranks, true).empty());
    }
    CHECK(refusal(algorithm::halving_doubling, 256, true).empty());
    CHECK(refusal(algorithm::halving_doubling, 512, true) == "halving_doubling is limited to 256 ranks");
    CHECK(refusal(algorithm::halving_doubling, 6, true) ==
          "halving_doubling needs a number of ranks that is a power of two");
    CHECK(refusal(algorithm::halving_doubling, 8, false) ==
          "halving_doubling needs a switched network or one full mesh");
    CHECK(refusal(algorithm::halving_doubling, 8, true, 2) ==
          "halving_doubling needs a switched network or one full mesh");
    CHECK(refusal(algorithm::parameter_server, 8, false) ==
          "parameter_server needs a switched network, or one full mesh, of up to 16384 ranks");
    CHECK(refusal(algorithm::ring_1d, 8, false) ==
          "ring_1d needs an even number of rows or columns and at least 2 of each");

    world w(switched(4, 1, 4));
    w.add(make(algorithm::parameter_server, 10, 16)); // nobody left to work
    w.add(make(algorithm::switchml, 10, 16));
    w.add(make(algorithm::halving_doubling, 10, 16));
    w.run();
    for (std::uint32_t r = 0; r < 4; ++r) {
        REQUIRE(w.responses(r).size() == 3);
        CHECK(w.responses(r)[0].code == status_code::bad_command);
        CHECK(std::string(w.responses(r)[0].where) == "table.servers");
        CHECK(w.responses(r)[1].code == status_code::unsupported);
        CHECK(w.responses(r)[2].code == status_code::ok);
    }
}
