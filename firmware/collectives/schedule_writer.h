// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes what planners have in common into the schedule of one rank, and charges the core for it. Pure: no access to
// any device, so planners run on cores and on the host alike.
#pragma once

#include "firmware/collectives/ring_map.h"
#include "firmware/collectives/schedule.h"

namespace weft::firmware {

class schedule_writer {
public:
    /// `out` is empty. The command has been checked and has elements.
    schedule_writer(ring_map& rings, const abi::command& command, schedule& out);

    channel_plan& add_channel(std::uint32_t lane);
    pass& add_pass(channel_plan& c, run_source source);
    pass& add_ring(channel_plan& c, ring_id ring, bool accumulate, std::uint32_t first_list = 0,
                   std::uint32_t lists = 1);
    /// Around one ring after the other, each inside the shard that the one before leaves here, and back: `add(level,
    /// accumulate)` adds the pass of a level. On what the lane of the channel works on.
    template <class AddRing>
    void add_nested_rings(channel_plan& c, std::uint32_t levels, const AddRing& add)
    {
        lane_plan& l = out_.lanes[c.lane];
        abi::element_range range = l.lists[0];
        for (std::uint32_t level = 0; level < levels; ++level) {
            l.lists[level] = range;
            add(level, true);
            const ring_view& along = c.passes[level].view;
            const abi::element_range shard = abi::shard_of(range.count, along.size, along.position);
            range = {range.first + shard.first, shard.count};
        }
        for (std::uint32_t level = levels; level-- > 0;)
            add(level, false);
    }
    lane_plan& make_lane(std::uint32_t index, abi::element_range range);
    void add_send(pass& p, abi::element_range range, std::uint32_t to);
    void expect(std::uint32_t semaphore, std::uint32_t messages);
    void notify(std::uint32_t queue, std::uint32_t rank, std::uint32_t semaphore);
    /// How this rank sees a ring; the passes of a collective share few of them.
    const ring_view& view(ring_id ring);
    /// Everyone who will send to this rank along a ring is told that it has entered the collective. After all passes.
    void announce_rings();
    /// The same of lines: all of one are told by one descriptor, the rank itself with them.
    void announce_lines();
    void charge(std::uint32_t instructions) { out_.cost += instructions; }

protected:
    ring_map& rings_;
    const abi::platform_table& table_;
    mesh& mesh_;
    const abi::command& command_;
    schedule& out_;

private:
    std::uint32_t seen_rings_ = 0; ///< bit per ring_number(): `views_` has it
    union {
        ring_view views_[k_ring_numbers];
    };
};

} // namespace weft::firmware
