// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/ub_proof.h"

#include "platforms/routing/cycle_search.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

constexpr std::uint32_t k_none = ub_topology::k_none;
constexpr std::uint32_t k_lanes = k_ub_lanes_per_class;
constexpr std::uint32_t k_most_starts = 4096;

/// Channel = link * k_lanes + lane.
class dependency_graph {
public:
    dependency_graph(const ub_topology& topology, const ub_lane_rule& rule)
        : topology_(topology), rule_(rule), links_(topology.plan().links)
    {
    }
    std::uint32_t channels() const { return static_cast<std::uint32_t>(links_.size()) * k_lanes; }

    template <class Visit> void each_next(std::uint32_t channel, Visit&& visit) const
    {
        const ub_link_plan& in = links_[channel / k_lanes];
        turns(in.to, in.to_port, in.channel, static_cast<std::uint8_t>(channel % k_lanes), visit);
    }
    template <class Visit> void each_start(std::uint32_t router, Visit&& visit) const
    {
        turns(router, k_none, ub_channel::local, 0, visit);
    }

private:
    template <class Visit>
    void turns(std::uint32_t router, std::uint32_t in_port, ub_channel in, std::uint8_t lane, Visit&& visit) const
    {
        const std::uint32_t ports = topology_.ports(router);
        for (std::uint32_t port = 0; port < ports; ++port) {
            const std::uint32_t out = topology_.out_link(router, port);
            if (port == in_port || out == k_none)
                continue; // nothing goes back where it came from
            const std::uint8_t next = rule_.next(in, lane, links_[out].channel);
            if (next != ub_lane_rule::k_refused)
                visit(out * k_lanes + next);
        }
    }
    const ub_topology& topology_;
    const ub_lane_rule& rule_;
    const std::vector<ub_link_plan>& links_;
};

} // namespace

channel_proof prove_lanes(const ub_topology& topology, const ub_lane_rule& rule)
{
    const dependency_graph g(topology, rule);
    const std::uint32_t n = g.channels();
    channel_proof proof;
    proof.channels = n;

    // What packets can get to, from every endpoint.
    std::vector<bool> used(n, false);
    std::vector<std::uint32_t> queue;
    const auto reach = [&](std::uint32_t channel) {
        if (used[channel])
            return;
        used[channel] = true;
        queue.push_back(channel);
    };
    for (const std::uint32_t router : topology.plan().endpoint_router)
        g.each_start(router, reach);
    std::vector<std::uint32_t> before(n, 0); ///< dependencies on it
    for (std::size_t i = 0; i < queue.size(); ++i)
        g.each_next(queue[i], [&](std::uint32_t next) {
            ++before[next];
            ++proof.dependencies;
            reach(next);
        });
    proof.used_channels = queue.size();

    const auto each_next = [&](std::uint32_t channel, auto&& visit) { g.each_next(channel, visit); };
    std::vector<std::uint32_t> height(n, 1);
    const std::size_t taken =
        take_away_free_channels(queue, before, each_next, [&](std::uint32_t at, std::uint32_t next) {
            height[next] = std::max(height[next], height[at] + 1);
        });
    for (const std::uint32_t c : queue)
        if (before[c] == 0)
            proof.longest_route = std::max(proof.longest_route, height[c]);
    if (taken == queue.size()) {
        proof.text =
            fmt::format("deadlock-free: {} channels of a message class, {} in reach, {} dependencies, acyclic; longest "
                        "chain {}",
                        proof.channels, proof.used_channels, proof.dependencies, proof.longest_route);
        return proof;
    }
    proof.verdict = route_verdict::cycle;
    std::sort(queue.begin(), queue.end());
    const auto cycle = shortest_cycle(queue, before, each_next, 2, k_most_starts);
    proof.text = fmt::format("can deadlock: a cycle of {} channels:", cycle.size());
    const auto& plan = topology.plan();
    for (const std::uint32_t c : cycle) {
        const ub_link_plan& l = plan.links[c / k_lanes];
        proof.cycle.push_back({c / k_lanes, c % k_lanes, k_none, k_none});
        proof.text += fmt::format("\n  {} to {} ({}) lane {} ->", plan.routers[l.from].name, plan.routers[l.to].name,
                                  name_of(l.channel), c % k_lanes);
    }
    proof.text += " back to the first";
    return proof;
}

ub_table_check check_tables(const ub_topology& topology, const ub_lane_rule& rule)
{
    const auto& plan = topology.plan();
    const auto last_rack = static_cast<std::int32_t>(topology.shape().racks() - 1);
    ub_table_check check;
    std::vector<std::uint32_t> seen(plan.links.size() * k_lanes, k_none), queue;
    std::vector<std::uint32_t> asked(plan.routers.size(), k_none);
    std::vector<abi::ub::table_entry> answer(plan.routers.size());
    const auto note = [&](std::uint64_t& count, const char* what, std::uint32_t router, std::uint32_t to) {
        if (check.refused + check.lost == 0)
            check.text = fmt::format("{} at {}, to {}", what, plan.routers[router].name, plan.routers[to].name);
        ++count;
    };
    for (const std::uint32_t to : plan.endpoint_router) {
        if (topology.place_of(to).rack != 0 && topology.place_of(to).rack != last_rack)
            continue;
        ++check.destinations;
        queue.clear();
        const auto step = [&](std::uint32_t router, ub_channel in, std::uint8_t lane) {
            if (router == to)
                return;
            if (asked[router] != to) {
                asked[router] = to;
                answer[router] = look_up(topology.table_of(router), topology.address_of(to));
            }
            const abi::ub::table_entry e = answer[router];
            if (e.ways == 0)
                note(check.lost, "tables lead nowhere", router, to);
            for (std::uint32_t port = e.port; port < static_cast<std::uint32_t>(e.port) + e.ways; ++port) {
                const std::uint32_t l = port < plan.routers[router].ports ? topology.out_link(router, port) : k_none;
                if (l == k_none) {
                    note(check.lost, "a table names a port without link", router, to);
                    continue;
                }
                const std::uint8_t next = rule.next(in, lane, plan.links[l].channel);
                if (next == ub_lane_rule::k_refused) {
                    note(check.refused, "the rule of lanes refuses what a table chooses", router, to);
                    continue;
                }
                if (seen[l * k_lanes + next] != to) {
                    seen[l * k_lanes + next] = to;
                    queue.push_back(l * k_lanes + next);
                }
            }
        };
        for (const std::uint32_t from : plan.endpoint_router)
            step(from, ub_channel::local, 0);
        for (std::size_t i = 0; i < queue.size(); ++i) {
            const ub_link_plan& l = plan.links[queue[i] / k_lanes];
            step(l.to, l.channel, static_cast<std::uint8_t>(queue[i] % k_lanes));
        }
        check.states += queue.size();
    }
    if (check.refused + check.lost == 0)
        check.text = fmt::format(
            "tables lead from all {} endpoints to {} (first and last rack), all on lanes that the rule admits",
            plan.endpoint_router.size(), check.destinations);
    return check;
}

} // namespace weft
