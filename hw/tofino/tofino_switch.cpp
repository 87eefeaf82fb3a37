// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The way of a packet from its arrival to the traffic manager.
#include "hw/tofino/tofino_switch.h"

#include "hw/ethernet/ethernet_format.h"
#include "hw/tofino/aggregation_model.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace weft {

namespace sml = abi::switchml;

namespace {

constexpr std::uint32_t k_consume_words = k_words_per_pass;
constexpr std::uint32_t k_harvest_words = k_aggregation_alus;

std::uint32_t number(pass_type t)
{
    return static_cast<std::uint32_t>(t) -
           static_cast<std::uint32_t>(is_consume(t) ? pass_type::consume0 : pass_type::harvest0);
}

/// 32 words between network order in a frame and numbers.
void read_words(const std::uint8_t* from, std::array<std::uint32_t, k_aggregation_alus>& to)
{
    sml::swap_words(to.data(), from, sizeof to);
}
void write_words(const std::array<std::uint32_t, k_aggregation_alus>& from, std::uint8_t* to)
{
    sml::swap_words(to, from.data(), sizeof from);
}

} // namespace

tofino_switch::front_port::front_port(tofino_switch& owner, std::uint32_t number)
    : in(fmt::format("from_network{}", number).c_str(), owner, number),
      out(fmt::format("to_network{}", number).c_str()),
      transmitter(out, owner.config_.port_rate, owner.config_.egress_queue),
      stats(fmt::format("{}.port{}", owner.name(), number))
{
    transmitter.list_in(stats);
}

tofino_switch::tofino_switch(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool,
                             const tofino_config& config, const aggregation_factory& make_unit, bool verilog)
    : sc_core::sc_module(name), stats(std::string(this->name())), time_(time), pool_(pool), config_(config),
      verilog_(verilog), loops_(k_loops), jobs_(config_), ingress_drops_(config.ingress_drop, config.drop_seed),
      egress_drops_(config.egress_drop, config.drop_seed ^ 0x5deece66d), loop_rate_(config.recirculation_rate),
      loop_room_ps_(loop_rate_.time_ps(config.recirculation_queue.value()))
{
    for (std::uint32_t p = 0; p < config.ports; ++p)
        ports_.push_back(std::make_unique<front_port>(*this, p));
    for (std::uint32_t pipe = 0; pipe < k_tofino_pipes; ++pipe) {
        units_[pipe] = make_unit(pipe);
        if (units_[pipe]->register_depth() != config.register_depth)
            throw bug(this->name(), 0, "the registers of a pipe are not register_depth deep");
    }
    const std::uint32_t actors = config.ports + k_loops + k_tofino_pipes;
    actor_base_ = time.register_actors(actors);
    sequences_.assign(actors, 0);
    time.components().add(*this);
    list_stats();
}

tofino_switch::~tofino_switch() = default;

std::uint64_t tofino_switch::next_order(event_class c, std::uint32_t actor)
{
    return make_order(c, actor_base_ + actor, sequences_[actor]++);
}

std::uint32_t tofino_switch::allocate()
{
    if (free_ == k_none) {
        in_flight_.emplace_back();
        free_ = static_cast<std::uint32_t>(in_flight_.size() - 1);
        in_flight_.back().next_free = k_none;
    }
    const std::uint32_t index = free_;
    free_ = in_flight_[index].next_free;
    most_in_flight.record(++in_flight_now_);
    return index;
}

void tofino_switch::release(std::uint32_t index)
{
    in_flight_[index].frame.reset();
    in_flight_[index].next_free = free_;
    free_ = index;
    --in_flight_now_;
}

void tofino_switch::note(slot_event_kind kind, const tofino_packet& p, std::uint8_t worker) const
{
    if (observer_ != nullptr)
        observer_->on_slot_event({kind, time_.now_ps(), p.job, jobs_[p.job].job.number, p.slot, p.version, worker});
}

// Arrival
// --------------------------------------------------------------------------------------------------------------

void tofino_switch::on_frame(std::uint32_t port, packet_ptr frame, std::uint64_t delay_ps)
{
    frame->link = port;
    const std::uint32_t index = frame.release()->index;
    time_.schedule(time_.now_ps() + delay_ps, next_order(event_class::arrival, port), *this, index, k_arrive);
}

