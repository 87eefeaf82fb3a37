// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/routing/dimension_order.h"

#include <algorithm>

namespace weft {

dimension_order::dimension_order(const grid& g) : first_local_(g.first_local())
{
    for (std::uint32_t i = 0; i < g.axes().size(); ++i)
        axes_[i] = {g.axes()[i].kind, g.axes()[i].size, g.first_port(i)};
    at_.reserve(g.ranks());
    for (std::uint32_t rank = 0; rank < g.ranks(); ++rank) {
        std::uint64_t place = 0;
        for (std::uint32_t i = 0; i < g.axes().size(); ++i)
            place |= std::uint64_t{g.coordinate(g.position_of(rank), i)} << 16 * i;
        at_.push_back(place);
    }
}

std::uint32_t dimension_order::hops(std::uint32_t from, std::uint32_t to) const
{
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < k_most_axes; ++i) {
        const std::uint32_t a = at_[from] >> 16 * i & 0xffff, b = at_[to] >> 16 * i & 0xffff;
        const std::uint32_t apart = a > b ? a - b : b - a;
        switch (axes_[i].kind) {
        case axis_kind::line: sum += apart; break;
        case axis_kind::ring: sum += std::min(apart, axes_[i].size - apart); break;
        case axis_kind::full: sum += apart == 0 ? 0 : 1; break;
        }
    }
    return sum;
}

} // namespace weft
