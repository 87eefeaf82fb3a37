// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/fabric/fabric_hints.h"

#include <algorithm>

namespace weft {

namespace {
/// A packet that enters goes before a relayed one when it is older by as many transmissions of that one. An NPU of UB
/// whose two transmit queues of 64 packets drain at a quarter of a link's rate or faster is never older by that much,
/// so relays keep their precedence where nobody starves; one that gets less is served.
constexpr std::uint64_t k_patience_packets = 4 * 2 * 64;
} // namespace

// --- Run -------------------------------------------------------------------------------------------------------------

std::uint32_t fabric_engine::inject(std::uint32_t link, packet_ptr p, std::uint64_t delay_ps)
{
    ++inside_;
    link_state& l = links_[link];
    packet& q = *p.release();
    q.link = link;
    q.fabric = actor_base_;
    l.wire_bytes += q.wire_bytes;
    l.packets += q.packet_count;
    l.busy_sum_ps += q.packet_count == 1 ? q.serialisation_ps : l.rate.time_ps(q.wire_bytes);
    fly(q, time_.now_ps() + delay_ps + l.latency_ps);
    return q.out_link;
}

void fabric_engine::edge_credit(std::uint32_t link, std::uint32_t vl, std::uint32_t cells, std::uint64_t delay_ps)
{
    now_ps_ = time_.now_ps();
    return_credit(link, vl, cells, now_ps_ + delay_ps);
}

void fabric_engine::on_event(std::uint32_t a, std::uint8_t kind)
{
    now_ps_ = time_.now_ps();
    switch (kind) {
    case k_arrival: voq_ ? arrival_voq(pool_.at(a)) : arrival(pool_.at(a)); break;
    case k_wake: wake(a); break;
    case k_declare: declare(a); break;
    default: restore(a); break;
    }
}

/// The waiter of the link that goes next: a relay, unless an entry is older by the patience; and neither for ever.
template <class MayGo> std::uint32_t fabric_engine::choose_waiter(std::uint32_t link, MayGo&& may_go)
{
    link_state& l = links_[link];
    const auto [relay, entry] = arbiter_.choose(l, link, [&](std::uint32_t bit) { return share_of(l, bit); }, may_go);
    if (!l.has_entries)
        return relay;
    bool entry_goes = entry != k_no_grant;
    const bool contested = entry_goes && relay != k_no_grant;
    if (contested) {
        const packet& relayed = pool_.at(head_at(l, relay));
        const std::uint64_t patience_ps = k_patience_packets * l.rate.time_ps(relayed.wire_bytes / relayed.packet_count);
        entry_goes = output_arbiter::entry_goes(l, pool_.at(head_at(l, entry)).born_ps + patience_ps < relayed.born_ps);
    } else if (relay != k_no_grant) {
        entry_goes = false;
    }
    if (relay != k_no_grant || entry != k_no_grant)
        output_arbiter::count_run(l, entry_goes, contested);
    return entry_goes ? entry : relay;
}

/// `p` starts on its output: packets of trains are turns.
void fabric_engine::count_turn(std::uint32_t link, const packet& p)
{
    const link_state& out = links_[link];
    const std::uint32_t bit = queues_[queue_of(p.link, p.vl)].waiter_bit;
    const std::size_t share = voq_ ? p.fifo : share_of(out, bit);
    arbiter_.count_turn(out, link, bit, share, p.packet_count, out.waiters == 0 && out.busy_until_ps < now_ps_);
}

void fabric_engine::fly(packet& p, std::uint64_t head_ps)
{
    // Look-ahead routing: the next output is chosen now, so that a packet which must not start before its tail is near
    // (a fast output, store-and-forward) needs one event and not two. Its order in the buffer is the same: whoever
    // follows it on this wire has its head behind this tail.
    link_state& l = links_[p.link];
    p.tail_ps = head_ps + p.serialisation_ps;
    const route_decision d = policy_.route(l.to_router, l.to_port, p);
    const out_port& out = out_ports_[l.to_first_port + d.out_port];
    p.out_link = out.link & out_port::k_link_bits;
    p.out_vl = d.vl;
    p.fifo = l.to_first_voq + ((std::uint32_t{d.out_port} << vl_shift_) + p.vl) * l.to_ports + l.to_port;
    if (out.link == k_none)
        throw bug(routers_[l.to_router].name, now_ps_,
                  "routing chose port " + port_name(l.to_router, d.out_port) + ", where nothing is wired");
    if (l.zone != 0 && ((out.link & out_port::k_second_zone) != 0) != (l.zone == 2)) {
        head_ps += config_.zone_crossing.value();
        p.tail_ps += config_.zone_crossing.value();
    }
    if (d.looked_up) {
        ++table_hops_;
        head_ps += config_.table_lookup.value();
        p.tail_ps += config_.table_lookup.value();
    }
    std::uint64_t at_ps = head_ps;
    if ((out.link & out_port::k_slow_start) != 0 || p.packet_count > 1) {
        const std::uint64_t serialisation =
            config_.cut_through ? out.rate.time_ps(p.wire_bytes) : 0;
        at_ps = std::max(head_ps, p.tail_ps - std::min(p.tail_ps, serialisation));
    }
    if (!last_head_ps_.empty()) { // one FIFO for all: not before a head that has crossed over, or was looked up
        std::uint64_t& last_ps = last_head_ps_[queue_of(p.link, p.vl)];
        at_ps = last_ps = std::max(at_ps, last_ps);
    }
    time_.schedule(at_ps, make_order(event_class::arrival, actor_base_ + p.link, l.sequence++), *this, p.index,
                   k_arrival);
}

void fabric_engine::arrival(packet& p)
{
    const std::uint32_t qi = queue_of(p.link, p.vl);
    buffer_state& q = buffers_[qi];
    const bool is_head = q.fifo.empty();
    q.fifo.push(pool_, p);
    if (!is_head)
        return;
    q.asked = false;
    if (q.read_free_ps > now_ps_)
        ensure_wake(q.out_link, q.read_free_ps); // the buffer still streams the packet before
    else
        enter(qi, p);
}

/// The head of waiter `bit` asks for an output that cannot take it at once.
inline void fabric_engine::join_arbitration(const packet& p, std::uint32_t bit)
{
    const std::uint32_t link = p.out_link;
    link_state& out = links_[link];
    arbiter_.join(out, bit);
    if (out.waiters == 1) {
        out.expected = p.index;
        out.expected_bit = static_cast<std::uint16_t>(bit);
    }
    if (out.busy_until_ps > now_ps_) {
        if (p.source != out.sending)
            waits_.contend(link, now_ps_, out.busy_until_ps);
        ensure_wake(link, out.busy_until_ps);
    } else if (out.wake_at_ps != now_ps_) {
        arbitrate(link);
    }
}

void fabric_engine::arrival_voq(packet& p)
{
    link_state& out = links_[p.out_link];
    if (out.busy_until_ps <= now_ps_ && out.waiters == 0 && out.wake_at_ps != now_ps_ && !down(p.out_link) &&
        may_start(out, p)) {
        transmit(k_none, p);
        return;
    }
    if ((out.special & k_dead) != 0) {
        drop(p);
        return;
    }
    vl_buffer& fifo = voqs_[p.fifo];
    const bool is_head = fifo.empty();
    fifo.push(pool_, p);
    out.waiting_bytes += p.wire_bytes;
    if (is_head)
        join_arbitration(p, queues_[queue_of(p.link, p.vl)].waiter_bit);
}

/// Credits behind the output, and room in the sender's retry buffer where that is bounded.
inline bool fabric_engine::may_start(const link_state& out, const packet& p)
{
    return queues_[queue_of(p.out_link, p.out_vl)].credits.has(credits_under_way_, now_ps_, p.cells) &&
           ((out.special & k_retry_buffer) == 0 || layers_[cold_[p.out_link].layer].has_room(now_ps_, p.cells));
}

void fabric_engine::enter(std::uint32_t qi, packet& p)
{
    buffers_[qi].asked = true;
    link_state& out = links_[p.out_link];
    if (out.busy_until_ps <= now_ps_ && out.waiters == 0 && out.wake_at_ps != now_ps_ && !down(p.out_link) &&
        may_start(out, p)) {
        transmit(qi, p);
        return;
    }
    if ((out.special & k_dead) != 0) {
        discard(qi, p);
        return;
    }
    join_arbitration(p, queues_[qi].waiter_bit);
}

void fabric_engine::wake(std::uint32_t link)
{
    link_state& l = links_[link];
    if (l.wake_at_ps != now_ps_)
        return; // an earlier wake has done this one's work and asked for what was still needed
    // While this is handled the mark stays: a head that asks for this output joins the arbitration instead of
    // overtaking it.
    std::uint64_t head_at_ps = k_never_ps; // when the next head of the buffer that was last read can ask
    if (l.feeding != k_none) {
        const std::uint32_t feeding = l.feeding;
        buffer_state& q = buffers_[feeding];
        if (!q.fifo.empty() && !q.asked) {
            if (q.read_free_ps <= now_ps_)
                enter(feeding, pool_.at(q.fifo.front()));
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
    std::uint64_t wanted_at = k_never_ps;
    link_layer* const retry = (l.special & k_retry_buffer) != 0 ? &layers_[cold_[link].layer] : nullptr;
    // A train that has its turn waits for more credits of these; who needs fewer must not take them.
    std::uint64_t saved_vls = 0;
    const std::uint32_t saved_for = arbiter_.saved_for(l);
    if (saved_for != k_no_grant)
        saved_vls = std::uint64_t{1} << pool_.at(head_at(l, saved_for)).out_vl;
    constexpr std::uint32_t k_told_vls = 8;
    std::uint32_t refused[k_told_vls]; // waiters that lack credits, by VL modulo this
    std::uint32_t any_refused = 0;     // a bit for each
    const auto may_go = [&](std::uint32_t bit, bool first) {
        const packet& p = pool_.at(head_at(l, bit));
        queue_state& slot = queues_[queue_of(link, p.out_vl)];
        if ((saved_vls >> p.out_vl & 1) != 0 && bit != saved_for)
            return false;
        const bool has_credit = slot.credits.has(credits_under_way_, now_ps_, p.cells);
        if (!has_credit && first && slot.credits.has(credits_under_way_, now_ps_, p.cells / p.packet_count))
            saved_vls |= std::uint64_t{1} << p.out_vl;
        const bool has_room = retry == nullptr || retry->has_room(now_ps_, p.cells);
        if (has_credit && has_room)
            return true;
        if (const std::uint32_t place = p.out_vl % k_told_vls; !has_credit && (any_refused >> place & 1) == 0) {
            any_refused |= 1u << place;
            refused[place] = bit;
        }
        std::uint64_t at = has_credit ? now_ps_ : slot.credits.when(credits_under_way_, p.cells);
        slot.awaited = slot.awaited || at == k_never_ps;
        if (!has_room)
            at = std::max(at, retry->room_at_ps(p.cells));
        wanted_at = std::min(wanted_at, at);
        return false;
    };
    const std::uint32_t urgent = urgent_bits_ == 0 ? k_no_grant : arbiter_.first_of(l, urgent_bits_, may_go);
    const std::uint32_t granted = urgent != k_no_grant ? urgent : choose_waiter(link, may_go);
    if (granted != k_no_grant) {
        if (l.busy_until_ps < now_ps_)
            waits_.end_starving(link, l.busy_until_ps, now_ps_);
        packet& p = pool_.at(head_at(l, granted));
        if (urgent == k_no_grant) // the turns of the others are as if it had not been there
            arbiter_.served(l, granted);
        if (urgent == k_no_grant && (l.short_of_credits != 0 || any_refused != 0)) {
            const auto same_vl = [&](std::uint32_t bit) { return pool_.at(head_at(l, bit)).out_vl == p.out_vl; };
            const std::uint32_t place = p.out_vl % k_told_vls;
            const std::uint32_t passed = (any_refused >> place & 1) != 0 && same_vl(refused[place]) ? refused[place] : k_no_grant;
            arbiter_.count_passes(l, granted, passed, same_vl);
        }
        std::uint32_t qi = k_none;
        bool more = false; // another head of this input for this output
        if (voq_) {
            vl_buffer& fifo = voqs_[p.fifo];
            fifo.pop(pool_, p);
            l.waiting_bytes -= p.wire_bytes;
            more = !fifo.empty();
        } else {
            qi = queue_of_bit(l.router, granted);
        }
        if (!more)
            arbiter_.leave(l, granted);
        if (voq_ && l.waiters > 0 && time_.announces())
            expect_next(link);
        transmit(qi, p);
        return;
    }
    if (any_refused != 0) {
        const std::uint32_t bit = refused[static_cast<std::uint32_t>(__builtin_ctz(any_refused))];
        waits_.begin_starving(link, pool_.at(head_at(l, bit)).out_vl, l.busy_until_ps, now_ps_);
    }
    if (wanted_at != k_never_ps)
        ensure_wake(link, wanted_at);
}

void fabric_engine::transmit(std::uint32_t qi, packet& p)
{
    const std::uint32_t out_id = p.out_link;
    link_state& out = links_[out_id];
    if ((out.special & k_new_rate) != 0)
        take_new_rate(out_id);
    const std::uint64_t serialisation = out.rate.time_ps(p.wire_bytes);
    const std::uint64_t end = now_ps_ + serialisation;

    if (arbiter_.counts_turns() || p.packet_count > 1)
        count_turn(out_id, p);

    // Leave the buffer: the read port streams until `end`, then the cells are free.
    bool more = false;
    std::uint64_t read_free_ps = 0;
    if (!voq_) {
        buffer_state& q = buffers_[qi];
        q.fifo.pop(pool_, p);
        q.asked = false;
        // The buffer is read as fast as it was filled: a local port of twice the rate of a link feeds two links at
        // once.
        read_free_ps = q.read_free_ps = now_ps_ + std::min<std::uint64_t>(p.serialisation_ps, serialisation);
        q.out_link = out_id;
        more = !q.fifo.empty();
    }
    free_cells(p, first_free_ps(p, serialisation));

    // Occupy the output.
    out.busy_until_ps = end;
    if (control_.on()) {
        if (const std::uint64_t control = control_.follow(out_id, now_ps_, end, p.wire_bytes, p.packet_count); control != 0)
            out.busy_until_ps += out.rate.time_ps(control);
        control_.set_busy(out_id, out.busy_until_ps);
    }
    out.feeding = qi;
    out.sending = p.source;
    out.busy_sum_ps += serialisation;
    out.wire_bytes += p.wire_bytes;
    out.packets += p.packet_count;
    queues_[queue_of(out_id, p.out_vl)].credits.take(p.cells);
    if (more)
        ensure_wake(out_id, read_free_ps);
    if (out.waiters > 0) {
        if (others_wait(out))
            waits_.contend(out_id, now_ps_, out.busy_until_ps);
        ensure_wake(out_id, out.busy_until_ps);
    }

    // Fly.
    std::uint64_t head = now_ps_ + out.latency_ps;
    if (out.special == 0)
        put_on_wire(p, serialisation);
    else if (!cross_special(out_id, p, serialisation, head))
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

/// When the sender behind may count the cells of `p`, which starts now and takes `serialisation_ps`, less the way back.
/// A packet gives its cells back when it has left. Of a train the first packet does so first; the sender's own train
/// needs them one by one.
std::uint64_t fabric_engine::first_free_ps(const packet& p, std::uint64_t serialisation_ps) const
{
    const std::uint64_t end_ps = now_ps_ + serialisation_ps;
    if (p.packet_count == 1)
        return end_ps;
    const std::uint64_t filled_in_ps = links_[p.link].rate.time_ps(p.wire_bytes);
    const std::uint64_t drained_in_ps = serialisation_ps;
    const std::uint64_t slower_by_ps = drained_in_ps > filled_in_ps ? drained_in_ps - filled_in_ps : 0;
    return now_ps_ + (std::min(filled_in_ps, drained_in_ps) + p.packet_count - 1) / p.packet_count + slower_by_ps;
}

/// The cells of `p` in the buffer that it is in, or leaves, are free at `at_ps`.
void fabric_engine::free_cells(const packet& p, std::uint64_t at_ps)
{
    const queue_state& in = queues_[queue_of(p.link, p.vl)];
    if (in.from_edge)
        links_[p.link].edge->return_credit(p.vl, p.cells, p.out_link, at_ps - now_ps_ + in.return_ps);
    else
        return_credit(p.link, p.vl, p.cells, at_ps + in.return_ps);
    if (control_.on())
        control_.owe(p.link, now_ps_, p.cells, p.wire_bytes, p.packet_count);
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

/// Whether a head waits that is of another rank than the packet on its way.
bool fabric_engine::others_wait(const link_state& out) const
{
    return arbiter_.any(out, [&](std::uint32_t bit) { return fifo_at(out, bit).front_source() != out.sending; });
}

} // namespace weft
