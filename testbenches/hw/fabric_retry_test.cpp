// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Link-layer retry: scripted errors against the formula of hw/fabric/link_layer.h, drawn errors against their rate.
#include "testbenches/hw/fabric_bench.h"

#include <catch2/catch.hpp>

#include <map>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

constexpr std::uint64_t k_start = 1'000'000; // after the first credits
constexpr std::uint64_t k_pipeline = 4'000;
constexpr std::uint64_t k_propagation = 25'000;

packet_format block_format()
{
    packet_format f;
    f.max_payload_bytes = 4096;
    f.header_bytes = 56;
    f.flit_bytes = 20;
    f.block_flits = 32;
    f.cell_flits = 8;
    return f;
}

link_layer_params retry_params()
{
    link_layer_params p;
    p.request = 12_ns;
    p.turnaround = 30_ns;
    p.acknowledge = 10_ns;
    p.reinit = 1_us;
    return p;
}

struct script_of_errors final : link_error_script {
    std::uint64_t damaged_flit(std::uint32_t, std::uint64_t number, std::uint64_t flits) override
    {
        asked.push_back(flits);
        const auto found = bad.find(number);
        return number < all_bad_from ? (found == bad.end() ? k_no_error : found->second) : 0;
    }
    std::map<std::uint64_t, std::uint64_t> bad; ///< transmission -> flit
    std::uint64_t all_bad_from = k_never_ps;
    std::vector<std::uint64_t> asked;
};

/// Endpoint 0 - router 0 -> router 1 - endpoint 1. `link` has the retry.
struct pair_of_routers {
    pair_of_routers(fabric_bench& b, const link_layer_params& p, link_error_script* script, bool detect = false,
                    std::uint32_t depth = 4096)
        : engine(b.add_engine(
              [detect] {
                  fabric_config f{1, 4_ns, true};
                  f.voq = true;
                  if (detect)
                      f.dead_link_detection = 1_us;
                  return f;
              }(),
              [](std::uint32_t router, std::uint32_t, const packet& q) {
                  return route_decision{static_cast<std::uint16_t>(q.destination == router ? 1 : 0), 0};
              }))
    {
        engine.add_router(2, "left");
        engine.add_router(2, "right");
        for (std::uint32_t i = 0; i < 2; ++i)
            points[i] = &b.add_endpoint(engine, i, 1, {448_Gbps, 0_ns, 4096}, i);
        link = engine.add_link(0, 0, 1, 0, {448_Gbps, 25_ns, depth});
        engine.add_link(1, 0, 0, 0, {448_Gbps, 25_ns, 4096});
        engine.set_link_layer(link, p, script);
        engine.finish_build();
    }
    fabric_engine& engine;
    endpoint* points[2];
    std::uint32_t link = 0;
};

std::uint64_t time_of(std::uint64_t flits) { return wire_rate(448_Gbps).time_ps(flits * 20); }

} // namespace

TEST_CASE("a damaged block costs what the formula says")
{
    fabric_bench b;
    b.format = block_format();
    b.audit_every = 1;
    struct error {
        std::map<std::uint64_t, std::uint64_t> bad;
        std::vector<std::uint64_t> ends; ///< flits up to the end of the damaged block, one per retry
    };
    const error errors[] = {{{}, {}},          {{{0, 0}}, {32}},    {{{0, 31}}, {32}},
                            {{{0, 32}}, {64}}, {{{0, 209}}, {210}}, {{{0, 200}, {1, 5}, {2, 100}}, {210, 32, 128}}};
    std::vector<std::unique_ptr<script_of_errors>> scripts;
    std::vector<std::unique_ptr<pair_of_routers>> runs;
    for (const error& e : errors) {
        scripts.push_back(std::make_unique<script_of_errors>());
        scripts.back()->bad = e.bad;
        runs.push_back(std::make_unique<pair_of_routers>(b, retry_params(), scripts.back().get()));
        for (int i = 0; i < 3; ++i)
            runs.back()->points[0]->orders.push_back({k_start, 1, 4096});
    }
    b.run();
    CHECK(b.first_audit == "");
    for (std::size_t i = 0; i < runs.size(); ++i) {
        INFO("case " << i);
        std::uint64_t delay = 0;
        for (const std::uint64_t flits : errors[i].ends)
            delay += time_of(flits) + 2 * k_propagation + 12'000 + 30'000;
        const auto& log = runs[i]->points[1]->log;
        REQUIRE(log.size() == 3);
        for (std::uint64_t k = 0; k < 3; ++k)
            CHECK(log[k].tail_ps == k_start + 2 * k_pipeline + k_propagation + delay + (k + 1) * time_of(210));
        const fabric_engine& e = runs[i]->engine;
        CHECK(e.link_retries(runs[i]->link) == errors[i].ends.size());
        CHECK(e.link_wasted_ps(runs[i]->link) == delay);
        CHECK(e.link_reinits(runs[i]->link) == 0);
        CHECK(e.link_busy_ps(runs[i]->link) == 3 * time_of(210));
        CHECK(e.layer(runs[i]->link)->transmissions() == 3 + errors[i].ends.size());
    }
}

