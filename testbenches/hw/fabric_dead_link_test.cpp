// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Links that are declared dead, restored, or lose lanes.
#include "testbenches/hw/fabric_bench.h"

#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

constexpr std::uint64_t k_start = 1'000'000; // after the first credits
packet_format plain_format()
{
    packet_format f;
    f.charge_header_on_wire = false;
    return f; // 256 B payload in 9 cells of 32 B
}
const std::uint64_t k_each = wire_rate(656_Gbps).time_ps(256); // 3122

struct listener final : link_listener_if {
    void link_down(std::uint32_t link, std::uint64_t now_ps) override { down.push_back({link, now_ps}); }
    void link_up(std::uint32_t link, std::uint64_t now_ps) override { up.push_back({link, now_ps}); }
    std::vector<std::pair<std::uint32_t, std::uint64_t>> down, up;
};

/// Endpoint 0 - router 0 -> router 1 -> router 2 - endpoints 1 and 2; two links between 1 and 2, one for each endpoint.
struct fork {
    fork(fabric_bench& b, bool voq, bool detect, std::uint32_t depth)
        : engine(b.add_engine(
              [&] {
                  fabric_config f{1, 4_ns, true};
                  f.voq = voq;
                  if (detect)
                      f.dead_link_detection = 1_us;
                  return f;
              }(),
              [](std::uint32_t, std::uint32_t, const packet& p) {
                  return route_decision{static_cast<std::uint16_t>(p.destination), 0};
              }))
    {
        // The ports to endpoints 1 and 2 have their numbers on every router.
        engine.add_router(4, "first");
        engine.add_router(5, "middle");
        engine.add_router(5, "last");
        from = &b.add_endpoint(engine, 0, 0, {656_Gbps, 0_ns, 288}, 0);
        to[0] = &b.add_endpoint(engine, 2, 1, {656_Gbps, 0_ns, 288}, 1);
        to[1] = &b.add_endpoint(engine, 2, 2, {656_Gbps, 0_ns, 288}, 2);
        engine.add_link(0, 1, 1, 3, {656_Gbps, 25_ns, depth});
        engine.add_link(0, 2, 1, 4, {656_Gbps, 25_ns, depth});
        link[0] = engine.add_link(1, 1, 2, 3, {656_Gbps, 25_ns, depth});
        link[1] = engine.add_link(1, 2, 2, 4, {656_Gbps, 25_ns, depth});
        engine.finish_build();
        engine.set_link_listener(&told);
    }
    fabric_engine& engine;
    endpoint* from;
    endpoint* to[2];
    std::uint32_t link[2];
    listener told;
};

/// Endpoint 0 - router 0 -> router 1 - endpoints 1 and 2: packets for both share the FIFO of the local input.
struct short_fork {
    short_fork(fabric_bench& b, bool voq, bool detect, std::uint32_t depth)
        : engine(b.add_engine(
              [&] {
                  fabric_config f{1, 4_ns, true};
                  f.voq = voq;
                  if (detect)
                      f.dead_link_detection = 1_us;
                  return f;
              }(),
              [](std::uint32_t router, std::uint32_t, const packet& p) {
                  return route_decision{static_cast<std::uint16_t>(router == 0   ? 1
                                                                   : router == 1 ? 1 + p.destination
                                                                                 : 1),
                                        0};
              }))
    {
        engine.add_router(2, "source");
        engine.add_router(4, "switch");
        engine.add_router(2, "one");
        engine.add_router(2, "two");
        from = &b.add_endpoint(engine, 0, 0, {656_Gbps, 0_ns, 288}, 0);
        to[0] = &b.add_endpoint(engine, 2, 1, {656_Gbps, 0_ns, 288}, 1);
        to[1] = &b.add_endpoint(engine, 3, 1, {656_Gbps, 0_ns, 288}, 2);
        before = engine.add_link(0, 1, 1, 0, {656_Gbps, 25_ns, depth});
        link[0] = engine.add_link(1, 2, 2, 0, {656_Gbps, 25_ns, depth});
        link[1] = engine.add_link(1, 3, 3, 0, {656_Gbps, 25_ns, depth});
        engine.finish_build();
        engine.set_link_listener(&told);
    }
    fabric_engine& engine;
    endpoint* from;
    endpoint* to[2];
    std::uint32_t before = 0, link[2];
    listener told;
};

} // namespace

