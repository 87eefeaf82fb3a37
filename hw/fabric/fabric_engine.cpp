// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/fabric/fabric_engine.h"

#include <algorithm>

namespace weft {

fabric_engine::fabric_engine(timeline& time, packet_pool& pool, const routing_policy& policy,
                             const fabric_config& config)
    : time_(time), pool_(pool), policy_(policy), config_(config), pipeline_ps_(config.pipeline.value())
{
    if (config.vl_count == 0 || config.vl_count > 64)
        throw bug("fabric_engine", 0, "vl_count must be 1..64");
}

std::uint32_t fabric_engine::add_router(std::uint32_t ports, std::string name)
{
    routers_.push_back({static_cast<std::uint32_t>(in_links_.size()), ports, std::move(name)});
    in_links_.resize(in_links_.size() + ports, k_none);
    out_links_.resize(out_links_.size() + ports, k_none);
    return static_cast<std::uint32_t>(routers_.size() - 1);
}

std::uint32_t fabric_engine::new_link(std::uint32_t port, const fabric_link_params& params)
{
    const auto id = static_cast<std::uint32_t>(links_.size());
    link_state l;
    l.rate = wire_rate(params.rate);
    l.latency_ps = static_cast<std::uint32_t>(params.propagation.value() + pipeline_ps_);
    l.return_ps = static_cast<std::uint32_t>(params.propagation.value());
    links_.push_back(l);
    link_cold c;
    c.depth_cells = params.depth_cells;
    c.from_port = static_cast<std::uint16_t>(port);
    c.rate = params.rate;
    cold_.push_back(c);
    queues_.resize(queues_.size() + config_.vl_count);
    return id;
}

std::uint32_t fabric_engine::add_link(std::uint32_t from_router, std::uint32_t from_port, std::uint32_t to_router,
                                      std::uint32_t to_port, const fabric_link_params& params)
{
    const std::uint32_t id = new_link(from_port, params);
    std::uint32_t& out = out_links_.at(routers_.at(from_router).first_port + from_port);
    std::uint32_t& in = in_links_.at(routers_.at(to_router).first_port + to_port);
    if (out != k_none || in != k_none)
        throw bug("fabric_engine", 0,
                  "a port is wired twice: " + routers_[from_router].name + " to " + routers_[to_router].name);
    out = in = id;
    links_[id].router = from_router;
    links_[id].to_router = to_router;
    links_[id].to_port = static_cast<std::uint16_t>(to_port);
    // The receiver advertises its buffer: here both ends are ours.
    for (std::uint32_t vl = 0; vl < config_.vl_count; ++vl)
        queues_[queue_of(id, vl)].credits.give(credits_under_way_, 0, 0, params.depth_cells);
    return id;
}

std::uint32_t fabric_engine::add_edge_output(std::uint32_t router, std::uint32_t port, const fabric_link_params& params,
                                             fabric_edge_if& edge)
{
    const std::uint32_t id = new_link(port, params);
    out_links_.at(routers_.at(router).first_port + port) = id;
    links_[id].router = router;
    links_[id].to_edge = true;
    links_[id].edge = &edge;
    links_[id].latency_ps = static_cast<std::uint32_t>(params.propagation.value()); // no pipeline of ours behind it
    return id;
}

std::uint32_t fabric_engine::add_edge_input(std::uint32_t router, std::uint32_t port, const fabric_link_params& params,
                                            fabric_edge_if& edge)
{
    const std::uint32_t id = new_link(port, params);
    in_links_.at(routers_.at(router).first_port + port) = id;
    links_[id].to_router = router;
    links_[id].to_port = static_cast<std::uint16_t>(port);
    links_[id].from_edge = true;
    links_[id].edge = &edge;
    return id;
}

void fabric_engine::finish_build()
{
    actor_base_ = time_.register_actors(link_count());
    out_ports_ = out_links_;
    for (std::uint32_t id = 0; id < link_count(); ++id) {
        link_state& l = links_[id];
        if (l.router == k_none)
            continue;
        const router_state& r = routers_[l.router];
        l.waiter_base = static_cast<std::uint32_t>(waiters_.size());
        l.waiter_words = static_cast<std::uint16_t>((r.ports * config_.vl_count + 63) / 64);
        waiters_.resize(waiters_.size() + l.waiter_words, 0);
        bool may_run_dry = !config_.cut_through;
        for (std::uint32_t port = 0; port < r.ports; ++port) {
            const std::uint32_t in = in_links_[r.first_port + port];
            may_run_dry = may_run_dry || (in != k_none && cold_[in].rate < cold_[id].rate);
        }
        if (may_run_dry)
            out_ports_[r.first_port + cold_[id].from_port] |= k_slow_start;
    }
    for (link_state& l : links_)
        if (l.to_router != k_none)
            l.to_first_port = routers_[l.to_router].first_port;
}

std::uint32_t fabric_engine::out_link(std::uint32_t router, std::uint32_t port) const
{
    return out_links_.at(routers_.at(router).first_port + port);
}

// --- Run --------------------------------------------------------------------------------------------------------------

void fabric_engine::inject(std::uint32_t link, packet_ptr p, std::uint64_t delay_ps)
{
    ++inside_;
    link_state& l = links_[link];
    packet& q = *p.release();
    q.link = link;
    q.fabric = actor_base_;
    l.wire_bytes += q.wire_bytes;
    l.packets += q.packet_count;
    l.busy_sum_ps += q.serialisation_ps;
    fly(q, time_.now_ps() + delay_ps + pipeline_ps_);
}

void fabric_engine::edge_credit(std::uint32_t link, std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps)
{
    now_ps_ = time_.now_ps();
    return_credit(link, vl, cells, now_ps_ + delay_ps);
}

void fabric_engine::set_link_up(std::uint32_t link, bool up)
{
    links_.at(link).up = up;
    if (up && links_[link].waiters > 0)
        ensure_wake(link, std::max(time_.now_ps(), links_[link].busy_until_ps));
}

void fabric_engine::fail_link_at(std::uint32_t link, std::uint64_t at_ps)
{
    std::uint32_t& failure = cold_.at(link).failure;
    if (failure == k_none) {
        failure = static_cast<std::uint32_t>(failures_.size());
        link_failure f;
        f.link = link;
        f.at_ps = at_ps;
        failures_.push_back(f);
        links_[link].fails = true;
    }
    failures_[failure].at_ps = std::min(failures_[failure].at_ps, at_ps);
}

std::uint64_t fabric_engine::down_at_ps(std::uint32_t link) const
{
    return links_[link].fails ? failures_[cold_[link].failure].at_ps : k_never_ps;
}

/// Asked when something wants to start on the link. That a link fails is no event: its time is compared where it matters, so
/// that the failure is exact whatever runs ahead, and a time that is never reached changes nothing.
bool fabric_engine::down(std::uint32_t link)
{
    if (!links_[link].fails)
        return !links_[link].up;
    link_failure& f = failures_[cold_[link].failure];
    if (now_ps_ < f.at_ps)
        return !links_[link].up;
    f.hindered = true;
    return true;
}

/// Whether the transmission of `p` that starts now is under way when the link goes down.
bool fabric_engine::cut_short(std::uint32_t link, const packet& p)
{
    link_failure& f = failures_[cold_[link].failure];
    const std::uint64_t end_ps = now_ps_ + p.serialisation_ps;
    if (end_ps <= f.at_ps)
        return false;
    links_[link].busy_sum_ps -= end_ps - f.at_ps;
    f.lost_packets += p.packet_count;
    f.hindered = true;
    return true;
}

void fabric_engine::set_fault_hook(std::uint32_t link, link_fault_if* hook) { links_.at(link).hook = hook; }

void fabric_engine::on_event(std::uint32_t a, std::uint16_t kind)
{
    now_ps_ = time_.now_ps();
    switch (kind) {
    case k_arrival: arrival(pool_.at(a)); break;
    default: wake(a); break;
    }
}

void fabric_engine::prefetch(std::uint32_t a, std::uint16_t kind, int stage) const
{
    const auto fetch_link = [this](std::uint32_t link) {
        const char* state = reinterpret_cast<const char*>(&links_[link]);
        __builtin_prefetch(state);
        __builtin_prefetch(state + 64);
    };
    if (kind == k_wake) {
        if (stage == 0)
            fetch_link(a);
        else if (links_[a].feeding != k_none)
            __builtin_prefetch(&queues_[links_[a].feeding]);
        return;
    }
    const packet& p = pool_.at(a);
    if (stage == 0) {
        __builtin_prefetch(&p);
        __builtin_prefetch(reinterpret_cast<const char*>(&p) + 64);
        return;
    }
    __builtin_prefetch(&queues_[queue_of(p.link, p.vl)]);
    __builtin_prefetch(&queues_[queue_of(p.out_link, p.out_vl)]);
    fetch_link(p.link);
    fetch_link(p.out_link);
}

void fabric_engine::fly(packet& p, std::uint64_t head_ps)
{
    // Look-ahead routing: the next output is chosen now, so that a packet which must not start before its tail is near
    // (a fast output, store-and-forward) needs one event and not two. Its order in the buffer is the same: whoever follows it
    // on this wire has its head behind this tail.
    link_state& l = links_[p.link];
    p.tail_ps = head_ps + p.serialisation_ps;
    const route_decision d = policy_.route(l.to_router, l.to_port, p);
    const std::uint32_t out_port = out_ports_[l.to_first_port + d.out_port];
    p.out_link = out_port & ~k_slow_start;
    p.out_vl = d.vl;
    if (out_port == k_none)
        throw bug(routers_[l.to_router].name, now_ps_,
                  "routing chose port " + port_name(d.out_port) + ", where nothing is wired");
    std::uint64_t at_ps = head_ps;
    if ((out_port & k_slow_start) != 0) {
        const std::uint64_t serialisation = config_.cut_through ? links_[p.out_link].rate.time_ps(p.wire_bytes) : 0;
        at_ps = std::max(head_ps, p.tail_ps - std::min(p.tail_ps, serialisation));
    }
    time_.schedule(at_ps, make_order(event_class::arrival, actor_base_ + p.link, l.sequence++), *this, p.index,
                   k_arrival);
}

void fabric_engine::arrival(packet& p)
{
    const std::uint32_t qi = queue_of(p.link, p.vl);
    queue_state& q = queues_[qi];
    const bool is_head = q.buffer.empty();
    q.buffer.push(pool_, p);
    if (!is_head)
        return;
    q.asked = false;
    if (q.read_free_ps > now_ps_)
        ensure_wake(q.out_link, q.read_free_ps); // the buffer still streams the packet before
    else
        enter(qi, p);
}

void fabric_engine::enter(std::uint32_t qi, packet& p)
{
    queues_[qi].asked = true;
    link_state& out = links_[p.out_link];
    if (out.busy_until_ps <= now_ps_ && out.waiters == 0 && out.wake_at_ps != now_ps_ && !down(p.out_link) &&
        queues_[queue_of(p.out_link, p.out_vl)].credits.has(credits_under_way_, now_ps_, p.cells)) {
        transmit(qi, p);
        return;
    }
    const std::uint32_t bit = waiter_bit(qi);
    waiters_[out.waiter_base + (bit >> 6)] |= std::uint64_t{1} << (bit & 63);
    ++out.waiters;
    if (out.busy_until_ps > now_ps_)
        ensure_wake(p.out_link, out.busy_until_ps);
    else if (out.wake_at_ps != now_ps_)
        arbitrate(p.out_link);
}

void fabric_engine::wake(std::uint32_t link)
{
    link_state& l = links_[link];
    if (l.wake_at_ps != now_ps_)
        return; // an earlier wake has done this one's work and asked for what was still needed
    // While this is handled the mark stays: a head that asks for this output joins the arbitration instead of overtaking it.
    std::uint64_t head_at_ps = k_never_ps; // when the next head of the buffer that was last read can ask
    if (l.feeding != k_none) {
        const std::uint32_t feeding = l.feeding;
        queue_state& q = queues_[feeding];
        if (!q.buffer.empty() && !q.asked) {
            if (q.read_free_ps <= now_ps_)
                enter(feeding, pool_.at(q.buffer.front()));
            else if (q.out_link == link)
                head_at_ps = q.read_free_ps;
        }
    }
    l.wake_at_ps = k_never_ps;
    ensure_wake(link, head_at_ps);
    if (l.waiters == 0)
        return;
    if (l.busy_until_ps > now_ps_)
        ensure_wake(link, l.busy_until_ps);
    else
        arbitrate(link);
}

void fabric_engine::arbitrate(std::uint32_t link)
{
    link_state& l = links_[link];
    if (down(link))
        return;
    std::uint64_t* mask = &waiters_[l.waiter_base];
    std::uint64_t wanted_at = k_never_ps;
    const std::uint32_t granted = round_robin(mask, l.waiter_words, l.round_robin, [&](std::uint32_t bit) {
        const packet& p = pool_.at(queues_[queue_of_bit(l.router, bit)].buffer.front());
        queue_state& slot = queues_[queue_of(link, p.out_vl)];
        if (slot.credits.has(credits_under_way_, now_ps_, p.cells))
            return true;
        const std::uint64_t at = slot.credits.when(credits_under_way_, p.cells);
        slot.awaited = slot.awaited || at == k_never_ps;
        wanted_at = std::min(wanted_at, at);
        return false;
    });
    if (granted != k_no_grant) {
        mask[granted >> 6] &= ~(std::uint64_t{1} << (granted & 63));
        --l.waiters;
        l.round_robin = static_cast<std::uint16_t>(granted + 1);
        const std::uint32_t qi = queue_of_bit(l.router, granted);
        transmit(qi, pool_.at(queues_[qi].buffer.front()));
    } else if (wanted_at != k_never_ps) {
        ensure_wake(link, wanted_at);
    }
}

void fabric_engine::transmit(std::uint32_t qi, packet& p)
{
    const std::uint32_t out_id = p.out_link;
    link_state& out = links_[out_id];
    const link_state& in = links_[p.link];
    queue_state& q = queues_[qi];
    const std::uint64_t serialisation = out.rate.time_ps(p.wire_bytes);
    const std::uint64_t end = now_ps_ + serialisation;

    // Leave the buffer: the read port streams until `end`, then the cells are free.
    q.buffer.pop(p);
    q.asked = false;
    // The buffer is read as fast as it was filled: a local port of twice the rate of a link feeds two links at once.
    q.read_free_ps = now_ps_ + std::min<std::uint64_t>(p.serialisation_ps, serialisation);
    q.out_link = out_id;
    if (in.from_edge)
        in.edge->return_credit(p.vl, p.cells, serialisation + in.return_ps);
    else
        return_credit(p.link, p.vl, p.cells, end + in.return_ps);

    // Occupy the output.
    out.busy_until_ps = end;
    out.feeding = qi;
    out.busy_sum_ps += serialisation;
    out.wire_bytes += p.wire_bytes;
    out.packets += p.packet_count;
    queues_[queue_of(out_id, p.out_vl)].credits.take(p.cells);
    if (!q.buffer.empty())
        ensure_wake(out_id, q.read_free_ps);
    if (out.waiters > 0)
        ensure_wake(out_id, end);

    if (sink_ != nullptr)
        sink_->record(make_record(record_kind::link_emitted, now_ps_, serialisation, out_id, p));

    // Fly.
    p.link = out_id;
    p.vl = p.out_vl;
    p.serialisation_ps = static_cast<std::uint32_t>(serialisation);
    if (out.fails && cut_short(out_id, p)) {
        lose(out_id, p);
        return;
    }
    std::uint64_t head = now_ps_ + out.latency_ps;
    if (out.hook != nullptr && !apply_hook(out, out_id, p, head))
        return;
    if (out.to_edge) {
        --inside_;
        out.edge->deliver(packet_ptr(&p), head - now_ps_);
        return;
    }
    packet_hops_ += p.packet_count;
    ++transport_hops_;
    ++p.hops;
    fly(p, head);
}

/// The packet is lost on the wire; its credits come back after the round trip.
void fabric_engine::lose(std::uint32_t link, packet& p)
{
    dropped_ += p.packet_count;
    --inside_;
    return_credit(link, p.vl, p.cells, now_ps_ + p.serialisation_ps + 2 * links_[link].return_ps);
    packet_ptr(&p).reset();
}

bool fabric_engine::apply_hook(link_state& l, std::uint32_t link, packet& p, std::uint64_t& head_ps)
{
    const link_verdict verdict = l.hook->on_packet(now_ps_, p);
    if (verdict.drop) {
        lose(link, p);
        return false;
    }
    if (verdict.corrupt)
        corrupt(p);
    // A head comes behind the tail before it, as on any wire: fly() relies on that.
    std::uint64_t& last_tail_ps = cold_[link].last_tail_ps;
    head_ps = std::max(last_tail_ps, head_ps + verdict.extra_delay_ps);
    last_tail_ps = head_ps + p.serialisation_ps;
    return true;
}

void fabric_engine::return_credit(std::uint32_t link, std::uint32_t vl, std::uint32_t cells, std::uint64_t at_ps)
{
    queue_state& slot = queues_[queue_of(link, vl)];
    slot.credits.give(credits_under_way_, now_ps_, at_ps, cells);
    if (slot.awaited) {
        slot.awaited = false;
        ensure_wake(link, std::max(at_ps, links_[link].busy_until_ps));
    }
}

void fabric_engine::ensure_wake(std::uint32_t link, std::uint64_t at_ps)
{
    link_state& l = links_[link];
    if (at_ps >= l.wake_at_ps)
        return;
    l.wake_at_ps = at_ps;
    time_.schedule(at_ps, make_order(event_class::arbitration, actor_base_ + link, 0), *this, link, k_wake);
}

std::uint32_t fabric_engine::waiter_bit(std::uint32_t queue) const
{
    const std::uint32_t link = queue / config_.vl_count;
    return links_[link].to_port * config_.vl_count + queue % config_.vl_count;
}

std::uint32_t fabric_engine::queue_of_bit(std::uint32_t router, std::uint32_t bit) const
{
    const std::uint32_t port = bit / config_.vl_count;
    return queue_of(in_links_[routers_[router].first_port + port], bit % config_.vl_count);
}

} // namespace weft
