// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Hints of a UB endpoint to the host's cache: what the next packet to a destination will read.
#include "hw/ub/ub_io_controller.h"
#include "tlm/cache_hints.h"

namespace weft {

void ub_io_controller::bring_near(std::uint32_t destination) const { endpoint_.bring_near(destination); }

void ub_endpoint::bring_near(std::uint32_t destination) const
{
    fetch_line(dies_.data());
    paths_.bring_near(destination);
}

void ub_path_cache::bring_near(std::uint32_t destination) const
{
    const std::uint32_t i = index_.find(destination);
    if (i == flat_index::k_none || sets_[i].paths.empty())
        return;
    const path_set& set = sets_[i];
    fetch_line(&set.paths[set.round != nullptr ? ub_turns::peek(*set.round, set.place) : set.place.next]);
}

} // namespace weft
