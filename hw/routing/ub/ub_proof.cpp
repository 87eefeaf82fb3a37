// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/ub/ub_proof.h"

#include "hw/routing/turn_dependency.h"

#include <fmt/format.h>

namespace weft {

namespace {

constexpr std::uint32_t k_lanes = k_ub_lanes_per_class;
} // namespace

channel_proof prove_lanes(const ub_plan& plan, const fabric_plan& wired, const ub_lane_rule& rule)
{
    turn_question q;
    q.vls = k_lanes;
    q.channels = "channels of a message class";
    q.vl = "lane";
    q.next = [&](std::uint32_t in_link, std::uint32_t lane, std::uint32_t out_link) {
        const ub_channel in = in_link == ub_topology::k_none ? ub_channel::local : plan.links[in_link].channel;
        const std::uint8_t next = rule.next(in, static_cast<std::uint8_t>(lane), plan.links[out_link].channel);
        return next == ub_lane_rule::k_refused ? turn_question::k_refused : next;
    };
    q.link_name = [&](std::uint32_t link) {
        const ub_link_plan& l = plan.links[link];
        return fmt::format("{} to {} ({})", plan.routers[l.from].name, plan.routers[l.to].name, name_of(l.channel));
    };
    return prove_turns(wired, q);
}

ub_table_check check_tables(const ub_topology& topology, const ub_lane_rule& rule)
{
    const auto& plan = topology.plan();
    const auto last_rack = static_cast<std::int32_t>(topology.shape().racks() - 1);
    ub_table_check check;
    std::vector<std::uint32_t> seen(plan.links.size() * k_lanes, ub_topology::k_none), queue;
    std::vector<std::uint32_t> asked(plan.routers.size(), ub_topology::k_none);
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
                const std::uint32_t l = port < plan.routers[router].ports ? topology.out_link(router, port) : ub_topology::k_none;
                if (l == ub_topology::k_none) {
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
