// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/ipu_pod/ipu_cuts.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace weft {

ipu_cuts::ipu_cuts(const ipu_shape& shape, const fabric_plan& plan) : shape_(shape)
{
    std::set<std::uint32_t> domains{0}; // the others are as the first one, but for what is down
    for (const plan_link& l : plan.links)
        if (!l.works && l.from < shape.ipus())
            domains.insert(shape.domain_of(l.from));
    const std::uint32_t ipus = shape.domain_ipus(), columns = std::min(2u, ipus);
    for (const std::uint32_t d : domains) {
        for (std::uint32_t i = d * ipus; i < (d + 1) * ipus; ++i)
            add(plan, fmt::format("links of {}", shape.ipu_name(i)), i, 1, false);
        for (std::uint32_t low = 0; low < shape.rungs(); ++low)
            for (std::uint32_t rungs = 1; low + rungs <= shape.rungs(); ++rungs)
                if (rungs != shape.rungs()) {
                    const std::uint32_t first = d * ipus + columns * low;
                    add(plan,
                        fmt::format("links around {} to {}", shape.ipu_name(first),
                                    shape.ipu_name(first + columns * rungs - 1)),
                        first, columns * rungs, false);
                }
        if (shape.domains > 1)
            add(plan, fmt::format("Host-Links of d{}", d), d * ipus, ipus, false);
    }
    for (std::uint32_t first = 0; first < shape.domains; ++first)
        for (std::uint32_t count = 1; first + count <= shape.domains; ++count)
            if (count != shape.domains)
                add(plan,
                    count == 1 ? fmt::format("GW-Links of d{}", first)
                               : fmt::format("GW-Links of d{} to d{}", first, first + count - 1),
                    first * ipus, count * ipus, true);
}

void ipu_cuts::add(const fabric_plan& plan, std::string name, std::uint32_t first, std::uint32_t ipus,
                   bool with_gateways)
{
    const auto is_in = [&](std::uint32_t router) {
        if (router < shape_.ipus())
            return router - first < ipus; // unsigned: what is below is far above
        if (!with_gateways || router >= shape_.gateway_switch(0))
            return false;
        return (router - shape_.ipus()) / shape_.machines * shape_.domain_ipus() - first < ipus;
    };
    cut c{std::move(name), first, ipus};
    for (const plan_link& l : plan.links) {
        if (!l.works || is_in(l.from) == is_in(l.to))
            continue;
        (is_in(l.to) ? c.in_rate : c.out_rate) += static_cast<double>(l.wire.rate.value()) / 8e6;
    }
    cuts_.push_back(std::move(c));
}

std::optional<collective_bound> ipu_cuts::bound(const collective_case& c, std::uint32_t places) const
{
    using op = abi::collective_op;
    const double bytes = static_cast<double>(c.size_bytes), n = static_cast<double>(shape_.ipus()) / places;
    collective_bound found;
    for (const cut& k : cuts_) {
        if (k.ipus % places != 0 || k.first % places != 0)
            continue;
        const double m = static_cast<double>(k.ipus) / places, rest = n - m;
        const bool has_root = c.root >= k.first && c.root - k.first < k.ipus;
        double in = 0, out = 0;
        switch (c.op) {
        case op::all_reduce: in = out = bytes; break;
        case op::reduce_scatter: in = bytes * m / n, out = bytes * rest / n; break;
        case op::all_gather: in = bytes * rest / n, out = bytes * m / n; break;
        case op::all_to_all: in = out = bytes * m * rest / n; break;
        case op::broadcast: (has_root ? out : in) = places == 1 ? bytes : 0; break;
        case op::reduce: (has_root ? in : out) = places == 1 ? bytes : 0; break;
        case op::dispatch:
        case op::combine: break; // see bound_of_tokens()
        }
        for (const auto& [what, rate] : {std::pair{in, k.in_rate}, {out, k.out_rate}})
            if (rate > 0 && what * places / rate > found.us)
                found = {what * places / rate, k.name};
    }
    return found.us > 0 ? std::optional(found) : std::nullopt;
}

} // namespace weft
