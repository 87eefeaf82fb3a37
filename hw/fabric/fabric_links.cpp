// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Links that are not as they should be: hooks, retry, fewer lanes, down, declared dead, restored. None of it is on the
// hot path of a healthy link.
#include "hw/fabric/fabric_engine.h"

#include <algorithm>

namespace weft {

void fabric_engine::set_link_up(std::uint32_t link, bool up)
{
    links_.at(link).up = up;
    if (up && links_[link].waiters > 0)
        ensure_wake(link, std::max(time_.now_ps(), links_[link].busy_until_ps));
}

void fabric_engine::set_fault_hook(std::uint32_t link, link_fault_if* hook)
{
    link_state& l = links_.at(link);
    cold_[link].hook = hook;
    l.special = static_cast<std::uint8_t>(hook != nullptr ? l.special | k_hook : l.special & ~k_hook);
}

const link_layer* fabric_engine::layer(std::uint32_t link) const
{
    return cold_.at(link).layer == k_none ? nullptr : &layers_[cold_[link].layer];
}

/// The transmission of `p` that begins now, on a link with a special bit. False when the packet is lost; else its head,
/// for an undisturbed link in `head_ps`, may come later.
bool fabric_engine::cross_special(std::uint32_t link, packet& p, std::uint64_t serialisation_ps, std::uint64_t& head_ps)
{
    const link_state& l = links_[link];
    if ((l.special & k_looked_at) == 0) {
        put_on_wire(p, serialisation_ps);
        return get_across(link, p, head_ps);
    }
    if (sink_ != nullptr)
        record_crossing(link, p, serialisation_ps);
    put_on_wire(p, serialisation_ps);
    if (!get_across(link, p, head_ps))
        return false;
    if (tap_ != nullptr) // of a train that was cut, the part that goes on; retries are in its serialisation
        tell_tap(link, p, head_ps - l.latency_ps + p.serialisation_ps, false);
    return true;
}

/// `p` is on the wire: retries, failures and hooks.
bool fabric_engine::get_across(std::uint32_t link, packet& p, std::uint64_t& head_ps)
{
    link_state& l = links_[link];
    std::uint64_t start_ps = now_ps_;
    if ((l.special & k_layer) != 0) {
        link_layer& retry = layers_[cold_[link].layer];
        const std::uint64_t control_ps = l.busy_until_ps - now_ps_ - p.serialisation_ps; // behind the packet
        const std::uint64_t retries_before = retry.retries() + retry.reinits();
        const link_passage passage =
            retry.pass(now_ps_, p.wire_bytes, p.packet_count, conditions_.down_at_ps(link), [&](std::uint64_t at_ps) {
                return cold_[link].next_rate_ps > at_ps ? l.rate : wire_rate(conditions_.rate_at(link, at_ps));
            });
        start_ps = passage.start_ps;
        if (control_.on())
            control_.owe_flits(link, now_ps_, passage.asked_ps, (retry.retries() + retry.reinits() - retries_before) * retry.request_bytes());
        if (passage.given_up) {
            give_up(link, p, start_ps);
            return false;
        }
        l.busy_sum_ps += passage.serialisation_ps - p.serialisation_ps;
        p.serialisation_ps = static_cast<std::uint32_t>(passage.serialisation_ps);
        l.busy_until_ps = start_ps + p.serialisation_ps + control_ps;
        if (control_.on())
            control_.set_busy(link, l.busy_until_ps);
        head_ps += start_ps - now_ps_;
        if ((l.special & k_retry_buffer) != 0)
            retry.keep(now_ps_, p.cells, l.busy_until_ps);
    }
    if ((l.special & k_fails) != 0 && cut_short(link, p, start_ps)) {
        lose(link, p, start_ps + p.serialisation_ps);
        return false;
    }
    return (l.special & k_hook) == 0 || apply_hook(link, p, head_ps);
}

bool fabric_engine::apply_hook(std::uint32_t link, packet& p, std::uint64_t& head_ps)
{
    const link_verdict verdict = cold_[link].hook->on_packet(now_ps_, p);
    if (verdict.drop) {
        lose(link, p, now_ps_ + p.serialisation_ps);
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

/// The packet is lost on the wire; its credits come back after the round trip.
void fabric_engine::lose(std::uint32_t link, packet& p, std::uint64_t end_ps)
{
    dropped_ += p.packet_count;
    --inside_;
    record_loss(link, p);
    if (tap_ != nullptr)
        tell_tap(link, p, end_ps, true);
    return_credit(link, p.vl, p.cells, end_ps + 2ull * queues_[queue_of(link, p.vl)].return_ps);
    packet_ptr(&p).reset();
}

/// Whether the transmission of `p` that starts at `start_ps` is under way when the link goes down. Of a train the
/// packets that have left go on, without the rest.
bool fabric_engine::cut_short(std::uint32_t link, packet& p, std::uint64_t start_ps)
{
    link_failure& f = conditions_.failure_of(link);
    const std::uint64_t end_ps = start_ps + p.serialisation_ps;
    if (end_ps <= f.at_ps)
        return false;
    links_[link].busy_sum_ps -= std::min<std::uint64_t>(end_ps - f.at_ps, p.serialisation_ps);
    f.affected = true;
    const auto through = static_cast<std::uint32_t>(
        f.at_ps > start_ps ? (f.at_ps - start_ps) * p.packet_count / p.serialisation_ps : 0);
    f.lost_packets += p.packet_count - through;
    if (through == 0)
        return true;
    ++inside_;
    lose(link, *pool_.cut_behind(p, through).release(), end_ps);
    return false;
}

/// The last retry of `p` has failed: the link ends at `at_ps`, and the packet with it.
void fabric_engine::give_up(std::uint32_t link, packet& p, std::uint64_t at_ps)
{
    const std::uint32_t index = conditions_.plan_failure(link, at_ps);
    link_failure& f = conditions_.failure(index);
    f.exhausted = true;
    f.lost_packets += p.packet_count;
    f.affected = true;
    links_[link].busy_sum_ps -= p.serialisation_ps;
    links_[link].busy_until_ps = at_ps;
    if (config_.dead_link_detection)
        announce(k_declare, index, at_ps);
    lose(link, p, at_ps);
}

// --- Down, declared dead, restored -----------------------------------------------------------------------------------

void fabric_engine::announce(std::uint8_t kind, std::uint32_t failure, std::uint64_t at_ps)
{
    if (actor_base_ == 0)
        throw bug("fabric_engine", at_ps, "declarations and restorations are planned after finish_build()");
    time_.schedule(std::max(at_ps, time_.now_ps()),
                   make_order(event_class::device, actor_base_ + conditions_.failure(failure).link, announcements_++), *this,
                   failure, kind);
}

void fabric_engine::fail_link_at(std::uint32_t link, std::uint64_t at_ps)
{
    const std::uint32_t failure = conditions_.plan_failure(link, at_ps);
    if (config_.dead_link_detection)
        announce(k_declare, failure, at_ps + config_.dead_link_detection->value());
}

void fabric_engine::restore_link_at(std::uint32_t link, std::uint64_t at_ps)
{
    if (const std::uint32_t ended = conditions_.plan_restoration(link, at_ps); ended != k_none)
        announce(k_restore, ended, at_ps);
}

void fabric_engine::declare(std::uint32_t failure)
{
    if (!conditions_.declare(failure, now_ps_, config_.dead_link_detection->value()))
        return;
    const std::uint32_t link = conditions_.failure(failure).link;
    link_state& l = links_[link];
    // Whoever waits is dropped. What stands behind a head asks for its own output then, never for this one.
    arbiter_.each(l, [&](std::uint32_t bit) {
        arbiter_.leave(l, bit);
        if (!voq_) {
            const std::uint32_t qi = queue_of_bit(l.router, bit);
            discard(qi, pool_.at(buffers_[qi].fifo.front()));
            return;
        }
        for (vl_buffer& fifo = voqs_[voq_of(l, bit)]; !fifo.empty();) {
            packet& p = pool_.at(fifo.front());
            fifo.pop(pool_, p);
            drop(p);
        }
    });
    l.waiting_bytes = 0;
    waits_.forget(link);
    if (listener_ != nullptr)
        listener_->link_down(link, now_ps_);
}

void fabric_engine::restore(std::uint32_t failure)
{
    const std::uint32_t link = conditions_.failure(failure).link;
    const bool was_declared = conditions_.failure(failure).declared_ps != k_never_ps;
    if (!conditions_.restore(failure, now_ps_))
        return;
    const link_state& l = links_[link];
    if (l.waiters > 0)
        ensure_wake(link, std::max(now_ps_, l.busy_until_ps));
    if (was_declared && listener_ != nullptr)
        listener_->link_up(link, now_ps_);
}

/// `p`, the head of a buffer without VOQ, wants a dead link: drop it, and whatever behind it wants a dead link too.
void fabric_engine::discard(std::uint32_t qi, packet& p)
{
    buffer_state& q = buffers_[qi];
    packet* head = &p;
    do {
        q.fifo.pop(pool_, *head);
        q.asked = false;
        drop(*head);
        if (q.fifo.empty())
            return;
        if (q.read_free_ps > now_ps_) { // the buffer still streams the packet before
            ensure_wake(q.out_link, q.read_free_ps);
            return;
        }
        head = &pool_.at(q.fifo.front());
    } while ((links_[head->out_link].special & k_dead) != 0);
    enter(qi, *head);
}

/// A packet that is out of its buffer, or never entered its FIFO, ends here. Its cells are free when its tail is in.
void fabric_engine::drop(packet& p)
{
    link_failure& f = conditions_.failure_of(p.out_link);
    f.lost_packets += p.packet_count;
    f.affected = true;
    dropped_ += p.packet_count;
    --inside_;
    record_loss(p.out_link, p);
    free_cells(p, std::max(now_ps_, p.tail_ps));
    packet_ptr(&p).reset();
}

// --- Rate ------------------------------------------------------------------------------------------------------------

void fabric_engine::degrade_link_at(std::uint32_t link, std::uint64_t at_ps, bandwidth rate)
{
    const link_state& l = links_.at(link);
    conditions_.plan_rate(link, at_ps, rate);
    if (l.to_router == k_none)
        return;
    // Outputs behind the slower link must not run dry. That costs a packet of an unchanged rate nothing.
    const router_state& r = routers_[l.to_router];
    for (std::uint32_t port = 0; port < r.ports; ++port)
        if (out_ports_.at(r.first_port + port).link != k_none && rate < cold_[out_links_[r.first_port + port]].rate)
            out_ports_[r.first_port + port].link |= out_port::k_slow_start;
}

/// Before a transmission on a link with k_new_rate.
void fabric_engine::take_new_rate(std::uint32_t link)
{
    if (conditions_.take_rate(link, now_ps_))
        out_ports_[routers_[links_[link].router].first_port + links_[link].from_port].rate = links_[link].rate;
}

bandwidth fabric_engine::link_rate(std::uint32_t link) const { return conditions_.rate_at(link, time_.now_ps()); }

std::uint64_t fabric_engine::backlog_ps(std::uint32_t link) const
{
    const link_state& l = links_.at(link);
    const std::uint64_t now_ps = time_.now_ps();
    std::uint64_t bytes = l.waiting_bytes;
    if (!voq_)
        arbiter_.each(l, [&](std::uint32_t bit) { bytes += pool_.at(head_at(l, bit)).wire_bytes; });
    return (l.busy_until_ps > now_ps ? l.busy_until_ps - now_ps : 0) + l.rate.time_ps(bytes);
}

} // namespace weft
