// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ub/ub_endpoint.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace {
constexpr std::uint8_t response_vl = static_cast<std::uint8_t>(ub_class::response) * k_ub_lanes_per_class;
} // namespace

ub_endpoint::ub_endpoint(timeline& time, packet_pool& pool, fabric_engine& engine, const ub_routing& routing,
                         ub_turns& turns, const ub_plan& plan, const ub_config& config, std::uint32_t number,
                         std::uint32_t router)
    : time_(time), pool_(pool), engine_(engine), routing_(routing), config_(config), format_(config.format()),
      local_rate_(config.local_port_rate), paths_(plan, routing, turns, config, router), number_(number),
      router_(router), actor_(time.register_actors(1)), backlog_(plan.routers.at(router).ports, 0),
      launched_until_ps_(backlog_.size(), 0)
{
    for (std::uint32_t port = 0; port < backlog_.size(); ++port) {
        const std::uint32_t link = engine.out_link(router, port);
        port_rates_.emplace_back(link == fabric_engine::k_none ? config.local_port_rate : engine.link_rate(link));
    }
    time.components().add(*this);
}

ub_endpoint::~ub_endpoint() = default;

void ub_endpoint::schedule(std::uint64_t at_ps, std::uint32_t a, event_kind kind)
{
    time_.schedule(at_ps, make_order(event_class::device, actor_, sequence_++), *this, a, kind);
}

// --- Sending ---------------------------------------------------------------------------------------------------------

/// Packets of one flow are those of one message stream; where packets are spread, tables spread them too.
std::uint32_t ub_endpoint::flow_of(const packet& p)
{
    const std::uint32_t stream = (p.source * 0x9e37'79b1u) ^ (p.destination * 0x85eb'ca77u) ^ p.semaphore;
    return config_.spreading == ub_spreading::packet ? stream + ++spread_ * 0xc2b2'ae3du : stream;
}

void ub_endpoint::from_chip(std::uint32_t die, packet_ptr p, std::uint64_t delay_ps)
{
    p->source = number_; // who sends is who the fabric says
    p->flow = flow_of(*p);
    ub_path_cache::path_set& set = paths_.set_for(p->destination, (p->flags & k_shortest_paths) != 0);
    dies_[die].taken += p->packet_count;
    set.taken[die] += p->packet_count;
    if (config_.transport == ub_transport::rtp) {
        send_channel& c = sender_to(p->destination);
        if (die != 0)
            p->flags |= k_from_second_die;
        if (c.dead)
            return refuse(die, std::move(p), delay_ps);
        if (c.window.full() || !c.waiting.empty()) {
            c.waiting.push(pool_, *p.release());
            ++held_;
            return;
        }
        return transmit(c, std::move(p), delay_ps);
    }
    if (set.paths.empty())
        return refuse(die, std::move(p), delay_ps);
    sent.add(p->packet_count);
    if (p->packet_count > 1)
        return launch_spread(die, std::move(p), set, delay_ps);
    port_looks looks;
    const std::uint32_t path = choose(set, request_for(set, *p), die, start_ps(die, delay_ps), looks);
    launch(die, std::move(p), set.paths[path], delay_ps);
}

