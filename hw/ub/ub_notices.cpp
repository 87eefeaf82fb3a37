// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ub/ub_notices.h"

#include <algorithm>

namespace weft {

ub_notices::ub_notices(ub_fabric& fabric, timeline& time, const ub_config& ub, const ub_notice_config& notice,
                       const std::vector<bool>& down, bool unforeseen)
    : fabric_(fabric), time_(time), plan_(fabric.plan()), notice_(notice), down_(down), times_(plan_, ub, notice, down),
      direct_(notice.notification == ub_notification::direct), unforeseen_(unforeseen && direct_),
      out_(plan_.routers.size()), actor_(time.register_actors(1))
{
    if (fabric.management() == nullptr)
        throw bug("ub_notices", time.now_ps(), "the devices of this fabric do not speak to each other");
    fabric.management()->set_payload(notice.notice_payload.value());
    fabric.management()->set_listener(this);
    for (std::uint32_t l = 0; l < plan_.links.size(); ++l)
        out_[plan_.links[l].from].push_back(l);
    set_up_statistics();
    time.components().add(*this);
}

void ub_notices::set_up_statistics()
{
    stats.add("notices", "packets", "Notices of failed and restored links, repeats included", notices);
    stats.add("repeats", "packets", "Notices sent again, or by the second end, for want of an acknowledgement",
              repeats);
    stats.add("acknowledgements", "packets", "Acknowledgements of notices", acknowledgements);
    stats.add("duplicates", "packets", "Notices of what had been heard before", duplicates);
    stats.add_row({"bytes", "B",
                   "Notices and acknowledgements, once each; their bytes on links are in fabric.wire_bytes", this,
                   [](const void* o) { return static_cast<const ub_notices*>(o)->fabric_.management()->bytes(); }});
    stats.add_row({"relayed", "packets", "Of these packets, passed on by a control processor where a header had ended",
                   this,
                   [](const void* o) { return static_cast<const ub_notices*>(o)->fabric_.management()->relayed(); }});
    stats.add_row({"hops", "1", "Links that arrived notices and acknowledgements have crossed", this,
                   [](const void* o) { return static_cast<const ub_notices*>(o)->fabric_.management()->hops(); }});
    stats.add_row({"not_arrived", "packets", "Notices and acknowledgements that were lost, or are on their way", this,
                   [](const void* o) {
                       const ub_management& m = *static_cast<const ub_notices*>(o)->fabric_.management();
                       return m.sent() - m.arrived();
                   }});
    stats.add("slowest", "ps", "Longest from a failure, or its end, until a source had heard of it", slowest);
}

void ub_notices::schedule(std::uint64_t at_ps, std::uint32_t a, event_kind kind)
{
    time_.schedule(at_ps, make_order(event_class::device, actor_, sequence_++), *this, a, kind);
}

void ub_notices::schedule(std::uint64_t at_ps, const job& j, event_kind kind)
{
    schedule(at_ps, jobs_.add(j), kind);
}

void ub_notices::on_event(std::uint32_t a, std::uint8_t kind)
{
    if (kind == k_repeat)
        return repeat(a);
    const job j = jobs_.take(a);
    switch (kind) {
    case k_apply: return apply(j);
    case k_forward: return pass_on(j);
    case k_restored:
        for (const std::uint32_t end : std::vector<std::uint32_t>(news_[j.news].ends))
            end_knows(j.news, k_works, end);
        return;
    case k_tell_neighbour: return send_to_neighbour(j, j.other);
    default: return note_registered(j);
    }
}

// --- What happens to links -------------------------------------------------------------------------------------------

void ub_notices::expect(const ub_failed_part& part, std::uint64_t at_ps, std::uint64_t until_ps,
                        const std::vector<std::uint32_t>& affected)
{
    news n{part, part.links(plan_), part.ends(plan_), at_ps, until_ps, affected, {}, {}};
    for (phase& p : n.phases) {
        p.heard.resize(plan_.routers.size());
        p.applied.resize(plan_.routers.size());
    }
    news_.push_back(std::move(n));
    if (at_ps == 0 && until_ps != k_never_ps) // it may work again before anybody has declared it dead
        schedule(until_ps, {static_cast<std::uint32_t>(news_.size() - 1), k_none, k_none, k_works}, k_restored);
}

/// From the start.
bool ub_notices::still_down(std::uint32_t link) const
{
    return link < down_.size() && down_[link] && !fabric_.engine().link_up(fabric_.link_of(link));
}

bool ub_notices::holds(const news& n, std::uint32_t link) const
{
    return std::binary_search(n.links.begin(), n.links.end(), link);
}

void ub_notices::link_down(std::uint32_t link) { link_changes(link, k_down); }

void ub_notices::link_up(std::uint32_t link)
{
    link_changes(link, k_works);
    if (direct_)
        return;
    const std::uint32_t router = plan_.links[link].from;
    for (std::uint32_t n = 0; n < news_.size(); ++n) {
        const bool works = news_[n].phases[k_works].heard[router];
        if (!holds(news_[n], link) && (works || news_[n].phases[k_down].heard[router]))
            schedule(time_.now_ps() + notice_.flood_per_hop.value(), {n, router, link, works ? k_works : k_down},
                     k_tell_neighbour);
    }
}

void ub_notices::link_changes(std::uint32_t link, phase_name which)
{
    const std::uint64_t now_ps = time_.now_ps();
    for (std::uint32_t i = 0; i < news_.size(); ++i) {
        const news& n = news_[i];
        const bool now = which == k_down ? n.at_ps <= now_ps && now_ps < n.until_ps : n.until_ps == now_ps;
        if (now && holds(n, link) && plan_.links[link].from != n.part.device)
            end_knows(i, which, plan_.links[link].from);
    }
}

void ub_notices::end_knows(std::uint32_t number, phase_name which, std::uint32_t end)
{
    phase& p = news_[number].phases[which];
    if (std::find(p.know.begin(), p.know.end(), end) != p.know.end())
        return;
    p.know.push_back(end);
    if (!direct_) {
        p.begun = true;
        if (hear(number, which, end))
            schedule(time_.now_ps() + notice_.flood_per_hop.value(), {number, end, k_none, which}, k_forward);
        return;
    }
    if (!p.begun) {
        p.begun = true;
        make_tellings(number, which, news_[number].affected);
    }
    const std::vector<std::uint32_t> mine = p.tellings;
    for (const std::uint32_t t : mine)
        if (tellings_[t].end == end)
            begin_telling(t);
}

/// The router hears of it now. False when it has before.
bool ub_notices::hear(std::uint32_t number, std::uint8_t which, std::uint32_t router)
{
    news& n = news_[number];
    if (n.phases[which].heard[router])
        return false;
    n.phases[which].heard[router] = true;
    if (router >= fabric_.endpoints())
        return true;
    const std::uint64_t now_ps = time_.now_ps();
    slowest.record(now_ps - (which == k_down ? n.at_ps : n.until_ps));
    schedule(now_ps + times_.work_ps(), {number, router, k_none, which}, k_apply);
    return true;
}

/// The source has written its table.
void ub_notices::apply(const job& j)
{
    news& n = news_[j.news];
    if (j.phase == k_down && n.phases[k_works].applied[j.router])
        return;
    const auto time_of = [](const news& m, std::uint8_t which) { return which == k_down ? m.at_ps : m.until_ps; };
    n.phases[j.phase].applied[j.router] = true;
    for (const std::uint32_t l : n.links) {
        const bool outdated = std::any_of(news_.begin(), news_.end(), [&](const news& m) {
            if (&m == &n || !holds(m, l))
                return false;
            const bool later[2] = {time_of(m, k_down) > time_of(n, j.phase), time_of(m, k_works) > time_of(n, j.phase)};
            return (later[k_down] && m.phases[k_down].applied[j.router]) ||
                   (later[k_works] && m.phases[k_works].applied[j.router]);
        });
        if (!outdated)
            j.phase == k_down ? fabric_.exclude(j.router, l) : fabric_.readmit(j.router, l);
    }
    if (j.phase == k_down && knows_)
        knows_(j.router, n.part);
}

void ub_notices::heard(const ub_message& m)
{
    const std::uint32_t number = m.about / 2;
    const auto which = static_cast<std::uint8_t>(m.about % 2);
    if (m.what == ub_message::kind::acknowledgement) {
        tellings_[telling_of_.at({m.about, m.from, m.to})].acknowledged = true;
        return;
    }
    const bool fresh = hear(number, which, m.to);
    if (!fresh)
        ++duplicates;
    if (!direct_) {
        if (fresh)
            schedule(time_.now_ps() + notice_.flood_per_hop.value(), {number, m.to, m.from, which}, k_forward);
        return;
    }
    // When it is fresh both ends hear from the source, else the one that sends still.
    for (auto it = telling_of_.lower_bound({m.about, m.to, 0});
         it != telling_of_.end() && std::get<0>(it->first) == m.about && std::get<1>(it->first) == m.to; ++it)
        if (fresh || std::get<2>(it->first) == m.from)
            acknowledge(tellings_[it->second]);
}

// --- Direct ----------------------------------------------------------------------------------------------------------

/// Not over what ends know: what is down from the start, what the news is about, their own ports, and what they have
/// been told as sources.
ub_management_ways::link_toll ub_notices::seen_dead(const news& n, std::uint8_t which,
                                                    const std::vector<std::uint32_t>& ends) const
{
    std::vector<std::uint32_t> known = which == k_down ? n.links : std::vector<std::uint32_t>{};
    if (ends.size() == 1)
        for (const news& m : news_)
            if (m.phases[k_down].heard[ends.front()] && !m.phases[k_works].heard[ends.front()] && &m != &n)
                known.insert(known.end(), m.links.begin(), m.links.end());
    std::sort(known.begin(), known.end());
    return [this, known = std::move(known), ends](std::uint32_t l) -> std::uint64_t {
        const bool own = std::find(ends.begin(), ends.end(), plan_.links[l].from) != ends.end();
        return still_down(l) || std::binary_search(known.begin(), known.end(), l) ||
                       (own && fabric_.engine().link_dead(fabric_.link_of(l)))
                   ? k_never_ps
                   : 0;
    };
}

std::vector<std::uint32_t> ub_notices::make_tellings(std::uint32_t number, std::uint8_t which,
                                                     const std::vector<std::uint32_t>& sources)
{
    const news& n = news_[number];
    std::vector<std::uint32_t> made, routers;
    for (const std::uint32_t source : sources)
        routers.push_back(plan_.endpoint_router[source]);
    const auto ways = times_.ways().from_nearest_two(n.ends, routers, seen_dead(n, which, n.ends));
    for (std::size_t i = 0; i < sources.size(); ++i)
        for (std::uint32_t k = 0; k < 2 && ways[i][k]; ++k) {
            if (k == 1 && ways[i][0]->links.empty())
                break; // it is an end itself
            const auto index = static_cast<std::uint32_t>(tellings_.size());
            if (!telling_of_.try_emplace({about(number, which), sources[i], ways[i][k]->from}, index).second)
                continue;
            tellings_.push_back({number, sources[i], ways[i][k]->from, which, k == 0, false, 0, *ways[i][k], {}});
            made.push_back(index);
        }
    std::vector<std::uint32_t>& all = news_[number].phases[which].tellings;
    all.insert(all.end(), made.begin(), made.end());
    return made;
}

void ub_notices::begin_telling(std::uint32_t index)
{
    const telling& t = tellings_[index];
    if (t.way.links.empty()) {
        hear(t.news, t.phase, t.source);
        return;
    }
    if (t.first)
        return tell(index);
    schedule(time_.now_ps() + notice_.notice_timeout.value(), index, k_repeat);
}

void ub_notices::tell(std::uint32_t index)
{
    telling& t = tellings_[index];
    ++t.tries;
    ++notices;
    t.tried.insert(t.tried.end(), t.way.links.begin(), t.way.links.end());
    fabric_.management()->send(
        {ub_message::kind::notice, about(t.news, t.phase), t.end, plan_.endpoint_router[t.source]}, t.way);
    schedule(time_.now_ps() + (notice_.notice_timeout.value() << (t.tries - 1)), index, k_repeat);
}

/// Time is up: once more by other links, unless the source has answered or the end knows better.
void ub_notices::repeat(std::uint32_t index)
{
    telling& t = tellings_[index];
    const news& n = news_[t.news];
    const auto& better = n.phases[k_works].know;
    if (t.acknowledged || t.tries >= notice_.notice_tries ||
        (t.phase == k_down && std::find(better.begin(), better.end(), t.end) != better.end()))
        return;
    const std::vector<std::uint32_t> self = {t.end};
    const auto dead = seen_dead(n, t.phase, self);
    // A link that was in vain is not known to be dead: it is taken where others would take longer by this for each try.
    constexpr std::uint64_t k_in_vain_ps = 1'000'000'000;
    auto way = times_.ways().quickest(self, plan_.endpoint_router[t.source], [&](std::uint32_t l) {
        const auto in_vain = static_cast<std::uint64_t>(std::count(t.tried.begin(), t.tried.end(), l));
        return std::max(dead(l), in_vain * k_in_vain_ps);
    });
    if (!way) { // its links may work again
        ++t.tries;
        return schedule(time_.now_ps() + (notice_.notice_timeout.value() << (t.tries - 1)), index, k_repeat);
    }
    ++repeats;
    t.way = std::move(*way);
    tell(index);
}

/// Back over the links by which the notice came, or would have come.
void ub_notices::acknowledge(const telling& t)
{
    const ub_management_way back = times_.ways().reverse_of(t.way);
    const std::uint32_t router = plan_.endpoint_router[t.source];
    ++acknowledgements;
    fabric_.management()->send({ub_message::kind::acknowledgement, about(t.news, t.phase), router, t.end}, back);
}

void ub_notices::falls_back_to(std::uint32_t source, const std::vector<std::uint32_t>& links)
{
    if (!direct_)
        return;
    for (std::uint32_t i = 0; i < news_.size(); ++i) {
        news& n = news_[i];
        if (std::binary_search(n.affected.begin(), n.affected.end(), source) || n.registered.count(source) != 0 ||
            std::none_of(links.begin(), links.end(), [&](std::uint32_t l) { return holds(n, l); }))
            continue;
        n.registered.insert(source);
        if (const auto way =
                times_.ways().quickest(n.ends, plan_.endpoint_router[source], seen_dead(n, k_down, n.ends)))
            schedule(time_.now_ps() + times_.ways().zero_load_ps(*way), {i, source, k_none, k_down}, k_registered);
    }
    if (unforeseen_)
        for (const std::uint32_t l : links)
            users_.emplace(l, source);
}

/// The ends learn that a source has fallen back to the link.
void ub_notices::note_registered(const job& j)
{
    news& n = news_[j.news];
    n.affected.insert(std::lower_bound(n.affected.begin(), n.affected.end(), j.router), j.router);
    if (!n.phases[k_down].begun || n.phases[k_works].begun)
        return;
    for (const std::uint32_t t : make_tellings(j.news, k_down, {j.router}))
        if (const auto& know = n.phases[k_down].know;
            std::find(know.begin(), know.end(), tellings_[t].end) != know.end())
            begin_telling(t);
}

std::vector<std::uint32_t> ub_notices::users_of(std::uint32_t link) const
{
    std::set<std::uint32_t> all;
    for (const std::uint32_t l : {link, link ^ 1u})
        for (auto it = users_.lower_bound({l, 0}); it != users_.end() && it->first == l; ++it)
            all.insert(it->second);
    return {all.begin(), all.end()};
}

// --- Hop by hop ------------------------------------------------------------------------------------------------------

void ub_notices::pass_on(const job& j)
{
    for (const std::uint32_t l : out_[j.router])
        if (plan_.links[l].to != j.other)
            send_to_neighbour(j, l);
}

/// One link, on the lane on which packets begin. Not over one that the device sees dead.
void ub_notices::send_to_neighbour(const job& j, std::uint32_t link)
{
    if (still_down(link) || fabric_.engine().link_dead(fabric_.link_of(link)))
        return;
    ++notices;
    const std::uint8_t lane = plan_.lanes.next(ub_channel::local, 0, plan_.links[link].channel);
    fabric_.management()->send({ub_message::kind::notice, about(j.news, j.phase), j.router, plan_.links[link].to},
                               {j.router, {link}, {lane}});
}

} // namespace weft
