// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A small UB fabric written by hand, not by the platform: NPUs of one board in a full mesh (X), one LRS that joins them with a
// CPU; and endpoints of the fabric bench behind the controllers.
//
//   NPU i: UB port j < i leads to NPU j, port j >= i to NPU j + 1; port n - 1 to the LRS. The second IO die has the upper half of the ports.
//   LRS: port i to NPU i, port n to the CPU.            CPU: port 0 to the LRS.
//   Endpoints: NPUs 0 .. n-1, then the CPU.
#pragma once

#include "hw/ub/ub_fabric.h"
#include "testbenches/hw/fabric_bench.h"

#include <memory>
#include <vector>

namespace weft::testing {

struct board_links {
    std::uint32_t npus = 0;
    std::vector<std::uint32_t> direct; ///< from * npus + to
    std::vector<std::uint32_t> up, down;
    std::uint32_t cpu_up = 0, cpu_down = 0;
    std::uint32_t port(std::uint32_t from, std::uint32_t to) const { return to < from ? to : to - 1; }
    std::uint32_t at(std::uint32_t from, std::uint32_t to) const { return direct[from * npus + to]; }
};

/// Direct, over each other NPU (second hop on lane 1), and over the LRS.
class board_paths final : public ub_path_source {
public:
    board_links links;
    std::uint32_t weight_of_direct = 1;
    bool mixed = false; ///< second hop of a detour by table
    bool first_by_table = false;

