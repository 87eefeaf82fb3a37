// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Virtual output queues, pipelines per router, routers on two dies.
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
fabric_config with_voq(std::uint32_t vls = 1)
{
    fabric_config f{vls, 4_ns, true};
    f.voq = true;
    return f;
}

/// One switch in the middle, an endpoint behind a router of its own on each of its ports, so that the switch's inputs are links.
struct star {
    star(fabric_bench& b, std::uint32_t ports, std::uint32_t depth, const fabric_config& config)
        : engine(b.add_engine(config, [ports](std::uint32_t router, std::uint32_t in_port, const packet& p) {
              const std::uint32_t out = router == ports ? p.destination : in_port == 0 ? 1 : 0;
              return route_decision{static_cast<std::uint16_t>(out), p.vl};
          }))
    {
        for (std::uint32_t r = 0; r < ports; ++r)
            engine.add_router(2, fmt::format("leaf{}", r)); // port 0 to the switch, 1 local
        engine.add_router(ports, "switch");
        for (std::uint32_t r = 0; r < ports; ++r) {
            points.push_back(&b.add_endpoint(engine, r, 1, {656_Gbps, 0_ns, 512}, r));
            engine.add_link(r, 0, ports, r, {656_Gbps, 25_ns, depth});
            down.push_back(engine.add_link(ports, r, r, 0, {656_Gbps, 25_ns, 512}));
        }
        engine.finish_build();
    }
    fabric_engine& engine;
    std::vector<endpoint*> points;
    std::vector<std::uint32_t> down; ///< links switch -> leaf
};

void uniform(star& s, std::uint64_t seed, int packets)
{
    const auto n = static_cast<std::uint32_t>(s.points.size());
    for (std::uint32_t i = 0; i < n; ++i) {
        traffic_random r(seed * 77 + i);
        for (int k = 0; k < packets; ++k) {
            const std::uint32_t to = r.below(n - 1);
            s.points[i]->orders.push_back({k_start, to + (to >= i ? 1 : 0), 256});
        }
    }
}

/// Share of the rate that the receivers got between two times.
double share(const star& s, std::uint64_t from_ps, std::uint64_t to_ps)
{
    std::uint64_t bytes = 0;
    for (const endpoint* e : s.points)
        for (const arrived& a : e->log)
            bytes += a.tail_ps > from_ps && a.tail_ps <= to_ps ? a.payload_bytes : 0;
    const double full = static_cast<double>(to_ps - from_ps) * 656e9 / 8e12 * static_cast<double>(s.points.size());
    return static_cast<double>(bytes) / full;
}

} // namespace

TEST_CASE("one switch under uniform traffic: virtual output queues carry what a FIFO cannot")
{
    fabric_bench b;
    b.format = plain_format();
    b.audit_every = 5003;
    star voq(b, 16, 9 * 256, with_voq()), fifo(b, 16, 9 * 256, {1, 4_ns, true});
    for (star* s : {&voq, &fifo})
        uniform(*s, 1, 4000);
    b.run();
    CHECK(b.first_audit == "");
    CHECK(b.wrong() == 0);
    CHECK(b.overtaken() == 0);
    CHECK(b.received() == b.ordered());
    CHECK(b.pool.leak_report() == "");
    // All inputs have packets until 4000 * 3.1 us.
    const double with = share(voq, 4'000'000, 12'000'000), without = share(fifo, 4'000'000, 12'000'000);
    INFO("with " << with << " without " << without);
    CHECK(with >= 0.99);
    CHECK(with <= 1.001);
    CHECK(without >= 0.57); // 2 - sqrt(2) = 0.586 for many ports (Karol, Hluchyj and Morgan 1987), 0.60 for 16
    CHECK(without <= 0.64);
}

TEST_CASE("a full output does not hold up another one until the pool is full")
{
    // Endpoint 0 sends 20 packets for 2, whose output is down, and then one for 3.
    fabric_bench b;
    b.format = plain_format();
    star s(b, 4, 9 * 21, with_voq());
    s.engine.set_link_up(s.down[2], false);
    for (int i = 0; i < 20; ++i)
        s.points[0]->orders.push_back({k_start, 2, 256});
    s.points[0]->orders.push_back({k_start, 3, 256});
    std::string text;
    std::uint64_t backlog = 0;
    b.events.at(k_start + 1'000'000, [&] {
        CHECK(s.points[3]->log.size() == 1);
        text = s.engine.describe_blocked();
        b.audit();
        backlog = s.engine.backlog_ps(s.down[2]);
        s.engine.set_link_up(s.down[2], true);
    });
    b.run();
    CHECK(b.first_audit == "");
    CHECK(b.received() == b.ordered());
    INFO(text);
    CHECK(text.find("waits for switch.port2: the link is down") != std::string::npos);
    CHECK(text.find("cycle") == std::string::npos);
    CHECK(backlog == wire_rate(656_Gbps).time_ps(20 * 256));
    CHECK(s.engine.backlog_ps(s.down[2]) == 0);
    CHECK(s.engine.describe_blocked() == "");
}

