// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "platforms/report/time_bins.h"

#include "tlm/check.h"

#include <algorithm>

namespace weft {

time_bins::time_bins(std::size_t series, std::uint32_t most_bins, std::uint64_t first_width_ps)
    : series_(series), most_(most_bins), first_width_ps_(first_width_ps), width_ps_(first_width_ps),
      values_(series * most_bins, 0)
{
    if (most_bins < 2 || most_bins % 2 != 0 || first_width_ps == 0)
        throw bug("time_bins", 0, "the number of bins must be even, and their width not zero");
}

void time_bins::begin(std::uint64_t now_ps)
{
    std::fill(values_.begin(), values_.end(), 0);
    start_ps_ = now_ps;
    width_ps_ = first_width_ps_;
    used_ = 0;
    last_ps_ = 0;
}

void time_bins::next()
{
    if (++used_ < most_)
        return;
    for (std::size_t s = 0; s < series_; ++s) {
        std::uint64_t* const bins = &values_[s * most_];
        for (std::uint32_t b = 0; b < most_ / 2; ++b)
            bins[b] = bins[2 * b] + bins[2 * b + 1];
        std::fill(bins + most_ / 2, bins + most_, 0);
    }
    used_ = most_ / 2;
    width_ps_ *= 2;
}

void time_bins::end(std::uint64_t now_ps)
{
    const std::uint64_t begun_ps = start_ps_ + width_ps_ * used_;
    last_ps_ = now_ps > begun_ps ? now_ps - begun_ps : 0;
    const bool holds_something = [&] {
        for (std::size_t s = 0; s < series_; ++s)
            if (values_[s * most_ + used_] != 0)
                return true;
        return false;
    }();
    if (last_ps_ != 0 || (holds_something && used_ == 0)) {
        ++used_;
        return;
    }
    if (holds_something) // at the very end of a bin: it belongs to that one
        for (std::size_t s = 0; s < series_; ++s) {
            values_[s * most_ + used_ - 1] += values_[s * most_ + used_];
            values_[s * most_ + used_] = 0;
        }
}

} // namespace weft
