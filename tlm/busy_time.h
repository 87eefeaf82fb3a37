// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A part that serves one thing after the other, in the order of their arrival: until when, and for how long so far.
// Plain C++, no events.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft {

class busy_time {
public:
    /// Serves something that came at `at_ps` for `span_ps`. Returns when it has been served.
    std::uint64_t serve(std::uint64_t at_ps, std::uint64_t span_ps)
    {
        until_ps_ = std::max(until_ps_, at_ps) + span_ps;
        all_ps_ += span_ps;
        return until_ps_;
    }
    std::uint64_t until_ps() const { return until_ps_; }
    /// Time that it has been busy up to `now_ps`, which is the present.
    std::uint64_t up_to_ps(std::uint64_t now_ps) const
    {
        const std::uint64_t to_come_ps = until_ps_ > now_ps ? until_ps_ - now_ps : 0;
        return all_ps_ > to_come_ps ? all_ps_ - to_come_ps : 0;
    }

private:
    std::uint64_t until_ps_ = 0;
    std::uint64_t all_ps_ = 0;
};

} // namespace weft
