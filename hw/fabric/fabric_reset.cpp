// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A fabric engine between two cases: what it remembers beyond its links and their failures.
#include "hw/fabric/fabric_engine.h"

#include <algorithm>

namespace weft {

bool fabric_engine::settled(std::uint64_t now_ps)
{
    return std::all_of(links_.begin(), links_.end(),
                       [=](const link_state& l) { return l.wake_at_ps == k_never_ps && l.busy_until_ps <= now_ps; }) &&
           std::all_of(queues_.begin(), queues_.end(),
                       [=](queue_state& q) { return q.credits.settled(credits_under_way_, now_ps); }) &&
           std::all_of(layers_.begin(), layers_.end(), [=](link_layer& l) { return l.settled(now_ps); });
}

void fabric_engine::reset(std::uint32_t draw)
{
    for (link_state& l : links_) {
        l.round_robin = l.entry_round_robin = 0;
        l.sequence = 0;
        l.run = l.passed_by = 0;
        l.short_of_credits = 0;
        if (inside_ == 0) // else it may be a buffer whose packets wait for a link that is down
            l.feeding = k_none;
    }
    arbiter_.forget_turns();
    control_.reset();
    for (link_layer& l : layers_)
        l.reset(draw);
}

} // namespace weft
