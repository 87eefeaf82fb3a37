// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
#include "hw/ccu/ccu.h"

#include "hw/arithmetic/reduce.h"
#include "tlm/memory_spans.h"
#include "tlm/step_sink.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace weft {

using abi::ccu::mission_state;
using abi::ccu::status;

namespace {
constexpr std::uint64_t k_error_pending = std::uint64_t{1} << 31; // IRQ_PENDING
} // namespace

void ccu_shared::copy_from_memory(std::uint64_t address, std::uint8_t* to, std::uint64_t bytes) const
{
    copy_from(*memory, address, to, bytes);
}

void ccu_shared::copy_to_memory(std::uint64_t address, const std::uint8_t* from, std::uint64_t bytes, std::uint8_t type, std::uint8_t redop)
{
    if (redop == 0)
        return copy_to(*memory, address, from, bytes);
    write_spans(*memory, address, bytes, [&](std::uint64_t done, std::uint8_t* to, std::uint64_t got) {
        reduce(static_cast<abi::element_type>(type), static_cast<abi::reduce_op>(redop), to, from + done, got);
    });
}

ccu::ccu(const sc_core::sc_module_name& name, timeline& time, packet_pool& pool, irq_if& core, std::uint32_t irq_line, std::uint32_t rank,
         const ccu_config& config, const ccu_fabric_view& view)
    : sc_core::sc_module(name), regs("CCU", abi::k_ccu_rows), registers("registers", regs, config.register_latency), memory("memory"),
      to_fabric("to_fabric", view.vl_count), from_fabric("from_fabric", view.vl_count), stats(this->name()),
      shared_(this->name(), time, pool, *this, rank, config, view), port_(shared_), transfers_(shared_, port_),
      receiver_(shared_, port_, transfers_, *this), bits_(config.check_entries), missions_(config.missions),
      contexts_(config.missions + config.loop_engines), free_engines_(config.loop_engines), core_(core), irq_line_(irq_line),
      copy_rate_(config.copy_rate), reduce_rate_(config.reduce_rate), cycle_ps_(std::max<std::uint64_t>(1, config.cycle_ps()))
{
    to_fabric.bind(static_cast<link_bw_if&>(*this));
    from_fabric.bind(static_cast<link_fw_if&>(*this));
    set_up_registers();
    time.components().add(*this);
    stats.add("tasks", "1", "Tasks that were launched", tasks);
    stats.add("failed_tasks", "1", "Tasks that ended with a status other than 0", failed_tasks);
    stats.add("instructions", "1", "Instructions issued", instructions);
    stats.add("reduced", "B", "Results of reductions in slices", reduced_bytes);
    stats.add("memory_read", "B", "Read from the own memory, for peers and in reductions included", memory_read);
    stats.add("memory_written", "B", "Written to the own memory, by peers included", memory_written);
    stats.add("bytes_sent", "B", "Payload sent to peers", bytes_sent);
    stats.add("bytes_received", "B", "Payload that came from peers", bytes_received);
    stats.add("most_queued", "1", "Most segments, requests and answers that waited to be sent", port_.most_queued);
    stats.add("packets_sent", "1", "Packets sent, requests and acknowledgements included", port_.packets);
    stats.add("refused", "1", "Requests of peers that were refused", receiver_.refused);
}

ccu::~ccu() = default;

void ccu::start_of_simulation()
{
    shared_.memory = memory.operator->();
    shared_.memory_bytes = shared_.memory->capacity_bytes();
    port_.connect(to_fabric.operator->());
    receiver_.connect(from_fabric.operator->());
}