/// A train whose packets take several ways: each path gets those that single packets would have sent by it, in one
/// train that is as long as they are apart.
void ub_endpoint::launch_spread(std::uint32_t die, packet_ptr p, ub_path_cache::path_set& set, std::uint64_t delay_ps)
{
    const std::uint64_t start_ps = this->start_ps(die, delay_ps);
    const std::uint32_t packets = p->packet_count;
    const std::uint64_t whole_ps = p->serialisation_ps;
    dies_[die].busy_until_ps = start_ps + whole_ps;
    const path_request request = request_for(set, *p);
    port_looks looks;
    // Packet i begins after whole_ps * i / packets, rounded down. This is counted on: a division costs more than a
    // choice.
    const std::uint64_t each_ps = whole_ps / packets;
    const std::uint64_t left_over = whole_ps % packets;
    std::uint64_t begins_ps = 0, fraction = 0;
    shares_.clear();
    std::size_t turn = 0; // paths mostly come in the same order again
    const std::uint32_t round = config_.voq && request.is_request ? paths_.round_of(set, request.message_ps) : 0;
    for (std::uint32_t i = 0; i < packets; ++i) {
        if (round != 0 && i == round && packets >= 3 * round) {
            i += pass_rounds(set, packets / round - 2, request.wire_bytes);
            begins_ps = whole_ps * i / packets;
            fraction = whole_ps * i % packets;
        }
        const std::uint64_t now_ps = begins_ps;
        begins_ps += each_ps;
        if (fraction += left_over; fraction >= packets)
            fraction -= packets, ++begins_ps;
        const std::uint32_t path = choose(set, request, die, start_ps + now_ps, looks);
        const std::uint32_t port = set.paths[path].port;
        if (port == ub_path_cache::k_any_port) { // tables choose, packet by packet
            shares_.push_back({path, 1, now_ps, begins_ps});
            continue;
        }
        expect_in_queue(port, request.wire_bytes, request.cells, start_ps + now_ps);
        turn = turn + 1 < shares_.size() ? turn + 1 : 0;
        if (turn >= shares_.size() || shares_[turn].path != path)
            turn = static_cast<std::size_t>(
                std::find_if(shares_.begin(), shares_.end(), [=](const share& s) { return s.path == path; }) -
                shares_.begin());
        if (turn == shares_.size())
            shares_.push_back({path, 0, now_ps, 0});
        ++shares_[turn].packets;
        shares_[turn].end_ps = begins_ps;
    }
    if (shares_.size() == 1) {
        const ub_path_cache::choice& path = set.paths[shares_.front().path];
        return enter_router(die, std::move(p), path, start_ps);
    }
    std::uint32_t first = 0;
    for (const share& s : shares_) {
        packet_ptr part = pool_.part_of(*p, first, s.packets);
        first += s.packets;
        part->serialisation_ps = static_cast<std::uint32_t>(s.end_ps - s.first_ps);
        const ub_path_cache::choice& path = set.paths[s.path];
        if (path.port == ub_path_cache::k_any_port) {
            part->flow = flow_of(*part);
            expect_in_queue(port_of(path, *part), request.wire_bytes, request.cells, start_ps + s.first_ps);
        }
        enter_router(die, std::move(part), path, start_ps + s.first_ps);
    }
}

/// Adds rounds between the first one, which `shares_` has, and the last one; all are alike. A port that is through with
/// a packet before the next one comes is where the last round leaves it. Any other one is later by what it gets.
/// Returns how many packets they are.
std::uint32_t ub_endpoint::pass_rounds(const ub_path_cache::path_set& set, std::uint32_t rounds, std::uint32_t wire_bytes)
{
    std::uint32_t passed = 0;
    for (share& s : shares_) {
        const std::uint32_t more = s.packets * rounds;
        const std::uint32_t port = set.paths[s.path].port;
        launched_until_ps_[port] += more * port_rates_[port].time_ps(wire_bytes);
        s.packets += more;
        passed += more;
    }
    return passed;
}

std::uint32_t ub_endpoint::port_of(const ub_path_cache::choice& path, const packet& p) const
{
    return path.port != ub_path_cache::k_any_port
               ? path.port
               : routing_.table_port(router_, routing_.router_of(p.destination), p.flow);
}

void ub_endpoint::launch(std::uint32_t die, packet_ptr p, const ub_path_cache::choice& path, std::uint64_t delay_ps)
{
    const std::uint64_t start_ps = this->start_ps(die, delay_ps);
    dies_[die].busy_until_ps = start_ps + p->serialisation_ps;
    expect_in_queue(port_of(path, *p), p->wire_bytes, p->cells, start_ps);
    enter_router(die, std::move(p), path, start_ps);
}

void ub_endpoint::enter_router(std::uint32_t die, packet_ptr p, const ub_path_cache::choice& path,
                               std::uint64_t start_ps)
{
    const std::uint32_t port = config_.voq ? 0 : port_of(path, *p);
    p->route = path.route;
    p->vl = static_cast<std::uint8_t>((p->vl & ~1u) | path.lane);
    const std::uint32_t cells = p->cells, vl = p->vl;
    const bool to_host = p->destination >= first_host_;
    const std::uint32_t link =
        engine_.inject(dies_[die].first_transmit + port, std::move(p), start_ps - time_.now_ps());
    if (!is_request(vl))
        return;
    dies_[die].queues.enter(engine_.sending_port(link), vl, cells, to_host);
}