void tofino_switch::on_event(std::uint32_t a, std::uint8_t kind)
{
    switch (kind) {
    case k_arrive: arrive(packet_ptr(&pool_.at(a))); break;
    case k_pass_begins: begin_pass(a); break;
    case k_pass_ends: end_pass(a); break;
    case k_leave: leave(a); break;
    case k_forward: {
        packet_ptr frame(&pool_.at(a));
        --forwarding_;
        ++forwarded;
        const std::uint32_t port = frame->out_link;
        transmit(port, std::move(frame));
        break;
    }
    }
}

void tofino_switch::arrive(packet_ptr frame)
{
    ++frames_in;
    if (frame->flags & k_corrupted)
        return drop(drop_reason::bad_fcs);
    if (frame->payload_bytes < 14)
        return drop(drop_reason::truncated);
    if (!jobs_.own_address(sml::get48(frame->payload)))
        return forward_foreign(std::move(frame));
    const std::uint32_t index = allocate();
    tofino_packet& p = in_flight_[index];
    p.frame = std::move(frame);
    p.arrived_ps = time_.now_ps();
    p.ingress_port = static_cast<std::uint16_t>(p.frame->link);
    p.end = packet_fate::none;
    p.egress_drop = false;
    drop_reason verdict = parse_switchml(*p.frame, p.fields);
    if (verdict == drop_reason::none) {
        p.words = p.fields.has_data ? p.frame->payload + p.fields.header_bytes : nullptr;
        p.slot = p.fields.header.slot;
        p.version = p.fields.header.version;
        p.exponent0 = p.fields.header.exponent0;
        p.exponent1 = p.fields.header.exponent1;
        if (!p.fields.rdma && jobs_.comes_from_parent(p)) {
            ++packets;
            ++passes;
            p.end = packet_fate::from_above;
            time_.schedule(time_.now_ps() + config_.first_pass_latency.value(),
                           next_order(event_class::device, config_.ports + k_loops), *this, index, k_leave);
            return;
        }
        verdict = p.fields.rdma      ? jobs_.find_rdma_worker(p)
                  : p.fields.request ? jobs_.find_udp_worker(p)
                                     : drop_reason::not_switchml;
    }
    if (verdict == drop_reason::none)
        verdict = jobs_.find_slot(p);
    if (verdict == drop_reason::none && config_.stale_filter && jobs_.is_stale(p))
        verdict = drop_reason::stale;
    if (verdict == drop_reason::none && ingress_drops_.drops())
        verdict = drop_reason::ingress_simulated;
    if (verdict != drop_reason::none) {
        drop(verdict);
        note_end(p, true);
        release(index);
        return;
    }
    ++packets;
    p.egress_drop = egress_drops_.drops();
    p.generation = jobs_[p.job].generation;
    p.type = pass_type::consume0;
    begin_pass(index);
}

void tofino_switch::forward_foreign(packet_ptr frame)
{
    const std::uint32_t out = mac_table_.port_of(sml::get48(frame->payload));
    if (out == mac_table::k_unknown)
        return drop(drop_reason::unknown_mac);
    ++passes;
    ++forwarding_;
    frame->out_link = out;
    const std::uint32_t port = frame->link;
    const std::uint32_t index = frame.release()->index;
    time_.schedule(time_.now_ps() + config_.first_pass_latency.value(), next_order(event_class::device, port), *this,
                   index, k_forward);
}

// Passes
// ---------------------------------------------------------------------------------------------------------------

std::uint32_t tofino_switch::pipe_of(const tofino_packet& p) const
{
    const std::uint32_t step = is_consume(p.type) ? number(p.type) : (7 - number(p.type)) / 2;
    return (jobs_[p.job].job.home_pipe + step) % k_tofino_pipes;
}

