// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Links that fail: what their times may be, and what `weft check` says about them.
#include "platforms/tpu_v3/tpu_v3.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

std::string link_fault_config::link_text() const { return fmt::format("({},{}) {}", row, col, name_of(direction)); }

void tpu_v3_config::check_link_times(std::vector<config_problem>& p) const
{
    const std::vector<link_fault_config>& all = faults.links_down;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const link_fault_config& f = all[i];
        const std::string key = fmt::format("faults.links_down.{}", i);
        const auto first = std::find_if(all.begin(), all.end(), [&](const link_fault_config& g) {
            return g.row == f.row && g.col == f.col && g.direction == f.direction;
        });
        const auto same = static_cast<std::size_t>(first - all.begin());
        if (same < i)
            p.push_back(
                {severity::error, key,
                 fmt::format("names link {} again, as faults.links_down.{}; a link fails once.", f.link_text(), same)});
        if (f.at.value() == 0)
            continue;
        if (f.known_to_routing())
            p.push_back(
                {severity::error, key + ".announced",
                 fmt::format("is true, but the link goes down at {}: routing tables are computed before time zero and "
                             "cannot know. Remove `announced` to let the link fail during the run, or remove `at` to "
                             "have it down from time zero and routed around.",
                             to_string(f.at))});
        else if (f.at > run.time_limit)
            p.push_back({severity::warning, key + ".at",
                         fmt::format("is {}, behind time_limit = {}: the link will not fail in this run.",
                                     to_string(f.at), to_string(run.time_limit))});
    }
}

std::string describe_faults(const tpu_v3_config& config)
{
    const std::vector<link_fault_config>& links = config.faults.links_down;
    if (config.faults.regions.empty() && links.empty())
        return "";
    constexpr std::size_t k_show = 4;
    const std::uint32_t chips = config.mesh.rows * config.mesh.cols - config.ranks();
    std::size_t silent = 0;
    std::size_t later = 0;
    std::string when;
    for (const link_fault_config& f : links) {
        silent += f.known_to_routing() ? 0 : 1;
        if (f.at.value() > 0 && ++later <= k_show)
            when += fmt::format("; {} goes down at {}", f.link_text(), to_string(f.at));
    }
    if (later > k_show)
        when += fmt::format("; {} more later", later - k_show);
    return fmt::format("Faults    {} failed chip{}, {} link{} down{}{}\n", chips, chips == 1 ? "" : "s", links.size(),
                       links.size() == 1 ? "" : "s",
                       silent == 0 ? "" : fmt::format(", of which routing does not know {}", silent), when);
}

} // namespace weft
