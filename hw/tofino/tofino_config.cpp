// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/tofino/tofino_config.h"

#include "hw/tofino/aggregation_unit.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

std::vector<config_problem> tofino_config::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    const bool ports_sound = std::none_of(p.begin(), p.end(), [](const config_problem& found) {
        return found.key == "ports" || found.key == "ports_per_pipe";
    });
    if (ports_sound && ports > k_tofino_pipes * ports_per_pipe)
        p.push_back({severity::error, "ports",
                     fmt::format("is {}, must be 1 to {}: {} pipes have {} ports each.", ports,
                                 k_tofino_pipes * ports_per_pipe, k_tofino_pipes, ports_per_pipe)});
    if (first_pass_latency < ingress_latency || pass_latency < ingress_latency)
        p.push_back(
            {severity::error, "ingress_latency",
             fmt::format("is {}, must be at most first_pass_latency ({}) and pass_latency ({}), of which it is a "
                         "part.",
                         to_string(ingress_latency), to_string(first_pass_latency), to_string(pass_latency))});
    return p;
}

} // namespace weft
