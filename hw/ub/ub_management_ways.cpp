// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ub/ub_management_ways.h"

#include "hw/ub/ub_link.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace weft {

namespace {
constexpr std::uint32_t k_none = 0xffff'ffff;

bool on_second_die(const ub_router_plan& r, std::uint32_t port) { return port >= r.second_die_from; }
} // namespace

ub_management_ways::ub_management_ways(const ub_plan& plan, const ub_config& config, std::uint64_t payload_bytes)
    : plan_(plan), config_(config), payload_bytes_(payload_bytes),
      wire_bytes_(config.format().wire_bytes(payload_bytes)), first_out_(plan.routers.size() + 1, 0),
      out_(plan.links.size())
{
    std::iota(out_.begin(), out_.end(), 0u);
    std::sort(out_.begin(), out_.end(), [&](std::uint32_t a, std::uint32_t b) {
        const ub_link_plan &x = plan.links[a], &y = plan.links[b];
        return x.from != y.from ? x.from < y.from : x.from_port < y.from_port;
    });
    for (std::uint32_t l = 0; l < plan.links.size(); ++l) {
        const ub_link_plan& link = plan.links[l];
        ++first_out_[link.from + 1];
        hop_ps_.push_back(ub_wire(config, link.propagation).value() + ub_pipeline(config, plan.routers[link.to].device).value() + wire_ps(l));
    }
    std::partial_sum(first_out_.begin(), first_out_.end(), first_out_.begin());
}

std::uint64_t ub_management_ways::wire_ps(std::uint32_t link) const
{
    return wire_rate(config_.link_rate(plan_.links[link].lanes)).time_ps(wire_bytes_);
}

/// By time (Dijkstra) over (link, lane), each at most `labels_each` times, from different ends.
template <class Reached>
void ub_management_ways::search(const std::vector<std::uint32_t>& from, std::uint32_t labels_each,
                                const link_toll& toll, Reached&& reached) const
{
    std::vector<label> open_labels, labels;
    using entry =
        std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t>; // time, link and lane, origin, label
    std::priority_queue<entry, std::vector<entry>, std::greater<entry>> open;
    std::vector<std::array<std::uint32_t, 2>> settled(plan_.links.size() * k_ub_lanes_per_class,
                                                      {k_none, k_none}); // origins
    const auto extend = [&](std::uint32_t router, std::uint32_t in_link, std::uint8_t lane, std::uint64_t ps,
                            std::uint32_t origin, std::uint32_t before, std::uint8_t hops) {
        const ub_router_plan& r = plan_.routers[router];
        const ub_channel in = in_link == k_none ? ub_channel::local : plan_.links[in_link].channel;
        const bool second = in_link != k_none && on_second_die(r, plan_.links[in_link].to_port);
        for (std::uint32_t i = first_out_[router]; i < first_out_[router + 1]; ++i) {
            const std::uint32_t l = out_[i];
            const std::uint8_t next = plan_.lanes.next(in, lane, plan_.links[l].channel);
            const std::uint64_t extra_ps = next == ub_lane_rule::k_refused ? k_never_ps : toll(l);
            if (extra_ps == k_never_ps)
                continue;
            const auto& have = settled[l * k_ub_lanes_per_class + next];
            if (have[labels_each - 1] != k_none || have[0] == origin)
                continue;
            const bool crosses = r.local_ports >= 2 && second != on_second_die(r, plan_.links[l].from_port);
            const std::uint64_t then_ps = ps + extra_ps + hop_ps_[l] + (crosses ? config_.die_crossing.value() : 0);
            open.push(
                {then_ps, l * k_ub_lanes_per_class + next, origin, static_cast<std::uint32_t>(open_labels.size())});
            open_labels.push_back({then_ps, l, origin, before, next, hops});
        }
    };
    for (const std::uint32_t router : from)
        extend(router, k_none, 0, 0, router, k_none, 1);
    while (!open.empty()) {
        const auto [ps, state, origin, number] = open.top();
        open.pop();
        auto& have = settled[state];
        if (have[labels_each - 1] != k_none || have[0] == origin || have[1] == origin)
            continue;
        have[have[0] == k_none ? 0 : 1] = origin;
        const label now = open_labels[number];
        const auto index = static_cast<std::uint32_t>(labels.size());
        labels.push_back(now);
        const std::uint32_t at = plan_.links[now.link].to;
        if (!reached(at, labels, index))
            return;
        if (now.hops < abi::ub::k_most_instructions)
            extend(at, now.link, now.lane, ps, origin, index, static_cast<std::uint8_t>(now.hops + 1));
    }
}

ub_management_way ub_management_ways::way_of(const std::vector<label>& labels, std::uint32_t last)
{
    ub_management_way way;
    way.from = labels[last].origin;
    for (std::uint32_t i = last; i != k_none; i = labels[i].before) {
        way.links.push_back(labels[i].link);
        way.lanes.push_back(labels[i].lane);
    }
    std::reverse(way.links.begin(), way.links.end());
    std::reverse(way.lanes.begin(), way.lanes.end());
    return way;
}

