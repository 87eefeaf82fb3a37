// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/channel_dependency.h"

#include "hw/routing/cycle_search.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace weft {

namespace {

constexpr std::uint32_t k_walking = 0xffff'fffe; ///< on the route being walked
constexpr std::uint32_t k_broken = 0xffff'fffd;  ///< leads nowhere
constexpr std::size_t k_show = 4;

class analysis {
public:
    analysis(const fabric_plan& plan, const route_function& route)
        : plan_(plan), route_(route), port_base_(plan.port_base()), out_links_(plan.out_links())
    {
        first_channel_.push_back(0);
        for (const plan_link& l : plan.links) {
            first_channel_.push_back(first_channel_.back() + vls_of(l));
            most_vls_ = std::max(most_vls_, l.vls);
        }
        first_word_.push_back(0);
        for (std::size_t l = 0; l < plan.links.size(); ++l)
            for (std::uint32_t vl = 0; vl < vls_of(plan.links[l]); ++vl) {
                link_of_.push_back(static_cast<std::uint32_t>(l));
                const std::size_t bits = std::size_t{plan.routers[plan.links[l].to].ports} * most_vls_;
                first_word_.push_back(first_word_.back() + (bits + 63) / 64);
            }
        wanted_.assign(first_word_.back(), 0);
        seen_for_.assign(link_of_.size(), fabric_plan::k_none);
        to_go_.assign(link_of_.size(), 0);
        used_.assign(link_of_.size(), false);
    }

    channel_proof run()
    {
        const auto endpoints = static_cast<std::uint32_t>(plan_.endpoints.size());
        for (std::uint32_t destination = 0; destination < endpoints; ++destination)
            for (std::uint32_t source = 0; source < endpoints; ++source)
                if (source != destination && plan_.endpoints[source].ports != 0 && plan_.endpoints[destination].ports != 0)
                    walk_pair(source, destination);
        proof_.channels = link_of_.size();
        proof_.used_channels = static_cast<std::uint64_t>(std::count(used_.begin(), used_.end(), true));
        for (const std::uint64_t word : wanted_)
            proof_.dependencies += static_cast<std::uint64_t>(__builtin_popcountll(word));
        if (proof_.broken_pairs > 0)
            proof_.text = broken_text();
        else if (find_cycle())
            proof_.text = cycle_text();
        else
            proof_.text = fmt::format("deadlock-free: {} channels, {} dependencies, acyclic; longest route {} links",
                                      proof_.channels, proof_.dependencies, proof_.longest_route);
        return proof_;
    }

private:
    static std::uint32_t vls_of(const plan_link& l) { return l.works ? l.vls : 0; }
    /// Where one step leads: a channel, or delivery, or nowhere.
    struct outcome {
        std::uint32_t channel = fabric_plan::k_none;
        bool delivered = false;
        route_step step{};
    };
    outcome ask(std::uint32_t router, std::uint32_t in_port, std::uint32_t vl, std::uint32_t destination) const
    {
        const plan_endpoint& end = plan_.endpoints[destination];
        outcome o;
        o.step = route_({router, in_port, vl, destination, 0});
        if (router == end.router && o.step.out_port == end.first_port) {
            o.delivered = true;
            for (std::uint32_t port = 1; port < end.ports; ++port)
                o.delivered =
                    o.delivered && route_({router, in_port, vl, destination, port}).out_port == end.first_port + port;
            return o;
        }
        if (o.step.out_port >= plan_.routers[router].ports)
            return o;
        const std::uint32_t link = out_links_[port_base_[router] + o.step.out_port];
        if (link != fabric_plan::k_none && o.step.vl < plan_.links[link].vls)
            o.channel = first_channel_[link] + o.step.vl;
        return o;
    }
    std::uint32_t vl_of(std::uint32_t channel) const { return channel - first_channel_[link_of_[channel]]; }
    const plan_link& link(std::uint32_t channel) const { return plan_.links[link_of_[channel]]; }

