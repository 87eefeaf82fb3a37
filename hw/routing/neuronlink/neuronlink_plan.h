// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The chips of one or several Trainium nodes as a plan: every chip is two halves, of which each serves half of its
// ranks and has half of its links; the halves are joined. Chips of a node form a torus (lines of two chips where a side
// is 2), equal places of several nodes a ring. Source of the wiring: AWS Neuron documentation, figure of the node with
// LNC=2: rows are rings, chip i and i + 4 are joined with wrap, links up and down are at alternating halves by column.
#pragma once

#include "hw/routing/fabric_plan.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace weft {

inline constexpr std::uint32_t k_neuronlink_axes = 3; ///< X along a row, Y along a column, Z from node to node

struct neuronlink_shape {
    std::array<std::uint32_t, k_neuronlink_axes> size = {4, 4, 1}; ///< chips
    std::uint32_t ranks = 4;                                       ///< of a chip; one or an even number
    std::uint32_t ports = 1;                                       ///< of a rank, at its half

    std::uint32_t chips() const { return size[0] * size[1] * size[2]; }
    std::uint32_t coordinate(std::uint32_t chip, std::uint32_t axis) const
    {
        return axis == 0 ? chip % size[0] : axis == 1 ? chip / size[0] % size[1] : chip / (size[0] * size[1]);
    }
    std::uint32_t stride(std::uint32_t axis) const { return axis == 0 ? 1 : axis == 1 ? size[0] : size[0] * size[1]; }
    bool is_ring(std::uint32_t axis) const { return size[axis] >= 3; }
    std::uint32_t axes() const { return size[2] > 1 ? 3 : 2; }

    // Routers: half h of chip c is 2c + h. Ports: local ones, then the other half, then two for each axis.
    std::uint32_t ranks_of_half() const { return (ranks + 1) / 2; }
    std::uint32_t half_of_rank(std::uint32_t rank_of_chip) const { return rank_of_chip / ranks_of_half(); }
    std::uint32_t first_port_of_rank(std::uint32_t rank_of_chip) const { return rank_of_chip % ranks_of_half() * ports; }
    std::uint32_t local_ports() const { return ranks_of_half() * ports; }
    std::uint32_t other_half_port() const { return local_ports(); }
    std::uint32_t link_port(std::uint32_t axis, bool up) const { return local_ports() + 1 + 2 * axis + (up ? 0 : 1); }
    /// Half of `chip` at which the link along `axis` is.
    std::uint32_t half_of_link(std::uint32_t chip, std::uint32_t axis, bool up) const
    {
        const std::uint32_t swapped = axis == 1 ? coordinate(chip, 0) % 2 : 0;
        return (up ? 1u : 0u) ^ swapped;
    }
    /// The next chip; there is one.
    std::uint32_t neighbour(std::uint32_t chip, std::uint32_t axis, bool up) const
    {
        const std::uint32_t at = coordinate(chip, axis);
        const std::uint32_t next = up ? (at + 1) % size[axis] : (at + size[axis] - 1) % size[axis];
        return chip + (next - at) * stride(axis); // unsigned: the difference may be negative
    }
    bool has_link(std::uint32_t chip, std::uint32_t axis, bool up) const
    {
        return is_ring(axis) || (up ? coordinate(chip, axis) + 1 < size[axis] : coordinate(chip, axis) > 0);
    }
    std::string chip_name(std::uint32_t chip) const; ///< "chip(1,2)", of several nodes "chip(0,1,2)"
    std::string rank_name(std::uint32_t rank) const; ///< "rank(1,2,3)"
};

/// VLs of the routing: two for each axis, and one for ways around failed links where there are some.
inline std::uint32_t neuronlink_vls(const neuronlink_shape& s, bool detours) { return 2 * s.axes() + (detours ? 1 : 0); }

struct neuronlink_link {
    std::uint32_t chip = 0, axis = 0;
    bool up = true;
};

struct neuronlink_wires {
    fabric_link_params port;      ///< between a rank and its half of the chip
    fabric_link_params halves;    ///< between the halves of a chip
    fabric_link_params link;      ///< between chips of a node
    fabric_link_params node_link; ///< between nodes
};

/// Ranks are its endpoints. `down`: links that do not work, each in one direction.
fabric_plan plan_neuronlink(const neuronlink_shape& shape, const neuronlink_wires& wires, const std::vector<neuronlink_link>& down);

} // namespace weft
