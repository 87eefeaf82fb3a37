// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Many quantities over time in a bounded number of bins, for a span whose length nobody knows before it ends. All
// bins have one width; when they are
// full, neighbours are merged and the width doubles. Nothing is lost: the bins of a series sum to what was added to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

class time_bins {
public:
    /// At most `most_bins`, an even number, for each of `series`; at first they are `first_width_ps` wide.
    time_bins(std::size_t series, std::uint32_t most_bins, std::uint64_t first_width_ps);

    /// Everything is zero; the first bin begins at `now_ps`.
    void begin(std::uint64_t now_ps);
    std::uint64_t end_of_bin_ps() const { return start_ps_ + width_ps_ * (used_ + 1); } ///< of the present bin
    /// To the present bin.
    void add(std::size_t series, std::uint64_t amount) { values_[series * most_ + used_] += amount; }
    /// end_of_bin_ps() has come: what follows belongs to the next bin.
    void next();
    /// The last bin ends at `now_ps`, at or before its end.
    void end(std::uint64_t now_ps);

    std::uint32_t bins() const { return used_; } ///< closed ones
    std::uint64_t width_ps() const { return width_ps_; }
    std::uint64_t length_ps(std::uint32_t bin) const
    {
        return bin + 1 == used_ && last_ps_ != 0 ? last_ps_ : width_ps_;
    }
    std::uint64_t value(std::size_t series, std::uint32_t bin) const { return values_[series * most_ + bin]; }

private:
    std::size_t series_;
    std::uint32_t most_;
    std::uint64_t first_width_ps_;
    std::uint64_t width_ps_;
    std::uint64_t start_ps_ = 0;
    std::uint32_t used_ = 0;
    std::uint64_t last_ps_ = 0; ///< length of the last bin, when it is shorter; 0: it is not
    std::vector<std::uint64_t> values_;
};

} // namespace weft
