// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Sum of spans of time that may overlap: what several of them cover counts once. Plain C++.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft {

class overlapping_time {
public:
    /// From the present, `now_ps`, to `until_ps`. Calls come in the order of their times.
    void add(std::uint64_t now_ps, std::uint64_t until_ps)
    {
        const std::uint64_t from_ps = std::max(now_ps, until_ps_);
        if (until_ps <= from_ps)
            return;
        sum_ps_ += until_ps - from_ps;
        until_ps_ = until_ps;
    }
    /// Up to `now_ps`, which is the present.
    std::uint64_t up_to(std::uint64_t now_ps) const { return sum_ps_ - (until_ps_ > now_ps ? until_ps_ - now_ps : 0); }

private:
    std::uint64_t sum_ps_ = 0;
    std::uint64_t until_ps_ = 0;
};

} // namespace weft