    void walk_pair(std::uint32_t source, std::uint32_t destination)
    {
        ++proof_.pairs;
        const plan_endpoint& from = plan_.endpoints[source];
        bool broken = false;
        for (std::uint32_t port = 0; port < from.ports; ++port)
            broken = walk(from.router, from.first_port + port, destination) || broken;
        if (!broken)
            return;
        ++proof_.broken_pairs;
        if (proof_.some_broken.size() < k_show)
            proof_.some_broken.emplace_back(source, destination);
    }

    /// Walks one route up to delivery or to what is known already. Returns whether it leads nowhere.
    bool walk(std::uint32_t router, std::uint32_t in_port, std::uint32_t destination)
    {
        path_.clear();
        std::uint32_t vl = 0;
        std::uint32_t rest = 0; ///< links behind the end of path_
        for (;;) {
            const outcome o = ask(router, in_port, vl, destination);
            if (o.delivered)
                break;
            if (o.channel == fabric_plan::k_none) {
                note(route_verdict::unreachable,
                     fmt::format("at {} the routing chooses {} VL {}, where no link works", plan_.routers[router].name,
                                 plan_.port_name(o.step.out_port), o.step.vl));
                rest = k_broken;
                break;
            }
            if (!path_.empty())
                want(path_.back(), o.step);
            if (seen_for_[o.channel] == destination) {
                if (to_go_[o.channel] == k_walking)
                    note(route_verdict::livelock, fmt::format("the route comes back to {} VL {}",
                                                              plan_.link_name(link_of_[o.channel]), o.step.vl));
                rest = to_go_[o.channel] >= k_broken ? k_broken : to_go_[o.channel] + 1;
                break;
            }
            seen_for_[o.channel] = destination;
            to_go_[o.channel] = k_walking;
            used_[o.channel] = true;
            path_.push_back(o.channel);
            router = link(o.channel).to;
            in_port = link(o.channel).to_port;
            vl = o.step.vl;
        }
        for (std::size_t i = path_.size(); i-- > 0;) {
            to_go_[path_[i]] = rest;
            rest = rest == k_broken ? k_broken : rest + 1;
        }
        if (rest != k_broken)
            proof_.longest_route = std::max(proof_.longest_route, rest);
        return rest == k_broken;
    }

    void note(route_verdict what, std::string why)
    {
        if (proof_.verdict != route_verdict::deadlock_free)
            return;
        proof_.verdict = what;
        why_ = std::move(why);
    }

