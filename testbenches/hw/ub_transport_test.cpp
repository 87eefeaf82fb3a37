// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Mode rtp on a fabric that loses, doubles and delays: every packet exactly once, or its pair is reported.
#include "testbenches/hw/ub_bench.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

ub_config reliable()
{
    ub_config c;
    c.transport = ub_transport::rtp;
    return c;
}

/// Drops and damages packets at random.
struct bad_wire final : link_fault_if {
    traffic_random random{11};
    std::uint32_t drop_of_1000 = 0, damage_of_1000 = 0, delay_of_1000 = 0;
    std::uint64_t dropped = 0;
    link_verdict on_packet(std::uint64_t, const packet&) override
    {
        link_verdict v;
        v.drop = random.below(1000) < drop_of_1000;
        dropped += v.drop;
        v.corrupt = random.below(1000) < damage_of_1000;
        if (random.below(1000) < delay_of_1000)
            v.extra_delay_ps = 60'000'000; // longer than the first wait for an acknowledgement
        return v;
    }
};

void all_to_all(board_bench& b, std::uint32_t npus, std::uint32_t packets, std::uint64_t at_ps = 1'000'000)
{
    for (std::uint32_t from = 0; from < npus; ++from)
        for (std::uint32_t i = 0; i < packets; ++i)
            for (std::uint32_t k = 1; k < npus; ++k)
                b.at(from, i % 2).orders.push_back({at_ps, (from + k) % npus, 1024});
}

/// What arrived more than once, or not at all. Message numbers count per sending endpoint, of which an NPU has two.
struct outcome {
    std::size_t lost = 0, doubled = 0;
};
outcome compare(const board_bench& b)
{
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> balance; // source, destination
    for (std::uint32_t e = 0; e < b.points.size(); ++e)
        for (const endpoint* p : b.points[e])
            for (const send_order& o : p->orders)
                ++balance[{e, o.destination}];
    for (std::uint32_t e = 0; e < b.points.size(); ++e)
        for (const arrived& a : b.log(e))
            --balance[{a.source, e}];
    outcome o;
    for (const auto& pair : balance) {
        o.lost += pair.second > 0 ? static_cast<std::size_t>(pair.second) : 0;
        o.doubled += pair.second < 0 ? static_cast<std::size_t>(-pair.second) : 0;
    }
    return o;
}

void check_clean(const board_bench& b)
{
    CHECK(b.bench.first_audit == "");
    CHECK(b.bench.wrong() == 0);
    CHECK(b.fabric->idle());
    CHECK(b.fabric->engine().packets_inside() == 0);
    CHECK(b.fabric->engine().describe_blocked() == "");
}

} // namespace

TEST_CASE("rtp on good links: each packet once and nothing sent again")
{
    board_bench b(4, reliable());
    all_to_all(b, 4, 200);
    b.bench.run();
    check_clean(b);
    const outcome o = compare(b);
    CHECK(o.lost == 0);
    CHECK(o.doubled == 0);
    CHECK(b.fabric->sum(&ub_endpoint::sent) == 4 * 3 * 200);
    CHECK(b.fabric->sum(&ub_endpoint::delivered) == 4 * 3 * 200);
    CHECK(b.fabric->sum(&ub_endpoint::resent) == 0);
    CHECK(b.fabric->sum(&ub_endpoint::duplicates_dropped) == 0);
    CHECK(b.fabric->sum(&ub_endpoint::acknowledgements) < 4 * 3 * 200 / 4);
    CHECK(b.bench.pool.leak_report() == "");
}

TEST_CASE("rtp over wires that lose 1 % and damage and delay packets: each packet once")
{
    bad_wire wire;
    wire.drop_of_1000 = 10;
    wire.damage_of_1000 = 5;
    wire.delay_of_1000 = 2;
    board_bench b(4, reliable());
    for (std::uint32_t l = 0; l < b.plan.links.size(); ++l)
        b.fabric->engine().set_fault_hook(b.fabric->link_of(l), &wire);
    all_to_all(b, 4, 400);
    b.bench.run();
    check_clean(b);
    const outcome o = compare(b);
    CHECK(o.lost == 0);
    CHECK(o.doubled == 0);
    CHECK(wire.dropped > 30);
    CHECK(b.fabric->sum(&ub_endpoint::resent) > 30);
    CHECK(b.fabric->sum(&ub_endpoint::duplicates_dropped) > 0);
    CHECK(b.fabric->sum(&ub_endpoint::corrupted_dropped) > 0);
    CHECK(b.fabric->sum(&ub_endpoint::given_up) == 0);
    CHECK(b.fabric->unreachable().empty());
    CHECK(b.bench.pool.leak_report() == "");
}

TEST_CASE("rtp: links that die under load lose nothing while another path is left")
{
    board_bench b(4, reliable());
    all_to_all(b, 4, 500);
    const std::uint32_t ways[] = {b.links().at(0, 1), b.links().at(1, 0), b.links().at(2, 0), b.links().up[3]};
    for (std::uint32_t i = 0; i < 4; ++i) {
        b.fabric->fail_link_at(ways[i], 3'000'000 + i * 1'000'000);
        for (std::uint32_t source = 0; source < 4; ++source)
            b.fabric->exclude_at(source, ways[i], 16'000'000 + i * 1'000'000);
    }
    b.bench.run();
    check_clean(b);
    const outcome o = compare(b);
    CHECK(o.lost == 0);
    CHECK(o.doubled == 0);
    CHECK(b.fabric->sum(&ub_endpoint::resent) > 0);
    CHECK(b.fabric->unreachable().empty());
    CHECK(b.bench.pool.leak_report() == "");
}

