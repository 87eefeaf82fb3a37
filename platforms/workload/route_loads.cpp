// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/workload/route_loads.h"

#include "firmware/collectives/full_mesh.h"
#include "firmware/collectives/mesh.h"
#include "platforms/workload/planned_schedule.h"
#include "platforms/workload/process_groups.h"

#include <algorithm>
#include <numeric>

namespace weft {

route_loads::route_loads(const fabric_plan& plan, const routing_policy& policy, double payload_share)
    : plan_(plan), next_(routes_of(policy)), payload_share_(payload_share), port_base_(plan.port_base()), out_links_(plan.out_links()),
      bytes_(plan.links.size(), 0)
{
}

template <class See> void route_loads::walk(std::uint32_t port, std::uint32_t from, std::uint32_t to, See&& see) const
{
    const plan_endpoint &source = plan_.endpoints[from], &end = plan_.endpoints[to];
    route_request at{source.router, source.first_port + port, 0, to, port % end.ports};
    // A proof has shown that it ends.
    for (std::size_t links = 0; at.router != end.router && links < plan_.links.size(); ++links) {
        const route_step step = next_(at);
        const std::uint32_t link =
            step.out_port < plan_.routers[at.router].ports ? out_links_[port_base_[at.router] + step.out_port] : fabric_plan::k_none;
        if (link == fabric_plan::k_none)
            return;
        see(link);
        at.router = plan_.links[link].to;
        at.in_port = plan_.links[link].to_port;
        at.in_vl = step.vl;
    }
}

void route_loads::send(std::uint32_t queue, std::uint32_t from, std::uint32_t to, double bytes)
{
    const auto has_ports = [this](std::uint32_t endpoint) { return endpoint < plan_.endpoints.size() && plan_.endpoints[endpoint].ports != 0; };
    if (from == to || !has_ports(from) || !has_ports(to))
        return;
    walk(queue % plan_.endpoints[from].ports, from, to, [&](std::uint32_t link) { bytes_[link] += bytes; });
}

void route_loads::spread(std::uint32_t from, std::uint32_t to, double bytes, std::uint32_t ports)
{
    ports = from < plan_.endpoints.size() ? std::min(ports, plan_.endpoints[from].ports) : 0;
    for (std::uint32_t port = 0; port < ports; ++port)
        send(port, from, to, bytes / ports);
}

double route_loads::busiest_us() const
{
    double most = 0;
    for (std::size_t i = 0; i < bytes_.size(); ++i)
        most = std::max(most, bytes_[i] / (payload_share_ * static_cast<double>(plan_.links[i].wire.rate.value()) / 8e6));
    return most;
}

namespace {
constexpr std::uint64_t k_most_walks = 1'100'000; ///< of one case: about a second
constexpr std::uint32_t k_most_ports = 12;        ///< local ports of an IPU

/// The two phases of two_phase.cpp, one after the other: us of the busiest link of each.
double two_phases_us(const platform& machine, const route_loads& none, const collective_case& c, std::uint32_t ports)
{
    const firmware::mesh m = firmware::mesh_of(machine.rank_table(0));
    const std::uint32_t ranks = machine.ranks();
    const bool one_path = c.algo == abi::algorithm::two_phase_one_path;
    const double part = static_cast<double>(c.size_bytes) / ranks / (one_path ? 1 : 2);
    route_loads to_relays = none, from_relays = none;
    for (std::uint32_t from = 0; from < ranks; ++from)
        for (std::uint32_t to = 0; to < ranks; ++to) {
            const std::uint32_t along_row = from / m.cols * m.cols + to % m.cols, along_column = to / m.cols * m.cols + from % m.cols;
            to_relays.spread(from, along_row, part, ports);
            from_relays.spread(along_row, to, part, ports);
            if (one_path)
                continue;
            to_relays.spread(from, along_column, part, ports);
            from_relays.spread(along_column, to, part, ports);
        }
    return to_relays.busiest_us() + from_relays.busiest_us();
}

/// Everybody sends a block to everybody of its group.
void add_blocks(route_loads& loads, const rank_list& group, const collective_case& c, std::uint32_t ports)
{
    const double block = static_cast<double>(c.size_bytes) / static_cast<double>(group.size());
    for (const std::uint32_t from : group)
        for (const std::uint32_t to : group)
            loads.spread(from, to, block, ports);
}

/// What the ranks of a group send, who are told `tables`. Channels have queues, and so local ports, of their own;
/// messages of rings in lock-step take all of them.
void add_schedules(route_loads& loads, const rank_list& group, const std::vector<abi::platform_table>& tables, const collective_case& c, std::uint32_t ports)
{
    const bool in_lockstep = has_rings_in_lockstep(c.algo);
    const auto send = [&](std::uint32_t queue, std::uint32_t from, const planned_run& run) {
        const double bytes = static_cast<double>(run.range.count) * run.pieces * abi::element_bytes(c.type);
        if (in_lockstep)
            loads.spread(from, group.at(run.to), bytes, ports);
        else
            loads.send(queue, from, group.at(run.to), bytes);
    };
    for (std::size_t place = 0; place < group.size(); ++place) {
        const planned_rank rank = plan_of(tables[place], c);
        for (std::uint32_t channel = 0; channel < rank.channels.size(); ++channel)
            for (const planned_pass& pass : rank.channels[channel].passes)
                for (const planned_run& run : pass.runs)
                    send(channel, group[place], run);
    }
}
} // namespace

double busiest_link_us(const platform& machine, route_loads loads, const collective_case& c)
{
    const std::uint64_t pairs = std::uint64_t{machine.ranks()} * machine.ranks();
    if (pairs > k_most_walks)
        return 0;
    // Of many pairs a few ports stand for all; links of a way are one, two or four.
    const std::uint32_t ports = pairs * k_most_ports <= k_most_walks ? k_most_ports : pairs * 4 <= k_most_walks ? 4 : 1;
    std::vector<abi::platform_table> all;
    for (std::uint32_t rank = 0; rank < machine.ranks(); ++rank)
        all.push_back(machine.rank_table(rank));
    if (c.algo == abi::algorithm::two_phase || c.algo == abi::algorithm::two_phase_one_path)
        return c.groups.empty() && !firmware::full_mesh(all[0]) ? two_phases_us(machine, loads, c, std::max(1u, ports / 4)) : 0;
    const bool of_blocks = c.op == abi::collective_op::all_to_all && c.algo == abi::algorithm::direct;
    const bool is_regular = has_rings_in_lockstep(c.algo) && loads.all_work(); // lockstep_ring_costs.cpp knows
    if (is_regular || !(of_blocks || has_rings_in_lockstep(c.algo) || has_schedule(all[0], c.op, c.algo)))
        return 0;
    const table_of_rank table_of = [&all](std::uint32_t rank) -> const abi::platform_table& { return all[rank]; };
    std::vector<rank_list> groups(1, rank_list(all.size()));
    std::iota(groups[0].begin(), groups[0].end(), 0u);
    if (!c.groups.empty())
        groups = find_groups(c.groups, machine.ranks(), table_of).lists;
    for (const rank_list& group : groups)
        if (of_blocks)
            add_blocks(loads, group, c, ports);
        else
            add_schedules(loads, group, c.groups.empty() ? all : tables_of_group(group, table_of, 0), c, ports);
    return loads.busiest_us();
}

} // namespace weft