    void want(std::uint32_t channel, const route_step& next)
    {
        const std::uint32_t bit = next.out_port * most_vls_ + next.vl;
        wanted_[first_word_[channel] + bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
    template <class Visit> void each_wanted(std::uint32_t channel, Visit&& visit) const
    {
        const std::uint32_t router = link(channel).to;
        for (std::size_t w = first_word_[channel]; w < first_word_[channel + 1]; ++w)
            for (std::uint64_t bits = wanted_[w]; bits != 0; bits &= bits - 1) {
                const auto bit = static_cast<std::uint32_t>((w - first_word_[channel]) * 64 +
                                                            static_cast<std::size_t>(__builtin_ctzll(bits)));
                visit(first_channel_[out_links_[port_base_[router] + bit / most_vls_]] + bit % most_vls_);
            }
    }

    /// The shortest cycle, if there is one, with a pair for each of its dependencies.
    bool find_cycle()
    {
        const auto n = static_cast<std::uint32_t>(link_of_.size());
        std::vector<std::uint32_t> all(n), before(n, 0);
        std::iota(all.begin(), all.end(), 0);
        const auto each_next = [this](std::uint32_t channel, auto&& visit) { each_wanted(channel, visit); };
        for (const std::uint32_t c : all)
            each_next(c, [&](std::uint32_t next) { ++before[next]; });
        if (take_away_free_channels(all, before, each_next, [](std::uint32_t, std::uint32_t) {}) == n)
            return false;
        proof_.verdict = route_verdict::cycle;
        const std::vector<std::uint32_t> best = shortest_cycle(all, before, each_next);
        for (const std::uint32_t c : best)
            proof_.cycle.push_back({link_of_[c], vl_of(c), fabric_plan::k_none, fabric_plan::k_none});
        name_pairs(best);
        return true;
    }

    void name_pairs(const std::vector<std::uint32_t>& cycle)
    {
        std::vector<std::uint32_t> index(link_of_.size(), fabric_plan::k_none);
        for (std::size_t i = 0; i < cycle.size(); ++i)
            index[cycle[i]] = static_cast<std::uint32_t>(i);
        std::size_t missing = cycle.size();
        const auto endpoints = static_cast<std::uint32_t>(plan_.endpoints.size());
        for (std::uint32_t source = 0; source < endpoints && missing > 0; ++source)
            for (std::uint32_t destination = 0; destination < endpoints && missing > 0; ++destination) {
                if (source == destination)
                    continue;
                const plan_endpoint& from = plan_.endpoints[source];
                for (std::uint32_t port = 0; port < from.ports; ++port) {
                    outcome o = ask(from.router, from.first_port + port, 0, destination);
                    while (!o.delivered) {
                        const std::uint32_t at = o.channel;
                        o = ask(link(at).to, link(at).to_port, vl_of(at), destination);
                        if (o.delivered || index[at] == fabric_plan::k_none || cycle[(index[at] + 1) % cycle.size()] != o.channel)
                            continue;
                        cycle_step& step = proof_.cycle[index[at]];
                        if (step.source != fabric_plan::k_none)
                            continue;
                        step.source = source;
                        step.destination = destination;
                        --missing;
                    }
                }
            }
    }

    std::string broken_text() const
    {
        std::string text = fmt::format("{} of {} pairs have no route:", proof_.broken_pairs, proof_.pairs);
        for (const auto& [source, destination] : proof_.some_broken)
            text += fmt::format("{} {} to {}", text.back() == ':' ? "" : ",", plan_.endpoint_name(source),
                                plan_.endpoint_name(destination));
        return text + (proof_.broken_pairs > proof_.some_broken.size() ? ", ..." : "") + "; of the first, " + why_;
    }

    std::string cycle_text() const
    {
        std::string text = fmt::format("can deadlock: a cycle of {} channel{}:", proof_.cycle.size(),
                                       proof_.cycle.size() == 1 ? "" : "s");
        for (const cycle_step& step : proof_.cycle)
            text += fmt::format("\n  {} VL {} ->   (held by packets from {} to {})", plan_.link_name(step.link),
                                step.vl, plan_.endpoint_name(step.source), plan_.endpoint_name(step.destination));
        return text + " back to the first";
    }

    const fabric_plan& plan_;
    const route_function& route_;
    std::vector<std::uint32_t> port_base_, out_links_;
    std::vector<std::uint32_t> first_channel_; ///< per link
    std::uint32_t most_vls_ = 1;
    std::vector<std::uint32_t> link_of_;  ///< per channel
    std::vector<std::size_t> first_word_; ///< per channel, into wanted_
    std::vector<std::uint64_t> wanted_;   ///< one bit per (output port, VL) of the router behind the channel
    std::vector<std::uint32_t> seen_for_; ///< per channel: last destination for which it was passed
    std::vector<std::uint32_t> to_go_;    ///< links behind it, for that destination
    std::vector<bool> used_;
    std::vector<std::uint32_t> path_;
    std::string why_;
    channel_proof proof_;
};

} // namespace

channel_proof prove_deadlock_free(const fabric_plan& plan, const route_function& route)
{
    return analysis(plan, route).run();
}

route_function routes_of(const routing_policy& policy)
{
    return [&policy, p = packet()](const route_request& r) mutable {
        p.destination = r.destination;
        p.destination_port = static_cast<std::uint8_t>(r.destination_port);
        p.vl = static_cast<std::uint8_t>(r.in_vl);
        const route_decision d = policy.route(r.router, r.in_port, p);
        return route_step{d.out_port, d.vl};
    };
}

} // namespace weft
