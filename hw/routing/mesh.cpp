// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/mesh.h"

#include <algorithm>

namespace weft {

namespace {
grid_description grid_of(const mesh_description& d)
{
    grid_description g;
    static_cast<grid_wiring&>(g) = d;
    g.axes = {{d.cols, d.wrap_cols ? axis_kind::ring : axis_kind::line, "X"},
              {d.rows, d.wrap_rows ? axis_kind::ring : axis_kind::line, "Y"}};
    for (std::uint32_t at = 0; !d.failed.empty() && at < d.rows * d.cols; ++at)
        g.failed.push_back(std::any_of(d.failed.begin(), d.failed.end(),
                                       [&](const mesh_region& m) { return m.holds(at / d.cols, at % d.cols); }));
    return g;
}
} // namespace

mesh::mesh(const mesh_description& description) : description_(description), grid_(grid_of(description))
{
    for (const mesh_link& down : description_.links_down)
        for (plan_link& l : grid_.plan().links)
            if (l.from == rank_at(down.row, down.col) && l.from_port == down.port)
                l.works = false;
}

bool mesh::is_wrap_link(const plan_link& l) const
{
    const place a = place_of(l.from);
    const place b = place_of(l.to);
    const std::uint32_t apart =
        (a.row > b.row ? a.row - b.row : b.row - a.row) + (a.col > b.col ? a.col - b.col : b.col - a.col);
    return apart != 1;
}

} // namespace weft
