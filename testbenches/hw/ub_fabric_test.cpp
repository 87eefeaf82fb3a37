// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Routing, timing and spreading of a UB fabric on a board written by hand.
#include "testbenches/hw/ub_bench.h"

#include <catch2/catch.hpp>

#include <set>

using namespace weft;
using namespace weft::literals;
using namespace weft::testing;

namespace {

ub_config quiet()
{
    ub_config c;
    c.paths = ub_path_use::shortest;
    return c;
}

/// Sends one packet of each payload between all pairs, each alone in the fabric, and compares with ub_zero_load_ps().
void check_zero_load(board_bench& b, const std::function<std::vector<std::uint32_t>(std::uint32_t, std::uint32_t)>& way)
{
    const std::uint64_t payloads[2][4] = {{0, 16, 512, 1024}, {4, 20, 516, 1020}}; // tell the die where a packet began
    const auto n = static_cast<std::uint32_t>(b.points.size());
    std::uint64_t at = 1'000'000;
    for (std::uint32_t from = 0; from < n; ++from)
        for (std::uint32_t die = 0; die < b.fabric->dies(from); ++die)
            for (std::uint32_t to = 0; to < n; ++to)
                for (const std::uint64_t payload : payloads[die])
                    if (from != to && !way(from, to).empty())
                        b.at(from, die).orders.push_back({at += 5'000'000, to, payload});
    b.bench.run();
    CHECK(b.bench.first_audit == "");
    CHECK(b.bench.wrong() == 0);
    CHECK(b.bench.received() == b.bench.ordered());
    CHECK(b.bench.pool.leak_report() == "");
    std::uint32_t bad = 0, checked = 0;
    for (std::uint32_t to = 0; to < n; ++to)
        for (const arrived& a : b.log(to)) {
            const auto links = way(a.source, to);
            const ub_device source = b.plan.routers[b.plan.endpoint_router[a.source]].device;
            const std::uint32_t die = a.payload_bytes % 8 == 4 ? 1 : 0;
            const std::uint64_t expected =
                ub_zero_load_ps(b.config, source, ub_hops(b.plan, links, die), a.payload_bytes);
            ++checked;
            if ((a.tail_ps - a.born_ps != expected || a.hops != links.size()) && bad++ == 0)
                FAIL_CHECK(fmt::format("{} to {}, {} B, {} hops: took {}, not {}", a.source, to, a.payload_bytes,
                                       a.hops, a.tail_ps - a.born_ps, expected));
        }
    CHECK(bad == 0);
    CHECK(checked == b.bench.ordered());
}

} // namespace

TEST_CASE("UB by tables: every pair of a board and the CPU sees the zero-load time of the formula")
{
    board_bench b(4, quiet(), false);
    auto paths = std::make_shared<board_paths>();
    board_plan(4, paths);
    const board_links& l = paths->links;
    check_zero_load(b, [&](std::uint32_t from, std::uint32_t to) -> std::vector<std::uint32_t> {
        if (from < 4 && to < 4)
            return {l.at(from, to)};
        return from < 4 ? std::vector<std::uint32_t>{l.up[from], l.cpu_down}
                        : std::vector<std::uint32_t>{l.cpu_up, l.down[to]};
    });
}

TEST_CASE("UB by source routes: direct links have the zero-load time of the formula")
{
    board_bench b(4, quiet());
    check_zero_load(b, [&](std::uint32_t from, std::uint32_t to) -> std::vector<std::uint32_t> {
        return from < 4 && to < 4 ? std::vector<std::uint32_t>{b.links().at(from, to)} : std::vector<std::uint32_t>{};
    });
}

namespace {
/// Keeps of each set the detour over the lowest NPU, or the way over the LRS.
struct only_one final : ub_path_source {
    std::shared_ptr<board_paths> all;
    ub_path_kind kind = ub_path_kind::detour;
    std::vector<ub_path> paths(std::uint32_t from, std::uint32_t to, const std::vector<bool>& down) const override
    {
        for (ub_path& p : all->paths(from, to, down))
            if (p.kind == kind)
                return {p};
        return {};
    }
};

void zero_load_of(ub_path_kind kind, bool mixed)
{
    fabric_bench bench;
    auto all = std::make_shared<board_paths>();
    all->mixed = mixed;
    auto one = std::make_shared<only_one>();
    one->kind = kind;
    one->all = all;
    ub_config c;
    ub_plan plan = board_plan(4, all);
    plan.paths = one;
    ub_fabric fabric("ub", bench.time, bench.pool, plan, c);
    bench.format = c.format();
    endpoint& a = bench.new_endpoint(0, k_ub_vls, c.local_port_rate, 0);
    a.out.bind(fabric.controller(0).in);
    fabric.controller(0).out.bind(a.in);
    std::vector<endpoint*> others;
    for (std::uint32_t e = 0; e < fabric.endpoints(); ++e)
        for (std::uint32_t die = 0; die < fabric.dies(e); ++die)
            if (e != 0 || die != 0) {
                endpoint& p = bench.new_endpoint(e, k_ub_vls, c.local_port_rate, static_cast<std::uint8_t>(die));
                p.out.bind(fabric.controller(e, die).in);
                fabric.controller(e, die).out.bind(p.in);
                others.push_back(&p);
            }
    a.orders = {{1'000'000, 3, 1024}, {9'000'000, 2, 40}};
    bench.run();
    CHECK(bench.wrong() == 0);
    CHECK(fabric.engine().audit() == "");
    std::size_t seen = 0;
    for (const endpoint* p : others)
        for (const arrived& r : p->log) {
            const std::uint32_t to = r.payload_bytes == 1024 ? 3 : 2;
            const auto way = one->paths(0, to, {});
            REQUIRE(way.size() == 1);
            CHECK(r.hops == 2);
            CHECK(r.tail_ps - r.born_ps ==
                  ub_zero_load_ps(c, ub_device::npu, ub_hops(plan, way[0].links, 0), r.payload_bytes));
            ++seen;
        }
    CHECK(seen == 2);
}
} // namespace