TEST_CASE("when the pool is full of packets for one output its link stops")
{
    fabric_bench b;
    b.format = plain_format();
    star s(b, 4, 9 * 20, with_voq());
    s.engine.set_link_up(s.down[2], false);
    for (int i = 0; i < 20; ++i)
        s.points[0]->orders.push_back({k_start, 2, 256});
    s.points[0]->orders.push_back({k_start, 3, 256});
    std::string text;
    b.run();
    CHECK(s.points[3]->log.empty());
    text = s.engine.describe_blocked();
    INFO(text);
    CHECK(text.find("waits for leaf0.port0: needs 9 credits of VL 0, has 0") != std::string::npos);
    CHECK(text.find("cycle") == std::string::npos);
    CHECK(b.first_audit == "");
}

TEST_CASE("a deadlock between virtual output queues is described as a cycle")
{
    // Four routers in a ring, everybody sends to the one three hops to the right: one VL, small buffers.
    fabric_bench b;
    b.format = plain_format();
    fabric_engine& e = b.add_engine(with_voq(), [](std::uint32_t router, std::uint32_t, const packet& p) {
        return route_decision{static_cast<std::uint16_t>(p.destination == router ? 2 : 0), p.vl};
    });
    for (std::uint32_t r = 0; r < 4; ++r)
        e.add_router(3, fmt::format("r{}", r));
    std::vector<endpoint*> points;
    for (std::uint32_t r = 0; r < 4; ++r) {
        points.push_back(&b.add_endpoint(e, r, 2, {1312_Gbps, 0_ns, 18}, r));
        e.add_link(r, 0, (r + 1) % 4, 1, {656_Gbps, 25_ns, 18});
    }
    e.finish_build();
    for (std::uint32_t r = 0; r < 4; ++r)
        for (int i = 0; i < 20; ++i)
            points[r]->orders.push_back({k_start, (r + 3) % 4, 256});
    b.run();
    const std::string text = e.describe_blocked();
    INFO(text);
    CHECK(e.packets_inside() > 0);
    CHECK(text.find("They form a cycle of 4:") != std::string::npos);
    CHECK(e.audit() == "");
}

TEST_CASE("random traffic through virtual output queues arrives once and in order")
{
    fabric_bench b;
    b.format = plain_format();
    b.audit_every = 211;
    std::vector<std::unique_ptr<star>> stars;
    for (const std::uint32_t depth : {9u, 20u, 200u})
        for (const std::uint32_t vls : {1u, 3u, 4u})
            for (std::uint64_t seed = 1; seed <= 3; ++seed) {
                stars.push_back(std::make_unique<star>(b, 5, depth, with_voq(vls)));
                star& s = *stars.back();
                for (std::uint32_t i = 0; i < 5; ++i) {
                    traffic_random r(seed * 31 + i);
                    s.points[i]->seed(seed);
                    s.points[i]->stall_below_ps = seed == 1 ? 0 : 50'000;
                    s.points[i]->receive_cells = 27;
                    std::uint64_t at = k_start;
                    for (int k = 0; k < 150; ++k) {
                        const std::uint32_t to = r.below(4);
                        at += r.below(4000);
                        s.points[i]->orders.push_back(
                            {at, to + (to >= i ? 1 : 0), r.below(257), 0, static_cast<std::uint8_t>(r.below(vls))});
                    }
                }
            }
    b.run();
    CHECK(b.first_audit == "");
    CHECK(b.wrong() == 0);
    CHECK(b.received() == b.ordered());
    CHECK(b.pool.leak_report() == "");
    for (const auto& s : stars) {
        CHECK(s->engine.packets_inside() == 0);
        if (s->engine.vl_count() > 1)
            continue; // packets of different VLs may overtake each other
        for (const endpoint* e : s->points) {
            std::vector<std::int64_t> last(5, -1);
            for (const arrived& a : e->log) {
                CHECK(static_cast<std::int64_t>(a.message) > last[a.source]);
                last[a.source] = a.message;
            }
        }
    }
}

namespace {

/// Endpoints 0 and 1 on router 0 (ports 0 and 1), 2 and 3 on router 1; ports 2 and 3 link them: destination 2 over 2, 3 over 3.
struct two_dies {
    two_dies(fabric_bench& b, bool voq)
        : engine(b.add_engine(
              [voq] {
                  fabric_config f{1, 4_ns, true};
                  f.voq = voq;
                  f.zone_crossing = 50_ns;
                  return f;
              }(),
              [](std::uint32_t router, std::uint32_t, const packet& p) {
                  const std::uint32_t out = router == 0 ? p.destination : p.destination - 2;
                  return route_decision{static_cast<std::uint16_t>(out), 0};
              }))
    {
        engine.add_router(4, "npu", 175_ns);
        engine.add_router(4, "lrs", 150_ns);
        engine.set_second_zone(0, 1, 1); // ports 0 and 2 on one die, 1 and 3 on the other
        engine.set_second_zone(0, 3, 3);
        for (std::uint32_t i = 0; i < 4; ++i)
            points.push_back(&b.add_endpoint(engine, i / 2, i % 2, {656_Gbps, 0_ns, 512}, i));
        engine.add_link(0, 2, 1, 2, {656_Gbps, 25_ns, 512});
        engine.add_link(0, 3, 1, 3, {656_Gbps, 25_ns, 512});
        engine.finish_build();
    }
    fabric_engine& engine;
    std::vector<endpoint*> points;
};

} // namespace

