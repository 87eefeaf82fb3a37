// Copyright 2026 The weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How missions and loop engines of a CCU go on, wait and end.
#include "hw/ccu/ccu.h"

#include <algorithm>
#include <fmt/format.h>

namespace weft {

using abi::ccu::instruction;
using abi::ccu::mission_state;
using abi::ccu::op;
using abi::ccu::status;

namespace {
const char* name_of(op code)
{
    for (const abi::ccu::op_row& row : abi::ccu::k_op_rows)
        if (row.code == code)
            return row.name;
    return "unknown";
}
} // namespace

void ccu::begin_task(std::uint32_t mission)
{
    const ccu_mission& m = missions_[mission];
    missions_[mission].began_ps = shared_.time.now_ps();
    ccu_context& c = contexts_[mission];
    const bool planned = c.step_planned; // of a task before: that step goes on with this one
    c = {};
    c.step_planned = planned;
    c.active = true;
    c.mission = mission;
    c.first = c.pc = m.start;
    c.end = m.start + m.count;
    step(mission);
}

void ccu::plan_step(std::uint32_t context, std::uint64_t at_ps)
{
    ccu_context& c = contexts_[context];
    if (c.step_planned)
        return;
    c.step_planned = true;
    shared_.schedule(at_ps, event_class::device, ccu_shared::k_contexts, ccu_event::step, context);
}

/// One instruction.
void ccu::step(std::uint32_t number)
{
    ccu_context& c = contexts_[number];
    c.step_planned = false;
    if (!c.active || c.waits_for_bits || c.waits_for_engines || c.waits_for_channel)
        return;
    if (c.pc == c.end)
        return at_end(number);
    if (c.pc >= store_.size())
        return fail(number, status::illegal_instruction, 0);
    const instruction& i = store_[c.pc];
    if (!bits_are_set(number, i))
        return;
    const outcome done = execute(number, i);
    if (done == outcome::blocked || done == outcome::failed)
        return;
    clear_waited(number, i);
    ++instructions;
    c.pc += done == outcome::next ? 1 : 0;
    plan_step(number, shared_.time.now_ps() + cycle_ps_);
}

/// Of the instruction that is next. False: the context waits for them.
bool ccu::bits_are_set(std::uint32_t number, const instruction& i)
{
    ccu_context& c = contexts_[number];
    const std::uint32_t wait = std::uint32_t{i.wait_entry} + c.entry_offset;
    const std::uint32_t set = std::uint32_t{i.set_entry} + c.entry_offset;
    if ((i.wait_mask != 0 && wait >= bits_.count()) || (i.set_mask != 0 && set >= bits_.count())) {
        fail(number, status::local_operation, i.wait_mask != 0 && wait >= bits_.count() ? wait : set);
        return false;
    }
    if (i.wait_mask == 0)
        return true;
    if (!bits_.all_set(wait, i.wait_mask)) {
        c.waits_for_bits = true;
        c.wait_entry = static_cast<std::uint16_t>(wait);
        c.wait_mask = i.wait_mask;
        bits_.wait(wait, i.wait_mask, number);
        return false;
    }
    return true;
}

/// What `i` has waited for; only when it has been issued.
void ccu::clear_waited(std::uint32_t number, const instruction& i)
{
    if (i.wait_mask != 0 && ((i.flags & abi::ccu::k_clears) != 0 || i.code == op::clear_bits))
        bits_.clear(std::uint32_t{i.wait_entry} + contexts_[number].entry_offset, i.wait_mask);
}

/// Behind its last instruction.
void ccu::at_end(std::uint32_t number)
{
    ccu_context& c = contexts_[number];
    if (is_mission(number)) {
        stop_context(number);
        return end_if_done(number);
    }
    if (++c.iteration < c.iterations) {
        c.pc = c.first;
        return step(number);
    }
    engine_ended(number);
}

void ccu::ask_for_engines(std::uint32_t mission)
{
    contexts_[mission].waits_for_engines = true;
    if (std::find(engine_queue_.begin(), engine_queue_.end(), mission) == engine_queue_.end())
        engine_queue_.push_back(mission);
}

/// It has its engines, or wants none any more.
void ccu::leave_queue_for_engines(std::uint32_t mission)
{
    const auto at = std::find(engine_queue_.begin(), engine_queue_.end(), mission);
    if (at == engine_queue_.end())
        return;
    engine_queue_.erase(at);
    wake_first_in_queue();
}

void ccu::wake_first_in_queue()
{
    if (engine_queue_.empty())
        return;
    ccu_context& first = contexts_[engine_queue_.front()];
    if (!first.waits_for_engines) // woken already
        return;
    first.waits_for_engines = false;
    plan_step(engine_queue_.front(), shared_.time.now_ps());
}

/// False: the queue of the channel is full, or others want a place before it, and the context waits for one. None is
/// taken from it then: it asks again.
bool ccu::finds_place(std::uint32_t number, std::uint32_t channel)
{
    ccu_context& c = contexts_[number];
    auto& queue = transfers_.channel_at(channel).contexts;
    const bool is_first = queue.empty() || queue.front() == number;
    if (is_first && !transfers_.channel_at(channel).is_full(shared_.config.queue_depth)) {
        if (c.in_channel_queue)
            leave_channel_queue(number);
        return true;
    }
    if (!c.in_channel_queue)
        queue.push_back(number);
    c.in_channel_queue = c.waits_for_channel = true;
    c.channel = static_cast<std::uint16_t>(channel);
    return false;
}

/// It has its place, or wants none any more.
void ccu::leave_channel_queue(std::uint32_t number)
{
    ccu_context& c = contexts_[number];
    auto& queue = transfers_.channel_at(c.channel).contexts;
    queue.erase(std::find(queue.begin(), queue.end(), number));
    c.in_channel_queue = c.waits_for_channel = false;
    wake_first_of_channel(c.channel);
}

void ccu::wake_first_of_channel(std::uint32_t channel)
{
    const auto& queue = transfers_.channel_at(channel).contexts;
    if (queue.empty() || !contexts_[queue.front()].waits_for_channel)
        return;
    contexts_[queue.front()].waits_for_channel = false;
    plan_step(queue.front(), shared_.time.now_ps());
}

/// All engines of a group at once, or it waits until so many are free. Nobody passes a group that waits, so a large one
/// waits for those that run and those before it.
bool ccu::start_group(std::uint32_t number, const instruction& i)
{
    ccu_context& c = contexts_[number];
    ccu_mission& m = missions_[c.mission];
    const std::uint32_t loops = i.count;
    const std::uint32_t table = m.start + i.r[0];
    std::uint64_t counts = 0;
    std::uint64_t offsets = 0;
    if (!general_at(number, i.r[1], counts) || !general_at(number, i.r[2], offsets))
        return false;
    const std::uint32_t first = abi::ccu::group_first(counts);
    const std::uint32_t replicas = abi::ccu::group_replicas(counts);
    if (!is_mission(number) || loops == 0 || i.r[0] + loops > m.count || first > loops) {
        fail(number, status::illegal_instruction, i.r[0]);
        return false;
    }
    struct body {
        std::uint32_t first, end, iterations, step;
    };
    std::vector<body> bodies;
    for (std::uint32_t l = 0; l < loops; ++l) {
        const instruction loop = table + l < store_.size() ? store_[table + l] : instruction{};
        std::uint64_t parameter = 0;
        if (loop.code != op::loop || loop.r[1] < loop.r[0] || loop.r[1] >= m.count) {
            fail(number, status::illegal_instruction, i.r[0] + l);
            return false;
        }
        if (!general_at(number, loop.r[2], parameter))
            return false;
        bodies.push_back({m.start + loop.r[0], m.start + loop.r[1] + 1, abi::ccu::loop_iterations(parameter), abi::ccu::loop_step(parameter)});
    }
    std::uint32_t wanted = 0;
    for (std::uint32_t k = 0; k <= replicas; ++k)
        for (std::uint32_t l = k == 0 ? 0 : first; l < loops; ++l)
            wanted += bodies[l].iterations != 0 ? 1 : 0;
    if (wanted > shared_.config.loop_engines) {
        fail(number, status::local_operation, wanted);
        return false;
    }
    if (wanted == 0) {
        leave_queue_for_engines(number);
        return true;
    }
    if (wanted > free_engines_ || (!engine_queue_.empty() && engine_queue_.front() != number)) {
        ask_for_engines(number);
        return false;
    }
    std::uint32_t engine = static_cast<std::uint32_t>(missions_.size());
    for (std::uint32_t k = 0; k <= replicas; ++k)
        for (std::uint32_t l = k == 0 ? 0 : first; l < loops; ++l) {
            if (bodies[l].iterations == 0)
                continue;
            while (contexts_[engine].active)
                ++engine;
            ccu_context& e = contexts_[engine];
            const bool planned = e.step_planned;
            e = {};
            e.step_planned = planned;
            e.active = true;
            e.mission = c.mission;
            e.first = e.pc = bodies[l].first;
            e.end = bodies[l].end;
            e.iterations = bodies[l].iterations;
            e.step = bodies[l].step;
            e.replica = std::uint64_t{k} * abi::ccu::group_address(offsets);
            e.slice_offset = k * std::uint32_t{abi::ccu::group_slice(offsets)};
            e.entry_offset = k * std::uint32_t{abi::ccu::group_entry(offsets)};
            e.began_ps = shared_.time.now_ps();
            --free_engines_;
            ++m.engines;
            plan_step(engine, shared_.time.now_ps() + cycle_ps_);
        }
    c.waits_for_engines = true;
    leave_queue_for_engines(number);
    return true;
}

void ccu::engine_ended(std::uint32_t number)
{
    const std::uint32_t mission = contexts_[number].mission;
    if (trace_ != nullptr)
        trace_->slice({track_of(number), contexts_[number].began_ps, shared_.time.now_ps() - contexts_[number].began_ps, "loop",
                       fmt::format("\"mission\": {}, \"instruction\": {}, \"iterations\": {}", mission, contexts_[number].first, contexts_[number].iterations)});
    stop_context(number);
    if (missions_[mission].engines == 0) {
        contexts_[mission].waits_for_engines = false;
        plan_step(mission, shared_.time.now_ps());
    }
    wake_first_in_queue();
}

void ccu::stop_context(std::uint32_t number)
{
    ccu_context& c = contexts_[number];
    if (!c.active)
        return;
    if (c.waits_for_bits)
        bits_.forget(c.wait_entry, number);
    if (c.in_channel_queue)
        leave_channel_queue(number);
    c.active = c.waits_for_bits = c.waits_for_engines = false;
    if (!is_mission(number)) {
        ++free_engines_;
        --missions_[c.mission].engines;
    }
}

/// A task has ended when its last instruction has been issued and all that it began is done: an error of a peer is not
/// lost.
void ccu::end_if_done(std::uint32_t mission)
{
    const ccu_mission& m = missions_[mission];
    if (m.state == mission_state::running && !contexts_[mission].active && m.transfers == 0)
        end(mission, status::ok, contexts_[mission].pc, 0);
}

void ccu::fail(std::uint32_t context, status code, std::uint32_t detail) { end(contexts_[context].mission, code, contexts_[context].pc, detail); }

void ccu::end(std::uint32_t mission, status code, std::uint32_t where, std::uint32_t detail)
{
    namespace r = abi::ccu;
    ccu_mission& m = missions_[mission];
    for (std::uint32_t c = 0; c < contexts_.size(); ++c)
        if (contexts_[c].active && contexts_[c].mission == mission)
            stop_context(c);
    for (const std::uint32_t t : transfers_.orphan(mission))
        transfer_done(t, shared_.time.now_ps());
    m.transfers = 0;
    m.state = mission_state::ended;
    shared_.slices.task_ended(task_of(mission));
    failed_tasks.add(code == status::ok ? 0 : 1);
    if (trace_ != nullptr && m.began_ps != 0)
        trace_->slice({tracks_[mission], m.began_ps, shared_.time.now_ps() - m.began_ps, "task",
                       fmt::format("\"start\": {}, \"status\": {}", m.start, static_cast<unsigned>(code))});
    regs.at(r::MISSION_STATE(mission)) = static_cast<std::uint64_t>(m.state);
    regs.at(r::MISSION_STATUS(mission)) = static_cast<std::uint64_t>(code);
    regs.at(r::MISSION_WHERE(mission)) = where;
    regs.at(r::MISSION_DETAIL(mission)) = detail;
    regs.at(r::IRQ_PENDING) |= std::uint64_t{1} << mission;
    update_irq();
    leave_queue_for_engines(mission);
    wake_first_in_queue(); // its engines came free
}

void ccu::time_out(std::uint32_t mission)
{
    // Whoever waits for bits tells the most; an engine rather than the mission, which waits for its engines.
    std::uint32_t teller = mission;
    for (std::uint32_t c = 0; c < contexts_.size(); ++c)
        if (contexts_[c].active && contexts_[c].mission == mission && contexts_[c].waits_for_bits) {
            teller = c;
            break;
        }
    const ccu_context& c = contexts_[teller];
    const std::uint32_t missing = c.waits_for_bits ? c.wait_mask & ~std::uint32_t{bits_.value(c.wait_entry)} : 0;
    end(mission, status::time_out, c.pc, c.waits_for_bits ? std::uint32_t{c.wait_entry} << 16 | missing : 0);
}

std::string ccu::describe(std::uint32_t number) const
{
    const ccu_context& c = contexts_[number];
    const std::string who = is_mission(number) ? fmt::format("mission {}", number)
                                               : fmt::format("loop engine {} of mission {}", number - missions_.size(), c.mission);
    if (c.waits_for_bits)
        return fmt::format("{} waits at instruction {} ({}) for bits 0x{:x} of check-bit entry {}, which has 0x{:x}", who, c.pc, name_of(store_[c.pc].code),
                           c.wait_mask, c.wait_entry, bits_.value(c.wait_entry));
    if (c.waits_for_channel)
        return fmt::format("{} waits at instruction {} ({}) for a place in the queue of channel {}", who, c.pc, name_of(store_[c.pc].code), c.channel);
    if (is_mission(number) && c.waits_for_engines && missions_[number].engines == 0)
        return fmt::format("{} waits at instruction {} for free loop engines", who, c.pc);
    return "";
}

} // namespace weft
