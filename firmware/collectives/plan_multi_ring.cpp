// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans of multi_ring: the all_reduce of UB-Mesh (arXiv 2503.20377, section 5.1 and Fig. 13). Every dimension has
// several rings that share no link (line_cycles.h), and each of them carries a part of the data: a reduce-scatter
// around the ring, one around a ring of the next dimension inside the shard that is left here, and all-gathers back.
// Half of the rings begin with another dimension, where two are alike fast; what these have of the data follows from
// their links. Nothing of such splits is published.
#include "firmware/collectives/lane_loads.h"
#include "firmware/collectives/line_cycles.h"
#include "firmware/collectives/planners.h"
#include "firmware/collectives/schedule_writer.h"

namespace weft::firmware {

namespace {

/// What a message takes of the core, which makes those of all rings one after the other and looks at every ring for
/// each. More rings than a link's time for a message allows keep the core busy and the links idle. Calibrated on boards
/// of 4, 7 and 8 NPUs and racks of 4x4 and 8x8, 64 KiB to 64 MiB.
constexpr std::uint64_t k_ring_message_ns = 250, k_ring_look_ns = 40;

std::uint32_t smaller(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

class multi_ring_planner : public schedule_writer {
public:
    multi_ring_planner(ring_map& rings, const abi::command& command, schedule& out);
    void plan();

private:
    std::uint32_t size_at(std::uint32_t place) const
    {
        return table_.dims[table_.dim_count - 1 - places_.axis[place]];
    }
    void choose_rings();
    /// Of a lane, along its first dimension, at most `most_rings_`.
    std::uint32_t rings_of(std::uint32_t lane) const { return smaller(most_rings_, line_rings(size_at(lane))); }
    std::uint32_t all_rings() const;
    bool fills_all_shards() const;
    bool keeps_links_busy() const;
    lane_shares shares() const;
    void add_ring_channel(std::uint32_t lane, std::uint32_t ring, abi::element_range range);
    void add_ring_of_few();
    void add_line_ring(channel_plan& c, std::uint32_t level, std::uint32_t axis, std::uint32_t ring, bool accumulate);

    axis_places places_;
    std::uint32_t lanes_ = 1; ///< dimensions that begin
    std::uint32_t most_rings_ = 1;
};

multi_ring_planner::multi_ring_planner(ring_map& rings, const abi::command& command, schedule& out)
    : schedule_writer(rings, command, out), places_(axis_places_of(table_))
{
    charge(costs::k_axes + places_.count * costs::k_axes_dimension);
}

void multi_ring_planner::plan()
{
    for (std::uint32_t place = 0; place < places_.count; ++place)
        out_.steps += 2 * (size_at(place) - 1);
    if (command_.count <= table_.ranks) {
        add_ring_of_few();
        announce_rings();
        return;
    }
    choose_rings();
    const lane_shares of_lanes = shares();
    for (std::uint32_t ring = 0; ring < most_rings_; ++ring) // a lane of each dimension has its turn
        for (std::uint32_t lane = 0; lane < lanes_; ++lane)
            if (ring < rings_of(lane))
                add_ring_channel(lane, ring, of_lanes.cut(lane, rings_of(lane), ring).of(command_.count));
    announce_lines();
}

/// As many as links and semaphores allow, and the core keeps up with.
void multi_ring_planner::choose_rings()
{
    const std::uint32_t most = smaller(k_max_channels, k_multi_ring_semaphores / places_.count);
    for (lanes_ = smaller(places_.fast, most); lanes_ > 0; --lanes_)
        for (most_rings_ = most / lanes_; most_rings_ > 0; --most_rings_)
            if (fills_all_shards() && keeps_links_busy())
                return;
    lanes_ = most_rings_ = 1;
}

std::uint32_t multi_ring_planner::all_rings() const
{
    std::uint32_t rings = 0;
    for (std::uint32_t lane = 0; lane < lanes_; ++lane)
        rings += rings_of(lane);
    return rings;
}

/// Every rank has an element of every ring, so that nobody is done with a line before all of it have entered: else who
/// counts their notices would count those of the next collective. Of several lanes one has a quarter of an even share
/// at least (lane_loads.cpp).
bool multi_ring_planner::fills_all_shards() const
{
    return command_.count / (lanes_ == 1 ? most_rings_ : 4 * lanes_ * most_rings_) > table_.ranks;
}

bool multi_ring_planner::keeps_links_busy() const
{
    const std::uint32_t size = size_at(0), d = table_.dim_count - 1 - places_.axis[0], rings = all_rings();
    const std::uint64_t bytes = command_.count * abi::element_bytes(command_.type) / (rings * size);
    const std::uint64_t made_ns = rings * (k_ring_message_ns + rings * k_ring_look_ns);
    return bytes * 8000 * (size - 1) >= made_ns * table_.rate_mbps[d];
}

/// By what the links of the rings carry.
lane_shares multi_ring_planner::shares() const
{
    if (lanes_ == 1)
        return even_shares(1);
    abi::platform_table used = table_;
    for (std::uint32_t place = 0; place < lanes_; ++place) {
        const std::uint32_t d = table_.dim_count - 1 - places_.axis[place];
        used.rate_mbps[d] = used.rate_mbps[d] / (used.dims[d] - 1) * rings_of(place);
    }
    const lane_loads loads(used, places_, command_.count * abi::element_bytes(command_.type));
    return loads.alike(lanes_) ? even_shares(lanes_) : loads.balanced(lanes_);
}

void multi_ring_planner::add_ring_channel(std::uint32_t lane, std::uint32_t ring, abi::element_range range)
{
    channel_plan& c = add_channel(out_.channel_count);
    make_lane(c.lane, range);
    std::uint32_t axes[abi::k_max_dims];
    add_nested_rings(c, axes_of_lane(places_, lane, axes), [&](std::uint32_t level, bool accumulate) {
        add_line_ring(c, level, axes[level], ring, accumulate);
    });
}

// Fewer elements than ranks go around one ring of each dimension, whose notices have one sender each.
void multi_ring_planner::add_ring_of_few()
{
    channel_plan& c = add_channel(0);
    make_lane(0, {0, command_.count});
    add_nested_rings(c, places_.count, [&](std::uint32_t level, bool accumulate) {
        ring_id ring{ring_kind::axis, false, false};
        ring.axis = places_.axis[level];
        add_ring(c, ring, accumulate, level);
    });
}

// Both passes of a ring count on one semaphore: they have one sender, which sends the shards of the first before those
// of the second.
void multi_ring_planner::add_line_ring(channel_plan& c, std::uint32_t level, std::uint32_t axis, std::uint32_t ring,
                                       bool accumulate)
{
    charge(costs::k_plan_phase + costs::k_axis_view);
    const std::uint32_t d = table_.dim_count - 1 - axis, size = table_.dims[d], at = table_.coord[d];
    const line_cycle cycle(size, ring % line_rings(size));
    pass& p = add_pass(c, run_source::ring);
    p.stride = rank_stride(table_, d);
    p.ring.kind = ring_kind::axis;
    p.ring.axis = static_cast<std::uint8_t>(axis);
    p.view.size = size;
    p.view.position = cycle.position(at);
    const std::uint32_t after = p.view.position + 1 == size ? 0 : p.view.position + 1;
    const std::uint32_t before = p.view.position == 0 ? size - 1 : p.view.position - 1;
    p.view.successor = table_.rank + (cycle.coordinate(after) - at) * p.stride; // unsigned: wraps back
    p.view.predecessor = table_.rank + (cycle.coordinate(before) - at) * p.stride;
    p.accumulate = accumulate;
    p.forwards = p.needs_ready = p.meets_line = true;
    p.shortest_paths = p.stride < table_.near_ranks && rings_own_links(size, most_rings_);
    p.first_list = static_cast<std::uint8_t>(level);
    p.first_queue = c.queue;
    p.ready_semaphore = static_cast<std::uint8_t>(line_ready_semaphore(axis));
    p.receive_semaphore = p.remote_semaphore =
        static_cast<std::uint8_t>(multi_ring_semaphore(c.lane * places_.count + level));
}

} // namespace

void plan_multi_ring(ring_map& rings, const abi::command& command, schedule& out)
{
    multi_ring_planner(rings, command, out).plan();
}

} // namespace weft::firmware
