// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ub/ub_notice_times.h"

#include "hw/ub/ub_link.h"

#include <algorithm>
#include <numeric>
#include <queue>

namespace weft {

std::vector<std::uint32_t> ub_failed_part::links(const ub_plan& plan) const
{
    if (!is_device())
        return {std::min(link, link ^ 1u), std::max(link, link ^ 1u)}; // directions of a link stand side by side
    std::vector<std::uint32_t> all;
    for (std::uint32_t l = 0; l < plan.links.size(); ++l)
        if (plan.links[l].from == device || plan.links[l].to == device)
            all.push_back(l);
    return all;
}

std::vector<std::uint32_t> ub_failed_part::ends(const ub_plan& plan) const
{
    std::vector<std::uint32_t> all;
    for (const std::uint32_t l : links(plan))
        if (plan.links[l].from != device)
            all.push_back(plan.links[l].from);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

ub_notice_times::ub_notice_times(const ub_plan& plan, const ub_config& ub, const ub_notice_config& notice,
                                 const std::vector<bool>& down)
    : plan_(plan), ub_(ub), notice_(notice), down_(down), ways_(plan, ub, notice.notice_payload.value())
{
}

std::uint64_t ub_notice_times::work_ps() const
{
    return notice_.table_write.value() +
           (notice_.notification == ub_notification::direct ? notice_.notice_software : notice_.flood_per_hop).value();
}

std::uint64_t ub_notice_times::repeats_ps() const
{
    return notice_.notice_timeout.value() * ((std::uint64_t{1} << notice_.notice_tries) - 1);
}

/// What the links of a way may add.
ub_notice_times::arrival ub_notice_times::over(const std::vector<std::uint32_t>& links) const
{
    arrival a{0, 0, 0};
    const packet_format format = ub_.format();
    const std::uint64_t blocks = ub_.control() ? ub_.control()->control_block_bytes * 2 + 33 * ub_.flit.value() : 0;
    for (const std::uint32_t l : links) {
        const wire_rate rate(ub_.link_rate(plan_.links[l].lanes));
        a.load_ps += rate.time_ps(format.wire_bytes_of_one(format.max_payload_bytes) + blocks);
        a.slots_ps += ways_.wire_ps(l);
    }
    return a;
}

std::vector<ub_notice_times::arrival> ub_notice_times::arrivals(const ub_failed_part& part,
                                                                const std::vector<std::uint32_t>& sources) const
{
    std::vector<arrival> all(sources.size(), {k_never_ps, 0, 0});
    const std::vector<std::uint32_t> broken = part.links(plan_), ends = part.ends(plan_);
    const auto avoid = [&](std::uint32_t l) {
        return (l < down_.size() && down_[l]) || std::binary_search(broken.begin(), broken.end(), l);
    };
    std::vector<std::uint32_t> routers;
    for (const std::uint32_t source : sources)
        routers.push_back(plan_.endpoint_router[source]);
    if (notice_.notification == ub_notification::direct) {
        const auto ways =
            ways_.from_nearest_two(ends, routers, [&](std::uint32_t l) { return avoid(l) ? k_never_ps : 0; });
        for (std::size_t i = 0; i < ways.size(); ++i)
            if (ways[i][0]) {
                all[i] = over(ways[i][0]->links);
                all[i].ps = ways_.zero_load_ps(*ways[i][0]);
            }
        return all;
    }
    // A flood takes all ways; the quickest counts.
    std::vector<std::vector<std::uint32_t>> out(plan_.routers.size());
    for (std::uint32_t l = 0; l < plan_.links.size(); ++l)
        if (!avoid(l))
            out[plan_.links[l].from].push_back(l);
    std::vector<std::uint64_t> at(plan_.routers.size(), k_never_ps);
    std::vector<std::uint32_t> by(plan_.routers.size(), ub_topology::k_none);
    std::vector<std::uint64_t> step_ps(plan_.links.size());
    for (std::uint32_t l = 0; l < plan_.links.size(); ++l)
        step_ps[l] = notice_.flood_per_hop.value() + hop_ps(l);
    using entry = std::pair<std::uint64_t, std::uint32_t>;
    std::priority_queue<entry, std::vector<entry>, std::greater<entry>> open;
    for (const std::uint32_t end : ends)
        open.push({at[end] = 0, end});
    while (!open.empty()) {
        const auto [ps, router] = open.top();
        open.pop();
        if (ps != at[router])
            continue;
        for (const std::uint32_t l : out[router])
            if (const std::uint64_t then_ps = ps + step_ps[l]; then_ps < at[plan_.links[l].to]) {
                at[plan_.links[l].to] = then_ps;
                by[plan_.links[l].to] = l;
                open.push({then_ps, plan_.links[l].to});
            }
    }
    for (std::size_t i = 0; i < routers.size(); ++i) {
        if (at[routers[i]] == k_never_ps)
            continue;
        std::vector<std::uint32_t> way;
        for (std::uint32_t r = routers[i]; by[r] != ub_topology::k_none; r = plan_.links[by[r]].from)
            way.push_back(by[r]);
        all[i] = over(way);
        all[i].ps = at[routers[i]];
    }
    return all;
}

std::vector<ub_notice> ub_notice_times::of(const ub_failed_part& part, const std::vector<std::uint32_t>& affected) const
{
    std::vector<ub_notice> all;
    if (notice_.notification == ub_notification::none)
        return all;
    const std::vector<arrival> when = arrivals(part, affected);
    for (std::size_t i = 0; i < affected.size(); ++i)
        if (when[i].ps != k_never_ps)
            all.push_back({affected[i], ub_.detection.value() + when[i].ps + work_ps()});
    return all;
}

std::uint64_t ub_notice_times::at_most_ps(const ub_failed_part& part, const std::vector<std::uint32_t>& affected,
                                          std::uint64_t messages) const
{
    if (notice_.notification == ub_notification::none)
        return 0;
    std::uint64_t last_ps = 0;
    for (const arrival& a : arrivals(part, affected))
        if (a.ps != k_never_ps)
            last_ps = std::max(last_ps, ub_.detection.value() + a.ps + a.load_ps + a.slots_ps * messages + work_ps());
    return last_ps;
}

std::uint64_t ub_notice_times::patience_ps(const ub_failed_part& part, std::uint64_t failures) const
{
    std::vector<std::uint32_t> everybody(plan_.endpoint_router.size());
    std::iota(everybody.begin(), everybody.end(), 0u);
    const std::uint64_t ps = at_most_ps(part, everybody, messages_of(failures, everybody.size()));
    return ps == 0 || notice_.notification != ub_notification::direct ? ps : ps + repeats_ps();
}

// Of a flood each link carries a notice a failure, and one when the link works again.
std::uint64_t ub_notice_times::messages_of(std::uint64_t failures, std::uint64_t sources) const
{
    return 2 * failures * (notice_.notification == ub_notification::direct ? messages_for(sources) : 1);
}

std::uint64_t ub_notice_times::last_after_ps(const std::vector<ub_notice>& notices)
{
    std::uint64_t last = 0;
    for (const ub_notice& n : notices)
        last = std::max(last, n.after_ps);
    return last;
}

} // namespace weft