void ub_endpoint::set_first_host(std::uint32_t endpoint)
{
    first_host_ = endpoint;
    for (std::uint32_t die = 0; die < die_count_; ++die)
        dies_[die].queues.tell_hosts_apart();
}

bool ub_endpoint::has_room(std::uint32_t die, std::uint32_t destination, bool shortest_paths)
{
    const ub_transmit_queues& queues = dies_[die].queues;
    const bool to_host = destination >= first_host_;
    if (!to_host && !queues.any_full())
        return true;
    ub_path_cache::path_set& set = paths_.set_for(destination, shortest_paths);
    if (!to_host && !set.other_ports && (set.ports & queues.full_of_first_64()) == 0 && !set.paths.empty()) {
        set.passed_over_since[die] = ub_path_cache::path_set::k_not;
        return true;
    }
    const auto room = [&](bool beyond) {
        return [&, beyond](const ub_path_cache::choice& path) {
            return path.port == ub_path_cache::k_any_port || queues.has_room(path.port, to_host, beyond);
        };
    };
    if (config_.choice == ub_choice::adaptive && !set.paths.empty())
        return std::any_of(set.paths.begin(), set.paths.end(), room(false));
    if (std::all_of(set.paths.begin(), set.paths.end(), room(false))) {
        set.passed_over_since[die] = ub_path_cache::path_set::k_not;
        return true;
    }
    if (to_host || set.paths.size() < 2 || !has_turn(die, set) || !std::all_of(set.paths.begin(), set.paths.end(), room(true)))
        return false;
    set.passed_over_since[die] = ub_path_cache::path_set::k_not;
    return true;
}

// Streams that each go by one port take whatever room there is in it: all ports have room at once too seldom. So who
// needs them all has a turn when as many packets of others have come as ports are full.
bool ub_endpoint::has_turn(std::uint32_t die, ub_path_cache::path_set& set) const
{
    std::uint64_t& since = set.passed_over_since[die];
    const std::uint64_t of_others = dies_[die].taken - set.taken[die];
    if (since == ub_path_cache::path_set::k_not)
        since = of_others;
    return of_others - since >= dies_[die].queues.full_ports();
}

void ub_endpoint::left_transmit_queue(std::uint32_t die, std::uint32_t way_in, std::uint32_t out_link, std::uint32_t vl,
                                      std::uint32_t cells, std::uint64_t delay_ps)
{
    if (is_request(vl))
        dies_[die].queues.leave(engine_.sending_port(out_link), vl, cells);
    if (!config_.voq)
        backlog_[way_in] -= cells;
    if (config_.transport == ub_transport::ctp)
        dies_[die].chip->credit_to_chip(vl & ~1u, cells, delay_ps);
}

/// No way to the destination: the packet ends here, and its slot is free at once.
void ub_endpoint::refuse(std::uint32_t die, packet_ptr p, std::uint64_t delay_ps)
{
    not_sent.add(p->packet_count);
    dies_[die].chip->credit_to_chip(p->vl & ~1u, p->cells, delay_ps + p->serialisation_ps);
    note_unreachable(p->destination);
}

void ub_endpoint::note_unreachable(std::uint32_t destination)
{
    if (std::find(unreachable_.begin(), unreachable_.end(), destination) != unreachable_.end())
        return;
    unreachable_.push_back(destination);
    if (listener_ != nullptr)
        listener_->unreachable(number_, destination);
}

// --- Receiving -------------------------------------------------------------------------------------------------------

