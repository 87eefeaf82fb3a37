// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Dimension-order routing of the ICI (Kumar and Jouppi, Fig. 1): along X (the row) to the right column, then along Y. On a
// wrapped dimension the shorter way round; to the opposite chip, even coordinates go the positive way and odd ones the other.
// Deadlock freedom: X before Y, and within a wrapped dimension the dateline rule: VL 0 up to the wrap link, VL 1 from the buffer
// behind it to the end of the dimension.
#pragma once

#include "hw/fabric/routing_policy.h"
#include "hw/ici/ici_ports.h"

#include <cstdint>
#include <vector>

namespace weft {

class dimension_order final : public routing_policy {
public:
    /// Routers are numbered row * cols + col, endpoints (ranks) likewise.
    dimension_order(std::uint32_t rows, std::uint32_t cols, bool wrap_rows, bool wrap_cols);

    route_decision route(std::uint32_t router, std::uint32_t in_port, packet& p) const override
    {
        const coordinates here = at_[router];
        const coordinates there = at_[p.destination];
        if (here.col != there.col)
            return along(here.col, there.col, cols_, wrap_cols_, k_plus_x, in_port, p.vl);
        if (here.row != there.row)
            return along(here.row, there.row, rows_, wrap_rows_, k_plus_y, in_port, p.vl);
        return {static_cast<std::uint16_t>(k_first_local + p.destination_port), 0};
    }

    /// Links that a packet crosses from one rank to another.
    std::uint32_t hops(std::uint32_t from, std::uint32_t to) const;

private:
    struct coordinates {
        std::uint32_t row, col;
    };
    static route_decision along(std::uint32_t here, std::uint32_t there, std::uint32_t n, bool wrap, std::uint16_t plus,
                                std::uint32_t in_port, std::uint8_t vl)
    {
        bool positive = there > here;
        bool crosses = false;
        if (wrap) {
            const std::uint32_t up = there > here ? there - here : there + n - here;
            positive = up != n - up ? up < n - up : here % 2 == 0; // opposite: half of the chips go each way
            crosses = positive ? here == n - 1 : here == 0;
        }
        const bool same_dimension = in_port < k_first_local && (in_port >> 1) == (plus >> 1);
        return {static_cast<std::uint16_t>(positive ? plus : plus + 1),
                static_cast<std::uint8_t>(crosses || (same_dimension && vl != 0))};
    }

    std::uint32_t rows_, cols_;
    bool wrap_rows_, wrap_cols_;
    std::vector<coordinates> at_;
};

} // namespace weft
