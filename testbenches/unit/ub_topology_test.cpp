// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The lane ledger of UB-Mesh against the printed figures, and tables that lead everywhere.
#include "hw/routing/ub/ub_topology.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace weft;

namespace {

ub_shape rack_shape()
{
    ub_shape s;
    return s;
}
ub_shape pod_shape(std::uint32_t pods, std::uint32_t rows, std::uint32_t cols, bool hrs)
{
    ub_shape s;
    s.pods = pods;
    s.rack_rows = rows;
    s.rack_cols = cols;
    s.hrs = hrs;
    return s;
}
ub_shape small(ub_shape s, std::uint32_t boards, std::uint32_t npus)
{
    s.boards = boards;
    s.npus = npus;
    return s;
}

/// Links of the way by tables, `flow` choosing among equal ways; 0 when it leads nowhere.
std::uint32_t table_hops(const ub_topology& t, std::uint32_t from, std::uint32_t to, std::uint32_t flow)
{
    std::uint32_t at = from;
    for (std::uint32_t hops = 0; hops < 16; ++hops) {
        if (at == to)
            return hops;
        const abi::ub::table_entry e = look_up(t.table_of(at), t.address_of(to));
        if (e.ways == 0)
            return 0;
        const std::uint32_t l = t.out_link(at, e.port + (flow + hops) % e.ways);
        if (l == ub_topology::k_none)
            return 0;
        at = t.plan().links[l].to;
    }
    return 0;
}

/// Pairs of endpoints that the tables do not join, and the longest way.
struct walk_result {
    std::uint32_t broken = 0, longest = 0, npu_not_shortest = 0;
};
walk_result walk_all(const ub_topology& t, std::uint32_t stride = 1)
{
    walk_result w;
    for (std::uint32_t from = 0; from < t.endpoints(); from += stride) {
        const auto best = t.hops_from(from);
        REQUIRE(look_up(t.table_of(from), t.address_of(from)).ways == 0);
        for (std::uint32_t to = 0; to < t.endpoints(); ++to) {
            if (to == from)
                continue;
            const std::uint32_t hops = table_hops(t, from, to, from * 7 + to);
            if (hops == 0 && w.broken++ < 3)
                UNSCOPED_INFO(t.plan().routers[from].name << " to " << t.plan().routers[to].name);
            w.longest = std::max(w.longest, hops);
            if (to < t.shape().ranks() && from < t.shape().ranks() && hops != best[to])
                ++w.npu_not_shortest;
        }
    }
    return w;
}

} // namespace

TEST_CASE("lane ledger of a rack")
{
    const ub_topology t(rack_shape());
    const ub_ledger g = t.ledger();
    INFO(g.text());
    CHECK(g.violations.empty());
    CHECK(g.npus == 64);
    CHECK(g.spares == 1);
    CHECK(g.cpus == 8);
    CHECK(g.nics == 8);
    CHECK(g.lrs == 48);
    CHECK(g.hrs == 0);
    CHECK(g.ports_per_npu == 18);
    CHECK(g.lanes_per_npu == 72);
    CHECK(g.lanes_x == 28);
    CHECK(g.lanes_y == 28);
    CHECK(g.lanes_backplane == 16);
    CHECK(g.share_rack == 56);
    CHECK(g.lanes_per_cpu == 32);
    CHECK(g.lanes_per_spare == 64);
    CHECK(g.most_lanes_spine == 40); // the 36 of the figure and a NIC
    CHECK(t.plan().routers[0].second_die_from == 9);
    for (const ub_link_plan& l : t.plan().links)
        if (l.from < 64 && l.channel != ub_channel::up)
            CHECK((l.from_port < 9) == (l.channel == ub_channel::x_plus || l.channel == ub_channel::x_minus));
}