void ub_endpoint::from_fabric(std::uint32_t die, packet_ptr p, std::uint64_t delay_ps)
{
    const std::uint64_t tail_delay_ps = delay_ps + p->serialisation_ps;
    p->destination_port = static_cast<std::uint8_t>(die);
    if (config_.transport == ub_transport::ctp) {
        delivered.add(p->packet_count);
        return dies_[die].chip->deliver_to_chip(std::move(p), delay_ps);
    }
    const auto keep_out = [&] { engine_.edge_credit(dies_[die].to_chip, p->vl, p->cells, tail_delay_ps); };
    if ((p->flags & k_corrupted) != 0) { // its end-to-end CRC is wrong
        corrupted_dropped.add(p->packet_count);
        return keep_out();
    }
    const std::uint64_t tail_ps = time_.now_ps() + tail_delay_ps;
    if ((p->flags & k_acknowledgement) != 0) {
        keep_out();
        return schedule(tail_ps, p.release()->index, k_ack_arrived);
    }
    receive_channel& c = receiver_from(p->source);
    const std::uint32_t index = receiver_index_.find(p->source);
    const bool fresh = c.window.accept(p->packet_number);
    c.die = static_cast<std::uint8_t>(die);
    const bool last_try = (p->flags & k_last_try) != 0;
    c.everywhere = c.everywhere || last_try;
    account_arrival(c, index, p->packet_number, !fresh || last_try, tail_ps);
    if (!fresh) {
        duplicates_dropped.add(p->packet_count);
        return keep_out();
    }
    delivered.add(p->packet_count);
    dies_[die].chip->deliver_to_chip(std::move(p), delay_ps);
}

/// Acknowledgements are due when enough have come, when too many groups are open, at a duplicate or a last try (the
/// sender has missed an acknowledgement), or after a while.
void ub_endpoint::account_arrival(receive_channel& c, std::uint32_t index, std::uint32_t psn, bool at_once,
                                  std::uint64_t tail_ps)
{
    const std::size_t due_before = c.due.size();
    const bool waits = c.unacknowledged.add(psn, at_once ? 1 : config_.rtp_packets_per_ack, c.due);
    if (c.due.size() > due_before)
        schedule(tail_ps, index, k_ack_due);
    if (waits && !c.timer) {
        c.timer = true;
        schedule(tail_ps + config_.rtp_ack_delay.value(), index, k_ack_timer);
    }
}

void ub_endpoint::send_ack(receive_channel& c, std::uint32_t group, bool everywhere)
{
    ub_path_cache::path_set& set = everywhere ? paths_.widen(c.peer) : paths_.set_for(c.peer);
    if (set.paths.empty())
        return;      // the sender will find that out
    if (!everywhere) // spread: on one fixed path all of them could be lost
        return launch_ack(c, group, set.paths[paths_.choose_other(set, k_none)]);
    for (const ub_path_cache::choice& path : set.paths)
        launch_ack(c, group, path);
}

void ub_endpoint::launch_ack(receive_channel& c, std::uint32_t group, const ub_path_cache::choice& path)
{
    const rtp_ack a = c.window.ack_for(group);
    packet_ptr p = pool_.make();
    p->source = number_;
    p->destination = c.peer;
    p->vl = response_vl;
    put_ack(*p, a);
    p->wire_bytes = static_cast<std::uint32_t>(format_.wire_bytes(k_rtp_ack_payload_bytes));
    p->cells = static_cast<std::uint32_t>(format_.cells(k_rtp_ack_payload_bytes));
    p->serialisation_ps = static_cast<std::uint32_t>(local_rate_.time_ps(p->wire_bytes));
    p->born_ps = time_.now_ps();
    p->flow = flow_of(*p);
    ++acknowledgements;
    launch(c.die, std::move(p), path, 0);
}

// --- Mode rtp, sender ------------------------------------------------------------------------------------------------

ub_endpoint::send_channel& ub_endpoint::sender_to(std::uint32_t destination)
{
    const std::uint32_t i = sender_index_.insert(destination);
    if (i == senders_.size())
        senders_.push_back(std::make_unique<send_channel>(
            rtp_sender(config_.rtp_window, config_.rtp_timeout.value(), config_.rtp_tries, round_trip_), destination));
    return *senders_[i];
}

ub_endpoint::receive_channel& ub_endpoint::receiver_from(std::uint32_t source)
{
    const std::uint32_t i = receiver_index_.insert(source);
    if (i == receivers_.size())
        receivers_.push_back(std::make_unique<receive_channel>(rtp_receiver(config_.rtp_window), source));
    return *receivers_[i];
}

