// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "firmware/collectives/schedule_writer.h"

#include <new>

namespace weft::firmware {

schedule_writer::schedule_writer(ring_map& rings, const abi::command& command, schedule& out)
    : rings_(rings), table_(rings.table), mesh_(rings.as_mesh), command_(command), out_(out)
{
    const std::uint32_t element_bytes = abi::element_bytes(command_.type);
    out_.count = command_.count;
    out_.chunk_elements = command_.chunk_bytes / element_bytes > 0 ? command_.chunk_bytes / element_bytes : 1;
    out_.cost = costs::k_engine;
}

// How this rank sees a ring; the passes of a collective share few of them.
const ring_view& schedule_writer::view(ring_id ring)
{
    const std::uint32_t number = ring_number(ring);
    if ((seen_rings_ >> number & 1) == 0) {
        seen_rings_ |= 1u << number;
        charge(rings_.view_cost(ring));
        views_[number] = rings_.view(ring);
    }
    return views_[number];
}

channel_plan& schedule_writer::add_channel(std::uint32_t lane)
{
    charge(costs::k_channel);
    channel_plan& c = *new (&out_.channels[out_.channel_count]) channel_plan;
    c.queue = static_cast<std::uint16_t>(out_.channel_count++);
    c.lane = lane;
    return c;
}

pass& schedule_writer::add_pass(channel_plan& c, run_source source)
{
    pass& p = *new (&c.passes[c.pass_count++]) pass;
    p.source = source;
    p.entry_cost = costs::k_phase;
    p.run_cost = costs::k_run;
    return p;
}

pass& schedule_writer::add_ring(channel_plan& c, ring_id ring, bool accumulate, std::uint32_t first_list, std::uint32_t lists)
{
    pass& p = add_pass(c, run_source::ring);
    p.ring = ring;
    p.view = view(ring);
    p.accumulate = accumulate;
    p.forwards = p.needs_ready = true;
    p.first_list = static_cast<std::uint8_t>(first_list);
    p.lists = static_cast<std::uint8_t>(lists);
    p.ready_semaphore = static_cast<std::uint8_t>(ready_semaphore(ring_number(ring)));
    const bool inner = first_list != 0;
    p.receive_semaphore = static_cast<std::uint8_t>(
        ring.kind == ring_kind::axis ? axis_semaphore(c.lane, ring.axis)
        : accumulate                 ? data_semaphore(c.lane, inner ? data_kind::inner_reduce : data_kind::outer_reduce)
                     : data_semaphore(c.lane, inner ? data_kind::inner_gather : data_kind::outer_gather));
    p.remote_semaphore = p.receive_semaphore;
    return p;
}

lane_plan& schedule_writer::make_lane(std::uint32_t index, abi::element_range range)
{
    lane_plan& l = *new (&out_.lanes[index]) lane_plan;
    l.lists[0] = range;
    return l;
}

void schedule_writer::add_send(pass& p, abi::element_range range, std::uint32_t to)
{
    if (p.sends++ == 0)
        p.first_send = static_cast<std::uint8_t>(out_.send_count);
    new (&out_.sends[out_.send_count++]) send_entry{range, to};
}

void schedule_writer::expect(std::uint32_t semaphore, std::uint32_t messages)
{
    new (&out_.expectations[out_.expectation_count++]) expectation{semaphore, messages};
}

void schedule_writer::notify(std::uint32_t queue, std::uint32_t rank, std::uint32_t semaphore)
{
    new (&out_.notices[out_.notice_count++])
        notice{static_cast<std::uint8_t>(queue), static_cast<std::uint8_t>(semaphore), rank};
}

// Everyone who will send to this rank along a ring is told that it has entered the collective: once, channels may share
// rings. What is taken over overwrites, so nobody may add to it before: those of inner passes are told when the first
// of them begins.
void schedule_writer::announce_rings()
{
    std::uint64_t told = 0; // semaphores
    for (std::uint32_t i = 0; i < out_.channel_count; ++i) {
        channel_plan& c = out_.channels[i];
        charge(c.pass_count * costs::k_plan_phase);
        bool takes_over = false;
        for (std::uint32_t k = 0; k < c.pass_count; ++k) {
            const pass& p = c.passes[k];
            takes_over = takes_over || p.tells_when_entered;
            const bool meets_neighbours = (is_ring(p.source) && !p.meets_line) || p.source == run_source::tile;
            if (!meets_neighbours || p.view.size < 2 || (told >> p.ready_semaphore & 1) != 0)
                continue;
            told |= 1ull << p.ready_semaphore;
            expect(p.ready_semaphore, 1);
            if (!takes_over || p.first_list == 0)
                notify(i, p.view.predecessor, p.ready_semaphore);
        }
    }
}

void schedule_writer::announce_lines()
{
    std::uint32_t told = 0; // axes
    for (std::uint32_t i = 0; i < out_.channel_count; ++i)
        for (std::uint32_t k = 0; k < out_.channels[i].pass_count; ++k) {
            const pass& p = out_.channels[i].passes[k];
            if (!p.meets_line || (told >> p.ring.axis & 1) != 0)
                continue;
            told |= 1u << p.ring.axis;
            charge(costs::k_plan_phase);
            expect(p.ready_semaphore, p.view.size);
            new (&out_.lines[out_.line_count++]) told_line{p.ready_semaphore, p.first_queue, p.view.size,
                                                           table_.coord[table_.dim_count - 1 - p.ring.axis], p.stride};
        }
}

} // namespace weft::firmware