void ccu::set_up_registers()
{
    namespace r = abi::ccu;
    set_up_capacities();
    regs.on_write(r::TOKEN, [this](std::uint32_t, std::uint64_t v) {
        shared_.token = static_cast<std::uint32_t>(v & ((1u << abi::ccu::k_token_bits) - 1));
        regs.at(abi::ccu::TOKEN) = shared_.token;
    });
    regs.on_write(r::CODE_INDEX, [this](std::uint32_t, std::uint64_t) { code_word_ = 0; });
    regs.on_write(r::CODE_DATA, [this](std::uint32_t, std::uint64_t v) { write_code(v); });
    regs.on_write(r::CHANNEL_PEER, [this](std::uint32_t, std::uint64_t v) { set_channel(v); });
    regs.on_write(r::CLEAR_ENTRIES, [this](std::uint32_t, std::uint64_t v) { clear_entries(v); });
    regs.on_write(r::TASK_LAUNCH, [this](std::uint32_t, std::uint64_t) { launch(); });
    regs.on_write(r::MISSION_KILL, [this](std::uint32_t, std::uint64_t m) {
        if (m >= missions_.size())
            return refuse_write();
        if (missions_[m].state == mission_state::running)
            end(static_cast<std::uint32_t>(m), status::control, contexts_[m].pc, 0);
    });
    regs.on_write(r::IRQ_PENDING, [this](std::uint32_t, std::uint64_t) {
        if (regs.at(abi::ccu::ERROR) != 0)
            regs.at(abi::ccu::IRQ_PENDING) |= k_error_pending;
        update_irq();
    });
    regs.on_write(r::ERROR, [this](std::uint32_t, std::uint64_t) {
        if (regs.at(abi::ccu::ERROR) == 0)
            regs.at(abi::ccu::IRQ_PENDING) &= ~k_error_pending;
        update_irq();
    });
    regs.on_read(r::PEEK, [this](std::uint32_t, std::uint64_t) { return peek(); });
}

void ccu::set_up_capacities()
{
    namespace r = abi::ccu;
    const auto set = [this](std::uint64_t offset, std::uint64_t value) { regs.at(offset) = value; };
    const ccu_config& c = shared_.config;
    set(r::INSTRUCTIONS, c.instructions);
    set(r::MISSIONS, c.missions);
    set(r::LOOP_ENGINES, c.loop_engines);
    set(r::ADDRESS_REGISTERS, c.address_registers);
    set(r::GENERAL_REGISTERS, c.general_registers);
    set(r::CHECK_ENTRIES, c.check_entries);
    set(r::SLICES, c.slices);
    set(r::CHANNELS, c.channels);
    set(r::OUTSTANDING, c.outstanding);
}

void ccu::refuse_write()
{
    regs.at(abi::ccu::ERROR) |= 1;
    regs.at(abi::ccu::IRQ_PENDING) |= k_error_pending;
    update_irq();
}

void ccu::update_irq() { core_.set_irq(irq_line_, regs.at(abi::ccu::IRQ_PENDING) != 0); }

std::uint64_t ccu::peek() const
{
    const std::uint64_t n = regs.at(abi::ccu::PEEK_INDEX);
    switch (regs.at(abi::ccu::PEEK_KIND)) {
    case 0: return n < shared_.address_registers.size() ? shared_.address_registers[n] : 0;
    case 1: return n < shared_.general_registers.size() ? shared_.general_registers[n] : 0;
    default: return n < bits_.count() ? bits_.value(static_cast<std::uint32_t>(n)) : 0;
    }
}

/// Code of a task that runs does not change under it.
void ccu::write_code(std::uint64_t word)
{
    const std::uint64_t index = regs.at(abi::ccu::CODE_INDEX);
    const bool runs = std::any_of(missions_.begin(), missions_.end(), [=](const ccu_mission& m) {
        return m.state == mission_state::running && index >= m.start && index - m.start < m.count;
    });
    if (index >= shared_.config.instructions || runs)
        return refuse_write();
    if (index >= store_.size())
        store_.resize(index + 1, abi::ccu::instruction{static_cast<abi::ccu::op>(0)});
    std::memcpy(reinterpret_cast<std::uint8_t*>(&store_[index]) + 8 * code_word_, &word, sizeof word);
    if (++code_word_ == abi::ccu::k_words_of_instruction) {
        code_word_ = 0;
        ++regs.at(abi::ccu::CODE_INDEX);
        if (code_since_launch_ < shared_.config.instructions) {
            ++code_since_launch_;
            ++code_progress_;
        }
    }
}