TEST_CASE("every router charges its own pipeline and a change of die costs a crossing")
{
    fabric_bench b;
    b.format = plain_format();
    two_dies fifo(b, false), voq(b, true);
    for (two_dies* d : {&fifo, &voq}) {
        d->points[0]->orders = {{k_start, 2, 256}, {2 * k_start, 3, 256}, {3 * k_start, 2, 256}};
        d->points[1]->orders = {{4 * k_start, 3, 256}, {5 * k_start, 2, 256}};
    }
    b.run();
    CHECK(b.first_audit == "");
    const std::uint64_t straight = 175'000 + 25'000 + 150'000 + wire_rate(656_Gbps).time_ps(256);
    for (two_dies* d : {&fifo, &voq}) {
        REQUIRE(d->points[2]->log.size() == 3);
        REQUIRE(d->points[3]->log.size() == 2);
        CHECK(d->points[2]->log[0].tail_ps == k_start + straight);
        CHECK(d->points[3]->log[0].tail_ps == 2 * k_start + straight + 50'000);
        CHECK(d->points[2]->log[1].tail_ps == 3 * k_start + straight);
        CHECK(d->points[3]->log[1].tail_ps == 4 * k_start + straight);
        CHECK(d->points[2]->log[2].tail_ps == 5 * k_start + straight + 50'000);
    }
}

TEST_CASE("a packet does not overtake one that changes the die in a FIFO and does between virtual output queues")
{
    fabric_bench b;
    b.format = plain_format();
    two_dies fifo(b, false), voq(b, true);
    for (two_dies* d : {&fifo, &voq})
        d->points[0]->orders = {{k_start, 3, 256}, {k_start, 2, 256}};
    b.run();
    CHECK(b.first_audit == "");
    const std::uint64_t each = wire_rate(656_Gbps).time_ps(256);
    const std::uint64_t straight = 175'000 + 25'000 + 150'000 + each;
    CHECK(fifo.points[3]->log.at(0).tail_ps == k_start + straight + 50'000);
    CHECK(voq.points[3]->log.at(0).tail_ps == k_start + straight + 50'000);
    CHECK(voq.points[2]->log.at(0).tail_ps == k_start + straight + each);
    CHECK(fifo.points[2]->log.at(0).tail_ps == k_start + straight + 50'000 + each); // behind it at the read port
}

TEST_CASE("a router may have inputs from outside without an output and the other way round")
{
    fabric_bench b;
    struct sink_edge final : fabric_edge_if {
        void deliver(packet_ptr p, std::uint64_t delay_ps) override
        {
            got.push_back(p->message);
            at = p->tail_ps + delay_ps;
        }
        void return_credit(std::uint32_t, std::uint32_t cells, std::uint32_t, std::uint64_t) override { returned += cells; }
        std::vector<std::uint32_t> got;
        std::uint64_t at = 0;
        std::uint32_t returned = 0;
    } edge;
    fabric_engine& e = b.add_engine(with_voq(4), [](std::uint32_t, std::uint32_t in_port, const packet&) {
        return route_decision{static_cast<std::uint16_t>(10 + in_port % 2), 1};
    });
    e.add_router(12, "npu");
    std::vector<std::uint32_t> in;
    for (std::uint32_t port = 0; port < 10; ++port)
        in.push_back(e.add_edge_input(0, port, {656_Gbps, 0_ns, 64}, edge));
    const std::uint32_t out[] = {e.add_edge_output(0, 10, {656_Gbps, 0_ns, 0}, edge),
                                 e.add_edge_output(0, 11, {656_Gbps, 0_ns, 0}, edge)};
    e.finish_build();
    b.events.at(k_start, [&] {
        for (const std::uint32_t link : out)
            e.edge_credit(link, 1, 100, 0);
        for (std::uint32_t i = 0; i < 10; ++i) {
            packet_ptr p = b.pool.make();
            p->message = i;
            p->wire_bytes = 256;
            p->cells = 9;
            p->serialisation_ps = static_cast<std::uint32_t>(wire_rate(656_Gbps).time_ps(256));
            e.inject(in[i], std::move(p), 0);
        }
    });
    b.run();
    CHECK(edge.got.size() == 10);
    CHECK(edge.returned == 90);
    CHECK(e.packets_inside() == 0);
    CHECK(e.state_bytes() > 12u * 2 * 4 * 8);
}