void tofino_switch::begin_pass(std::uint32_t index)
{
    tofino_packet& p = in_flight_[index];
    const tofino_job_state& j = jobs_[p.job];
    if (p.generation != j.generation) {
        drop(drop_reason::job_removed);
        note_end(p, true);
        release(index);
        return;
    }
    ++passes;
    p.pipe = static_cast<std::uint8_t>(pipe_of(p));
    if (!j.simple) {
        pass_.type = p.type;
        pass_.size = p.fields.size;
        pass_.pool_index = p.pool_index;
        pass_.worker = p.worker;
        pass_.workers = static_cast<std::uint8_t>(j.job.workers.size());
        pass_.last_of_message = p.fields.last_of_message;
        pass_.exponent0 = p.exponent0;
        pass_.exponent1 = p.exponent1;
        pass_.map_result = p.map_result;
        pass_.count = p.count;
        if (is_consume(p.type)) {
            if (p.words != nullptr) {
                const std::uint8_t* words = p.words + 4 * k_consume_words * number(p.type);
                read_words(words, pass_.d0);
                read_words(words + 4 * k_aggregation_alus, pass_.d1);
            } else if (pass_holds_words_) {
                pass_.d0.fill(0);
                pass_.d1.fill(0);
            }
            pass_holds_words_ = p.words != nullptr;
        }
        p.ticket = units_[p.pipe]->submit(pass_, time_.now_ps());
        p.submitted = true;
    }
    time_.schedule(time_.now_ps() + config_.ingress_latency.value(),
                   next_order(event_class::device, config_.ports + k_loops + p.pipe), *this, index, k_pass_ends);
}

void tofino_switch::end_pass(std::uint32_t index)
{
    tofino_packet& p = in_flight_[index];
    tofino_job_state& j = jobs_[p.job];
    aggregation_result result;
    if (std::exchange(p.submitted, false))
        result = units_[p.pipe]->take(p.ticket, time_.now_ps());
    if (p.generation != j.generation) {
        drop(drop_reason::job_removed);
        note_end(p, true);
        release(index);
        return;
    }
    if (j.simple)
        end_algorithm1_pass(p, result);
    else if (p.type == pass_type::consume0)
        first_pass_done(p, result);
    p.map_result = result.map_result;
    p.count = result.count;
    if (p.type == pass_type::harvest7 && !j.simple)
        p.exponent1 = result.reads_exponent1 ? result.exponent : std::int8_t{0};

    switch (result.step) {
    case next_step::recirculate:
        if (!is_consume(result.next_type) && !j.simple)
            take_words(p, result);
        p.type = result.next_type;
        if (is_consume(p.type))
            recirculate(index, turned(consume_port(number(p.type), j.lanes[p.worker]), j.job.home_pipe),
                        4 * (p.fields.words - k_consume_words * number(p.type)));
        else
            recirculate(index, turned(harvest_port(number(p.type)), j.job.home_pipe),
                        4 * k_harvest_words * (p.fields.size == packet_size::words64 ? 1 : number(p.type)));
        return;
    case next_step::broadcast:
    case next_step::retransmit:
        if (!j.simple) {
            take_words(p, result);
            p.exponent0 = p.fields.last_of_message ? j.watch[j.entry_of(p)].exponent0 : std::int8_t{0};
        }
        if (j.job.parent.kind == parent_kind::inside)
            return go_to_inside_parent(index);
        if (j.job.parent.kind == parent_kind::port)
            return finish(index, packet_fate::up);
        return finish(index, result.step == next_step::broadcast ? packet_fate::multicast : packet_fate::unicast);
    case next_step::drop:
        if (p.type == pass_type::harvest7)
            drop(drop_reason::wasted_harvest);
        break;
    case next_step::finish_consume: break;
    }
    note_end(p, false);
    release(index);
}

/// What the registers of the home pipe said about this packet.
void tofino_switch::first_pass_done(tofino_packet& p, const aggregation_result& result)
{
    tofino_job_state& j = jobs_[p.job];
    const std::uint32_t entry = j.entry_of(p);
    const std::uint32_t bit = std::uint32_t{1} << p.worker;
    tofino_slot_watch& watch = j.watch[entry];
    if (result.reads_exponent0)
        watch.exponent0 = result.exponent;
    j.watch[entry ^ 1].seen &= ~bit;
    watch.seen = result.bitmap_before | bit;
    if (result.map_result != 0) {
        if (result.count != 0) {
            ++duplicates_ignored;
            note(slot_event_kind::ignored_duplicate, p, p.worker);
        }
        return;
    }
    const auto workers = static_cast<std::uint32_t>(j.job.workers.size());
    watch.missing = static_cast<std::uint8_t>((result.count == 0 ? workers : result.count) - 1u);
    note(slot_event_kind::arrival, p, p.worker);
    if (watch.missing == 0) {
        ++completions;
        note(slot_event_kind::completion, p, p.worker);
    }
}