TEST_CASE("UB: a detour by two instructions takes the time of the formula")
{
    zero_load_of(ub_path_kind::detour, false);
}
TEST_CASE("UB: a detour by an instruction and a table takes the time of the formula")
{
    zero_load_of(ub_path_kind::detour, true);
}
TEST_CASE("UB: a way over a switch takes the time of the formula") { zero_load_of(ub_path_kind::borrow, false); }

namespace {
/// Bytes of payload per picosecond from NPU 0 to NPU 1 of a board of four, `kind` in use.
double throughput(const ub_config& c, std::uint32_t packets = 3000, std::size_t* overtaken = nullptr)
{
    board_bench b(4, c);
    for (std::uint32_t i = 0; i < packets; ++i)
        b.at(0).orders.push_back({1'000'000, 1, 1024});
    for (endpoint* p : b.points[1])
        p->receive_cells = 1 << 20;
    b.bench.run();
    CHECK(b.bench.first_audit == "");
    CHECK(b.bench.received() == packets);
    CHECK(b.bench.pool.leak_report() == "");
    CHECK(b.fabric->idle());
    if (overtaken != nullptr)
        *overtaken = b.bench.overtaken();
    std::uint64_t first = k_never_ps, last = 0;
    for (const arrived& a : b.log(1)) {
        first = std::min(first, a.tail_ps);
        last = std::max(last, a.tail_ps);
    }
    return static_cast<double>(packets - 1) * 1024 / static_cast<double>(last - first);
}
} // namespace

namespace {
/// Payload rate of `n` x4 links of the default configuration, in bytes per picosecond.
double rate_of_links(std::uint32_t n)
{
    const ub_config c;
    const double share = 1024.0 / static_cast<double>(c.format().wire_bytes_of_one(1024));
    return n * static_cast<double>(c.link_rate(4).value()) / 8e12 * share;
}
} // namespace

TEST_CASE("UB: one path fills its link") { CHECK(throughput(quiet()) == Approx(rate_of_links(1)).epsilon(0.01)); }

TEST_CASE("UB: packets over the direct way and two detours reach three times a link")
{
    ub_config c;
    c.paths = ub_path_use::detour;
    CHECK(throughput(c) == Approx(rate_of_links(3)).epsilon(0.02));
}

TEST_CASE("UB: with the way over the switch it is four times")
{
    CHECK(throughput(ub_config{}) == Approx(rate_of_links(4)).epsilon(0.02));
}

TEST_CASE("UB: the same with one FIFO per input buffer")
{
    ub_config c;
    c.voq = false;
    CHECK(throughput(c) == Approx(rate_of_links(4)).epsilon(0.02));
}

TEST_CASE("UB: the same by the shortest queue")
{
    ub_config c;
    c.choice = ub_choice::adaptive;
    // Queues that hold 576 packets empty at different times: 10 % of 3,000 packets, 3 % of 12,000; with 64 they are 3 and 1 %.
    CHECK(throughput(c, 12'000) == Approx(rate_of_links(4)).epsilon(0.04));
}

namespace {
/// Trains of many lengths from NPU 0 to NPU 1 of a board of four: together, each link carries its share to the packet.
void trains_keep_weights(std::uint32_t weight_of_direct)
{
    ub_config c;
    c.die_crossing = duration(1'000'000); // ways that take so little longer than the quickest one count as alike
    board_bench b(4, c, true, [=](board_paths& p) { p.weight_of_direct = weight_of_direct; });
    const std::uint32_t round = weight_of_direct + 3; // two detours, and over the LRS
    std::uint32_t sent = 0;
    const auto send = [&](std::uint32_t packets) {
        b.at(0).orders.push_back({1'000'000, 1, packets * 1024ull});
        sent += packets;
    };
    for (const std::uint32_t n : {2u, 7u, 11u, 12u, 13u, 16u, 24u, 25u, 29u, 31u, 40u}) {
        send(n);
        send(1);
    }
    while (sent % round != 0)
        send(1);
    for (endpoint* p : b.points[1])
        p->receive_cells = 1 << 20;
    b.bench.run();
    CHECK(b.bench.first_audit == "");
    CHECK(b.bench.pool.leak_report() == "");
    CHECK(b.fabric->idle());
    CHECK(b.fabric->engine().link_packets(b.links().at(0, 1)) == sent / round * weight_of_direct);
    for (const std::uint32_t link : {b.links().up[0], b.links().at(0, 2), b.links().at(0, 3)})
        CHECK(b.fabric->engine().link_packets(link) == sent / round);
}
} // namespace

TEST_CASE("UB: trains of any length give each link as many packets as another")
{
    trains_keep_weights(1);
}

TEST_CASE("UB: trains of any length give each link the packets of its weight")
{
    trains_keep_weights(5);
}

TEST_CASE("UB: a flow keeps to one path and its order")
{
    ub_config c;
    c.spreading = ub_spreading::flow;
    std::size_t overtaken = 1;
    CHECK(throughput(c, 1000, &overtaken) == Approx(rate_of_links(1)).epsilon(0.01));
    CHECK(overtaken == 0);
}

TEST_CASE("UB: links with bit errors deliver everything in more time")
{
    ub_config c = quiet();
    c.bit_error_rate = 1e-6; // one packet in 110 is sent again
    const double rate = throughput(c);
    CHECK(rate < rate_of_links(1) * 0.995);
    CHECK(rate > rate_of_links(1) * 0.5);
}
