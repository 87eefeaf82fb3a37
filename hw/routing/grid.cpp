// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/grid.h"

#include "tlm/check.h"

#include <fmt/format.h>

namespace weft {

grid::grid(grid_description description) : description_(std::move(description))
{
    const std::vector<grid_axis>& axes = description_.axes;
    if (axes.empty() || axes.size() > k_most_axes)
        throw bug("grid", 0, fmt::format("{} axes; 1 to {} are possible", axes.size(), k_most_axes));
    std::uint32_t positions = 1, ports = 0;
    for (const grid_axis& axis : axes) {
        stride_.push_back(positions);
        positions *= axis.size;
        first_port_.push_back(ports);
        ports += axis.ports();
        if (axis.kind == axis_kind::full)
            for (std::uint32_t to = 0; to < axis.size; ++to)
                plan_.port_names.push_back(fmt::format("{}{}", axis.name, to));
        else
            for (const char* way : {"+", "-"})
                plan_.port_names.push_back(way + axis.name);
    }
    first_port_.push_back(ports);
    for (std::uint32_t i = 0; i < description_.local_ports; ++i)
        plan_.port_names.push_back(fmt::format("local{}", i));
    rank_at_.assign(positions, k_none);
    for (std::uint32_t at = 0; at < positions; ++at) {
        if (!description_.failed.empty() && description_.failed[at])
            continue;
        const auto rank = static_cast<std::uint32_t>(position_.size());
        rank_at_[at] = rank;
        position_.push_back(at);
        std::string name;
        for (std::size_t axis = axes.size(); axis-- > 0;)
            name += fmt::format("{}{}", name.empty() ? "" : ",", coordinate(at, static_cast<std::uint32_t>(axis)));
        plan_.routers.push_back({fmt::format("{}({})", description_.router, name), ports + description_.local_ports});
        plan_.endpoints.push_back({rank, ports, description_.local_ports, description_.local});
        for (std::uint32_t i = 0; description_.relays_first && i < description_.local_ports; ++i)
            plan_.routers.back().entries.push_back(ports + i);
    }
    for (std::uint32_t at = 0; at < positions; ++at)
        for (std::uint32_t axis = 0; axis < axes.size(); ++axis)
            add_links(at, axis);
}

std::uint32_t grid::coordinate(std::uint32_t position, std::uint32_t axis) const
{
    return position / stride_[axis] % description_.axes[axis].size;
}

/// From the router at `position` up the axis: to the next one, round to the first, or to all others of a full axis.
void grid::add_links(std::uint32_t position, std::uint32_t axis)
{
    const grid_axis& along = description_.axes[axis];
    const std::uint32_t here = coordinate(position, axis);
    const auto join = [&](std::uint32_t there, std::uint32_t port, std::uint32_t back) {
        const std::uint32_t a = rank_at_[position];
        const std::uint32_t b = rank_at_[position - here * stride_[axis] + there * stride_[axis]];
        if (a == k_none || b == k_none)
            return;
        const fabric_link_params wire = description_.wire ? description_.wire(axis, here, there) : fabric_link_params{};
        plan_.connect(a, first_port_[axis] + port, b, first_port_[axis] + back, description_.vls, wire);
    };
    if (along.kind == axis_kind::full) {
        for (std::uint32_t there = here + 1; there < along.size; ++there)
            join(there, there, here);
        return;
    }
    if (here + 1 < along.size)
        join(here + 1, 0, 1);
    else if (along.kind == axis_kind::ring && along.size > 2)
        join(0, 0, 1);
}

} // namespace weft