/// Algorithm 1: sums and count are ours, the way through the pipes is the same.
void tofino_switch::end_algorithm1_pass(tofino_packet& p, aggregation_result& result)
{
    result.count = p.count;
    if (p.type == pass_type::consume0) {
        tofino_job_state& j = jobs_[p.job];
        const std::uint32_t entry = j.entry_of(p);
        const auto workers = static_cast<std::uint32_t>(j.job.workers.size());
        note(slot_event_kind::arrival, p, p.worker);
        const bool complete = j.simple->add(entry, workers, p.words, p.fields.words, p.exponent0, p.exponent1);
        tofino_slot_watch& watch = j.watch[entry];
        watch.seen = complete ? 0 : watch.seen | std::uint32_t{1} << p.worker;
        watch.missing = static_cast<std::uint8_t>(complete ? 0 : workers - j.simple->arrived(entry));
        result.count = complete ? 1 : 2;
        if (complete) {
            ++completions;
            note(slot_event_kind::completion, p, p.worker);
        }
    }
    const aggregation_decision decision = decide_next_step(p.type, p.fields.size, 0, result.count);
    result.step = decision.step;
    result.next_type = decision.next_type;
}

/// 32 words of the result, from the end of the packet to its beginning.
void tofino_switch::take_words(tofino_packet& p, const aggregation_result& result)
{
    if (p.words == nullptr)
        return;
    const std::uint32_t before_end = is_consume(p.type)                      ? 1
                                     : p.fields.size == packet_size::words64 ? 2
                                                                             : number(p.type) + 1;
    write_words(result.words, p.words + 4 * (p.fields.words - k_harvest_words * before_end));
}

void tofino_switch::recirculate(std::uint32_t index, std::uint32_t port, std::uint32_t payload_bytes)
{
    tofino_packet& p = in_flight_[index];
    const std::uint32_t bytes =
        ethernet_wire_bytes(p.fields.header_bytes + payload_bytes + (p.fields.rdma ? sml::k_icrc_bytes : 0));
    const std::uint32_t loop = jobs_[p.job].plane * k_chip_ports + port;
    const auto sent = loops_[loop].send(bytes, time_.now_ps(), loop_rate_, loop_room_ps_);
    recirculation_wait_max_.record(sent.backlog_ps);
    if (!sent.ok) { // the registers of earlier pipes keep what they took
        drop(drop_reason::recirculation_queue);
        note_end(p, true);
        release(index);
        return;
    }
    ++recirculations;
    const std::uint64_t on_the_way =
        std::max(config_.pass_latency.value() - config_.ingress_latency.value(), sent.serialisation_ps);
    time_.schedule(sent.start_ps + on_the_way, next_order(event_class::arrival, config_.ports + loop), *this, index,
                   k_pass_begins);
}

void tofino_switch::finish(std::uint32_t index, packet_fate end)
{
    tofino_packet& p = in_flight_[index];
    p.end = end;
    time_.schedule(time_.now_ps() + config_.first_pass_latency.value() - config_.ingress_latency.value(),
                   next_order(event_class::device, config_.ports + k_loops + p.pipe), *this, index, k_leave);
}

/// The sum of this node is a worker's packet of the next one.
void tofino_switch::go_to_inside_parent(std::uint32_t index)
{
    tofino_packet& p = in_flight_[index];
    ++sent_up;
    note(slot_event_kind::sent_up, p, p.worker);
    const tofino_parent& parent = jobs_[p.job].job.parent;
    const tofino_job_state& above = jobs_[parent.job];
    p.job = parent.job;
    p.generation = above.generation;
    p.worker = static_cast<std::uint8_t>(parent.worker);
    p.pool_index = above.pool_index_of(p);
    p.type = pass_type::consume0;
    recirculate(index, turned(join_port(p.worker), above.job.home_pipe), 4 * p.fields.words);
}

} // namespace weft
