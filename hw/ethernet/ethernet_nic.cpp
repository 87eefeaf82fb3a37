// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/ethernet_nic.h"

#include "tlm/check.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace regs = abi::nic;

namespace {
constexpr std::uint32_t k_error_doorbell = 1u << 2;
constexpr std::uint32_t k_max_ring_entries = 1u << 16;
constexpr std::uint32_t k_queue_bits = 8; ///< of an event's word, the rest is its generation

bool power_of_two(std::uint64_t v) { return v != 0 && (v & (v - 1)) == 0; }
} // namespace

std::vector<config_problem> nic_config::validate() const { return limit_problems(*this); }

ethernet_nic::ethernet_nic(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool,
                           const nic_config& config, std::uint64_t own_mac, std::vector<irq_if*> cores, bool carry_data)
    : sc_core::sc_module(name), registers("registers", regs_, config.register_latency), memory("memory"),
      to_network("to_network"), from_network("from_network", *this, 0), stats(std::string(this->name())), time_(time),
      pool_(pool), config_(config), own_mac_(own_mac), cores_(std::move(cores)), lines_(cores_.size()),
      carry_data_(carry_data), regs_("NIC", abi::k_nic_rows), pending_(&regs_.at(regs::IRQ_PENDING)),
      wire_(to_network, config.rate, data_size(0)), queues_(config.queues), pairs_(config.queue_pairs)
{
    if (cores_.empty() || config.queues > abi::k_max_nic_queues)
        throw bug(this->name(), 0, "a NIC needs a core to interrupt and at most 16 queues");
    actor_base_ = time.register_actors(k_event_kinds * abi::k_max_nic_queues);
    set_up_registers();
    time.components().add(*this);
    wire_.list_in(stats);
    stats.add("entries_sent", "1", "Send entries completed", entries_sent);
    stats.add("frames_received", "1", "Frames that arrived, dropped ones included", frames_received);
    stats.add("bytes_received", "B", "Bytes of these frames", bytes_received);
    stats.add("messages_received", "1", "RDMA messages wholly received", messages_received);
    stats.add("broken_messages", "1", "RDMA messages given up: a packet was missing or wrong", broken_messages);
    stats.add("dropped_packets", "1", "RDMA packets dropped because the one before was missing", dropped_packets);
    stats.add("stale_messages", "1", "RDMA messages for an address whose scale is forgotten", stale_messages);
    stats.add("bad_entries", "1", "Send entries refused", bad_entries);
    stats.add("bad_frames", "1", "Frames dropped: check sequence, destination or form", bad_frames);
    stats.add("no_room", "1", "Frames dropped: receive ring or receive buffer full", no_room);
    stats.add("dropped_disabled", "1", "Frames dropped: disabled or queue stopped", dropped_disabled);
    stats.add("interrupts", "1", "Times a queue set its bit in IRQ_PENDING", interrupts);
}

void ethernet_nic::record_into(trace_sink& trace)
{
    trace_ = std::make_unique<frame_trace>(trace);
    trace_->add_track(*this, "NIC sends");
    trace_->add_track(*this, "NIC receives");
    watch_.set(trace_.get(), 0);
}

// --- Registers --------------------------------------------------------------------------------------------------------

void ethernet_nic::set_constants()
{
    regs_.at(regs::QUEUES) = config_.queues;
    regs_.at(regs::QUEUE_PAIRS) = config_.queue_pairs;
    regs_.at(regs::MAC) = own_mac_;
}

