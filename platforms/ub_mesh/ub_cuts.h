// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts of a UB-Mesh machine that bounds.h does not know, because it takes a rank's links to switches for links of any
// dimension.
//
//   a process group   a rank sends by the first links of the paths that routing has to the others, and gets by the last
//                     ones
//   all_to_all        the ranks of one coordinate of a dimension against all others: links of the dimension, and what
//                     switches join both sides with. A switch counts for the side on which it adds less
//
// Links that are down from the start carry nothing.
#pragma once

#include "hw/routing/ub/ub_plan.h"
#include "platforms/workload/bounds.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace weft {

class ub_cuts {
public:
    /// `lane_bps`: payload of a lane. `down`: a flag per link, or empty.
    ub_cuts(const ub_plan& plan, const std::vector<bool>& down, double lane_bps)
        : plan_(plan), down_(down), lane_bytes_per_us_(lane_bps / 8e6)
    {
    }
    /// `group`: endpoints, at least two.
    std::optional<collective_bound> of_group(const collective_case& c, const std::vector<std::uint32_t>& group) const;
    /// Of an all_to_all of all ranks, whose table is that of any of them; ranks are endpoints.
    std::optional<collective_bound> of_all_to_all(std::uint64_t size_bytes, const abi::platform_table& table) const;

private:
    /// Bytes per us between `inside` (a flag per endpoint rank) and all others.
    double rate_across(const std::vector<bool>& inside) const;
    bool works(std::uint32_t link) const { return down_.empty() || !down_[link]; }

    const ub_plan& plan_;
    const std::vector<bool>& down_;
    double lane_bytes_per_us_;
};

} // namespace weft
