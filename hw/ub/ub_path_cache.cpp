// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ub/ub_path_cache.h"

#include "hw/ub/ub_link.h"
#include "tlm/check.h"

#include <algorithm>
#include <numeric>

namespace weft {

ub_path_cache::ub_path_cache(const ub_plan& plan, const ub_routing& routing, ub_turns& turns, const ub_config& config,
                             std::uint32_t router)
    : plan_(plan), routing_(routing), turns_(turns), config_(config), use_(config.paths), spreading_(config.spreading),
      choice_(config.choice), router_(router)
{
}

ub_path_cache::path_set& ub_path_cache::look_up(std::uint32_t key)
{
    last_ = index_.insert(key);
    if (last_ == sets_.size()) {
        sets_.emplace_back();
        sets_.back().key = key;
        sets_.back().destination = key & ~k_shortest_set;
    }
    if (sets_[last_].epoch != epoch_)
        fetch(sets_[last_]);
    return sets_[last_];
}

ub_path_cache::path_set& ub_path_cache::widen(std::uint32_t destination)
{
    path_set& set = set_for(destination);
    if (!set.wide) {
        set.wide = true;
        fetch(set);
    }
    return set;
}

bool ub_path_cache::wanted(const path_set& set, ub_path_kind kind) const
{
    return (set.key & k_shortest_set) != 0 ? kind == ub_path_kind::shortest : configured(kind);
}

bool ub_path_cache::configured(ub_path_kind kind) const
{
    return kind == ub_path_kind::shortest || use_ == ub_path_use::all ||
           (kind == ub_path_kind::detour ? use_ == ub_path_use::detour : use_ == ub_path_use::borrow);
}

/// Those that share no link with the paths, or their first or last links only: an endpoint may have no others.
void ub_path_cache::add_other_ways(std::uint32_t to, std::vector<bool> excluded, std::vector<ub_path>& paths) const
{
    excluded.resize(plan_.links.size());
    const std::vector<ub_path> known = paths;
    for (const bool same_last : {false, true})
        for (const bool same_first : {false, true}) {
            std::vector<bool> down = excluded;
            for (const ub_path& p : known)
                for (std::size_t i = 0; i < p.links.size(); ++i)
                    if (!(same_first && i == 0) && !(same_last && i + 1 == p.links.size()))
                        down[p.links[i]] = true;
            for (const ub_path& other : plan_.paths->paths(router_, to, down))
                if (std::none_of(paths.begin(), paths.end(), [&](const ub_path& p) { return p.links == other.links; }))
                    paths.push_back(other);
        }
}

void ub_path_cache::fetch(path_set& set)
{
    ++fetches_;
    set.epoch = epoch_;
    const std::uint32_t to = routing_.router_of(set.destination);
    std::vector<choice> found;
    std::vector<std::uint32_t> weights;
    std::vector<std::uint64_t> latencies_ps;
    std::vector<std::uint32_t> fall_back; // links
    if (plan_.paths == nullptr || to == router_) {
        // Tables alone; a packet to an endpoint of the own router turns round there.
        if (to == router_ || routing_.table_port(router_, to, 0) != ub_routing::k_none)
            found.emplace_back(), weights.push_back(1);
        if (to == router_)
            found.front().port = 0;
    } else {
        std::vector<bool> down;
        if (!excluded_.empty()) {
            down.resize(plan_.links.size());
            for (const std::uint32_t link : excluded_)
                down[link] = true;
        }
        std::vector<ub_path> paths = plan_.paths->paths(router_, to, down);
        if (set.wide)
            add_other_ways(to, std::move(down), paths);
        // Of a path over links that have lost lanes from the start, what is left of its narrowest one, in lanes of 64.
        const auto left_of = [this](const ub_path& p) {
            std::uint32_t left = k_all_lanes;
            for (const std::uint32_t l : p.links)
                if (const ub_link_plan& link = plan_.links[l]; link.lanes_left != 0)
                    left = std::min(left, k_all_lanes * link.lanes_left / link.lanes);
            return left;
        };
        const bool narrowed = std::any_of(paths.begin(), paths.end(), [&](const ub_path& p) { return left_of(p) != k_all_lanes; });
        // An exchange by shortest paths takes others, too, where none of those has all its lanes.
        const bool slowed = narrowed && std::none_of(paths.begin(), paths.end(), [&](const ub_path& p) {
                                return wanted(set, p.kind) && left_of(p) == k_all_lanes;
                            });
        // Kinds that the configuration leaves out are better than nothing.
        const bool any_wanted =
            std::any_of(paths.begin(), paths.end(), [&](const ub_path& p) { return wanted(set, p.kind); });
        for (const ub_path& p : paths) {
            if (any_wanted && !set.wide && !wanted(set, p.kind) && !(slowed && configured(p.kind)))
                continue;
            choice c;
            c.route = p.route.bits;
            c.lane = p.first_lane;
            c.kind = p.kind;
            c.hops = std::max<std::uint8_t>(1, p.hops);
            if (p.route.here())
                c.port = abi::ub::decode_instruction(p.route.present_byte()).port;
            else if (!p.links.empty())
                c.port = plan_.links[p.links.front()].from_port;
            if (set.wide || !excluded_.empty())
                fall_back.insert(fall_back.end(), p.links.begin(), p.links.end());
            found.push_back(c);
            weights.push_back(std::max<std::uint32_t>(1, narrowed ? p.weight * left_of(p) : p.weight));
            latencies_ps.push_back(ub_way_ps(config_, plan_, p.links));
        }
        if (narrowed) {
            std::uint32_t common = 0;
            for (const std::uint32_t w : weights)
                common = std::gcd(common, w);
            for (std::uint32_t& w : weights)
                w /= common;
        }
        if (found.size() > k_most_paths)
            throw bug("ub_path_cache", 0, "a path set has more than 4096 paths");
    }
    if (listener_ != nullptr && !fall_back.empty())
        listener_->falls_back_to(source_, fall_back);
    const bool equal = std::equal(weights.begin() + (weights.empty() ? 0 : 1), weights.end(), weights.begin());
    const ub_turns::round* const round = equal ? nullptr : &turns_.round_of(weights);
    const auto same = [](const choice& a, const choice& b) {
        return a.route == b.route && a.port == b.port && a.lane == b.lane;
    };
    if (round == set.round && found.size() == set.paths.size() &&
        std::equal(found.begin(), found.end(), set.paths.begin(), same))
        return; // flows stay where they are
    set.paths = std::move(found);
    set.ports = 0;
    set.other_ports = false;
    for (const choice& c : set.paths)
        if (c.port < 64)
            set.ports |= std::uint64_t{1} << c.port;
        else
            set.other_ports = true;
    set.round = round;
    note_latencies(set, latencies_ps);
    begin(set);
}

/// From which die a packet will come is not known: what it costs to turn from one to the other makes no way longer.
void ub_path_cache::note_latencies(path_set& set, const std::vector<std::uint64_t>& latencies_ps) const
{
    set.extra_ps.clear();
    set.by_extra.clear();
    set.most_extra_ps = 0;
    if (latencies_ps.empty())
        return;
    const std::uint64_t least_ps = *std::min_element(latencies_ps.begin(), latencies_ps.end());
    for (const std::uint64_t ps : latencies_ps) {
        const std::uint64_t extra_ps = ps - least_ps <= config_.die_crossing.value() ? 0 : ps - least_ps;
        set.extra_ps.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(extra_ps, 0xffff'ffff)));
        set.most_extra_ps = std::max(set.most_extra_ps, set.extra_ps.back());
    }
    if (set.most_extra_ps == 0) {
        set.extra_ps.clear();
        return;
    }
    set.by_extra.resize(set.extra_ps.size());
    std::iota(set.by_extra.begin(), set.by_extra.end(), std::uint16_t{0});
    std::stable_sort(set.by_extra.begin(), set.by_extra.end(),
                     [&](std::uint16_t a, std::uint16_t b) { return set.extra_ps[a] < set.extra_ps[b]; });
    set.quickest = static_cast<std::uint32_t>(std::count(set.extra_ps.begin(), set.extra_ps.end(), 0u));
}

void ub_path_cache::begin(path_set& set) const
{
    set.place = {};
    // Sources begin with different paths, so that they do not meet in lockstep.
    if (set.round == nullptr && !set.paths.empty())
        set.place.next = ub_routing::way_of(set.destination, router_, static_cast<std::uint32_t>(set.paths.size()));
    if (!set.extra_ps.empty())
        set.turn = ub_routing::way_of(set.destination, router_, set.quickest);
    set.waited_ps = set.last_ps = set.waits_until_ps = 0;
    set.mark_port = k_any_port;
    set.passed_over_since.fill(path_set::k_not);
    set.taken.fill(0);
    set.flow_path.clear();
}

void ub_path_cache::reset()
{
    for (path_set& set : sets_)
        begin(set);
}

std::uint32_t ub_path_cache::choose_other(path_set& set, std::uint32_t avoid) const
{
    const std::uint32_t i = by_weight(set);
    return i == avoid ? by_weight(set) : i;
}

void ub_path_cache::exclude(std::uint32_t link)
{
    const auto at = std::lower_bound(excluded_.begin(), excluded_.end(), link);
    if (at != excluded_.end() && *at == link)
        return;
    excluded_.insert(at, link);
    ++epoch_;
}

void ub_path_cache::readmit(std::uint32_t link)
{
    const auto at = std::lower_bound(excluded_.begin(), excluded_.end(), link);
    if (at == excluded_.end() || *at != link)
        return;
    excluded_.erase(at);
    ++epoch_;
}

} // namespace weft
