// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/turn_dependency.h"

#include "hw/routing/cycle_search.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {

constexpr std::uint32_t k_most_starts = 4096;

/// Channel = link * vls + VL.
class turn_graph {
public:
    turn_graph(const fabric_plan& plan, const turn_question& question)
        : plan_(plan), ask_(question), base_(plan.port_base()), out_(plan.out_links())
    {
    }
    std::uint32_t channels() const { return static_cast<std::uint32_t>(plan_.links.size()) * ask_.vls; }

    template <class Visit> void each_next(std::uint32_t channel, Visit&& visit) const
    {
        const plan_link& in = plan_.links[channel / ask_.vls];
        turns(in.to, in.to_port, channel / ask_.vls, channel % ask_.vls, visit);
    }
    template <class Visit> void each_start(std::uint32_t router, Visit&& visit) const
    {
        turns(router, fabric_plan::k_none, fabric_plan::k_none, 0, visit);
    }

private:
    template <class Visit>
    void turns(std::uint32_t router, std::uint32_t in_port, std::uint32_t in, std::uint32_t vl, Visit&& visit) const
    {
        for (std::uint32_t at = base_[router]; at < base_[router + 1]; ++at) {
            const std::uint32_t out = out_[at];
            if (out == fabric_plan::k_none || at - base_[router] == in_port)
                continue; // nothing goes back where it came from
            if (const std::uint32_t next = ask_.next(in, vl, out); next != turn_question::k_refused)
                visit(out * ask_.vls + next);
        }
    }
    const fabric_plan& plan_;
    const turn_question& ask_;
    std::vector<std::uint32_t> base_, out_;
};

} // namespace

channel_proof prove_turns(const fabric_plan& plan, const turn_question& question)
{
    const turn_graph g(plan, question);
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
    for (const plan_endpoint& e : plan.endpoints)
        g.each_start(e.router, reach);
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
        proof.text = fmt::format("deadlock-free: {} {}, {} in reach, {} dependencies, acyclic; longest chain {}",
                                 proof.channels, question.channels, proof.used_channels, proof.dependencies,
                                 proof.longest_route);
        return proof;
    }
    proof.verdict = route_verdict::cycle;
    std::sort(queue.begin(), queue.end());
    const auto cycle = shortest_cycle(queue, before, each_next, 2, k_most_starts);
    proof.text = fmt::format("can deadlock: a cycle of {} channels:", cycle.size());
    for (const std::uint32_t c : cycle) {
        proof.cycle.push_back({c / question.vls, c % question.vls, fabric_plan::k_none, fabric_plan::k_none});
        proof.text += fmt::format("\n  {} {} {} ->", question.link_name(c / question.vls), question.vl, c % question.vls);
    }
    proof.text += " back to the first";
    return proof;
}

} // namespace weft
