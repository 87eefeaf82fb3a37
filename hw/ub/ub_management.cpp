// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ub/ub_management.h"

#include "hw/routing/ub/ub_routing.h"
#include "tlm/check.h"

namespace weft {

ub_management::ub_management(timeline& time, packet_pool& pool, fabric_engine& engine, const ub_plan& plan,
                             const ub_config& config)
    : time_(time), pool_(pool), engine_(engine), plan_(plan), format_(config.format()), rate_(config.local_port_rate),
      depth_cells_(static_cast<std::uint32_t>(config.buffer_per_vl.value() / config.cell_bytes() + 1)),
      actor_(time.register_actors(1))
{
    const fabric_link_params local{config.local_port_rate, duration(0), depth_cells_};
    ports_.reserve(plan.routers.size());
    for (std::uint32_t r = 0; r < plan.routers.size(); ++r) {
        ports_.emplace_back(*this, r);
        const std::uint32_t number =
            ub_ports{plan.routers[r].ports, plan.routers[r].local_ports, config.voq, true}.management();
        ports_.back().in = engine.add_edge_input(r, number, local, ports_.back());
        ports_.back().out = engine.add_edge_output(r, number, local, ports_.back());
    }
    time.components().add(*this);
}

void ub_management::open()
{
    for (const port& p : ports_)
        engine_.edge_credit(p.out, k_ub_management_vl, depth_cells_, 0);
}

void ub_management::send(const ub_message& m, const ub_management_way& way)
{
    if (way.links.empty())
        throw bug("ub_management", time_.now_ps(), "a way has a link at least");
    if (!way.relays.empty()) // until the end: few have relays
        itineraries_.push_back(way);
    send_leg(m, way, itineraries_.size(), 0);
}

/// Over the links of one header, from place `first` of the way. `kept`: its number among itineraries_, and one, if
/// others follow.
void ub_management::send_leg(const ub_message& m, const ub_management_way& way, std::size_t kept, std::uint32_t first)
{
    const std::uint32_t end = way.end_of_leg(first);
    const std::uint32_t router = plan_.links[way.links[first]].from;
    if (end - first > abi::ub::k_most_instructions)
        throw bug("ub_management", time_.now_ps(), "a header leads over six links at most");
    abi::ub::source_route route;
    for (std::uint32_t i = first; i < end; ++i)
        route.set_instruction_byte(
            i - first,
            abi::ub::encode({static_cast<std::uint8_t>(plan_.links[way.links[i]].from_port), way.lanes[i] != 0}));
    route.set_bitmap((1u << (end - first)) - 1u);
    packet_ptr p = pool_.make();
    p->source = m.from;
    p->destination = m.to;
    p->message = m.about;
    p->write_op = static_cast<std::uint8_t>(m.what);
    p->route = route.bits;
    p->vl = k_ub_management_vl;
    p->payload_bytes = payload_bytes_;
    p->wire_bytes = static_cast<std::uint32_t>(format_.wire_bytes(payload_bytes_));
    p->cells = static_cast<std::uint32_t>(format_.cells(payload_bytes_));
    p->serialisation_ps = static_cast<std::uint32_t>(rate_.time_ps(p->wire_bytes));
    p->born_ps = time_.now_ps();
    ++sent_;
    bytes_ += p->wire_bytes;
    if (end < way.links.size()) {
        p->packet_number = end; // where the next header begins
        p->semaphore = static_cast<std::uint32_t>(kept - 1);
    }
    relayed_ += first > 0 ? 1 : 0;
    engine_.inject(ports_[router].in, std::move(p), 0);
}

void ub_management::deliver(std::uint32_t router, packet_ptr p, std::uint64_t delay_ps)
{
    const std::uint64_t tail_delay_ps = delay_ps + p->serialisation_ps;
    engine_.edge_credit(ports_[router].out, p->vl, p->cells, tail_delay_ps);
    if ((p->flags & k_corrupted) != 0)
        return; // its check sum is wrong: lost
    time_.schedule(time_.now_ps() + tail_delay_ps, make_order(event_class::device, actor_, sequence_++), *this,
                   p.release()->index, 0);
}

void ub_management::on_event(std::uint32_t packet, std::uint8_t)
{
    const packet_ptr p(&pool_.at(packet));
    ++arrived_;
    hops_ += p->hops;
    const ub_message m{static_cast<ub_message::kind>(p->write_op), p->message, p->source, p->destination};
    if (p->packet_number != 0)
        return send_leg(m, itineraries_[p->semaphore], p->semaphore + 1, p->packet_number);
    if (listener_ != nullptr)
        listener_->heard(m);
}

} // namespace weft