TEST_CASE("a burst goes back to the packet that was damaged")
{
    fabric_bench b;
    b.format = block_format();
    script_of_errors script;
    script.bad = {{0, 210 + 40}, {1, 33}}; // second packet, second block; sent again from there, the same block again
    pair_of_routers run(b, retry_params(), &script);
    run.points[0]->orders.push_back({k_start, 1, 3 * 4096});
    b.run();
    const std::uint64_t delay = 2 * (time_of(64) + 2 * k_propagation + 12'000 + 30'000);
    REQUIRE(run.points[1]->log.size() == 1);
    const auto off = static_cast<std::int64_t>(run.points[1]->log[0].tail_ps) -
                     static_cast<std::int64_t>(k_start + 2 * k_pipeline + k_propagation + delay + time_of(3 * 210));
    CHECK(std::abs(off) <= 2); // the serialisation of every piece is rounded
    CHECK(script.asked == std::vector<std::uint64_t>{630, 420, 420});
}

TEST_CASE("when the retries are used up the PHY is initialised and then the link is given up")
{
    fabric_bench b;
    b.format = block_format();
    b.audit_every = 1;
    script_of_errors reinit, dead, dead_undetected;
    for (std::uint64_t n = 0; n < 16; ++n)
        reinit.bad[n] = 0; // the first transmission and 15 retries
    dead.all_bad_from = dead_undetected.all_bad_from = 1;
    pair_of_routers once(b, retry_params(), &reinit, true), gone(b, retry_params(), &dead, true),
        silent(b, retry_params(), &dead_undetected, false);
    struct listener final : link_listener_if {
        void link_down(std::uint32_t, std::uint64_t now_ps) override { down.push_back(now_ps); }
        void link_up(std::uint32_t, std::uint64_t now_ps) override { up.push_back(now_ps); }
        std::vector<std::uint64_t> down, up;
    } told;
    gone.engine.set_link_listener(&told);
    for (pair_of_routers* r : {&once, &gone, &silent})
        for (int i = 0; i < 4; ++i)
            r->points[0]->orders.push_back({k_start, 1, 512});
    b.run();
    CHECK(b.first_audit == "");
    const std::uint64_t back = time_of(29) + 2 * k_propagation + 12'000; // the sender knows
    const std::uint64_t first = k_start + k_pipeline;

    REQUIRE(once.points[1]->log.size() == 4);
    CHECK(once.points[1]->log[0].tail_ps ==
          first + 16 * (back + 30'000) + 1'000'000 + time_of(29) + k_propagation + k_pipeline);
    CHECK(once.engine.link_retries(once.link) == 15);
    CHECK(once.engine.link_reinits(once.link) == 1);

    // The second packet: 5 times 16 transmissions.
    const std::uint64_t end = first + time_of(29) + 79 * (back + 30'000) + 4 * 1'000'000 + back;
    for (pair_of_routers* r : {&gone, &silent}) {
        CHECK(r->points[1]->log.size() == 1);
        CHECK(r->engine.link_retries(r->link) == 75);
        CHECK(r->engine.link_reinits(r->link) == 4);
        const link_failure f = r->engine.link_failures().at(0);
        CHECK(f.at_ps == end);
        CHECK(f.exhausted);
        CHECK(f.lost_packets == (r == &gone ? 3u : 1u));
        CHECK(f.waiting == (r == &gone ? 0u : 1u));
        CHECK(r->engine.packets_inside() == (r == &gone ? 0u : 2u));
        CHECK_FALSE(r->engine.link_up(r->link));
    }
    CHECK(gone.engine.link_dead(gone.link));
    CHECK(told.down == std::vector<std::uint64_t>{end});
    CHECK(told.up.empty());
}

TEST_CASE("a link that fails amid retries loses the packet")
{
    fabric_bench b;
    b.format = block_format();
    b.audit_every = 1;
    script_of_errors script;
    script.bad = {{0, 0}, {1, 0}};
    pair_of_routers run(b, retry_params(), &script);
    for (int i = 0; i < 2; ++i)
        run.points[0]->orders.push_back({k_start, 1, 512});
    run.engine.fail_link_at(run.link,
                            k_start + k_pipeline + 100'000); // the first retry begins about 102 ns after the first try
    b.run();
    CHECK(b.first_audit == "");
    CHECK(run.points[1]->log.empty());
    CHECK(run.engine.dropped() == 1);
    CHECK(run.engine.link_busy_ps(run.link) == 0);
    CHECK(run.engine.layer(run.link)->transmissions() == 1);
}

TEST_CASE("drawn errors come at their rate and cost no packet and depend on nothing but the transmission")
{
    fabric_bench b;
    b.format = block_format();
    link_layer_params p = retry_params();
    p.bit_error_rate = 2e-6; // 29 flits are 4640 bits: 0.92 % of the packets
    std::vector<std::unique_ptr<pair_of_routers>> runs;
    for (int i = 0; i < 3; ++i) {
        runs.push_back(std::make_unique<pair_of_routers>(b, p, nullptr, false, i == 2 ? 8 : 4096));
        for (int k = 0; k < 20'000; ++k)
            runs.back()->points[0]->orders.push_back({k_start, 1, 512});
        p.seed = i == 0 ? 2 : 1;
    }
    b.audit_every = 997;
    b.run();
    CHECK(b.first_audit == "");
    CHECK(b.overtaken() == 0);
    CHECK(b.received() == b.ordered());
    for (const auto& r : runs) {
        const auto retries = static_cast<double>(r->engine.link_retries(r->link));
        CHECK(retries == Approx(20'000 * 4640 * 2e-6).epsilon(0.25)); // 185.6, four standard deviations are 54
    }
    CHECK(runs[0]->engine.link_retries(runs[0]->link) != runs[1]->engine.link_retries(runs[1]->link));
    // The same seed on the same link with other timing (a short buffer): the same transmissions are damaged.
    CHECK(runs[0]->engine.link_retries(runs[0]->link) == runs[2]->engine.link_retries(runs[2]->link));
}

TEST_CASE("the place of the first damaged bit is geometric")
{
    link_layer_params p;
    p.bit_error_rate = 1e-3;
    const link_layer layer(p, 7, 25_ns);
    std::uint64_t early = 0, late = 0, none = 0;
    for (std::uint64_t n = 0; n < 100'000; ++n) {
        const std::uint64_t bit = layer.damaged_bit(n, 1000);
        none += bit == k_no_error ? 1 : 0;
        early += bit < 500 ? 1 : 0;
        late += bit >= 500 && bit < 1000 ? 1 : 0;
    }
    CHECK(static_cast<double>(none) == Approx(100'000 * 0.36770).epsilon(0.02));  // 0.999^1000
    CHECK(static_cast<double>(early) == Approx(100'000 * 0.39362).epsilon(0.02)); // 1 - 0.999^500
    CHECK(static_cast<double>(late) == Approx(100'000 * 0.23868).epsilon(0.02));
    p.bit_error_rate = 0;
    CHECK(link_layer(p, 7, 25_ns).damaged_bit(0, 1'000'000) == k_no_error);
}

TEST_CASE("a short retry buffer carries its packets once per acknowledgement")
{
    fabric_bench b;
    b.format = block_format(); // 512 B: 29 flits, 4 cells
    std::vector<std::unique_ptr<pair_of_routers>> runs;
    const std::uint32_t sizes[] = {2, 4, 8, 19, 20, 40, 64};
    for (const std::uint32_t cells : sizes) {
        link_layer_params p = retry_params();
        p.retry_buffer_cells = cells;
        runs.push_back(std::make_unique<pair_of_routers>(b, p, nullptr));
        for (int i = 0; i < 2000; ++i)
            runs.back()->points[0]->orders.push_back({k_start, 1, 512});
    }
    b.run();
    CHECK(b.first_audit == "");
    CHECK(b.received() == b.ordered());
    const auto each = static_cast<double>(time_of(29));
    const double away = each + 2 * static_cast<double>(k_propagation) + 10'000;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto packets = static_cast<double>(std::max(1u, sizes[i] / 4));
        const auto& log = runs[i]->points[1]->log;
        const double got = static_cast<double>(log[1900].tail_ps - log[100].tail_ps) / 1800;
        INFO("cells " << sizes[i]);
        CHECK(got == Approx(std::max(each, away / packets)).epsilon(0.01));
    }
}
