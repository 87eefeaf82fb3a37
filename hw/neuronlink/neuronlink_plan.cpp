// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/neuronlink/neuronlink_plan.h"

#include <fmt/format.h>

namespace weft {

namespace {
/// Wires on a die are part of the latency of a router.
constexpr duration k_on_die{1};
} // namespace

std::vector<config_problem> neuronlink_config::validate() const
{
    std::vector<config_problem> p = limit_problems(*this);
    if (!p.empty())
        return p;
    const std::uint64_t one = format().cells_of_one(max_payload.value()) * format().cell_bytes();
    for (const auto& [key, buffer] : {std::pair{"buffer_per_vl", buffer_per_vl}, {"port_buffer", port_buffer}})
        if (buffer.value() < one)
            p.push_back({severity::error, key,
                         fmt::format("is {}, but a full packet fills {}, so none could ever pass.", to_string(buffer), to_string(data_size(one)))});
    return p;
}

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

fabric_plan plan_neuronlink(const neuronlink_shape& s, const neuronlink_config& config, const std::vector<neuronlink_link>& down)
{
    const std::uint32_t vls = neuronlink_vls(s, !down.empty());
    const std::uint32_t depth = config.cells(config.buffer_per_vl);
    const fabric_link_params port{config.port_rate, k_on_die, config.cells(config.port_buffer)};
    const fabric_link_params between_halves{config.half_rate, k_on_die, depth};
    const auto wire = [&](std::uint32_t axis) {
        return axis == 2 ? fabric_link_params{config.node_link_rate, config.node_propagation, depth}
                         : fabric_link_params{config.link_rate, config.propagation, depth};
    };
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
        p.endpoints.push_back({2 * (rank / s.ranks) + s.half_of_rank(on_chip), s.first_port_of_rank(on_chip), s.ports, port, s.rank_name(rank)});
    }
    for (std::uint32_t chip = 0; chip < s.chips(); ++chip) {
        p.connect(2 * chip, s.other_half_port(), 2 * chip + 1, s.other_half_port(), vls, between_halves);
        for (std::uint32_t axis = 0; axis < k_neuronlink_axes; ++axis)
            if (s.has_link(chip, axis, true)) { // the other direction is wired with it
                const std::uint32_t next = s.neighbour(chip, axis, true);
                p.connect(2 * chip + s.half_of_link(chip, axis, true), s.link_port(axis, true), 2 * next + s.half_of_link(next, axis, false),
                          s.link_port(axis, false), vls, wire(axis));
            }
    }
    for (const neuronlink_link& d : down)
        for (plan_link& l : p.links)
            if (l.from / 2 == d.chip && l.from_port == s.link_port(d.axis, d.up))
                l.works = false;
    return p;
}

} // namespace weft