TEST_CASE("what waits for a dead link is dropped when it is declared and later what comes to it")
{
    fabric_bench b;
    b.format = plain_format();
    b.audit_every = 101;
    std::vector<std::unique_ptr<short_fork>> all;
    for (const bool voq : {false, true})
        for (const std::uint32_t depth : {9u, 20u, 1000u})
            for (std::uint64_t at = k_start; at < k_start + 80'000; at += 2'777) {
                all.push_back(std::make_unique<short_fork>(b, voq, true, depth));
                short_fork& f = *all.back();
                f.engine.fail_link_at(f.link[0], at);
                for (int i = 0; i < 24; ++i) // three for 1, one for 2 ...
                    f.from->orders.push_back({k_start, i % 4 == 3 ? 2u : 1u, 256});
                for (int i = 0; i < 8; ++i) // ... and some after the declaration
                    f.from->orders.push_back({k_start + 3'000'000, i % 2 == 0 ? 1u : 2u, 256});
            }
    b.run();
    CHECK(b.first_audit == "");
    CHECK(b.wrong() == 0);
    CHECK(b.overtaken() == 0);
    CHECK(b.pool.leak_report() == "");
    for (const auto& f : all) {
        const link_failure failure = f->engine.link_failures().at(0);
        INFO("down at " << failure.at_ps);
        CHECK(f->from->sent() == 32);
        CHECK(f->to[1]->log.size() == 6 + 4);
        CHECK(f->to[0]->log.size() + f->engine.dropped() == 18 + 4);
        CHECK(failure.lost_packets == f->engine.dropped());
        CHECK(failure.declared_ps == failure.at_ps + 1'000'000);
        CHECK(failure.waiting == 0);
        CHECK(f->engine.packets_inside() == 0);
        CHECK(f->told.down ==
              std::vector<std::pair<std::uint32_t, std::uint64_t>>{{f->link[0], failure.at_ps + 1'000'000}});
        CHECK(f->engine.backlog_ps(f->link[0]) == 0);
        CHECK(f->engine.describe_blocked() == "");
        for (const arrived& a : f->to[0]->log)
            CHECK(a.tail_ps <= failure.at_ps + 2 * 25'000 + 2 * 4'000 + k_each);
    }
}

