// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Linear tables: the default way, always a shortest one in a 2d_fm fabric. Within a rack X, then Y; to another rack up in any plane,
// Z, then alpha, down to the right column, Y; to another pod up, HRS, down, Y; CPUs, NICs and spare NPU by the spines. A NIC hangs on one
// plane: who sends to it goes up in that plane, and what still comes to a leaf of another plane (from a NIC there) changes the plane at
// an NPU. In 1D-FM-A Y is a column's LRS, and another rack is reached through an HRS.
#include "hw/routing/ub/ub_topology.h"

#include <algorithm>

namespace weft {

namespace {

using abi::ub::node_kind;
using abi::ub::segment;
using abi::ub::table_entry;
using abi::ub::table_step;
using role = ub_place::role;
using entries = std::vector<table_entry>;

table_entry to_port(std::uint32_t port, std::uint32_t ways = 1)
{
    return {static_cast<std::uint8_t>(port), static_cast<std::uint8_t>(ways)};
}

/// Port to coordinate `to` of a mesh dimension whose ports begin at `first`; empty for the own one.
entries mesh_entries(std::uint32_t first, std::uint32_t own, std::uint32_t size)
{
    entries e(size);
    for (std::uint32_t to = 0; to < size; ++to)
        if (to != own)
            e[to] = to_port(first + (to < own ? to : to - 1));
    return e;
}

entries filled(std::size_t count, table_entry with) { return entries(count, with); }

/// By kind_and_unit: one entry for each NPU of a board, spare NPU, CPUs, NICs.
struct by_kind {
    entries e{32};
    template <class F> by_kind& set(node_kind kind, std::uint32_t count, F&& entry_of)
    {
        for (std::uint32_t j = 0; j < count; ++j)
            e[static_cast<std::uint32_t>(kind) * 8 + j] = entry_of(j);
        return *this;
    }
};

/// Segments of the entries of one router, one after the other.
struct table_maker {
    std::vector<table_step> steps;
    entries all;
    table_maker& step(segment what, const entries& e, bool always = false, segment condition = segment::itself)
    {
        table_step s;
        s.what = what;
        s.always = always;
        s.condition = condition;
        s.first = static_cast<std::uint16_t>(all.size());
        s.count = static_cast<std::uint16_t>(e.size());
        steps.push_back(s);
        all.insert(all.end(), e.begin(), e.end());
        return *this;
    }
    /// The same entries as the step before, asked on another condition.
    table_maker& again(segment condition)
    {
        table_step s = steps.back();
        s.always = false;
        s.condition = condition;
        steps.push_back(s);
        return *this;
    }
};

constexpr node_kind k_npu = node_kind::npu, k_spare = node_kind::spare_npu, k_cpu = node_kind::cpu,
                    k_nic = node_kind::nic;

bool same(const std::vector<table_step>& a, const std::vector<table_step>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const table_step& x, const table_step& y) {
        return x.what == y.what && x.always == y.always && x.first == y.first && x.count == y.count &&
               x.condition == y.condition;
    });
}

} // namespace

std::uint16_t ub_topology::add_table(std::vector<table_step> steps)
{
    for (std::size_t i = 0; i < plan_.tables.size(); ++i)
        if (same(plan_.tables[i].steps, steps))
            return static_cast<std::uint16_t>(i);
    plan_.tables.push_back({std::move(steps)});
    return static_cast<std::uint16_t>(plan_.tables.size() - 1);
}

