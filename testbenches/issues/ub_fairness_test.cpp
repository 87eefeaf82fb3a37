// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Who sends into a crowd gets a share: relayed packets go before those that enter, but not for ever.
#include "testbenches/support/ub_patterns.h"

#include <catch2/catch.hpp>

#include <cstdio>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

struct shares {
    double all = 0; ///< GB/s of payload into the hot NPU
    double least = 1e9, mean = 0;
    double least_neighbour = 1e9, most_neighbour = 0;
    child_text complaint;
};

/// All NPUs of a rack send to the first one, without a pause.
shares into_one(const ub_config& config, std::uint64_t from_ps, std::uint64_t to_ps)
{
    const ub_shape s = ub_rack();
    const ub_ways ways(s, config.paths != ub_path_use::shortest, false);
    ub_load load;
    load.destinations.resize(s.ranks());
    for (std::uint32_t r = 1; r < s.ranks(); ++r)
        load.destinations[r] = {0};
    // A link of 420 Gb/s carries a packet in 21 ns; a hot NPU has 14 of them, and 16 lanes to the LRS.
    load.packets_each = to_ps / 21'000 * 20 / s.ranks() * 4;
    load.from_ps = from_ps;
    load.to_ps = to_ps;
    return in_child<shares>([&] {
        ub_world w(ways, config, load);
        sc_core::sc_start(sc_core::sc_time(static_cast<double>(to_ps), sc_core::SC_PS));
        shares found;
        for (std::uint32_t r = 1; r < s.ranks(); ++r) {
            const double rate =
                static_cast<double>(w.traffic.counted_bytes(r)) / static_cast<double>(to_ps - from_ps) * 1e3;
            found.all += rate;
            found.least = std::min(found.least, rate);
            if (r < s.npus || r % s.npus == 0) {
                found.least_neighbour = std::min(found.least_neighbour, rate);
                found.most_neighbour = std::max(found.most_neighbour, rate);
            }
        }
        found.mean = found.all / (s.ranks() - 1);
        return found;
    });
}

void print(const char* what, const shares& s)
{
    std::printf(
        "hot spot, %-24s %7.1f GB/s in all, mean %.2f, least %.2f (%.0f %% of the mean); neighbours %.2f to %.2f\n",
        what, s.all, s.mean, s.least, 100 * s.least / s.mean, s.least_neighbour, s.most_neighbour);
}

} // namespace

TEST_CASE("all NPUs that send into one hot NPU get a share", "[ub]")
{
    for (const bool shortest : {true, false}) {
        ub_config config;
        config.paths = shortest ? ub_path_use::shortest : ub_path_use::all;
        const shares s = into_one(config, 60'000'000, 160'000'000);
        print(shortest ? "shortest" : "all paths", s);
        CHECK(s.complaint.str() == "");
        CHECK(s.all > 0.95 * 684); // the 14 links into it are busy as before
        // A share is the queue of a source over the time in it, and neighbours wait longer by the patience of the arbiter
        // (fabric_engine.cpp): 12 us in 23. Those with fewer ways out have fewer queues and get less: neighbours have one port of shortest
        // paths, others two, so by queues alone they get half; the patience makes it 0.37.
        CHECK(s.least > (shortest ? 0.35 : 0.25) * s.mean);
    }
}
