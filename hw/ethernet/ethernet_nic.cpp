// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ethernet/ethernet_nic.h"

#include "tlm/check.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

namespace regs = abi::nic;

std::vector<config_problem> nic_config::validate() const { return limit_problems(*this); }

ethernet_nic::ethernet_nic(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool,
                           const nic_config& config, std::uint64_t own_mac, std::vector<irq_if*> cores, bool carry_data)
    : sc_core::sc_module(name), registers("registers", regs_, config.register_latency), memory("memory"),
      to_network("to_network"), from_network("from_network", *this, 0), stats(std::string(this->name())),
      own_mac_(own_mac), regs_("NIC", abi::k_nic_rows), wire_(to_network, config.rate, data_size(0)),
      pairs_(config.queue_pairs), shared_(time, pool, config, memory, regs_, *this, carry_data),
      interrupts_(std::move(cores), config.queues, regs_.at(regs::IRQ_PENDING)), sender_(shared_, pairs_, wire_),
      receiver_(shared_, pairs_, interrupts_, own_mac)
{
    if (interrupts_.lines() == 0 || config.queues > abi::k_max_nic_queues)
        throw bug(this->name(), 0, "a NIC needs a core to interrupt and at most 16 queues");
    set_up_registers();
    time.components().add(*this);
    list_stats();
}

void ethernet_nic::list_stats()
{
    wire_.list_in(stats);
    stats.add("entries_sent", "1", "Send entries completed", sender_.entries_sent);
    stats.add("frames_received", "1", "Frames that arrived, dropped ones included", receiver_.frames_received);
    stats.add("bytes_received", "B", "Bytes of these frames", receiver_.bytes_received);
    stats.add("messages_received", "1", "RDMA messages wholly received", receiver_.messages_received);
    stats.add("broken_messages", "1", "RDMA messages given up: a packet was missing or wrong",
              receiver_.broken_messages);
    stats.add("dropped_packets", "1", "RDMA packets dropped because the one before was missing",
              receiver_.dropped_packets);
    stats.add("stale_messages", "1", "RDMA messages for an address whose scale is forgotten", receiver_.stale_messages);
    stats.add("bad_entries", "1", "Send entries refused", sender_.bad_entries);
    stats.add("bad_frames", "1", "Frames dropped: check sequence, destination or form", receiver_.bad_frames);
    stats.add("no_room", "1", "Frames dropped: receive ring or receive buffer full", receiver_.no_room);
    stats.add("dropped_disabled", "1", "Frames dropped: disabled or queue stopped", receiver_.dropped_disabled);
    stats.add("interrupts", "1", "Times a queue set its bit in IRQ_PENDING", interrupts_.raised);
}

void ethernet_nic::record_into(trace_sink& trace)
{
    trace_ = std::make_unique<frame_trace>(trace);
    trace_->add_track(*this, "NIC sends", flow_step::begins);
    trace_->add_track(*this, "NIC receives", flow_step::ends);
    shared_.watch.set(trace_.get(), 0);
}

// --- Registers -------------------------------------------------------------------------------------------------------

void ethernet_nic::set_constants()
{
    regs_.at(regs::QUEUES) = shared_.config.queues;
    regs_.at(regs::QUEUE_PAIRS) = shared_.config.queue_pairs;
    regs_.at(regs::MAC) = own_mac_;
}

