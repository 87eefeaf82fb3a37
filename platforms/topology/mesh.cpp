// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/topology/mesh.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

mesh::mesh(const mesh_description& description) : description_(description)
{
    const mesh_description& d = description_;
    constexpr std::uint32_t k_links = 4;
    graph_.port_names = {"+X", "-X", "+Y", "-Y"};
    for (std::uint32_t i = 0; i < d.local_ports; ++i)
        graph_.port_names.push_back(fmt::format("local{}", i));
    rank_at_.assign(std::size_t{d.rows} * d.cols, k_none);
    for (std::uint32_t r = 0; r < d.rows; ++r)
        for (std::uint32_t c = 0; c < d.cols; ++c) {
            const bool failed =
                std::any_of(d.failed.begin(), d.failed.end(), [&](const mesh_region& m) { return m.holds(r, c); });
            if (failed)
                continue;
            const auto rank = static_cast<std::uint32_t>(places_.size());
            rank_at_[std::size_t{r} * d.cols + c] = rank;
            places_.push_back({r, c});
            graph_.routers.push_back({fmt::format("chip({},{})", r, c), k_links + d.local_ports});
            graph_.endpoints.push_back({rank, k_links, d.local_ports});
        }
    std::vector<bool> down(rank_at_.size() * k_links, false);
    for (const mesh_link& l : d.links_down)
        down[(std::size_t{l.row} * d.cols + l.col) * k_links + l.port] = true;
    const auto add = [&](std::uint32_t from, std::uint32_t port, std::uint32_t to) {
        const place at = places_[from];
        if (!down[(std::size_t{at.row} * d.cols + at.col) * k_links + port])
            graph_.links.push_back({from, port, to, port ^ 1u, d.vls});
    };
    const auto both_ways = [&](std::uint32_t a, std::uint32_t port, std::uint32_t b) {
        if (a == k_none || b == k_none)
            return;
        add(a, port, b);
        add(b, port ^ 1u, a);
    };
    for (std::uint32_t r = 0; r < d.rows; ++r)
        for (std::uint32_t c = 0; c < d.cols; ++c) {
            if (c + 1 < d.cols || d.wrap_cols)
                both_ways(rank_at(r, c), 0, rank_at(r, (c + 1) % d.cols));
            if (r + 1 < d.rows || d.wrap_rows)
                both_ways(rank_at(r, c), 2, rank_at((r + 1) % d.rows, c));
        }
}

bool mesh::is_wrap_link(const graph_link& l) const
{
    const place a = places_[l.from];
    const place b = places_[l.to];
    const std::uint32_t apart =
        (a.row > b.row ? a.row - b.row : b.row - a.row) + (a.col > b.col ? a.col - b.col : b.col - a.col);
    return apart != 1;
}

} // namespace weft
