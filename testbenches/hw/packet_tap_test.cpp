// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A tap on the links of a fabric: every packet once for each link, when its last byte has left, and what became of it.
#include "testbenches/hw/fabric_bench.h"

#include <catch2/catch.hpp>
#include <set>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

struct told {
    std::uint32_t wire, message, packets, payload_bytes;
    std::uint64_t now_ps, time_ps;
    wire_fate fate;
};

class recording_tap final : public packet_tap {
public:
    std::vector<std::string> wires;
    std::vector<told> all;
    std::set<std::string> hidden;

private:
    std::uint32_t add_wire(const component& owner, std::uint32_t wire, wire_protocol protocol) override
    {
        CHECK(protocol == wire_protocol::fabric);
        if (hidden.count(owner.wire_name(wire)) != 0)
            return k_hidden;
        wires.push_back(owner.wire_name(wire));
        return static_cast<std::uint32_t>(wires.size() - 1);
    }
    void on_packet(std::uint32_t wire, const packet& p, std::uint64_t now_ps, std::uint64_t time_ps, wire_fate fate, const char*) override
    {
        all.push_back({wire, p.message, p.packet_count, p.payload_bytes, now_ps, time_ps, fate});
    }
    void on_reset(std::uint32_t, std::uint32_t) override {}
};

/// Drops the second packet that it sees, and damages the third.
class second_and_third final : public link_fault_if {
    std::uint32_t seen_ = 0;
    link_verdict on_packet(std::uint64_t, const packet&) override
    {
        link_verdict v;
        ++seen_;
        v.drop = seen_ == 2;
        v.corrupt = seen_ == 3;
        return v;
    }
};

} // namespace

TEST_CASE("a tap hears every packet on every link of a fabric and what became of it")
{
    constexpr std::uint64_t k_start = 1'000'000, k_bytes = 256, k_packets = 12, k_pipeline_ps = 4'000, k_wire_ps = 25'000;
    fabric_bench b;
    b.format.charge_header_on_wire = false;
    second_and_third hook;
    recording_tap tap;
    tap.hidden = {"r1.left"};
    fabric_engine& e = b.add_engine({1, 4_ns, true}, [](std::uint32_t router, std::uint32_t, const packet& p) {
        const std::uint32_t there = p.destination == 0 ? 0 : 2;
        return route_decision{static_cast<std::uint16_t>(there > router ? 0 : there < router ? 1 : 2), 0};
    });
    for (std::uint32_t r = 0; r < 3; ++r)
        e.add_router(3, fmt::format("r{}", r));
    e.set_port_names({"right", "left", "local"});
    const fabric_link_params local{1312_Gbps, 0_ns, 288};
    endpoint& from = b.add_endpoint(e, 0, 2, local, 0);
    endpoint& to = b.add_endpoint(e, 2, 2, local, 1);
    std::vector<std::uint32_t> right;
    for (std::uint32_t r = 0; r < 2; ++r) {
        right.push_back(e.add_link(r, 0, r + 1, 1, {656_Gbps, 25_ns, 288}));
        e.add_link(r + 1, 1, r, 0, {656_Gbps, 25_ns, 288});
    }
    e.finish_build();
    e.set_fault_hook(right[0], &hook);
    const std::uint64_t serialisation = wire_rate(656_Gbps).time_ps(k_bytes);
    const std::uint64_t first = k_start + k_pipeline_ps;                     // of link 0
    const std::uint64_t second = first + k_wire_ps + k_pipeline_ps;          // the first packet on link 1
    e.fail_link_at(right[1], second + 10 * serialisation + serialisation / 2); // in the middle of the eleventh place
    e.tap_wires(tap);
    for (std::uint64_t i = 0; i < k_packets; ++i)
        from.orders.push_back({k_start, 1, k_bytes});
    b.run();

    REQUIRE(tap.wires == std::vector<std::string>{"r0.right", "r1.right", "r2.left"});
    std::vector<told> on[2];
    for (const told& t : tap.all) {
        REQUIRE(t.wire < 2); // nothing goes back
        CHECK(t.packets == 1);
        CHECK(t.payload_bytes == k_bytes);
        CHECK(t.time_ps >= t.now_ps);
        on[t.wire].push_back(t);
    }
    REQUIRE(on[0].size() == k_packets);
    for (std::size_t i = 0; i < k_packets; ++i) {
        INFO(i);
        CHECK(on[0][i].message == i);
        CHECK(on[0][i].time_ps == first + (i + 1) * serialisation);
        CHECK(on[0][i].fate == (i == 1 ? wire_fate::lost : i == 2 ? wire_fate::damaged : wire_fate::carried));
    }
    // Link 1 has no second packet; the one that is cut in the middle is lost, and what stands behind it is not told.
    REQUIRE(on[1].size() == to.log.size() + 1);
    REQUIRE(on[1].size() == 10);
    for (std::size_t i = 0; i < on[1].size(); ++i) {
        INFO(i);
        const std::size_t place = i == 0 ? 0 : i + 1;
        CHECK(on[1][i].message == place);
        CHECK(on[1][i].time_ps == second + (place + 1) * serialisation);
        CHECK(on[1][i].fate == (i + 1 == on[1].size() ? wire_fate::lost : place == 2 ? wire_fate::damaged : wire_fate::carried));
    }
}
