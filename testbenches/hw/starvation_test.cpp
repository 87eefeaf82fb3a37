// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The share that each arbiter of a fabric gives to one requester while all others flood it: docs/03_timing_model.md, section 2.
#include "hw/fabric/output_arbiter.h"
#include "hw/memory/hbm.h"
#include "hw/tofino/recirculation_port.h"
#include "testbenches/hw/ethernet_bench.h"
#include "testbenches/hw/fabric_bench.h"
#include "testbenches/support/child.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

constexpr std::uint64_t k_start = 1'000'000;
packet_format plain_format()
{
    packet_format f;
    f.charge_header_on_wire = false;
    return f; // 256 B payload in 9 cells of 32 B, 16 B in 1 or 2
}

struct flood {
    std::uint32_t inputs = 4;         ///< the first one is the victim, the others flood
    std::uint32_t depth_cells = 512;  ///< behind the common output
    std::uint64_t victim_bytes = 256, flood_bytes = 256;
    std::uint32_t entries = 0;        ///< the first so many inputs are entries
    bool voq = false;
    int packets = 3000;               ///< of each
};

struct outcome {
    std::uint32_t longest_gap = 0; ///< the most transmissions of others between two of the victim
    bool well = false;
    child_text complaint;
};

/// Inputs of one router that all send to an endpoint behind another; looked at until the victim has sent so many.
std::uint32_t longest_gap(const flood& f, std::size_t of_victim)
{
    const outcome found = in_child<outcome>([&] {
        fabric_bench b;
        b.format = plain_format();
        fabric_config config{1, 4_ns, true};
        config.voq = f.voq;
        fabric_engine& engine = b.add_engine(config, [&](std::uint32_t router, std::uint32_t, const packet& p) {
            return route_decision{static_cast<std::uint16_t>(router == 0 ? (p.destination == f.inputs ? 0 : 1 + p.destination) : 1), p.vl};
        });
        engine.add_router(1 + f.inputs, "crowd");
        engine.add_router(2, "goal");
        for (std::uint32_t i = 0; i < f.entries; ++i)
            engine.set_entry_port(0, 1 + i);
        for (std::uint32_t i = 0; i < f.inputs; ++i)
            b.add_endpoint(engine, 0, 1 + i, {656_Gbps, 0_ns, 512}, i);
        endpoint& goal = b.add_endpoint(engine, 1, 1, {656_Gbps, 0_ns, 512}, f.inputs);
        engine.add_link(0, 0, 1, 0, {656_Gbps, 25_ns, f.depth_cells});
        engine.finish_build();
        for (std::uint32_t i = 0; i < f.inputs; ++i)
            for (int k = 0; k < f.packets; ++k)
                b.endpoints[i]->orders.push_back({k_start, f.inputs, i == 0 ? f.victim_bytes : f.flood_bytes});
        b.run();
        outcome o;
        o.well = b.first_audit.empty() && b.received() == b.ordered();
        std::uint32_t gap = 0;
        std::size_t seen = 0;
        for (const arrived& a : goal.log) {
            gap = a.source == 0 ? 0 : gap + 1;
            seen += a.source == 0 ? 1 : 0;
            if (seen == of_victim)
                break;
            o.longest_gap = std::max(o.longest_gap, gap);
        }
        return o;
    });
    CHECK(found.complaint.str() == "");
    CHECK(found.well);
    return found.longest_gap;
}

} // namespace

TEST_CASE("an output gives each input one transmission in n with one buffer and with virtual output queues")
{
    for (const bool voq : {false, true})
        for (const std::uint32_t inputs : {2u, 7u}) {
            flood f;
            f.voq = voq;
            f.inputs = inputs;
            CHECK(longest_gap(f, 3000) <= inputs);
        }
}

TEST_CASE("a large packet gets its turn among small ones of its lane that need fewer credits")
{
    // The buffer behind the output holds one large packet; small ones take each cell as it comes back.
    for (const bool voq : {false, true})
        for (const std::uint32_t inputs : {2u, 4u}) {
            flood f;
            f.voq = voq;
            f.inputs = inputs;
            f.depth_cells = 9;
            f.flood_bytes = 16;
            f.packets = 6000;
            CAPTURE(voq, inputs);
            // One of them waits at a time: it is passed by at most so many, and what is already in the buffer drains.
            CHECK(longest_gap(f, 60) <= output_arbiter::k_most_passes + 16);
        }
}

TEST_CASE("an entry gets one of 64 transmissions among relays and a relay among entries")
{
    for (const bool voq : {false, true})
        for (const std::uint32_t inputs : {3u, 6u}) {
            flood f;
            f.voq = voq;
            f.inputs = inputs;
            f.entries = 1; // relays flood
            CHECK(longest_gap(f, 40) <= output_arbiter::k_longest_run);
            f.entries = inputs - 1; // each entry in its turn
            CHECK(longest_gap(f, 40) <= (output_arbiter::k_longest_run + 1) * f.entries);
        }
}

TEST_CASE("memory serves an access behind those that came before it and no others")
{
    hbm_config c;
    c.capacity = 1_MiB;
    c.rate = 1_GBps; // 1 ns a byte
    c.latency = 100_ns;
    hbm m("hbm", c);
    traffic_random random(3);
    std::uint64_t now = 0, asked = 0; // ps, bytes that were asked for and are not served at `now`
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t passed = random.below(2'000'000);
        now += passed;
        asked -= std::min(asked, passed / 1000);
        for (std::uint32_t flooding = random.below(8); flooding > 0; --flooding) { // others, as much as they like
            const std::uint64_t bytes = 32 + random.below(1024);
            m.charge(now, 0, bytes, hbm::access::write);
            asked += bytes;
        }
        const std::uint64_t done = m.charge(now, 0, 64, hbm::access::read);
        asked += 64;
        CHECK(done <= now + (asked + 1) * 1000 + 100'000);
    }
}

TEST_CASE("ethernet: what an egress queue has taken leaves within its length and drop tail promises no more")
{
    fabric_bench b;
    constexpr std::uint64_t k_queue = 8192;
    test_port to("to", b.time, b.pool, bandwidth(100'000'000'000)), from("from", b.time, b.pool, bandwidth(100'000'000'000), data_size(k_queue));
    from.out.bind(to.in);
    to.out.bind(from.in);
    std::uint32_t victim = 0, victim_late = 0;
    for (int i = 0; i < 2000; ++i)
        b.events.at(k_start + static_cast<std::uint64_t>(i) * 500'000, [&] {
            const std::uint64_t now = b.time.now_ps();
            while (from.send(1000)) {
            }
            // Who comes when others have just filled the queue is dropped for as long as they do: a FIFO has no shares.
            victim += from.send(1000) ? 1 : 0;
            victim_late += from.mac.busy_until_ps() > now + k_queue * 80 ? 1 : 0;
        });
    b.run();
    CHECK(victim == 0);
    CHECK(victim_late == 0);
    CHECK(to.log.size() == from.mac.frames.value());
}

TEST_CASE("tofino: a recirculated packet that is taken leaves within the queue of its port")
{
    recirculation_port port;
    const wire_rate rate(bandwidth(100'000'000'000));
    constexpr std::uint64_t k_room_ps = 1'000'000;
    traffic_random random(5);
    std::uint64_t now = 0, taken = 0;
    for (int i = 0; i < 20'000; ++i) {
        now += random.below(60'000);
        const auto a = port.send(64 + random.below(1400), now, rate, k_room_ps);
        if (!a.ok)
            continue;
        ++taken;
        CHECK(a.start_ps + a.serialisation_ps <= now + k_room_ps);
    }
    CHECK(taken > 1000);
}
