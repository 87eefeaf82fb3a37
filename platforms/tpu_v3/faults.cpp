// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft check` says about faults.
#include "platforms/tpu_v3/tpu_v3.h"

#include <fmt/format.h>

namespace weft {

std::string link_fault_config::link_text() const { return fmt::format("({},{}) {}", row, col, name_of(direction)); }

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