void ub_topology::fill_tables()
{
    const std::uint32_t n = shape_.npus, boards = shape_.boards, all_npus = shape_.npus_per_rack(), x_ports = n - 1;
    const std::uint32_t links_out = shape_.pod == ub_pod_kind::clos ? 0 : shape_.rack_cols - 1 + shape_.rack_rows - 1;
    const bool mesh = shape_.rack == ub_rack_kind::full_mesh_2d, a = shape_.rack == ub_rack_kind::full_mesh_1d_a,
               b = shape_.rack == ub_rack_kind::full_mesh_1d_b, clos = shape_.rack == ub_rack_kind::clos;

    /// Other racks by `rack`: the column first.
    const auto racks_from = [&](const ub_place& at, std::uint32_t first) {
        entries e(16);
        const entries z = mesh_entries(first, static_cast<std::uint32_t>(at.col), shape_.rack_cols);
        const entries rows =
            mesh_entries(first + shape_.rack_cols - 1, static_cast<std::uint32_t>(at.row), shape_.rack_rows);
        for (std::uint32_t row = 0; row < shape_.rack_rows; ++row)
            for (std::uint32_t col = 0; col < shape_.rack_cols; ++col)
                e[row * 4 + col] = static_cast<std::int8_t>(col) != at.col ? z[col] : rows[row];
        return e;
    };
    const auto npus_by_place = [&](std::uint32_t first) {
        entries e(64);
        for (std::uint32_t y = 0; y < boards; ++y)
            for (std::uint32_t x = 0; x < n; ++x)
                e[y * 8 + x] = to_port(first + y * n + x);
        return e;
    };
    const auto constant = [](table_entry e) { return [e](std::uint32_t) { return e; }; };

    for (std::uint32_t r = 0; r < routers(); ++r) {
        const ub_place& at = places_[r];
        const auto unit = static_cast<std::uint32_t>(std::max<int>(at.unit, 0));
        const auto board = static_cast<std::uint32_t>(std::max<int>(at.board, 0));
        const auto plane = static_cast<std::uint32_t>(std::max<int>(at.plane, 0));
        table_maker t;
        by_kind k;
        const auto x_then = [&](const entries& y) {
            t.step(segment::unit, mesh_entries(0, unit, n)).step(segment::board, y);
        };
        switch (at.is) {
        case role::npu:
            if (clos) {
                k.set(k_npu, 8, constant(to_port(0, 72)));
                k.set(k_spare, 1, constant(to_port(40, 32))).set(k_cpu, cpus_, constant(to_port(0, 32)));
                k.set(k_nic, nics_, constant(to_port(32, 8)));
                t.step(segment::kind_and_unit, k.e).again(segment::board);
            } else if (b) {
                const table_entry up = to_port(x_ports, rack_hrs_);
                k.set(k_spare, 1, constant(up)).set(k_cpu, cpus_, constant(up));
                k.set(k_nic, nics_, [&](std::uint32_t j) { return to_port(x_ports + j); });
                t.step(segment::kind_and_unit, k.e, true).step(segment::rack, filled(16, up));
                t.step(segment::board, filled(boards, up)).step(segment::unit, mesh_entries(0, unit, n));
            } else if (a) {
                const table_entry lrs = to_port(x_ports, planes_);
                k.set(k_spare, 1, constant(lrs)).set(k_cpu, cpus_, constant(lrs));
                k.set(k_nic, nics_, [&](std::uint32_t j) { return to_port(x_ports + j % planes_); });
                t.step(segment::rack, filled(16, to_port(x_ports + planes_, rack_hrs_)));
                t.step(segment::kind_and_unit, k.e, true);
                x_then(filled(boards, lrs));
            } else if (!shape_.backplane) {
                x_then(mesh_entries(x_ports, board, boards));
            } else {
                const table_entry up = to_port(x_ports, planes_);
                const table_entry spined = to_port(x_ports, k_least_planes);
                k.set(k_spare, 1, constant(spined)).set(k_cpu, cpus_, constant(spined));
                k.set(k_nic, nics_, [&](std::uint32_t j) { return to_port(x_ports + j / 2); });
                t.step(segment::kind_and_unit, k.e, true);
                if (shape_.pods > 1)
                    t.step(segment::pod, filled(8, up));
                if (shape_.racks_per_pod() > 1)
                    t.step(segment::rack, filled(16, up));
                x_then(mesh_entries(x_ports + planes_, board, boards));
            }
            break;
        case role::spare:
        case role::cpu:
        case role::nic: {
            const std::uint32_t ports = plan_.routers[r].ports;
            const table_entry any = to_port(0, ports);
            k.set(k_npu, 8, constant(any)).set(k_spare, 1, constant(any)).set(k_cpu, 8, constant(any));
            k.set(k_nic, 8, constant(any));
            if (a && at.is == role::cpu) // ports are columns of four planes
                k.set(k_npu, n, [&](std::uint32_t u) { return to_port(u * planes_, planes_); });
            if (at.is != role::nic && !clos)
                k.set(k_nic, nics_, [&](std::uint32_t j) { return a ? to_port(j % planes_) : to_port(2 * j, 2); });
            t.step(segment::kind_and_unit, k.e).again(segment::pod_and_rack);
            break;
        }
        case role::leaf:
            if (clos) {
                const bool cpu = plane < 32, nic = !cpu && plane < 40;
                // Where it has no port to what is wanted, an NPU passes it on.
                k.set(k_spare, 1, constant(to_port(cpu || nic ? 0 : all_npus)));
                k.set(k_cpu, cpus_, [&](std::uint32_t j) { return to_port(cpu ? all_npus + j : j % all_npus); });
                k.set(k_nic, nics_, [&](std::uint32_t j) { return to_port(nic ? all_npus + j : j % all_npus); });
                t.step(segment::kind_and_unit, k.e, true).step(segment::board_and_unit, npus_by_place(0), true);
            } else if (a) {
                entries down(8);
                for (std::uint32_t y = 0; y < 8; ++y)
                    down[y] = to_port(y % boards);
                k.set(k_spare, 1, constant(to_port(2 * boards)));
                k.set(k_cpu, cpus_, [&](std::uint32_t j) { return to_port(boards + j); });
                k.set(k_nic, nics_,
                      [&](std::uint32_t j) { return to_port(j % planes_ == plane ? 2 * boards : j % boards); });
                t.step(segment::board, down, false, segment::rack).step(segment::kind_and_unit, k.e, true);
                t.step(segment::board, down, true);
            } else {
                const std::uint32_t hrs_port = n + links_out, spine_port = hrs_port + hrs_per_leaf_;
                const bool has_spines = plane < k_least_planes;
                if (shape_.pods > 1)
                    t.step(segment::pod, filled(8, to_port(hrs_port, hrs_per_leaf_)));
                if (shape_.pod == ub_pod_kind::clos)
                    t.step(segment::rack, filled(16, to_port(hrs_port, hrs_per_leaf_)));
                else if (shape_.racks_per_pod() > 1)
                    t.step(segment::rack, racks_from(at, n));
                const table_entry up = has_spines ? to_port(spine_port, k_spines_per_plane) : to_port(board % n);
                k.set(k_spare, 1, constant(up)).set(k_cpu, cpus_, constant(up));
                k.set(k_nic, nics_, [&](std::uint32_t j) {
                    return j / 2 == plane ? to_port(spine_port + 2 * j % k_spines_per_plane, 2) : to_port(j % n);
                });
                entries down(n);
                for (std::uint32_t x = 0; x < n; ++x)
                    down[x] = to_port(x);
                t.step(segment::kind_and_unit, k.e, true).step(segment::unit, down, true);
            }
            break;
        case role::spine:
            if (mesh) {
                const std::uint32_t own_nic = static_cast<std::uint32_t>(r - first_spine_) % spines_ / 2;
                entries leaves(8);
                for (std::uint32_t y = 0; y < 8; ++y)
                    leaves[y] = to_port(y % boards);
                k.set(k_spare, 1, constant(to_port(boards + cpus_)));
                k.set(k_cpu, cpus_, [&](std::uint32_t j) { return to_port(boards + j); });
                k.set(k_nic, nics_,
                      [&](std::uint32_t j) { return to_port(j == own_nic ? boards + cpus_ + 1 : j % boards); });
                t.step(segment::board, leaves, false, segment::pod_and_rack);
                t.step(segment::kind_and_unit, k.e, true).step(segment::board, leaves, true);
            } else if (a) {
                entries columns(8);
                for (std::uint32_t x = 0; x < 8; ++x)
                    columns[x] = to_port(x % n);
                k.set(k_spare, 1, constant(to_port(n)));
                k.set(k_cpu, cpus_, [&](std::uint32_t j) { return to_port(j % n); });
                k.set(k_nic, nics_,
                      [&](std::uint32_t j) { return to_port(j % planes_ == plane ? n + 1 + j / planes_ : j % n); });
                t.step(segment::unit, columns, false, segment::rack).step(segment::kind_and_unit, k.e, true);
                t.step(segment::unit, columns, true);
            } else {
                k.set(k_npu, 8, constant(to_port(0))).set(k_spare, 1, constant(to_port(1 + cpus_)));
                k.set(k_cpu, cpus_, [&](std::uint32_t j) { return to_port(1 + j); });
                k.set(k_nic, nics_, [&](std::uint32_t j) { return to_port(j == plane / 2 ? 2 + cpus_ : 0); });
                t.step(segment::rack, filled(16, to_port(0))).step(segment::kind_and_unit, k.e, true);
            }
            break;
        case role::hrs:
            if (at.rack >= 0) { // of one rack
                const table_entry side = to_port(all_npus + links_out, 2);
                k.set(k_spare, 1, constant(b ? side : to_port(plane % all_npus)));
                k.set(k_cpu, cpus_, [&](std::uint32_t j) { return b ? side : to_port(j % all_npus); });
                k.set(k_nic, nics_, [&](std::uint32_t j) { return b && j == plane ? side : to_port(j % all_npus); });
                t.step(segment::rack, racks_from(at, all_npus)).step(segment::kind_and_unit, k.e, true);
                t.step(segment::board_and_unit, npus_by_place(0), true);
            } else if (shape_.pod == ub_pod_kind::clos) {
                entries e(128);
                for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack)
                    for (std::uint32_t y = 0; y < boards; ++y)
                        e[(rack / shape_.rack_cols * 4 + rack % shape_.rack_cols) * 8 + y] = to_port(rack * boards + y);
                t.step(segment::rack_and_board, e, true);
            } else {
                entries e(128);
                for (std::uint32_t rack = 0; rack < shape_.racks(); ++rack) {
                    const std::uint32_t in_pod = rack % shape_.racks_per_pod();
                    e[rack / shape_.racks_per_pod() * 16 + in_pod / shape_.rack_cols * 4 + in_pod % shape_.rack_cols] =
                        to_port(rack);
                }
                t.step(segment::pod_and_rack, e, true);
            }
            break;
        }
        plan_.routers[r].table = add_table(std::move(t.steps));
        plan_.routers[r].entries = std::move(t.all);
    }
}

} // namespace weft