std::vector<ub_management_ways::pair_of_ways>
ub_management_ways::from_nearest_two(const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to,
                                     const link_toll& toll) const
{
    std::vector<pair_of_ways> all(to.size());
    std::vector<std::uint32_t> place(plan_.routers.size(), k_none);
    for (std::uint32_t i = 0; i < to.size(); ++i)
        place[to[i]] = i;
    std::size_t left = to.size() * std::min<std::size_t>(2, from.size());
    const auto note = [&](std::uint32_t router, ub_management_way way) {
        pair_of_ways& have = all[place[router]];
        if (have[1] || (have[0] && have[0]->from == way.from))
            return;
        have[have[0] ? 1 : 0] = std::move(way);
        --left;
    };
    for (const std::uint32_t router : from)
        if (place[router] != k_none)
            note(router, {router, {}, {}});
    search(from, 2, toll, [&](std::uint32_t router, const std::vector<label>& labels, std::uint32_t index) {
        if (place[router] != k_none && !all[place[router]][1])
            note(router, way_of(labels, index));
        return left > 0;
    });
    if (std::all_of(all.begin(), all.end(), [](const pair_of_ways& ways) { return ways[0].has_value(); }))
        return all;
    const auto others = relayed(from, to, toll);
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!all[i][0])
            all[i][0] = others[i];
    return all;
}

/// Router by router, whatever the rule says; by time (Dijkstra).
std::vector<std::optional<ub_management_way>> ub_management_ways::relayed(const std::vector<std::uint32_t>& from,
                                                                          const std::vector<std::uint32_t>& to,
                                                                          const link_toll& toll) const
{
    std::vector<std::uint64_t> at(plan_.routers.size(), k_never_ps);
    std::vector<std::uint32_t> by(plan_.routers.size(), k_none);
    using entry = std::pair<std::uint64_t, std::uint32_t>;
    std::priority_queue<entry, std::vector<entry>, std::greater<entry>> open;
    for (const std::uint32_t router : from)
        open.push({at[router] = 0, router});
    while (!open.empty()) {
        const auto [ps, router] = open.top();
        open.pop();
        for (std::uint32_t i = first_out_[router]; ps == at[router] && i < first_out_[router + 1]; ++i) {
            const std::uint32_t l = out_[i], next = plan_.links[l].to;
            const std::uint64_t extra_ps = toll(l);
            if (extra_ps == k_never_ps || ps + extra_ps + hop_ps_[l] >= at[next])
                continue;
            at[next] = ps + extra_ps + hop_ps_[l];
            by[next] = l;
            open.push({at[next], next});
        }
    }
    std::vector<std::optional<ub_management_way>> all(to.size());
    for (std::size_t i = 0; i < to.size(); ++i) {
        if (at[to[i]] == k_never_ps)
            continue;
        std::vector<std::uint32_t> links;
        std::uint32_t router = to[i];
        for (; by[router] != k_none; router = plan_.links[by[router]].from)
            links.push_back(by[router]);
        std::reverse(links.begin(), links.end());
        all[i] = over(router, std::move(links));
    }
    return all;
}

/// With lanes, and relays where there must be one.
ub_management_way ub_management_ways::over(std::uint32_t from, std::vector<std::uint32_t> links) const
{
    ub_management_way way{from, std::move(links), {}};
    ub_channel in = ub_channel::local;
    std::uint8_t lane = 0;
    std::uint32_t first = 0;
    for (std::uint32_t i = 0; i < way.links.size(); ++i) {
        const ub_channel out = plan_.links[way.links[i]].channel;
        std::uint8_t next = plan_.lanes.next(in, lane, out);
        if (next == ub_lane_rule::k_refused || i - first == abi::ub::k_most_instructions) {
            way.relays.push_back(first = i);
            next = plan_.lanes.next(ub_channel::local, 0, out);
        }
        way.lanes.push_back(lane = next);
        in = out;
    }
    return way;
}

std::optional<ub_management_way> ub_management_ways::quickest(const std::vector<std::uint32_t>& from, std::uint32_t to,
                                                              const link_toll& toll) const
{
    if (std::find(from.begin(), from.end(), to) != from.end())
        return ub_management_way{to, {}, {}};
    std::optional<ub_management_way> found;
    search(from, 1, toll, [&](std::uint32_t router, const std::vector<label>& labels, std::uint32_t index) {
        if (router == to)
            found = way_of(labels, index);
        return !found;
    });
    constexpr std::uint64_t k_relay_ps = 500'000'000; // less than a toll, more than any way
    const auto cost_ps = [&](const ub_management_way& way) {
        return std::accumulate(way.links.begin(), way.links.end(), std::uint64_t{0},
                               [&](std::uint64_t ps, std::uint32_t l) { return ps + hop_ps_[l] + toll(l); });
    };
    if (found && cost_ps(*found) < k_relay_ps)
        return found;
    const auto other = relayed(from, {to}, toll).front();
    return other && (!found || cost_ps(*other) + k_relay_ps < cost_ps(*found)) ? other : found;
}

ub_management_way ub_management_ways::reverse_of(const ub_management_way& way) const
{
    std::vector<std::uint32_t> links;
    for (std::size_t i = way.links.size(); i-- > 0;)
        links.push_back(way.links[i] ^ 1u); // directions of a link stand side by side
    return over(way.links.empty() ? way.from : plan_.links[way.links.back()].to, std::move(links));
}

std::uint64_t ub_management_ways::zero_load_ps(const ub_management_way& way) const
{
    std::uint64_t ps = 0;
    for (std::uint32_t first = 0; first < way.links.size();) {
        const std::uint32_t end = way.end_of_leg(first);
        ps += leg_ps(plan_.links[way.links[first]].from, {way.links.begin() + first, way.links.begin() + end});
        first = end;
    }
    return ps;
}

std::uint64_t ub_management_ways::leg_ps(std::uint32_t from, const std::vector<std::uint32_t>& links) const
{
    const std::uint64_t ps =
        ub_zero_load_ps(config_, plan_.routers[from].device, ub_hops(plan_, links), payload_bytes_);
    const ub_link_plan& last = plan_.links[links.back()];
    const ub_router_plan& end = plan_.routers[last.to];
    return ps + (end.local_ports >= 2 && on_second_die(end, last.to_port) ? config_.die_crossing.value() : 0);
}

} // namespace weft