void ethernet_nic::set_up_registers()
{
    set_constants();
    for (std::uint32_t i = 0; i < config_.queues; ++i) {
        queue& q = queues_[i];
        q.tx_base = &regs_.at(regs::TX_BASE(i));
        q.tx_entries = &regs_.at(regs::TX_ENTRIES(i));
        q.tx_tail = &regs_.at(regs::TX_TAIL(i));
        q.rx_base = &regs_.at(regs::RX_BASE(i));
        q.rx_entries = &regs_.at(regs::RX_ENTRIES(i));
        q.rx_tail = &regs_.at(regs::RX_TAIL(i));
    }
    regs_.on_write(regs::CONTROL, [this](std::uint32_t, std::uint64_t v) { control((v & 1) != 0); });
    regs_.on_write(regs::IRQ_PENDING, [this](std::uint32_t, std::uint64_t) { update_lines(); });
    regs_.on_write(regs::ACTIVE_QUEUES, [this](std::uint32_t, std::uint64_t v) {
        active_queues_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(v, 1, config_.queues));
    });
    regs_.on_read(regs::RX_NO_ROOM, [this](std::uint32_t, std::uint64_t) { return no_room.value() & 0xffff'ffff; });
    regs_.on_read(regs::RX_BAD, [this](std::uint32_t, std::uint64_t) { return bad_frames.value() & 0xffff'ffff; });
    regs_.on_write(regs::TX_TAIL(0),
                   [this](std::uint32_t q, std::uint64_t v) { doorbell(q, static_cast<std::uint32_t>(v)); });
    regs_.on_read(regs::TX_HEAD(0), [this](std::uint32_t q, std::uint64_t) -> std::uint64_t {
        return q < config_.queues ? tx_head_at(queues_[q], time_.now_ps()) : 0;
    });
    regs_.on_read(regs::RX_HEAD(0), [this](std::uint32_t q, std::uint64_t) -> std::uint64_t {
        return q < config_.queues ? queues_[q].rx_head : 0;
    });
    regs_.on_write(regs::RX_ARM(0), [this](std::uint32_t q, std::uint64_t v) {
        if (q >= config_.queues)
            return;
        *pending_ &= ~(std::uint64_t{1} << q);
        queues_[q].rx_arm = static_cast<std::uint32_t>(v);
        queues_[q].armed = true;
        check_arm(q);
        update_line(q % cores_.size());
    });
}

void ethernet_nic::control(bool enable)
{
    if (enabled_ && !enable) {
        ++generation_;
        for (queue& q : queues_) {
            *q.tx_tail = *q.rx_tail = 0;
            q.posted = q.tail = q.fetched = q.fetching = q.finished = q.head = 0;
            q.rx_given = q.rx_head = q.rx_arm = 0;
            q.stopped = q.armed = false;
            q.doorbells.clear();
            q.ready.clear();
            q.completes_at_ps.clear();
            q.measuring.clear();
        }
        std::fill(pairs_.begin(), pairs_.end(), queue_pair{});
        ready_queues_ = 0;
        writing_ = 0;
        *pending_ = 0;
        update_lines();
    }
    enabled_ = enable;
    for (std::uint32_t q = 0; enabled_ && q < config_.queues; ++q)
        start_fetch(q);
}

void ethernet_nic::doorbell(std::uint32_t index, std::uint32_t tail)
{
    const std::uint64_t entries = index < config_.queues ? *queues_[index].tx_entries : 0;
    if (!power_of_two(entries) || entries > k_max_ring_entries) {
        raise_error(index, k_error_doorbell);
        return;
    }
    queue& q = queues_[index];
    if (tail - tx_head_at(q, time_.now_ps()) > entries || static_cast<std::int32_t>(tail - q.posted) < 0) {
        raise_error(index, k_error_doorbell);
        return;
    }
    q.posted = tail;
    q.doorbells.push(tail);
    // The write takes effect when it has crossed the bus.
    schedule(std::max(registers.access_ps(), time_.now_ps()), k_doorbell, index);
}

std::uint32_t ethernet_nic::tx_head_at(queue& q, std::uint64_t at_ps)
{
    while (!q.completes_at_ps.empty() && q.completes_at_ps.front() <= at_ps) {
        q.completes_at_ps.pop();
        ++q.head;
    }
    return q.head;
}

void ethernet_nic::raise_error(std::uint32_t q, std::uint32_t bits)
{
    if (regs_.at(regs::ERROR) == 0)
        regs_.at(regs::ERROR_QUEUE) = q;
    regs_.at(regs::ERROR) |= bits;
    if (q < config_.queues) {
        queues_[q].stopped = true;
        queues_[q].ready.clear();
        ready_queues_ &= ~(std::uint64_t{1} << q);
    }
}

void ethernet_nic::check_arm(std::uint32_t index)
{
    queue& q = queues_[index];
    if (!q.armed || static_cast<std::int32_t>(q.rx_head - q.rx_arm) < 0)
        return;
    q.armed = false;
    *pending_ |= std::uint64_t{1} << index;
    ++interrupts;
}

void ethernet_nic::update_lines()
{
    for (std::size_t c = 0; c < cores_.size(); ++c)
        update_line(c);
}

/// Line of core `c`, which queues c, c + cores, c + 2 * cores ... share.
void ethernet_nic::update_line(std::size_t c)
{
    bool level = false;
    for (std::size_t q = c; q < queues_.size(); q += cores_.size())
        level = level || (*pending_ >> q & 1) != 0;
    if (level != lines_[c]) {
        lines_[c] = level;
        cores_[c]->set_irq(abi::k_irq_nic, level);
    }
}

// --- Events -----------------------------------------------------------------------------------------------------------

void ethernet_nic::schedule(std::uint64_t at_ps, event_kind kind, std::uint32_t q)
{
    const event_class c = kind == k_written || kind == k_measured ? event_class::memory : event_class::device;
    time_.schedule(at_ps, make_order(c, actor_base_ + kind * abi::k_max_nic_queues + q, sequence_[kind][q]++), *this,
                   q | generation_ << k_queue_bits, kind);
}

void ethernet_nic::on_frame(std::uint32_t, packet_ptr frame, std::uint64_t delay_ps)
{
    ++receiving_;
    const std::uint32_t index = frame.release()->index;
    time_.schedule(
        time_.now_ps() + delay_ps,
        make_order(event_class::arrival, actor_base_ + k_arrival * abi::k_max_nic_queues, sequence_[k_arrival][0]++),
        *this, index, k_arrival);
}

void ethernet_nic::on_event(std::uint32_t a, std::uint8_t kind)
{
    if (kind == k_arrival) {
        arrived(packet_ptr(&pool_.at(a)));
        return;
    }
    if (kind == k_slot) { // whatever happened to the queues, slots free themselves
        slot_event_ = false;
        read_ahead();
        return;
    }
    if (a >> k_queue_bits != (generation_ & (~0u >> k_queue_bits)))
        return;
    const std::uint32_t index = a & ((1u << k_queue_bits) - 1);
    queue& q = queues_[index];
    switch (kind) {
    case k_doorbell:
        q.tail = q.doorbells.front();
        q.doorbells.pop();
        start_fetch(index);
        break;
    case k_fetched: fetched(index); break;
    case k_written:
        --writing_;
        ++q.rx_head;
        if (q.armed) {
            check_arm(index);
            update_line(index % cores_.size());
        }
        break;
    default: { // k_measured
        const measured_block m = q.measuring.front();
        q.measuring.pop();
        const abi::nic_completion c{abi::nic_event::measured, 0, static_cast<std::uint32_t>(std::int32_t{m.exponent}),
                                    m.queue_pair};
        if (!has_room(q)) {
            ++no_room;
            break;
        }
        complete(index, c, nullptr, charge_write(next_receive_entry(q), sizeof c));
        break;
    }
    }
}

bool ethernet_nic::settled(std::uint64_t now_ps) { return !slot_event_ && wire_.busy_until_ps() <= now_ps; }

void ethernet_nic::reset(std::uint32_t)
{
    enabled_ = true;
    control(false);
    regs_.reset();
    set_constants();
    update_lines();
    slots_.clear();
    buffer_.clear();
    buffered_bytes_ = 0;
    round_robin_ = 0;
    active_queues_ = 1;
    for (auto& of_kind : sequence_)
        std::fill(std::begin(of_kind), std::end(of_kind), 0);
}

bool ethernet_nic::idle() const
{
    return receiving_ == 0 && writing_ == 0 && std::all_of(queues_.begin(), queues_.end(), [](const queue& q) {
               return q.stopped || (q.finished == q.posted && q.measuring.empty());
           });
}

std::string ethernet_nic::blocked_on() const
{
    std::string text;
    const auto say = [&](std::string sentence) {
        if (!text.empty())
            text += "; ";
        text += std::move(sentence);
    };
    for (std::uint32_t i = 0; i < config_.queues; ++i) {
        const queue& q = queues_[i];
        const std::uint32_t entries = q.posted - q.finished;
        if (q.stopped)
            say(fmt::format("NIC queue {} is stopped by an error with {} entries left", i, entries));
        else if (entries != 0)
            say(fmt::format("NIC queue {} has {} entries left and waits for {}", i, entries,
                            !enabled_                            ? "CONTROL to enable the NIC"
                            : q.ready.empty()                    ? "its entries from memory"
                            : slots_.size() < config_.read_ahead ? "its turn"
                                                                 : "the wire"));
        if (!q.measuring.empty())
            say(fmt::format("NIC queue {} measures {} blocks", i, q.measuring.size()));
        if (q.rx_given != 0 && !has_room(q))
            say(fmt::format("NIC queue {} has a full receive ring: {} entries filled, {} taken", i, q.rx_given,
                            static_cast<std::uint32_t>(*q.rx_tail)));
    }
    for (std::size_t i = 0; i < pairs_.size(); ++i)
        if (pairs_[i].receiving)
            say(fmt::format("NIC queue pair {} waits for {} bytes of a message, PSN {}", i, pairs_[i].left_bytes,
                            pairs_[i].next_psn));
    std::uint32_t broken = 0;
    std::size_t pairs = 0;
    for (const queue_pair& pair : pairs_)
        if (pair.broken != 0) {
            broken += pair.broken;
            ++pairs;
        }
    if (broken != 0)
        say(fmt::format("{} messages to {} of its NIC queue pairs broke off: they did not arrive whole and in order",
                        broken, pairs));
    return text;
}

} // namespace weft
