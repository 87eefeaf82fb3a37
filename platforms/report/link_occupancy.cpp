// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/link_occupancy.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace weft {

namespace {

using hop = std::pair<std::uint32_t, std::uint32_t>; ///< source, destination

/// Takes away what does not close.
void keep_circles(std::set<hop>& hops)
{
    for (std::size_t before = 0; before != hops.size();) {
        before = hops.size();
        std::set<std::uint32_t> sends, receives;
        for (const hop& h : hops) {
            sends.insert(h.first);
            receives.insert(h.second);
        }
        for (auto h = hops.begin(); h != hops.end();)
            h = receives.count(h->first) == 0 || sends.count(h->second) == 0 ? hops.erase(h) : std::next(h);
    }
}

/// Number of the ring of each hop, from `first` on. False when someone sends on to two.
bool number_rings(const std::set<hop>& circles, std::uint32_t& next, std::map<hop, std::uint32_t>& ring_of)
{
    std::map<std::uint32_t, std::uint32_t> successor;
    std::set<std::uint32_t> receivers;
    for (const hop& h : circles)
        if (!successor.insert(h).second || !receivers.insert(h.second).second)
            return false;
    for (const hop& h : circles) {
        if (ring_of.count(h) != 0)
            continue;
        std::uint32_t at = h.first;
        do {
            const std::uint32_t to = successor.at(at);
            ring_of[{at, to}] = next;
            at = to;
        } while (at != h.first);
        ++next;
    }
    return true;
}

} // namespace

link_occupancy::link_occupancy(const std::vector<bool>& watched) : links_(watched.size())
{
    for (std::size_t i = 0; i < watched.size(); ++i)
        links_[i].watched = watched[i];
}

void link_occupancy::record(const event_record& r)
{
    if (r.kind != record_kind::link_emitted || r.payload_bytes == 0 || !links_[r.where].watched)
        return;
    link_log& log = links_[r.where];
    const auto same = [&r](const link_use& u) {
        return u.source == r.source && u.destination == r.destination && u.semaphore == r.semaphore;
    };
    if (log.uses.empty() || !same(log.uses[log.latest])) {
        const auto found = std::find_if(log.uses.begin(), log.uses.end(), same);
        log.latest = static_cast<std::uint32_t>(found - log.uses.begin());
        if (found == log.uses.end())
            log.uses.push_back({r.where, r.source, r.destination, r.semaphore, 0, 0});
    }
    log.uses[log.latest].bytes += r.payload_bytes;
    log.uses[log.latest].messages += r.last_of_message ? 1 : 0;
}

std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t>
link_occupancy::messages_between() const
{
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t> found;
    for (const link_log& log : links_)
        for (const link_use& u : log.uses) {
            std::uint64_t& most = found[{u.source, u.destination, u.semaphore}];
            most = std::max(most, u.messages);
        }
    return found;
}

std::vector<link_use> link_occupancy::uses(std::uint32_t semaphore) const
{
    std::vector<link_use> found;
    for (const link_log& log : links_)
        for (const link_use& u : log.uses)
            if (u.semaphore == semaphore)
                found.push_back(u);
    return found;
}

ring_sharing find_sharing(const link_occupancy& occupancy, const std::vector<std::uint32_t>& semaphores)
{
    ring_sharing result;
    std::map<std::uint32_t, std::map<std::uint32_t, hop>> rings_on; // link -> ring -> one of its hops there
    std::set<std::uint32_t> open_links;
    std::map<std::uint32_t, std::uint32_t> size_of; // of a ring
    for (const std::uint32_t semaphore : semaphores) {
        const std::vector<link_use> uses = occupancy.uses(semaphore);
        std::set<hop> all;
        for (const link_use& u : uses)
            all.insert({u.source, u.destination});
        std::set<hop> circles = all;
        keep_circles(circles);
        result.open_streams += static_cast<std::uint32_t>(all.size() - circles.size());
        std::map<hop, std::uint32_t> ring_of;
        if (!number_rings(circles, result.rings, ring_of)) {
            result.tangled = true;
            continue;
        }
        for (const auto& [h, ring] : ring_of)
            ++size_of[ring];
        for (const link_use& u : uses) {
            const auto ring = ring_of.find({u.source, u.destination});
            if (ring == ring_of.end())
                open_links.insert(u.link);
            else
                rings_on[u.link].insert({ring->second, ring->first});
        }
    }
    for (const auto& [link, rings] : rings_on) {
        ++result.ring_links;
        result.most_rings = std::max(result.most_rings, static_cast<std::uint32_t>(rings.size()));
        result.open_on_ring_links += static_cast<std::uint32_t>(open_links.count(link));
        if (rings.size() < 2 || result.shared_links++ > 0)
            continue;
        result.example = fmt::format("link {}:", link);
        for (const auto& [ring, h] : rings)
            result.example += fmt::format(" ring of {} from {} to {};", size_of.at(ring), h.first, h.second);
        result.example.pop_back();
    }
    result.open_links = static_cast<std::uint32_t>(open_links.size());
    return result;
}

} // namespace weft
