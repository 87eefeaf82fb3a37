// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Dimension-order routing of a grid (Kumar and Jouppi, Fig. 1, for two dimensions): along the first axis to the right
// coordinate, then along the next. On a ring the shorter way round; to the opposite router, even coordinates go up and
// odd ones down. On a full axis one hop.
// Deadlock freedom: axis before axis, and within a ring the dateline rule: VL 0 up to the link that closes it, VL 1
// from the buffer behind that link to the end of the axis.
#pragma once

#include "hw/routing/grid.h"
#include "hw/routing/routing_policy.h"

#include <cstdint>
#include <vector>

namespace weft {

class dimension_order final : public routing_policy {
public:
    /// Routers and endpoints are the ranks of `g`. Knows nothing of what has failed.
    explicit dimension_order(const grid& g);

    route_decision route(std::uint32_t router, std::uint32_t in_port, packet& p) const override
    {
        const std::uint64_t differs = at_[router] ^ at_[p.destination];
        if (differs == 0)
            return {static_cast<std::uint16_t>(first_local_ + p.destination_port), 0};
        const auto shift = static_cast<unsigned>(__builtin_ctzll(differs)) & ~15u; // of the first axis that differs
        const axis& a = axes_[shift / 16];
        const std::uint32_t here = at_[router] >> shift & 0xffff;
        const std::uint32_t there = at_[p.destination] >> shift & 0xffff;
        if (a.kind == axis_kind::full)
            return {static_cast<std::uint16_t>(a.first_port + there), 0};
        bool up = there > here;
        bool crosses = false;
        if (a.kind == axis_kind::ring) {
            const std::uint32_t above = there > here ? there - here : there + a.size - here;
            // Opposite: half of the routers go each way.
            up = above != a.size - above ? above < a.size - above : here % 2 == 0;
            crosses = up ? here == a.size - 1 : here == 0;
        }
        const bool same_axis = in_port - a.first_port < 2;
        return {static_cast<std::uint16_t>(a.first_port + (up ? 0 : 1)),
                static_cast<std::uint8_t>(crosses || (same_axis && p.vl != 0))};
    }

    /// Links that a packet crosses from one rank to another.
    std::uint32_t hops(std::uint32_t from, std::uint32_t to) const;

private:
    struct axis {
        axis_kind kind = axis_kind::line;
        std::uint32_t size = 1;
        std::uint32_t first_port = 0;
    };
    axis axes_[k_most_axes];
    std::uint32_t first_local_;
    std::vector<std::uint64_t> at_; ///< of each rank: 16 bits an axis, the first one lowest
};

} // namespace weft