TEST_CASE("without detection heads wait and a restored link carries them")
{
    fabric_bench b;
    b.format = plain_format();
    b.audit_every = 23;
    std::vector<std::unique_ptr<short_fork>> all;
    for (const bool voq : {false, true})
        for (std::uint64_t at = k_start + 30'000; at < k_start + 60'000; at += 7'001)
            for (const bool declared_later : {false, true}) { // restored before the declaration is due
                all.push_back(std::make_unique<short_fork>(b, voq, declared_later, 1000));
                short_fork* const f = all.back().get();
                f->engine.fail_link_at(f->link[0], at);
                f->engine.restore_link_at(f->link[0], at + 500'000);
                for (int i = 0; i < 24; ++i)
                    f->from->orders.push_back({k_start, i % 4 == 3 ? 2u : 1u, 256});
                b.events.at(at + 100'000, [f] {
                    CHECK_FALSE(f->engine.link_up(f->link[0]));
                    CHECK(f->engine.link_failures().at(0).waiting == 1);
                    CHECK(f->engine.describe_blocked().find("the link went down at") != std::string::npos);
                });
                b.events.at(5'000'000, [f, at] {
                    const link_failure failure = f->engine.link_failures().at(0);
                    CHECK(f->engine.link_up(f->link[0]));
                    CHECK(failure.waiting == 0);
                    CHECK(failure.lost_packets <= 1);
                    CHECK(f->to[0]->log.size() + failure.lost_packets == 18);
                    CHECK(f->to[0]->log.back().tail_ps > at + 500'000);
                    CHECK(f->to[1]->log.size() == 6);
                    CHECK(f->told.down.empty());
                    CHECK(f->told.up.empty());
                    CHECK(f->engine.audit() == "");
                });
            }
    b.run();
    CHECK(b.first_audit == "");
}

TEST_CASE("a link may fail and be declared and work again and fail again")
{
    fabric_bench b;
    b.format = plain_format();
    b.audit_every = 1;
    fork voq(b, true, true, 300), fifo(b, false, true, 300);
    for (fork* f : {&voq, &fifo}) {
        f->engine.fail_link_at(f->link[0], 2 * k_start);
        f->engine.restore_link_at(f->link[0], 4 * k_start);
        f->engine.fail_link_at(f->link[0], 6 * k_start);
        f->engine.restore_link_at(f->link[0], 8 * k_start);
        for (std::uint64_t i = 0; i < 100; ++i)
            f->from->orders.push_back({k_start + i * 100'000, 1, 256});
    }
    b.run();
    CHECK(b.first_audit == "");
    for (fork* f : {&voq, &fifo}) {
        using pairs = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
        CHECK(f->told.down == pairs{{f->link[0], 3 * k_start}, {f->link[0], 7 * k_start}});
        CHECK(f->told.up == pairs{{f->link[0], 4 * k_start}, {f->link[0], 8 * k_start}});
        REQUIRE(f->engine.link_failures().size() == 2);
        CHECK(f->to[0]->log.size() + f->engine.dropped() == 100);
        // A packet every 100 ns: twice 10 that wait for the declaration and 10 that come after it.
        CHECK(f->engine.dropped() == 40);
        CHECK(f->engine.link_failures()[0].lost_packets == 20);
        CHECK(f->engine.packets_inside() == 0);
        CHECK_FALSE(f->engine.link_dead(f->link[0]));
    }
}

TEST_CASE("fewer lanes slow down what begins after they are lost and stop nothing")
{
    fabric_bench b;
    b.format = plain_format();
    b.audit_every = 1;
    fork f(b, true, false, 1000), same(b, true, false, 1000);
    const bandwidth less = 328_Gbps;
    const std::uint64_t slow = wire_rate(less).time_ps(256);
    for (fork* x : {&f, &same})
        for (int i = 0; i < 20; ++i)
            x->from->orders.push_back({k_start, 1, 256});
    // First byte on the link: two pipelines, one propagation.
    const std::uint64_t first = k_start + 2 * 4'000 + 25'000;
    const std::uint64_t at = first + 5 * k_each + 1; // during the sixth
    f.engine.degrade_link_at(f.link[0], at, less);
    const std::uint64_t back = first + 6 * k_each + 4 * slow; // the eleventh is fast again
    f.engine.degrade_link_at(f.link[0], back, 656_Gbps);
    same.engine.degrade_link_at(same.link[0], 1'000'000'000, less);
    std::vector<std::uint64_t> rates;
    for (const std::uint64_t t : {at - 1, at, back})
        b.events.at(t, [&] { rates.push_back(f.engine.link_rate(f.link[0]).value()); });
    b.run();
    CHECK(b.first_audit == "");
    CHECK(b.received() == b.ordered());
    CHECK(rates == std::vector<std::uint64_t>{656'000'000'000, 328'000'000'000, 656'000'000'000});
    const auto arrival = [&](std::uint64_t n) { return first + 25'000 + 4'000 + n; };
    for (std::uint64_t i = 0; i < 20; ++i) {
        const std::uint64_t fast = i < 6 ? i + 1 : i < 10 ? 6 : i - 3;
        const std::uint64_t reduced = i < 6 ? 0 : i < 10 ? i - 5 : 4;
        INFO(i);
        CHECK(same.to[0]->log[i].tail_ps == arrival((i + 1) * k_each));
        CHECK(f.to[0]->log[i].tail_ps == arrival(fast * k_each + reduced * slow));
    }
    CHECK(sc_core::sc_time_stamp().value() < 1'000'000'000); // a change that is not reached is no event
}