/// First transmission. The packet stays here, a copy goes.
void ub_endpoint::transmit(send_channel& c, packet_ptr original, std::uint64_t delay_ps)
{
    ub_path_cache::path_set& set = paths_.set_for(c.peer, (original->flags & k_shortest_paths) != 0);
    if (set.paths.empty()) {
        const std::uint32_t die = die_of_origin(*original);
        return refuse(die, std::move(original), delay_ps);
    }
    const std::uint32_t die = die_of_origin(*original);
    port_looks looks;
    const std::uint32_t path = choose(set, request_for(set, *original), die, start_ps(die, delay_ps), looks);
    packet& p = *original.release();
    ++held_;
    sent.add(p.packet_count);
    p.packet_number = c.window.push(p.index, static_cast<std::uint16_t>(path), time_.now_ps());
    send_copy(p, set.paths[path], delay_ps);
    if (c.timer_at_ps == k_never_ps)
        arm(c, sender_index_.find(c.peer));
}

void ub_endpoint::send_copy(const packet& original, const ub_path_cache::choice& path, std::uint64_t delay_ps,
                            std::uint8_t more_flags)
{
    packet_ptr p = pool_.copy_of(original);
    p->flags |= more_flags;
    launch(die_of_origin(original), std::move(p), path, delay_ps);
}

void ub_endpoint::arm(send_channel& c, std::uint32_t index)
{
    c.timer_at_ps = std::max(c.window.next_deadline_ps(), time_.now_ps());
    if (c.timer_at_ps != k_never_ps)
        schedule(c.timer_at_ps, index, k_timeout);
}

void ub_endpoint::timeout(std::uint32_t index)
{
    send_channel& c = *senders_[index];
    if (c.timer_at_ps != time_.now_ps())
        return;
    if (const std::uint32_t epoch = paths_.set_for(c.peer).epoch; epoch != c.path_epoch) {
        if (c.path_epoch != 0)
            c.window.paths_changed(time_.now_ps());
        c.path_epoch = epoch;
    }
    const bool alive = c.window.expire(time_.now_ps(), patience_ps_, [&](std::uint32_t, rtp_sender::slot& s) {
        ub_path_cache::path_set& set = s.everywhere ? paths_.widen(c.peer) : paths_.set_for(c.peer);
        if (set.paths.empty())
            return; // tried again later: a link may come back
        const packet& original = pool_.at(s.packet);
        if (s.everywhere) {
            resent.add(original.packet_count * set.paths.size());
            for (const ub_path_cache::choice& path : set.paths)
                send_copy(original, path, 0, k_last_try);
            return;
        }
        s.path = static_cast<std::uint16_t>(paths_.choose_other(set, s.path));
        resent.add(original.packet_count);
        send_copy(original, set.paths[s.path], 0);
    });
    if (!alive)
        give_up(c);
    arm(c, index);
}

/// The chip's slot is free again.
void ub_endpoint::release(std::uint32_t packet_index)
{
    packet_ptr p(&pool_.at(packet_index));
    --held_;
    dies_[die_of_origin(*p)].chip->credit_to_chip(p->vl & ~1u, p->cells, 0);
}

void ub_endpoint::give_up(send_channel& c)
{
    c.dead = true;
    c.window.give_up([&](const rtp_sender::slot& s) {
        given_up.add(pool_.at(s.packet).packet_count);
        release(s.packet);
    });
    while (!c.waiting.empty()) {
        const packet& p = pool_.at(c.waiting.front());
        c.waiting.pop(pool_, p);
        not_sent.add(p.packet_count);
        release(p.index);
    }
    note_unreachable(c.peer);
}

void ub_endpoint::ack_arrived(packet_ptr p)
{
    const std::uint32_t index = sender_index_.find(p->source);
    if (index == k_none)
        return;
    send_channel& c = *senders_[index];
    const bool sooner =
        c.window.acknowledge(ack_in(*p), time_.now_ps(), held_, [&](const rtp_sender::slot& s) { release(s.packet); });
    if (sooner)
        arm(c, index);
    send_waiting(c);
}

