// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/sync/sync_network.h"

#include "tlm/check.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

std::string sync_zone::text() const
{
    if (members == 1)
        return fmt::format("rank {}", first);
    return fmt::format("ranks {} to {}{}", first, last(), stride == 1 ? "" : fmt::format(" in steps of {}", stride));
}

sync_network::sync_network(const sc_core::sc_module_name& name, timeline& time, const sync_wires& wires)
    : sc_core::sc_module(name), stats(this->name()), time_(time), wires_(wires), actor_(time.register_actors(1))
{
    stats.add("syncs", "1", "Zones released", syncs_);
    stats.add("lost", "1", "Arrivals lost by wires that are cut", lost_);
    time.components().add(*this);
}

void sync_network::add(sync_unit& unit)
{
    units_.push_back(&unit);
    cut_ps_.push_back(k_never_ps);
}

void sync_network::cut(std::uint32_t rank, duration at) { cut_ps_.at(rank) = std::min(cut_ps_.at(rank), at.value()); }

sync_network::meeting& sync_network::meeting_of(const sync_zone& zone)
{
    const auto [at, is_new] = meetings_.try_emplace(zone);
    meeting& m = at->second;
    if (is_new) {
        m.ways = wires_.ways(zone);
        if (m.ways.size() != zone.members)
            throw bug(name(), time_.now_ps(), "sync wires of another number of members than their zone has");
        m.arrived.assign(zone.members, false);
        m.lost.assign(zone.members, false);
    }
    return m;
}

bool sync_network::arrive(std::uint32_t rank, const sync_zone& zone, std::uint64_t at_ps)
{
    if (!zone.exists(static_cast<std::uint32_t>(units_.size())) || !zone.has(rank))
        return false;
    meeting& m = meeting_of(zone);
    const std::uint32_t member = zone.member_of(rank);
    if (std::find(m.arrived.begin(), m.arrived.end(), true) == m.arrived.end() || at_ps < m.first_ps)
        m.first_ps = at_ps;
    m.arrived[member] = true;
    if (at_ps >= cut_ps_[rank]) {
        m.lost[member] = true;
        ++lost_;
        return true;
    }
    m.meet_ps = std::max(m.meet_ps, at_ps + m.ways[member].value());
    m.last_ps = std::max(m.last_ps, at_ps);
    if (++m.count < zone.members)
        return true;
    for (std::uint32_t i = 0; i < zone.members; ++i) {
        const std::uint64_t release_ps = m.meet_ps + m.ways[i].value();
        longest_ps_ = std::max(longest_ps_, release_ps - m.last_ps);
        time_.schedule(release_ps, make_order(event_class::device, actor_, zone.rank(i)), *this, zone.rank(i), 0);
    }
    pending_ += zone.members;
    ++syncs_;
    ++m.done;
    m.arrived.assign(zone.members, false);
    m.count = 0;
    m.meet_ps = m.last_ps = 0;
    return true;
}

void sync_network::on_event(std::uint32_t rank, std::uint8_t)
{
    --pending_;
    units_[rank]->release(time_.now_ps());
}

std::string sync_network::who_is_missing(const sync_zone& zone, const meeting& m) const
{
    constexpr std::size_t k_show = 8;
    std::string absent, cut;
    std::size_t absent_count = 0;
    for (std::uint32_t i = 0; i < zone.members; ++i) {
        const std::uint32_t rank = zone.rank(i);
        if (m.lost[i])
            cut += fmt::format("; rank {} has, but its sync wire is cut", rank);
        else if (!m.arrived[i] && ++absent_count <= k_show)
            absent += fmt::format("{}{}", absent.empty() ? "" : ", ", rank);
    }
    if (absent_count > k_show)
        absent += fmt::format(" and {} more", absent_count - k_show);
    return (absent.empty() ? "" : fmt::format("; missing: rank{} {}", absent_count == 1 ? "" : "s", absent)) + cut;
}

std::string sync_network::waits() const
{
    std::string text;
    for (const auto& [zone, m] : meetings_)
        if (std::find(m.arrived.begin(), m.arrived.end(), true) != m.arrived.end())
            text += fmt::format("{}sync zone of {}, sync {} since it began: {} of {} have arrived, the first at {}{}",
                                text.empty() ? "" : "\n", zone.text(), m.done + 1, m.count, zone.members,
                                rounded_text(duration(m.first_ps)), who_is_missing(zone, m));
    return text;
}

void sync_network::reset(std::uint32_t) { meetings_.clear(); }

} // namespace weft