void ccu::set_channel(std::uint64_t value)
{
    const std::uint64_t c = regs.at(abi::ccu::CHANNEL_INDEX);
    if (c >= transfers_.channel_count())
        return refuse_write();
    const std::uint64_t peer = value & ~std::uint64_t{abi::ccu::k_shortest_paths};
    if (peer >= shared_.view.ranks)
        return refuse_write();
    std::vector<std::uint32_t> given_up;
    if (!transfers_.abandon(static_cast<std::uint32_t>(c), given_up))
        return refuse_write();
    for (const std::uint32_t t : given_up)
        transfer_done(t, shared_.time.now_ps());
    ccu_transfers::channel& channel = transfers_.channel_at(static_cast<std::uint32_t>(c));
    channel.peer = static_cast<std::uint32_t>(peer);
    channel.shortest_paths = (value >> 31 & 1) != 0;
}

void ccu::clear_entries(std::uint64_t value)
{
    const std::uint64_t first = value & 0xffff;
    const std::uint64_t count = value >> 16;
    if (first + count > bits_.count())
        return refuse_write();
    for (std::uint64_t e = first; e < first + count; ++e)
        bits_.clear(static_cast<std::uint32_t>(e), 0xffff);
}

void ccu::launch()
{
    namespace r = abi::ccu;
    const std::uint64_t m = regs.at(r::TASK_MISSION);
    const std::uint64_t start = regs.at(r::TASK_START);
    const std::uint64_t count = regs.at(r::TASK_COUNT);
    if (m >= missions_.size() || missions_[m].state == mission_state::running || count == 0 || start >= shared_.config.instructions ||
        count > shared_.config.instructions - start)
        return refuse_write();
    ccu_mission& mission = missions_[m];
    const std::uint32_t launches = mission.launches + 1;
    mission = {};
    mission.launches = launches;
    mission.state = mission_state::running;
    mission.start = static_cast<std::uint32_t>(start);
    mission.count = static_cast<std::uint32_t>(count);
    mission.strict = (regs.at(r::TASK_FLAGS) & abi::ccu::k_task_strict_arithmetic) != 0;
    for (std::uint32_t a = 0; a < abi::ccu::k_arguments; ++a)
        mission.arguments[a] = regs.at(r::TASK_ARGUMENT(a));
    const auto number = static_cast<std::uint32_t>(m);
    regs.at(r::MISSION_STATE(number)) = static_cast<std::uint64_t>(mission_state::running);
    regs.at(r::MISSION_STATUS(number)) = regs.at(r::MISSION_WHERE(number)) = regs.at(r::MISSION_DETAIL(number)) = 0;
    regs.at(r::IRQ_PENDING) &= ~(std::uint64_t{1} << number); // of a task before, that nobody has asked for
    update_irq();
    ++tasks;
    code_since_launch_ = 0;
    if (regs.at(r::TASK_KEY) != regs.at(r::KEY))
        return end(number, status::control, mission.start, 0);
    const std::uint64_t begin_ps = registers.access_ps() + shared_.config.task_start.value();
    shared_.schedule(begin_ps, event_class::device, ccu_shared::k_missions, ccu_event::launch, number | (launches & 0xffff) << 8);
    if (const std::uint64_t us = regs.at(r::TASK_TIMEOUT); us != 0)
        shared_.schedule(begin_ps + us * 1'000'000, event_class::device, ccu_shared::k_missions, ccu_event::time_out, number | (launches & 0xffff) << 8);
}