    std::vector<ub_path> paths(std::uint32_t from, std::uint32_t to, const std::vector<bool>& down) const override
    {
        using namespace abi::ub;
        std::vector<ub_path> all;
        const std::uint32_t n = links.npus;
        const auto add = [&](ub_path p) {
            for (const std::uint32_t l : p.links)
                if (l < down.size() && down[l])
                    return;
            p.hops = static_cast<std::uint8_t>(p.links.size());
            all.push_back(std::move(p));
        };
        if (from >= n || to >= n) { // the CPU: by tables
            ub_path p;
            if (from < n)
                p.links = {links.up[from], links.cpu_down};
            else
                p.links = {links.cpu_up, links.down[to]};
            add(p);
            return all;
        }
        const auto byte = [&](std::uint32_t port, bool second) {
            return encode(instruction{static_cast<std::uint8_t>(port), second});
        };
        ub_path p;
        p.links = {links.at(from, to)};
        p.weight = weight_of_direct;
        if (!first_by_table) {
            p.route.set_bitmap(1);
            p.route.set_instruction_byte(0, byte(links.port(from, to), false));
        }
        add(p);
        for (std::uint32_t via = 0; via < n; ++via) {
            if (via == from || via == to)
                continue;
            ub_path d;
            d.kind = ub_path_kind::detour;
            d.links = {links.at(from, via), links.at(via, to)};
            d.route.set_bitmap(mixed ? 1 : 3);
            d.route.set_instruction_byte(0, byte(links.port(from, via), false));
            if (!mixed)
                d.route.set_instruction_byte(1, byte(links.port(via, to), true));
            add(d);
        }
        ub_path b;
        b.kind = ub_path_kind::borrow;
        b.links = {links.up[from], links.down[to]};
        b.route.set_bitmap(3);
        b.route.set_instruction_byte(0, byte(n - 1, false));
        b.route.set_instruction_byte(1, byte(to, false));
        add(b);
        return all;
    }
};

inline ub_plan board_plan(std::uint32_t n, std::shared_ptr<board_paths> paths, std::uint32_t lanes = 4)
{
    using namespace abi::ub;
    ub_plan plan;
    board_links links;
    links.npus = n;
    links.direct.assign(n * n, 0);
    const std::uint32_t lrs = n, cpu = n + 1;
    // Table 0, NPU: other kinds by kind, NPUs by unit. Table 1, LRS: by kind and unit. Table 2, CPU: everything up.
    plan.tables.resize(3);
    plan.tables[0].steps = {{segment::kind, false, 0, 4}, {segment::unit, false, 4, 8}};
    plan.tables[1].steps = {{segment::kind_and_unit, true, 0, 32}};
    plan.tables[2].steps = {{segment::kind, false, 0, 1}};
    for (std::uint32_t i = 0; i < n; ++i) {
        ub_router_plan r;
        r.name = fmt::format("npu({})", i);
        r.place.unit = static_cast<std::uint8_t>(i);
        r.ports = static_cast<std::uint16_t>(n);
        r.local_ports = 2;
        r.second_die_from = static_cast<std::uint16_t>((n + 1) / 2);
        r.entries.resize(12);
        r.entries[2] = {static_cast<std::uint8_t>(n - 1), 1};
        for (std::uint32_t j = 0; j < n; ++j)
            if (j != i)
                r.entries[4 + j] = {static_cast<std::uint8_t>(links.port(i, j)), 1};
        plan.routers.push_back(r);
    }
    ub_router_plan s;
    s.device = ub_device::lrs;
    s.name = "lrs";
    s.ports = static_cast<std::uint16_t>(n + 1);
    s.table = 1;
    s.entries.resize(32);
    for (std::uint32_t i = 0; i < n; ++i)
        s.entries[i] = {static_cast<std::uint8_t>(i), 1};
    s.entries[16] = {static_cast<std::uint8_t>(n), 1};
    plan.routers.push_back(s);
    ub_router_plan c;
    c.device = ub_device::cpu;
    c.name = "cpu(0)";
    c.place.kind = node_kind::cpu;
    c.ports = 1;
    c.local_ports = 1;
    c.table = 2;
    c.entries = {{0, 1}};
    plan.routers.push_back(c);

    const auto link = [&](std::uint32_t from, std::uint32_t from_port, std::uint32_t to, std::uint32_t to_port,
                          ub_channel channel, std::uint64_t wire_ps) {
        ub_link_plan l;
        l.from = from;
        l.to = to;
        l.from_port = static_cast<std::uint16_t>(from_port);
        l.to_port = static_cast<std::uint16_t>(to_port);
        l.lanes = static_cast<std::uint8_t>(lanes);
        l.channel = channel;
        l.propagation = duration(wire_ps);
        plan.links.push_back(l);
        return static_cast<std::uint32_t>(plan.links.size() - 1);
    };
    for (std::uint32_t i = 0; i < n; ++i)
        for (std::uint32_t j = 0; j < n; ++j)
            if (i != j)
                links.direct[i * n + j] = link(i, links.port(i, j), j, links.port(j, i),
                                               j > i ? ub_channel::x_plus : ub_channel::x_minus, 5'000);
    for (std::uint32_t i = 0; i < n; ++i) {
        links.up.push_back(link(i, n - 1, lrs, i, ub_channel::up, 7'000));
        links.down.push_back(link(lrs, i, i, n - 1, ub_channel::down, 7'000));
    }
    links.cpu_up = link(cpu, 0, lrs, n, ub_channel::side_up, 11'000);
    links.cpu_down = link(lrs, n, cpu, 0, ub_channel::side_down, 11'000);
    for (std::uint32_t i = 0; i < n; ++i)
        plan.endpoint_router.push_back(i);
    plan.endpoint_router.push_back(cpu);
    // A second X hop is on lane 1; through the LRS the lane stays.
    for (const ub_channel out : {ub_channel::x_plus, ub_channel::x_minus, ub_channel::up, ub_channel::side_up})
        plan.lanes.set(ub_channel::local, 0, out, 0);
    for (const ub_channel in : {ub_channel::x_plus, ub_channel::x_minus})
        for (const ub_channel out : {ub_channel::x_plus, ub_channel::x_minus})
            plan.lanes.set(in, 0, out, 1);
    for (const ub_channel in : {ub_channel::up, ub_channel::side_up})
        for (const ub_channel out : {ub_channel::down, ub_channel::side_down})
            plan.lanes.set(in, 0, out, 0);
    if (paths) {
        paths->links = links;
        plan.paths = paths;
    }
    return plan;
}

/// The board with an endpoint behind every controller.
struct board_bench {
    fabric_bench bench;
    ub_config config;
    std::shared_ptr<board_paths> paths;
    ub_plan plan;
    std::unique_ptr<ub_fabric> fabric;
    std::vector<std::vector<endpoint*>> points; ///< [endpoint][die]; empty where the test puts something else

    board_bench(std::uint32_t n, const ub_config& c, bool with_paths = true,
                const std::function<void(board_paths&)>& tune = {}, std::uint32_t first_point = 0)
        : config(c), paths(with_paths ? std::make_shared<board_paths>() : nullptr), plan(board_plan(n, paths))
    {
        if (tune)
            tune(*paths);
        fabric = std::make_unique<ub_fabric>("ub", bench.time, bench.pool, plan, config);
        bench.audited.push_back(&fabric->engine());
        bench.format = config.format();
        for (std::uint32_t e = 0; e < fabric->endpoints(); ++e) {
            points.emplace_back();
            for (std::uint32_t die = 0; e >= first_point && die < fabric->dies(e); ++die) {
                endpoint& p = bench.new_endpoint(e, k_ub_vls, config.local_port_rate, static_cast<std::uint8_t>(die));
                p.out.bind(fabric->controller(e, die).in);
                fabric->controller(e, die).out.bind(p.in);
                points.back().push_back(&p);
            }
        }
    }
    const board_links& links() const { return paths->links; }
    endpoint& at(std::uint32_t e, std::uint32_t die = 0) { return *points[e][die]; }
    /// Everything that arrived at an endpoint, on either die.
    std::vector<arrived> log(std::uint32_t e) const
    {
        std::vector<arrived> all;
        for (const endpoint* p : points[e])
            all.insert(all.end(), p->log.begin(), p->log.end());
        return all;
    }
};

} // namespace weft::testing
