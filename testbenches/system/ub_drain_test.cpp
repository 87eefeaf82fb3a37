// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Full load on a rack of 64 NPUs and on a pod of 16 racks, with CPUs and NICs, two lanes a class and the smallest
// buffers: all drains.
#include "testbenches/support/ub_patterns.h"

#include <catch2/catch.hpp>

#include <cstdio>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

void drains(const char* name, const ub_ways& ways, ub_config config, ub_load load)
{
    config.buffer_per_vl = data_size(0); // two packets
    config.buffers_cover_round_trip = false;
    const ub_outcome o = run_ub(ways, config, load);
    INFO(name << ", " << name_of(config.paths) << ", " << name_of(config.choice) << ", " << name_of(config.transport)
              << ": " << o.complaint.str());
    CHECK(o.complaint.str() == "");
    CHECK(o.sent > 0);
    CHECK(o.received == o.sent);
    std::printf("%-20s %-8s %-8s %s: %9llu packets, %9llu hops, drained at %llu us\n", name, name_of(config.paths),
                name_of(config.choice), name_of(config.transport), static_cast<unsigned long long>(o.sent),
                static_cast<unsigned long long>(o.hops), static_cast<unsigned long long>(o.end_ps / 1'000'000));
}

void every_pattern(const ub_ways& ways, std::uint64_t packets, const std::vector<ub_transport>& transports)
{
    const ub_shape& s = ways.topology->shape();
    const std::uint32_t n = s.ranks(), all = ways.topology->endpoints();
    const std::uint32_t next_rack = s.rack_cols > 1 ? 1 : 0;
    const std::vector<std::pair<const char*, ub_destinations>> patterns = {
        {"uniform", uniform(all, packets, 1)},
        {"permutation", permutation(n, 2)},
        {"hot spot", hot_spot(n, packets, {n / 3}, 3)},
        {"diagonal", fixed(n, shifted(s, {0, next_rack, next_rack, 1, 1}))},
        {"board to board", board_to_board(s, 0, s.boards - 1)},
        {"next rack", fixed(n, shifted(s, {0, 0, next_rack, 1 - next_rack, 0}))}};
    for (const auto& [name, destinations] : patterns)
        for (const ub_transport transport : transports)
            for (const auto& [use, choice] : {std::make_pair(ub_path_use::all, ub_choice::weighted),
                                              std::make_pair(ub_path_use::all, ub_choice::adaptive),
                                              std::make_pair(ub_path_use::shortest, ub_choice::weighted)}) {
                ub_config config;
                config.paths = use;
                config.choice = choice;
                config.transport = transport;
                ub_load load;
                load.destinations = destinations;
                load.packets_each = packets;
                load.answers = choice == ub_choice::adaptive; // requests and responses together
                load.receive_cells = 64;
                drains(name, ways, config, load);
            }
}

} // namespace

TEST_CASE("a rack under full load drains whatever the pattern and the choice of paths and the transport")
{
    every_pattern(ub_ways(ub_rack()), 100, {ub_transport::ctp, ub_transport::rtp});
}

TEST_CASE("a pod of 16 racks of 64 NPUs under full load drains whatever the pattern and the choice of paths")
{
    every_pattern(ub_ways(ub_rack(8, 8, 4, 4, 1, true)), 16, {ub_transport::ctp});
}