void ub_endpoint::send_waiting(send_channel& c)
{
    while (!c.waiting.empty() && !c.window.full()) {
        packet& p = pool_.at(c.waiting.front());
        c.waiting.pop(pool_, p);
        --held_;
        transmit(c, packet_ptr(&p), 0);
    }
}

void ub_endpoint::on_event(std::uint32_t a, std::uint8_t kind)
{
    switch (kind) {
    case k_timeout: timeout(a); break;
    case k_ack_arrived: ack_arrived(packet_ptr(&pool_.at(a))); break;
    case k_ack_timer: {
        receive_channel& c = *receivers_[a];
        c.timer = false;
        c.unacknowledged.take_all([&](std::uint32_t psn) { send_ack(c, psn); });
        break;
    }
    default: {
        receive_channel& c = *receivers_[a];
        for (const std::uint32_t group : c.due)
            send_ack(c, group, c.everywhere);
        c.due.clear();
        c.everywhere = false;
        break;
    }
    }
}

// --- Control ---------------------------------------------------------------------------------------------------------

void ub_endpoint::rename(std::uint32_t number)
{
    number_ = number;
    unreachable_.clear();
}

void ub_endpoint::reset_channel(std::uint32_t peer)
{
    unreachable_.erase(std::remove(unreachable_.begin(), unreachable_.end(), peer), unreachable_.end());
    const std::uint32_t index = sender_index_.find(peer);
    if (index == k_none)
        return;
    ub_unreachable_if* listener = nullptr;
    std::swap(listener, listener_); // this is no discovery
    give_up(*senders_[index]);
    std::swap(listener, listener_);
    unreachable_.erase(std::remove(unreachable_.begin(), unreachable_.end(), peer), unreachable_.end());
    senders_[index]->dead = false;
    senders_[index]->timer_at_ps = k_never_ps;
}

std::uint32_t ub_endpoint::next_number(std::uint32_t peer) const
{
    const std::uint32_t index = sender_index_.find(peer);
    return index == k_none ? 0 : senders_[index]->window.next();
}

void ub_endpoint::expect_number(std::uint32_t peer, std::uint32_t psn)
{
    receive_channel& c = receiver_from(peer);
    c.window.restart(psn);
    c.unacknowledged = {};
    c.due.clear();
}

/// Timeouts may still come: those of channels that have nothing under way do nothing.
bool ub_endpoint::settled(std::uint64_t now_ps)
{
    return std::all_of(dies_.begin(), dies_.end(), [=](const die_links& d) { return d.busy_until_ps <= now_ps; }) &&
           std::none_of(receivers_.begin(), receivers_.end(),
                        [](const auto& c) { return c->timer || !c->due.empty(); });
}

void ub_endpoint::reset(std::uint32_t)
{
    paths_.reset();
    spread_ = 0;
    round_trip_ = {};
    std::fill(launched_until_ps_.begin(), launched_until_ps_.end(), 0);
    for (const auto& c : senders_) {
        c->window = rtp_sender(config_.rtp_window, config_.rtp_timeout.value(), config_.rtp_tries, round_trip_);
        c->timer_at_ps = k_never_ps;
    }
    for (const auto& c : receivers_) {
        c->window.restart(0);
        c->unacknowledged = {};
    }
}

std::string ub_endpoint::blocked_on() const
{
    std::string text;
    for (const auto& c : senders_) {
        if (c->window.empty())
            continue;
        text += fmt::format("{}packets {} to {} for endpoint {} are not acknowledged", text.empty() ? "" : "; ",
                            c->window.base(), c->window.next() - 1, c->peer);
    }
    for (const std::uint32_t d : unreachable_)
        text += fmt::format("{}endpoint {} is unreachable", text.empty() ? "" : "; ", d);
    return text;
}

std::uint64_t ub_endpoint::state_bytes() const
{
    return sizeof *this + senders_.size() * (sizeof(send_channel) + config_.rtp_window * sizeof(rtp_sender::slot)) +
           receivers_.size() * (sizeof(receive_channel) + config_.rtp_window / 8);
}

} // namespace weft