void ethernet_nic::set_up_registers()
{
    const std::uint32_t queues = shared_.config.queues;
    set_constants();
    regs_.on_write(regs::CONTROL, [this](std::uint32_t, std::uint64_t v) { control((v & 1) != 0); });
    regs_.on_write(regs::IRQ_PENDING, [this](std::uint32_t, std::uint64_t) { interrupts_.update_all(); });
    regs_.on_write(regs::ACTIVE_QUEUES, [this, queues](std::uint32_t, std::uint64_t v) {
        receiver_.set_active_queues(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(v, 1, queues)));
    });
    regs_.on_read(regs::RX_NO_ROOM,
                  [this](std::uint32_t, std::uint64_t) { return receiver_.no_room.value() & 0xffff'ffff; });
    regs_.on_read(regs::RX_BAD,
                  [this](std::uint32_t, std::uint64_t) { return receiver_.bad_frames.value() & 0xffff'ffff; });
    // The write of a doorbell takes effect when it has crossed the bus.
    regs_.on_write(regs::TX_TAIL(0), [this](std::uint32_t q, std::uint64_t v) {
        sender_.ring_doorbell(q, static_cast<std::uint32_t>(v), registers.access_ps());
    });
    regs_.on_read(regs::TX_HEAD(0), [this, queues](std::uint32_t q, std::uint64_t) -> std::uint64_t {
        return q < queues ? sender_.head_at(q, shared_.now_ps()) : 0;
    });
    regs_.on_read(regs::RX_HEAD(0), [this, queues](std::uint32_t q, std::uint64_t) -> std::uint64_t {
        return q < queues ? receiver_.head(q) : 0;
    });
    regs_.on_write(regs::RX_ARM(0), [this, queues](std::uint32_t q, std::uint64_t v) {
        if (q < queues)
            receiver_.arm(q, static_cast<std::uint32_t>(v));
    });
}

void ethernet_nic::control(bool enable)
{
    if (shared_.enabled && !enable) {
        shared_.forget();
        sender_.forget();
        receiver_.forget();
        std::fill(pairs_.begin(), pairs_.end(), nic_queue_pair{});
        interrupts_.clear_all();
        interrupts_.update_all();
    }
    shared_.enabled = enable;
    if (enable)
        sender_.start();
}

// --- Events ----------------------------------------------------------------------------------------------------------

void ethernet_nic::on_frame(std::uint32_t, packet_ptr frame, std::uint64_t delay_ps)
{
    ++receiving_;
    const std::uint32_t index = frame.release()->index;
    shared_.schedule_arrival(shared_.now_ps() + delay_ps, index);
}

void ethernet_nic::on_event(std::uint32_t a, std::uint8_t kind)
{
    const auto what = static_cast<nic_event_kind>(kind);
    if (what == nic_event_kind::arrival) {
        --receiving_;
        receiver_.arrived(packet_ptr(&shared_.pool.at(a)));
        return;
    }
    if (what == nic_event_kind::slot) {
        sender_.slot_is_free();
        return;
    }
    if (shared_.is_void(a))
        return;
    const std::uint32_t q = nic_shared::queue_of(a);
    switch (what) {
    case nic_event_kind::doorbell: sender_.doorbell_arrived(q); break;
    case nic_event_kind::fetched: sender_.fetched(q); break;
    case nic_event_kind::written: receiver_.written(q); break;
    default: { // measured
        const measured_block m = sender_.take_measured(q);
        receiver_.measured(q, m.exponent, m.queue_pair);
        break;
    }
    }
}

bool ethernet_nic::settled(std::uint64_t now_ps)
{
    return !sender_.waits_for_slot() && wire_.busy_until_ps() <= now_ps;
}

void ethernet_nic::reset(std::uint32_t)
{
    shared_.enabled = true;
    control(false);
    regs_.reset();
    set_constants();
    interrupts_.update_all();
    sender_.reset();
    receiver_.reset();
    shared_.reset();
}

bool ethernet_nic::idle() const
{
    if (receiving_ != 0 || !receiver_.idle())
        return false;
    for (std::uint32_t q = 0; q < shared_.config.queues; ++q)
        if (!sender_.idle(q))
            return false;
    return true;
}

std::string ethernet_nic::blocked_on() const
{
    std::string text;
    const auto say = [&](const std::string& sentence) {
        text += text.empty() || sentence.empty() ? "" : "; ";
        text += sentence;
    };
    for (std::uint32_t q = 0; q < shared_.config.queues; ++q) {
        say(sender_.waits_of(q));
        if (const std::size_t blocks = sender_.measuring(q); blocks != 0)
            say(fmt::format("NIC queue {} measures {} blocks", q, blocks));
        say(receiver_.waits_of_ring(q));
    }
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair)
        say(receiver_.waits_of_pair(pair));
    say(receiver_.broken_pairs());
    return text;
}

} // namespace weft
