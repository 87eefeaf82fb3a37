// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/neuronlink/neuronlink_plan.h"

#include <fmt/format.h>

namespace weft {

std::string neuronlink_shape::chip_name(std::uint32_t chip) const
{
    const std::string in_node = fmt::format("{},{}", coordinate(chip, 1), coordinate(chip, 0));
    return axes() == 3 ? fmt::format("chip({},{})", coordinate(chip, 2), in_node) : fmt::format("chip({})", in_node);
}

std::string neuronlink_shape::rank_name(std::uint32_t rank) const
{
    const std::string chip = chip_name(rank / ranks);
    return fmt::format("rank{},{})", chip.substr(4, chip.size() - 5), rank % ranks);
}

fabric_plan plan_neuronlink(const neuronlink_shape& s, const neuronlink_wires& wires, const std::vector<neuronlink_link>& down)
{
    const std::uint32_t vls = neuronlink_vls(s, !down.empty());
    fabric_plan p;
    for (std::uint32_t i = 0; i < s.local_ports(); ++i)
        p.port_names.push_back(s.ports == 1 ? fmt::format("rank{}", i) : fmt::format("rank{}.{}", i / s.ports, i % s.ports));
    p.port_names.emplace_back("half");
    for (const char* name : {"+X", "-X", "+Y", "-Y", "+Z", "-Z"})
        p.port_names.emplace_back(name);
    for (std::uint32_t chip = 0; chip < s.chips(); ++chip)
        for (const char half : {'a', 'b'})
            p.routers.push_back({fmt::format("{}{}", s.chip_name(chip), half), static_cast<std::uint32_t>(p.port_names.size())});
    for (std::uint32_t rank = 0; rank < s.chips() * s.ranks; ++rank) {
        const std::uint32_t on_chip = rank % s.ranks;
        p.endpoints.push_back({2 * (rank / s.ranks) + s.half_of_rank(on_chip), s.first_port_of_rank(on_chip), s.ports, wires.port, s.rank_name(rank)});
    }
    for (std::uint32_t chip = 0; chip < s.chips(); ++chip) {
        p.connect(2 * chip, s.other_half_port(), 2 * chip + 1, s.other_half_port(), vls, wires.halves);
        for (std::uint32_t axis = 0; axis < k_neuronlink_axes; ++axis)
            if (s.has_link(chip, axis, true)) { // the other direction is wired with it
                const std::uint32_t next = s.neighbour(chip, axis, true);
                p.connect(2 * chip + s.half_of_link(chip, axis, true), s.link_port(axis, true), 2 * next + s.half_of_link(next, axis, false),
                          s.link_port(axis, false), vls, axis == 2 ? wires.node_link : wires.link);
            }
    }
    for (const neuronlink_link& d : down)
        for (plan_link& l : p.links)
            if (l.from / 2 == d.chip && l.from_port == s.link_port(d.axis, d.up))
                l.works = false;
    return p;
}

} // namespace weft
