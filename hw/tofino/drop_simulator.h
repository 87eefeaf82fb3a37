// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The drop simulator of the published program (p4app-switchML, quoted): a random 16-bit number and floor(65535 p) are
// added with saturation; the packet is dropped when the sum is 0xffff. With p = 0 it is not installed and draws no
// number.
#pragma once

#include "tlm/draw.h"

#include <cstdint>

namespace weft {

class drop_simulator {
public:
    drop_simulator(double share, std::uint64_t seed)
        : added_(static_cast<std::uint32_t>(65535.0 * share)), installed_(share > 0), seed_(seed), state_(seed)
    {
    }
    /// Begins the sequence of draw `draw`.
    void reset(std::uint32_t draw) { state_ = key_of_draw(seed_, draw); }
    bool drops()
    {
        if (!installed_)
            return false;
        const std::uint32_t sum = static_cast<std::uint32_t>(next() >> 48) + added_;
        return sum >= 0xffff;
    }

private:
    std::uint64_t next() { return mixed(state_ += k_draw_step); }
    std::uint32_t added_;
    bool installed_;
    std::uint64_t seed_;
    std::uint64_t state_;
};

} // namespace weft
