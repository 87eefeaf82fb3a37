// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Full load on small UB-Mesh machines with two lanes a class and buffers of two packets: everything arrives once.
#include "testbenches/support/ub_proof_of.h"
#include "testbenches/support/ub_patterns.h"

#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

ub_config tight()
{
    ub_config c;
    c.buffer_per_vl = data_size(0); // then two packets, the least
    c.buffers_cover_round_trip = false;
    return c;
}

void drains(const ub_ways& ways, const ub_config& config, const ub_load& load)
{
    const ub_outcome o = run_ub(ways, config, load);
    INFO(o.complaint.str());
    CHECK(o.complaint.str() == "");
    CHECK(o.sent > 0);
    CHECK(o.received == o.sent);
}

} // namespace

TEST_CASE("UB under full load: a rack of 4 x 4 drains by all paths")
{
    const ub_ways ways(ub_rack(4, 4));
    const std::uint32_t all = ways.topology->endpoints();
    ub_load load;
    load.packets_each = 200;
    load.stall_below_ps = 300'000;
    for (const auto& d :
         {uniform(all, 200, 1), permutation(16, 2), hot_spot(16, 200, {5}, 3),
          fixed(16, shifted(ways.topology->shape(), {0, 0, 0, 1, 1})), board_to_board(ways.topology->shape(), 0, 1)})
        for (const auto choice : {ub_choice::weighted, ub_choice::adaptive}) {
            ub_config config = tight();
            config.choice = choice;
            load.destinations = d;
            drains(ways, config, load);
        }
}

TEST_CASE("UB under full load: requests with answers drain with end to end transport or not")
{
    const ub_ways ways(ub_rack(4, 4));
    ub_load load;
    load.packets_each = 150;
    load.answers = true;
    load.receive_cells = 32; // a few requests
    for (const auto transport : {ub_transport::ctp, ub_transport::rtp}) {
        ub_config config = tight();
        config.transport = transport;
        config.transmit_queue = 4;
        load.destinations = uniform(ways.topology->endpoints(), 150, 4);
        drains(ways, config, load);
        load.destinations = hot_spot(16, 150, {0, 9}, 5);
        drains(ways, config, load);
    }
}

TEST_CASE("UB under full load: a pod of 2 x 2 racks drains by all paths")
{
    const ub_ways ways(ub_rack(4, 4, 2, 2, 1, true));
    ub_load load;
    load.packets_each = 60;
    load.destinations = uniform(ways.topology->endpoints(), 60, 6);
    drains(ways, tight(), load);
    load.destinations = fixed(64, shifted(ways.topology->shape(), {0, 1, 1, 1, 1}));
    drains(ways, tight(), load);
}

TEST_CASE("UB with a rule that keeps everything on one lane: the proof finds the circle and traffic hangs in it")
{
    ub_lane_rule broken; // any turn, always lane 0
    for (unsigned in = 0; in < k_ub_channels; ++in)
        for (unsigned lane = 0; lane < k_ub_lanes_per_class; ++lane)
            for (unsigned out = 0; out < k_ub_channels; ++out)
                broken.set(static_cast<ub_channel>(in), static_cast<std::uint8_t>(lane), static_cast<ub_channel>(out),
                           0);
    const ub_ways ways(ub_rack(4, 4), broken);
    const channel_proof proof = weft::testing::prove_lanes_of(*ways.topology, broken);
    CHECK_FALSE(proof);
    CHECK_THAT(proof.text, Catch::Contains("cycle"));

    ub_config config = tight();
    config.transmit_queue = 8;
    config.max_payload = data_size(1024);
    ub_load load;
    load.packets_each = 400;
    load.destinations = fixed(16, shifted(ways.topology->shape(), {0, 0, 0, 1, 1}));
    const ub_outcome o = run_ub(ways, config, load);
    INFO(o.complaint.str());
    CHECK(o.received < o.sent);
    struct picture {
        child_text complaint;
        std::uint64_t inside;
    };
    const picture p = in_child<picture>([&] {
        ub_world w(ways, config, load);
        sc_core::sc_start();
        picture seen{};
        seen.complaint = w.fabric.engine().describe_blocked(1);
        seen.inside = w.fabric.engine().packets_inside();
        return seen;
    });
    INFO(p.complaint.str());
    CHECK(p.inside > 0);
    CHECK_THAT(p.complaint.str(), Catch::Contains("cycle"));

    // The same traffic under the rule of the platform.
    drains(ub_ways(ub_rack(4, 4)), config, load);
}

TEST_CASE("UB: an endpoint knows its own dead ports without a notice and one without any refuses what it holds")
{
    const ub_ways ways(ub_rack(4, 4));
    ub_config config;
    config.transport = ub_transport::rtp;
    config.rtp_window = 16; // packets wait for the window when the last path goes
    config.choice = ub_choice::adaptive;
    ub_load load;
    load.packets_each = 300;
    load.destinations = uniform(16, 300, 8);
    const auto cut = [&](ub_world& w, bool all) {
        for (std::uint32_t port = 0; port < ways.topology->ports(0); ++port) {
            const std::uint32_t l = ways.topology->out_link(0, port);
            if (l == ub_topology::k_none || (!all && port > 1))
                continue;
            for (const std::uint32_t link : {l, l ^ 1u}) {
                w.fabric.fail_link_at(link, 500'000);
                if (all)
                    for (std::uint32_t e = 0; e < w.fabric.endpoints(); ++e)
                        w.fabric.exclude_at(e, link, 2'000'000);
            }
        }
    };
    const ub_outcome some = run_ub(ways, config, load, [&](ub_world& w) { cut(w, false); });
    INFO(some.complaint.str());
    CHECK(some.complaint.str() == "");
    CHECK(some.received == some.sent);
    CHECK(some.unreachable == 0);
    const ub_outcome none = run_ub(ways, config, load, [&](ub_world& w) { cut(w, true); });
    CHECK(none.complaint.str().find("ended early") == std::string::npos);
    CHECK(none.unreachable > 0);
    CHECK(none.received < none.sent);
}
