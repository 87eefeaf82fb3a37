// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ub_mesh/ub_fall_backs.h"

#include <algorithm>

namespace weft {

void ub_fall_backs::add(const ub_failed_part& part, std::vector<std::uint32_t> links, std::uint64_t at_ps, std::uint64_t detection_ps, std::uint64_t until_ps,
                        const std::vector<std::uint32_t>& told)
{
    std::sort(links.begin(), links.end());
    failures_.push_back({part, std::move(links), at_ps, detection_ps, until_ps, std::vector<bool>(fabric_.endpoints(), false), {}});
    for (const std::uint32_t source : told)
        failures_.back().told[source] = true;
}

std::vector<std::uint32_t> ub_fall_backs::users_of(std::uint32_t link) const
{
    std::set<std::uint32_t> all;
    for (const std::uint32_t l : {link, topology_.reverse_of(link)})
        for (auto it = users_.lower_bound({l, 0}); it != users_.end() && it->first == l; ++it)
            all.insert(it->second);
    return {all.begin(), all.end()};
}

void ub_fall_backs::falls_back_to(std::uint32_t source, const std::vector<std::uint32_t>& links)
{
    for (failure& f : failures_)
        if (!f.told[source] && std::any_of(links.begin(), links.end(), [&](std::uint32_t l) {
                return std::binary_search(f.links.begin(), f.links.end(), l);
            }))
            tell(f, source);
    if (unforeseen_)
        for (const std::uint32_t l : links)
            users_.emplace(l, source);
}

void ub_fall_backs::tell(failure& f, std::uint32_t source)
{
    f.told[source] = true;
    if (f.after_ps.empty()) {
        f.after_ps.assign(fabric_.endpoints(), k_never_ps);
        std::vector<std::uint32_t> everybody(fabric_.endpoints());
        for (std::uint32_t e = 0; e < everybody.size(); ++e)
            everybody[e] = e;
        for (const ub_notice& n : notices_.of(f.part, everybody))
            f.after_ps[n.source] = n.after_ps - notices_.detection_ps();
    }
    const std::uint64_t after_ps = f.after_ps[source];
    if (after_ps == k_never_ps)
        return; // no notices, or no way for one
    const std::uint64_t now_ps = time_.now_ps();
    std::uint64_t heard_ps = std::max(now_ps + faults_.table_write.value(), f.at_ps + f.detection_ps + after_ps);
    if (faults_.notification == ub_notification::direct) {
        const std::uint64_t way_ps = after_ps - faults_.notice_software.value() - faults_.table_write.value();
        heard_ps = std::max(f.at_ps + f.detection_ps, now_ps + way_ps) + after_ps;
    }
    const std::uint64_t good_news_ps =
        f.until_ps == k_never_ps ? k_never_ps : f.until_ps + notices_.detection_ps() + after_ps;
    if (heard_ps >= good_news_ps)
        return;
    for (const std::uint32_t l : f.links) {
        fabric_.exclude_at(source, l, heard_ps);
        if (good_news_ps != k_never_ps)
            fabric_.readmit_at(source, l, good_news_ps);
    }
}

} // namespace weft
