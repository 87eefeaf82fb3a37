// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A link that goes down while packets cross it: what has left its sender whole arrives at the time it always did, what is on
// the wire is lost, the rest waits.
#include "testbenches/hw/fabric_bench.h"

#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

constexpr std::uint64_t k_start = 1'000'000; // after the first credits
constexpr std::uint32_t k_packets = 12;

packet_format plain_format()
{
    packet_format f;
    f.charge_header_on_wire = false;
    return f; // 256 B payload in 9 cells of 32 B
}

/// Endpoint 0 - router 0 -> router 1 -> router 2 - endpoint 1; `link` is the first hop.
struct line {
    line(fabric_bench& b, std::uint64_t bytes_each, std::uint32_t sends)
        : engine(b.add_engine({1, 4_ns, true}, [](std::uint32_t router, std::uint32_t, const packet& p) {
              const std::uint32_t there = p.destination == 0 ? 0 : 2;
              return route_decision{static_cast<std::uint16_t>(there > router ? 0 : there < router ? 1 : 2), 0};
          }))
    {
        for (std::uint32_t r = 0; r < 3; ++r)
            engine.add_router(3, fmt::format("r{}", r));
        engine.set_port_names({"right", "left", "local"});
        const fabric_link_params local{1312_Gbps, 0_ns, 288};
        from = &b.add_endpoint(engine, 0, 2, local, 0);
        to = &b.add_endpoint(engine, 2, 2, local, 1);
        for (std::uint32_t r = 0; r < 2; ++r) {
            const std::uint32_t id = engine.add_link(r, 0, r + 1, 1, {656_Gbps, 25_ns, 288});
            link = r == 0 ? id : link;
            engine.add_link(r + 1, 1, r, 0, {656_Gbps, 25_ns, 288});
        }
        engine.finish_build();
        for (std::uint32_t i = 0; i < sends; ++i)
            from->orders.push_back({k_start, 1, bytes_each});
    }
    fabric_engine& engine;
    endpoint *from, *to;
    std::uint32_t link = 0;
};

} // namespace

TEST_CASE("a link that fails lets through what has left whole and loses what is on the wire")
{
    fabric_bench b;
    b.format = plain_format();
    b.audit_every = 1;
    line healthy(b, 256, k_packets);
    // 656 Gb/s: 3122 ps a packet. The first byte is on the link after 4 ns of pipeline.
    const std::uint64_t serialisation = wire_rate(656_Gbps).time_ps(256);
    const std::uint64_t first = k_start + 4'000;
    struct failing {
        std::uint64_t at;
        std::unique_ptr<line> l;
    };
    std::vector<failing> all;
    for (std::uint64_t n = 0; n <= k_packets; ++n)
        for (const std::int64_t off : {-1, 0, 1, 1500}) {
            all.push_back({first + n * serialisation + static_cast<std::uint64_t>(off),
                           std::make_unique<line>(b, 256, k_packets)});
            all.back().l->engine.fail_link_at(all.back().l->link, all.back().at);
        }
    b.run();
    CHECK(b.first_audit == "");
    CHECK(b.wrong() == 0);
    REQUIRE(healthy.to->log.size() == k_packets);
    for (const failing& f : all) {
        INFO("down at " << f.at);
        const std::uint64_t done =
            f.at < first ? 0 : std::min<std::uint64_t>((f.at - first) / serialisation, k_packets);
        const bool cut = done < k_packets && f.at > first + done * serialisation;
        REQUIRE(f.l->to->log.size() == done);
        for (std::size_t i = 0; i < done; ++i)
            CHECK(f.l->to->log[i].tail_ps == healthy.to->log[i].tail_ps);
        CHECK(f.l->engine.dropped() == (cut ? 1 : 0));
        CHECK(f.l->engine.packets_inside() == k_packets - done - (cut ? 1 : 0));
        const link_failure failure = f.l->engine.link_failures().at(0);
        CHECK(failure.affected == (done < k_packets));
        CHECK(failure.lost_packets == (cut ? 1 : 0));
        CHECK((failure.waiting == 1) == (f.l->engine.packets_inside() > 0));
        CHECK(f.l->engine.link_busy_ps(f.l->link) ==
              done * serialisation + (cut ? f.at - first - done * serialisation : 0));
        CHECK_FALSE(f.l->engine.link_up(f.l->link));
        if (failure.waiting > 0)
            CHECK(f.l->engine.describe_blocked().find("r0.right: the link went down at ") != std::string::npos);
    }
}

namespace {
std::uint64_t bytes_of(const std::vector<arrived>& log)
{
    std::uint64_t bytes = 0;
    for (const arrived& a : log)
        bytes += a.payload_bytes;
    return bytes;
}
} // namespace

TEST_CASE("of a train those packets get through a failing link that would by themselves")
{
    fabric_bench b;
    b.format = plain_format();
    struct pair {
        std::uint64_t at;
        std::unique_ptr<line> packets, burst;
    };
    std::vector<pair> all;
    const std::uint64_t first = k_start + 4'000;
    const std::uint64_t message = k_packets * wire_rate(656_Gbps).time_ps(256);
    for (std::uint64_t at = first + 700; at < first + 2 * message; at += 1'013) {
        all.push_back({at, std::make_unique<line>(b, 256, 2 * k_packets),
                       std::make_unique<line>(b, std::uint64_t{256} * k_packets, 2)});
        all.back().packets->engine.fail_link_at(all.back().packets->link, at);
        all.back().burst->engine.fail_link_at(all.back().burst->link, at);
    }
    b.run();
    for (const pair& p : all) {
        INFO("down at " << p.at);
        // Serialisation of a train is rounded once, that of its packets each: up to 12 ps a message.
        const std::uint64_t into = (p.at - first) % (message / k_packets);
        if (into > 24 && into + 24 < message / k_packets)
            CHECK(bytes_of(p.burst->to->log) == bytes_of(p.packets->to->log));
        CHECK(p.burst->engine.audit() == "");
    }
}

TEST_CASE("a time of failure that is not reached or where nothing is sent changes nothing")
{
    fabric_bench b;
    b.format = plain_format();
    line late(b, 256, k_packets);
    late.engine.fail_link_at(late.link, 1'000'000'000);
    late.engine.fail_link_at(late.link, 2'000'000'000); // the earliest counts
    line elsewhere(b, 256, k_packets);
    elsewhere.engine.fail_link_at(elsewhere.engine.out_link(1, 1), 0);
    line healthy(b, 256, k_packets);
    b.run();
    CHECK(sc_core::sc_time_stamp().value() < 1'000'000'000); // no event waits for the failure
    CHECK(late.to->log == healthy.to->log);
    CHECK(late.engine.link_up(late.link));
    CHECK(late.engine.link_failures().at(0).at_ps == 1'000'000'000);
    CHECK_FALSE(late.engine.link_failures().at(0).affected);
    CHECK_FALSE(elsewhere.engine.link_failures().at(0).affected);
    CHECK_FALSE(elsewhere.engine.link_up(elsewhere.engine.out_link(1, 1)));
}
