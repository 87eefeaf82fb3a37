// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A set of ranks that meet: `members` of them, `stride` apart from `first` on. Plain C++.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

namespace weft {

struct sync_zone {
    std::uint32_t first = 0;
    std::uint32_t stride = 1;
    std::uint32_t members = 0;

    std::uint32_t rank(std::uint32_t member) const { return first + member * stride; }
    std::uint32_t last() const { return rank(members - 1); }
    bool has(std::uint32_t r) const { return r >= first && (r - first) % stride == 0 && (r - first) / stride < members; }
    std::uint32_t member_of(std::uint32_t r) const { return (r - first) / stride; }
    /// One member at least, all of them among the `ranks` of the machine.
    bool exists(std::uint32_t ranks) const
    {
        return members != 0 && stride != 0 && first < ranks && (members - 1) <= (ranks - 1 - first) / stride;
    }
    bool operator<(const sync_zone& o) const { return std::tie(first, stride, members) < std::tie(o.first, o.stride, o.members); }
    /// "ranks 0 to 63", "ranks 1 to 63 in steps of 2": for a sentence.
    std::string text() const;
};

} // namespace weft
