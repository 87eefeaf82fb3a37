// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Packets that a switch has dropped, by reason.
#pragma once

#include "hw/tofino/switchml_parser.h"
#include "tlm/stats.h"

#include <array>
#include <cstdint>

namespace weft {

class drop_counters {
public:
    void count(drop_reason reason) { ++by_reason_[static_cast<std::size_t>(reason)]; }
    std::uint64_t of(drop_reason reason) const { return by_reason_[static_cast<std::size_t>(reason)].value(); }
    std::uint64_t all() const;
    void list_in(stat_group& stats);

private:
    std::array<counter, k_drop_reasons> by_reason_;
};

/// Name of the statistic that counts drops for this reason.
const char* drop_name(drop_reason reason);

} // namespace weft