TEST_CASE("lane ledger of the SuperPod: V1")
{
    const ub_topology t(pod_shape(8, 4, 4, true));
    const ub_ledger g = t.ledger();
    INFO(g.text());
    CHECK(g.violations.empty());
    CHECK(g.npus == 8192);
    CHECK(g.lrs == 128 * 48);
    CHECK(g.hrs == 64);
    CHECK(g.lanes_per_npu == 72);
    CHECK(g.most_lanes_leaf == 72);
    CHECK(g.most_lanes_hrs == 512);
    CHECK(g.export_per_plane == 256);
    CHECK(g.export_per_rack == 1024);
    CHECK(g.lanes_per_rack_link == 128);
    CHECK(g.share_rack == 56);
    CHECK(g.share_inter_rack == 12);
    CHECK(g.share_hrs == 4);
    CHECK(g.table_bytes_npu < 200);
    CHECK(g.flat_table_bytes >= 2 * 8192);
    const auto name = t.plan().routers[t.npu_router(((1 * 16 + 3) * 8 + 2) * 8 + 5)].name;
    CHECK(name == "npu(p1,r3,b2,5)");
    CHECK(t.rank_of(t.address_of(4711)) == 4711);
    const auto hops = t.hops_from(0);
    CHECK(*std::max_element(hops.begin(), hops.end()) == 5);
}

TEST_CASE("lanes may be shared out otherwise as long as they fit")
{
    ub_shape s = pod_shape(1, 4, 4, true);
    s.backplane_lanes = 32; // x32 between racks: eight backplanes
    s.rack_link_lanes = 256;
    s.x_lanes = 4;
    s.y_lanes = 1;
    const ub_ledger wide = ub_topology(s).ledger();
    INFO(wide.text());
    CHECK(wide.planes == 8);
    CHECK(wide.lanes_per_npu == 28 + 7 + 32);
    CHECK(wide.lanes_per_rack_link == 256);
    CHECK(wide.violations.empty());
    s.y_lanes = 4;
    const ub_ledger over = ub_topology(s).ledger();
    REQUIRE(over.violations.size() == 1);
    CHECK(over.violations[0] == "an NPU uses x88 of x72: npu(p0,r0,b0,0)");
    s = pod_shape(1, 4, 4, false);
    s.backplane_lanes = 8;
    s.rack_link_lanes = 100;
    const ub_ledger odd = ub_topology(s).ledger();
    REQUIRE(odd.violations.size() == 1);
    CHECK(odd.violations[0] == "x100 between two racks does not divide among 32 leaf LRS: x96 built");
    s.backplane_lanes = 4;
    s.rack_link_lanes = 32;
    const ub_ledger narrow = ub_topology(s).ledger();
    CHECK(narrow.violations.empty());
    CHECK(narrow.lanes_backplane == 4);
    s.hrs = true; // links from leaves to HRS are as wide as those of NPUs to leaves
    for (const auto& [lanes, to_hrs] : {std::pair<std::uint32_t, std::uint32_t>{4, 1}, {8, 2}, {16, 4}, {32, 8}}) {
        s.backplane_lanes = lanes;
        s.rack_link_lanes = lanes * 8;
        const ub_ledger l = ub_topology(s).ledger();
        INFO(l.text());
        CHECK(l.share_hrs == to_hrs);
        if (lanes < 32) // x32 beside x28 + x28 is more than an NPU has
            CHECK(l.violations.empty());
    }
}

