// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Routers in n dimensions, of which each is a line, a ring or fully meshed: meshes and tori, ladders (2 x n, with
// loop-back cables 2 x ring of n), full meshes, and any mixture. A ring of two is a line: a second cable would carry
// nothing. Positions count along the first axis first. Routers that have failed do not exist: ranks, which are also
// router numbers and endpoints, count the others.
//
// Ports: of a line or ring two, up and down ("+X", "-X"); of a full axis one for each coordinate ("X0" ...), of which a
// router's own has no link; axis by axis; then the local ports.
#pragma once

#include "hw/routing/fabric_plan.h"

#include <functional>

namespace weft {

enum class axis_kind : std::uint8_t { line, ring, full };

struct grid_axis {
    std::uint32_t size = 1;
    axis_kind kind = axis_kind::line;
    std::string name{}; ///< "X"
    std::uint32_t ports() const { return kind == axis_kind::full ? size : 2; }
};

inline constexpr std::uint32_t k_most_axes = 4;

/// What all routers of a grid have alike.
struct grid_wiring {
    std::uint32_t local_ports = 1;
    std::uint32_t vls = 1;
    bool relays_first = false;  ///< local ports are entries of their router
    fabric_link_params local{}; ///< between router and chip
    /// Wire of the link on `axis` between coordinates `a` and `b`, a < b, but for the link that closes a ring: a is the
    /// last one then.
    std::function<fabric_link_params(std::uint32_t axis, std::uint32_t a, std::uint32_t b)> wire{};
};

struct grid_description : grid_wiring {
    std::vector<grid_axis> axes; ///< k_most_axes at most
    std::string router{"chip"};  ///< "chip(y,x)": coordinates from the last axis to the first
    std::vector<bool> failed{};  ///< by position; empty: all work
};

class grid {
public:
    static constexpr std::uint32_t k_none = fabric_plan::k_none;
    explicit grid(grid_description description);

    const std::vector<grid_axis>& axes() const { return description_.axes; }
    const fabric_plan& plan() const { return plan_; }
    fabric_plan& plan() { return plan_; }
    std::uint32_t ranks() const { return static_cast<std::uint32_t>(position_.size()); }
    std::uint32_t positions() const { return static_cast<std::uint32_t>(rank_at_.size()); }
    std::uint32_t rank_at(std::uint32_t position) const { return rank_at_[position]; } ///< k_none: it has failed
    std::uint32_t position_of(std::uint32_t rank) const { return position_[rank]; }
    std::uint32_t coordinate(std::uint32_t position, std::uint32_t axis) const;
    std::uint32_t first_port(std::uint32_t axis) const { return first_port_[axis]; }
    std::uint32_t first_local() const { return first_port_.back(); }

private:
    void add_links(std::uint32_t position, std::uint32_t axis);

    grid_description description_;
    std::vector<std::uint32_t> stride_;     ///< of each axis, in positions
    std::vector<std::uint32_t> first_port_; ///< of each axis, and of the local ports
    std::vector<std::uint32_t> rank_at_, position_;
    fabric_plan plan_;
};

} // namespace weft