TEST_CASE("rtp: a destination without any path left is reported by name and the others go on")
{
    ub_config c = reliable();
    c.rtp_timeout = 5_us;
    board_bench b(4, c);
    all_to_all(b, 4, 200);
    b.at(0).orders.push_back({9'000'000'000, 3, 1024}); // long after the fact
    // All links into NPU 3 die; who has heard of it finds no path, who has not gives up.
    std::vector<std::uint32_t> into;
    for (std::uint32_t l = 0; l < b.plan.links.size(); ++l)
        if (b.plan.links[l].to == 3)
            into.push_back(l);
    for (const std::uint32_t l : into) {
        b.fabric->fail_link_at(l, 2'000'000);
        b.fabric->exclude_at(0, l, 20'000'000);
    }
    b.bench.run();
    check_clean(b);
    const auto pairs = b.fabric->unreachable();
    CHECK(pairs == std::vector<std::pair<std::uint32_t, std::uint32_t>>{
                       {0, 3}, {1, 3}, {2, 3}, {3, 0}, {3, 1}, {3, 2}}); // acknowledgements to NPU 3 are lost as well
    CHECK(b.fabric->unreachable_text(1) == "npu(0) cannot reach npu(3)\n... and 5 more pairs");
    CHECK(compare(b).doubled == 0);
    std::map<std::uint32_t, std::size_t> arrived_at;
    for (std::uint32_t e = 0; e < 3; ++e)
        for (const arrived& a : b.log(e))
            ++arrived_at[a.source * 10 + e];
    for (std::uint32_t from = 0; from < 3; ++from)
        for (std::uint32_t to = 0; to < 3; ++to)
            if (from != to)
                CHECK(arrived_at[from * 10 + to] == 200);
    CHECK(b.fabric->sum(&ub_endpoint::given_up) > 0);
    CHECK(b.fabric->sum(&ub_endpoint::not_sent) > 0);
    CHECK(b.bench.pool.leak_report() == "");
}

TEST_CASE("ctp: without a path packets are not sent and counted and reported; with one again they are")
{
    board_bench b(4, ub_config{});
    for (std::uint32_t l = 0; l < b.plan.links.size(); ++l)
        if (b.plan.links[l].from == 0) {
            b.fabric->exclude_at(0, l, 1'000'000);
            b.fabric->readmit_at(0, l, 50'000'000);
        }
    for (std::uint32_t i = 0; i < 10; ++i) {
        b.at(0).orders.push_back({2'000'000, 2, 512});
        b.at(1).orders.push_back({2'000'000, 2, 512});
    }
    for (std::uint32_t i = 0; i < 10; ++i)
        b.at(0).orders.push_back({60'000'000, 2, 512});
    b.bench.run();
    check_clean(b);
    CHECK(b.log(2).size() == 20);
    CHECK(b.fabric->sum(&ub_endpoint::not_sent) == 10);
    CHECK(b.bench.pool.leak_report() == "");
}

TEST_CASE("64+1: another chip stands for a rank with a fresh transport")
{
    board_bench b(4, reliable());
    for (std::uint32_t i = 0; i < 50; ++i)
        b.at(0).orders.push_back({1'000'000, 1, 1024});
    for (std::uint32_t i = 0; i < 50; ++i)
        b.at(0).orders.push_back({100'000'000, 1, 1024});
    b.at(3).orders.push_back({110'000'000, 0, 64}); // who sends from NPU 3 is then rank 1
    b.bench.events.at(50'000'000, [&] { b.fabric->take_over(1, 3); });
    b.bench.run();
    CHECK(b.bench.wrong() == 50); // the bench's endpoint at NPU 3 thinks that they were for NPU 1
    CHECK(b.bench.first_audit == "");
    CHECK(b.fabric->idle());
    CHECK(b.log(1).size() == 50);
    CHECK(b.log(3).size() == 50);
    REQUIRE(b.log(0).size() == 1);
    CHECK(b.log(0)[0].source == 1);
    CHECK(b.bench.pool.leak_report() == "");
}

namespace {
void classes_apart(bool voq)
{
    ub_config c;
    c.voq = voq;
    c.paths = ub_path_use::shortest;
    board_bench b(4, c);
    for (int i = 0; i < 2000; ++i)
        b.at(0).orders.push_back({1'000'000, 1, 1024});
    b.at(0, 1).orders.push_back({400'000'000, 1, 64, 0, 2}); // VL 2: response, lane 0
    for (endpoint* p : b.points[1]) {
        p->receive_cells = 16;
        p->stall_below_ps = 0;
        p->hold_vl = 0;
    }
    b.bench.run();
    std::size_t responses = 0;
    for (const arrived& a : b.log(1))
        responses += a.vl == 2 ? 1 : 0;
    CHECK(responses == 1);
    CHECK(b.log(1).size() < 100);
}
} // namespace

TEST_CASE("message classes: requests that nobody takes do not hold up responses") { classes_apart(true); }
TEST_CASE("message classes: the same with one FIFO per input buffer") { classes_apart(false); }