TEST_CASE("ledgers of the baselines have the printed counts of switches")
{
    ub_shape s = rack_shape();
    s.rack = ub_rack_kind::full_mesh_1d_a;
    const ub_ledger a = ub_topology(s).ledger();
    INFO(a.text());
    CHECK(a.lrs == 36);
    CHECK(a.hrs == 4);
    CHECK(a.lanes_per_npu == 28 + 16 + 16);
    CHECK(a.lanes_per_cpu == 32);
    CHECK(a.violations.empty());
    s.rack_rows = s.rack_cols = 4;
    const ub_ledger a_pod = ub_topology(s).ledger();
    CHECK(a_pod.lanes_per_rack_link == 128);
    CHECK(a_pod.hrs == 64);
    CHECK(a_pod.violations.empty());
    s.rack = ub_rack_kind::full_mesh_1d_b;
    s.rack_link_lanes = 256;
    const ub_ledger b = ub_topology(s).ledger();
    INFO(b.text());
    CHECK(b.lrs == 16 * 16);
    CHECK(b.hrs == 16 * 8);
    CHECK(b.lanes_per_npu == 28 + 32);
    CHECK(b.lanes_per_rack_link == 256);
    CHECK(b.most_lanes_hrs == 512);
    CHECK(b.violations.empty());
    s = rack_shape();
    s.rack = ub_rack_kind::clos;
    const ub_ledger c = ub_topology(s).ledger();
    INFO(c.text());
    CHECK(c.lrs == 72);
    CHECK(c.hrs == 0);
    CHECK(c.lanes_per_npu == 72);
    CHECK(c.lanes_per_cpu == 32);
    CHECK(c.most_lanes_lrs == 72);
    CHECK(c.violations.empty());
    s = pod_shape(1, 4, 4, true);
    s.pod = ub_pod_kind::clos;
    const ub_ledger d = ub_topology(s).ledger();
    INFO(d.text());
    CHECK(d.hrs == 32);
    CHECK(d.export_per_rack == 1024);
    CHECK(d.most_lanes_hrs == 512);
    CHECK(d.violations.empty());
}

TEST_CASE("tables lead everywhere and between NPUs of 2d_fm by a shortest way")
{
    std::vector<ub_shape> shapes;
    ub_shape bare = small(rack_shape(), 1, 8);
    bare.backplane = false;
    shapes.push_back(bare);
    shapes.push_back(small(bare, 3, 4));
    shapes.push_back(small(rack_shape(), 1, 8));
    shapes.push_back(rack_shape());
    shapes.push_back(small(pod_shape(1, 2, 2, false), 4, 4));
    shapes.push_back(small(pod_shape(1, 3, 2, true), 3, 4));
    shapes.push_back(small(pod_shape(3, 2, 2, true), 4, 2));
    ub_shape clos_pod = small(pod_shape(1, 2, 2, true), 4, 4);
    clos_pod.pod = ub_pod_kind::clos;
    shapes.push_back(clos_pod);
    for (const ub_shape& s : shapes) {
        CAPTURE(s.pods, s.rack_rows, s.rack_cols, s.boards, s.npus, s.backplane);
        const ub_topology t(s);
        const walk_result w = walk_all(t);
        CHECK(w.broken == 0);
        CHECK(w.npu_not_shortest == 0);
    }
    for (const ub_rack_kind kind : {ub_rack_kind::full_mesh_1d_a, ub_rack_kind::full_mesh_1d_b, ub_rack_kind::clos}) {
        ub_shape s = small(rack_shape(), 4, 4);
        s.rack = kind;
        const walk_result one = walk_all(ub_topology(s));
        CHECK(one.broken == 0);
        if (kind == ub_rack_kind::clos)
            continue;
        s.rack_rows = s.rack_cols = 2;
        const walk_result pod = walk_all(ub_topology(s));
        CHECK(pod.broken == 0);
    }
    const walk_result pod = walk_all(ub_topology(pod_shape(8, 4, 4, true)), 997);
    CHECK(pod.broken == 0);
    CHECK(pod.npu_not_shortest == 0);
}

TEST_CASE("shapes that cannot be addressed are refused with a reason")
{
    ub_shape s = rack_shape();
    s.pods = 9;
    CHECK(ub_topology::problems(s).size() == 1);
    CHECK_THROWS(ub_topology(s));
    s.pods = 2;
    CHECK(ub_topology::problems(s).front() == "several pods need hrs: true");
    s.rack = ub_rack_kind::clos;
    CHECK(ub_topology::problems(s).size() == 3);
}
