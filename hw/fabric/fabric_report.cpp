// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a fabric engine can tell about itself. Never on the hot path.
#include "hw/fabric/blocked_heads.h"
#include "hw/fabric/fabric_engine.h"
#include "tlm/step_sink.h"

#include <algorithm>

namespace weft {

std::vector<link_failure> fabric_engine::link_failures() const
{
    std::vector<link_failure> all = conditions_.failures();
    for (std::size_t i = 0; i < all.size(); ++i) {
        link_failure& f = all[i];
        f.waiting = link_up(f.link) || !conditions_.is_present(static_cast<std::uint32_t>(i)) ? 0u : links_[f.link].waiters;
        f.affected = f.affected || f.waiting > 0; // a head that also lacks credits has not asked yet
    }
    return all;
}

void fabric_engine::list_stats()
{
    stats_.add_row({"wire_bytes", "B", "Bytes serialised on router-to-router links", this, [](const void* engine) {
                        const auto& e = *static_cast<const fabric_engine*>(engine);
                        std::uint64_t bytes = 0;
                        for (const std::uint32_t link : e.router_links_)
                            bytes += e.link_wire_bytes(link);
                        return bytes;
                    }});
    stats_.add_row({"control_bytes", "B", "Of credits, acknowledgements and requests on router-to-router links, beside wire_bytes", this,
                    [](const void* engine) {
                        const auto& e = *static_cast<const fabric_engine*>(engine);
                        std::uint64_t bytes = 0;
                        for (const std::uint32_t link : e.router_links_)
                            bytes += e.link_control_bytes(link);
                        return bytes;
                    }});
    stats_.add_row({"transport_hops", "1", "Transport transactions over router-to-router links; a burst counts once", this,
                    [](const void* engine) { return static_cast<const fabric_engine*>(engine)->transport_hops(); }});
}

wire_load fabric_engine::load_of_wire(std::uint32_t wire) const
{
    const std::uint32_t link = link_of_wire(wire);
    const link_state& l = links_[link];
    return {l.wire_bytes + link_control_bytes(link), link_busy_ps(link), l.busy_until_ps,
            waits_.starved_ps(link, l.busy_until_ps, time_.now_ps()), waits_.contended_ps(link)};
}

wire_ends fabric_engine::ends_of_wire(std::uint32_t wire) const
{
    const auto [from, to] = link_ends(link_of_wire(wire));
    return {from == k_none ? "" : router_name(from), to == k_none ? "" : router_name(to)};
}

lane_load fabric_engine::load_of_lane(std::uint32_t wire, std::uint32_t vl) const
{
    const std::uint32_t link = link_of_wire(wire);
    const credit_counter& credits = queues_[queue_of(link, vl)].credits;
    const std::uint32_t depth = depth_cells(link);
    const std::uint32_t here = credits.available() + credits.under_way(credits_under_way_);
    return {depth, is_router_link(link) && here < depth ? depth - here : 0,
            waits_.starved_ps(link, vl, links_[link].busy_until_ps, time_.now_ps())};
}

void fabric_engine::record_into(trace_sink& trace)
{
    if (step_sink* const steps = steps_for(trace, *this)) {
        for (std::uint32_t link = 0; link < link_count(); ++link)
            trace.add_track(*this, link_name(link));
        sink_ = steps;
        look_at_links();
        return;
    }
    trace_ = std::make_unique<packet_trace>(trace);
    for (std::uint32_t link = 0; link < link_count(); ++link)
        trace_->add_track(*this, link_name(link));
    sink_ = trace_.get();
    control_.set_listener(*this);
    look_at_links();
}

void fabric_engine::set_event_sink(event_sink* sink)
{
    sink_ = sink;
    look_at_links();
}

/// Of links that nobody looks at, a transmission asks for nothing here.
void fabric_engine::look_at_links()
{
    for (link_state& l : links_)
        l.special = static_cast<std::uint8_t>(sink_ != nullptr || tap_ != nullptr ? l.special | k_looked_at : l.special & ~k_looked_at);
}

void fabric_engine::on_control(const sent_control& c)
{
    event_record r{};
    r.kind = c.blocks != 0 ? record_kind::control_emitted : record_kind::request_emitted;
    r.time_ps = c.start_ps;
    r.span_ps = links_[c.link].rate.time_ps(c.bytes);
    r.where = c.link;
    r.payload_bytes = c.bytes;
    if (sink_ != nullptr)
        sink_->record(r);
}

/// `p` is still in its buffer.
void fabric_engine::record_crossing(std::uint32_t link, const packet& p, std::uint64_t serialisation_ps) const
{
    sink_->record(make_record(record_kind::link_emitted, now_ps_, serialisation_ps, link, p));
    step_sink* const steps = steps_of(sink_);
    if (steps == nullptr)
        return;
    const link_state& out = links_[link];
    const std::uint64_t head_ps = p.tail_ps - std::min<std::uint64_t>(p.tail_ps, p.serialisation_ps);
    // A packet must not run dry on its way out.
    const std::uint64_t dry_ps = config_.cut_through ? serialisation_ps : 0;
    steps->crosses({step_packet::of(p), now_ps_, head_ps, std::max(head_ps, p.tail_ps - std::min(p.tail_ps, dry_ps)),
                    static_cast<std::uint32_t>(serialisation_ps), p.serialisation_ps, out.latency_ps,
                    static_cast<std::uint32_t>(out.to_edge ? 0 : config_.pipeline.value()), links_[p.link].latency_ps, link, p.link,
                    p.vl});
}

void fabric_engine::record_loss(std::uint32_t link, const packet& p) const
{
    if (sink_ != nullptr)
        sink_->record(make_record(record_kind::packet_lost, now_ps_, 0, link, p));
}

void fabric_engine::tap_wires(packet_tap& tap)
{
    tapped_.assign(link_count(), packet_tap::k_hidden);
    for (std::uint32_t wire = 0; wire < wires(); ++wire)
        tapped_[link_of_wire(wire)] = tap.add_wire(*this, wire, wire_protocol::fabric);
    tap_ = &tap;
    look_at_links();
}

void fabric_engine::tell_tap(std::uint32_t link, const packet& p, std::uint64_t end_ps, bool lost) const
{
    if (tapped_[link] == packet_tap::k_hidden)
        return;
    const wire_fate fate = lost                           ? wire_fate::lost
                           : (p.flags & k_corrupted) != 0 ? wire_fate::damaged
                                                          : wire_fate::carried;
    tap_->on_packet(tapped_[link], p, now_ps_, std::max(now_ps_, end_ps), fate, "");
}

std::uint64_t fabric_engine::state_bytes() const
{
    return layout_bytes() + arbiter_.bytes() + waits_.bytes() + layers_.capacity() * sizeof(link_layer) + control_.state_bytes();
}

std::vector<blocked_head> fabric_engine::blocked() const
{
    std::vector<blocked_head> heads;
    for (std::uint32_t id = 0; id < link_count(); ++id) {
        const link_state& l = links_[id];
        arbiter_.each(l, [&](std::uint32_t bit) {
            const packet& p = pool_.at(head_at(l, bit));
            const credit_counter& credits = queues_[queue_of(id, p.out_vl)].credits;
            heads.push_back({l.router, port_of_bit(bit), vl_of_bit(bit), links_[id].from_port, p.out_vl, id, p.index, p.cells,
                             credits.available(), !link_up(id), p.tail_ps, conditions_.down_at_ps(id)});
        });
    }
    return heads;
}

std::string fabric_engine::describe_blocked(std::size_t at_most) const { return weft::describe_blocked(blocked(), *this, pool_, at_most); }

std::string fabric_engine::audit() const
{
    std::vector<std::uint64_t> held(queues_.size(), 0);
    for (std::uint32_t i = 0; i < pool_.peak(); ++i) {
        const packet& p = pool_.at(i);
        if (p.pool != nullptr && p.fabric == actor_base_ && p.tail_ps != 0)
            held[queue_of(p.link, p.vl)] += p.cells;
    }
    return audit_credits(held);
}

} // namespace weft
