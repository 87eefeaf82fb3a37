// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables on the way of packets whose headers leave hops to them, under load: the same ways, the same times but for lookups.
#include "testbenches/support/ub_patterns.h"

#include <catch2/catch.hpp>

#include <memory>

using namespace weft;
using namespace weft::testing;

namespace {

struct result {
    std::uint64_t last_ps = 0, hops = 0, table_hops = 0, received = 0;
    std::string complaint;
};

/// Uniform traffic of a rack, or of two racks with HRS, in worlds side by side.
struct worlds {
    std::vector<std::unique_ptr<ub_ways>> ways;
    std::vector<std::unique_ptr<ub_world>> all;

    void add(const ub_shape& shape, ub_source_routing routing, std::uint64_t lookup_ps, bool voq)
    {
        ways.push_back(std::make_unique<ub_ways>(shape, true, true, routing == ub_source_routing::differing));
        ub_config config;
        config.source_routing = routing;
        config.table_lookup = duration(lookup_ps);
        config.voq = voq;
        ub_load load;
        load.packets_each = 150;
        load.destinations = uniform(ways.back()->topology->endpoints(), 150, 9);
        all.push_back(std::make_unique<ub_world>(*ways.back(), config, load, std::to_string(all.size())));
    }
    std::vector<result> run()
    {
        sc_core::sc_start();
        std::vector<result> found;
        for (auto& w : all) {
            const fabric_engine& e = w->fabric.engine();
            found.push_back({w->traffic.last_arrival_ps(), e.packet_hops(), e.table_hops(), w->traffic.received(), w->complaint()});
        }
        return found;
    }
};

} // namespace

TEST_CASE("mixed headers and tables lead packets as headers alone do at the same times while lookups take none")
{
    worlds w;
    const ub_shape shapes[] = {ub_rack(4, 4), ub_rack(4, 4, 1, 3, 1, true)};
    for (const ub_shape& s : shapes) {
        w.add(s, ub_source_routing::all, 0, true);
        w.add(s, ub_source_routing::differing, 0, true);
        w.add(s, ub_source_routing::differing, 40'000, true);
        w.add(s, ub_source_routing::differing, 40'000, false);
    }
    const std::vector<result> r = w.run();
    for (std::size_t i = 0; i < r.size(); i += 4) {
        for (std::size_t k = 0; k < 4; ++k) {
            INFO(r[i + k].complaint);
            CHECK(r[i + k].complaint.empty());
            CHECK(r[i + k].received == r[i].received);
        }
        CHECK(r[i].hops == r[i + 1].hops);
        CHECK(r[i].last_ps == r[i + 1].last_ps);
        CHECK(r[i].table_hops < r[i].hops / 10); // none but those of CPUs, NICs and paths of more than six hops
        CHECK(r[i + 1].table_hops > r[i].hops / 4);
        CHECK(r[i + 1].table_hops < r[i].hops);
        CHECK(r[i + 2].last_ps > r[i].last_ps);
    }
}