void ccu::on_event(std::uint32_t number, std::uint8_t kind)
{
    const auto current = [this](std::uint32_t n) {
        const ccu_mission& m = missions_[n & 0xff];
        return m.state == mission_state::running && (m.launches & 0xffff) == n >> 8;
    };
    switch (static_cast<ccu_event>(kind)) {
    case ccu_event::step: step(number); break;
    case ccu_event::completed: completed(number); break;
    case ccu_event::send: port_.send(); break;
    case ccu_event::receive: receiver_.take(packet_ptr(&shared_.pool.at(number))); break;
    case ccu_event::segment_done: receiver_.answer(number); break;
    case ccu_event::bits: {
        const due_bits due = due_bits_.take(number);
        bits_.set(due.entry, due.mask, [this](std::uint32_t c) {
            contexts_[c].waits_for_bits = false;
            plan_step(c, shared_.time.now_ps());
        });
        break;
    }
    case ccu_event::launch:
        if (current(number))
            begin_task(number & 0xff);
        break;
    case ccu_event::time_out:
        if (current(number))
            time_out(number & 0xff);
        break;
    }
}

bool ccu::idle() const
{
    return transfers_.under_way() == 0 && port_.idle() && receiver_.idle() && due_bits_.in_use() == 0 &&
           std::none_of(missions_.begin(), missions_.end(), [](const ccu_mission& m) { return m.state == mission_state::running; });
}

std::string ccu::waits() const
{
    std::string text;
    for (std::uint32_t c = 0; c < contexts_.size(); ++c)
        if (contexts_[c].active)
            if (const std::string line = describe(c); !line.empty())
                text += (text.empty() ? "" : "; ") + line;
    for (const std::string& more : {transfers_.waits(), port_.waits()})
        if (!more.empty())
            text += (text.empty() ? "" : "; ") + more;
    return text;
}

void ccu::reset(std::uint32_t)
{
    regs.reset();
    set_up_capacities();
    update_irq();
    for (std::uint32_t m = 0; m < missions_.size(); ++m) {
        const std::uint32_t launches = missions_[m].launches;
        missions_[m] = {};
        missions_[m].launches = launches;
    }
    std::fill(contexts_.begin(), contexts_.end(), ccu_context{});
    free_engines_ = shared_.config.loop_engines;
    engine_queue_.clear();
    bits_.reset();
    transfers_.reset();
    receiver_.reset();
    port_.reset();
    shared_.slices.reset();
    std::fill(shared_.address_registers.begin(), shared_.address_registers.end(), 0);
    std::fill(shared_.general_registers.begin(), shared_.general_registers.end(), 0);
    shared_.token = 0;
    code_word_ = 0;
    store_.clear();
    code_since_launch_ = 0;
}

work_load ccu::spent_on(work_kind kind, std::uint64_t now_ps) const
{
    const std::uint64_t sent_ps = port_.wire_time.value(), until_ps = port_.wire_busy_until_ps();
    switch (kind) {
    case work_kind::send: return {sent_ps - (until_ps > now_ps ? std::min(until_ps - now_ps, sent_ps) : 0), 1};
    case work_kind::reduce: return {reductions_.up_to_ps(now_ps), 1};
    default: return {};
    }
}

std::uint64_t ccu::offloaded_ps(std::uint32_t unit, std::uint64_t now_ps) const
{
    const busy_time* const units[k_offload_units] = {&shared_.slices.reads(), &shared_.slices.writes(), &reductions_, &copies_};
    return units[unit]->up_to_ps(now_ps);
}

void ccu::record_into(trace_sink& trace)
{
    if (step_sink* const steps = steps_for(trace, *this)) {
        port_.record_into(steps);
        receiver_.record_into(steps);
        return;
    }
    trace_ = &trace;
    tracks_.assign(contexts_.size(), k_none);
    packets_ = std::make_unique<packet_trace>(trace);
    packets_->add_track(*this, "CCU sends");
    packets_->add_track(*this, "CCU receives");
    port_.record_into(packets_.get());
    receiver_.record_into(packets_.get());
    for (std::uint32_t m = 0; m < missions_.size(); ++m)
        tracks_[m] = trace.add_track(*this, fmt::format("CCU mission {}", m));
}

std::uint32_t ccu::track_of(std::uint32_t context)
{
    if (tracks_[context] == k_none)
        tracks_[context] = trace_->add_track(*this, fmt::format("CCU loop engine {}", context - missions_.size()));
    return tracks_[context];
}

} // namespace weft
